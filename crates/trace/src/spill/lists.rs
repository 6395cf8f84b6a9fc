//! Lists of records of one width that grow side by side and are read from front to back: in memory, and beyond their share
//! of the budget in one unlinked file.
//!
//! ```text
//!   share is used up      1st time     2nd time     │ since then
//!   stream 0              ███ ─┐       ██ ─┐        │ █           in memory
//!   stream 1              ██ ─┐│       ████┼┐       │ ███
//!                             ││           ││
//!   file                  ███ ██       ██ ████        a piece of each, 16 bytes to remember it
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
//! One file for all, however many there are: no descriptors are spent on lists. It is read as a map, which takes no heap,
//! and in long stretches, since what goes to it at a time is as much as the share.

use super::record::{Record, records};
use super::scratch::Scratch;
use crate::run::error::Error;
use crate::run::memory::Lease;
use std::ops::Range;
use tracemill_tokenizer::Mapped;

/// One of the lists.
pub struct SpillList<R> {
    /// Bytes of the file.
    pieces: Vec<Range<u64>>,
    /// Those behind the ones on disk.
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

    /// Makes room in memory for so many more, which spares moving what is there.
    pub fn reserve(&mut self, more: usize) {
        self.memory.reserve_exact(more);
    }

    /// Bytes in memory, but for a little room for more.
    pub fn heap(&self) -> u64 {
        (self.memory.len() * size_of::<R>()) as u64
    }

    /// Takes over records that come behind its own.
    pub fn append(&mut self, later: SpillList<R>) {
        debug_assert!(self.memory.is_empty() || later.pieces.is_empty(), "all spill at one time");
        self.pieces.extend(later.pieces);
        let more = later.memory.len();
        // doubling would leave half of the memory unused: what is moved now and then costs less
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

    /// To be read, given the file that [`SpillLists::finish`] left.
    pub fn records<'s>(&'s self, file: &'s [u8]) -> Records<'s, R> {
        Records { list: self, file }
    }
}

/// What lists share: their memory, and the file.
pub struct SpillLists {
    /// Bytes of all lists in memory, which whoever fills them counts, and how many there may be.
    pub heap: u64,
    lease: Lease,
    file: Scratch,
}

impl SpillLists {
    /// None yet; what takes more heap than the lease has goes to a file.
    pub fn new(lease: Lease) -> Self {
        SpillLists { heap: 0, file: Scratch::new(lease.tmp_dir()), lease }
    }

    /// Appends to a list.
    pub fn push<R: Record>(&mut self, list: &mut SpillList<R>, record: R) {
        list.push(record);
        self.heap += size_of::<R>() as u64;
    }

    /// Bytes that there is room for in memory.
    pub fn room(&self) -> u64 {
        self.lease.bytes().saturating_sub(self.heap)
    }

    /// Whether there is more than may be in memory: then every list is to be spilled.
    pub fn is_full(&self) -> bool {
        self.heap > self.lease.bytes()
    }

    /// Writes what a list has in memory.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn spill<R: Record>(&mut self, list: &mut SpillList<R>) -> Result<(), Error> {
        self.heap -= list.heap();
        list.spill(&mut self.file)
    }

    /// All lists are complete: the file, if anything went to it.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn finish(&mut self) -> Result<Option<Mapped>, Error> {
        self.file.take().into_mapped()
    }
}

/// The records of a list, in order.
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
    /// How many there are.
    pub fn count(self) -> u64 {
        let bytes = self.list.pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>();
        bytes / R::BYTES as u64 + self.list.memory.len() as u64
    }

    /// The first record.
    pub fn first(self) -> Option<R> {
        self.iter().next()
    }

    /// The record of a number, if there are so many. Cost: a step for each piece on disk, of which there is one for each time that the share was
    /// used up.
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

    /// All records in order.
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

    /// Whatever goes to disk between, all come back, both ways round.
    #[test]
    fn records_come_back_from_memory_and_disk() {
        for limit in [0, 100, 3000, u64::MAX] {
            let mut lists = SpillLists::new(Lease::alone(limit, std::env::temp_dir()));
            let mut all: [SpillList<Entry>; 3] = Default::default();
            let mut expected: [Vec<Entry>; 3] = Default::default();
            for number in 0..5000 {
                let own = number as usize * number as usize % 3;
                let mut one = SpillList::default();
                one.push(entry(number));
                lists.heap += one.heap();
                all[own].append(one);
                expected[own].push(entry(number));
                if lists.is_full() {
                    all.iter_mut().try_for_each(|list| lists.spill(list)).unwrap();
                    assert_eq!(lists.heap, 0);
                }
            }
            let [first, second, last] = &mut all;
            if limit < u64::MAX {
                // of lists that are joined, none but the last has anything in memory
                [&mut *first, second].into_iter().try_for_each(|own| lists.spill(own)).unwrap();
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
