//! Export formats, and counts of what was written.

use std::str::FromStr;

/// A format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// One stack per line, `a;b;c 1200`, for flamegraph.pl, inferno and speedscope.
    Folded,
    /// Speedscope's JSON: one profile per table, with open and close events.
    Speedscope,
    /// An uncompressed `profile.proto`, for pprof, Go tools, Pyroscope and Grafana.
    Pprof,
}

impl ExportForm {
    /// All formats.
    pub const ALL: [ExportForm; 3] =
        [ExportForm::Folded, ExportForm::Speedscope, ExportForm::Pprof];

    /// Returns the name of the format in the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExportForm::Folded => "folded",
            ExportForm::Speedscope => "speedscope",
            ExportForm::Pprof => "pprof",
        }
    }
}

impl FromStr for ExportForm {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = ExportForm::ALL.into_iter().find(|form| form.name() == name);
        found.ok_or_else(|| format!("expected folded, speedscope or pprof: {name}"))
    }
}

/// Counts of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of rows with self time.
    pub stacks: u64,
    /// Total nanoseconds.
    pub nanos: i64,
    /// Number of rows beyond the requested depth. Their time goes to the caller at that depth.
    pub too_deep: u64,
    /// Number of rows whose self time counts as 0: NaN, or negative in a format without negative
    /// times.
    pub untold: u64,
}
