//! A sorted run, in memory or on disk, and how an entry stands on disk.

use crate::entry::Entry;
use crate::place::Place;
use std::ops::Range;

pub(super) const ENTRY: usize = size_of::<Entry>();

/// An entry as it stands on disk.
pub fn encode(entry: Entry) -> [u8; ENTRY] {
    let mut record = [0; ENTRY];
    record[..8].copy_from_slice(&entry.time.to_le_bytes());
    record[8..].copy_from_slice(&entry.place.0.to_le_bytes());
    record
}

/// The entry of a record.
pub fn decode(record: &[u8; ENTRY]) -> Entry {
    let [time, place] = [0, 8].map(|at| record[at..].first_chunk().copied().unwrap_or_default());
    Entry { time: i64::from_le_bytes(time), place: Place(u64::from_le_bytes(place)) }
}

/// A sorted run.
#[derive(Clone, Copy)]
pub enum Run<'r> {
    /// In memory.
    Memory(&'r [Entry]),
    /// On disk, mapped: records of [`encode`].
    Disk(&'r [[u8; ENTRY]]),
}

/// The entries of a run, one after the other.
pub enum RunIter<'r> {
    Memory(std::slice::Iter<'r, Entry>),
    Disk(std::slice::Iter<'r, [u8; ENTRY]>),
}

impl Iterator for RunIter<'_> {
    type Item = Entry;

    #[inline]
    fn next(&mut self) -> Option<Entry> {
        match self {
            RunIter::Memory(entries) => entries.next().copied(),
            RunIter::Disk(records) => records.next().map(decode),
        }
    }
}

impl<'r> Run<'r> {
    /// Its entries in order.
    pub fn iter(self) -> RunIter<'r> {
        match self {
            Run::Memory(entries) => RunIter::Memory(entries.iter()),
            Run::Disk(records) => RunIter::Disk(records.iter()),
        }
    }

    /// Entries in it.
    pub fn count(self) -> usize {
        match self {
            Run::Memory(entries) => entries.len(),
            Run::Disk(records) => records.len(),
        }
    }

    pub(super) fn partition_point(self, before: impl Fn(&Entry) -> bool) -> usize {
        match self {
            Run::Memory(entries) => entries.partition_point(before),
            Run::Disk(records) => records.partition_point(|record| before(&decode(record))),
        }
    }

    /// A part of it.
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            Run::Memory(entries) => Run::Memory(&entries[range]),
            Run::Disk(records) => Run::Disk(&records[range]),
        }
    }

    /// How many entries have an earlier time.
    pub fn before(self, time: i64) -> usize {
        self.partition_point(|entry| entry.time < time)
    }

    /// Those of a time.
    pub fn at_time(self, time: i64) -> impl Iterator<Item = Entry> + 'r {
        let from = self.before(time);
        self.slice(from..self.count()).iter().take_while(move |entry| entry.time == time)
    }

    /// The entry at a place.
    pub fn at(self, index: usize) -> Option<Entry> {
        match self {
            Run::Memory(entries) => entries.get(index).copied(),
            Run::Disk(records) => records.get(index).map(decode),
        }
    }

    /// Times of the first and the last entry that are not before `from`.
    pub(super) fn times(self, from: i64) -> Option<(i64, i64)> {
        let first = self.at(self.partition_point(|entry| entry.time < from))?;
        let last = self.at(self.count() - 1)?;
        Some((first.time, last.time))
    }
}
