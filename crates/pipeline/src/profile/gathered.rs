//! What is known of one profile before it is put together.

use super::chunk::{Chunk, ProfileSource};
use super::key::Written;
use super::series::{Series, Shelf};
use super::skim::Skim;
use crate::entry::Entry;
use crate::error::Error;
use std::ops::AddAssign;
use tracemill_tokenizer::{Event, Field};

/// What an event says of start and origin of a profile.
pub(crate) struct Origin {
    pub(crate) start: Option<i64>,
    pub(crate) source: Option<ProfileSource>,
}

/// A `Profile` event.
pub(crate) struct Head {
    pub(crate) entry: Entry,
    /// As it is written; empty if missing.
    pub(crate) tid: Written,
    pub(crate) origin: Origin,
}

/// How much there is in the chunks of a profile.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(crate) nodes: u64,
    pub(crate) samples: u64,
    /// Steps of time.
    pub(crate) deltas: u64,
    /// Bytes of the events.
    pub(crate) bytes: u64,
}

impl Sums {
    pub(crate) fn of(chunk: &Chunk, event: &Event<'_>) -> Self {
        Sums {
            nodes: chunk.nodes.len() as u64,
            samples: chunk.samples.len() as u64,
            deltas: chunk.deltas.len() as u64,
            bytes: event.bytes.len() as u64,
        }
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        self.nodes += other.nodes;
        self.samples += other.samples;
        self.deltas += other.deltas;
        self.bytes += other.bytes;
    }
}

/// The events of one profile, or of a stretch of one, in input order. Of each chunk there are its 16 bytes, and 40 more
/// where it was skimmed: there may be millions.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) heads: Vec<Head>,
    pub(crate) chunks: Series<Entry>,
    /// Beside each chunk, with [`super::router::Detail::Times`]; nothing otherwise.
    pub(crate) skims: Series<Skim>,
    /// What it says of itself, if it is a `CpuProfile` event: then that is its only chunk.
    pub(crate) whole: Option<Origin>,
    pub(crate) sums: Sums,
}

impl Gathered {
    /// Takes over later events.
    pub(crate) fn append(&mut self, later: Gathered) {
        self.heads.extend(later.heads);
        self.chunks.append(later.chunks);
        self.skims.append(later.skims);
        self.whole = self.whole.take().or(later.whole);
        self.sums += later.sums;
    }

    /// Bytes that spilling frees.
    pub(crate) fn heap(&self) -> u64 {
        self.chunks.heap() + self.skims.heap()
    }

    pub(crate) fn spill(&mut self, shelf: &mut Shelf) -> Result<(), Error> {
        shelf.spill(&mut self.chunks)?;
        shelf.spill(&mut self.skims)
    }
}

/// Whose a stream is, as written in its first event; empty where missing.
pub(crate) struct Owner {
    pub(crate) pid: Written,
    pub(crate) tid: Written,
    pub(crate) id: Written,
}

impl Owner {
    pub(crate) fn of(event: &Event<'_>) -> Self {
        let field = |field| Box::from(event.field(field).unwrap_or_default());
        let id = event.field(Field::Id).or(event.field(Field::Id2)).unwrap_or_default();
        Owner { pid: field(Field::Pid), tid: field(Field::Tid), id: id.into() }
    }
}
