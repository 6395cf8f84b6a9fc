//! Rows of the tree views, in columns: each row knows its parent and its first and last child.

use crate::entries::Entry;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::cmp::Ordering;
use std::hash::BuildHasher;

/// No row.
pub(crate) const NONE: u32 = u32::MAX;

/// What a row is among those of its parent: the text of its id, and the group that stands behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) id: u32,
    /// The text of a group, 0 for none.
    pub(crate) group: u32,
}

impl Key {
    pub(crate) fn of(id: u32) -> Self {
        Key { id, group: 0 }
    }
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) key: Key,
    pub(crate) parent: u32,
    first: u32,
    last: u32,
    next: u32,
    /// Milliseconds.
    pub(crate) own: f64,
    /// Milliseconds.
    pub(crate) total: f64,
    /// Where the event before ended that was counted below this row (bottom up).
    pub(crate) marker: f64,
    /// Events.
    pub(crate) count: u32,
    /// The entry that made the row.
    pub(crate) entry: Entry,
    /// Bytes of requests.
    pub(crate) bytes: f64,
    /// Whether it says that it has children.
    pub(crate) expandable: bool,
    pub(crate) is_group: bool,
    /// Taken out again.
    pub(crate) is_gone: bool,
}

/// Rows, of which the first is the root.
pub(crate) struct Rows {
    pub(crate) all: Vec<Row>,
    index: HashTable<u32>,
    /// Rows that were counted.
    counted: usize,
}

/// Bytes of heap of a row, with what is made of it for the answer.
const ROW: usize = size_of::<Row>() + size_of::<u32>() + 350;

/// By what siblings are sorted, each the greatest first; equal ones as they came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    Own,
    Total,
    Start,
}

fn hash(parent: u32, key: Key) -> u64 {
    FixedState::default().hash_one((parent, key.id, key.group))
}

impl Default for Rows {
    fn default() -> Self {
        let mut rows = Rows { all: Vec::new(), index: HashTable::new(), counted: 0 };
        rows.add(NONE, Key::of(0), Entry::default());
        rows
    }
}

impl Rows {
    /// Bytes of the rows that were not counted yet.
    pub(crate) fn grown(&mut self) -> u64 {
        let new = self.all.len() - std::mem::replace(&mut self.counted, self.all.len());
        (new * ROW) as u64
    }

    /// A new row below another.
    pub(crate) fn add(&mut self, parent: u32, key: Key, entry: Entry) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Row {
            key,
            parent,
            first: NONE,
            last: NONE,
            next: NONE,
            own: 0.0,
            total: 0.0,
            marker: f64::NAN,
            count: 0,
            entry,
            bytes: 0.0,
            expandable: false,
            is_group: false,
            is_gone: false,
        });
        if parent != NONE {
            self.link(parent, number);
        }
        number
    }

    /// Puts a row behind the children of another.
    pub(crate) fn link(&mut self, parent: u32, row: u32) {
        let last = std::mem::replace(&mut self.all[parent as usize].last, row);
        match last {
            NONE => self.all[parent as usize].first = row,
            last => self.all[last as usize].next = row,
        }
        let own = &mut self.all[row as usize];
        (own.parent, own.next) = (parent, NONE);
    }

    /// The row of a key below another, made if it is not there; and whether it was made.
    #[inline]
    pub(crate) fn row(&mut self, parent: u32, key: Key, entry: Entry) -> (u32, bool) {
        let hash_of = hash(parent, key);
        let all = &self.all;
        let same = |&row: &u32| {
            let own = &all[row as usize];
            own.parent == parent && own.key == key
        };
        if let Some(&found) = self.index.find(hash_of, same) {
            return (found, false);
        }
        let row = self.add(parent, key, entry);
        let all = &self.all;
        self.index.insert_unique(hash_of, row, |&other| {
            let own = &all[other as usize];
            hash(own.parent, own.key)
        });
        (row, true)
    }

    /// Children in the order in which they came.
    pub(crate) fn children(&self, row: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |row: u32| (row != NONE).then_some(row);
        let all = std::iter::successors(some(self.all[row as usize].first), move |&child| {
            some(self.all[child as usize].next)
        });
        all.filter(|&child| !self.all[child as usize].is_gone)
    }

    /// Children, sorted.
    pub(crate) fn sorted(&self, row: u32, by: By) -> Vec<u32> {
        let mut children: Vec<u32> = self.children(row).collect();
        let value = |row: u32| match by {
            By::Own => self.all[row as usize].own,
            By::Total => self.all[row as usize].total,
            By::Start => 0.0,
        };
        // a comparison with NaN says equal, which sorts nothing that can be foreseen
        if by != By::Start && !children.iter().any(|&row| value(row).is_nan()) {
            children.sort_by(|&a, &b| value(b).partial_cmp(&value(a)).unwrap_or(Ordering::Equal));
        }
        children
    }

    /// Rows depth first with their depths, to `levels` deep; only those are descended that say they have children,
    /// unless `all`.
    pub(crate) fn depth_first(&self, by: By, levels: usize, all: bool) -> Vec<(u32, u32)> {
        let mut rows = Vec::new();
        let mut open: Vec<(u32, u32)> = Vec::new();
        let enter = |open: &mut Vec<(u32, u32)>, row: u32, depth: u32| {
            open.extend(self.sorted(row, by).into_iter().rev().map(|child| (child, depth)));
        };
        enter(&mut open, 0, 0);
        while let Some((row, depth)) = open.pop() {
            rows.push((row, depth));
            if (depth as usize) + 1 < levels && (all || self.all[row as usize].expandable) {
                enter(&mut open, row, depth + 1);
            }
        }
        rows
    }

    /// Takes the rows at the top out whose first entry does not stay.
    pub(crate) fn keep_top(&mut self, mut stays: impl FnMut(&Entry) -> bool) {
        let top: Vec<u32> = self.children(0).collect();
        for row in top {
            let row = &mut self.all[row as usize];
            row.is_gone = !stays(&row.entry);
        }
    }

    /// Puts the rows at the top below their groups; the total of a group is the sum of its rows' `own` or `total`.
    pub(crate) fn group(&mut self, group: impl Fn(&Entry) -> u32, by_own: bool) {
        let flat: Vec<u32> = self.children(0).collect();
        let root = &mut self.all[0];
        (root.first, root.last) = (NONE, NONE);
        self.index.clear();
        for row in flat {
            let own = self.all[row as usize];
            let (at, is_new) = self.row(0, Key::of(group(&own.entry)), own.entry);
            let parent = &mut self.all[at as usize];
            (parent.is_group, parent.expandable) = (true, true);
            if is_new {
                (parent.own, parent.total) = (0.0, 0.0);
            }
            parent.own += own.own;
            parent.total += if by_own { own.own } else { own.total };
            parent.bytes += own.bytes;
            parent.count += own.count;
            self.link(at, row);
        }
    }
}
