//! Values in [`crate::format::id::BINS`], [`crate::format::id::NAMES`] and
//! [`crate::format::id::LANES`].

/// Replaces the index of a name for which [`crate::format::id::NAMES`] has no room, and the name of
/// a bin whose longest slice is in SPANS.
pub const NO_NAME: u32 = u32::MAX;

/// Kind in [`crate::format::id::LANES`]: async operations of a category. Threads have 0.
pub const ASYNC: u64 = 1;
/// Kind in [`crate::format::id::LANES`]: a series of a counter.
pub const COUNTER: u64 = 2;
