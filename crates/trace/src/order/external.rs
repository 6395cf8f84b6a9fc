//! Records that belong together, side by side: sorted by what they belong to, and by time within that.
//!
//! What asks for the parts of one thing at a time (a pair, a flow, the events of an id) needs no memory of all that is
//! open at one time, however much that is.
//!
//! ```text
//!   records ─┬─ in memory ─> sorted where they lie ──┬─> one row of records, key after key
//!            └─ budget ─> runs on disk, each sorted ─┘   (loser tree over the runs)
//! ```

use super::{LoserTree, Order};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::run::threads::pool;
use crate::spill::{DiskRuns, Record, RunFile, SpillVec, records};
use crate::store::place::Long;
use rayon::slice::ParallelSliceMut;
use std::cmp::Ordering;

/// Fewer records are sorted sooner than a thread is started.
const SHARED_LEAST: usize = 1 << 13;

/// A record that is sorted by a key.
pub trait Keyed: Record {
    /// Orders records as far as can be told without a look at events.
    type Key: Ord;

    /// What records are sorted by.
    fn key(&self) -> Self::Key;

    /// Orders records of one key; unless a type says more, they are equal, and in any order.
    ///
    /// `order` compares events: see [`ExternalSorter::push`].
    fn tie(&self, _other: &Self, _order: Order<'_, '_>) -> Ordering {
        Ordering::Equal
    }
}

impl Keyed for Long {
    type Key = Long;

    fn key(&self) -> Long {
        *self
    }
}

/// Collects records; beyond its limit they go to disk as sorted runs.
///
/// Whoever sorts gives the [`Order`] of the events that records are about, for those that compare them ([`Keyed::tie`]). Of others
/// keys say all: for these there is [`KeySorter`].
pub struct ExternalSorter<R> {
    memory: Vec<R>,
    /// Bytes that may be in memory.
    lease: Lease,
    /// Sorted, each as one that was full.
    runs: RunFile,
    threads: usize,
    /// Whether records of one key are compared.
    has_ties: bool,
}

impl<R: Keyed> ExternalSorter<R> {
    /// None yet; what is more than the lease has goes to disk, sorted on `threads` threads.
    pub fn new(lease: Lease, threads: usize) -> Self {
        let runs = RunFile::new(lease.tmp_dir());
        ExternalSorter { memory: Vec::new(), runs, lease, threads, has_ties: true }
    }

    /// Takes records; whether there are too many is for the caller to ask.
    pub fn extend(&mut self, records: &[R]) {
        self.memory.extend_from_slice(records);
    }

    /// Whether there is more than may be in memory: then [`ExternalSorter::spill`] is due.
    pub fn is_full(&self) -> bool {
        size_of_val(&*self.memory) as u64 > self.lease.bytes()
    }

    /// Takes a record; `order` is over all that was read.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take a run.
    pub fn push(&mut self, record: R, order: Order<'_, '_>) -> Result<(), Error> {
        self.memory.push(record);
        if self.is_full() { self.spill(order) } else { Ok(()) }
    }

    /// Writes what is in memory as a run; `order` is over all that was read so far.
    ///
    /// # Errors
    /// As [`ExternalSorter::push`].
    pub fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.sort(order);
        self.runs.write_records(&self.memory)?;
        self.runs.end_run();
        self.memory.clear();
        Ok(())
    }

    /// Ends collecting: what is in memory stays there, unless some of it went to disk already.
    ///
    /// # Errors
    /// As [`ExternalSorter::push`].
    pub fn finish(mut self, order: Order<'_, '_>) -> Result<SortedRecords<R>, Error> {
        match self.runs.is_empty() {
            true => self.sort(order),
            false => {
                self.spill(order)?;
                self.memory = Vec::new();
            }
        }
        Ok(SortedRecords { memory: self.memory, runs: self.runs.finish()?, _lease: self.lease })
    }

    /// Sorts what is in memory by key, and records of one key as [`Keyed::tie`] has it.
    fn sort(&mut self, order: Order<'_, '_>) {
        sort_by_key(&mut self.memory, self.threads);
        if !self.has_ties {
            return;
        }
        for ties in self.memory.chunk_by_mut(|a, b| a.key() == b.key()) {
            if ties.len() > 1 {
                ties.sort_unstable_by(|a, b| a.tie(b, order));
            }
        }
    }
}

fn sort_by_key<R: Keyed>(records: &mut [R], threads: usize) {
    let shared = if records.len() < SHARED_LEAST { None } else { pool(threads) };
    match shared {
        Some(pool) => pool.install(|| records.par_sort_unstable_by_key(R::key)),
        None => records.sort_unstable_by_key(R::key),
    }
}

/// All records, to be read as often as needed: sorted in memory, or in runs on disk.
pub struct SortedRecords<R> {
    memory: Vec<R>,
    runs: DiskRuns,
    _lease: Lease,
}

impl<R: Keyed> SortedRecords<R> {
    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.runs.count() == 0
    }

    /// Bytes on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.runs.bytes()
    }

    /// How many runs are on disk.
    pub fn runs(&self) -> u64 {
        self.runs.count() as u64
    }

    /// All records, in no particular order. Cost: no comparison.
    pub fn unsorted(&self) -> impl Iterator<Item = R> + '_ {
        self.memory.iter().copied().chain(self.runs.iter().flat_map(records))
    }

    /// All records, sorted. Cost: of those on disk a comparison for each doubling of the number of runs.
    pub fn sorted<'r>(&'r self, order: Order<'r, 'r>) -> impl Iterator<Item = R> + 'r {
        let mut runs: Vec<_> = self.runs.iter().map(records::<R>).collect();
        let compare = move |a: &R, b: &R| a.key().cmp(&b.key()).then_with(|| a.tie(b, order));
        let heads = runs.iter_mut().map(Iterator::next).collect();
        let mut tree = LoserTree::new(heads, &compare);
        let merged = std::iter::from_fn(move || {
            let (run, record) = tree.winner()?;
            tree.replace(runs[run].next(), &compare);
            Some(record)
        });
        // there are none in memory if any are on disk
        self.memory.iter().copied().chain(merged)
    }
}

/// An [`ExternalSorter`] of records whose keys say all there is to say of their order: no event is looked at.
///
/// ```
/// use tracemill_trace::order::{KeySorter, Keyed};
/// use tracemill_trace::record;
/// use tracemill_trace::run::memory::Lease;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Score(u64);
///
/// record! { impl Score { 0: u64 } }
///
/// impl Keyed for Score {
///     type Key = u64;
///     fn key(&self) -> u64 {
///         self.0
///     }
/// }
///
/// let mut sorter = KeySorter::new(Lease::alone(1000, std::env::temp_dir()), 2); // bytes of heap, folder, threads
/// for number in 0..1000u64 {
///     sorter.push(Score(number * 7 % 1000))?;
/// }
/// assert!(sorter.finish()?.iter().eq((0..1000).map(Score)));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct KeySorter<R>(ExternalSorter<R>);

impl<R: Keyed> KeySorter<R> {
    /// None yet; what is more than the lease has goes to disk, sorted on `threads` threads.
    pub fn new(lease: Lease, threads: usize) -> Self {
        KeySorter(ExternalSorter { has_ties: false, ..ExternalSorter::new(lease, threads) })
    }

    /// Takes a record.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take a run.
    pub fn push(&mut self, record: R) -> Result<(), Error> {
        self.0.push(record, Order::none())
    }

    /// Drops records that do not stay, as far as they are in memory: they need not be sorted then.
    pub fn drop_early(&mut self, stays: impl FnMut(&R) -> bool) {
        self.0.memory.retain(stays);
    }

    /// Ends collecting.
    ///
    /// # Errors
    /// As [`KeySorter::push`].
    pub fn finish(self) -> Result<SortedByKey<R>, Error> {
        self.0.finish(Order::none()).map(SortedByKey)
    }
}

/// What a [`KeySorter`] sorted.
pub struct SortedByKey<R>(SortedRecords<R>);

impl<R: Keyed> SortedByKey<R> {
    /// All records by their keys, as often as needed.
    pub fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.0.sorted(Order::none())
    }

    /// Moves those that stay to a list, by their keys. Cost: of those in memory a look at each, if the list has room for them.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn move_to(
        mut self,
        list: &mut SpillVec<R>,
        mut stays: impl FnMut(&R) -> bool,
    ) -> Result<(), Error> {
        // there are none in memory if any are on disk
        let mut memory = std::mem::take(&mut self.0.memory);
        memory.retain(&mut stays);
        list.take_over(memory)?;
        self.iter().filter(stays).try_for_each(|own| list.push(own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::entry::Entry;
    use crate::store::place::Place;
    use tracemill_testkit::Rng;

    /// Of a few owners, at a few times: most records have ties.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Scored(u64, Entry);

    crate::record! { impl Scored { 0: u64, 1: Entry } }

    impl Keyed for Scored {
        type Key = (u64, i64);

        fn key(&self) -> (u64, i64) {
            (self.0, self.1.time)
        }

        fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
            order.compare(&self.1, &other.1)
        }
    }

    #[test]
    fn what_stays_moves_to_a_list_in_order() {
        let entry = Entry { time: 0, place: Place::new(0, 1, 0) };
        let expected: Vec<Scored> = (0..1000).step_by(3).map(|own| Scored(own, entry)).collect();
        for (limit, room) in [(u64::MAX, u64::MAX), (u64::MAX, 999), (0, u64::MAX), (9999, 999)] {
            let mut sorter = KeySorter::new(Lease::alone(limit, std::env::temp_dir()), 2);
            let all = (0..1000).map(|number| Scored(number * 7 % 1000, entry));
            all.into_iter().try_for_each(|own| sorter.push(own)).expect("room on disk");
            let mut list = SpillVec::new(Lease::alone(room, std::env::temp_dir()));
            let sorted = sorter.finish().expect("room on disk");
            sorted.move_to(&mut list, |own| own.0 % 3 == 0).expect("room on disk");
            let list = list.take().expect("room on disk");
            assert!(list.iter().eq(expected.iter().copied()), "{limit} {room}");
            assert_eq!(list.spilled_bytes() > 0, room < u64::MAX);
        }
    }

    #[test]
    fn neither_threads_nor_memory_change_the_order() {
        let mut rng = Rng::new(7);
        let records: Vec<Scored> = (0..3 * SHARED_LEAST as u64)
            .map(|offset| {
                let place = Place::new(offset, 1, 0);
                Scored(rng.below(40), Entry { time: rng.below(200) as i64 - 100, place })
            })
            .collect();
        let store = Store::new(std::iter::empty());
        let order = Order(&store);
        let mut expected = records.clone();
        expected.sort_by_key(|record| (record.0, record.1.time));
        for (limit, threads) in [(u64::MAX, 1), (u64::MAX, 3), (0, 1), (100_000, 2)] {
            let mut sorter =
                ExternalSorter::new(Lease::alone(limit, std::env::temp_dir()), threads);
            for batch in records.chunks(1000) {
                let (last, others) = batch.split_last().expect("not empty");
                sorter.extend(others);
                sorter.push(*last, order).expect("room on disk");
            }
            let sorted = sorter.finish(order).expect("room on disk");
            assert_eq!(sorted.runs() > 0, limit < u64::MAX);
            assert_eq!(sorted.spilled_bytes() > 0, limit < u64::MAX);
            for _ in 0..2 {
                assert!(sorted.sorted(order).eq(expected.iter().copied()), "{limit} {threads}");
            }
            let mut all: Vec<Scored> = sorted.unsorted().collect();
            all.sort_unstable_by_key(|record| record.1.place);
            assert_eq!(all, records);
        }
    }
}
