//! Rows of results.

use crate::entries::Entry;
use crate::profile::functions::IDLE_LABEL;
use crate::query::{RowLimit, RowThreshold};

/// A drawn call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow<'t> {
    /// Start in microseconds on the trace's clock.
    pub ts: f64,
    /// Duration in microseconds.
    pub dur: f64,
    /// Function name; empty if it has none.
    pub name: &'t [u8],
    /// URL of the script; empty if it has none.
    pub url: &'t [u8],
    /// Line as written, from 0.
    pub line: Option<i64>,
    /// Column as written, from 0.
    pub column: Option<i64>,
    /// Id of the call's node in the profile.
    pub node: u64,
    /// Index of the sample in which the call begins, by time; `None` if the call begins with an
    /// event.
    pub sample: Option<u32>,
}

/// A row of a flame chart.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameRow {
    /// Number of drawn entries around this entry.
    pub depth: u32,
    /// Whether the entry is a call computed from samples.
    pub is_call: bool,
    /// DevTools' id of the entry's row in trees.
    pub id: String,
    /// Start in microseconds on the trace's clock.
    pub ts: f64,
    /// Duration in microseconds.
    pub dur: f64,
    /// Duration minus that of all children, drawn or not, in microseconds.
    pub self_time: f64,
    /// DevTools' key of the entry.
    pub key: Option<String>,
    /// Displayed text.
    pub label: Option<String>,
    /// The entry.
    pub entry: Entry,
}

/// The source location of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// URL or path; empty if there is none.
    pub url: String,
    /// Line as written, from 0.
    pub line: Option<i64>,
    /// Column as written, from 0.
    pub column: Option<i64>,
}

/// A chain of rows from caller to callee in a call tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreePath {
    /// Rows, outermost first, at most [`TreePath::MOST`].
    pub rows: Vec<TreeRow>,
    /// Number of rows left out: the outermost rows on the path to a row, or the innermost rows of a
    /// path that leads down from a row.
    pub left_out: u64,
}

impl TreePath {
    /// Maximum number of rows of a path. A row takes up to 3 KB, and a stack may have a million
    /// calls.
    pub const MOST: usize = 1000;

    /// Appends a row below the last one, or counts it as left out.
    pub fn push(&mut self, row: impl FnOnce() -> TreeRow) {
        match self.rows.len() < Self::MOST {
            true => self.rows.push(row()),
            false => self.left_out += 1,
        }
    }

    /// Returns the number of rows, including those left out.
    pub fn depth(&self) -> u64 {
        self.rows.len() as u64 + self.left_out
    }

    /// Returns the self time of the last row in milliseconds.
    pub fn own(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.own)
    }
}

/// A row of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeRow {
    /// Depth from 0; groups, if any, are at 0.
    pub depth: u32,
    /// DevTools' id of the row.
    pub id: String,
    /// Start of the row's first event, in milliseconds.
    pub start: f64,
    /// Self time in milliseconds.
    pub own: f64,
    /// Total time in milliseconds.
    pub total: f64,
    /// CPU time of the row's events in microseconds, if the trace has it. Groups and callers in
    /// bottom-up trees have none.
    pub cpu: Option<f64>,
    /// Number of events.
    pub count: u64,
    /// Whether DevTools can expand the row.
    pub expandable: bool,
    /// Received bytes of requests (only in bottom-up trees).
    pub bytes: f64,
    /// DevTools' key of the row's first event.
    pub key: Option<String>,
    /// Displayed text; `None` if DevTools fails to compute it.
    pub label: Option<String>,
    /// Whether the row is a group.
    pub is_group: bool,
    /// DevTools' category of the row's first event.
    pub category: &'static str,
    /// Source location of the row's function.
    pub location: Location,
    /// Number of the [reserved colour](tracemill_viewers::color) that the row's first event names,
    /// if [`Wanted::colors`](crate::Wanted::colors) requested it; 0 for none.
    pub color: u8,
}

impl TreeRow {
    /// Returns the displayed text; if there is none, the id.
    pub fn name(&self) -> &str {
        self.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(&self.id)
    }

    /// Returns the name of the row's events in the trace. Returns `None` for calls and groups.
    pub fn trace_name(&self) -> Option<&str> {
        let is_event = !self.is_group && !self.id.starts_with("f:");
        is_event.then_some(&*self.id)
    }

    /// Returns whether a text is a name of the row in DevTools or in the trace.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.trace_name() == Some(name)
    }

    /// Returns the heap size of the row in bytes, including four string allocations.
    pub(crate) fn heap(&self) -> u64 {
        let texts =
            [Some(&self.id), self.key.as_ref(), self.label.as_ref(), Some(&self.location.url)];
        let texts: usize = texts.into_iter().flatten().map(String::capacity).sum();
        (size_of::<TreeRow>() + texts + 4 * 16) as u64
    }

    /// Returns whether the row is V8's `(idle)`.
    pub fn is_idle(&self) -> bool {
        self.category == "idle" && self.label.as_deref() == Some(IDLE_LABEL)
    }
}

/// Applies the minimum time to rows, and counts the rows that do not reach it.
pub(crate) struct Least {
    least: f64,
    pub(crate) small: (u64, f64),
}

impl Least {
    /// Applies `limit` to a table whose busy time is `busy` milliseconds.
    pub(crate) fn of(limit: RowLimit, busy: f64) -> Self {
        let least = match limit.least {
            RowThreshold::Percent(percent) => busy * percent / 100.0,
            RowThreshold::Time(ms) => ms,
        };
        Least { least, small: (0, 0.0) }
    }

    /// Returns whether a row with these times, in milliseconds, is shown.
    pub(crate) fn takes(&mut self, self_time: f64, total: f64) -> bool {
        let ms = total.max(self_time);
        let is_small = self.least > 0.0 && ms < self.least;
        if is_small {
            self.small = (self.small.0 + 1, self.small.1 + ms);
        }
        !is_small
    }
}
