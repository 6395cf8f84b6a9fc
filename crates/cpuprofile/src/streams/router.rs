//! Routes the events of CPU profiles to their streams, and decodes their args on the scan workers.
//!
//! ```text
//!   scan worker ─ finds a chunk ─> decodes it while its bytes are in cache
//!        │ Router, in input order, over the scan's bounded channel
//!        v
//!   Streams: (pid, id) ─> profiles ─> locations of their chunks     (see `streams`)
//! ```
//!
//! Decoding is as parallel as the scan and needs no queue.
//!
//! Cost: for every event, a check of the start of its name. A chunk is decoded ([`Detail::All`]) or
//! read at a fifth of that cost ([`Detail::Times`]). Heap: 16 bytes per chunk, and the decoded
//! data.

use crate::chunk::Chunk;
use crate::chunk::decoded_chunks::DecodedChunks;
use crate::chunk::key::{StreamKey, StreamNumbers, stream_key};
use crate::chunk::skim::Skim;
use crate::streams::contents::decode_into;
use crate::streams::profile_parts::{ChunkSums, Origin, ProfileHead, ProfileParts, StreamOwner};
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::spill::tally::Tally;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::{Long, Place};

/// The role of an event in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A `Profile` event, which has the thread and the start.
    Head,
    /// A `ProfileChunk` event, which has a part of the profile.
    Chunk,
    /// A `CpuProfile` event, which has a whole profile.
    Whole,
}

impl Role {
    /// Names of the events that belong to CPU profiles.
    pub const NAMES: [&str; 3] = ["Profile", "ProfileChunk", "CpuProfile"];

    /// Returns the role by name, as in DevTools; a `CpuProfile` must have ph X.
    ///
    /// Most other events are rejected by the first letter of their name.
    ///
    /// ```
    /// use tracemill_cpuprofile::Role;
    /// use tracemill_tokenizer::fields_of;
    ///
    /// let role = |event: &str| Role::of(&fields_of(event.as_bytes()).of(event.as_bytes()));
    /// assert_eq!(role(r#"{"name":"ProfileChunk","ph":"P"}"#), Some(Role::Chunk));
    /// assert_eq!(role(r#"{"name":"CpuProfile","ph":"X"}"#), Some(Role::Whole));
    /// assert_eq!(role(r#"{"name":"CpuProfile","ph":"I"}"#), None);
    /// ```
    #[inline]
    pub fn of(event: &Event<'_>) -> Option<Role> {
        let name = event.field_and_rest(Field::Name)?;
        if !matches!(name, [b'"', b'P' | b'C' | b'\\', ..]) {
            return None;
        }
        if event.is_string(Field::Name, b"ProfileChunk") {
            return Some(Role::Chunk);
        }
        if event.is_string(Field::Name, b"Profile") {
            return Some(Role::Head);
        }
        let whole = event.is_string(Field::Name, b"CpuProfile") && event.is_string(Field::Ph, b"X");
        whole.then_some(Role::Whole)
    }
}

/// Data to extract from chunks during the scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything in the chunk.
    All,
    /// Times and node ids of chunks that can be skimmed (see `skim`); everything in all other
    /// chunks.
    Times,
}

/// Offsets of chunks that `check` reports.
#[derive(Clone, Copy, Default)]
pub struct OddChunks {
    /// Chunks with more samples, nodes or time deltas than DevTools safely handles.
    pub large: Tally,
    /// Chunks with different numbers of samples and time deltas.
    pub uneven: Tally,
    /// Chunks with a time delta that looks like a negative 32-bit number written as unsigned.
    pub unsigned: Tally,
}

impl OddChunks {
    /// Adds the chunks of a later batch.
    pub fn append(&mut self, later: &OddChunks) {
        self.large.append(&later.large);
        self.uneven.append(&later.uneven);
        self.unsigned.append(&later.unsigned);
    }
}

/// Time deltas, in nanoseconds, that are negative microseconds when read as signed 32 bits.
const UNSIGNED: std::ops::Range<i64> = 1000 << 31..1000 << 32;

/// Maximum number of samples, nodes or time deltas that DevTools safely handles in one chunk.
const SAMPLES: usize = 10_000;

/// Streams of a batch of an input, filled by a worker and passed to
/// [`Streams::append`](crate::Streams::append).
///
/// [`Streams`](crate::Streams) has an example.
#[derive(Default)]
pub struct Router {
    /// Keys, ids and events of streams, in the order of their first events.
    pub found: Vec<(StreamKey, StreamOwner, ProfileParts)>,
    numbers: StreamNumbers,
    /// Offset and length of events of 16 KiB and more, whose length does not fit in a [`Place`].
    pub long: Vec<Long>,
    /// Decoded chunks in batches of at most about 1 GiB; `Profile` events are not kept.
    pub kept: Vec<DecodedChunks>,
    /// Chunks that `check` reports.
    pub odd: OddChunks,
    scratch: Chunk,
}

impl Router {
    /// Takes an event if it belongs to a stream; metadata events (ph M) never do.
    ///
    /// `offset` counts from the start of all inputs and must increase.
    #[inline]
    pub fn note(&mut self, event: &Event<'_>, offset: u64) {
        if let Some(role) = Role::of(event)
            && !event.is_metadata()
        {
            self.take(event, offset, role, Detail::All);
        }
    }

    /// Takes an event with a known role; returns the index of the stream in [`Router::found`].
    ///
    /// Otherwise like [`Router::note`]. With [`Detail::Times`] each chunk has a [`Skim`]. Use the
    /// same detail for a whole stream.
    pub fn take(&mut self, event: &Event<'_>, offset: u64, role: Role, detail: Detail) -> usize {
        let len = event.bytes.len();
        if Place::is_long(len) {
            self.long.push((offset, len as u64));
        }
        let entry = match event.ts() {
            Some(ts) => {
                let place = Place::new(offset, len, rank(ts, event.dur()));
                Entry { time: ts.floor, place }
            }
            None => Entry { time: i64::MIN, place: Place::new(offset, len, 0) },
        };
        match role {
            Role::Head => self.head(event, entry),
            Role::Whole => self.whole(event, entry),
            Role::Chunk if detail == Detail::Times => self.skimmed(event, entry),
            Role::Chunk => self.chunk(event, entry),
        }
    }

    /// Takes a `Profile` event. All `Profile` events are kept, since the last counts, and only the
    /// end of the input shows which event is the last.
    fn head(&mut self, event: &Event<'_>, entry: Entry) -> usize {
        let origin = self.decode(event, entry);
        let tid = event.field(Field::Tid).unwrap_or_default().into();
        let at = self.number_of(event);
        let parts = &mut self.found[at].2;
        parts.heads.push(ProfileHead { entry, tid, origin });
        parts.sums.bytes += event.bytes.len() as u64;
        at
    }

    /// Takes a `CpuProfile` event. Each such event is a profile of its own, so the key ends with
    /// the offset of the event.
    fn whole(&mut self, event: &Event<'_>, entry: Entry) -> usize {
        let origin = self.decode(event, entry);
        self.keep(entry);
        let mut key = stream_key(event);
        key.extend_from_slice(&entry.place.offset().to_le_bytes());
        let Router { numbers, found, .. } = self;
        let at = numbers.of_key(key, |key| found.push(stream_of(key, event)));
        self.found[at].2.whole = Some(origin);
        self.add(at, entry, ChunkSums::of(&self.scratch, event));
        self.note_unsigned(entry);
        at
    }

    /// Counts the chunk if a time delta looks like a negative number.
    fn note_unsigned(&mut self, entry: Entry) {
        if self.scratch.deltas.iter().any(|delta| UNSIGNED.contains(delta)) {
            self.odd.unsigned.add(entry.place.offset());
        }
    }

    fn chunk(&mut self, event: &Event<'_>, entry: Entry) -> usize {
        self.decode(event, entry);
        self.keep(entry);
        let at = self.number_of(event);
        self.add(at, entry, ChunkSums::of(&self.scratch, event));
        let Chunk { nodes, samples, deltas, .. } = &self.scratch;
        if samples.len().max(nodes.len()).max(deltas.len()) > SAMPLES {
            self.odd.large.add(entry.place.offset());
        }
        if samples.len() != deltas.len() {
            self.odd.uneven.add(entry.place.offset());
        }
        self.note_unsigned(entry);
        at
    }

    /// Skims a chunk, or decodes it if necessary.
    fn skimmed(&mut self, event: &Event<'_>, entry: Entry) -> usize {
        let (skim, sums) = match Skim::of(event) {
            Some(skim) => {
                let (samples, bytes) = (skim.samples(), event.bytes.len() as u64);
                (skim, ChunkSums { nodes: 0, samples, deltas: samples, bytes })
            }
            None => {
                self.decode(event, entry);
                self.keep(entry);
                (Skim::of_decoded(&self.scratch), ChunkSums::of(&self.scratch, event))
            }
        };
        let at = self.number_of(event);
        self.found[at].2.skims.push(skim);
        self.add(at, entry, sums);
        at
    }

    fn decode(&mut self, event: &Event<'_>, entry: Entry) -> Origin {
        decode_into(event, entry.place.offset(), &mut self.scratch);
        Origin { start: self.scratch.start, source: self.scratch.source }
    }

    fn add(&mut self, at: usize, entry: Entry, sums: ChunkSums) {
        let found = &mut self.found[at].2;
        found.chunks.push(entry);
        found.sums += sums;
    }

    fn keep(&mut self, entry: Entry) {
        if !self.kept.last().is_some_and(DecodedChunks::has_room) {
            self.kept.push(DecodedChunks::default());
        }
        let last = self.kept.len() - 1;
        self.kept[last].push(&self.scratch, entry.place.offset());
    }

    fn number_of(&mut self, event: &Event<'_>) -> usize {
        let Router { numbers, found, .. } = self;
        numbers.of_event(event, |key| found.push(stream_of(key, event)))
    }
}

/// Creates a stream that begins with an event.
fn stream_of(key: StreamKey, event: &Event<'_>) -> (StreamKey, StreamOwner, ProfileParts) {
    (key, StreamOwner::of(event), ProfileParts::default())
}
