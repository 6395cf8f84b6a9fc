//! Options that decide how much `info` computes.

/// Options that decide how much `info` computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoConfig {
    /// Maximum number of rows in each list of names, and of gaps.
    pub top: usize,
    /// Whether to count keys of args, and to compute self times of threads and names, at extra
    /// cost. At any time, a thread's time belongs to the open slice (X, or B with its E) that began
    /// last.
    pub full: bool,
    /// Whether to compute self times if the events take at most [`InfoConfig::SELF_TIMES_MAX`]
    /// bytes in total.
    pub self_times: bool,
}

impl InfoConfig {
    /// Bytes of events up to which self times take at most a tenth of a second.
    pub const SELF_TIMES_MAX: u64 = 64 << 20;
}
