//! A scanned chunk as observers see it when they merge their findings.

use crate::event::envelope::{ChunkStats, Document, KeyValue};
use crate::read::Current;
use crate::store::Store;
use crate::store::long_events::LongEvents;
use crate::store::place::{Long, Place};

/// A scanned chunk at its turn in input order, without the findings of the observers.
#[derive(Clone, Copy)]
pub struct SealedChunk<'a> {
    /// Index of the input, see [`InputStart::number`](super::InputStart::number).
    pub input: usize,
    /// Whether the events of the chunk are synthetic.
    pub synthetic: bool,
    /// Offset of the input in the address space.
    pub base: u64,
    /// Counts and losses of the chunk.
    pub stats: &'a ChunkStats,
    /// Places of the kept events, if the index stores them in [`InputOrder`](super::InputOrder).
    pub kept: &'a [Place],
    /// Number of events of the chunk that the index keeps.
    pub kept_events: u64,
    /// Total bytes of the events that the index keeps.
    pub kept_bytes: u64,
    /// Events of 16 KiB and more in this chunk.
    pub chunk_long_events: &'a [Long],
    /// Events of 16 KiB and more in all chunks up to this one.
    pub long_events: &'a LongEvents,
    /// Documents of all chunks up to this one.
    pub documents: &'a [Document],
    /// Number of documents that began before this chunk.
    pub(super) documents_before: usize,
    /// Number of keys of the last earlier document before this chunk.
    pub(super) keys_before: usize,
    /// The input bytes that were read so far.
    pub current: Current<'a>,
}

impl<'a> SealedChunk<'a> {
    /// Returns the documents that begin in this chunk.
    pub fn new_documents(&self) -> &'a [Document] {
        &self.documents[self.documents_before..]
    }

    /// Returns the keys of this chunk that belong to a document begun in an earlier chunk.
    pub fn more_keys(&self) -> &'a [KeyValue] {
        let last = self.documents[..self.documents_before].last();
        last.map_or(&[], |last| &last.keys[self.keys_before..])
    }

    /// Returns the address space of everything read so far.
    pub fn store(&self) -> Store<'a> {
        self.current.store(self.long_events)
    }

    /// Returns the address space of the current input alone.
    pub fn input_store(&self) -> Store<'a> {
        self.current.own_store(self.long_events)
    }
}
