//! A hash index from hashes to numbers, in memory or in the pages of a file.
//!
//! ```
//! use tracemill_trace::run::memory::Lease;
//! use tracemill_trace::spill::SpillIndex;
//!
//! let texts = ["b", "a"];
//! let hash = |text: &str| u64::from(text.as_bytes()[0]) << 40; // any function of all bits
//! let mut index = SpillIndex::new(Lease::alone(1 << 20, std::env::temp_dir())); // bytes of heap, folder
//! index.insert(hash("b"), 0)?;
//! index.insert(hash("a"), 1)?;
//! let find = |text: &str| index.find(hash(text), |number| texts[number as usize] == text);
//! assert_eq!([find("a"), find("b"), find("c")], [Some(1), Some(0), None]);
//! # Ok::<(), tracemill_trace::Error>(())
//! ```

use super::array::SpillArray;
use crate::run::error::Error;
use crate::run::memory::Lease;

const FIRST: usize = 64;

/// A hash table of numbers with 32 bits of their hash. The caller stores and compares the keys.
///
/// A slot has 8 bytes, 0 if free. A search begins at the slot given by the highest bits of the hash
/// and continues slot by slot.
///
/// ```text
///   slot    hash, high half │ number + 1        at least a third of the slots is free
/// ```
///
/// Cost: a few slots per search, mostly in one page. `is_it` is called only if 32 bits of the hash
/// match.
pub struct SpillIndex {
    slots: SpillArray<u64>,
    len: usize,
    lease: Lease,
}

impl SpillIndex {
    /// Creates an empty index that moves to a file beyond its lease.
    pub fn new(lease: Lease) -> Self {
        SpillIndex { slots: SpillArray::new(lease.clone()), len: 0, lease }
    }

    /// Returns the heap use in bytes.
    pub fn heap(&self) -> u64 {
        self.slots.heap()
    }

    /// Returns the number with this hash that `is_it` accepts.
    #[inline]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let mut at = first(hash, self.slots.len());
        loop {
            let slot = self.slots.get(at).filter(|slot| *slot != 0)?;
            let number = (slot as u32).wrapping_sub(1);
            if slot >> 32 == hash >> 32 && is_it(number) {
                return Some(number);
            }
            at = next(at, self.slots.len());
        }
    }

    /// Inserts a number below 2³² − 1 that is not in the index.
    ///
    /// # Errors
    /// See [`SpillArray::push`].
    pub fn insert(&mut self, hash: u64, number: u32) -> Result<(), Error> {
        if (self.len + 1) * 3 > self.slots.len() * 2 {
            self.grow()?;
        }
        self.len += 1;
        enter(&mut self.slots, (hash >> 32) << 32 | u64::from(number.wrapping_add(1)));
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> Result<(), Error> {
        let mut slots = SpillArray::new(self.lease.clone());
        slots.resize((2 * self.slots.len()).max(FIRST), 0)?;
        self.slots.iter().filter(|slot| *slot != 0).for_each(|slot| enter(&mut slots, slot));
        self.slots = slots;
        Ok(())
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        (self.slots, self.len) = (SpillArray::new(self.lease.clone()), 0);
    }
}

/// Returns the first slot to search for a hash.
#[inline]
fn first(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

#[inline]
fn next(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

fn enter(slots: &mut SpillArray<u64>, slot: u64) {
    let mut at = first(slot, slots.len());
    while slots.get(at).is_some_and(|taken| taken != 0) {
        at = next(at, slots.len());
    }
    slots.set(at, slot);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spill::hash::mix;

    #[test]
    fn numbers_are_found_by_hash_and_comparison() {
        // spread hashes, hashes with equal low bits, equal hashes, and hashes of the last slots
        let hashes: [fn(u32) -> u64; 4] =
            [|n| mix(u64::from(n), 1), |n| u64::from(n) << 32, |_| 5 << 40, |n| !u64::from(n)];
        for (hash, count) in hashes.into_iter().zip([5000u32, 5000, 300, 300]) {
            for limit in [0, 4096, u64::MAX] {
                let mut index = SpillIndex::new(Lease::alone(limit, std::env::temp_dir()));
                for number in 0..count {
                    assert_eq!(index.find(hash(number), |candidate| candidate == number), None);
                    index.insert(hash(number), number).expect("room on disk");
                }
                let found = |n: u32| index.find(hash(n), |candidate| candidate == n);
                assert!((0..count).all(|number| found(number) == Some(number)));
                assert_eq!(found(count), None);
                assert!(limit == u64::MAX || index.heap() <= limit);
                index.clear();
                assert_eq!(index.find(hash(0), |_| true), None);
            }
        }
    }
}
