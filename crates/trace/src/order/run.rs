//! A sorted run of entries, with the same operations in memory and on disk.
//!
//! Runs on disk are in exact order ([`write_run`]). Runs in memory are sorted by the 16 bytes of
//! their entries; [`Order::resolve_ties`] gives exact order.

use super::{Buckets, Order};
use crate::run::error::Error;
use crate::spill::{DiskRuns, Record, RunFile};
use crate::store::entry::Entry;
use std::ops::Range;

const ENTRY: usize = Entry::BYTES;

/// Writes the entries of sorted `parts` as a run in exact order. Cost: an in-cache sort per bucket.
/// Heap: one bucket.
///
/// # Errors
/// See [`RunFile::write`].
pub fn write_run<'e>(
    file: &mut RunFile,
    parts: impl Iterator<Item = &'e [Entry]>,
    order: Order<'_, '_>,
) -> Result<(), Error> {
    let (buckets, mut bucket) = (Buckets::over(parts), Vec::new());
    for index in 0..buckets.count() {
        buckets.collect(index, &mut bucket);
        order.resolve_ties(&mut bucket);
        file.write_records(&bucket)?;
    }
    file.end_run();
    Ok(())
}

impl DiskRuns {
    /// Returns the runs as entries that [`write_run`] wrote.
    pub fn entries(&self) -> impl Iterator<Item = SortedRun<'_>> {
        (0..self.count()).map(|number| self.entries_of(number))
    }

    /// Returns the entries of a run by its index.
    pub(super) fn entries_of(&self, number: usize) -> SortedRun<'_> {
        SortedRun::Disk(self.run(number).as_chunks::<ENTRY>().0)
    }
}

/// A sorted run of entries.
#[derive(Clone, Copy)]
pub enum SortedRun<'r> {
    /// Entries in memory.
    Memory(&'r [Entry]),
    /// Mapped entries on disk, in the form of [`Record::encode`].
    Disk(&'r [[u8; ENTRY]]),
}

/// An iterator over the entries of a run.
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
            RunIter::Disk(records) => records.next().map(|record| Entry::decode(record)),
        }
    }
}

impl<'r> SortedRun<'r> {
    /// Returns the entries in order.
    pub fn iter(self) -> RunIter<'r> {
        match self {
            SortedRun::Memory(entries) => RunIter::Memory(entries.iter()),
            SortedRun::Disk(records) => RunIter::Disk(records.iter()),
        }
    }

    /// Returns the number of entries.
    pub fn count(self) -> usize {
        match self {
            SortedRun::Memory(entries) => entries.len(),
            SortedRun::Disk(records) => records.len(),
        }
    }

    pub(super) fn partition_point(self, before: impl Fn(&Entry) -> bool) -> usize {
        match self {
            SortedRun::Memory(entries) => entries.partition_point(before),
            SortedRun::Disk(records) => {
                records.partition_point(|record| before(&Entry::decode(record)))
            }
        }
    }

    /// Returns a range of the run, without copying.
    ///
    /// # Panics
    /// Panics if the range exceeds the run.
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            SortedRun::Memory(entries) => SortedRun::Memory(&entries[range]),
            SortedRun::Disk(records) => SortedRun::Disk(&records[range]),
        }
    }

    /// Returns the number of entries before `time`. Cost: a binary search.
    pub fn before(self, time: i64) -> usize {
        self.partition_point(|entry| entry.time < time)
    }

    /// Returns the entries at `time`. Cost: a binary search.
    pub fn at_time(self, time: i64) -> impl Iterator<Item = Entry> + 'r {
        let from = self.before(time);
        self.slice(from..self.count()).iter().take_while(move |entry| entry.time == time)
    }

    /// Returns the entry at an index.
    pub fn at(self, index: usize) -> Option<Entry> {
        match self {
            SortedRun::Memory(entries) => entries.get(index).copied(),
            SortedRun::Disk(records) => records.get(index).map(|record| Entry::decode(record)),
        }
    }

    /// Returns the first and the last time at or after `from`.
    pub(super) fn times(self, from: i64) -> Option<(i64, i64)> {
        let first = self.at(self.partition_point(|entry| entry.time < from))?;
        let last = self.at(self.count() - 1)?;
        Some((first.time, last.time))
    }
}
