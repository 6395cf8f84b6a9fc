//! Chunks of CPU profiles that an index knows: where each stands, its times and the ids of its nodes. Their bytes are read when they
//! are needed.
//!
//! ```text
//!   stream    Profile ─ chunk ─ chunk ─ chunk ─ chunk        places, skims and checksums, as if all had been skimmed by a scan
//!   read         x                        x                  those of a window, and those that define what its samples name
//! ```
//!
//! What is read must have the checksum that is known. If it has not, nothing that was found counts: whoever asks is to see to that.
//! So the answer is the same as without an index, or it is known to be none. Heap: 68 bytes a chunk, on disk beyond their share.

use crate::chunk::skim::Skim;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tracemill_tokenizer::{Cursor, Mapped};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{Records, SpillList, SpillLists};
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::store::place::Place;

/// A chunk as the index has it: all that is known of it without a look at its bytes.
#[derive(Clone, Copy, Debug)]
pub struct KnownChunk {
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
struct KnownStream {
    chunks: SpillList<Entry>,
    skims: SpillList<Skim>,
    sums: SpillList<u32>,
    samples: u64,
}

/// Chunks of some streams of the one input.
///
/// Filled by who reads the index ([`KnownChunks::push`], then [`KnownChunks::finish`]), given to
/// [`Streams::complete`](crate::Streams::complete), and asked by several threads at a time. At the end
/// [`KnownChunks::is_wrong`] says whether what came of it counts.
pub struct KnownChunks {
    /// Where the input stands among all.
    base: u64,
    /// The checksum of an event, by its place in the input and its bytes.
    sum_of: fn(u64, &[u8]) -> u32,
    /// By the places of the first events of their streams.
    streams: HashMap<u64, KnownStream>,
    lists: SpillLists,
    file: Option<Mapped>,
    long: LongEvents,
    bytes_read: AtomicU64,
    is_wrong: AtomicBool,
}

impl KnownChunks {
    /// None yet, of the input that begins at `base`, whose events have these checksums. What is more than the lease has goes to disk.
    pub fn new(base: u64, lease: &Lease, sum_of: fn(u64, &[u8]) -> u32) -> Self {
        KnownChunks {
            base,
            sum_of,
            streams: HashMap::default(),
            lists: SpillLists::new(lease.part(Share::of(15, 16))),
            file: None,
            long: LongEvents::within(lease.part(Share::of(1, 16))),
            bytes_read: AtomicU64::new(0),
            is_wrong: AtomicBool::new(false),
        }
    }

    /// Adds a chunk of the stream whose first event stands at `first` in the input. Chunks come in input order, which in each stream is that of
    /// their times; each has as many steps as samples, and no time is farther than [`FARTHEST`](crate::FARTHEST).
    ///
    /// # Errors
    /// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take them.
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

    /// All are there: from now on they can be asked for.
    ///
    /// # Errors
    /// As [`KnownChunks::push`].
    pub fn finish(&mut self) -> Result<(), Error> {
        self.file = self.lists.finish()?;
        Ok(())
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

    /// The chunks of a stream, by the place of its first event among all inputs.
    pub(crate) fn stream(&self, first: u64) -> Option<KnownGroup<'_>> {
        let own = self.streams.get(&first.wrapping_sub(self.base))?;
        Some(KnownGroup { all: self, own })
    }
}

/// The chunks of one of the streams.
#[derive(Clone, Copy)]
pub(crate) struct KnownGroup<'c> {
    all: &'c KnownChunks,
    own: &'c KnownStream,
}

impl<'c> KnownGroup<'c> {
    fn file(self) -> &'c [u8] {
        self.all.file.as_deref().unwrap_or_default()
    }

    pub(crate) fn chunks(self) -> Records<'c, Entry> {
        self.own.chunks.records(self.file())
    }

    pub(crate) fn skims(self) -> Records<'c, Skim> {
        self.own.skims.records(self.file())
    }

    pub(crate) fn samples(self) -> u64 {
        self.own.samples
    }

    pub(crate) fn is_wrong(self) -> bool {
        self.all.is_wrong()
    }

    /// Whether the chunk of a number is what is known of it.
    pub(crate) fn check(self, number: usize, store: &Store<'_>) -> bool {
        let Some(Entry { place, .. }) = self.chunks().get(number) else { return false };
        let (bytes, offset) = (store.event(place), place.offset() - self.all.base);
        let is_event =
            bytes.first() == Some(&b'{') && Cursor::new(bytes).value().len() == bytes.len();
        let sum = self.own.sums.records(self.file()).get(number);
        let is_right = is_event && sum == Some((self.all.sum_of)(offset, bytes));
        self.all.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.all.is_wrong.fetch_or(!is_right, Ordering::Relaxed);
        is_right
    }

    /// Whether all are, for who needs all.
    pub(crate) fn check_all(self, store: &Store<'_>) -> bool {
        (0..self.chunks().count() as usize).all(|number| self.check(number, store))
    }
}
