//! Bits in [`crate::format::id::STREAMS`] and [`crate::format::id::STREAM_EVENTS`].

/// Bit of a stream whose time range is known.
pub const TIMES: u64 = 1;
/// Bit of a stream whose chunks have all columns, so that each chunk can be read individually.
pub const CHUNKS: u64 = 2;
/// Bit of an event whose samples have `lines`.
pub const LINES: u64 = 1;
/// Bit of an event whose samples have `columns`.
pub const COLUMNS: u64 = 2;
/// Bit of a chunk with other data, or not written as V8 does; every window needs the chunk.
pub const OTHER: u64 = 4;
/// Bit of an event that is a chunk, not the start of a profile.
pub const CHUNK: u64 = 8;
/// Bit of an event whose source is Chrome's tracing.
pub const INTERNAL: u64 = 32;
/// Bit of an event whose times are stored in microseconds, otherwise in nanoseconds.
pub const MICROS: u64 = 16;
