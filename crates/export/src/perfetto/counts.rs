//! Counts of a Perfetto export.
/// Counts of written data, and of data that Perfetto's format cannot represent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Perfetto {
    /// Number of slices: X, B and E, and async operations.
    pub slices: u64,
    /// Number of instants.
    pub instants: u64,
    /// Number of counter values.
    pub counters: u64,
    /// Number of flow events.
    pub flows: u64,
    /// Number of CPU profile samples.
    pub samples: u64,
    /// Number of slices shortened to the end of their parent, because slices of a track must nest.
    pub cut: u64,
    /// Nanoseconds added to all times, because the first time is negative.
    pub shift: i64,
    /// Number of begin events without an end; Perfetto shows them as open.
    pub unended: u64,
    /// Number of end events without a begin; left out.
    pub lone_ends: u64,
    /// Number of samples without a time or with an unknown node; left out.
    pub lost_samples: u64,
    /// Number of other events left out: unsupported phases, other metadata, events without a time,
    /// and counters without a number.
    pub other: u64,
    /// Top-level keys, which are left out.
    pub keys: Vec<String>,
}
