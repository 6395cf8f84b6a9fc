//! Sorted runs of many lanes at once: what `split` takes apart.
//!
//! ```text
//!   chunk of the input ─> LaneRun   [ lane 0 … | lane 1 … | lane 7 … ]   one allocation, sorted within each lane
//!   budget is full     ─> LaneSpill one file; of each lane one exact run, whatever number of chunks it came from
//!   reading is over    ─> LaneRuns::of(lanes) ─> Sequence ─> merged: buckets in memory, loser tree from disk
//! ```
//!
//! One file, however many lanes: no descriptors are spent on lanes. A range costs 24 bytes beside its entries.

use super::run::{ENTRY, Run};
use super::spill::Scratch;
use super::{Buckets, MergedRuns, Order};
use crate::entry::Entry;
use crate::error::Error;
use crate::threads::on_threads;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;
use tracemill_tokenizer::Mapped;

/// Entries of several lanes, one lane behind the other, sorted by their 16 bytes within each.
#[derive(Default)]
pub struct LaneRun {
    /// Lane by lane, as `ends` has them.
    pub entries: Vec<Entry>,
    /// Lanes, and where each ends.
    pub ends: Vec<(u32, usize)>,
}

impl LaneRun {
    /// Bytes of heap.
    pub fn heap(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.ends.capacity() * size_of::<Piece>()
    }

    fn ranges(&self) -> impl Iterator<Item = (u32, Range<usize>)> + '_ {
        let mut start = 0;
        self.ends.iter().map(move |&(lane, end)| (lane, std::mem::replace(&mut start, end)..end))
    }
}

/// A stretch of one lane, and the run or file it is in.
struct Piece {
    lane: u32,
    run: u32,
    range: Range<usize>,
}

/// The pieces of all lanes, by lane and then in input order.
fn pieces(runs: &[LaneRun]) -> Vec<Piece> {
    let all = runs.iter().enumerate().flat_map(|(run, own)| {
        own.ranges().map(move |(lane, range)| Piece { lane, run: run as u32, range })
    });
    let mut pieces: Vec<Piece> = all.collect();
    pieces.sort_by_key(|piece| piece.lane);
    pieces
}

/// What was spilled of lanes so far.
pub struct LaneSpill {
    runs: Scratch,
    pieces: Vec<Piece>,
    count: u64,
}

impl LaneSpill {
    /// An empty file in `dir`, which has no name.
    pub fn new(dir: &Path) -> Result<Self, Error> {
        Ok(LaneSpill { runs: Scratch::new(dir)?, pieces: Vec::new(), count: 0 })
    }

    /// Writes everything in `runs`, as one run in exact order for each lane.
    pub fn spill(&mut self, runs: &[LaneRun], order: Order<'_, '_>) -> Result<(), Error> {
        self.count += 1;
        for of_lane in pieces(runs).chunk_by(|a, b| a.lane == b.lane) {
            let slices = of_lane.iter().map(|p| &runs[p.run as usize].entries[p.range.clone()]);
            let start = self.runs.len as usize;
            self.runs.write_run(slices, order)?;
            let range = start..self.runs.len as usize;
            self.pieces.push(Piece { lane: of_lane[0].lane, run: 0, range });
        }
        Ok(())
    }

    /// All runs of all lanes.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Scratch`] if the disk does not take the rest.
    pub fn finish(mut self) -> Result<LaneRuns, Error> {
        self.pieces.sort_by_key(|piece| piece.lane);
        let place = Held::Disk(self.runs.into_mapped()?);
        Ok(LaneRuns { pieces: self.pieces, held: place, spills: self.count })
    }
}

enum Held {
    Memory(Vec<LaneRun>),
    Disk(Option<Mapped>),
}

/// The runs of all lanes, complete.
pub struct LaneRuns {
    pieces: Vec<Piece>,
    held: Held,
    /// How often the index went to disk.
    pub spills: u64,
}

impl LaneRuns {
    /// Runs that were never spilled.
    pub fn in_memory(runs: Vec<LaneRun>) -> Self {
        LaneRuns { pieces: pieces(&runs), held: Held::Memory(runs), spills: 0 }
    }

    /// Puts every run in exact order, so that it can be cut at any entry. Runs on disk are already.
    pub fn settle(&mut self, order: Order<'_, '_>, threads: usize) {
        let Held::Memory(runs) = &mut self.held else { return };
        let tasks = Mutex::new(runs.iter_mut());
        let work = || {
            while let Some(run) = tasks.lock().unwrap_or_else(|e| e.into_inner()).next() {
                let ends: Vec<Range<usize>> = run.ranges().map(|(_, range)| range).collect();
                ends.into_iter().for_each(|range| order.settle(&mut run.entries[range]));
            }
        };
        on_threads(threads, work);
    }

    /// The runs of one lane.
    pub fn of(&self, lane: u32) -> impl Iterator<Item = Run<'_>> {
        let start = self.pieces.partition_point(|piece| piece.lane < lane);
        let own = self.pieces[start..].iter().take_while(move |piece| piece.lane == lane);
        own.map(|piece| match &self.held {
            Held::Memory(runs) => {
                Run::Memory(&runs[piece.run as usize].entries[piece.range.clone()])
            }
            Held::Disk(mapped) => {
                let bytes = mapped.as_deref().unwrap_or_default();
                Run::Disk(bytes[piece.range.clone()].as_chunks::<ENTRY>().0)
            }
        })
    }
}

/// Runs to be read as one, in exact order.
#[derive(Clone, Default)]
pub struct Sequence<'r>(pub Vec<Run<'r>>);

impl<'r> Sequence<'r> {
    /// The runs in memory as buckets, which threads can put in order at once; `None` if any is on disk.
    pub fn buckets(&self) -> Option<Buckets<'r>> {
        let slices: Option<Vec<&'r [Entry]>> = self
            .0
            .iter()
            .map(|run| match run {
                Run::Memory(entries) => Some(*entries),
                Run::Disk(_) => None,
            })
            .collect();
        slices.map(|slices| Buckets::over(slices.into_iter()))
    }

    /// The entries from `from` on and before `to`; runs must be in exact order.
    pub fn between(&self, from: Option<Entry>, to: Option<Entry>, order: Order<'_, '_>) -> Self {
        let before = |run: Run<'r>, border: Option<Entry>, otherwise: usize| match border {
            Some(border) => run.partition_point(|e| order.compare(e, &border) == Ordering::Less),
            None => otherwise,
        };
        let cut = |&run: &Run<'r>| {
            let range = before(run, from, 0)..before(run, to, run.count());
            (!range.is_empty()).then(|| run.slice(range))
        };
        Sequence(self.0.iter().filter_map(cut).collect())
    }

    /// Shows every entry in exact order.
    pub fn walk<E>(
        &self,
        order: Order<'_, '_>,
        mut visit: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut batch = Vec::new();
        if let Some(buckets) = self.buckets() {
            return (0..buckets.count()).try_for_each(|index| {
                buckets.collect(index, &mut batch);
                order.settle(&mut batch);
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
        self.0.into_iter().flat_map(Run::iter)
    }

    /// Times of the first and the last entry that are not before `from`.
    pub fn times(&self, from: i64) -> Option<(i64, i64)> {
        let of_runs = self.0.iter().filter_map(|run| run.times(from));
        of_runs.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
    }
}
