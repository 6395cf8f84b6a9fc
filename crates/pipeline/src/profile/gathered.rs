//! What is known of one profile before it is put together.

use super::chunk::{Chunk, ProfileSource};
use super::key::Written;
use super::series::{Series, Shelf};
use super::skim::Skim;
use crate::error::Error;
use crate::order::Entry;
use std::ops::AddAssign;
use tracemill_tokenizer::{Event, Field};

/// What an event says of start and origin of a profile.
pub(super) struct Origin {
    pub(super) start: Option<i64>,
    pub(super) source: Option<ProfileSource>,
}

/// A `Profile` event.
pub(super) struct Head {
    pub(super) entry: Entry,
    /// As it is written; empty if missing.
    pub(super) tid: Written,
    pub(super) origin: Origin,
}

/// How much there is in the chunks of a profile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) nodes: u64,
    pub(super) samples: u64,
    /// Steps of time.
    pub(super) deltas: u64,
    /// Bytes of the events.
    pub(super) bytes: u64,
}

impl Sums {
    pub(super) fn of(chunk: &Chunk, event: &Event<'_>) -> Self {
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
pub(super) struct Gathered {
    pub(super) heads: Vec<Head>,
    pub(super) chunks: Series<Entry>,
    /// Beside each chunk, with [`super::router::Detail::Times`]; nothing otherwise.
    pub(super) skims: Series<Skim>,
    /// What it says of itself, if it is a `CpuProfile` event: then that is its only chunk.
    pub(super) whole: Option<Origin>,
    pub(super) sums: Sums,
}

impl Gathered {
    /// Takes over later events.
    pub(super) fn append(&mut self, later: Gathered) {
        self.heads.extend(later.heads);
        self.chunks.append(later.chunks);
        self.skims.append(later.skims);
        self.whole = self.whole.take().or(later.whole);
        self.sums += later.sums;
    }

    /// Bytes that spilling frees.
    pub(super) fn heap(&self) -> u64 {
        self.chunks.heap() + self.skims.heap()
    }

    pub(super) fn spill(&mut self, shelf: &mut Shelf) -> Result<(), Error> {
        shelf.spill(&mut self.chunks)?;
        shelf.spill(&mut self.skims)
    }
}

/// Whose a stream is, as written in its first event; empty where missing.
pub(super) struct Owner {
    pub(super) pid: Written,
    pub(super) tid: Written,
    pub(super) id: Written,
}

impl Owner {
    pub(super) fn of(event: &Event<'_>) -> Self {
        let field = |field| Box::from(event.field(field).unwrap_or_default());
        let id = event.field(Field::Id).or(event.field(Field::Id2)).unwrap_or_default();
        Owner { pid: field(Field::Pid), tid: field(Field::Tid), id: id.into() }
    }
}
