//! Groups of threads in the same parts.

/// Threads whose events belong to the same parts.
pub(super) struct ThreadGroup {
    /// Partitions of the threads, in order of first appearance.
    pub(super) threads: Vec<u32>,
    /// Partitions of the threads' events, except chunks.
    pub(super) plain: Vec<u32>,
    /// Partitions of the threads' CPU profile streams.
    pub(super) chunks: Vec<u32>,
}
