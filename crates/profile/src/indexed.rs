//! Streams of which an index knows where each chunk stands, its times and the ids of its nodes: chunks are read when they are needed.
//!
//! ```text
//!   runs      ├─────────┤├─────────┤├─────────┤├─────────┤    what all chunks of a page have in common: times, ids
//!   chunks                c c c c c             c c c c c      place, times, ids, checksum: of runs that are looked into
//!   read                    x                     x            those of a window, and those that define what its samples name
//! ```
//!
//! What is read must have the checksum that is known. If it has not, it counts as empty, and so does all that is asked for from then
//! on: whoever asks is to see to it that nothing comes of that. The same goes for a page of chunks that is not what its runs say.
//!
//! Of a packed input only what was unpacked can be read. A chunk that was not counts as empty too, and is noted as missing: whoever asks
//! unpacks that and asks again.
//!
//! So the answer is the same as without an index, or it is known to be none. Heap: 96 bytes a run, on disk beyond their share, and 88 a chunk
//! of as many pages as have room.

use super::skim::Skim;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::limits::Limits;
use tracemill_core::long_events::LongEvents;
use tracemill_core::order::KeySorter;
use tracemill_core::place::{Long, Place};
use tracemill_core::spill::{Record, Records, SpillList, SpillLists, word};
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

/// Chunks of one stream in one page, as if they were one.
#[derive(Clone, Copy, Debug)]
pub struct IndexedRun {
    /// The number of the page.
    pub page: usize,
    /// How many chunks there are.
    pub chunks: u64,
    /// The least and the greatest time of an event of the stream in the page, in nanoseconds.
    pub times: (i64, i64),
    /// What a look at them finds ([`Skim::then`]).
    pub skim: Skim,
}

/// Chunks of a page, of all its streams, in input order; each with the number of its stream.
pub type PageChunks = Vec<(usize, IndexedChunk)>;

/// Who reads the index.
pub trait ChunkSource: Send + Sync {
    /// The chunks of a page, whose events stand one behind the other in the input; an error says what is wrong with it.
    ///
    /// # Errors
    /// If the page is damaged, or says what cannot be.
    fn chunks(&self, page: usize) -> Result<PageChunks, String>;

    /// The checksum of an event, by its place in the input and its bytes.
    fn sum_of(&self, place: u64, event: &[u8]) -> u32;
}

/// A run, and what came before it.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    page: usize,
    /// The number of its first chunk in the stream.
    pub(crate) number: u64,
    pub(crate) chunks: u64,
    /// Nanoseconds since the start: the sum of all steps before it.
    pub(crate) elapsed: i64,
    times: (i64, i64),
    pub(crate) skim: Skim,
}

impl Record for Run {
    const BYTES: usize = 48 + Skim::BYTES;

    fn encode(&self, bytes: &mut [u8]) {
        let (own, skim) = bytes.split_at_mut(48);
        let times = [self.elapsed, self.times.0, self.times.1].map(|time| time as u64);
        let numbers = [self.page as u64, self.number, self.chunks].into_iter().chain(times);
        for (bytes, number) in own.as_chunks_mut::<8>().0.iter_mut().zip(numbers) {
            *bytes = number.to_le_bytes();
        }
        self.skim.encode(skim);
    }

    fn decode(bytes: &[u8]) -> Self {
        let [page, number, chunks, elapsed, least, greatest] =
            std::array::from_fn(|at| word(bytes, 8 * at));
        Run {
            page: page as usize,
            number,
            chunks,
            elapsed: elapsed as i64,
            times: (least as i64, greatest as i64),
            skim: Skim::decode(&bytes[48..]),
        }
    }
}

/// Runs of one stream, in input order.
#[derive(Default)]
struct StreamRuns {
    /// The number of the stream in pages.
    stream: usize,
    runs: SpillList<Run>,
    chunks: u64,
    samples: u64,
    elapsed: i64,
}

/// Pages that were read, as many as have room.
#[derive(Default)]
struct PageCache {
    pages: HashMap<usize, Arc<PageChunks>>,
    heap: u64,
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
    streams: HashMap<u64, StreamRuns>,
    lists: SpillLists,
    file: Option<Mapped>,
    source: Arc<dyn ChunkSource>,
    /// Bytes of heap for pages, and for lists.
    room: u64,
    cache: Mutex<PageCache>,
    /// Those of one stream ascend, those of all do not until all are there.
    unsorted: Option<KeySorter<Long>>,
    long: LongEvents,
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
    /// No runs yet, of the input that begins at `base`, whose chunks `source` reads. Lists take a quarter of `room`, what is above that goes to `tmp_dir`;
    /// pages that were read take half.
    pub fn new(base: u64, room: u64, tmp_dir: &Path, source: Arc<dyn ChunkSource>) -> Self {
        IndexedStreams {
            base,
            streams: HashMap::default(),
            lists: SpillLists::new(room / 4, tmp_dir),
            file: None,
            source,
            room,
            cache: Mutex::default(),
            unsorted: Some(KeySorter::new(tmp_dir, room / 16, 1)),
            long: LongEvents::with_share(tmp_dir, room / 16),
            bytes_read: AtomicU64::new(0),
            is_wrong: AtomicBool::new(false),
            readable: None,
            missing: Mutex::default(),
        }
    }

    /// Adds the next run of the stream whose first event stands at `first` in the input, and which pages know by this number. Runs of one stream come
    /// in input order, which is that of their times; each chunk has as many steps as samples, and no time is farther than
    /// [`FARTHEST`](crate::FARTHEST).
    ///
    /// # Errors
    /// [`Scratch`](tracemill_core::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn push(&mut self, first: u64, stream: usize, run: IndexedRun) -> Result<(), Error> {
        let own = self.streams.entry(first).or_default();
        own.stream = stream;
        let IndexedRun { page, chunks, times, skim } = run;
        let (number, elapsed) = (own.chunks, own.elapsed);
        self.lists.push(&mut own.runs, Run { page, number, chunks, elapsed, times, skim });
        own.chunks = own.chunks.saturating_add(chunks);
        own.samples = own.samples.saturating_add(skim.samples());
        own.elapsed = own.elapsed.saturating_add(skim.duration());
        if self.lists.is_full() {
            #[expect(clippy::iter_over_hash_type, reason = "each list is spilled on its own")]
            for own in self.streams.values_mut() {
                self.lists.spill(&mut own.runs)?;
            }
        }
        Ok(())
    }

    /// Adds the place and the bytes of an event of 16 KiB and more. Those of one stream come in input order.
    ///
    /// # Errors
    /// As [`IndexedStreams::push`].
    pub fn push_long(&mut self, place: u64, len: u64) -> Result<(), Error> {
        self.unsorted.as_mut().map_or(Ok(()), |long| long.push((self.base + place, len)))
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

    /// The chunks of a page, by stream; of one that cannot be read there are none, and what was found does not count.
    fn page(&self, page: usize) -> Arc<PageChunks> {
        let cache = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = cache().pages.get(&page) {
            return Arc::clone(own);
        }
        let mut chunks = self.source.chunks(page).unwrap_or_else(|_| {
            self.is_wrong.store(true, Ordering::Relaxed);
            Vec::new()
        });
        chunks.sort_by_key(|(stream, _)| *stream);
        let (heap, own) = (size_of_val(&chunks[..]) as u64, Arc::new(chunks));
        let mut cache = cache();
        if cache.heap + heap <= self.room / 2 {
            cache.heap += heap;
            cache.pages.insert(page, Arc::clone(&own));
        }
        own
    }

    /// Whether the length of a chunk can be looked up, if its place does not hold it.
    fn has_length(&self, chunk: &IndexedChunk) -> bool {
        let &IndexedChunk { place, len, .. } = chunk;
        !Place::is_long(len as usize) || self.long.len_at(self.base + place) == Some(len)
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
        let is_right = is_event && self.source.sum_of(place, bytes) == sum;
        self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.is_wrong.fetch_or(!is_right, Ordering::Relaxed);
        is_right
    }
}

/// One of the streams.
#[derive(Clone, Copy)]
pub(crate) struct IndexedStream<'c> {
    pub(crate) all: &'c IndexedStreams,
    own: &'c StreamRuns,
}

impl<'c> IndexedStream<'c> {
    pub(crate) fn runs(self) -> Records<'c, Run> {
        self.own.runs.records(self.all.file.as_deref().unwrap_or_default())
    }

    /// Chunks of a run, each with its checksum: none if they are not what it says.
    pub(crate) fn chunks(self, run: Run) -> RunChunks {
        let (page, stream) = (self.all.page(run.page), self.own.stream);
        let own = page.partition_point(|(own, _)| *own < stream)
            ..page.partition_point(|(own, _)| *own <= stream);
        let chunks = page[own.clone()].iter().map(|(_, chunk)| chunk);
        let skim = chunks.clone().map(|chunk| chunk.skim).reduce(Skim::then);
        let are_listed = chunks.clone().all(|chunk| self.all.has_length(chunk));
        let is_right = own.len() as u64 == run.chunks && skim == Some(run.skim) && are_listed;
        self.all.is_wrong.fetch_or(!is_right, Ordering::Relaxed);
        let own = if is_right { own } else { 0..0 };
        RunChunks { page, own, base: self.all.base }
    }

    /// Its first chunk, if it can be told.
    pub(crate) fn first_chunk(self) -> Option<Entry> {
        let run = self.runs().iter().find(|run| run.chunks > 0)?;
        self.chunks(run).iter().next().map(|(entry, ..)| entry)
    }

    /// Of each run the least and the greatest time of an event.
    pub(crate) fn times(self) -> impl Iterator<Item = i64> + 'c {
        self.runs().iter().flat_map(|run| [run.times.0, run.times.1])
    }

    pub(crate) fn samples(self) -> u64 {
        self.own.samples
    }

    /// All chunks, for who needs all; `None` if one is not what is known of it, or cannot be read.
    ///
    /// # Errors
    /// As [`IndexedStreams::push`].
    pub(crate) fn load(
        self,
        store: &Store<'_>,
        limits: &Limits,
    ) -> Result<Option<LoadedChunks>, Error> {
        if self.all.is_in_vain() {
            return Ok(None);
        }
        let mut lists = SpillLists::new(self.all.room / 4, &limits.tmp_dir);
        let mut entries = SpillList::default();
        for run in self.runs().iter() {
            for (entry, _, sum) in self.chunks(run).iter() {
                // also behind one that is missing, so that all of those are known
                self.all.check(entry, sum, store);
                lists.push(&mut entries, entry);
                if lists.is_full() {
                    lists.spill(&mut entries)?;
                }
            }
        }
        let file = lists.finish()?;
        Ok((!self.all.is_in_vain()).then_some(LoadedChunks { entries, file }))
    }
}

/// Chunks of one stream in one page.
#[derive(Clone)]
pub(crate) struct RunChunks {
    page: Arc<PageChunks>,
    own: Range<usize>,
    base: u64,
}

impl RunChunks {
    /// Where each stands, what a look at it finds, and its checksum.
    pub(crate) fn iter(self) -> impl DoubleEndedIterator<Item = (Entry, Skim, u32)> {
        let RunChunks { page, own, base } = self;
        own.map(move |at| {
            let IndexedChunk { place, len, time, skim, sum } = page[at].1;
            (Entry { time, place: Place::new(base + place, len as usize, 0) }, skim, sum)
        })
    }
}

/// All chunks of a stream, in input order.
pub(crate) struct LoadedChunks {
    entries: SpillList<Entry>,
    file: Option<Mapped>,
}

impl LoadedChunks {
    pub(crate) fn entries(&self) -> Records<'_, Entry> {
        self.entries.records(self.file.as_deref().unwrap_or_default())
    }
}
