//! How much was written, of what.

/// What was written, and what the form has no place for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perfetto {
    /// Slices: X, B and E, and asynchronous operations.
    pub slices: u64,
    /// Instants.
    pub instants: u64,
    /// Values of counters.
    pub counters: u64,
    /// Parts of flows that are events of their own.
    pub flows: u64,
    /// Samples of CPU profiles.
    pub samples: u64,
    /// Slices that end with the one in which they begin, because a track has no place for what lasts longer.
    pub cut: u64,
    /// Nanoseconds that were added to all times, because the first one lies below zero.
    pub shift: i64,
    /// Begins without an end: they stay open, as Perfetto shows them.
    pub unended: u64,
    /// Ends without a begin: left out.
    pub lone_ends: u64,
    /// Samples without a time or of a node that the profile does not have: left out.
    pub lost_samples: u64,
    /// Events of kinds that Perfetto has no place for (objects, memory dumps, clock syncs, metadata but names, labels and order), without a
    /// time, or counters without a number: left out.
    pub other: u64,
    /// Keys beside the events, which have no place there either.
    pub keys: Vec<String>,
}
