//! Which threads live in a stretch: it is between their first and last events.

use super::group::ThreadGroup;
use super::scan::SplitInputs;
use std::collections::BTreeSet;

/// The threads of a group, asked for stretches that ascend.
///
/// Cost: each thread comes and goes once; beside that only what is answered.
pub(super) struct LiveThreads {
    /// First and last times and partitions of threads that have not come yet, the next one last.
    coming: Vec<(i64, i64, u32)>,
    /// Threads that came and have not gone, by their last time.
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

    /// The threads that live between two times, neither of which is before those of the call before.
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
