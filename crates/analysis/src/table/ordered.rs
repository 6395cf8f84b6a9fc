//! A table, and the order of its rows.

use crate::table::tree_rows::{RowRoom, TreeRows};
use crate::tree::{Key, Row, Rows};
use crate::value::clock::Window;
use crate::value::space::Space;
use std::cmp::Ordering;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashSet;

/// The order of siblings; equal rows keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// Sorts rows by self time, longest first.
    Own,
    /// Sorts rows by total time, longest first.
    Total,
    /// Sorts rows by count, greatest first.
    Count,
    /// Sorts rows by displayed text.
    Name,
    /// Sorts rows by the start of their first event.
    Start,
}

/// A tree as rows, depth first.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The window in milliseconds.
    pub window: Window,
    /// Time of the window that no row covers, in milliseconds.
    pub own: f64,
    /// Length of the window in milliseconds.
    pub total: f64,
    /// Self time of calls to V8's `(idle)`, in milliseconds.
    pub idle: f64,
    /// The rows.
    pub rows: TreeRows,
    /// Number of rows below the minimum time, and sum of their times in milliseconds. Their
    /// descendants do not count.
    pub small: (u64, f64),
    /// Number of rows beyond the row limit.
    pub more: u64,
}

impl Table {
    /// Returns the time, in milliseconds, that rows other than `(idle)` cover.
    pub fn busy(&self) -> f64 {
        self.total - self.own - self.idle
    }

    /// Sorts the rows with a common parent. Each row keeps its descendants. Cost: a sort.
    pub(crate) fn sort(
        &mut self,
        by: RowOrder,
        space: &Space,
        room: &RowRoom,
    ) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.rows);
        let mut tree: Rows<u32> = Rows::new(space);
        let mut path: Vec<u32> = vec![0];
        let mut idle = HashSet::default();
        for (number, row) in (0..).zip(&rows) {
            path.truncate(row.depth as usize + 1);
            let node = tree.add(path[path.len() - 1], Key::of(0), number);
            tree.update(node, |record| {
                (record.own, record.total, record.count, record.marker) =
                    (row.own, row.total, row.count, row.start);
            });
            if row.is_idle() {
                idle.insert(node);
            }
            path.push(node);
        }
        tree.check()?;
        let (mut sorted, mut failed) = (room.writer(), Ok(()));
        let siblings = |row: u32| {
            let children: Vec<u32> = tree.children(row).collect();
            let get = |number| tree.get(number);
            let mut sorted = match by {
                RowOrder::Own => by_figure(children, get, |a, b| b.own.total_cmp(&a.own)),
                RowOrder::Total => by_figure(children, get, |a, b| b.total.total_cmp(&a.total)),
                RowOrder::Count => by_figure(children, get, |a, b| b.count.cmp(&a.count)),
                RowOrder::Start => by_figure(children, get, |a, b| a.marker.total_cmp(&b.marker)),
                RowOrder::Name => {
                    let named = by_name(children, |number| label(&rows, &get(number)), room);
                    named.unwrap_or_else(|error| {
                        failed = Err(error);
                        Vec::new()
                    })
                }
            };
            if by != RowOrder::Start {
                sorted.sort_by_key(|number| idle.contains(number));
            }
            sorted
        };
        for (row, _) in tree.depth_first_as(siblings, usize::MAX, true, |_| true) {
            if let Some(tree_row) = rows.get(tree.get(row).entry as usize) {
                sorted.push(tree_row.into_owned())?;
            }
        }
        failed?;
        self.rows = sorted.finish()?;
        Ok(())
    }
}

fn label(rows: &TreeRows, row: &Row<u32>) -> Option<String> {
    rows.get(row.entry as usize)?.into_owned().label
}

fn by_name(
    siblings: Vec<u32>,
    label: impl Fn(u32) -> Option<String>,
    room: &RowRoom,
) -> Result<Vec<u32>, Error> {
    let mut heap = 0;
    let mut named: Vec<(Option<String>, u32)> = Vec::with_capacity(siblings.len());
    for sibling in siblings {
        let label = label(sibling);
        heap += (size_of::<(Option<String>, u32)>() + label.as_ref().map_or(0, String::len)) as u64;
        room.grown.check(2 * heap, "names of rows that are to be sorted")?;
        named.push((label, sibling));
    }
    named.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(named.into_iter().map(|(_, row)| row).collect())
}

fn by_figure(
    mut siblings: Vec<u32>,
    get: impl Fn(u32) -> Row<u32>,
    compare: impl Fn(&Row<u32>, &Row<u32>) -> Ordering,
) -> Vec<u32> {
    siblings.sort_by(|&a, &b| compare(&get(a), &get(b)));
    siblings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::rows::TreeRow;
    use tracemill_trace::run::limits::Limits;

    #[test]
    fn siblings_sort_with_their_descendants() {
        let row = |depth, label: &str, self_time: f64, total| TreeRow {
            depth,
            id: label.to_owned(),
            start: -self_time,
            own: self_time,
            total,
            count: self_time as u64 % 4,
            label: Some(label.to_owned()),
            ..TreeRow::default()
        };
        let rows = vec![
            row(0, "b", 1.0, 9.0),
            row(1, "x", 2.0, 2.0),
            row(1, "c", 6.0, 6.0),
            row(0, "a", 5.0, 5.0),
        ];
        let window = Window { from: 0.0, to: 14.0 };
        let table = Table {
            window,
            own: 0.0,
            total: 14.0,
            idle: 0.0,
            rows: rows.into(),
            small: (0, 0.0),
            more: 0,
        };
        for (by, expected) in [
            (RowOrder::Own, "abcx"),
            (RowOrder::Total, "bcxa"),
            (RowOrder::Count, "bxca"),
            (RowOrder::Name, "abcx"),
            (RowOrder::Start, "abcx"),
        ] {
            for memory in [1 << 10, 1 << 30] {
                let limits = Limits::new(1, memory, std::env::temp_dir());
                let space = Space::alone(memory >> 10);
                let room = RowRoom::new(&limits);
                let mut sorted = table.clone();
                sorted.sort(by, &space, &room).expect("room");
                room.finish().expect("room on disk");
                let labels: String = sorted.rows.iter().map(|row| row.id.clone()).collect();
                assert_eq!(labels, expected, "{by:?}");
            }
        }
    }
}
