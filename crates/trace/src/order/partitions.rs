//! Sorted runs of many partitions at once: what `split` takes apart.
//!
//! ```text
//!   chunk of the input ─> PartitionRun [ 0 … | 1 … | 7 … ]   one allocation, sorted within each partition
//!   budget is full     ─> PartitionSpill   one file; of each partition one exact run, whatever number of chunks it came from
//!   reading is over    ─> PartitionRuns::of(partitions) ─> Sequence ─> merged: buckets in memory, loser tree from disk
//! ```
//!
//! One file, however many partitions: no descriptors are spent on partitions. A range costs 24 bytes beside its entries.
//!
//! ```
//! use tracemill_trace::store::entry::Entry;
//! use tracemill_trace::order::{Order, PartitionRun, PartitionRuns, Sequence};
//! use tracemill_trace::store::place::Place;
//!
//! let entry = |time, offset| Entry { time, place: Place::new(offset, 90, 0) };
//! let first = PartitionRun { entries: vec![entry(5, 0), entry(9, 100), entry(7, 200)], ends: vec![(0, 2), (7, 3)] };
//! let second = PartitionRun { entries: vec![entry(6, 300)], ends: vec![(7, 1)] };
//! let runs = PartitionRuns::in_memory(vec![first, second]);
//!
//! let mut times = Vec::new();
//! let seven = Sequence(runs.of(7).collect());
//! seven.walk(Order::none(), |entry| {
//!     times.push(entry.time);
//!     Ok::<_, ()>(())
//! }).unwrap();
//! assert_eq!((times, seven.times(i64::MIN)), (vec![6, 7], Some((6, 7))));
//! ```

use super::{Buckets, MergedRuns, Order, SortedRun, write_run};
use crate::run::error::Error;
use crate::run::threads::pool;
use crate::spill::{DiskRuns, RunFile};
use crate::store::entry::Entry;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

/// Entries of several partitions, one partition behind the other, sorted by their 16 bytes within each.
#[derive(Default)]
pub struct PartitionRun {
    /// Partition by partition, as `ends` has them.
    pub entries: Vec<Entry>,
    /// Partitions, and where each ends.
    pub ends: Vec<(u32, usize)>,
}

impl PartitionRun {
    /// Bytes of heap.
    pub fn heap(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.ends.capacity() * size_of::<PartitionRange>()
    }

    fn ranges(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&(partition, end)| (partition, std::mem::replace(&mut start, end)..end))
    }
}

/// A stretch of one partition.
struct PartitionRange {
    partition: u32,
    /// In memory the number of its [`PartitionRun`], on disk of its own run.
    run: u32,
    /// Its entries in that run.
    range: Range<usize>,
}

/// The pieces of all partitions, by partition and then in input order.
fn pieces(runs: &[PartitionRun]) -> Vec<PartitionRange> {
    let all = runs.iter().enumerate().flat_map(|(run, own)| {
        own.ranges().map(move |(partition, range)| PartitionRange {
            partition,
            run: run as u32,
            range,
        })
    });
    let mut pieces: Vec<PartitionRange> = all.collect();
    pieces.sort_by_key(|piece| piece.partition);
    pieces
}

/// What was spilled of partitions so far.
pub struct PartitionSpill {
    runs: RunFile,
    /// A run each.
    pieces: Vec<PartitionRange>,
    count: u64,
}

impl PartitionSpill {
    /// Nothing yet; it goes to a file in `dir`.
    pub fn new(dir: &Path) -> Self {
        PartitionSpill { runs: RunFile::new(dir), pieces: Vec::new(), count: 0 }
    }

    /// Whether nothing was spilled yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes everything in `runs`, as one run in exact order for each partition.
    ///
    /// # Errors
    /// [`Scratch`](crate::run::error::ErrorKind::Scratch) if the disk does not take it.
    pub fn spill(&mut self, runs: &[PartitionRun], order: Order<'_, '_>) -> Result<(), Error> {
        self.count += 1;
        for own in pieces(runs).chunk_by(|a, b| a.partition == b.partition) {
            let slices = own.iter().map(|p| &runs[p.run as usize].entries[p.range.clone()]);
            write_run(&mut self.runs, slices, order)?;
            let count = own.iter().map(|piece| piece.range.len()).sum();
            let run = self.pieces.len() as u32;
            self.pieces.push(PartitionRange { partition: own[0].partition, run, range: 0..count });
        }
        Ok(())
    }

    /// All runs of all partitions.
    ///
    /// # Errors
    /// As [`PartitionSpill::spill`].
    pub fn finish(mut self) -> Result<PartitionRuns, Error> {
        self.pieces.sort_by_key(|piece| piece.partition);
        let storage = Storage::Disk(self.runs.finish()?);
        Ok(PartitionRuns { pieces: self.pieces, storage, spills: self.count })
    }
}

enum Storage {
    Memory(Vec<PartitionRun>),
    Disk(DiskRuns),
}

/// The runs of all partitions, complete.
pub struct PartitionRuns {
    pieces: Vec<PartitionRange>,
    storage: Storage,
    /// How often the index went to disk.
    pub spills: u64,
}

impl PartitionRuns {
    /// Runs that were never spilled.
    pub fn in_memory(runs: Vec<PartitionRun>) -> Self {
        PartitionRuns { pieces: pieces(&runs), storage: Storage::Memory(runs), spills: 0 }
    }

    /// Puts every run in exact order, so that it can be cut at any entry. Runs on disk are already.
    pub fn resolve_ties(&mut self, order: Order<'_, '_>, threads: usize) {
        let Storage::Memory(runs) = &mut self.storage else { return };
        let resolve = |run: &mut PartitionRun| {
            let ends: Vec<Range<usize>> = run.ranges().map(|(_, range)| range).collect();
            ends.into_iter().for_each(|range| order.resolve_ties(&mut run.entries[range]));
        };
        match pool(threads) {
            Some(pool) => pool.install(|| runs.par_iter_mut().for_each(resolve)),
            None => runs.iter_mut().for_each(resolve),
        }
    }

    /// The runs of one partition, in input order; none if it has no entries. Cost: a binary search.
    pub fn of(&self, partition: u32) -> impl Iterator<Item = SortedRun<'_>> {
        let start = self.pieces.partition_point(|piece| piece.partition < partition);
        let own = self.pieces[start..].iter().take_while(move |piece| piece.partition == partition);
        own.map(|piece| match &self.storage {
            Storage::Memory(runs) => {
                SortedRun::Memory(&runs[piece.run as usize].entries[piece.range.clone()])
            }
            Storage::Disk(runs) => runs.entries_of(piece.run as usize),
        })
    }
}

/// Runs to be read as one, in exact order.
#[derive(Clone, Default)]
pub struct Sequence<'r>(pub Vec<SortedRun<'r>>);

impl<'r> Sequence<'r> {
    /// The runs in memory as buckets, which threads can put in order at once; `None` if any is on disk.
    pub fn buckets(&self) -> Option<Buckets<'r>> {
        let slices: Option<Vec<&'r [Entry]>> = self
            .0
            .iter()
            .map(|run| match run {
                SortedRun::Memory(entries) => Some(*entries),
                SortedRun::Disk(_) => None,
            })
            .collect();
        slices.map(|slices| Buckets::over(slices.into_iter()))
    }

    /// The entries from `from` on and before `to`; runs must be in exact order.
    pub fn between(&self, from: Option<Entry>, to: Option<Entry>, order: Order<'_, '_>) -> Self {
        let before = |run: SortedRun<'r>, border: Option<Entry>, otherwise: usize| match border {
            Some(border) => run.partition_point(|e| order.compare(e, &border) == Ordering::Less),
            None => otherwise,
        };
        let cut = |&run: &SortedRun<'r>| {
            let range = before(run, from, 0)..before(run, to, run.count());
            (!range.is_empty()).then(|| run.slice(range))
        };
        Sequence(self.0.iter().filter_map(cut).collect())
    }

    /// Shows every entry in exact order.
    ///
    /// # Errors
    /// Those of `visit`.
    pub fn walk<E>(
        &self,
        order: Order<'_, '_>,
        mut visit: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batch = Vec::new();
        if let Some(buckets) = self.buckets() {
            return (0..buckets.count()).try_for_each(|index| {
                buckets.collect(index, &mut batch);
                order.resolve_ties(&mut batch);
                batch.iter().try_for_each(|&entry| visit(entry))
            });
        }
        let mut merged = MergedRuns::over(self.0.iter().copied(), order);
        while let Some((_, entry)) = merged.next(order) {
            visit(entry)?;
        }
        Ok(())
    }

    /// Every entry, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter().flat_map(|run| run.iter())
    }

    /// As [`Sequence::iter`].
    pub fn into_entries(self) -> impl Iterator<Item = Entry> + 'r {
        self.0.into_iter().flat_map(SortedRun::iter)
    }

    /// Times of the first and the last entry that are not before `from`.
    pub fn times(&self, from: i64) -> Option<(i64, i64)> {
        let of_runs = self.0.iter().filter_map(|run| run.times(from));
        of_runs.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}
