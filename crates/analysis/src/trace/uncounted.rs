//! What of a trace is in no table.

/// CPU profiles of which nothing is in the tables, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncountedProfiles {
    /// All profiles that have samples or nodes, those that count too.
    pub of: u64,
    /// Profiles of threads with another one: as in DevTools one of each thread counts.
    pub further: u64,
    /// Profiles without a `Profile` event, which would name their thread.
    pub unowned: u64,
}
