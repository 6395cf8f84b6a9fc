//! Streams of which an index knows where each chunk stands, its times and the ids of its nodes: chunks are read when they are needed.
//!
//! ```text
//!   known    chunk  chunk  chunk  chunk  chunk  chunk      place, times, ids, checksum
//!   read            x                    x                 those of a window, and those that define what its samples name
//! ```
//!
//! What is read must have the checksum that is known. If it has not, it counts as empty, and so does all that is asked for from then
//! on: whoever asks is to see to it that nothing comes of that.
//!
//! Of a packed input only what was unpacked can be read. A chunk that was not counts as empty too, and is noted as missing: whoever asks
//! unpacks that and asks again.
//!
//! So the answer is the same as without an index, or it is known to be none. Heap: 60 bytes a chunk, on disk beyond their share.

use super::skim::Skim;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::long_events::LongEvents;
use tracemill_core::order::KeySorter;
use tracemill_core::place::{Long, Place};
use tracemill_core::spill::{Records, SpillList, SpillLists};
use tracemill_core::store::Store;
use tracemill_tokenizer::{Cursor, Mapped};

/// A chunk as the index has it: all that is known of it without a look at its bytes.
#[derive(Clone, Copy, Debug)]
pub struct IndexedChunk {
    /// Where its event begins in the input, and its bytes.
    pub place: u64,
    /// See `place`.
    pub len: u64,
    /// Time of the event, in nanoseconds.
    pub time: i64,
    /// What a look at it finds.
    pub skim: Skim,
    /// The checksum of the event.
    pub sum: u32,
}

/// Chunks of one stream, in input order.
#[derive(Default)]
struct ChunkLists {
    chunks: SpillList<Entry>,
    skims: SpillList<Skim>,
    sums: SpillList<u32>,
    samples: u64,
}

/// Chunks of some streams of the one input.
///
/// Filled by who reads the index ([`IndexedStreams::push`], then [`IndexedStreams::finish`]), given to
/// [`Streams::complete`](crate::Streams::complete), and asked by several threads at a time. At the end
/// [`IndexedStreams::is_wrong`] and [`IndexedStreams::missing`] say whether what came of it counts.
pub struct IndexedStreams {
    /// Where the input stands among all.
    base: u64,
    /// By the places of the first events of their streams.
    streams: HashMap<u64, ChunkLists>,
    lists: SpillLists,
    /// Chunks that there is room for already.
    expected: u64,
    file: Option<Mapped>,
    /// Those of one stream ascend, those of all do not until all are there.
    unsorted: Option<KeySorter<Long>>,
    long: LongEvents,
    /// The checksum of an event, by its place and bytes.
    sum_of: fn(u64, &[u8]) -> u32,
    bytes_read: AtomicU64,
    is_wrong: AtomicBool,
    /// What of the input can be read, ascending, if not all.
    readable: Option<Vec<Range<u64>>>,
    missing: Mutex<Vec<Range<u64>>>,
}

impl std::fmt::Debug for IndexedStreams {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexedStreams")
            .field("streams", &self.streams.len())
            .finish_non_exhaustive()
    }
}

impl IndexedStreams {
    /// No chunks yet, of the input that begins at `base`; of more than `room` bytes of them the rest goes to `tmp_dir`. `sum_of` is the checksum of an event
    /// by its place and bytes.
    pub fn new(base: u64, room: u64, tmp_dir: &Path, sum_of: fn(u64, &[u8]) -> u32) -> Self {
        IndexedStreams {
            base,
            streams: HashMap::default(),
            lists: SpillLists::new(room, tmp_dir),
            expected: 0,
            file: None,
            unsorted: Some(KeySorter::new(tmp_dir, room / 16, 1)),
            long: LongEvents::with_share(tmp_dir, room / 16),
            sum_of,
            bytes_read: AtomicU64::new(0),
            is_wrong: AtomicBool::new(false),
            readable: None,
            missing: Mutex::default(),
        }
    }

    /// Makes room for chunks of the stream whose first event stands at `first`: about so many are to come. Of all streams there is room for no more
    /// than the share.
    pub fn expect(&mut self, first: u64, chunks: u64) {
        const CHUNK: usize = size_of::<Entry>() + size_of::<Skim>() + size_of::<u32>();
        let left = (self.lists.room() / CHUNK as u64).saturating_sub(self.expected);
        let more = chunks.min(left);
        self.expected += more;
        let more = more as usize;
        let own = self.streams.entry(first).or_default();
        own.chunks.reserve(more);
        own.skims.reserve(more);
        own.sums.reserve(more);
    }

    /// Adds the next chunk of the stream whose first event stands at `first` in the input. Chunks of one stream come in input order,
    /// which is that of their times, and each has as many steps as samples.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_core::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn push(&mut self, first: u64, chunk: IndexedChunk) -> Result<(), Error> {
        let IndexedChunk { place, len, time, skim, sum } = chunk;
        let offset = self.base + place;
        if let Some(long) = self.unsorted.as_mut().filter(|_| Place::is_long(len as usize)) {
            long.push((offset, len))?;
        }
        let own = self.streams.entry(first).or_default();
        self.lists
            .push(&mut own.chunks, Entry { time, place: Place::new(offset, len as usize, 0) });
        self.lists.push(&mut own.skims, skim);
        self.lists.push(&mut own.sums, sum);
        own.samples += skim.samples();
        if self.lists.is_full() {
            #[expect(clippy::iter_over_hash_type, reason = "each list is spilled on its own")]
            for own in self.streams.values_mut() {
                self.lists.spill(&mut own.chunks)?;
                self.lists.spill(&mut own.skims)?;
                self.lists.spill(&mut own.sums)?;
            }
        }
        Ok(())
    }

    /// All are there: from now on they can be asked for.
    ///
    /// # Errors
    /// As [`IndexedStreams::push`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.file = self.lists.finish()?;
        let Some(long) = self.unsorted.take() else { return Ok(()) };
        long.finish()?.iter().try_for_each(|own| self.long.push(own))
    }

    /// Nothing else of the input can be read than these ranges, which ascend.
    pub fn read_only_in(&mut self, ranges: Vec<Range<u64>>) {
        self.readable = Some(ranges);
    }

    /// Where chunks that were asked for stand that cannot be read, as places in the input, in the order in which they were asked for.
    pub fn missing(&self) -> Vec<Range<u64>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether a chunk that was asked for was another one, or cannot be read.
    pub(crate) fn is_in_vain(&self) -> bool {
        self.is_wrong() || !self.missing().is_empty()
    }

    /// Whether all of an event lies in what can be read. Cost: a binary search, and a step for each range that it reaches into.
    fn is_readable(&self, place: u64, len: u64) -> bool {
        let Some(ranges) = &self.readable else { return true };
        let behind = ranges.partition_point(|range| range.start <= place);
        // neighbours may hold it together
        let mut end = place;
        let start = behind.saturating_sub(1);
        for range in &ranges[start..] {
            if range.start > end || end >= place.saturating_add(len) {
                break;
            }
            end = end.max(range.end);
        }
        end >= place.saturating_add(len)
    }

    /// Events of 16 KiB and more among them, by their places.
    pub fn long(&self) -> &LongEvents {
        &self.long
    }

    /// Bytes of events that were read, but for those that stood in pieces that were read anyway.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Whether something else was read than is known: then the index is not that of the file, and nothing that was found with it counts.
    pub fn is_wrong(&self) -> bool {
        self.is_wrong.load(Ordering::Relaxed)
    }

    /// Whether a stream, by the place of its first event among all inputs, is one of these.
    pub(crate) fn has(&self, first: u64) -> bool {
        self.streams.contains_key(&first.wrapping_sub(self.base))
    }

    pub(crate) fn stream(&self, first: u64) -> Option<IndexedStream<'_>> {
        let own = self.streams.get(&first.wrapping_sub(self.base))?;
        Some(IndexedStream { all: self, own })
    }

    /// Whether an event is what is known of it, and can be read.
    pub(crate) fn check(&self, entry: Entry, sum: u32, store: &Store<'_>) -> bool {
        let (place, len) = (entry.place.offset() - self.base, store.len(entry.place));
        if !self.is_readable(place, len) {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.push(place..place + len);
            return false;
        }
        let bytes = store.event(entry.place);
        let is_event =
            bytes.first() == Some(&b'{') && Cursor::new(bytes).value().len() == bytes.len();
        let is_right = is_event && (self.sum_of)(place, bytes) == sum;
        self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.is_wrong.fetch_or(!is_right, Ordering::Relaxed);
        is_right
    }
}

/// One of the streams.
#[derive(Clone, Copy)]
pub(crate) struct IndexedStream<'c> {
    pub(crate) all: &'c IndexedStreams,
    own: &'c ChunkLists,
}

impl<'c> IndexedStream<'c> {
    fn file(self) -> &'c [u8] {
        self.all.file.as_deref().unwrap_or_default()
    }

    pub(crate) fn chunks(self) -> Records<'c, Entry> {
        self.own.chunks.records(self.file())
    }

    pub(crate) fn skims(self) -> Records<'c, Skim> {
        self.own.skims.records(self.file())
    }

    pub(crate) fn sums(self) -> Records<'c, u32> {
        self.own.sums.records(self.file())
    }

    pub(crate) fn samples(self) -> u64 {
        self.own.samples
    }

    /// Whether all of its chunks are what is known of them.
    pub(crate) fn check_all(self, store: &Store<'_>) -> bool {
        let all = self.chunks().iter().zip(self.sums().iter());
        // also behind one that is missing, so that all of those are known
        let others = all.filter(|&(entry, sum)| !self.all.check(entry, sum, store));
        !self.all.is_in_vain() && others.count() == 0
    }
}
