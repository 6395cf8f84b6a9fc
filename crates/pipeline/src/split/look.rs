//! Assigns events to partitions during the scan.
//!
//! Each event leaves 16 bytes, and the number of its partition until the chunk ends; then the
//! entries move into their partitions. Metadata events and events without a time are entries with
//! times before all other entries.

use super::partition::{Partition, PartitionKind, Partitions, RawThread, category_of};
use std::marker::PhantomData;
use tracemill_cpuprofile::{Role, StreamKey, StreamOrders, stream_key};
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::order::PartitionRun;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::Times;
use tracemill_viewers::essential::{is_essential, may_be_special};

/// Time of the entries of metadata events.
pub(super) const METADATA: i64 = i64::MIN;
/// Time of the entries of events without a time.
pub(super) const UNTIMED: i64 = i64::MIN + 1;
/// Lower bound of the times of other events.
pub(super) const TIMED: i64 = i64::MIN + 2;

/// The number of the partition of all events, in modes that have such a partition.
const WHOLE: u32 = 0;

/// The partitions that a kind of split needs.
pub(super) trait Mode: Send + Sync + 'static {
    /// Whether categories have partitions.
    const CATEGORIES: bool = false;
    /// Whether all events are in one partition.
    const WHOLE: bool = false;
    /// Whether parts are cut, so that begin and end events are recorded.
    const CUT: bool = false;
}

/// Splits by process or thread, without cuts.
pub(super) struct ByThread;
impl Mode for ByThread {}

/// Splits by process or thread, and cuts the parts.
pub(super) struct CutThreads;
impl Mode for CutThreads {
    const CUT: bool = true;
}

/// Splits by category.
pub(super) struct Categories;
impl Mode for Categories {
    const CATEGORIES: bool = true;
}

/// Cuts the whole trace into parts by time, size or number of events.
pub(super) struct WholeTraceCut;
impl Mode for WholeTraceCut {
    const WHOLE: bool = true;
    const CUT: bool = true;
}

/// Assigns the events of one chunk to partitions, 16 bytes each, and sorts each partition.
pub(super) struct SplitLook<M> {
    pub(super) partitions: Partitions,
    entries: Vec<Entry>,
    /// The partition of each entry.
    partition_of: Vec<u32>,
    /// The entries by partition, after the scan of the chunk.
    pub(super) run: PartitionRun,
    pub(super) streams: StreamOrders,
    /// The last `Profile` event of each stream, and the partition of its thread.
    pub(super) heads: HashMap<StreamKey, (u32, Entry)>,
    pub(super) names: MetadataNames,
    pub(super) times: Times,
    mode: PhantomData<M>,
}

impl<M: Mode> SplitLook<M> {
    /// Creates the observer of a chunk of about `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let guess = bytes / 256;
        let mut partitions = Partitions::default();
        if M::WHOLE {
            let whole = partitions.partition(PartitionKind::Whole, RawThread::default());
            debug_assert_eq!(whole, WHOLE);
        }
        SplitLook {
            partitions,
            entries: Vec::with_capacity(guess),
            partition_of: Vec::with_capacity(guess),
            run: PartitionRun::default(),
            streams: StreamOrders::default(),
            heads: HashMap::default(),
            names: MetadataNames::default(),
            times: Times::NONE,
            mode: PhantomData,
        }
    }

    #[inline]
    fn push(&mut self, partition: u32, entry: Entry, bytes: usize) {
        self.partitions.all[partition as usize].count(bytes);
        self.entries.push(entry);
        self.partition_of.push(partition);
    }

    #[cold]
    fn metadata(&mut self, event: &Event<'_>, offset: u64) {
        let len = event.bytes.len();
        let entry = Entry { time: METADATA, place: Place::new(offset, len, 0) };
        let ids = self.ids(event);
        let of_thread = event.field(Field::Name).is_some_and(is_of_thread);
        let partition = if of_thread {
            self.partitions.partition(PartitionKind::ThreadMetadata, RawThread { cat: b"", ..ids })
        } else {
            self.partitions
                .partition(PartitionKind::ProcessMetadata, RawThread { tid: b"", cat: b"", ..ids })
        };
        self.push(partition, entry, len);
        self.names.note(event);
    }

    #[inline]
    fn ids<'e>(&self, event: &Event<'e>) -> RawThread<'e> {
        RawThread {
            pid: event.field(Field::Pid).unwrap_or_default(),
            tid: event.field(Field::Tid).unwrap_or_default(),
            cat: match M::CATEGORIES {
                true => event.field(Field::Cat).map_or(b"", category_of),
                false => b"",
            },
        }
    }

    #[cold]
    fn chunk(&mut self, event: &Event<'_>, entry: Entry) {
        self.streams.note(event, entry);
        let partition = self.partitions.chunks(stream_key(event), self.ids(event));
        self.push(partition, entry, event.bytes.len());
    }

    /// Records a begin or end event of a thread.
    #[inline]
    fn edge(&mut self, event: &Event<'_>, entry: Entry) {
        let kind = match event.phase() {
            b'B' => PartitionKind::Begins,
            b'E' => PartitionKind::Ends,
            _ => return,
        };
        let partition = self.partitions.partition(kind, RawThread { cat: b"", ..self.ids(event) });
        self.push(partition, entry, event.bytes.len());
    }
}

/// Returns whether metadata events of this name describe a thread. All other metadata events
/// describe a process.
fn is_of_thread(name: &[u8]) -> bool {
    let mut plain = Vec::new();
    match name {
        [b'"', content @ .., b'"'] => tracemill_tokenizer::unescape(content, &mut plain),
        _ => return false,
    }
    plain.starts_with(b"thread_")
}

impl<M: Mode> SplitLook<M> {
    #[inline]
    fn note(&mut self, event: &Event<'_>, offset: u64) {
        let len = event.bytes.len();
        if event.is_metadata() {
            return self.metadata(event, offset);
        }
        let time = event.ts();
        let entry = match time {
            Some(ts) => {
                self.times.note(event, ts, ts.floor);
                Entry { time: ts.floor, place: Place::new(offset, len, rank(ts, event.dur())) }
            }
            None => Entry { time: UNTIMED, place: Place::new(offset, len, 0) },
        };
        let role = Role::of(event);
        if role == Some(Role::Chunk) {
            return self.chunk(event, entry);
        }
        let thread = self.partitions.thread(self.ids(event));
        if role == Some(Role::Head) {
            self.heads.insert(stream_key(event), (thread, entry));
        }
        let time = time.map(|ts| ts.floor);
        self.partitions.all[thread as usize].note_time(time);
        self.push(if M::WHOLE { WHOLE } else { thread }, entry, len);
        if M::CUT && time.is_some() {
            self.edge(event, entry);
        }
        if time.is_some() && may_be_special(event) && is_essential(event) {
            let ids = RawThread { tid: b"", cat: b"", ..self.ids(event) };
            let partition = self.partitions.partition(PartitionKind::Pages, ids);
            self.push(partition, entry, len);
        }
    }
}

impl<M: Mode> Look for SplitLook<M> {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.note(event, at.offset);
        true
    }

    /// Moves the entries into partitions by counting sort, and sorts each partition.
    fn seal(&mut self, stats: &mut ChunkStats) {
        let mut counts = vec![0; self.partitions.all.len()];
        self.partition_of.iter().for_each(|&partition| counts[partition as usize] += 1);
        let mut next = Vec::with_capacity(counts.len());
        let mut end = 0;
        for (partition, &count) in counts.iter().enumerate() {
            next.push(end);
            end += count;
            if count > 0 {
                self.run.ends.push((partition as u32, end));
            }
        }
        let nothing = Entry { time: 0, place: Place::new(0, 0, 0) };
        let mut entries = vec![nothing; self.entries.len()];
        for (&entry, &partition) in self.entries.iter().zip(&self.partition_of) {
            let at = &mut next[partition as usize];
            entries[*at] = entry;
            *at += 1;
        }
        (self.entries, self.partition_of) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &(_, end) in &self.run.ends {
            let range = &mut entries[std::mem::replace(&mut start, end)..end];
            if !range.is_sorted() {
                range.sort_unstable();
            }
        }
        self.run.entries = entries;
        stats.span = span_of(&self.partitions.all);
    }
}

fn span_of(partitions: &[Partition]) -> Option<(i64, i64)> {
    let spans = partitions.iter().filter_map(|partition| partition.span);
    spans.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}
