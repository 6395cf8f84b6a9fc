//! Rows of the tree views: each row knows its parent and its first and last child. On disk beyond their share of the budget.

pub mod views;

use crate::entries::Entry;
use crate::value::clock::by_time;
use crate::value::space::Space;
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{Record, SpillArray, SpillIndex};

/// No row.
pub const NONE: u32 = u32::MAX;

record! {
    /// What a row is among those of its parent: the text of its id, and the group that stands behind it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(crate) struct Key {
        pub(crate) id: u32,
        /// The text of a group, 0 for none.
        pub(crate) group: u32,
    }
}

impl Key {
    pub(crate) fn of(id: u32) -> Self {
        Key { id, group: 0 }
    }
}

/// A row, with what made it.
#[derive(Clone, Copy, Debug)]
pub struct Row<E = Entry> {
    pub(crate) key: Key,
    /// The number of the row above.
    pub parent: u32,
    first: u32,
    last: u32,
    next: u32,
    /// Milliseconds.
    pub own: f64,
    /// Milliseconds.
    pub(crate) total: f64,
    /// Where the event before ended that was counted below this row (bottom up).
    pub(crate) marker: f64,
    /// Events.
    pub(crate) count: u64,
    /// The entry that made the row.
    pub entry: E,
    /// Bytes of requests.
    pub bytes: f64,
    /// Whether it says that it has children.
    pub(crate) expandable: bool,
    pub(crate) is_group: bool,
    /// Taken out again.
    pub(crate) is_gone: bool,
}

record! {
    impl<E: Record> Row {
        key: Key, parent: u32, first: u32, last: u32, next: u32, own: f64, total: f64, marker: f64, count: u64, entry: E, bytes: f64,
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

/// Rows, of which the first is the root.
pub struct Rows<E = Entry> {
    all: SpillArray<Row<E>>,
    index: SpillIndex,
    /// What temporary files said: no row was made since.
    failed: Option<Error>,
}

/// Sorts siblings, the greatest first and equal ones as they came. Where one is no number they stay as they came: DevTools' comparison
/// says equal then, which sorts nothing that can be foreseen.
pub(crate) fn sort_falling<T: Copy>(siblings: &mut [T], value: impl Fn(T) -> f64) {
    if !siblings.iter().any(|&sibling| value(sibling).is_nan()) {
        siblings.sort_by(|&a, &b| by_time(value(b), value(a)));
    }
}

/// By what siblings are sorted, each the greatest first; equal ones as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Self time.
    Own,
    /// Total time.
    Total,
    /// As they came.
    Start,
}

fn hash(parent: u32, key: Key) -> u64 {
    FixedState::default().hash_one((parent, key.id, key.group))
}

impl<E: Record + Default> Rows<E> {
    /// A root, in room for the rows of one tree.
    pub(crate) fn new(space: &Space) -> Self {
        let (all, index) = (space.array(1), space.index(4));
        let mut rows = Rows { all, index, failed: None };
        rows.add(NONE, Key::of(0), E::default());
        rows
    }

    /// Whether all rows could be made.
    ///
    /// # Errors
    /// What temporary files said.
    pub(crate) fn check(&mut self) -> Result<(), Error> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// A row, of which there is one of each number that was given out.
    #[inline]
    pub fn get(&self, row: u32) -> Row<E> {
        self.all.get(row as usize).unwrap_or_default()
    }

    /// The root.
    pub(crate) fn root(&self) -> Row<E> {
        self.get(0)
    }

    /// Changes a row.
    #[inline]
    pub(crate) fn update(&mut self, row: u32, change: impl FnOnce(&mut Row<E>)) {
        self.all.update(row as usize, change);
    }

    /// A new row below another.
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

    /// Puts a row behind the children of another.
    pub(crate) fn link(&mut self, parent: u32, row: u32) {
        let mut last = NONE;
        self.update(parent, |own| {
            last = std::mem::replace(&mut own.last, row);
            if last == NONE {
                own.first = row;
            }
        });
        if last != NONE {
            self.update(last, |own| own.next = row);
        }
        self.update(row, |own| (own.parent, own.next) = (parent, NONE));
    }

    /// The row of a key below another, made if it is not there; and whether it was made.
    #[inline]
    pub(crate) fn row(&mut self, parent: u32, key: Key, entry: E) -> (u32, bool) {
        let hash_of = hash(parent, key);
        let same = |row: u32| {
            let own = self.get(row);
            own.parent == parent && own.key == key
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

    /// Children in the order in which they came.
    pub(crate) fn children(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |row: u32| (row != NONE).then_some(row);
        let first = some(self.get(row).first);
        let all = std::iter::successors(first, move |&child| some(self.get(child).next));
        all.filter(|&child| !self.get(child).is_gone)
    }

    /// Children, sorted.
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

    /// Rows depth first with their depths, to `levels` deep; only those are descended that say they have children,
    /// unless `all`, and that are shown. Cost: what is open, which is the siblings of each level.
    pub fn depth_first(
        &self,
        by: By,
        levels: usize,
        all: bool,
        is_shown: impl FnMut(&Row<E>) -> bool,
    ) -> impl Iterator<Item = (u32, u32)> {
        self.depth_first_as(move |row| self.sorted(row, by), (levels, all), is_shown)
    }

    /// The same, in the order in which `sorted` has the children of a row.
    pub(crate) fn depth_first_as(
        &self,
        mut sorted: impl FnMut(u32) -> Vec<u32>,
        (levels, all): (usize, bool),
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
                let own = self.get(row);
                if is_shown(&own) {
                    if (depth as usize) + 1 < levels && (all || own.expandable) {
                        enter(&mut open, row, depth + 1);
                    }
                    return Some((row, depth));
                }
            }
        })
    }

    /// Takes the rows at the top out whose first entry does not stay.
    pub(crate) fn keep_top(&mut self, mut stays: impl FnMut(&E) -> bool) {
        let top: Vec<u32> = self.children(0).collect();
        for row in top {
            self.update(row, |row| row.is_gone = !stays(&row.entry));
        }
    }

    /// Puts the rows at the top below their groups; the total of a group is the sum of its rows' `own` or `total`.
    pub fn group(&mut self, group: impl Fn(&E) -> u32, by_own: bool) {
        let flat: Vec<u32> = self.children(0).collect();
        self.update(0, |root| (root.first, root.last) = (NONE, NONE));
        self.index.clear();
        for row in flat {
            let own = self.get(row);
            let (at, is_new) = self.row(0, Key::of(group(&own.entry)), own.entry);
            self.update(at, |parent| {
                (parent.is_group, parent.expandable) = (true, true);
                if is_new {
                    (parent.own, parent.total) = (0.0, 0.0);
                }
                parent.own += own.own;
                parent.total += if by_own { own.own } else { own.total };
                parent.bytes += own.bytes;
                parent.count += own.count;
            });
            self.link(at, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn siblings_stay_as_they_came_where_one_is_no_number() {
        let sorted = |mut own: Vec<f64>| {
            sort_falling(&mut own, |own| own);
            own
        };
        assert_eq!(sorted(vec![1.0, 3.0, 2.0]), [3.0, 2.0, 1.0]);
        assert!(sorted(vec![1.0, f64::NAN, 2.0])[1].is_nan());
    }

    #[test]
    fn rows_are_the_same_wherever_they_are() {
        let made = |bytes: u64| {
            let mut rows: Rows = Rows::new(&Space::alone(bytes));
            let mut open = vec![0];
            for number in 0..4000u32 {
                let step = number.wrapping_mul(2_654_435_761) >> 24;
                open.truncate(1 + step as usize % 7);
                let parent = open[open.len() - 1];
                let (row, _) = rows.row(parent, Key::of(step % 29), Entry::default());
                rows.update(row, |own| {
                    own.own += f64::from(step);
                    (own.expandable, own.is_group) = (step % 3 > 0, step % 5 > 3);
                });
                open.push(row);
            }
            rows.keep_top(|_| true);
            rows.group(|_| 7, true);
            assert!(rows.check().is_ok() && rows.all.heap() + rows.index.heap() <= bytes);
            let all = rows.depth_first(By::Own, usize::MAX, true, |_| true);
            all.map(|(row, depth)| format!("{depth} {:?}", rows.get(row))).collect::<Vec<_>>()
        };
        let (spilled, kept) = (made(0), made(1 << 30));
        assert!(spilled == kept && kept.len() > 500);
    }
}
