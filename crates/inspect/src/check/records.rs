//! Records of events that rules judge in groups: 32 bytes each, sorted by group and time, spilled
//! to disk beyond the memory budget.
//!
//! A group is a thread (B, E, X) or an id (async events, flows). Workers sort the records of their
//! chunks. The runs are cut into buckets of adjacent (group, time), and each bucket is sorted in
//! cache ([`Buckets::next`]). All events of one group and time are in one bucket.

use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{DiskRuns, Record, RunFile};

record! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Grouped {
        pub(super) group: u64,
        pub(super) time: i64,
        /// X: duration in nanoseconds. B and E: hash of the name. Other phases: upper half of a
        /// hash of the name, lower half of a hash of the pid.
        pub(super) extra: u64,
        /// Offset in the address space, shifted left by 8, and the phase.
        place: u64,
    }
}

/// Flag in the byte of the phase; phase letters are smaller.
const INEXACT: u8 = 0x80;

impl Grouped {
    pub(super) fn new(group: u64, time: i64, extra: u64, offset: u64, phase: u8) -> Self {
        Grouped { group, time, extra, place: offset << 8 | u64::from(phase) }
    }

    pub(super) fn phase(&self) -> u8 {
        self.place as u8 & !INEXACT
    }

    /// Marks an X, B or E event that has a time with sub-nanosecond digits.
    pub(super) fn inexact(self) -> Self {
        Grouped { place: self.place | u64::from(INEXACT), ..self }
    }

    pub(super) fn is_exact(&self) -> bool {
        self.place as u8 & INEXACT == 0
    }

    pub(super) fn offset(&self) -> u64 {
        self.place >> 8
    }

    /// Combines group and time into one number for branch-free comparison.
    fn group_and_time(&self) -> u128 {
        let time = self.time as u64 ^ (1 << 63);
        u128::from(self.group) << 64 | u128::from(time)
    }

    /// Returns the sort key of records with equal group and time. X events come first, the longest
    /// before shorter ones; ties are in input order.
    fn tie(&self) -> (u64, u64) {
        let shorter = if self.phase() == b'X' { !self.extra } else { u64::MAX };
        (shorter, self.place)
    }
}

/// Sorts the records of a chunk by group, and the records of each group in output order.
pub(super) fn sort(records: &mut [Grouped]) {
    records.sort_unstable_by_key(Grouped::group_and_time);
    sort_ties(records);
}

/// Sorts adjacent records of equal group and time.
fn sort_ties(records: &mut [Grouped]) {
    for ties in records.chunk_by_mut(|a, b| a.group_and_time() == b.group_and_time()) {
        if ties.len() > 1 {
            ties.sort_unstable_by_key(Grouped::tie);
        }
    }
}

pub(super) fn heap(records: &[Grouped]) -> u64 {
    size_of_val(records) as u64
}

/// Merges sorted runs into one run on disk.
pub(super) fn write_run(file: &mut RunFile, runs: &RecordRuns) -> Result<(), Error> {
    let (mut bucket, mut buckets) = (Vec::new(), runs.buckets(0));
    while buckets.next(&mut bucket) {
        file.write_records(&bucket)?;
    }
    file.end_run();
    Ok(())
}

enum RunData {
    Memory(Vec<Vec<Grouped>>),
    Disk(DiskRuns),
}

impl RunData {
    fn count(&self) -> usize {
        match self {
            RunData::Memory(runs) => runs.len(),
            RunData::Disk(runs) => runs.count(),
        }
    }

    fn run_len(&self, run: usize) -> usize {
        match self {
            RunData::Memory(runs) => runs[run].len(),
            RunData::Disk(runs) => runs.run(run).len() / Grouped::BYTES,
        }
    }

    fn get(&self, run: usize, at: usize) -> Grouped {
        match self {
            RunData::Memory(runs) => runs[run][at],
            RunData::Disk(runs) => Grouped::decode(&runs.run(run)[at * Grouped::BYTES..]),
        }
    }

    /// Returns the number of records of a run before `border`. The first `from` records must be
    /// before `border`. Searches exponentially, because consecutive borders are close.
    fn before(&self, run: usize, border: u128, from: usize) -> usize {
        let len = self.run_len(run);
        let (mut low, mut high, mut step) = (from, len, 1);
        while low + step < len {
            if self.get(run, low + step).group_and_time() >= border {
                high = low + step;
                break;
            }
            low += step;
            step *= 2;
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if self.get(run, middle).group_and_time() < border {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

pub(super) struct RecordRuns {
    data: RunData,
    /// Group and time at the start of each bucket except the first.
    borders: Vec<u128>,
}

impl RecordRuns {
    /// Target number of records per bucket.
    const BUCKET: usize = 16 * 1024;
    /// Number of records per sample; borders are chosen among the samples.
    const SAMPLE: usize = 256;

    pub(super) fn memory(runs: Vec<Vec<Grouped>>) -> Self {
        RecordRuns::new(RunData::Memory(runs))
    }

    pub(super) fn disk(file: RunFile) -> Result<Self, Error> {
        Ok(RecordRuns::new(RunData::Disk(file.finish()?)))
    }

    fn new(data: RunData) -> Self {
        let mut samples = Vec::new();
        for run in 0..data.count() {
            let places = (0..data.run_len(run)).step_by(Self::SAMPLE);
            samples.extend(places.map(|at| data.get(run, at).group_and_time()));
        }
        samples.sort_unstable();
        let mut borders: Vec<_> =
            samples.chunks(Self::BUCKET / Self::SAMPLE).skip(1).map(|chunk| chunk[0]).collect();
        borders.dedup();
        RecordRuns { data, borders }
    }

    pub(super) fn len(&self) -> usize {
        self.borders.len() + 1
    }

    /// Returns the group of the last record before bucket `number`, or `None` if `number` is 0.
    pub(super) fn group_before(&self, number: usize) -> Option<u64> {
        let border = self.borders[number.checked_sub(1)?];
        let last = |run| {
            let at = self.data.before(run, border, 0).checked_sub(1)?;
            Some(self.data.get(run, at).group)
        };
        (0..self.data.count()).filter_map(last).max()
    }

    pub(super) fn buckets(&self, first: usize) -> Buckets<'_> {
        let border = first.checked_sub(1).map(|before| self.borders[before]);
        let start = |run| border.map_or(0, |border| self.data.before(run, border, 0));
        Buckets { runs: self, number: first, starts: (0..self.data.count()).map(start).collect() }
    }
}

pub(super) struct Buckets<'r> {
    runs: &'r RecordRuns,
    number: usize,
    starts: Vec<usize>,
}

impl Buckets<'_> {
    /// Fills `bucket` with the sorted records of the next bucket. Returns false at the end.
    pub(super) fn next(&mut self, bucket: &mut Vec<Grouped>) -> bool {
        bucket.clear();
        if self.number == self.runs.len() {
            return false;
        }
        let data = &self.runs.data;
        let to = self.runs.borders.get(self.number);
        self.number += 1;
        for (run, start) in self.starts.iter_mut().enumerate() {
            let end = to.map_or(data.run_len(run), |&to| data.before(run, to, *start));
            let places = std::mem::replace(start, end)..end;
            match data {
                RunData::Memory(runs) => bucket.extend_from_slice(&runs[run][places]),
                RunData::Disk(..) => bucket.extend(places.map(|at| data.get(run, at))),
            }
        }
        // the stable sort detects the runs and merges them
        bucket.sort_by_key(Grouped::group_and_time);
        sort_ties(bucket);
        true
    }
}
