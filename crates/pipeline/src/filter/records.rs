//! Events that are not decided yet: 32 bytes each, in memory or on disk, as they come or sorted by key and time.
//!
//! ```text
//!   parts ─┬─ in memory ─> sorted where they lie ─┬─> one stream of records
//!          └─ budget ─> runs on disk, each sorted ─┘   (loser tree over the runs)
//! ```

use super::criteria::Reason;
use crate::error::Error;
use crate::order::{Entry, LoserTree, Order, Scratch};
use crate::store::Place;
use std::cmp::Ordering;
use std::ops::Range;
use std::path::{Path, PathBuf};
use tracemill_tokenizer::Mapped;

/// What an undecided event is to its pair or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Role {
    /// None: a single event.
    Single,
    /// `B`
    Begin,
    /// `E`
    End,
    /// One of those that share an id.
    Member,
    /// The `Profile` event of a stream.
    Head,
    /// Another event of a stream.
    Chunk,
}

impl Role {
    const ALL: [Role; 6] =
        [Role::Single, Role::Begin, Role::End, Role::Member, Role::Head, Role::Chunk];
}

/// An undecided event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// What its pair or group has in common; for single events their duration.
    pub(super) key: u64,
    /// Time and place; [`i64::MIN`] if it has no time.
    pub(super) entry: Entry,
    pub(super) lane: u32,
    /// What its own fields and its thread's ids are judged.
    pub(super) reason: Reason,
    pub(super) role: Role,
}

const BYTES: usize = 32;
/// Fewer records are sorted sooner than a thread is started.
const SHARED_LEAST: usize = 1 << 13;

impl Record {
    /// Its time, if it has one.
    pub(super) fn time(&self) -> Option<i64> {
        (self.entry.time > i64::MIN).then_some(self.entry.time)
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.key.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.entry.time.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.entry.place.0.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.lane.to_le_bytes());
        bytes[28..30].copy_from_slice(&[self.reason, self.role as u8]);
        bytes
    }

    fn decode(bytes: &[u8; BYTES]) -> Self {
        let [key, time, place] =
            [0, 8, 16].map(|at| bytes[at..].first_chunk().copied().unwrap_or_default());
        let entry =
            Entry { time: i64::from_le_bytes(time), place: Place(u64::from_le_bytes(place)) };
        Record {
            key: u64::from_le_bytes(key),
            entry,
            lane: u32::from_le_bytes(bytes[24..].first_chunk().copied().unwrap_or_default()),
            reason: bytes[28],
            role: Role::ALL[usize::from(bytes[29]) % Role::ALL.len()],
        }
    }

    /// Key and time in one number, which is compared without a branch.
    fn key_and_time(&self) -> u128 {
        let time = self.entry.time as u64 ^ (1 << 63);
        u128::from(self.key) << 64 | u128::from(time)
    }

    /// By key, then as contract C3 has it.
    fn compare(&self, other: &Record, order: Order<'_, '_>) -> Ordering {
        self.key.cmp(&other.key).then_with(|| order.compare(&self.entry, &other.entry))
    }
}

/// Records that are being collected.
pub(super) struct Records {
    tmp_dir: PathBuf,
    /// Bytes of records that may be in memory.
    limit: u64,
    /// Bytes of records on disk.
    pub(super) spilled: u64,
    /// Threads that sort them; none if they are to be read back as they came.
    threads: usize,
    memory: Vec<Record>,
    scratch: Option<Scratch>,
    ranges: Vec<Range<usize>>,
}

impl Records {
    /// Records to be sorted by key and time by so many threads; with none, to be read back as they came.
    pub(super) fn new(tmp_dir: &Path, limit: u64, threads: usize) -> Self {
        Records {
            tmp_dir: tmp_dir.to_owned(),
            limit,
            spilled: 0,
            threads,
            memory: Vec::new(),
            scratch: None,
            ranges: Vec::new(),
        }
    }

    /// Takes records that stand behind all others in the input. True if there are now too many for the memory.
    pub(super) fn push(&mut self, records: &[Record]) -> bool {
        self.memory.extend_from_slice(records);
        self.memory.len() as u64 * BYTES as u64 > self.limit
    }

    /// Takes a record; `order` is over all that was read.
    pub(super) fn add(&mut self, record: Record, order: Order<'_, '_>) -> Result<(), Error> {
        if self.push(&[record]) { self.spill(order) } else { Ok(()) }
    }

    /// Writes what is in memory as a run; `order` is over all that was read so far.
    pub(super) fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.sort(order);
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            None => self.scratch.insert(Scratch::new(&self.tmp_dir)?),
        };
        let start = self.spilled as usize;
        for record in self.memory.drain(..) {
            scratch.write(&record.encode())?;
            self.spilled += BYTES as u64;
        }
        if self.spilled as usize > start {
            self.ranges.push(start..self.spilled as usize);
        }
        Ok(())
    }

    fn sort(&mut self, order: Order<'_, '_>) {
        if self.threads > 0 {
            sort(&mut self.memory, self.threads, order);
        }
    }

    /// Ends collecting.
    pub(super) fn finish(mut self, order: Order<'_, '_>) -> Result<Collected, Error> {
        if self.scratch.is_some() {
            self.spill(order)?;
        }
        self.sort(order);
        let mapped = self.scratch.map_or(Ok(None), Scratch::into_mapped)?;
        let Records { memory, ranges, .. } = self;
        Ok(Collected { memory, mapped, ranges })
    }
}

/// Sorts as [`Record::compare`] has it.
fn sort(records: &mut [Record], threads: usize, order: Order<'_, '_>) {
    sort_by_time(records, threads);
    for ties in records.chunk_by_mut(|a, b| a.key_and_time() == b.key_and_time()) {
        if ties.len() > 1 {
            ties.sort_unstable_by(|a, b| a.compare(b, order));
        }
    }
}

/// Sorts by halves, each with half of the threads: keys are all over their range, so halves are equal work.
fn sort_by_time(records: &mut [Record], threads: usize) {
    if threads < 2 || records.len() < SHARED_LEAST {
        return records.sort_unstable_by_key(Record::key_and_time);
    }
    let middle = records.len() / 2;
    let (low, _, high) = records.select_nth_unstable_by_key(middle, Record::key_and_time);
    std::thread::scope(|scope| {
        scope.spawn(|| sort_by_time(low, threads / 2));
        sort_by_time(high, threads.div_ceil(2));
    });
}

/// All records, to be read as often as needed.
pub(super) struct Collected {
    memory: Vec<Record>,
    mapped: Option<Mapped>,
    ranges: Vec<Range<usize>>,
}

impl Collected {
    pub(super) fn is_empty(&self) -> bool {
        self.memory.is_empty() && self.ranges.is_empty()
    }

    /// All records, run after run: those that are not sorted, as they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = Record> + '_ {
        let bytes = self.mapped.as_deref().unwrap_or_default();
        let spilled = bytes.as_chunks::<BYTES>().0.iter().map(Record::decode);
        spilled.chain(self.memory.iter().copied())
    }

    /// Gives all records to `visit`, sorted.
    pub(super) fn each(
        &self,
        order: Order<'_, '_>,
        mut visit: impl FnMut(Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.mapped.is_none() {
            return self.memory.iter().try_for_each(|record| visit(*record));
        }
        let bytes = self.mapped.as_deref().unwrap_or_default();
        let mut runs: Vec<_> = self
            .ranges
            .iter()
            .map(|range| bytes[range.clone()].as_chunks::<BYTES>().0.iter().map(Record::decode))
            .collect();
        let compare = |a: &Record, b: &Record| a.compare(b, order);
        let heads = runs.iter_mut().map(Iterator::next).collect();
        let mut tree = LoserTree::new(heads, &compare);
        while let Some((run, record)) = tree.winner() {
            visit(record)?;
            tree.replace(runs[run].next(), &compare);
        }
        Ok(())
    }
}
