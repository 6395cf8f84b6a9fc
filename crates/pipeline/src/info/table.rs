//! Counts by key: names, categories, threads, keys of args.

use super::report::Usage;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// What there is under each of some keys, in the order in which they came.
///
/// Cost: one hash and one comparison a look-up; 72 bytes a key and its text.
#[derive(Default)]
pub(crate) struct Table {
    index: HashTable<u32>,
    text: Vec<u8>,
    rows: Vec<Row>,
}

#[derive(Clone, Copy)]
struct Row {
    hash: u64,
    start: usize,
    len: usize,
    usage: Usage,
}

/// One key with its counts. The hash only says where to look for it: answers are ordered by the key.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'t> {
    pub(crate) hash: u64,
    pub(crate) key: &'t [u8],
    pub(crate) usage: Usage,
}

/// The hash of a key: the same in all tables.
#[inline]
pub(super) fn hash(key: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(key);
    hasher.finish()
}

impl Table {
    /// The number of a key's row.
    #[inline]
    pub(crate) fn row(&mut self, key: &[u8]) -> usize {
        self.hashed_row(hash(key), key)
    }

    /// As [`Table::row`], for a key whose hash is known.
    #[inline]
    pub(super) fn hashed_row(&mut self, hash: u64, key: &[u8]) -> usize {
        let (rows, text) = (&self.rows, &self.text);
        let is_it = |&row: &u32| {
            let row = &rows[row as usize];
            row.hash == hash && &text[row.start..row.start + row.len] == key
        };
        match self.index.find(hash, is_it) {
            Some(&row) => row as usize,
            None => self.new_row(hash, key),
        }
    }

    #[cold]
    fn new_row(&mut self, hash: u64, key: &[u8]) -> usize {
        let (number, start) = (self.rows.len(), self.text.len());
        self.text.extend_from_slice(key);
        self.rows.push(Row { hash, start, len: key.len(), usage: Usage::default() });
        let rows = &self.rows;
        self.index.insert_unique(hash, number as u32, |&row| rows[row as usize].hash);
        number
    }

    /// Adds to a row.
    #[inline]
    pub(super) fn add(&mut self, row: usize, usage: &Usage) {
        self.rows[row].usage.add(usage);
    }

    /// The key of a row.
    pub(crate) fn key(&self, row: usize) -> &[u8] {
        self.entry(row).key
    }

    pub(super) fn entry(&self, row: usize) -> Entry<'_> {
        let Row { hash, start, len, usage } = self.rows[row];
        Entry { hash, key: &self.text[start..start + len], usage }
    }

    /// All rows, in the order in which they came.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.rows.len()).map(|row| self.entry(row))
    }

    /// Adds all rows of another table.
    pub(super) fn append(&mut self, later: &Table) {
        for Entry { hash, key, usage } in later.entries() {
            let row = self.hashed_row(hash, key);
            self.add(row, &usage);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Bytes of heap, about.
    pub(super) fn heap(&self) -> u64 {
        (self.text.len() + self.rows.len() * (size_of::<Row>() + 2 * size_of::<u32>())) as u64
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.index.clear();
        self.text.clear();
        self.rows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_told_apart_and_sums_saturate() {
        let mut table = Table::default();
        let one = Usage { events: 1, bytes: 2, time_ns: u64::MAX - 1, self_ns: 0 };
        for key in [&b"a"[..], b"", b"b", b"a"] {
            let row = table.row(key);
            table.add(row, &one);
        }
        let mut other = Table::default();
        other.append(&table);
        other.append(&table);
        let all: Vec<_> =
            other.entries().map(|e| (e.key, e.usage.events, e.usage.time_ns)).collect();
        assert_eq!(all, [(&b"a"[..], 4, u64::MAX), (b"", 2, u64::MAX), (b"b", 2, u64::MAX)]);
        other.clear();
        assert_eq!((other.len(), other.row(b"b")), (0, 0));
    }
}
