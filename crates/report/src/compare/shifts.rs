//! Finds the n-th smallest of all pairwise differences between two sorted sides, without listing
//! the differences.
//!
//! ```text
//!   b - a     a: 1   3   7        Differences grow with b and fall with a. So one walk along
//!   b:  2        1  -1  -5        the border between greater and smaller ones counts the
//!       6        5   3  -1        differences up to x. A binary search over all doubles finds
//!       9        8   6   2        the x with the wanted count.
//! ```
//!
//! Cost: 64 walks of the length of both sides. Two sides of 1,000 have a million differences.

use tracemill_analysis::value::space::{of_rank, rank};

/// All differences between two sorted sides without NaN.
pub(super) struct Shifts<'n> {
    pub(super) from: &'n [f64],
    pub(super) to: &'n [f64],
}

impl Shifts<'_> {
    pub(super) fn count(&self) -> usize {
        self.from.len() * self.to.len()
    }

    /// Returns the difference at index `place` of the sorted differences. The index must be below
    /// [`Self::count`].
    pub(super) fn nth(&self, place: usize) -> f64 {
        let (mut low, mut high) = (u64::MIN, u64::MAX);
        while low < high {
            let middle = low.midpoint(high);
            match self.up_to(middle) > place {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        of_rank(low)
    }

    /// Counts the differences whose [`rank`] is at most `most`.
    fn up_to(&self, most: u64) -> usize {
        // The more `to` grows, the more values of `from` give differences above `most`.
        let (mut first, mut count) = (0, 0);
        for to in self.to {
            let is_above = |from: &f64| rank(to - from) > most;
            first += self.from[first..].iter().take_while(|from| is_above(from)).count();
            count += self.from.len() - first;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_trace::spill::hash::mix;

    /// Compares results with a sorted list of all differences, for ties, single numbers, signed
    /// zeros and several sizes.
    #[test]
    fn nth_difference_matches_sorted_list() {
        let number = |seed: u64| match mix(seed, 1) % 5 {
            0 => 0.0,
            1 => -0.0,
            2 => (mix(seed, 2) % 4) as f64,
            3 => mix(seed, 3) as f64 / 1e12,
            _ => -(mix(seed, 4) as f64) / 1e18,
        };
        for seed in 0..60 {
            let side = |first: u64| {
                let count = 1 + mix(seed, first) % 12;
                let mut side: Vec<f64> =
                    (first..first + count).map(|at| number(at * 64 + seed)).collect();
                side.sort_by(f64::total_cmp);
                side
            };
            let (from, to) = (side(7), side(1007));
            let mut all: Vec<f64> =
                to.iter().flat_map(|b| from.iter().map(move |a| b - a)).collect();
            all.sort_by(f64::total_cmp);
            let shifts = Shifts { from: &from, to: &to };
            assert_eq!(shifts.count(), all.len());
            for (place, shift) in all.iter().enumerate() {
                let found = shifts.nth(place);
                assert_eq!(rank(found), rank(*shift), "{place} of {from:?} {to:?}");
            }
        }
    }
}
