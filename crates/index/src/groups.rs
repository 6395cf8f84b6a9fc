//! Which groups a row of [`crate::id::GROUPS`] is one of, as bits.

/// It lasts longer than the bound.
pub const LONG: u64 = 1;
/// Its events are of several threads.
pub const CROSSING: u64 = 2;
