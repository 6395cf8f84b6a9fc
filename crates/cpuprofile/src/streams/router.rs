//! Every `Profile`, `ProfileChunk` and `CpuProfile` event of a stretch of an input to its stream, and its args decoded, by
//! the worker that scans the stretch.
//!
//! ```text
//!   scan worker ─ finds a chunk ─> decodes it there and then, while its bytes are in cache
//!        │ Router, in input order, over the scan's bounded channel
//!        v
//!   Streams: (pid, id) ─> profiles ─> places of their chunks     (see `streams`)
//! ```
//!
//! No pool of decoders stands beside the scan's workers: the worker that finds a chunk decodes it, so decoding is as
//! parallel as the scan and needs no queue of its own.
//!
//! Cost: one look at how the name begins for every event; of a chunk its decoding ([`Detail::All`]), or a fifth of that
//! ([`Detail::Times`]). Which stream an event is of costs no hashing while a few streams take turns: those are compared by their ids as
//! written. Heap: 16 bytes a chunk, and what was decoded.

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

/// What an event is to its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `Profile`: thread and start.
    Head,
    /// `ProfileChunk`
    Chunk,
    /// `CpuProfile`: a whole profile in one event.
    Whole,
}

impl Role {
    /// The names of all events that have one.
    pub const NAMES: [&str; 3] = ["Profile", "ProfileChunk", "CpuProfile"];

    /// By name, as DevTools has it; a `CpuProfile` must be complete (ph X). `None` for all other events, which is known from the first letter
    /// of nearly all names.
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
        // nearly all names are none of these: one look at how they begin tells
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

/// How much of the args of chunks is found while they are scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    All,
    /// Times and ids of nodes, where that is quick to find; everything elsewhere (see `skim`).
    Times,
}

/// Chunks that `check` reports, by the offsets of their events.
#[derive(Clone, Copy, Default)]
pub struct OddChunks {
    /// Of more samples, nodes or steps than is safe.
    pub large: Tally,
    /// With more samples than steps of time, or fewer.
    pub uneven: Tally,
    /// With a step of time that looks like a negative number written as an unsigned one of 32 bits.
    pub unsigned: Tally,
}

impl OddChunks {
    /// Adds those of a later part.
    pub fn append(&mut self, later: &OddChunks) {
        self.large.append(&later.large);
        self.uneven.append(&later.uneven);
        self.unsigned.append(&later.unsigned);
    }
}

/// Steps in nanoseconds that are negative microseconds to those who read 32 bits as a signed number.
const UNSIGNED: std::ops::Range<i64> = 1000 << 31..1000 << 32;

/// Samples, nodes or steps that DevTools takes in one chunk without risk.
const SAMPLES: usize = 10_000;

/// Streams of a stretch of an input: a worker fills one, and [`Streams::append`](crate::Streams::append) takes it over. See
/// [`Streams`](crate::Streams) for an example.
#[derive(Default)]
pub struct Router {
    /// Their keys, ids and events, in the order of their first events.
    pub found: Vec<(StreamKey, StreamOwner, ProfileParts)>,
    /// Indices in `found`.
    numbers: StreamNumbers,
    /// Events of 16 KiB and more among them, whose lengths no [`Place`] has: offset and bytes.
    pub long: Vec<Long>,
    /// What was decoded, in pieces of about 1 GiB at most; heads, which are few and small, keep what matters themselves.
    pub kept: Vec<DecodedChunks>,
    /// Chunks that are odd.
    pub odd: OddChunks,
    /// What was decoded last.
    scratch: Chunk,
}

impl Router {
    /// Takes an event if it is part of a stream; `offset` is its place among all inputs, and greater than those before. Metadata (ph M) is
    /// part of none, whatever it is called.
    #[inline]
    pub fn note(&mut self, event: &Event<'_>, offset: u64) {
        if let Some(role) = Role::of(event)
            && !event.is_metadata()
        {
            self.take(event, offset, role, Detail::All);
        }
    }

    /// As [`Router::note`], of an event whose role is known. Returns the number of its stream in [`Router::found`].
    ///
    /// With [`Detail::Times`] each chunk leaves a [`Skim`] beside its place. Use one detail for all of a stream.
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

    /// Of several heads of one stream all are kept: which one counts is known at the end.
    fn head(&mut self, event: &Event<'_>, entry: Entry) -> usize {
        let origin = self.decode(event, entry);
        let tid = event.field(Field::Tid).unwrap_or_default().into();
        let at = self.number_of(event);
        self.found[at].2.heads.push(ProfileHead { entry, tid, origin });
        at
    }

    /// Each is a profile of its own: so its key ends with its offset.
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

    /// Notes steps of time that look like negative numbers.
    fn note_unsigned(&mut self, entry: Entry) {
        if self.scratch.deltas.iter().any(|delta| UNSIGNED.contains(delta)) {
            self.odd.unsigned.add(entry.place.offset());
        }
    }

    /// A chunk, decoded; lengths that readers fail on are noted, since only here all of it is at hand.
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

    /// A chunk that is decoded only where it must be.
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

    /// Decodes what an event holds, into the scratch.
    fn decode(&mut self, event: &Event<'_>, entry: Entry) -> Origin {
        decode_into(event, entry.place.offset(), &mut self.scratch);
        Origin { start: self.scratch.start, source: self.scratch.source }
    }

    /// Adds a chunk to a stream.
    fn add(&mut self, at: usize, entry: Entry, sums: ChunkSums) {
        let found = &mut self.found[at].2;
        found.chunks.push(entry);
        found.sums += sums;
    }

    /// Keeps a copy of what was decoded last, if it can be kept.
    fn keep(&mut self, entry: Entry) {
        if !self.kept.last().is_some_and(DecodedChunks::has_room) {
            self.kept.push(DecodedChunks::default());
        }
        let last = self.kept.len() - 1;
        self.kept[last].push(&self.scratch, entry.place.offset());
    }

    /// The number of the stream of an event that is part of one.
    fn number_of(&mut self, event: &Event<'_>) -> usize {
        let Router { numbers, found, .. } = self;
        numbers.of_event(event, |key| found.push(stream_of(key, event)))
    }
}

/// A stream that begins with an event, of which nothing is known yet.
fn stream_of(key: StreamKey, event: &Event<'_>) -> (StreamKey, StreamOwner, ProfileParts) {
    (key, StreamOwner::of(event), ProfileParts::default())
}
