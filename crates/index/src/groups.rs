//! Which groups a row of [`crate::id::GROUPS`] is one of, as bits.

/// The group lasts longer than the bound that META has.
pub const LONG: u64 = 1;
/// The events of the group are of several threads.
pub const CROSSING: u64 = 2;
