//! Numbers by the hash of what they stand for: in memory or, beyond a limit, in the pages of a file.
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

/// Slots at first.
const FIRST: usize = 64;

/// A table of 32 bits of a hash and a number: what a number stands for is kept, and compared, by who asks.
///
/// A slot is 8 bytes, 0 if it is free. Where a search begins follows from the highest bits of the hash, and it goes on from slot to
/// slot; so a table of twice the size is filled from front to back.
///
/// ```text
///   slot    hash, high half │ number + 1        a third of them is free at least
/// ```
///
/// Cost: a few slots a search, most often in one page; `is_it` is asked only where 32 bits of the hash are equal.
pub struct SpillIndex {
    /// See above; none before the first number.
    slots: SpillArray<u64>,
    len: usize,
    lease: Lease,
}

impl SpillIndex {
    /// Empty; if slots take more heap than the lease has they go to a file.
    pub fn new(lease: Lease) -> Self {
        SpillIndex { slots: SpillArray::new(lease.clone()), len: 0, lease }
    }

    /// Bytes in memory.
    pub fn heap(&self) -> u64 {
        self.slots.heap()
    }

    /// The number of this hash for which `is_it` says so.
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

    /// Enters a number below 2³² − 1, which is not there yet.
    ///
    /// # Errors
    /// As [`SpillArray::push`].
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

    /// Forgets all numbers.
    pub fn clear(&mut self) {
        (self.slots, self.len) = (SpillArray::new(self.lease.clone()), 0);
    }
}

/// Where the search for a hash begins.
#[inline]
fn first(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

/// The slot behind another.
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
    fn numbers_are_found_by_what_they_stand_for() {
        // hashes that are spread, that begin alike, that are equal, and that begin at the last slot
        let hashes: [fn(u32) -> u64; 4] =
            [|n| mix(u64::from(n), 1), |n| u64::from(n) << 32, |_| 5 << 40, |n| !u64::from(n)];
        for (hash, count) in hashes.into_iter().zip([5000u32, 5000, 300, 300]) {
            for limit in [0, 4096, u64::MAX] {
                let mut index = SpillIndex::new(Lease::alone(limit, std::env::temp_dir()));
                for number in 0..count {
                    assert_eq!(index.find(hash(number), |own| own == number), None);
                    index.insert(hash(number), number).expect("room on disk");
                }
                let found = |n: u32| index.find(hash(n), |own| own == n);
                assert!((0..count).all(|number| found(number) == Some(number)));
                assert_eq!(found(count), None);
                assert!(limit == u64::MAX || index.heap() <= limit);
                index.clear();
                assert_eq!(index.find(hash(0), |_| true), None);
            }
        }
    }
}
