//! Counts of CPU profiles that no table includes.
/// Number of CPU profiles that no table includes, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncountedProfiles {
    /// All profiles that have samples or nodes, including those in tables.
    pub of: u64,
    /// Profiles of threads that have another profile; one per thread is used, as in DevTools.
    pub further: u64,
    /// Profiles without a `Profile` event, whose thread is therefore unknown.
    pub unowned: u64,
}
