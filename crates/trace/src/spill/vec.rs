//! A growing list of records, in memory or on disk.

use super::record::{Record, partition_point, records};
use super::scratch::Scratch;
use crate::run::error::Error;
use crate::run::memory::Lease;
use std::ops::Range;
use tracemill_tokenizer::Mapped;

const BLOCK: usize = 8 * 1024;

/// Collects records in memory; if they exceed the lease, moves the present records to disk.
///
/// ```text
///   ███████████████████████████│██████
///   on disk                     in memory: at most the limit plus one record
/// ```
pub struct SpillVec<R> {
    memory: Vec<R>,
    /// Maximum number of records in memory.
    most: usize,
    scratch: Scratch,
    lease: Lease,
}

impl<R: Record> SpillVec<R> {
    /// Creates an empty list that spills to a file beyond its lease.
    pub fn new(lease: Lease) -> Self {
        let (most, scratch) = (lease.room_for::<R>(), Scratch::new(lease.tmp_dir()));
        SpillVec { memory: Vec::new(), most, scratch, lease }
    }

    /// Reserves memory for `expected` records at once, within the lease.
    #[must_use]
    pub fn with_room_for(mut self, expected: u64) -> Self {
        self.memory.reserve_exact(self.most.min(usize::try_from(expected).unwrap_or(usize::MAX)));
        self
    }

    /// Appends a record.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    #[inline]
    pub fn push(&mut self, record: R) -> Result<(), Error> {
        if self.memory.len() >= self.most {
            self.spill()?;
        }
        if self.memory.len() == self.memory.capacity() {
            self.grow(1);
        }
        self.memory.push(record);
        Ok(())
    }

    /// Appends records.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn extend(&mut self, records: &[R]) -> Result<(), Error> {
        if records.len() > self.most.saturating_sub(self.memory.len()) {
            self.spill()?;
        }
        if records.len() > self.most {
            return self.scratch.write_records(records);
        }
        self.grow(records.len());
        self.memory.extend_from_slice(records);
        Ok(())
    }

    /// Appends records. Avoids a copy if the list is empty and they fit in memory.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn take_over(&mut self, records: Vec<R>) -> Result<(), Error> {
        if self.is_empty() && records.len() <= self.most {
            self.memory = records;
            return Ok(());
        }
        self.extend(&records)
    }

    fn grow(&mut self, more: usize) {
        let len = self.memory.len();
        if self.memory.capacity() - len < more {
            let doubled = len.min(self.most.saturating_sub(len));
            self.memory.reserve_exact(more.max(doubled));
        }
    }

    /// Moves the records in memory to the file.
    #[cold]
    pub(crate) fn spill(&mut self) -> Result<(), Error> {
        self.scratch.write_records(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.on_disk() + self.memory.len()
    }

    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn on_disk(&self) -> usize {
        self.scratch.len() as usize / R::BYTES
    }

    /// Returns the record at an index for changing. Returns `None` if it is on disk or does not
    /// exist.
    pub fn in_memory(&mut self, number: usize) -> Option<&mut R> {
        let on_disk = self.on_disk();
        self.memory.get_mut(number.checked_sub(on_disk)?)
    }

    /// Returns the collected records.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn finish(mut self) -> Result<SpilledVec<R>, Error> {
        self.take()
    }

    /// Returns the collected records, and empties the list.
    ///
    /// # Errors
    /// See [`Scratch::write`].
    pub fn take(&mut self) -> Result<SpilledVec<R>, Error> {
        let (memory, _lease) = (std::mem::take(&mut self.memory), Some(self.lease.clone()));
        Ok(SpilledVec { mapped: self.scratch.take().into_mapped()?, memory, _lease })
    }

    /// Passes all records to `visit` in order, and empties the list. Keeps the allocation unless
    /// records were on disk.
    ///
    /// # Errors
    /// Returns any error of `visit`, and those of [`Scratch::write`].
    pub fn drain(&mut self, visit: impl FnMut(R) -> Result<(), Error>) -> Result<(), Error> {
        match self.scratch.is_empty() {
            // keeps the allocation
            true => self.memory.drain(..).try_for_each(visit),
            false => self.take()?.iter().try_for_each(visit),
        }
    }

    /// Removes all records.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.scratch.take();
    }
}

/// Collected records, readable any number of times.
pub struct SpilledVec<R> {
    mapped: Option<Mapped>,
    /// The records after the records on disk.
    memory: Vec<R>,
    _lease: Option<Lease>,
}

impl<R> Default for SpilledVec<R> {
    fn default() -> Self {
        SpilledVec { mapped: None, memory: Vec::new(), _lease: None }
    }
}

impl<R> From<Vec<R>> for SpilledVec<R> {
    fn from(memory: Vec<R>) -> Self {
        SpilledVec { mapped: None, memory, _lease: None }
    }
}

impl<R: Record> SpilledVec<R> {
    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// Returns the bytes of records in memory.
    pub fn heap(&self) -> u64 {
        size_of_val(&*self.memory) as u64
    }

    fn bytes(&self) -> &[u8] {
        self.mapped.as_deref().unwrap_or_default()
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.bytes().len() / R::BYTES + self.memory.len()
    }

    /// Returns the record at an index.
    #[inline]
    pub fn get(&self, number: usize) -> Option<R> {
        let start = number * R::BYTES;
        match self.bytes().get(start..start + R::BYTES) {
            Some(bytes) => Some(R::decode(bytes)),
            None => self.memory.get(number - self.bytes().len() / R::BYTES).copied(),
        }
    }

    /// Returns the records in order.
    pub fn iter(&self) -> SpilledIter<'_, R> {
        self.range(0..self.len())
    }

    /// Returns a range of the records, in order.
    pub fn range(&self, numbers: Range<usize>) -> SpilledIter<'_, R> {
        let count = self.bytes().len() / R::BYTES;
        let [start, end] = [numbers.start, numbers.end].map(|at| at.min(count) * R::BYTES);
        let in_memory = numbers.start.max(count) - count..numbers.end.max(count) - count;
        let disk = self.bytes()[start..end].chunks_exact(R::BYTES);
        SpilledIter { disk, memory: self.memory[in_memory].iter() }
    }

    /// Passes all records to `take` in order, in blocks of some thousand.
    ///
    /// # Errors
    /// Returns any error of `take`.
    pub fn blocks<E>(&self, mut take: impl FnMut(&[R]) -> Result<(), E>) -> Result<(), E> {
        let mut block = Vec::new();
        for bytes in self.bytes().chunks(BLOCK * R::BYTES) {
            block.clear();
            block.extend(records::<R>(bytes));
            take(&block)?;
        }
        self.memory.chunks(BLOCK).try_for_each(take)
    }

    /// Returns the number of leading records for which `before` is true, by binary search.
    pub fn partition_point(&self, before: impl Fn(&R) -> bool) -> usize {
        partition_point(self.len(), |at| self.get(at).is_some_and(|record| before(&record)))
    }
}

/// An iterator over the records of a [`SpilledVec`].
pub struct SpilledIter<'v, R> {
    disk: std::slice::ChunksExact<'v, u8>,
    memory: std::slice::Iter<'v, R>,
}

impl<R: Record> Iterator for SpilledIter<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        match self.disk.next() {
            Some(bytes) => Some(R::decode(bytes)),
            None => self.memory.next().copied(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.disk.len() + self.memory.len();
        (left, Some(left))
    }

    fn nth(&mut self, skipped: usize) -> Option<R> {
        let on_disk = self.disk.len();
        match skipped < on_disk {
            true => self.disk.nth(skipped).map(R::decode),
            false => {
                self.disk = [].chunks_exact(R::BYTES);
                self.memory.nth(skipped - on_disk).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_returns_its_records_from_memory_and_disk() {
        let numbers: Vec<i64> = (0..100).map(|n| n * n - 700).collect();
        for limit in [0, 500, u64::MAX] {
            let mut spill = SpillVec::new(Lease::alone(limit, std::env::temp_dir()));
            for _ in 0..2 {
                numbers.chunks(7).try_for_each(|some| spill.extend(some)).expect("room on disk");
                let mut drained = Vec::new();
                let take = |number| {
                    drained.push(number);
                    Ok(())
                };
                spill.drain(take).expect("nothing fails");
                assert_eq!(drained, numbers, "{limit}");
            }
            numbers.iter().try_for_each(|&number| spill.push(number)).expect("room on disk");
            let last = spill.in_memory(99).copied();
            assert_eq!((spill.len(), last, spill.in_memory(100)), (100, Some(numbers[99]), None));
            let all = spill.take().expect("room on disk");
            assert_eq!(all.iter().collect::<Vec<_>>(), numbers);
            for range in [0..0, 0..100, 3..50, 60..100, 99..100] {
                assert!(all.range(range.clone()).eq(numbers[range].iter().copied()));
            }
            for skipped in [0, 1, 37, 62, 63, 98, 99, 100] {
                let rest = all.iter().skip(skipped);
                assert!(rest.eq(numbers[skipped..].iter().copied()), "{skipped}");
            }
            let mut blocks = Vec::new();
            let collect = |block: &[i64]| {
                blocks.extend_from_slice(block);
                Ok::<(), ()>(())
            };
            all.blocks(collect).expect("nothing fails");
            assert_eq!(blocks, numbers);
            let each = (0..101).map(|number| all.get(number));
            assert!(each.eq(numbers.iter().copied().map(Some).chain([None])));
            assert!((0..=100).all(|at| all.partition_point(|n| *n < at * at - 700) as i64 == at));
            assert_eq!((all.len(), all.iter().size_hint().0), (100, 100));
            assert_eq!(all.spilled_bytes() > 0, limit < u64::MAX);
            for _ in 0..2 {
                spill.take_over(numbers.clone()).expect("room on disk");
            }
            let twice = spill.take().expect("room on disk");
            assert!(twice.iter().eq([&*numbers, &*numbers].concat()));
            spill.extend(&numbers).expect("room on disk");
            spill.clear();
            assert!(spill.take().expect("room on disk").is_empty());
        }
    }

    #[test]
    fn memory_stays_within_its_limit() {
        for step in [1, 3, 100, 999, 1000, 1001, 5000] {
            let mut spill = SpillVec::<u64>::new(Lease::alone(8000, std::env::temp_dir()));
            for start in (0..20_000).step_by(step) {
                let some: Vec<u64> = (start..start + step as u64).collect();
                match some[..] {
                    [one] => spill.push(one),
                    _ => spill.extend(&some),
                }
                .expect("room on disk");
                assert!(spill.memory.capacity() <= 1000, "{step}");
            }
            let all = spill.finish().expect("room on disk");
            assert!(all.iter().eq(0..all.len() as u64) && all.len() >= 20_000);
        }
        let spill = SpillVec::<u32>::new(Lease::alone(400, std::env::temp_dir()));
        assert_eq!(spill.with_room_for(7).memory.capacity(), 7);
        let spill = SpillVec::<u32>::new(Lease::alone(400, std::env::temp_dir()));
        assert_eq!(spill.with_room_for(1 << 40).memory.capacity(), 100);
    }
}
