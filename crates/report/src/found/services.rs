//! The result of comparing services.

/// Services, compared.
#[derive(Clone, Debug, Default)]
pub struct Services {
    /// The services, the largest [share](Service::share) first.
    pub all: Vec<Service>,
    /// Whether the services are folders, not processes.
    pub are_folders: bool,
    /// The first service, if it is slow: its share is at least 1.5 times the median of the others
    /// and 10 percentage points more.
    pub slow: Option<SlowService>,
}

/// The service that is slower than the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowService {
    /// Median share of the others.
    pub median: f64,
    /// Index of the service with the median share.
    pub typical: usize,
}

/// A folder or a process with CPU profiles. Times are milliseconds, summed over its threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Service {
    /// Name of the folder, name of the process, or name of the file of its only profile.
    pub name: String,
    /// Path of the folder; `None` if the service is a process.
    pub folder: Option<String>,
    /// Index of the first thread.
    pub thread: usize,
    /// Number of threads.
    pub threads: u64,
    /// Time in which the threads are busy.
    pub busy: f64,
    /// Time from the first call of each thread to its last.
    pub time: f64,
    /// Time of garbage collection.
    pub gc: f64,
    /// Number of event-loop blocks of at least 50 ms.
    pub blocks: u64,
    /// Total duration of the blocks.
    pub blocked: f64,
    /// Duration of the longest block.
    pub longest: f64,
    /// Function with the most self time, and this time. Neither idle nor native time counts.
    pub hottest: Option<(String, f64)>,
}

impl Service {
    /// Returns the share of its time in which the service is busy.
    pub fn share(&self) -> f64 {
        if self.time > 0.0 { self.busy / self.time } else { 0.0 }
    }
}

/// Compares the first service with the median of the others. The services are sorted by share.
pub(crate) fn slow(all: &[Service]) -> Option<SlowService> {
    let (first, others) = all.split_first()?;
    let typical = 1 + others.len() / 2;
    let median = all.get(typical)?.share();
    let share = first.share();
    (share >= 1.5 * median && share - median >= 0.1).then_some(SlowService { median, typical })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_services_are_far_from_the_median_of_the_others() {
        let of = |shares: &[f64]| {
            let service = |share: &f64| Service { busy: *share, time: 1.0, ..Service::default() };
            slow(&shares.iter().map(service).collect::<Vec<_>>()).map(|slow| slow.typical)
        };
        assert_eq!(of(&[0.9, 0.4, 0.3, 0.2]), Some(2));
        assert_eq!(of(&[0.9, 0.8, 0.7, 0.1]), None, "1.3 times the median");
        assert_eq!(of(&[0.05, 0.01, 0.01]), None, "4 percentage points");
        assert_eq!([of(&[0.9]), of(&[])], [None, None]);
    }
}
