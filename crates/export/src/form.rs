//! Formats of exports, and the counts that an export returns.

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

    /// Returns the name by which options select the format.
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

/// Numbers of exported rows, and of rows that the format changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Number of rows with self time.
    pub stacks: u64,
    /// Sum of the self times in nanoseconds.
    pub nanos: i64,
    /// Number of rows beyond the maximum depth. Their time counts as time of their caller at that
    /// depth.
    pub too_deep: u64,
    /// Number of rows whose self time is written as 0, because it is NaN, or negative in a format
    /// without negative times.
    pub untold: u64,
}
