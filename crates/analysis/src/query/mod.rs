//! Queries: the shape of a table, its windows, filters and limits.

pub(crate) mod counts;
pub mod picks;
pub(crate) mod rows;

use crate::names::groups::GroupBy;
use crate::query::picks::Picks;
use crate::value::clock::Window;
use std::str::FromStr;

/// Which entries of a thread a table counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entries {
    /// All entries.
    All,
    /// Entries that DevTools' panel can draw. In generic traces, all entries.
    #[default]
    Visible,
    /// `Visible` entries, except calls on the ignore list whose caller is on the ignore list too.
    Listed,
    /// Entries that DevTools' panel draws when it opens the trace: `Listed` entries, except entries
    /// that the user had hidden when the trace was saved.
    Panel,
}

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A tree from callers to callees, by total time.
    CallTree,
    /// A tree from callees to callers, by self time.
    BottomUp {
        /// Number of levels, at least 1.
        levels: usize,
    },
    /// A list of events by start, with one row per event.
    Log,
}

/// Rules for computing tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableRules {
    /// The entries that count.
    pub entries: Entries,
    /// Whether to reproduce these defects of DevTools: events that end at exactly 0 never end,
    /// events without a name have no bottom-up row, and logs lack negative durations.
    pub as_devtools: bool,
}

/// The threads that share a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// One table per thread.
    #[default]
    Thread,
    /// One table per process.
    Process,
    /// One table per input.
    Input,
    /// One table for all threads.
    All,
}

/// The properties that calls of one row have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKey {
    /// DevTools' id of the row. The id contains the script id, which is valid only within one
    /// process.
    Devtools,
    /// The function, URL, line and column.
    Place,
    /// The function, URL and line.
    Line,
    /// The function name.
    Function,
    /// The URL, which becomes the name of the row.
    Url,
}

/// Minimum time of a row. A row is shown if its self time or its total time is at least the
/// minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowThreshold {
    /// Minimum time in percent of the busy time.
    Percent(f64),
    /// Minimum time in milliseconds.
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

/// Limits on the rows of a table. If a row is left out, all rows below it are left out too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowLimit {
    /// Maximum number of levels.
    pub depth: usize,
    /// Minimum time of a row.
    pub least: RowThreshold,
    /// Maximum number of rows. [`Table::more`](crate::Table::more) counts the rows beyond this
    /// limit. The limit does not apply to the log of a single thread.
    pub rows: usize,
}

impl Default for RowLimit {
    fn default() -> Self {
        RowLimit { depth: usize::MAX, least: RowThreshold::default(), rows: usize::MAX }
    }
}

/// A request for tables.
#[derive(Clone, Debug)]
pub struct Query {
    /// The shape of the tables.
    pub shape: Shape,
    /// Grouping of the rows.
    pub by: GroupBy,
    /// Rules for computing the tables.
    pub rules: TableRules,
    /// The threads that share a table.
    pub per: Per,
    /// Windows in milliseconds on the trace's clock, all counted in the same table. An empty list
    /// means the whole trace.
    pub windows: Vec<Window>,
    /// Filters by text.
    pub picks: Picks,
    /// The properties that calls of one row have in common. `None` means DevTools' id in tables of
    /// one thread, and the source position in other tables.
    pub key: Option<RowKey>,
}
