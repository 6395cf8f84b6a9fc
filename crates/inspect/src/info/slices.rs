//! X, B and E events that are to be nested: 40 bytes each, sorted by thread and time, on disk beyond the budget.

use std::cmp::Ordering;
use tracemill_trace::order::LoserTree;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::{DiskRuns, Record, RunFile};

record! {
    /// What of an event says how it nests.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Slice {
        /// Hash of its thread.
        pub(super) thread: u64,
        /// Nanoseconds, rounded down.
        pub(super) ts: i64,
        /// Nanoseconds of an X; 0 for B and E.
        pub(super) dur: u64,
        /// Hash of its name; of an E 0 if it has none, or an empty one.
        pub(super) name: u64,
        /// Offset among all inputs, above the phase.
        place: u64,
    }
}

impl Slice {
    pub(super) fn new(thread: u64, ts: i64, dur: u64, name: u64, offset: u64, phase: u8) -> Self {
        Slice { thread, ts, dur, name, place: offset << 8 | u64::from(phase) }
    }

    pub(super) fn phase(&self) -> u8 {
        self.place as u8
    }

    /// By thread, in each by time; at one time the longer one first, then as they stand in the inputs.
    fn compare(&self, other: &Slice) -> Ordering {
        let key = |slice: &Slice| (slice.thread, slice.ts, !slice.dur, slice.place);
        key(self).cmp(&key(other))
    }
}

/// Sorts what one worker found.
pub(super) fn sort(slices: &mut Vec<Slice>) {
    slices.sort_unstable_by(Slice::compare);
    slices.shrink_to_fit();
}

/// Slices that are being collected, in sorted runs.
pub(super) struct SliceRuns {
    runs: Vec<Vec<Slice>>,
    /// Bytes of them, and how many there may be.
    heap: u64,
    lease: Lease,
    file: RunFile,
}

impl SliceRuns {
    pub(super) fn new(lease: Lease) -> Self {
        SliceRuns { runs: Vec::new(), heap: 0, file: RunFile::new(lease.tmp_dir()), lease }
    }

    /// Forgets all slices.
    pub(super) fn clear(&mut self) {
        *self = SliceRuns::new(self.lease.clone());
    }

    /// Takes slices, which must be sorted.
    pub(super) fn push(&mut self, run: Vec<Slice>) -> Result<(), Error> {
        if !run.is_empty() {
            self.heap += size_of_val(&run[..]) as u64;
            self.runs.push(run);
        }
        if self.heap > self.lease.bytes() { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<(), Error> {
        self.heap = 0;
        let runs = std::mem::take(&mut self.runs);
        let memory = runs.iter().map(|run| run.iter().copied());
        let mut bytes = [0; Slice::BYTES];
        each(memory.collect(), |slice| {
            slice.encode(&mut bytes);
            self.file.write(&bytes)
        })?;
        self.file.end_run();
        Ok(())
    }

    /// Ends collecting.
    pub(super) fn finish(mut self) -> Result<SortedSlices, Error> {
        if !self.file.is_empty() {
            self.spill()?;
        }
        Ok(SortedSlices { runs: self.runs, disk: self.file.finish()?, _lease: self.lease })
    }
}

/// All slices.
pub(super) struct SortedSlices {
    runs: Vec<Vec<Slice>>,
    disk: DiskRuns,
    _lease: Lease,
}

impl SortedSlices {
    /// Gives all of them to `visit`, in order.
    pub(super) fn each(&self, visit: impl FnMut(Slice) -> Result<(), Error>) -> Result<(), Error> {
        let disk = self.disk.iter().map(|run| run.chunks_exact(Slice::BYTES).map(Slice::decode));
        match self.runs.is_empty() {
            true => each(disk.collect(), visit),
            false => each(self.runs.iter().map(|run| run.iter().copied()).collect(), visit),
        }
    }
}

/// Merges sorted runs.
fn each<I: Iterator<Item = Slice>>(
    mut runs: Vec<I>,
    mut visit: impl FnMut(Slice) -> Result<(), Error>,
) -> Result<(), Error> {
    let heads = runs.iter_mut().map(Iterator::next).collect();
    let mut tree = LoserTree::new(heads, &Slice::compare);
    while let Some((run, slice)) = tree.winner() {
        visit(slice)?;
        tree.replace(runs[run].next(), &Slice::compare);
    }
    Ok(())
}
