//! Rows as they are handed out, and the order of those of a table.

use crate::clock::{Clock, Window};
use crate::query::{RowLimit, RowThreshold};
use std::cmp::Ordering;

/// By what siblings are sorted; equal ones stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// Self time, the greatest first.
    Own,
    /// Total time, the greatest first.
    Total,
    /// Count, the greatest first.
    Count,
    /// By text.
    Name,
    /// By the start of the first event.
    Start,
}

impl RowOrder {
    fn compare(self, a: &TreeRow, b: &TreeRow) -> Ordering {
        match self {
            RowOrder::Own => b.own.total_cmp(&a.own),
            RowOrder::Total => b.total.total_cmp(&a.total),
            RowOrder::Count => b.count.cmp(&a.count),
            RowOrder::Name => a.label.cmp(&b.label),
            RowOrder::Start => a.start.total_cmp(&b.start),
        }
    }
}

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

/// A row of a tree.
#[derive(Clone, Debug, PartialEq)]
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

    /// Bytes of heap that it takes, with those that an allocator adds to four texts.
    pub(crate) fn heap(&self) -> u64 {
        let texts =
            [Some(&self.id), self.key.as_ref(), self.label.as_ref(), Some(&self.location.url)];
        let texts: usize = texts.into_iter().flatten().map(String::capacity).sum();
        (size_of::<TreeRow>() + texts + 4 * 16) as u64
    }

    /// Whether it is the function that stands for a CPU that does nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.label.as_deref() == Some("(idle)")
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

/// A tree, depth first, siblings in the order of the view.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The stretch of time, in milliseconds.
    pub window: Window,
    /// What no row covers, in milliseconds.
    pub own: f64,
    /// The window, in milliseconds.
    pub total: f64,
    /// The rows.
    pub rows: Vec<TreeRow>,
    /// Rows that take too little to be shown, but for those below others, and what they take, in milliseconds.
    pub small: (u64, f64),
}

impl Table {
    /// Sums of a clock as milliseconds.
    pub(crate) fn convert_from(&mut self, clock: Clock) {
        if clock.origin().is_none() {
            return;
        }
        self.window = clock.window(self.window);
        (self.own, self.total) = (clock.ms(self.own), clock.ms(self.total));
        for row in &mut self.rows {
            (row.own, row.total) = (clock.ms(row.own), clock.ms(row.total));
        }
    }

    /// Takes out what a limit does not show.
    pub(crate) fn keep(&mut self, limit: RowLimit) {
        let mut least = Least::of(limit, self.total - self.own);
        let mut hidden: Option<u32> = None;
        self.rows.retain(|row| {
            hidden = hidden.filter(|depth| row.depth > *depth);
            if hidden.is_some() || row.depth as usize >= limit.depth {
                return false;
            }
            let is_shown = least.takes(row.own, row.total);
            hidden = (!is_shown).then_some(row.depth);
            is_shown
        });
        self.small = (self.small.0 + least.small.0, self.small.1 + least.small.1);
    }

    /// Puts siblings in another order, each with what is below it. Cost: a sort.
    pub fn sort(&mut self, by: RowOrder) {
        let rows = std::mem::take(&mut self.rows);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len() + 1];
        let mut path = vec![0];
        for (at, row) in rows.iter().enumerate() {
            path.truncate(row.depth as usize + 1);
            children[path[path.len() - 1]].push(at);
            path.push(at + 1);
        }
        for own in &mut children {
            own.sort_by(|&a, &b| by.compare(&rows[a], &rows[b]));
        }
        self.rows = depth_first(rows, &children);
    }
}

/// Rows by the lists of their children, of which the first is that of the root.
pub(crate) fn depth_first(rows: Vec<TreeRow>, children: &[Vec<usize>]) -> Vec<TreeRow> {
    let mut order: Vec<usize> = Vec::with_capacity(rows.len());
    let mut open: Vec<usize> = children[0].iter().rev().copied().collect();
    while let Some(at) = open.pop() {
        order.push(at);
        open.extend(children[at + 1].iter().rev());
    }
    let mut rows: Vec<Option<TreeRow>> = rows.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| rows[at].take()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_move_with_what_is_below_them() {
        let row = |depth, label: &str, own: f64, total| TreeRow {
            depth,
            id: label.to_owned(),
            start: -own,
            own,
            total,
            count: own as u64 % 4,
            expandable: true,
            bytes: 0.0,
            key: None,
            label: Some(label.to_owned()),
            is_group: false,
            category: "other",
            location: Location::default(),
        };
        let rows = vec![
            row(0, "b", 1.0, 9.0),
            row(1, "x", 2.0, 2.0),
            row(1, "c", 6.0, 6.0),
            row(0, "a", 5.0, 5.0),
        ];
        let window = Window { from: 0.0, to: 14.0 };
        let table = Table { window, own: 0.0, total: 14.0, rows, small: (0, 0.0) };
        for (by, expected) in [
            (RowOrder::Own, "abcx"),
            (RowOrder::Total, "bcxa"),
            (RowOrder::Count, "bxca"),
            (RowOrder::Name, "abcx"),
            (RowOrder::Start, "abcx"),
        ] {
            let mut sorted = table.clone();
            sorted.sort(by);
            let labels: String = sorted.rows.iter().map(|row| &*row.id).collect();
            assert_eq!(labels, expected, "{by:?}");
        }
    }
}
