//! Lists of records within the memory budget; the rest is spilled to disk.

use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::{Record, SpillArray, SpillIndex, SpillVec};

/// Spillable memory for lists.
#[derive(Clone, Debug)]
pub struct Space {
    /// The lease that all lists share.
    lease: Lease,
    /// Number of threads that sort.
    threads: usize,
}

impl Space {
    /// Creates memory from a lease, for a number of threads.
    pub fn new(lease: Lease, threads: usize) -> Self {
        Space { lease, threads }
    }

    #[cfg(test)]
    pub(crate) fn alone(bytes: u64) -> Self {
        Space::new(Lease::alone(bytes, std::env::temp_dir()), 1)
    }

    /// Divides the memory between parallel tasks.
    pub fn divided(&self, parts: usize) -> Self {
        Space { lease: self.lease.divided(parts), ..*self }
    }

    /// Returns one part in `share` of the memory, in bytes.
    pub(crate) fn bytes(&self, share: u64) -> u64 {
        Share::of(1, share).bytes(self.lease.bytes())
    }

    /// Returns half of one part in `share`, because a list doubles when it is full.
    fn half(&self, share: u64) -> Lease {
        self.lease.part(Share::of(1, 2 * share))
    }

    /// Creates a list with one part in `share` of the memory.
    pub fn spool<R: Record>(&self, share: u64) -> SpillVec<R> {
        SpillVec::new(self.half(share))
    }

    /// Creates an array with one part in `share` of the memory.
    pub(crate) fn array<R: Record>(&self, share: u64) -> SpillArray<R> {
        SpillArray::new(self.half(share))
    }

    /// Creates a hash index with one part in `share` of the memory.
    pub(crate) fn index(&self, share: u64) -> SpillIndex {
        SpillIndex::new(self.half(share))
    }

    /// Creates a sorter with one part in `share` of the memory.
    pub fn sorter<R: Keyed>(&self, share: u64) -> KeySorter<R> {
        KeySorter::new(self.half(share), self.threads)
    }
}

/// Returns bits that sort like doubles; both zeros are equal, and NaN comes last.
pub fn rank(number: f64) -> u64 {
    if number.is_nan() {
        return u64::MAX;
    }
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the double of a [`rank`].
pub fn of_rank(rank: u64) -> f64 {
    f64::from_bits(if rank >> 63 == 1 { rank ^ 1 << 63 } else { !rank })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_sort_like_numbers() {
        let all = [f64::NEG_INFINITY, -1e300, -2.0, -5e-324, 0.0, 5e-324, 1.5, f64::INFINITY];
        assert!(all.is_sorted_by(|a, b| rank(*a) < rank(*b)));
        assert_eq!(rank(-0.0), rank(0.0));
        assert!(rank(f64::NAN) > rank(f64::INFINITY));
    }
}
