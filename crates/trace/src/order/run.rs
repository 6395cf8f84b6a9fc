//! A sorted run of entries, in memory or on disk: searched and cut in the same way, wherever it lies.
//!
//! On disk a run stands in exact order ([`write_run`]); in memory it is sorted by the 16 bytes of its entries, and ties are resolved when it is
//! read. So whoever needs exact order of runs in memory asks for it ([`Order::resolve_ties`]).

use super::{Buckets, Order};
use crate::run::error::Error;
use crate::spill::{DiskRuns, Record, RunFile};
use crate::store::entry::Entry;
use std::ops::Range;

const ENTRY: usize = Entry::BYTES;

/// Writes what sorted `parts` hold, as a run in exact order. Cost: a sort in cache of each bucket, and 16 bytes written an entry; heap: one bucket.
///
/// # Errors
/// As [`RunFile::write`].
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
    /// The runs, of entries that [`write_run`] wrote.
    pub fn entries(&self) -> impl Iterator<Item = SortedRun<'_>> {
        (0..self.count()).map(|number| self.entries_of(number))
    }

    /// The entries of a run, by its number.
    pub(super) fn entries_of(&self, number: usize) -> SortedRun<'_> {
        SortedRun::Disk(self.run(number).as_chunks::<ENTRY>().0)
    }
}

/// A sorted run.
#[derive(Clone, Copy)]
pub enum SortedRun<'r> {
    /// In memory.
    Memory(&'r [Entry]),
    /// On disk, mapped: entries as [`Record::encode`] wrote them.
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
            RunIter::Disk(records) => records.next().map(|record| Entry::decode(record)),
        }
    }
}

impl<'r> SortedRun<'r> {
    /// Its entries in order.
    pub fn iter(self) -> RunIter<'r> {
        match self {
            SortedRun::Memory(entries) => RunIter::Memory(entries.iter()),
            SortedRun::Disk(records) => RunIter::Disk(records.iter()),
        }
    }

    /// Entries in it.
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

    /// A part of it, by the numbers of its entries. Cost: none.
    ///
    /// # Panics
    /// If it has fewer.
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            SortedRun::Memory(entries) => SortedRun::Memory(&entries[range]),
            SortedRun::Disk(records) => SortedRun::Disk(&records[range]),
        }
    }

    /// How many entries have an earlier time. Cost: a binary search, as all that ask by time.
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
            SortedRun::Memory(entries) => entries.get(index).copied(),
            SortedRun::Disk(records) => records.get(index).map(|record| Entry::decode(record)),
        }
    }

    /// Times of the first and the last entry that are not before `from`.
    pub(super) fn times(self, from: i64) -> Option<(i64, i64)> {
        let first = self.at(self.partition_point(|entry| entry.time < from))?;
        let last = self.at(self.count() - 1)?;
        Some((first.time, last.time))
    }
}
