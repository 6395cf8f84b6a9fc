//! Times as events have them.

use super::decimal::Decimal;
use super::read;

/// The exact time a raw `ts` or `dur` value says: a number, or a string that holds exactly one.
/// Everything else is no time.
#[must_use]
pub fn time(raw: &str) -> Option<Decimal> {
    match read::unescape(raw) {
        Some(content) => Decimal::parse(&content),
        None => Decimal::parse(raw.as_bytes()),
    }
}

/// A time, and whether it is whole nanoseconds.
#[derive(Clone, Copy)]
pub(super) struct ExactTime {
    pub(super) ns: i128,
    pub(super) exact: bool,
}
