//! What a row of [`crate::id::SPANS`] is.

/// X: both places are its own.
pub const COMPLETE: u8 = 0;
/// B and E.
pub const PAIR: u8 = 1;
/// b and e.
pub const ASYNC: u8 = 2;
/// S and F.
pub const LEGACY: u8 = 3;
/// s, t … f: from the begin to the last step before the next begin.
pub const FLOW: u8 = 4;
/// C: a value, as long as it is the last one; both places are its own.
pub const COUNTER: u8 = 5;

/// As a flag: it never ends.
pub const OPEN: u8 = 1;
/// As a flag: it has steps between begin and end, which are not listed.
pub const STEPS: u8 = 2;
