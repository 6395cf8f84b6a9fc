//! Which forms there are, and what is said of what was written.

use std::str::FromStr;

/// A form that other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportForm {
    /// A stack a line, `a;b;c 1200`: flamegraph.pl, inferno, speedscope.
    Folded,
    /// The JSON of speedscope: a profile for each table, events that open and close.
    Speedscope,
    /// A `profile.proto`, not packed: pprof, Go tools, Pyroscope, Grafana.
    Pprof,
}

impl ExportForm {
    /// All of them.
    pub const ALL: [ExportForm; 3] =
        [ExportForm::Folded, ExportForm::Speedscope, ExportForm::Pprof];

    /// Its name, as the flag has it.
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

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Rows with time of their own.
    pub stacks: u64,
    /// Nanoseconds of all of them.
    pub nanos: i64,
    /// Rows deeper than was asked for, whose time stands with their caller at that depth.
    pub too_deep: u64,
    /// Rows whose self time is no number or, where the form has no place for that, below zero: they count as 0.
    pub untold: u64,
}
