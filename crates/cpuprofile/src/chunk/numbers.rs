//! Parses numbers that are not plain integers.

use tracemill_tokenizer::{Nanos, nanos, number_text, parse};

/// Marks a missing id; real ids are smaller.
pub const NO_ID: u64 = u64::MAX;

/// Returns a time in nanoseconds, and whether the nanoseconds are exact. Returns `None` for an
/// invalid value, or a time beyond 292 years.
pub(crate) fn whole_nanos(value: &[u8]) -> Option<(i64, bool)> {
    let Nanos { floor, exact } = nanos(number_text(value, &mut Vec::new())?)?;
    (floor.abs() < Nanos::MAX).then_some((floor, exact))
}

pub(crate) fn double(value: &[u8]) -> Option<f64> {
    parse(number_text(value, &mut Vec::new())?)
}

/// Parses an id that is not a plain integer: up to 20 digits, another notation, or in quotes.
#[cold]
pub(crate) fn odd_id(value: &[u8]) -> Option<u64> {
    let mut scratch = Vec::new();
    let text = number_text(value, &mut scratch)?;
    let whole = || match nanos(text)? {
        // 2.0 and 2e0 are 2
        Nanos { floor, exact: true } if floor % 1000 == 0 => u64::try_from(floor / 1000).ok(),
        _ => None,
    };
    let id = parse(text).or_else(whole)?;
    (id < NO_ID - 1).then_some(id)
}
