//! Threads that belong together.

/// Threads that belong together, with all of their events.
pub(super) struct Group {
    /// Lanes of threads, in order of first appearance.
    pub(super) threads: Vec<u32>,
    /// Lanes that hold their events but for chunks.
    pub(super) plain: Vec<u32>,
    /// Lanes of streams.
    pub(super) chunks: Vec<u32>,
}
