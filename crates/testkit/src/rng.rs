//! A small seeded random generator (splitmix64). Equal seeds give equal traces on every machine.

/// Seeded pseudo-random numbers, not for cryptography.
#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// Creates a generator whose sequence is determined by `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns the next 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number in `0..n` (0 if `n` is 0).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        let wide = u128::from(self.bits()) * u128::from(n);
        (wide >> 64) as u64
    }

    /// Returns a number in `low..=high`; `low` must not exceed `high`.
    #[inline]
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        debug_assert!(low <= high);
        low + self.below(high - low + 1)
    }

    /// Returns an index in `0..n` (0 if `n` is 0).
    #[inline]
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Returns true in about `percent` of 100 calls.
    #[inline]
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Returns one of `items`, which must not be empty.
    #[inline]
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.index(items.len())]
    }

    /// Shuffles `items`.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.index(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_agree_and_bounds_hold() {
        let (mut a, mut b) = (Rng::new(7), Rng::new(7));
        let mut seen = [false; 10];
        for _ in 0..1000 {
            let value = a.range(5, 14);
            assert_eq!(value, b.range(5, 14));
            assert!((5..=14).contains(&value));
            seen[value as usize - 5] = true;
        }
        assert!(seen.iter().all(|&s| s), "every value of a small range occurs");
        assert_eq!(a.below(0), 0);
    }
}
