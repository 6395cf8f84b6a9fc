//! Number of rounds in random tests: few by default, more with `scripts/long-tests`.

use std::ops::Range;

/// Returns the multiplier for rounds: `TRACEMILL_TEST_ROUNDS`, or 1.
///
/// # Panics
///
/// Panics if the variable is not a whole number above 0.
#[must_use]
pub fn factor() -> u64 {
    let setting = std::env::var("TRACEMILL_TEST_ROUNDS").ok();
    let parsed = setting.map_or(Ok(1), |rounds| rounds.parse());
    parsed.ok().filter(|&factor| factor > 0).expect("TRACEMILL_TEST_ROUNDS is a number above 0")
}

/// Returns the seeds of a random test: `usual` times [`factor`] seeds from `first` on.
#[must_use]
pub fn seeds(first: u64, usual: u64) -> Range<u64> {
    first..first + usual * factor()
}
