//! Counts by key: names, categories, threads, args keys.

use super::report::Usage;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};
use tracemill_trace::spill::hash::mix;

/// Totals per key, in order of first appearance.
///
/// Cost: one hash and one comparison per lookup, or only a comparison for a recently used string.
/// Memory: 72 bytes per key, plus its text.
#[derive(Default)]
pub struct UsageTable {
    index: HashTable<u32>,
    text: Vec<u8>,
    rows: Vec<UsageRow>,
    /// Rows of recently used strings, by their first bytes; empty before the first string.
    recent: Vec<[u32; WAYS]>,
}

/// Number of recently used strings that a slot remembers.
const WAYS: usize = 4;
/// Number of slots for recently used strings.
const SLOTS: usize = 64;

/// Returns the slot of a text. Texts with the same first 8 bytes share a slot; shorter texts have
/// no slot.
#[inline(always)]
fn slot(text: &[u8]) -> Option<usize> {
    let first = u64::from_le_bytes(*text.first_chunk::<8>()?);
    Some(mix(first, 0) as usize % SLOTS)
}

#[derive(Clone, Copy)]
struct UsageRow {
    hash: u64,
    start: usize,
    len: usize,
    usage: Usage,
}

impl UsageRow {
    #[inline(always)]
    fn key<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..self.start + self.len]
    }
}

/// A key with its hash and its totals.
#[derive(Clone, Copy)]
pub struct UsageEntry<'t> {
    pub(crate) hash: u64,
    pub key: &'t [u8],
    pub(crate) usage: Usage,
}

/// Returns the hash of a key. A key has the same hash in all tables.
#[inline]
pub(super) fn hash(key: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(key);
    hasher.finish()
}

impl UsageTable {
    /// Returns the row of a key, creating it if needed.
    #[inline]
    pub fn row(&mut self, key: &[u8]) -> usize {
        self.hashed_row(hash(key), key)
    }

    /// Returns the row of a key with a known hash, creating it if needed.
    #[inline]
    pub(super) fn hashed_row(&mut self, hash: u64, key: &[u8]) -> usize {
        let (rows, text) = (&self.rows, &self.text);
        let is_it = |&row: &u32| {
            let row = &rows[row as usize];
            row.hash == hash && row.key(text) == key
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
        self.rows.push(UsageRow { hash, start, len: key.len(), usage: Usage::default() });
        let rows = &self.rows;
        self.index.insert_unique(hash, number as u32, |&row| rows[row as usize].hash);
        number
    }

    /// Returns the row of the JSON string at the start of a text, if the string was used recently.
    ///
    /// Comparing a prefix suffices, because a remembered string includes its closing quote.
    #[inline]
    pub(super) fn recent(&self, text: &[u8]) -> Option<usize> {
        let ways = self.recent.get(slot(text)?)?;
        let is_it = |&&row: &&u32| {
            let key = self.rows[row as usize].key(&self.text);
            // strings with equal beginnings usually differ at the end, which is cheaper to check
            text.get(key.len() - 1) == Some(&b'"') && text.starts_with(key)
        };
        ways.iter().find(is_it).map(|&row| row as usize)
    }

    /// Returns the row of a string without escapes at the start of a text, and remembers it.
    pub(super) fn row_of_string(&mut self, string: &[u8], text: &[u8]) -> usize {
        let row = self.row(string);
        if let Some(slot) = slot(text) {
            if self.recent.is_empty() {
                self.recent = vec![[row as u32; WAYS]; SLOTS];
            }
            let ways = &mut self.recent[slot];
            ways.rotate_right(1);
            ways[0] = row as u32;
        }
        row
    }

    #[inline]
    pub(super) fn add(&mut self, row: usize, usage: &Usage) {
        self.rows[row].usage.add(usage);
    }

    pub(crate) fn key(&self, row: usize) -> &[u8] {
        self.entry(row).key
    }

    pub(super) fn entry(&self, row: usize) -> UsageEntry<'_> {
        let UsageRow { hash, usage, .. } = self.rows[row];
        UsageEntry { hash, key: self.rows[row].key(&self.text), usage }
    }

    /// Returns all rows in order of first appearance.
    pub fn entries(&self) -> impl Iterator<Item = UsageEntry<'_>> {
        (0..self.rows.len()).map(|row| self.entry(row))
    }

    pub(super) fn append(&mut self, later: &UsageTable) {
        for UsageEntry { hash, key, usage } in later.entries() {
            let row = self.hashed_row(hash, key);
            self.add(row, &usage);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn heap(&self) -> u64 {
        let recent = self.recent.len() * size_of::<[u32; WAYS]>();
        let rows = self.rows.len() * (size_of::<UsageRow>() + 2 * size_of::<u32>());
        (self.text.len() + rows + recent) as u64
    }

    pub(super) fn clear(&mut self) {
        self.index.clear();
        self.text.clear();
        self.rows.clear();
        self.recent.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembered strings are found again; strings with equal beginnings, or prefixes of each
    /// other, are not confused.
    #[test]
    fn recent_strings_are_found_by_prefix() {
        let mut table = UsageTable::default();
        let names = (0..200)
            .map(|n| format!("\"disabled-by-default-{}\"", "v8.".repeat(n % 7) + &n.to_string()));
        let names: Vec<String> =
            names.chain(["\"a\"".into(), "\"abcdefg\"".into(), "\"abcdefgh\"".into()]).collect();
        let mut found = 0;
        for name in names.iter().chain(&names).chain(names.iter().rev()) {
            let text = format!("{name},\"ph\":\"X\"");
            let recent = table.recent(text.as_bytes());
            let row = table.row_of_string(name.as_bytes(), text.as_bytes());
            assert!(recent.is_none_or(|recent| recent == row), "{name}");
            assert_eq!(table.key(row), name.as_bytes());
            assert_eq!(table.recent(text.as_bytes()), Some(row));
            found += usize::from(recent.is_some());
        }
        assert!(found > 0 && table.len() == names.len());
        table.clear();
        assert_eq!(table.recent(b"\"abcdefg\","), None);
    }

    #[test]
    fn keys_stay_distinct_and_sums_saturate() {
        let mut table = UsageTable::default();
        let one = Usage { events: 1, bytes: 2, time_ns: u64::MAX - 1, self_ns: 0 };
        for key in [&b"a"[..], b"", b"b", b"a"] {
            let row = table.row(key);
            table.add(row, &one);
        }
        let mut other = UsageTable::default();
        other.append(&table);
        other.append(&table);
        let all: Vec<_> =
            other.entries().map(|e| (e.key, e.usage.events, e.usage.time_ns)).collect();
        assert_eq!(all, [(&b"a"[..], 4, u64::MAX), (b"", 2, u64::MAX), (b"b", 2, u64::MAX)]);
        other.clear();
        assert_eq!((other.len(), other.row(b"b")), (0, 0));
    }
}
