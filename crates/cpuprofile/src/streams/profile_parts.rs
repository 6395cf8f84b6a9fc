//! What is known of one profile before it is put together.
//!
//! ```text
//!   ProfileParts   heads   Profile …           few: start, thread, source of each
//!                  chunks  ▪ ▪ ▪ ▪ ▪ ▪ …        16 bytes each, in memory or in the file of all lists
//!                  skims   ▪ ▪ ▪ ▪ ▪ ▪ …        48 bytes each, or none at all
//!                  sums    nodes, samples, …    so that columns are made as long as they will be
//! ```
//!
//! Workers each have the parts of their stretch; behind each other they are those of the profile.

use crate::chunk::Chunk;
use crate::chunk::key::Written;
use crate::chunk::skim::Skim;
use crate::chunk::source::ProfileSource;
use std::ops::AddAssign;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillList, SpillLists};
use tracemill_trace::store::entry::Entry;

/// What an event says of start and origin of a profile.
pub struct Origin {
    /// Its `startTime`, in nanoseconds of the clock of its data, which need not be that of the events.
    pub start: Option<i64>,
    /// What recorded it, if it says so.
    pub source: Option<ProfileSource>,
}

/// A `Profile` event.
pub struct ProfileHead {
    /// Its time and its place.
    pub entry: Entry,
    /// The thread that was profiled, as it is written; empty if missing.
    pub tid: Written,
    /// What its args say.
    pub origin: Origin,
}

/// How much there is in the chunks of a profile: exact, but for nodes of chunks that were skimmed, which are not counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkSums {
    /// Nodes, those that come again counted again.
    pub nodes: u64,
    /// Samples, whatever they name.
    pub samples: u64,
    /// Steps of time.
    pub deltas: u64,
    /// Bytes of the events.
    pub bytes: u64,
}

impl ChunkSums {
    /// Of one chunk that was decoded from `event`.
    pub fn of(chunk: &Chunk, event: &Event<'_>) -> Self {
        ChunkSums {
            nodes: chunk.nodes.len() as u64,
            samples: chunk.samples.len() as u64,
            deltas: chunk.deltas.len() as u64,
            bytes: event.bytes.len() as u64,
        }
    }
}

impl AddAssign for ChunkSums {
    fn add_assign(&mut self, other: ChunkSums) {
        self.nodes += other.nodes;
        self.samples += other.samples;
        self.deltas += other.deltas;
        self.bytes += other.bytes;
    }
}

/// The events of one profile, or of a stretch of one, in input order. Of each chunk there are its 16 bytes, and 48 more
/// where it was skimmed: there may be millions.
#[derive(Default)]
pub struct ProfileParts {
    /// `Profile` events.
    pub heads: Vec<ProfileHead>,
    /// `ProfileChunk` events, or the one `CpuProfile` event.
    pub chunks: SpillList<Entry>,
    /// Beside each chunk, with [`crate::streams::router::Detail::Times`]; nothing otherwise.
    pub skims: SpillList<Skim>,
    /// What it says of itself, if it is a `CpuProfile` event: then that is its only chunk.
    pub whole: Option<Origin>,
    /// How much there is in them.
    pub sums: ChunkSums,
}

impl ProfileParts {
    /// Takes over later events. Cost: a copy of what is in memory of them.
    pub fn append(&mut self, later: ProfileParts) {
        self.heads.extend(later.heads);
        self.chunks.append(later.chunks);
        self.skims.append(later.skims);
        self.whole = self.whole.take().or(later.whole);
        self.sums += later.sums;
    }

    /// Bytes that spilling frees: those of the two long lists.
    pub fn heap(&self) -> u64 {
        self.chunks.heap() + self.skims.heap()
    }

    /// Writes the lists that may be long to the file of all lists.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take them.
    pub fn spill(&mut self, lists: &mut SpillLists) -> Result<(), Error> {
        lists.spill(&mut self.chunks)?;
        lists.spill(&mut self.skims)
    }
}

/// Whose a stream is, as written in its first event; empty where missing.
pub struct StreamOwner {
    /// Process.
    pub pid: Written,
    /// Thread that wrote the event: of a chunk not the one that was profiled.
    pub tid: Written,
    /// `id`, or `id2` where there is none.
    pub id: Written,
}

impl StreamOwner {
    /// That of an event.
    pub fn of(event: &Event<'_>) -> Self {
        let field = |field| Box::from(event.field(field).unwrap_or_default());
        let id = event.field(Field::Id).or(event.field(Field::Id2)).unwrap_or_default();
        StreamOwner { pid: field(Field::Pid), tid: field(Field::Tid), id: id.into() }
    }
}
