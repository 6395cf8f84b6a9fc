//! Rows of tree views, linked to their parent and children. Rows beyond the memory budget are on
//! disk.

pub(crate) mod async_callers;
pub mod views;

use crate::entries::Entry;
use crate::value::clock::by_time;
use crate::value::space::Space;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{Record, SpillArray, SpillIndex};

/// The index that means no row.
pub const NONE: u32 = u32::MAX;

record! {
    /// Identifies a row among its siblings, by the index of the id's text and by the group.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Key {
        pub(crate) id: u32,
        /// Index of the group's text; 0 for none.
        pub(crate) group: u32,
    }
}

impl Key {
    pub(crate) fn of(id: u32) -> Self {
        Key { id, group: 0 }
    }
}

/// A row of a call tree while it is counted.
#[derive(Clone, Copy, Debug)]
pub struct Row<E = Entry> {
    pub(crate) key: Key,
    /// Index of the parent row.
    pub parent: u32,
    first: u32,
    last: u32,
    next: u32,
    /// Self time in milliseconds, or exact nanoseconds.
    pub own: f64,
    /// Total time in milliseconds, or exact nanoseconds.
    pub(crate) total: f64,
    /// CPU time of the total time, in microseconds.
    pub(crate) cpu: Option<f64>,
    /// Only in bottom-up trees: end of the last event that the row counts.
    pub(crate) marker: f64,
    pub(crate) count: u64,
    /// The first entry of the row.
    pub entry: E,
    /// Received bytes of requests.
    pub bytes: f64,
    /// Whether DevTools shows that the row has children.
    pub(crate) expandable: bool,
    pub(crate) is_group: bool,
    /// Whether the row was removed from the tree.
    pub(crate) is_gone: bool,
}

record! {
    impl<E: Record> Row {
        key: Key, parent: u32, first: u32, last: u32, next: u32, own: f64, total: f64, cpu: Option<f64>, marker: f64, count: u64, entry: E, bytes: f64,
        expandable: bool, is_group: bool, is_gone: bool,
    }
}

impl<E: Default> Default for Row<E> {
    fn default() -> Self {
        Row {
            key: Key::of(0),
            parent: NONE,
            first: NONE,
            last: NONE,
            next: NONE,
            own: 0.0,
            total: 0.0,
            cpu: None,
            marker: f64::NAN,
            count: 0,
            entry: E::default(),
            bytes: 0.0,
            expandable: false,
            is_group: false,
            is_gone: false,
        }
    }
}

/// A tree of rows. Row 0 is the root.
pub struct Rows<E = Entry> {
    all: SpillArray<Row<E>>,
    index: SpillIndex,
    /// The first error of a temporary file. After an error, no row is added.
    failed: Option<Error>,
}

/// Sorts siblings in descending order. Siblings with equal values keep their order. If any value is
/// NaN, all siblings keep their order, since DevTools' order is then undefined.
pub(crate) fn sort_falling<T: Copy>(siblings: &mut [T], value: impl Fn(T) -> f64) {
    if !siblings.iter().any(|&sibling| value(sibling).is_nan()) {
        siblings.sort_by(|&a, &b| by_time(value(b), value(a)));
    }
}

/// Adds two times that may be missing. A missing time counts as 0 if the other is known.
pub(crate) fn added(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        _ => a.or(b),
    }
}

/// An order of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Self time.
    Own,
    /// Total time.
    Total,
    /// In the order of rows.
    Start,
}

fn hash(parent: u32, key: Key) -> u64 {
    FixedState::default().hash_one((parent, key.id, key.group))
}

impl<E: Record + Default> Rows<E> {
    /// Creates rows with a root, in the memory of one tree.
    pub(crate) fn new(space: &Space) -> Self {
        let (all, index) = (space.array(1), space.index(4));
        let mut rows = Rows { all, index, failed: None };
        rows.add(NONE, Key::of(0), E::default());
        rows
    }

    /// Returns the first error that occurred while rows were added.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Returns the row of a number. If there is no such row, returns a default row.
    #[inline]
    pub fn get(&self, row: u32) -> Row<E> {
        self.all.get(row as usize).unwrap_or_default()
    }

    pub(crate) fn root(&self) -> Row<E> {
        self.get(0)
    }

    #[inline]
    pub(crate) fn update(&mut self, row: u32, change: impl FnOnce(&mut Row<E>)) {
        self.all.update(row as usize, change);
    }

    pub(crate) fn add(&mut self, parent: u32, key: Key, entry: E) -> u32 {
        let number = self.all.len() as u32;
        if let Err(error) = self.all.push(Row { key, parent, entry, ..Row::default() }) {
            self.failed.get_or_insert(error);
            return 0;
        }
        if parent != NONE {
            self.link(parent, number);
        }
        number
    }

    /// Appends a row to the children of another.
    pub(crate) fn link(&mut self, parent: u32, row: u32) {
        let mut last = NONE;
        self.update(parent, |record| {
            last = std::mem::replace(&mut record.last, row);
            if last == NONE {
                record.first = row;
            }
        });
        if last != NONE {
            self.update(last, |record| record.next = row);
        }
        self.update(row, |record| (record.parent, record.next) = (parent, NONE));
    }

    /// Returns the number of the child with a key, and whether the child is new.
    #[inline]
    pub(crate) fn row(&mut self, parent: u32, key: Key, entry: E) -> (u32, bool) {
        let hash_of = hash(parent, key);
        let same = |row: u32| {
            let record = self.get(row);
            record.parent == parent && record.key == key
        };
        if let Some(found) = self.index.find(hash_of, same) {
            return (found, false);
        }
        let row = self.add(parent, key, entry);
        if row != 0
            && let Err(error) = self.index.insert(hash_of, row)
        {
            self.failed.get_or_insert(error);
        }
        (row, true)
    }

    /// Returns the children in the order of their addition.
    pub(crate) fn children(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |row: u32| (row != NONE).then_some(row);
        let first = some(self.get(row).first);
        let all = std::iter::successors(first, move |&child| some(self.get(child).next));
        all.filter(|&child| !self.get(child).is_gone)
    }

    /// Returns the children of a row in an order.
    pub fn sorted(&self, row: u32, by: By) -> Vec<u32> {
        let mut children: Vec<u32> = self.children(row).collect();
        let value = |row: u32| match by {
            By::Own => self.get(row).own,
            By::Total => self.get(row).total,
            By::Start => 0.0,
        };
        if by != By::Start {
            sort_falling(&mut children, value);
        }
        children
    }

    /// Iterates over rows and their depths, depth first, down to `levels` levels. Without `all`,
    /// skips the children of rows that are not marked as having children. Also skips rows that
    /// `is_shown` rejects, with their children.
    pub fn depth_first(
        &self,
        by: By,
        levels: usize,
        all: bool,
        is_shown: impl FnMut(&Row<E>) -> bool,
    ) -> impl Iterator<Item = (u32, u32)> {
        self.depth_first_as(move |row| self.sorted(row, by), levels, all, is_shown)
    }

    /// Iterates like [`Rows::depth_first`], with children in the order of `sorted`.
    pub(crate) fn depth_first_as(
        &self,
        mut sorted: impl FnMut(u32) -> Vec<u32>,
        levels: usize,
        all: bool,
        mut is_shown: impl FnMut(&Row<E>) -> bool,
    ) -> impl Iterator<Item = (u32, u32)> {
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut enter = move |open: &mut Vec<(u32, u32)>, row: u32, depth: u32| {
            open.extend(sorted(row).into_iter().rev().map(|child| (child, depth)));
        };
        enter(&mut open, 0, 0);
        std::iter::from_fn(move || {
            loop {
                let (row, depth) = open.pop()?;
                let record = self.get(row);
                if is_shown(&record) {
                    if (depth as usize) + 1 < levels && (all || record.expandable) {
                        enter(&mut open, row, depth + 1);
                    }
                    return Some((row, depth));
                }
            }
        })
    }

    /// Removes the top-level rows whose first entry `stays` rejects.
    pub(crate) fn keep_top(&mut self, mut stays: impl FnMut(&E) -> bool) {
        let top: Vec<u32> = self.children(0).collect();
        for row in top {
            self.update(row, |row| row.is_gone = !stays(&row.entry));
        }
    }

    /// Moves top-level rows below their groups. The total time of a group is the sum of its rows'
    /// self times with `by_own`, otherwise of their total times. With `by_own`, groups have no CPU
    /// time.
    pub fn group(&mut self, group: impl Fn(&E) -> u32, by_own: bool) {
        let flat: Vec<u32> = self.children(0).collect();
        self.update(0, |root| (root.first, root.last) = (NONE, NONE));
        self.index.clear();
        for row in flat {
            let record = self.get(row);
            let (at, is_new) = self.row(0, Key::of(group(&record.entry)), record.entry);
            self.update(at, |parent| {
                (parent.is_group, parent.expandable) = (true, true);
                if is_new {
                    (parent.own, parent.total) = (0.0, 0.0);
                }
                parent.own += record.own;
                parent.total += if by_own { record.own } else { record.total };
                if !by_own {
                    parent.cpu = added(parent.cpu, record.cpu);
                }
                parent.bytes += record.bytes;
                parent.count += record.count;
            });
            self.link(at, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_keep_their_order_if_one_is_nan() {
        let sorted = |mut values: Vec<f64>| {
            sort_falling(&mut values, |value| value);
            values
        };
        assert_eq!(sorted(vec![1.0, 3.0, 2.0]), [3.0, 2.0, 1.0]);
        assert!(sorted(vec![1.0, f64::NAN, 2.0])[1].is_nan());
    }

    #[test]
    fn rows_do_not_depend_on_memory() {
        let build = |bytes: u64| {
            let mut rows: Rows = Rows::new(&Space::alone(bytes));
            let mut open = vec![0];
            for number in 0..4000u32 {
                let step = number.wrapping_mul(2_654_435_761) >> 24;
                open.truncate(1 + step as usize % 7);
                let parent = open[open.len() - 1];
                let (row, _) = rows.row(parent, Key::of(step % 29), Entry::default());
                rows.update(row, |record| {
                    record.own += f64::from(step);
                    (record.expandable, record.is_group) = (step % 3 > 0, step % 5 > 3);
                });
                open.push(row);
            }
            rows.keep_top(|_| true);
            rows.group(|_| 7, true);
            assert!(rows.check().is_ok() && rows.all.heap() + rows.index.heap() <= bytes);
            let all = rows.depth_first(By::Own, usize::MAX, true, |_| true);
            all.map(|(row, depth)| format!("{depth} {:?}", rows.get(row))).collect::<Vec<_>>()
        };
        let (spilled, kept) = (build(0), build(1 << 30));
        assert!(spilled == kept && kept.len() > 500);
    }
}
