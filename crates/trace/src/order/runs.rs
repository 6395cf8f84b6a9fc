//! Cuts sorted runs into buckets of time, which threads can sort independently and in cache.
//!
//! ```text
//!   run 0     ▪ ▪ ▪ ▪ │ ▪ ▪ ▪ │ ▪ ▪ ▪ ▪ ▪
//!   run 1       ▪ ▪   │ ▪ ▪ ▪ │ ▪              borders from a sample of all runs: equal buckets
//!   run 2             │ ▪ ▪   │
//!             bucket 0  bucket 1  bucket 2
//! ```
//!
//! Cost: samples one entry in 512, and finds each cut with a galloping search. Heap: 16 bytes per
//! piece of a run.

use super::distribution::sort_pieces;
use crate::store::entry::Entry;

/// Target number of entries per bucket: 256 KiB of index, some MiB of events.
const BUCKET: usize = 16 * 1024;
/// One in this many entries of each run is sampled to choose the borders between buckets of time.
const SAMPLE: usize = 512;

/// Buckets of time over sorted runs.
///
/// Events at the same time are in the same bucket, so ties can be resolved per bucket. If all
/// events have one time, the only bucket doubles the memory of the index.
pub struct Buckets<'r> {
    runs: Vec<&'r [Entry]>,
    /// Bucket i holds times in `borders[i-1]..borders[i]`; the last bucket has no end.
    borders: Vec<i64>,
    /// Pieces by bucket, then by run. Most runs have entries in few buckets, so this list is
    /// shorter than runs times buckets.
    pieces: Vec<BucketStart>,
}

/// Start of the entries of a bucket in one run.
struct BucketStart {
    bucket: u32,
    run: u32,
    start: usize,
}

/// Returns the number of leading entries before `border`, with a galloping search, because most
/// pieces are short.
fn gallop(run: &[Entry], border: i64) -> usize {
    let mut step = 1;
    while run.get(step - 1).is_some_and(|entry| entry.time < border) {
        step *= 2;
    }
    let from = step / 2;
    from + run[from..run.len().min(step)].partition_point(|entry| entry.time < border)
}

fn pieces(runs: &[&[Entry]], borders: &[i64]) -> Vec<BucketStart> {
    let mut pieces = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let (mut start, mut bucket) = (0, 0);
        while let Some(entry) = run.get(start) {
            bucket += borders[bucket..].partition_point(|&border| border <= entry.time);
            pieces.push(BucketStart { bucket: bucket as u32, run: number as u32, start });
            let Some(&end) = borders.get(bucket) else { break };
            start += gallop(&run[start..], end);
        }
    }
    pieces.sort_by_key(|piece| piece.bucket);
    pieces
}

impl<'r> Buckets<'r> {
    /// Cuts sorted runs into buckets. Cost: sorts a sample of each run.
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
        let pieces = pieces(&runs, &borders);
        Buckets { runs, borders, pieces }
    }

    /// Returns the runs.
    pub fn runs(&self) -> impl Iterator<Item = &'r [Entry]> + '_ {
        self.runs.iter().copied()
    }

    /// Returns the number of buckets, at least one.
    pub fn count(&self) -> usize {
        self.borders.len() + 1
    }

    /// Returns the slices of bucket `index`, one per run with entries in it.
    pub fn slices(&self, index: usize) -> impl Iterator<Item = &'r [Entry]> + '_ {
        let to = self.borders.get(index);
        let first = self.pieces.partition_point(|piece| (piece.bucket as usize) < index);
        let pieces = self.pieces[first..].iter();
        pieces.take_while(move |piece| piece.bucket as usize == index).map(move |piece| {
            let rest = &self.runs[piece.run as usize][piece.start..];
            let end = to.map_or(rest.len(), |&to| gallop(rest, to));
            &rest[..end]
        })
    }

    /// Fills `bucket` with the entries of bucket `index`, sorted by their 16 bytes.
    pub fn collect(&self, index: usize, bucket: &mut Vec<Entry>) {
        let pieces: Vec<&[Entry]> = self.slices(index).collect();
        sort_pieces(&pieces, bucket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::place::Place;

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
    fn consecutive_runs_have_few_pieces() {
        let runs: Vec<Vec<Entry>> = (0..4000)
            .map(|run| (0..10).map(|i| entry(run * 10 + i, (run * 10 + i) as u64)).collect())
            .collect();
        let buckets = Buckets::over(runs.iter().map(Vec::as_slice));
        assert!(buckets.count() > 100);
        let slices: usize = (0..buckets.count()).map(|index| buckets.slices(index).count()).sum();
        assert_eq!(slices, buckets.pieces.len());
        assert!(slices <= runs.len() + buckets.count(), "{slices}");
        check(runs);
    }

    #[test]
    fn buckets_contain_each_entry_once_in_order() {
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
