//! A scanned chunk, as observers see it when they merge it.

use crate::event::envelope::{ChunkStats, Document, KeyValue};
use crate::read::Current;
use crate::store::Store;
use crate::store::long_events::LongEvents;
use crate::store::place::{Long, Place};

/// A scanned chunk whose turn has come, without what observers found in it.
#[derive(Clone, Copy)]
pub struct SealedChunk<'a> {
    /// The number of its input, see [`InputStart::number`](super::InputStart::number).
    pub input: usize,
    /// Whether its events are synthetic.
    pub synthetic: bool,
    /// Offset of its input in the address space.
    pub base: u64,
    /// Counts and losses.
    pub stats: &'a ChunkStats,
    /// Places of the events that the index keeps, if it keeps them in [`InputOrder`](super::InputOrder).
    pub kept: &'a [Place],
    /// Number of events that the index keeps.
    pub kept_events: u64,
    /// Bytes of the events that the index keeps.
    pub kept_bytes: u64,
    /// Events of 16 KiB and more in this chunk.
    pub chunk_long_events: &'a [Long],
    /// Events of 16 KiB and more in all chunks up to this one.
    pub long_events: &'a LongEvents,
    /// Documents of all chunks up to this one.
    pub documents: &'a [Document],
    /// Number of documents that began before this chunk.
    pub(super) documents_before: usize,
    /// Number of keys that the last document before this chunk had then.
    pub(super) keys_before: usize,
    /// The bytes that were read so far.
    pub current: Current<'a>,
}

impl<'a> SealedChunk<'a> {
    /// Returns the documents that begin in this chunk.
    pub fn new_documents(&self) -> &'a [Document] {
        &self.documents[self.documents_before..]
    }

    /// Returns the keys in this chunk that belong to the last document before it.
    pub fn more_keys(&self) -> &'a [KeyValue] {
        let last = self.documents[..self.documents_before].last();
        last.map_or(&[], |last| &last.keys[self.keys_before..])
    }

    /// Returns the address space of everything read so far. Cost: a reference per file or segment.
    pub fn store(&self) -> Store<'a> {
        self.current.store(self.long_events)
    }

    /// Returns the address space of the current input alone.
    pub fn input_store(&self) -> Store<'a> {
        self.current.own_store(self.long_events)
    }
}
