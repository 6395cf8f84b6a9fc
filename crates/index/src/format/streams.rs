//! What is known of CPU profile streams, as bits of [`crate::format::id::STREAMS`], and of their events ([`crate::format::id::STREAM_EVENTS`]).

/// Of a stream: its least and greatest times are known.
pub const TIMES: u64 = 1;
/// Of a stream: its events have what a look at each chunk finds, so that one chunk is read without the others.
pub const CHUNKS: u64 = 2;
/// Of an event: its samples have lines (`lines`).
pub const LINES: u64 = 1;
/// Of an event: its samples have columns (`columns`).
pub const COLUMNS: u64 = 2;
/// Of an event: it says more than samples, nodes, lines, columns and steps, or says them otherwise than V8 does. It is needed wherever it
/// stands.
pub const OTHER: u64 = 4;
/// Of an event: it is a chunk, not the begin of a profile.
pub const CHUNK: u64 = 8;
/// Of an event: it says that its source is a trace.
pub const INTERNAL: u64 = 32;
/// Of an event: its times stand in the index in microseconds, else in nanoseconds.
pub const MICROS: u64 = 16;
