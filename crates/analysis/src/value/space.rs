//! Lists of records that move to disk when they exceed the memory budget.

use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::{Record, SpillArray, SpillIndex, SpillVec};

/// Memory for lists that can be spilled to disk.
#[derive(Clone, Debug)]
pub struct Space {
    /// The memory budget that all lists share.
    lease: Lease,
    /// Number of threads that sort a list.
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

    /// Divides the memory by the number of parallel tasks.
    pub fn divided(&self, parts: usize) -> Self {
        Space { lease: self.lease.divided(parts), ..*self }
    }

    /// Returns the `share`-th part of the memory, in bytes.
    pub(crate) fn bytes(&self, share: u64) -> u64 {
        Share::of(1, share).bytes(self.lease.bytes())
    }

    /// Returns half of the `share`-th part of the memory, because a full list doubles.
    fn half(&self, share: u64) -> Lease {
        self.lease.part(Share::of(1, 2 * share))
    }

    /// Creates a list that uses the `share`-th part of the memory.
    pub fn spool<R: Record>(&self, share: u64) -> SpillVec<R> {
        SpillVec::new(self.half(share))
    }

    /// Creates an array that uses the `share`-th part of the memory.
    pub fn array<R: Record>(&self, share: u64) -> SpillArray<R> {
        SpillArray::new(self.half(share))
    }

    /// Creates a hash index that uses the `share`-th part of the memory.
    pub fn index(&self, share: u64) -> SpillIndex {
        SpillIndex::new(self.half(share))
    }

    /// Creates a sorter that uses the `share`-th part of the memory.
    pub fn sorter<R: Keyed>(&self, share: u64) -> KeySorter<R> {
        KeySorter::new(self.half(share), self.threads)
    }
}

/// Returns bits that sort like doubles. The bits of both zeros are equal, and those of NaN come
/// last.
pub fn rank(number: f64) -> u64 {
    if number.is_nan() {
        return u64::MAX;
    }
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the double from which [`rank`] computes these bits.
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
