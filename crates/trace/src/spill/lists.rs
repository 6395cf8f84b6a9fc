//! Many growing lists of records of one size, read from front to back. Records beyond the lease go
//! to one unlinked file that the lists share.
//!
//! ```text
//!   lease is full         1st time     2nd time     │ since then
//!   stream 0              ███ ─┐       ██ ─┐        │ █           in memory
//!   stream 1              ██ ─┐│       ████┼┐       │ ███
//!                             ││           ││
//!   file                  ███ ██       ██ ████        one range each, 16 bytes of memory
//! ```
//!
//! ```
//! use tracemill_trace::run::memory::Lease;
//! use tracemill_trace::spill::{SpillList, SpillLists};
//!
//! let mut lists = SpillLists::new(Lease::alone(1000, std::env::temp_dir())); // bytes of heap that all may take, folder
//! let mut by_parity: [SpillList<u64>; 2] = Default::default();
//! for number in 0..1000 {
//!     lists.push(&mut by_parity[number as usize % 2], number);
//!     if lists.is_full() {
//!         by_parity.iter_mut().try_for_each(|list| lists.spill(list))?;
//!     }
//! }
//! let file = lists.finish()?;
//! let even = by_parity[0].records(file.as_deref().unwrap_or_default());
//! assert!(even.count() == 500 && even.iter().eq((0..1000).step_by(2)));
//! # Ok::<(), tracemill_trace::Error>(())
//! ```
//!
//! The file is mapped and read in long ranges, because each spill writes as much as the lease.

use super::record::{Record, records};
use super::scratch::Scratch;
use crate::run::error::Error;
use crate::run::memory::Lease;
use std::ops::Range;
use tracemill_tokenizer::Mapped;

/// A growing list of records, which shares its file with other lists.
pub struct SpillList<R> {
    /// Byte ranges of the list in the file.
    pieces: Vec<Range<u64>>,
    /// The records after the records on disk.
    memory: Vec<R>,
}

impl<R> Default for SpillList<R> {
    fn default() -> Self {
        SpillList { pieces: Vec::new(), memory: Vec::new() }
    }
}

impl<R: Record> SpillList<R> {
    /// Appends a record.
    pub fn push(&mut self, record: R) {
        self.memory.push(record);
    }

    /// Reserves memory for `more` records.
    pub fn reserve(&mut self, more: usize) {
        self.memory.reserve_exact(more);
    }

    /// Returns the bytes of records in memory.
    pub fn heap(&self) -> u64 {
        (self.memory.len() * size_of::<R>()) as u64
    }

    /// Appends the records of a later list.
    pub fn append(&mut self, later: SpillList<R>) {
        debug_assert!(self.memory.is_empty() || later.pieces.is_empty(), "all spill at one time");
        self.pieces.extend(later.pieces);
        let more = later.memory.len();
        // growing by an eighth wastes less memory than doubling
        if self.memory.capacity() - self.memory.len() < more {
            self.memory.reserve_exact(more.max(self.memory.len() / 8));
        }
        self.memory.extend(later.memory);
    }

    fn spill(&mut self, file: &mut Scratch) -> Result<(), Error> {
        if self.memory.is_empty() {
            return Ok(());
        }
        let start = file.len();
        file.write_records(&self.memory)?;
        self.pieces.push(start..file.len());
        self.memory = Vec::new();
        Ok(())
    }

    /// Returns the records, given the file from [`SpillLists::finish`].
    pub fn records<'s>(&'s self, file: &'s [u8]) -> Records<'s, R> {
        Records { list: self, file }
    }
}

/// The shared memory lease and file of several lists.
pub struct SpillLists {
    /// Bytes of all lists in memory. Code that fills lists directly must update this number.
    pub heap: u64,
    lease: Lease,
    file: Scratch,
}

impl SpillLists {
    /// Creates an empty set of lists that spills beyond its lease.
    pub fn new(lease: Lease) -> Self {
        SpillLists { heap: 0, file: Scratch::new(lease.tmp_dir()), lease }
    }

    /// Appends a record to a list.
    pub fn push<R: Record>(&mut self, list: &mut SpillList<R>, record: R) {
        list.push(record);
        self.heap += size_of::<R>() as u64;
    }

    /// Returns the bytes left in memory.
    pub fn room(&self) -> u64 {
        self.lease.bytes().saturating_sub(self.heap)
    }

    /// Returns whether the lists exceed the lease, so that every list must spill.
    pub fn is_full(&self) -> bool {
        self.heap > self.lease.bytes()
    }

    /// Writes the records of a list in memory to the file.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn spill<R: Record>(&mut self, list: &mut SpillList<R>) -> Result<(), Error> {
        self.heap -= list.heap();
        list.spill(&mut self.file)
    }

    /// Returns the file after the last write, if there is one.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn finish(&mut self) -> Result<Option<Mapped>, Error> {
        self.file.take().into_mapped()
    }
}

/// The records of a list.
pub struct Records<'s, R> {
    list: &'s SpillList<R>,
    file: &'s [u8],
}

impl<R> Clone for Records<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Records<'_, R> {}

impl<'s, R: Record> Records<'s, R> {
    /// Returns the number of records.
    pub fn count(self) -> u64 {
        let bytes = self.list.pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>();
        bytes / R::BYTES as u64 + self.list.memory.len() as u64
    }

    /// Returns the first record.
    pub fn first(self) -> Option<R> {
        self.iter().next()
    }

    /// Returns the record at an index. Cost: one step per spill of the list.
    pub fn get(self, number: usize) -> Option<R> {
        let mut left = number;
        for piece in &self.list.pieces {
            let bytes = &self.file[piece.start as usize..piece.end as usize];
            let here = bytes.len() / R::BYTES;
            if left < here {
                return Some(R::decode(&bytes[left * R::BYTES..][..R::BYTES]));
            }
            left -= here;
        }
        self.list.memory.get(left).copied()
    }

    /// Returns all records in order.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = R> + 's {
        let pieces = self.list.pieces.iter();
        let bytes = pieces.map(move |piece| &self.file[piece.start as usize..piece.end as usize]);
        bytes.flat_map(records).chain(self.list.memory.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::entry::Entry;
    use crate::store::place::Place;

    fn entry(number: i64) -> Entry {
        Entry { time: number - 50, place: Place::new(number as u64 * 7, 5, 3) }
    }

    #[test]
    fn lists_return_their_records_from_memory_and_disk() {
        for limit in [0, 100, 3000, u64::MAX] {
            let mut lists = SpillLists::new(Lease::alone(limit, std::env::temp_dir()));
            let mut all: [SpillList<Entry>; 3] = Default::default();
            let mut expected: [Vec<Entry>; 3] = Default::default();
            for number in 0..5000 {
                let at = number as usize * number as usize % 3;
                let mut one = SpillList::default();
                one.push(entry(number));
                lists.heap += one.heap();
                all[at].append(one);
                expected[at].push(entry(number));
                if lists.is_full() {
                    all.iter_mut().try_for_each(|list| lists.spill(list)).unwrap();
                    assert_eq!(lists.heap, 0);
                }
            }
            let [first, second, last] = &mut all;
            if limit < u64::MAX {
                // of joined lists, only the last may have records in memory
                [&mut *first, second].into_iter().try_for_each(|list| lists.spill(list)).unwrap();
            }
            first.append(std::mem::take(second));
            first.append(std::mem::take(last));
            let file = lists.finish().unwrap();
            assert_eq!(file.is_some(), limit < u64::MAX);
            let records = first.records(file.as_deref().unwrap_or_default());
            let expected = expected.concat();
            assert_eq!(records.count(), expected.len() as u64);
            assert_eq!(records.first(), expected.first().copied());
            for number in [0, 1, 999, expected.len() - 1, expected.len()] {
                assert_eq!(records.get(number), expected.get(number).copied(), "{number}");
            }
            assert!(records.iter().eq(expected.iter().copied()));
            assert!(records.iter().rev().eq(expected.into_iter().rev()));
        }
    }
}
