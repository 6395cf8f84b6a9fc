//! Records that belong together, side by side: sorted by what they belong to, and by time within that.
//!
//! What asks for the parts of one thing at a time (a pair, a flow, the events of an id) needs no memory of all that is
//! open at one time, however much that is.
//!
//! ```text
//!   records ─┬─ in memory ─> sorted where they lie ──┬─> one row of records, key after key
//!            └─ budget ─> runs on disk, each sorted ─┘   (loser tree over the runs)
//! ```

use super::record::{Record, records};
use super::spool::{Spool, Spooled};
use super::{LoserTree, Order};
use crate::error::Error;
use crate::threads::on_threads;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

/// Fewer records are sorted sooner than a thread is started.
const SHARED_LEAST: usize = 1 << 13;

/// A record of something that it belongs to.
pub trait Keyed: Record {
    /// Orders records as far as can be told without a look at events.
    type Key: Ord;

    /// What records are sorted by.
    fn key(&self) -> Self::Key;

    /// The whole order: total, and never against that of the keys.
    fn compare(&self, other: &Self, order: Order<'_, '_>) -> Ordering;
}

/// Collects records; beyond its limit they go to disk as sorted runs.
pub struct KeyedSorter<R> {
    records: Spool<R>,
    /// Bytes of the runs on disk.
    ranges: Vec<Range<usize>>,
    threads: usize,
}

impl<R: Keyed> KeyedSorter<R> {
    /// None yet; of more than `limit` bytes the rest goes to `tmp_dir`, sorted on `threads` threads.
    pub fn new(tmp_dir: &Path, limit: u64, threads: usize) -> Self {
        KeyedSorter { records: Spool::new(tmp_dir, limit), ranges: Vec::new(), threads }
    }

    /// Takes records.
    pub fn extend(&mut self, records: &[R]) {
        self.records.memory.extend_from_slice(records);
    }

    /// Whether there is more than may be in memory.
    pub fn is_full(&self) -> bool {
        self.records.is_full()
    }

    /// Takes a record; `order` is over all that was read.
    pub fn push(&mut self, record: R, order: Order<'_, '_>) -> Result<(), Error> {
        self.extend(&[record]);
        if self.is_full() { self.spill(order) } else { Ok(()) }
    }

    /// Writes what is in memory as a run; `order` is over all that was read so far.
    pub fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        sort(&mut self.records.memory, self.threads, order);
        let range = self.records.spill()?;
        if !range.is_empty() {
            self.ranges.push(range);
        }
        Ok(())
    }

    /// Ends collecting: what is in memory stays there, unless some of it went to disk already.
    pub fn finish(mut self, order: Order<'_, '_>) -> Result<KeyedRuns<R>, Error> {
        match self.records.is_on_disk() {
            true => self.spill(order)?,
            false => sort(&mut self.records.memory, self.threads, order),
        }
        Ok(KeyedRuns { records: self.records.take()?, ranges: self.ranges })
    }
}

/// Sorts as [`Keyed::compare`] has it.
fn sort<R: Keyed>(records: &mut [R], threads: usize, order: Order<'_, '_>) {
    sort_by_key(records, threads);
    for ties in records.chunk_by_mut(|a, b| a.key() == b.key()) {
        if ties.len() > 1 {
            ties.sort_unstable_by(|a, b| a.compare(b, order));
        }
    }
}

/// Sorts stretches of equal length side by side: keys are all over their range, so they are equal work.
fn sort_by_key<R: Keyed>(records: &mut [R], threads: usize) {
    if threads < 2 || records.len() < SHARED_LEAST {
        return records.sort_unstable_by_key(R::key);
    }
    let (mut rest, mut stretches) = (records, Vec::with_capacity(threads));
    for left in (2..=threads).rev() {
        let len = rest.len() / left;
        rest.select_nth_unstable_by_key(len, R::key);
        let (stretch, others) = rest.split_at_mut(len);
        stretches.push(stretch);
        rest = others;
    }
    stretches.push(rest);
    let stretches = Mutex::new(stretches);
    on_threads(threads, || {
        let next = || stretches.lock().unwrap_or_else(|e| e.into_inner()).pop();
        while let Some(stretch) = next() {
            stretch.sort_unstable_by_key(R::key);
        }
    });
}

/// All records, to be read as often as needed.
pub struct KeyedRuns<R> {
    records: Spooled<R>,
    ranges: Vec<Range<usize>>,
}

impl<R: Keyed> KeyedRuns<R> {
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes on disk.
    pub fn spilled(&self) -> u64 {
        self.records.spilled()
    }

    /// How many runs are on disk.
    pub fn runs(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// All records, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.records.iter()
    }

    /// All records, sorted.
    pub fn sorted<'r>(&'r self, order: Order<'r, 'r>) -> impl Iterator<Item = R> + 'r {
        let bytes = self.records.mapped.as_deref().unwrap_or_default();
        let mut runs: Vec<_> =
            self.ranges.iter().map(|range| records::<R>(&bytes[range.clone()])).collect();
        let compare = move |a: &R, b: &R| a.key().cmp(&b.key()).then_with(|| a.compare(b, order));
        let heads = runs.iter_mut().map(Iterator::next).collect();
        let mut tree = LoserTree::new(heads, &compare);
        let merged = std::iter::from_fn(move || {
            let (run, record) = tree.winner()?;
            tree.replace(runs[run].next(), &compare);
            Some(record)
        });
        // there are none in memory if any are on disk
        self.records.memory.iter().copied().chain(merged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Entry;
    use crate::order::word;
    use crate::place::Place;
    use crate::store::Store;
    use tracemill_testkit::Rng;

    /// Of a few owners, at a few times: most records have ties.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Own(u64, Entry);

    impl Record for Own {
        const BYTES: usize = 24;

        fn encode(&self, bytes: &mut [u8]) {
            bytes[..8].copy_from_slice(&self.0.to_le_bytes());
            self.1.encode(&mut bytes[8..]);
        }

        fn decode(bytes: &[u8]) -> Self {
            Own(word(bytes, 0), Entry::decode(&bytes[8..]))
        }
    }

    impl Keyed for Own {
        type Key = (u64, i64);

        fn key(&self) -> (u64, i64) {
            (self.0, self.1.time)
        }

        fn compare(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
            self.0.cmp(&other.0).then_with(|| order.compare(&self.1, &other.1))
        }
    }

    #[test]
    fn neither_threads_nor_memory_change_the_order() {
        let mut rng = Rng::new(7);
        let records: Vec<Own> = (0..3 * SHARED_LEAST as u64)
            .map(|offset| {
                let place = Place::new(offset, 1, 0);
                Own(rng.below(40), Entry { time: rng.below(200) as i64 - 100, place })
            })
            .collect();
        let store = Store::new(std::iter::empty(), Vec::new());
        let order = Order(&store);
        let mut expected = records.clone();
        expected.sort_by_key(|own| (own.0, own.1.time));
        for (limit, threads) in [(u64::MAX, 1), (u64::MAX, 3), (0, 1), (100_000, 2)] {
            let mut sorter = KeyedSorter::new(&std::env::temp_dir(), limit, threads);
            for batch in records.chunks(1000) {
                let (last, others) = batch.split_last().expect("not empty");
                sorter.extend(others);
                sorter.push(*last, order).expect("room on disk");
            }
            let sorted = sorter.finish(order).expect("room on disk");
            assert_eq!(sorted.runs() > 0, limit < u64::MAX);
            assert_eq!(sorted.spilled() > 0, limit < u64::MAX);
            for _ in 0..2 {
                assert!(sorted.sorted(order).eq(expected.iter().copied()), "{limit} {threads}");
            }
            let mut all: Vec<Own> = sorted.iter().collect();
            all.sort_unstable_by_key(|own| own.1.place);
            assert_eq!(all, records);
        }
    }
}
