//! What a row of [`crate::format::id::SPANS`] is.

/// A complete event (X): both places are its own.
pub const COMPLETE: u8 = 0;
/// A slice of two events: B and E.
pub const PAIR: u8 = 1;
/// An asynchronous slice: b and e.
pub const ASYNC: u8 = 2;
/// An asynchronous slice of the old form: S and F.
pub const LEGACY: u8 = 3;
/// A flow: from its begin (s) to its last step (t, f) before the next begin.
pub const FLOW: u8 = 4;
/// A counter's value (C), as long as it is the last one; both places are its own.
pub const COUNTER: u8 = 5;
/// Flag: the span never ends.
pub const OPEN: u8 = 1;
/// Flag: there are steps between begin and end, which are not listed.
pub const STEPS: u8 = 2;
