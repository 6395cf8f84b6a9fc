//! Values in [`crate::format::id::BINS`], [`crate::format::id::NAMES`] and
//! [`crate::format::id::LANES`].
/// Marks a name for which [`crate::format::id::NAMES`] had no room, or the longest slice of a bin
/// if it is in SPANS.
pub const NO_NAME: u32 = u32::MAX;

/// Kind in [`crate::format::id::LANES`]: async operations of a category. Threads have 0.
pub const ASYNC: u64 = 1;
/// Kind in [`crate::format::id::LANES`]: a series of a counter.
pub const COUNTER: u64 = 2;
