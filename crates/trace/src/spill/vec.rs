//! Records in the order in which they come: in memory or, beyond a limit, on disk.

use super::record::{Record, partition_point, records};
use super::scratch::Scratch;
use crate::run::error::Error;
use crate::run::memory::Lease;
use std::ops::Range;
use tracemill_tokenizer::Mapped;

/// Records that are decoded at a time.
const BLOCK: usize = 8 * 1024;

/// Collects records: a `Vec` whose first part goes to disk.
///
/// ```text
///   ███████████████████████████│██████
///   on disk                     in memory: never more than the limit, but for one record
/// ```
pub struct SpillVec<R> {
    memory: Vec<R>,
    /// How many may be in memory.
    most: usize,
    scratch: Scratch,
    lease: Lease,
}

impl<R: Record> SpillVec<R> {
    /// None yet; what takes more heap than the lease has goes to a file.
    pub fn new(lease: Lease) -> Self {
        let (most, scratch) = (lease.room_for::<R>(), Scratch::new(lease.tmp_dir()));
        SpillVec { memory: Vec::new(), most, scratch, lease }
    }

    /// The same, with memory for `expected` records at once, as far as the limit allows.
    #[must_use]
    pub fn with_room_for(mut self, expected: u64) -> Self {
        self.memory.reserve_exact(self.most.min(usize::try_from(expected).unwrap_or(usize::MAX)));
        self
    }

    /// Appends a record.
    ///
    /// # Errors
    /// As [`Scratch::write`].
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
    /// As [`Scratch::write`].
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

    /// Takes over records: without a copy if they are the first, and not too many.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn take_over(&mut self, records: Vec<R>) -> Result<(), Error> {
        if self.is_empty() && records.len() <= self.most {
            self.memory = records;
            return Ok(());
        }
        self.extend(&records)
    }

    /// Makes room for more: twice the memory, but not beyond the limit.
    fn grow(&mut self, more: usize) {
        let len = self.memory.len();
        if self.memory.capacity() - len < more {
            let doubled = len.min(self.most.saturating_sub(len));
            self.memory.reserve_exact(more.max(doubled));
        }
    }

    /// Moves what is in memory behind what is on disk.
    #[cold]
    pub(crate) fn spill(&mut self) -> Result<(), Error> {
        self.scratch.write_records(&self.memory)?;
        self.memory.clear();
        Ok(())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.on_disk() + self.memory.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn on_disk(&self) -> usize {
        self.scratch.len() as usize / R::BYTES
    }

    /// The record of a number, to be changed; `None` if it is on disk, where what stands there stays as it is, or if there is none.
    pub fn in_memory(&mut self, number: usize) -> Option<&mut R> {
        let on_disk = self.on_disk();
        self.memory.get_mut(number.checked_sub(on_disk)?)
    }

    /// Ends collecting.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn finish(mut self) -> Result<SpilledVec<R>, Error> {
        self.take()
    }

    /// What was collected; then it begins anew.
    ///
    /// # Errors
    /// As [`Scratch::write`].
    pub fn take(&mut self) -> Result<SpilledVec<R>, Error> {
        let (memory, _lease) = (std::mem::take(&mut self.memory), Some(self.lease.clone()));
        Ok(SpilledVec { mapped: self.scratch.take().into_mapped()?, memory, _lease })
    }

    /// Gives all records to `visit`, in their order, and forgets them; memory stays for the next ones, unless some went to disk.
    ///
    /// # Errors
    /// Those of `visit`, and as [`Scratch::write`].
    pub fn drain(&mut self, visit: impl FnMut(R) -> Result<(), Error>) -> Result<(), Error> {
        match self.scratch.is_empty() {
            // without giving up the allocation
            true => self.memory.drain(..).try_for_each(visit),
            false => self.take()?.iter().try_for_each(visit),
        }
    }

    /// Forgets all records.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.scratch.take();
    }
}

/// Records that were collected, to be read as often as needed.
pub struct SpilledVec<R> {
    mapped: Option<Mapped>,
    /// Those behind the ones on disk.
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
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.bytes().len() as u64
    }

    /// Bytes in memory.
    pub fn heap(&self) -> u64 {
        size_of_val(&*self.memory) as u64
    }

    fn bytes(&self) -> &[u8] {
        self.mapped.as_deref().unwrap_or_default()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes().len() / R::BYTES + self.memory.len()
    }

    /// The record of a number.
    #[inline]
    pub fn get(&self, number: usize) -> Option<R> {
        let start = number * R::BYTES;
        match self.bytes().get(start..start + R::BYTES) {
            Some(bytes) => Some(R::decode(bytes)),
            None => self.memory.get(number - self.bytes().len() / R::BYTES).copied(),
        }
    }

    /// In the order in which they came.
    pub fn iter(&self) -> SpilledIter<'_, R> {
        self.range(0..self.len())
    }

    /// Those of these numbers, in the order in which they came.
    pub fn range(&self, numbers: Range<usize>) -> SpilledIter<'_, R> {
        let count = self.bytes().len() / R::BYTES;
        let [start, end] = [numbers.start, numbers.end].map(|at| at.min(count) * R::BYTES);
        let own = numbers.start.max(count) - count..numbers.end.max(count) - count;
        let disk = self.bytes()[start..end].chunks_exact(R::BYTES);
        SpilledIter { disk, memory: self.memory[own].iter() }
    }

    /// Hands on all records, in order, some thousand at a time.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn blocks<E>(&self, mut take: impl FnMut(&[R]) -> Result<(), E>) -> Result<(), E> {
        let mut block = Vec::new();
        for bytes in self.bytes().chunks(BLOCK * R::BYTES) {
            block.clear();
            block.extend(records::<R>(bytes));
            take(&block)?;
        }
        self.memory.chunks(BLOCK).try_for_each(take)
    }

    /// How many at the begin are `before` something, if those are all that are. Cost: a binary search.
    pub fn partition_point(&self, before: impl Fn(&R) -> bool) -> usize {
        partition_point(self.len(), |at| self.get(at).is_some_and(|record| before(&record)))
    }
}

/// The records of a [`SpilledVec`], one after the other.
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
    fn records_come_back_as_they_came_from_memory_and_disk() {
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

    /// What a list takes is what it was given, whatever comes at a time.
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
