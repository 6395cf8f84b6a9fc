//! Keeps sorted runs of entries for many partitions at once, for the output files of `split`.
//!
//! ```text
//!   chunk of the input ─> PartitionRun [ 0 … | 1 … | 7 … ]   one allocation, sorted by partition
//!   full budget        ─> PartitionSpill   one file, with one exact run per partition
//!   end of reading     ─> PartitionRuns::of(partitions) ─> Sequence ─> buckets or loser tree
//! ```
//!
//! All partitions share one file. Heap: 24 bytes per range plus its entries.
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

/// Entries of several partitions, one partition after the other. Each partition is sorted by the 16
/// bytes of its entries.
#[derive(Default)]
pub struct PartitionRun {
    /// Entries, grouped by partition as `ends` describes.
    pub entries: Vec<Entry>,
    /// Each partition, with the end index of its entries.
    pub ends: Vec<(u32, usize)>,
}

impl PartitionRun {
    /// Returns the heap use in bytes.
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

/// A range of entries of one partition.
struct PartitionRange {
    partition: u32,
    /// Index of the [`PartitionRun`] (in memory) or of the run (on disk).
    run: u32,
    range: Range<usize>,
}

/// Returns the ranges of all partitions, by partition and then in input order.
fn pieces(runs: &[PartitionRun]) -> Vec<PartitionRange> {
    let all = runs.iter().enumerate().flat_map(|(run, partitioned)| {
        partitioned.ranges().map(move |(partition, range)| PartitionRange {
            partition,
            run: run as u32,
            range,
        })
    });
    let mut pieces: Vec<PartitionRange> = all.collect();
    pieces.sort_by_key(|piece| piece.partition);
    pieces
}

/// The spilled runs of partitions.
pub struct PartitionSpill {
    runs: RunFile,
    pieces: Vec<PartitionRange>,
    count: u64,
}

impl PartitionSpill {
    /// Creates an empty spill with a file in `dir`.
    pub fn new(dir: &Path) -> Self {
        PartitionSpill { runs: RunFile::new(dir), pieces: Vec::new(), count: 0 }
    }

    /// Returns whether nothing was spilled yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes one run per partition: the entries of the partition in `runs`, in exact order.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if the file cannot be written.
    pub fn spill(&mut self, runs: &[PartitionRun], order: Order<'_, '_>) -> Result<(), Error> {
        self.count += 1;
        for group in pieces(runs).chunk_by(|a, b| a.partition == b.partition) {
            let slices = group.iter().map(|p| &runs[p.run as usize].entries[p.range.clone()]);
            write_run(&mut self.runs, slices, order)?;
            let count = group.iter().map(|piece| piece.range.len()).sum();
            let run = self.pieces.len() as u32;
            self.pieces.push(PartitionRange {
                partition: group[0].partition,
                run,
                range: 0..count,
            });
        }
        Ok(())
    }

    /// Returns the runs of all partitions.
    ///
    /// # Errors
    /// See [`PartitionSpill::spill`].
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

/// The complete runs of all partitions.
pub struct PartitionRuns {
    pieces: Vec<PartitionRange>,
    storage: Storage,
    /// Number of times that entries spilled to disk.
    pub spills: u64,
}

impl PartitionRuns {
    /// Creates the partitions of runs in memory.
    pub fn in_memory(runs: Vec<PartitionRun>) -> Self {
        PartitionRuns { pieces: pieces(&runs), storage: Storage::Memory(runs), spills: 0 }
    }

    /// Puts the entries of runs in memory in exact order, like runs on disk. Runs in exact order
    /// can be cut at any entry.
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

    /// Returns the runs of one partition, in input order. Cost: a binary search.
    pub fn of(&self, partition: u32) -> impl Iterator<Item = SortedRun<'_>> {
        let start = self.pieces.partition_point(|piece| piece.partition < partition);
        let ranges =
            self.pieces[start..].iter().take_while(move |piece| piece.partition == partition);
        ranges.map(|piece| match &self.storage {
            Storage::Memory(runs) => {
                SortedRun::Memory(&runs[piece.run as usize].entries[piece.range.clone()])
            }
            Storage::Disk(runs) => runs.entries_of(piece.run as usize),
        })
    }
}

/// Runs that are read as one sequence, in exact order.
#[derive(Clone, Default)]
pub struct Sequence<'r>(pub Vec<SortedRun<'r>>);

impl<'r> Sequence<'r> {
    /// Returns the runs as buckets, which threads can sort in parallel. Returns `None` if a run is
    /// on disk.
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

    /// Returns the entries from `from` to just before `to`. The runs must be in exact order.
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

    /// Passes every entry to `visit` in exact order.
    ///
    /// # Errors
    /// Returns any error of `visit`.
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

    /// Returns every entry, in any order.
    pub fn iter(&self) -> impl Iterator<Item = Entry> + '_ {
        self.0.iter().flat_map(|run| run.iter())
    }

    /// Returns every entry, in any order.
    pub fn into_entries(self) -> impl Iterator<Item = Entry> + 'r {
        self.0.into_iter().flat_map(SortedRun::iter)
    }

    /// Returns the times of the first and the last entry that are not before `from`.
    pub fn times(&self, from: i64) -> Option<(i64, i64)> {
        let of_runs = self.0.iter().filter_map(|run| run.times(from));
        of_runs.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}
