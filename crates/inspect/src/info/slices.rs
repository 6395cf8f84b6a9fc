//! Records of X, B and E events for nesting: 40 bytes each, sorted by thread and time, spilled to
//! disk beyond the memory budget.

use std::cmp::Ordering;
use tracemill_trace::order::LoserTree;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::{DiskRuns, Record, RunFile};

record! {
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Slice {
        pub(super) thread: u64,
        pub(super) ts: i64,
        /// Duration of an X in nanoseconds; 0 for B and E.
        pub(super) dur: u64,
        /// Hash of the name; 0 for an E without a name or with an empty name.
        pub(super) name: u64,
        /// Offset in the address space, shifted left by 8, and the phase.
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

    /// Compares by thread, then time, then longer duration first, then input order.
    fn compare(&self, other: &Slice) -> Ordering {
        let key = |slice: &Slice| (slice.thread, slice.ts, !slice.dur, slice.place);
        key(self).cmp(&key(other))
    }
}

pub(super) fn sort(slices: &mut Vec<Slice>) {
    slices.sort_unstable_by(Slice::compare);
    slices.shrink_to_fit();
}

/// Collects slices in sorted runs.
pub(super) struct SliceRuns {
    runs: Vec<Vec<Slice>>,
    heap: u64,
    lease: Lease,
    file: RunFile,
}

impl SliceRuns {
    pub(super) fn new(lease: Lease) -> Self {
        SliceRuns { runs: Vec::new(), heap: 0, file: RunFile::new(lease.tmp_dir()), lease }
    }

    pub(super) fn clear(&mut self) {
        *self = SliceRuns::new(self.lease.clone());
    }

    /// Adds a sorted run of slices; spills to disk if the runs exceed the lease.
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

    pub(super) fn finish(mut self) -> Result<SortedSlices, Error> {
        if !self.file.is_empty() {
            self.spill()?;
        }
        Ok(SortedSlices { runs: self.runs, disk: self.file.finish()?, _lease: self.lease })
    }
}

pub(super) struct SortedSlices {
    runs: Vec<Vec<Slice>>,
    disk: DiskRuns,
    _lease: Lease,
}

impl SortedSlices {
    pub(super) fn each(&self, visit: impl FnMut(Slice) -> Result<(), Error>) -> Result<(), Error> {
        let disk = self.disk.iter().map(|run| run.chunks_exact(Slice::BYTES).map(Slice::decode));
        match self.runs.is_empty() {
            true => each(disk.collect(), visit),
            false => each(self.runs.iter().map(|run| run.iter().copied()).collect(), visit),
        }
    }
}

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
