//! Kinds of events, as bits: of those in a granule, or of one in [`crate::id::PLACES`].

/// X, and whatever else is none of the others.
pub const PLAIN: u64 = 1;
/// B and E.
pub const PAIRS: u64 = 2;
/// b, n, e and S, T, p, F.
pub const ASYNC: u64 = 4;
/// s, t, f.
pub const FLOWS: u64 = 8;
/// C.
pub const COUNTERS: u64 = 16;
/// M.
pub const METADATA: u64 = 32;
/// Parts of CPU profiles.
pub const PROFILES: u64 = 64;
/// Without a time.
pub const UNTIMED: u64 = 128;
/// Without which DevTools opens no trace.
pub const ESSENTIAL: u64 = 256;
/// Something was lost beside them.
pub const DAMAGE: u64 = 512;
