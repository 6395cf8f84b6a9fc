//! Kinds and flags of rows in [`crate::format::id::SPANS`].

/// A complete event (X), which is both begin and end.
pub const COMPLETE: u8 = 0;
/// A slice of two events: B and E.
pub const PAIR: u8 = 1;
/// An async operation: b and e.
pub const ASYNC: u8 = 2;
/// An async operation of the old format: S and F.
pub const LEGACY: u8 = 3;
/// A flow: from its begin (s) to its last step (t, f) before the next begin.
pub const FLOW: u8 = 4;
/// A counter's value (C, or with [`PAGE`] `UpdateCounters`), until the next value. Its event is both
/// begin and end.
pub const COUNTER: u8 = 5;
/// Flag: the slice has no end.
pub const OPEN: u8 = 1;
/// Flag: there are unlisted steps between begin and end.
pub const STEPS: u8 = 2;
/// Flag: the values are those of the counters of a page, in an instant event.
pub const PAGE: u8 = 4;

/// Returns the flags of a slice whose begin event has a colour, by the colour's number. The number
/// is in the upper five bits.
pub const fn colored(color: u8) -> u8 {
    color << 3
}

/// Returns the number of the colour in flags; 0 if there is none.
pub const fn color(flags: u8) -> u8 {
    flags >> 3
}
