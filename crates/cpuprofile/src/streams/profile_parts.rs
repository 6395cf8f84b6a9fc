//! Events of one profile before it is assembled.
//!
//! ```text
//!   ProfileParts   heads   Profile …           few: start, thread and source of each
//!                  chunks  ▪ ▪ ▪ ▪ ▪ ▪ …       16 bytes each, in memory or in a shared file
//!                  skims   ▪ ▪ ▪ ▪ ▪ ▪ …       48 bytes each, or none
//!                  sums    nodes, samples, …   for allocating the columns
//! ```
//!
//! Each worker collects the events of its batch; appended in order, they are the profile.

use crate::chunk::Chunk;
use crate::chunk::key::Written;
use crate::chunk::skim::Skim;
use crate::chunk::source::ProfileSource;
use std::ops::AddAssign;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillList, SpillLists};
use tracemill_trace::store::entry::Entry;

/// Start and recording API of a profile, from one event.
pub struct Origin {
    /// `startTime` in nanoseconds, in the clock of the data, which may differ from the clock of the
    /// events.
    pub start: Option<i64>,
    /// API that recorded the profile, if the event names one.
    pub source: Option<ProfileSource>,
}

/// A `Profile` event.
pub struct ProfileHead {
    /// Time and location of the event.
    pub entry: Entry,
    /// The sampled thread, as written; empty if missing.
    pub tid: Written,
    /// Start and recording API from the event's args.
    pub origin: Origin,
}

/// Sizes of a profile's chunks; nodes of skimmed chunks are not counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChunkSums {
    /// Number of nodes, including repeated nodes.
    pub nodes: u64,
    /// Number of samples, including invalid samples.
    pub samples: u64,
    /// Number of time steps.
    pub deltas: u64,
    /// Number of bytes of the events, with those of `Profile` events.
    pub bytes: u64,
}

impl ChunkSums {
    /// Returns the sizes of a chunk decoded from `event`.
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

/// Events of a profile, or of a part of it, in input order.
///
/// Each chunk takes 16 bytes, and 48 more if it was skimmed.
#[derive(Default)]
pub struct ProfileParts {
    /// `Profile` events.
    pub heads: Vec<ProfileHead>,
    /// `ProfileChunk` events, or the one `CpuProfile` event.
    pub chunks: SpillList<Entry>,
    /// The skim of each chunk with [`crate::streams::router::Detail::Times`]; else empty.
    pub skims: SpillList<Skim>,
    /// Start and recording API of a `CpuProfile` event, which is then the only chunk.
    pub whole: Option<Origin>,
    /// Total sizes of the chunks.
    pub sums: ChunkSums,
}

impl ProfileParts {
    /// Appends the events of a later batch.
    pub fn append(&mut self, later: ProfileParts) {
        self.heads.extend(later.heads);
        self.chunks.append(later.chunks);
        self.skims.append(later.skims);
        self.whole = self.whole.take().or(later.whole);
        self.sums += later.sums;
    }

    /// Returns the bytes of heap that spilling frees.
    pub fn heap(&self) -> u64 {
        self.chunks.heap() + self.skims.heap()
    }

    /// Spills the lists of chunks and skims.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
    pub fn spill(&mut self, lists: &mut SpillLists) -> Result<(), Error> {
        lists.spill(&mut self.chunks)?;
        lists.spill(&mut self.skims)
    }
}

/// Ids of a stream's first event, as written; empty if missing.
pub struct StreamOwner {
    /// Process id.
    pub pid: Written,
    /// Id of the thread that wrote the event; for a chunk, not the sampled thread.
    pub tid: Written,
    /// Stream id: `id`, else `id2`.
    pub id: Written,
}

impl StreamOwner {
    /// Returns the pid, tid and id of an event.
    pub fn of(event: &Event<'_>) -> Self {
        let field = |field| Box::from(event.field(field).unwrap_or_default());
        let id = event.field(Field::Id).or(event.field(Field::Id2)).unwrap_or_default();
        StreamOwner { pid: field(Field::Pid), tid: field(Field::Tid), id: id.into() }
    }
}
