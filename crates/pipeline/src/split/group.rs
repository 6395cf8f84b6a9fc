//! Threads that belong together.

/// Threads that belong together, with all of their events.
pub(super) struct ThreadGroup {
    /// Partitions of threads, in order of first appearance.
    pub(super) threads: Vec<u32>,
    /// Partitions that hold their events but for chunks.
    pub(super) plain: Vec<u32>,
    /// Partitions of streams.
    pub(super) chunks: Vec<u32>,
}
