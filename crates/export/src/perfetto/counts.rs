//! The counts that an export for Perfetto returns.

/// Numbers of written items, and of items that Perfetto's format cannot represent.
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
    /// Number of slices whose end was moved to the end of their parent, because slices of a track
    /// must nest.
    pub cut: u64,
    /// Nanoseconds that were added to all times. More than 0 if the first time is negative.
    pub shift: i64,
    /// Number of begin events without an end event. Perfetto shows them as open.
    pub unended: u64,
    /// Number of end events without a begin event, which are left out.
    pub lone_ends: u64,
    /// Number of samples without a time or with an unknown node, which are left out.
    pub lost_samples: u64,
    /// Number of other events that are left out: events of unsupported phases, other metadata,
    /// events without a time, and counters without a number.
    pub other: u64,
    /// Names of the top-level keys, which are all left out.
    pub keys: Vec<String>,
}
