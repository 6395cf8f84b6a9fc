//! Finds the threads that are alive in a time range.

use super::group::ThreadGroup;
use super::scan::SplitInputs;
use std::collections::BTreeSet;

/// The threads of a group, queried for ascending time ranges.
///
/// Cost: each thread is added and removed once; otherwise proportional to the results.
pub(super) struct LiveThreads {
    /// First time, last time and partition of threads that have not started, in descending order.
    coming: Vec<(i64, i64, u32)>,
    /// Threads that are alive, by their last time.
    here: BTreeSet<(i64, u32)>,
}

impl LiveThreads {
    pub(super) fn of(group: &ThreadGroup, found: &SplitInputs) -> Self {
        let spans = group.threads.iter().filter_map(|&thread| {
            let (first, last) = found.partitions[thread as usize].span?;
            Some((first, last, thread))
        });
        let mut coming: Vec<(i64, i64, u32)> = spans.collect();
        coming.sort_unstable_by(|a, b| b.cmp(a));
        LiveThreads { coming, here: BTreeSet::new() }
    }

    /// Returns the threads alive between two times, which must not decrease from call to call.
    pub(super) fn at(&mut self, times: Option<(i64, i64)>) -> impl Iterator<Item = u32> + '_ {
        if let Some((from, to)) = times {
            while let Some((_, last, thread)) = self.coming.pop_if(|next| next.0 <= to) {
                self.here.insert((last, thread));
            }
            while self.here.first().is_some_and(|&(last, _)| last < from) {
                self.here.pop_first();
            }
        }
        let none = times.is_none();
        self.here.iter().filter(move |_| !none).map(|&(_, thread)| thread)
    }
}
