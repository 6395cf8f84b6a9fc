//! Decides whether the scanner tries the learned shapes, and whether it learns another shape.
//!
//! After many misses the shapes *rest*: the scanner does not try them for some bytes of input.

/// Length of the first rest, in bytes of input; each rest is twice as long as the rest before it.
const FIRST_REST: u64 = 64 << 10;
/// Length of the longest rest, in bytes of input.
const LONGEST_REST: u64 = 16 << 20;
/// Number of misses before the first rest.
const MISSES: u32 = 512;
/// Number of misses between two rests.
const MISSES_AFTER_REST: u32 = 64;
/// Savings at the start, and their maximum, in matches.
const SAVINGS: u32 = 256 * Attempt::Learned as u32;
/// Minimum of the savings after a rest, in matches: other events may follow.
const SAVINGS_AFTER_REST: u32 = 8 * Attempt::Learned as u32;

/// The result of an attempt to learn the shape of an event, and the cost of the attempt in matches.
#[derive(Clone, Copy)]
pub(super) enum Attempt {
    /// The event is too long, has a backslash, or is not ASCII.
    Refused = 8,
    Learned = 64,
    /// The event was read, but has no shape that can be learned.
    Failed = 512,
}

/// The account of matches and misses. A match saves about twice the cost of a miss.
#[derive(Clone, Debug)]
pub(super) struct Balance {
    /// Number of matches since the last miss.
    matches: u32,
    /// Number of further misses before a rest.
    misses_left: u32,
    /// Number of matches that can still pay for learning shapes.
    savings: u32,
    /// Offset up to which shapes rest.
    awake_from: u64,
    rest: u64,
}

impl Default for Balance {
    fn default() -> Self {
        Balance {
            matches: 0,
            misses_left: MISSES,
            savings: SAVINGS,
            awake_from: 0,
            rest: FIRST_REST,
        }
    }
}

impl Balance {
    /// Ends a pause in which shapes are not tried, because another scanner uses the shapes next.
    pub(super) fn begin(&mut self) {
        self.awake_from = 0;
    }

    #[inline(always)]
    pub(super) fn is_awake(&self, offset: u64) -> bool {
        offset >= self.awake_from
    }

    #[inline(always)]
    pub(super) fn matched(&mut self) {
        self.matches += 1;
    }

    #[cold]
    pub(super) fn missed(&mut self, offset: u64) {
        self.settle();
        self.misses_left = self.misses_left.saturating_sub(1);
        if self.misses_left == 0 {
            self.awake_from = offset + self.rest;
            self.rest = (2 * self.rest).min(LONGEST_REST);
            self.misses_left = MISSES_AFTER_REST;
            self.savings = self.savings.max(SAVINGS_AFTER_REST);
        }
    }

    /// Returns whether the scanner should try to learn the shape of the event at `offset`.
    #[inline(always)]
    pub(super) fn pays_for_a_shape(&self, offset: u64) -> bool {
        self.is_awake(offset) && self.savings >= Attempt::Learned as u32
    }

    /// Takes the cost of an attempt from the savings.
    pub(super) fn pay(&mut self, attempt: Attempt) {
        self.savings = self.savings.saturating_sub(attempt as u32);
    }

    /// Credits the matches since the last miss to the savings and to the misses that are left.
    fn settle(&mut self) {
        let matches = std::mem::take(&mut self.matches);
        self.savings = self.savings.saturating_add(matches).min(SAVINGS);
        self.misses_left = self.misses_left.saturating_add(matches.saturating_mul(2)).min(MISSES);
        if self.misses_left == MISSES {
            self.rest = FIRST_REST;
        }
    }
}
