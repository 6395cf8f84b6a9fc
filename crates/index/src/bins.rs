//! What stands in rows of [`crate::id::BINS`], [`crate::id::NAMES`] and [`crate::id::LANES`].

/// The number of a name that [`crate::id::NAMES`] has no room for, or that nothing short has.
pub const NO_NAME: u32 = u32::MAX;

/// Kinds of [`crate::id::LANES`], beside 0 of threads: async operations of a category, and a series of a counter.
pub const ASYNC: u64 = 1;
/// See [`ASYNC`].
pub const COUNTER: u64 = 2;
