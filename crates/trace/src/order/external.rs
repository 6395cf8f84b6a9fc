//! Sorts records by a key and by event order, in memory or on disk.
//!
//! Callers can thus read all records of one key together (a pair, a flow, an id).
//!
//! ```text
//!   records ─┬─ in memory ─> sorted in place ────────┬─> one sequence of records, key by key
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

/// Minimum number of records for sorting on several threads.
const SHARED_LEAST: usize = 1 << 13;

/// A record with a sort key.
pub trait Keyed: Record {
    /// The sort key, which can be compared without the event.
    type Key: Ord;

    /// Returns the sort key.
    fn key(&self) -> Self::Key;

    /// Compares records with equal keys; equal by default. `order` compares their events, see
    /// [`ExternalSorter::push`].
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

/// Collects and sorts records. Records beyond the lease go to disk as sorted runs.
///
/// Callers pass the [`Order`] of the events, for [`Keyed::tie`]. [`KeySorter`] is the variant for
/// records whose keys suffice.
pub struct ExternalSorter<R> {
    memory: Vec<R>,
    lease: Lease,
    runs: RunFile,
    threads: usize,
    /// Whether records with equal keys are compared by [`Keyed::tie`].
    has_ties: bool,
}

impl<R: Keyed> ExternalSorter<R> {
    /// Creates an empty sorter that sorts on `threads` threads and spills beyond its lease.
    pub fn new(lease: Lease, threads: usize) -> Self {
        let runs = RunFile::new(lease.tmp_dir());
        ExternalSorter { memory: Vec::new(), runs, lease, threads, has_ties: true }
    }

    /// Adds records without spilling; check [`ExternalSorter::is_full`] afterwards.
    pub fn extend(&mut self, records: &[R]) {
        self.memory.extend_from_slice(records);
    }

    /// Returns whether the records exceed the lease, so that [`ExternalSorter::spill`] is due.
    pub fn is_full(&self) -> bool {
        size_of_val(&*self.memory) as u64 > self.lease.bytes()
    }

    /// Adds a record, and spills if necessary. `order` covers all events read so far.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn push(&mut self, record: R, order: Order<'_, '_>) -> Result<(), Error> {
        self.memory.push(record);
        if self.is_full() { self.spill(order) } else { Ok(()) }
    }

    /// Writes the records in memory as a run. `order` covers all events read so far.
    ///
    /// # Errors
    /// See [`ExternalSorter::push`].
    pub fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.sort(order);
        self.runs.write_records(&self.memory)?;
        self.runs.end_run();
        self.memory.clear();
        Ok(())
    }

    /// Returns the sorted records, in memory if no record was spilled, otherwise on disk.
    ///
    /// # Errors
    /// See [`ExternalSorter::push`].
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

    /// Sorts the records in memory by key and [`Keyed::tie`].
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

/// Sorted records, in memory or in runs on disk, readable any number of times.
pub struct SortedRecords<R> {
    memory: Vec<R>,
    runs: DiskRuns,
    _lease: Lease,
}

impl<R: Keyed> SortedRecords<R> {
    /// Returns whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.runs.count() == 0
    }

    /// Returns the number of bytes on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.runs.bytes()
    }

    /// Returns the number of runs on disk.
    pub fn runs(&self) -> u64 {
        self.runs.count() as u64
    }

    /// Returns all records in any order, without comparisons.
    pub fn unsorted(&self) -> impl Iterator<Item = R> + '_ {
        self.memory.iter().copied().chain(self.runs.iter().flat_map(records))
    }

    /// Returns all records in order. Cost on disk: log2(runs) comparisons per record.
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
        // memory is empty if there are runs on disk
        self.memory.iter().copied().chain(merged)
    }
}

/// An [`ExternalSorter`] for records whose keys suffice; it reads no events.
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
    /// Creates an empty sorter that sorts on `threads` threads and spills beyond its lease.
    pub fn new(lease: Lease, threads: usize) -> Self {
        KeySorter(ExternalSorter { has_ties: false, ..ExternalSorter::new(lease, threads) })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn push(&mut self, record: R) -> Result<(), Error> {
        self.0.push(record, Order::none())
    }

    /// Drops the records in memory that `stays` rejects, to save sorting them.
    pub fn drop_early(&mut self, stays: impl FnMut(&R) -> bool) {
        self.0.memory.retain(stays);
    }

    /// Returns the sorted records.
    ///
    /// # Errors
    /// See [`KeySorter::push`].
    pub fn finish(self) -> Result<SortedByKey<R>, Error> {
        self.0.finish(Order::none()).map(SortedByKey)
    }
}

/// The sorted records of a [`KeySorter`].
pub struct SortedByKey<R>(SortedRecords<R>);

impl<R: Keyed> SortedByKey<R> {
    /// Returns all records by key, any number of times.
    pub fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.0.sorted(Order::none())
    }

    /// Moves the records that `stays` accepts to a list, by key. Avoids a copy if the list has
    /// room.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn move_to(
        mut self,
        list: &mut SpillVec<R>,
        mut stays: impl FnMut(&R) -> bool,
    ) -> Result<(), Error> {
        // memory is empty if there are runs on disk
        let mut memory = std::mem::take(&mut self.0.memory);
        memory.retain(&mut stays);
        list.take_over(memory)?;
        self.iter().filter(stays).try_for_each(|record| list.push(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Store;
    use crate::store::entry::Entry;
    use crate::store::place::Place;
    use tracemill_testkit::Rng;

    /// A record with few owners and times, so that ties are common.
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
    fn accepted_records_move_to_a_list_in_order() {
        let entry = Entry { time: 0, place: Place::new(0, 1, 0) };
        let expected: Vec<Scored> =
            (0..1000).step_by(3).map(|score| Scored(score, entry)).collect();
        for (limit, room) in [(u64::MAX, u64::MAX), (u64::MAX, 999), (0, u64::MAX), (9999, 999)] {
            let mut sorter = KeySorter::new(Lease::alone(limit, std::env::temp_dir()), 2);
            let all = (0..1000).map(|number| Scored(number * 7 % 1000, entry));
            all.into_iter().try_for_each(|record| sorter.push(record)).expect("room on disk");
            let mut list = SpillVec::new(Lease::alone(room, std::env::temp_dir()));
            let sorted = sorter.finish().expect("room on disk");
            sorted.move_to(&mut list, |record| record.0 % 3 == 0).expect("room on disk");
            let list = list.take().expect("room on disk");
            assert!(list.iter().eq(expected.iter().copied()), "{limit} {room}");
            assert_eq!(list.spilled_bytes() > 0, room < u64::MAX);
        }
    }

    #[test]
    fn order_is_independent_of_threads_and_memory() {
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
