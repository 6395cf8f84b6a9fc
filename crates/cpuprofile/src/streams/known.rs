//! Chunks of CPU profiles that an index describes; their bytes are read on demand.
//!
//! ```text
//!   stream    Profile ─ chunk ─ chunk ─ chunk ─ chunk    locations, skims and checksums
//!   read         x                        x              chunks of a window and of its nodes
//! ```
//!
//! Each chunk that is read must match its checksum in the index. If a chunk does not match, all
//! results are invalid, and the caller must discard them. Heap: 68 bytes per chunk; spills to disk.

use crate::chunk::skim::Skim;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tracemill_tokenizer::{Cursor, Mapped};
use tracemill_trace::input::remote::RangeReader;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{Records, SpillList, SpillLists};
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::place::Place;

/// A chunk as described by the index.
#[derive(Clone, Copy, Debug)]
pub struct KnownChunk {
    /// Offset of the chunk's event in the input.
    pub place: u64,
    /// Length of the chunk's event in bytes.
    pub len: u64,
    /// Time of the event in nanoseconds.
    pub time: i64,
    /// Times and node ids of the chunk.
    pub skim: Skim,
    /// Checksum of the event.
    pub sum: u32,
}

#[derive(Default)]
struct KnownStream {
    chunks: SpillList<Entry>,
    skims: SpillList<Skim>,
    sums: SpillList<u32>,
    samples: u64,
}

/// Chunks of some streams of the only input.
///
/// The index reader fills this list ([`KnownChunks::push`], then [`KnownChunks::finish`]) and
/// passes the list to [`Streams::complete`](crate::Streams::complete). Several threads may then
/// read chunks. At the end, results count only if [`KnownChunks::is_wrong`] is false.
pub struct KnownChunks {
    /// Offset of the input in the concatenated inputs.
    base: u64,
    /// Function that computes the checksum of an event from its offset in the input and its bytes.
    sum_of: fn(u64, &[u8]) -> u32,
    /// Streams by the offset of their first events.
    streams: HashMap<u64, KnownStream>,
    lists: SpillLists,
    file: Option<Mapped>,
    long: LongEvents,
    /// Copies chunks of an input on another machine.
    remote: Option<RangeReader>,
    bytes_read: AtomicU64,
    is_wrong: AtomicBool,
}

impl KnownChunks {
    /// Creates an empty list of chunks for the input at offset `base`; spills to disk beyond the
    /// lease.
    pub fn new(base: u64, lease: &Lease, sum_of: fn(u64, &[u8]) -> u32) -> Self {
        KnownChunks {
            base,
            sum_of,
            streams: HashMap::default(),
            lists: SpillLists::new(lease.part(Share::of(15, 16))),
            file: None,
            long: LongEvents::within(lease.part(Share::of(1, 16))),
            remote: None,
            bytes_read: AtomicU64::new(0),
            is_wrong: AtomicBool::new(false),
        }
    }

    /// Copies chunks by `remote` before they are read.
    #[must_use]
    pub fn with_remote(self, remote: Option<RangeReader>) -> Self {
        KnownChunks { remote, ..self }
    }

    /// Adds a chunk of the stream whose first event is at `first` in the input.
    ///
    /// Chunks must come in input order, in time order per stream, with as many steps as samples,
    /// and without times beyond [`FARTHEST`](crate::FARTHEST).
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
    pub fn push(&mut self, first: u64, chunk: KnownChunk) -> Result<(), Error> {
        let KnownChunk { place, len, time, skim, sum } = chunk;
        let stream = self.streams.entry(first).or_default();
        stream.samples = stream.samples.saturating_add(skim.samples());
        let place = Place::new(self.base + place, len as usize, 0);
        if Place::is_long(len as usize) {
            self.long.push((place.offset(), len))?;
        }
        self.lists.push(&mut stream.chunks, Entry { time, place });
        self.lists.push(&mut stream.skims, skim);
        self.lists.push(&mut stream.sums, sum);
        if self.lists.is_full() {
            #[expect(clippy::iter_over_hash_type, reason = "each list is spilled on its own")]
            for stream in self.streams.values_mut() {
                self.lists.spill(&mut stream.chunks)?;
                self.lists.spill(&mut stream.skims)?;
                self.lists.spill(&mut stream.sums)?;
            }
        }
        Ok(())
    }

    /// Ends the list; chunks can be read from now on.
    ///
    /// # Errors
    /// Returns the errors of [`KnownChunks::push`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.file = self.lists.finish()?;
        Ok(())
    }

    /// Returns the locations of events of 16 KiB and more.
    pub fn long(&self) -> &LongEvents {
        &self.long
    }

    /// Returns the bytes of chunks that were read in addition to the planned byte ranges.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Returns whether a chunk differed from the index, which makes all results invalid.
    pub fn is_wrong(&self) -> bool {
        self.is_wrong.load(Ordering::Relaxed)
    }

    /// Returns the chunks of the stream whose first event is at `first` in the concatenated inputs.
    pub(crate) fn stream(&self, first: u64) -> Option<KnownGroup<'_>> {
        let stream = self.streams.get(&first.wrapping_sub(self.base))?;
        Some(KnownGroup { all: self, stream })
    }
}

#[derive(Clone, Copy)]
pub(crate) struct KnownGroup<'c> {
    all: &'c KnownChunks,
    stream: &'c KnownStream,
}

impl<'c> KnownGroup<'c> {
    fn file(self) -> &'c [u8] {
        self.all.file.as_deref().unwrap_or_default()
    }

    pub(crate) fn chunks(self) -> Records<'c, Entry> {
        self.stream.chunks.records(self.file())
    }

    pub(crate) fn skims(self) -> Records<'c, Skim> {
        self.stream.skims.records(self.file())
    }

    pub(crate) fn samples(self) -> u64 {
        self.stream.samples
    }

    pub(crate) fn is_wrong(self) -> bool {
        self.all.is_wrong()
    }

    /// Reads a chunk; returns whether it matches the index.
    pub(crate) fn check(self, number: usize, store: &Store<'_>) -> bool {
        let Some(Entry { place, .. }) = self.chunks().get(number) else { return false };
        let (bytes, offset) = (store.event(place), place.offset() - self.all.base);
        let range = offset..offset + bytes.len() as u64;
        if self.all.remote.as_ref().is_some_and(|remote| remote.fetch(range).is_err()) {
            // the scan that follows reports the error
            self.all.is_wrong.store(true, Ordering::Relaxed);
            return false;
        }
        let is_event =
            bytes.first() == Some(&b'{') && Cursor::new(bytes).value().len() == bytes.len();
        let sum = self.stream.sums.records(self.file()).get(number);
        let is_right = is_event && sum == Some((self.all.sum_of)(offset, bytes));
        self.all.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.all.is_wrong.fetch_or(!is_right, Ordering::Relaxed);
        is_right
    }

    pub(crate) fn check_all(self, store: &Store<'_>) -> bool {
        (0..self.chunks().count() as usize).all(|number| self.check(number, store))
    }
}
