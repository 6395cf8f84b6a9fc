//! What is known of CPU profile streams, as bits of [`crate::id::STREAMS`], and of their events ([`crate::id::STREAM_EVENTS`]).

/// Its least and greatest times are known.
pub const TIMES: u64 = 1;
/// Its events have what a look at each chunk finds: so chunks can be told apart.
pub const CHUNKS: u64 = 2;

/// Of an event: its samples have lines.
pub const LINES: u64 = 1;
/// Its samples have columns.
pub const COLUMNS: u64 = 2;
/// It says more than samples, nodes, lines, columns and steps, or says them otherwise than V8: it is needed wherever it stands.
pub const OTHER: u64 = 4;
/// It is a chunk.
pub const CHUNK: u64 = 8;
/// It says that its source is a trace.
pub const INTERNAL: u64 = 32;
/// Its times are written in microseconds, else in nanoseconds.
pub const MICROS: u64 = 16;
