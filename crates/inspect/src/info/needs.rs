//! What `info` is asked for.

/// What `info` is to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InfoConfig {
    /// Rows of each list of names, and of gaps.
    pub top: usize,
    /// Also what costs more: keys of args, and self times of threads and names. Each moment of a thread belongs to the
    /// slice (X, or B with its E) that began last among those open.
    pub full: bool,
    /// Also self times of threads and names where all events together take at most [`InfoConfig::SELF_TIMES_MAX`] bytes.
    pub self_times: bool,
}

impl InfoConfig {
    /// Bytes of events up to which self times cost little: a tenth of a second.
    pub const SELF_TIMES_MAX: u64 = 64 << 20;
}
