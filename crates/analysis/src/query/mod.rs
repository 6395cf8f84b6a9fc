//! What is asked of threads.

pub(crate) mod counts;
pub mod picks;
pub(crate) mod rows;

use crate::names::groups::GroupBy;
use crate::query::picks::Picks;
use crate::value::clock::Window;
use std::str::FromStr;

/// Which entries of a thread count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entries {
    /// Every one.
    All,
    /// Those that the panel of DevTools can draw: in generic traces all.
    #[default]
    Visible,
    /// The same, but for calls of the ignore list directly below others of these.
    Listed,
    /// As the panel opens: calls of the ignore list below others are left out too.
    Panel,
}

/// Which tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// From callers to callees, by total time.
    CallTree,
    /// From callees to callers, by self time, to so many levels.
    BottomUp {
        /// At least 1.
        levels: usize,
    },
    /// A row for each event, by start.
    Log,
}

/// How tables are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableRules {
    /// Which entries count.
    pub entries: Entries,
    /// Do what DevTools does where that is a defect: an event that ends at exactly 0 is never closed, events with an empty name
    /// have no row bottom up, and the log leaves out negative durations.
    pub as_devtools: bool,
}

/// Which threads share a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// None.
    #[default]
    Thread,
    /// Those of a process.
    Process,
    /// Those of an input.
    Input,
    /// All.
    All,
}

/// What calls must have in common to be one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKey {
    /// DevTools' id of the row, in which the id of a script stands that means nothing beyond its process.
    Devtools,
    /// Function, URL, line and column.
    Place,
    /// Function, URL and line.
    Line,
    /// The function's name.
    Function,
    /// The URL: the row is called by it.
    Url,
}

/// What a row must take to be shown: the greater one of its self time and its total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowThreshold {
    /// Of what is busy.
    Percent(f64),
    /// Milliseconds.
    Time(f64),
}

impl Default for RowThreshold {
    fn default() -> Self {
        RowThreshold::Time(0.0)
    }
}

impl FromStr for RowThreshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_suffix('%') {
            let percent: f64 =
                number.parse().map_err(|_| format!("expected 0.5% or 2ms: {text}"))?;
            return Ok(RowThreshold::Percent(percent));
        }
        if text == "0" {
            return Ok(RowThreshold::Time(0.0));
        }
        tracemill_trace::time::parse_time(text).map(|nanos| RowThreshold::Time(nanos as f64 / 1e6))
    }
}

/// Which rows of a table are made; what is below one that is not is not made either.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLimit {
    /// Levels.
    pub depth: usize,
    /// What they take at least.
    pub least: RowThreshold,
    /// The first so many, but of a thread's own log all; the others are counted ([`Table::more`](crate::Table::more)).
    pub rows: usize,
}

impl Default for RowLimit {
    fn default() -> Self {
        RowLimit { depth: usize::MAX, least: RowThreshold::default(), rows: usize::MAX }
    }
}

/// What tables are made.
#[derive(Clone, Debug)]
pub struct Query {
    /// Which tree.
    pub shape: Shape,
    /// By what rows are grouped.
    pub by: GroupBy,
    /// Which entries count.
    pub rules: TableRules,
    /// Which threads share a table.
    pub per: Per,
    /// Which time, in milliseconds on the trace's clock; the whole trace if there is none. Several make one table.
    pub windows: Vec<Window>,
    /// What counts, by its text.
    pub picks: Picks,
    /// What calls must have in common to be one row; if `None`, in a table of one thread their id, else their place.
    pub key: Option<RowKey>,
}
