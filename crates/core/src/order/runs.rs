//! Sorted runs cut into buckets of time, so that each bucket can be put in order on its own, in cache, by any thread.

use crate::entry::Entry;

/// Entries that a bucket should hold: 256 KiB of index, some MiB of events.
///
/// A quarter of it, so that the events of a bucket stay in a core's own cache while they are changed, was no faster there,
/// and took 10 % more processor time where nothing changes: every run is searched for every bucket.
const BUCKET: usize = 16 * 1024;
/// One of this many entries of each run is looked at to find the borders.
const SAMPLE: usize = 512;

/// Borders in time between buckets over sorted runs.
///
/// Events of one time never stand in two buckets, so a bucket can be settled alone. If all events have one time there
/// is one bucket: its copy then doubles the index, which the budget allows for.
pub struct Buckets<'r> {
    runs: Vec<&'r [Entry]>,
    /// Bucket i holds times in `borders[i-1]..borders[i]`; the last has no end.
    borders: Vec<i64>,
}

impl<'r> Buckets<'r> {
    pub fn over(runs: impl Iterator<Item = &'r [Entry]>) -> Self {
        let runs: Vec<_> = runs.filter(|run| !run.is_empty()).collect();
        let mut samples: Vec<i64> = runs
            .iter()
            .flat_map(|run| run.iter().step_by(SAMPLE).map(|entry| entry.time))
            .collect();
        samples.sort_unstable();
        let mut borders: Vec<i64> =
            samples.chunks(BUCKET / SAMPLE).skip(1).map(|chunk| chunk[0]).collect();
        borders.dedup();
        Buckets { runs, borders }
    }

    /// The runs that it is over.
    pub fn runs(&self) -> impl Iterator<Item = &'r [Entry]> + '_ {
        self.runs.iter().copied()
    }

    /// How many buckets there are: at least one.
    pub fn count(&self) -> usize {
        self.borders.len() + 1
    }

    /// The slices of bucket `index`, one a run that has any.
    pub fn slices(&self, index: usize) -> impl Iterator<Item = &'r [Entry]> + '_ {
        let from = index.checked_sub(1).map(|before| self.borders[before]);
        let to = self.borders.get(index);
        self.runs.iter().filter_map(move |run| {
            let start = from.map_or(0, |from| run.partition_point(|entry| entry.time < from));
            let rest = &run[start..];
            let end = to.map_or(rest.len(), |&to| rest.partition_point(|entry| entry.time < to));
            (end > 0).then(|| &rest[..end])
        })
    }

    /// Fills `bucket` with the entries of bucket `index`, sorted by their 16 bytes.
    pub fn collect(&self, index: usize, bucket: &mut Vec<Entry>) {
        bucket.clear();
        let mut sorted = true;
        for slice in self.slices(index) {
            sorted &= bucket.last().is_none_or(|last| *last <= slice[0]);
            bucket.extend_from_slice(slice);
        }
        if !sorted {
            // the stable sort finds the runs and merges them
            bucket.sort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Place;

    fn entry(time: i64, offset: u64) -> Entry {
        Entry { time, place: Place::new(offset, 2, 0) }
    }

    fn check(runs: Vec<Vec<Entry>>) {
        let mut expected: Vec<Entry> = runs.concat();
        expected.sort_unstable();
        let buckets = Buckets::over(runs.iter().map(Vec::as_slice));
        let (mut all, mut bucket) = (Vec::new(), Vec::new());
        for index in 0..buckets.count() {
            buckets.collect(index, &mut bucket);
            assert!(
                bucket.first().is_none_or(|first| all
                    .last()
                    .is_none_or(|last: &Entry| last.time < first.time))
            );
            all.extend_from_slice(&bucket);
        }
        assert_eq!(all, expected);
    }

    #[test]
    fn buckets_hold_everything_once_in_order() {
        check(vec![]);
        check(vec![vec![entry(5, 1)], vec![], vec![entry(5, 0), entry(6, 9)]]);
        check(
            (0..7)
                .map(|r| (0..40_000).map(|i| entry(i * 3 + r, (r * 40_000 + i) as u64)).collect())
                .collect(),
        );
        check(
            (0..3)
                .map(|r| (0..30_000).map(|i| entry(7, (r * 30_000 + i) as u64)).collect())
                .collect(),
        );
        check(vec![(0..50_000).map(|i| entry(i / 20_000, i as u64)).collect()]);
    }
}
