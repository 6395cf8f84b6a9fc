//! A mutable array of records, in memory or in the pages of a file.
//!
//! ```
//! use tracemill_trace::run::memory::Lease;
//! use tracemill_trace::spill::SpillArray;
//!
//! let mut counts = SpillArray::<u32>::new(Lease::alone(1000, std::env::temp_dir())); // bytes of heap, folder
//! counts.resize(10_000, 0)?;
//! for number in 0..30_000 {
//!     counts.update(number * 7 % 10_000, |count| *count += 1);
//! }
//! assert!(counts.iter().all(|count| count == 3) && counts.spilled_bytes() >= 40_000);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use super::record::{Record, partition_point};
use crate::os::ScratchMap;
use crate::run::error::Error;
use crate::run::memory::Lease;

const FIRST: usize = 256 << 10;

/// A `Vec` that moves to a file as a whole when it exceeds its lease.
///
/// Records in the file are decoded, changed and encoded again. The file doubles when full and is
/// mapped; unused pages take no memory.
pub struct SpillArray<R> {
    memory: Vec<R>,
    /// Pages of all records, once there is a file.
    pages: Option<ScratchMap>,
    len: usize,
    /// Maximum number of records in memory.
    most: usize,
    lease: Lease,
}

impl<R: Record> SpillArray<R> {
    /// Creates an empty array that moves to a file beyond its lease.
    pub fn new(lease: Lease) -> Self {
        SpillArray { memory: Vec::new(), pages: None, len: 0, most: lease.room_for::<R>(), lease }
    }

    /// Returns the number of records.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the array is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        (self.memory.capacity() * size_of::<R>()) as u64
    }

    /// Returns the size of the file in bytes.
    pub fn spilled_bytes(&self) -> u64 {
        self.pages.as_ref().map_or(0, |pages| pages.bytes().len() as u64)
    }

    /// Appends a record.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    #[inline]
    pub fn push(&mut self, record: R) -> Result<(), Error> {
        if self.pages.is_none() && self.len < self.most {
            if self.len == self.memory.capacity() {
                let doubled = self.len.max(4).min(self.most - self.len);
                self.memory.reserve_exact(doubled);
            }
            self.memory.push(record);
        } else {
            self.make_room(self.len + 1)?;
            self.encode(self.len, record);
        }
        self.len += 1;
        Ok(())
    }

    /// Removes and returns the last record.
    pub fn pop(&mut self) -> Option<R> {
        let last = self.get(self.len.checked_sub(1)?)?;
        self.len -= 1;
        self.memory.truncate(self.len);
        Some(last)
    }

    /// Changes the length: appends copies of `record`, or removes the last records.
    ///
    /// # Errors
    /// See [`SpillArray::push`].
    pub fn resize(&mut self, len: usize, record: R) -> Result<(), Error> {
        if self.pages.is_none() && len <= self.most {
            self.memory.reserve_exact(len.saturating_sub(self.len));
            self.memory.resize(len, record);
        } else {
            self.make_room(len)?;
            (self.len..len).for_each(|at| self.encode(at, record));
        }
        self.len = len;
        Ok(())
    }

    /// Returns the record at an index.
    #[inline]
    pub fn get(&self, number: usize) -> Option<R> {
        match &self.pages {
            None => self.memory.get(number).copied(),
            Some(pages) if number < self.len => {
                Some(R::decode(&pages.bytes()[number * R::BYTES..][..R::BYTES]))
            }
            Some(_) => None,
        }
    }

    /// Changes the record at an index, if it exists.
    #[inline]
    pub fn update(&mut self, number: usize, change: impl FnOnce(&mut R)) {
        match &mut self.pages {
            None => {
                if let Some(record) = self.memory.get_mut(number) {
                    change(record);
                }
            }
            Some(pages) if number < self.len => {
                let bytes = &mut pages.bytes_mut()[number * R::BYTES..][..R::BYTES];
                let mut record = R::decode(bytes);
                change(&mut record);
                record.encode(bytes);
            }
            Some(_) => {}
        }
    }

    /// Replaces the record at an index, if it exists.
    #[inline]
    pub fn set(&mut self, number: usize, record: R) {
        self.update(number, |slot| *slot = record);
    }

    /// Returns the number of leading records for which `before` is true, by binary search.
    pub fn partition_point(&self, before: impl Fn(&R) -> bool) -> usize {
        partition_point(self.len(), |at| self.get(at).is_some_and(|record| before(&record)))
    }

    /// Returns the records in order.
    pub fn iter(&self) -> ArrayIter<'_, R> {
        ArrayIter { array: self, next: 0 }
    }

    fn encode(&mut self, number: usize, record: R) {
        if let Some(pages) = &mut self.pages {
            record.encode(&mut pages.bytes_mut()[number * R::BYTES..][..R::BYTES]);
        }
    }

    /// Grows the file to `len` records; a new file receives the records in memory.
    #[cold]
    fn move_to_file(&mut self, len: usize) -> Result<(), Error> {
        let failed = |e| Error::scratch(self.lease.tmp_dir(), e);
        let is_new = self.pages.is_none();
        let pages = match &mut self.pages {
            Some(pages) => pages,
            none => none.insert(ScratchMap::new(self.lease.tmp_dir()).map_err(failed)?),
        };
        let has = pages.bytes().len();
        let wanted = (len * R::BYTES).max(2 * has).max(FIRST);
        pages.append_zeros(wanted - has).map_err(failed)?;
        if is_new {
            let memory = std::mem::take(&mut self.memory);
            for (record, bytes) in memory.iter().zip(pages.bytes_mut().chunks_exact_mut(R::BYTES)) {
                record.encode(bytes);
            }
        }
        Ok(())
    }

    #[inline]
    fn make_room(&mut self, len: usize) -> Result<(), Error> {
        match &self.pages {
            Some(pages) if len * R::BYTES <= pages.bytes().len() => Ok(()),
            _ => self.move_to_file(len),
        }
    }
}

/// Creates an empty array without a memory limit.
impl<R: Record> Default for SpillArray<R> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<R: Record> From<Vec<R>> for SpillArray<R> {
    /// Creates an array without a memory limit.
    fn from(memory: Vec<R>) -> Self {
        let len = memory.len();
        SpillArray { memory, pages: None, len, most: usize::MAX, lease: Lease::alone(u64::MAX, "") }
    }
}

/// An iterator over the records of a [`SpillArray`].
pub struct ArrayIter<'a, R> {
    array: &'a SpillArray<R>,
    next: usize,
}

impl<R: Record> Iterator for ArrayIter<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let value = self.array.get(self.next)?;
        self.next += 1;
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.array.len - self.next;
        (left, Some(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies the operation that `number` encodes to an array and a list.
    fn step(array: &mut SpillArray<u64>, list: &mut Vec<u64>, number: u64) {
        let at = number as usize % (list.len() + 3);
        match number >> 8 & 7 {
            0..=3 => {
                array.push(number).expect("room on disk");
                list.push(number);
            }
            4 => assert_eq!(array.pop(), list.pop()),
            5 => {
                array.update(at, |slot| *slot ^= number);
                if let Some(slot) = list.get_mut(at) {
                    *slot ^= number;
                }
            }
            6 => {
                let len =
                    list.len() + number as usize % 40 - (number as usize % 20).min(list.len());
                array.resize(len, number).expect("room on disk");
                list.resize(len, number);
            }
            _ => {
                array.set(at, number);
                if let Some(slot) = list.get_mut(at) {
                    *slot = number;
                }
            }
        }
    }

    #[test]
    fn array_behaves_like_a_vec_in_memory_and_on_disk() {
        for limit in [0, 800, u64::MAX] {
            let mut array = SpillArray::new(Lease::alone(limit, std::env::temp_dir()));
            let (mut list, mut number) = (Vec::new(), 7u64);
            for _ in 0..20_000 {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                step(&mut array, &mut list, number >> 24);
                assert!(limit == u64::MAX || array.heap() <= limit);
            }
            assert!(array.iter().eq(list.iter().copied()) && list.len() > 5000, "{limit}");
            assert_eq!((array.len(), array.get(list.len())), (list.len(), None));
            assert_eq!(array.spilled_bytes() > 0, limit < u64::MAX);
        }
    }

    #[test]
    fn error_names_the_missing_folder() {
        let mut array = SpillArray::new(Lease::alone(8, "/no/such/folder"));
        array.push(1u64).expect("no file yet");
        let error = array.push(2).expect_err("no folder").to_string();
        assert!(error.contains("/no/such/folder"), "{error}");
    }
}
