//! Counts occurrences and keeps the smallest offsets.
//!
//! ```
//! use tracemill_trace::spill::tally::Tally;
//!
//! let mut tally = Tally::default();
//! [70, 10, 50, 30].into_iter().for_each(|offset| tally.add(offset));
//! assert_eq!(tally.count, 4);
//! assert!(tally.offsets().eq([10, 30, 50]), "the first places, whatever came first");
//! ```

/// Number of offsets kept.
pub const PLACES: usize = 3;
const NONE: u64 = u64::MAX;

/// A count of occurrences, with the smallest offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Number of occurrences.
    pub count: u64,
    /// Ascending offsets, padded with [`NONE`].
    offsets: [u64; PLACES],
}

impl Default for Tally {
    fn default() -> Self {
        Tally { count: 0, offsets: [NONE; PLACES] }
    }
}

impl Tally {
    /// Counts an occurrence at `offset` in the address space.
    #[inline]
    pub fn add(&mut self, offset: u64) {
        self.count += 1;
        if offset < self.offsets[PLACES - 1] {
            self.keep(offset);
        }
    }

    fn keep(&mut self, offset: u64) {
        if offset >= self.offsets[PLACES - 1] {
            return;
        }
        self.offsets[PLACES - 1] = offset;
        self.offsets.sort_unstable();
    }

    /// Adds the count and offsets of another tally. The order does not matter.
    pub fn append(&mut self, other: &Tally) {
        self.count += other.count;
        other.offsets().for_each(|offset| self.keep(offset));
    }

    /// Returns the smallest offsets, ascending.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.offsets.into_iter().filter(|&offset| offset != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smallest_offsets_are_kept_in_any_order_of_arrival() {
        let mut all = Tally::default();
        [9, 4, 7, 1, 8].into_iter().for_each(|offset| all.add(offset));
        let (mut a, mut b) = (Tally::default(), Tally::default());
        [9, 1].into_iter().for_each(|offset| a.add(offset));
        [4, 7, 8].into_iter().for_each(|offset| b.add(offset));
        b.append(&a);
        assert_eq!(all, b);
        assert_eq!((all.count, all.offsets().collect::<Vec<_>>()), (5, vec![1, 4, 7]));
    }
}
