//! How long random tests go on: a few rounds in an ordinary run, more where somebody has the time (`scripts/long-tests`).

use std::ops::Range;

/// How many times the usual number of rounds is wanted: `TRACEMILL_TEST_ROUNDS`, or 1.
///
/// # Panics
///
/// If that is no whole number above 0.
#[must_use]
pub fn factor() -> u64 {
    let asked = std::env::var("TRACEMILL_TEST_ROUNDS").ok();
    let asked = asked.map_or(Ok(1), |rounds| rounds.parse());
    asked.ok().filter(|&factor| factor > 0).expect("TRACEMILL_TEST_ROUNDS is a number above 0")
}

/// The seeds of a random test: `usual` from `first` on, times [`factor`].
#[must_use]
pub fn seeds(first: u64, usual: u64) -> Range<u64> {
    first..first + usual * factor()
}
