//! Times of events.

use super::decimal::Decimal;
use super::read;

/// Parses a raw `ts` or `dur`: a number, or a string that contains exactly one number. Returns
/// `None` for anything else.
#[must_use]
pub fn time(raw: &str) -> Option<Decimal> {
    match read::unescape(raw) {
        Some(content) => Decimal::parse(&content),
        None => Decimal::parse(raw.as_bytes()),
    }
}

/// A time in nanoseconds, rounded down, and whether the nanoseconds are exact.
#[derive(Clone, Copy)]
pub(super) struct ExactTime {
    pub(super) ns: i128,
    pub(super) exact: bool,
}
