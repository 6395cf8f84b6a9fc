//! Kinds of events, as bits: of those in a granule, or of one in [`crate::id::PLACES`].

/// A complete event (X), or one of a phase that no other bit has; but for [`PROFILES`] of the phase P.
pub const PLAIN: u64 = 1;
/// The begin or the end of a slice: B, E.
pub const PAIRS: u64 = 2;
/// A part of something asynchronous: b, n, e, and the old S, T, p, F.
pub const ASYNC: u64 = 4;
/// A part of a flow: s, t, f.
pub const FLOWS: u64 = 8;
/// A counter: C.
pub const COUNTERS: u64 = 16;
/// Metadata: M.
pub const METADATA: u64 = 32;
/// A part of a CPU profile: `Profile`, `ProfileChunk`, `CpuProfile`.
pub const PROFILES: u64 = 64;
/// An event without a time.
pub const UNTIMED: u64 = 128;
/// An event without which DevTools opens no trace.
pub const ESSENTIAL: u64 = 256;
/// Something was lost between the events of the granule.
pub const DAMAGE: u64 = 512;
