//! Rows as they are handed out.

use crate::profile::functions::IDLE_LABEL;
use crate::query::{RowLimit, RowThreshold};

/// A call that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRow<'t> {
    /// Microseconds on the trace's clock.
    pub ts: f64,
    /// Microseconds.
    pub dur: f64,
    /// Empty if it has none.
    pub name: &'t [u8],
    /// Of its script; empty if it has none.
    pub url: &'t [u8],
    /// From 0, as written.
    pub line: Option<i64>,
    /// From 0, as written.
    pub column: Option<i64>,
    /// The id of its node in the profile.
    pub node: u64,
    /// Number among the profile's samples by time; `None` for a call that an event shows.
    pub sample: Option<u32>,
}

/// A row of the flame chart.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameRow {
    /// Among the entries drawn.
    pub depth: u32,
    /// Whether it is a call from samples.
    pub is_call: bool,
    /// DevTools' id of the row in trees.
    pub id: String,
    /// Microseconds on the trace's clock.
    pub ts: f64,
    /// Microseconds.
    pub dur: f64,
    /// Microseconds that no child has, drawn or not.
    pub own: f64,
    /// DevTools' key of the entry.
    pub key: Option<String>,
    /// Its text.
    pub label: Option<String>,
}

/// Where a function stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// Its URL or path; empty if there is none.
    pub url: String,
    /// From 0; as written.
    pub line: Option<i64>,
    /// From 0; as written.
    pub column: Option<i64>,
}

/// A path of a call tree: a row, and those above it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreePath {
    /// The outermost first, at most [`TreePath::MOST`].
    pub rows: Vec<TreeRow>,
    /// How many more rows the path has: of one that leads to a row those above these, of one that goes down those below.
    pub left_out: u64,
}

impl TreePath {
    /// Rows that are told: a row takes up to 3 KB, and a stack may be a million calls deep.
    pub const MOST: usize = 1000;

    /// Adds the row below the last one, or counts it.
    pub fn push(&mut self, row: impl FnOnce() -> TreeRow) {
        match self.rows.len() < Self::MOST {
            true => self.rows.push(row()),
            false => self.left_out += 1,
        }
    }

    /// How many rows the path has.
    pub fn depth(&self) -> u64 {
        self.rows.len() as u64 + self.left_out
    }

    /// Self time of the last row in milliseconds.
    pub fn own(&self) -> f64 {
        self.rows.last().map_or(0.0, |row| row.own)
    }
}

/// A row of a tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TreeRow {
    /// From 0; groups, if any, are at 0.
    pub depth: u32,
    /// DevTools' id of the row.
    pub id: String,
    /// When its first event began, in milliseconds.
    pub start: f64,
    /// Milliseconds.
    pub own: f64,
    /// Milliseconds.
    pub total: f64,
    /// Events.
    pub count: u64,
    /// Whether DevTools lets it be expanded.
    pub expandable: bool,
    /// Bytes of requests (bottom-up).
    pub bytes: f64,
    /// DevTools' key of its first event.
    pub key: Option<String>,
    /// Its text; `None` where DevTools fails to make one.
    pub label: Option<String>,
    /// Whether it is a group.
    pub is_group: bool,
    /// What DevTools counts its first event as.
    pub category: &'static str,
    /// Where its function stands.
    pub location: Location,
}

impl TreeRow {
    /// What it is called: its text, or its id where there is none.
    pub fn name(&self) -> &str {
        self.label.as_deref().filter(|label| !label.is_empty()).unwrap_or(&self.id)
    }

    /// The name of its events in the trace, where DevTools may have another; nothing for calls and groups.
    pub fn trace_name(&self) -> Option<&str> {
        let is_event = !self.is_group && !self.id.starts_with("f:");
        is_event.then_some(&*self.id)
    }

    /// Whether a text is its name in DevTools or that of its events in the trace.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.trace_name() == Some(name)
    }

    /// Bytes of heap that it takes, with those that an allocator adds to four texts.
    pub(crate) fn heap(&self) -> u64 {
        let texts =
            [Some(&self.id), self.key.as_ref(), self.label.as_ref(), Some(&self.location.url)];
        let texts: usize = texts.into_iter().flatten().map(String::capacity).sum();
        (size_of::<TreeRow>() + texts + 4 * 16) as u64
    }

    /// Whether it is the function that stands for a CPU that does nothing.
    pub fn is_idle(&self) -> bool {
        self.category == "idle" && self.label.as_deref() == Some(IDLE_LABEL)
    }
}

/// Tells which rows take enough to be shown, and counts those that do not.
pub(crate) struct Least {
    /// Milliseconds.
    least: f64,
    pub(crate) small: (u64, f64),
}

impl Least {
    /// Of a table that is busy for so many milliseconds.
    pub(crate) fn of(limit: RowLimit, busy: f64) -> Self {
        let least = match limit.least {
            RowThreshold::Percent(percent) => busy * percent / 100.0,
            RowThreshold::Time(ms) => ms,
        };
        Least { least, small: (0, 0.0) }
    }

    /// Whether a row with these times, in milliseconds, does.
    pub(crate) fn takes(&mut self, own: f64, total: f64) -> bool {
        let ms = total.max(own);
        let is_small = self.least > 0.0 && ms < self.least;
        if is_small {
            self.small = (self.small.0 + 1, self.small.1 + ms);
        }
        !is_small
    }
}
