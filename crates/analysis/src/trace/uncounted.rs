//! Counts of CPU profiles that no table includes.

/// Number of CPU profiles that no table includes, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UncountedProfiles {
    /// Number of profiles that have samples or nodes, including those that tables include.
    pub of: u64,
    /// Number of profiles left out because another profile of the same thread is used, as in
    /// DevTools.
    pub further: u64,
    /// Number of profiles without a `Profile` event, so that their thread is unknown.
    pub unowned: u64,
}
