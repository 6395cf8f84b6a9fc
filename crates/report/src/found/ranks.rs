//! The result of comparing the ranks of a job.

/// The ranks of a job, compared.
#[derive(Clone, Debug, Default)]
pub struct Ranks {
    /// The ranks by number. Ranks without numbers are in input order.
    pub all: Vec<Rank>,
    /// Collectives by name, the longest wait first.
    pub collectives: Vec<Collective>,
    /// Number of collectives that at least two ranks recorded.
    pub matched: u64,
    /// Number of communication kernels without a counterpart on another rank, and of kernels that
    /// send from one rank to another.
    pub unmatched: u64,
    /// Index in `all` of the rank for which the others wait for more than their share: more than
    /// half of all waits, and of two ranks more than three quarters.
    pub straggler: Option<usize>,
}

/// A rank. Times are milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rank {
    /// Number of the rank in its job (`distributedInfo.rank`), if each rank has a different one.
    pub number: Option<u64>,
    /// Index of the rank's first input.
    pub input: usize,
    /// Number of steps.
    pub steps: u64,
    /// Total duration of the steps.
    pub time: f64,
    /// Duration of the shortest step.
    pub least: f64,
    /// Duration of the longest step.
    pub most: f64,
    /// Time in which the rank waits for others in collectives.
    pub wait: f64,
    /// Number of collectives that the rank joins last.
    pub last: u64,
    /// Time for which other ranks wait for this one, summed over those ranks.
    pub delay: f64,
    /// Index of the rank for which this one waits longest.
    pub waits_for: Option<usize>,
}

impl Rank {
    /// Returns the mean duration of a step.
    pub fn step(&self) -> f64 {
        self.time / self.steps.max(1) as f64
    }
}

/// Collectives with the same name. Times are milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// Name of the kernels.
    pub name: String,
    /// Number of collectives that at least two ranks recorded.
    pub count: u64,
    /// Mean skew: from the first rank's start to the last rank's.
    pub skew: f64,
    /// Longest skew.
    pub most: f64,
    /// Total wait of all ranks.
    pub wait: f64,
    /// Index of the rank for which the others wait longest, and the time.
    pub last: Option<(usize, f64)>,
}
