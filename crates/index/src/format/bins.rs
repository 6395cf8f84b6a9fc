//! What stands in rows of [`crate::format::id::BINS`], [`crate::format::id::NAMES`] and [`crate::format::id::LANES`].

/// The number of a name that [`crate::format::id::NAMES`] has no room for, or that nothing short has.
pub const NO_NAME: u32 = u32::MAX;

/// Kinds of [`crate::format::id::LANES`], beside 0 of threads: async operations of a category, and a series of a counter.
pub const ASYNC: u64 = 1;
/// See [`ASYNC`].
pub const COUNTER: u64 = 2;
