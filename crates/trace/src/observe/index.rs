//! The event index, and the reader that fills it and runs the observers.

use super::chunk::SealedChunk;
use super::keep::{Keep, KeepChunk};
use super::look::Look;
use super::observer::Observer;
use crate::event::envelope::{Collect, Document, Envelope};
use crate::read::{ChunkStart, Current, InputStart, Needs, Reader, Starter, read_synthetic};
use crate::run::error::Error;
use crate::run::limits::Limits;
use crate::run::memory::Share;
use crate::store::Payload;
use crate::store::entry::Entry;
use crate::store::long_events::LongEvents;
use crate::store::place::Place;
use tracemill_tokenizer::{Damage, Event, Form, Member, Note};

/// The index of the events of all inputs.
pub struct EventIndex<K> {
    /// The stored events.
    pub kept: K,
    /// Events of 16 KiB and more, kept or not.
    pub long_events: LongEvents,
    /// Documents with their top-level keys.
    pub documents: Vec<Document>,
    /// Number of events in the index.
    pub events: u64,
    /// Total bytes of the events in the index.
    pub bytes: u64,
    /// Maximum bytes of top-level keys, and of the texts of one event.
    room: u64,
}

impl<K: Keep> EventIndex<K> {
    pub(super) fn new(kept: K, limits: &Limits) -> Self {
        let long_events = LongEvents::new(limits);
        let room = limits.bytes(Share::of(1, 4));
        EventIndex { kept, long_events, documents: Vec::new(), events: 0, bytes: 0, room }
    }

    /// Indexes synthetic events in a temporary file, at `current.base` in the address space. They
    /// belong to no input, so no report counts them.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if a spill file cannot be
    /// written.
    pub fn of_synthetic(
        kept: K,
        text: &Payload,
        current: Current<'_>,
        limits: &Limits,
    ) -> Result<EventIndex<K>, Error> {
        let mut reader = Indexed::new(EventIndex::new(kept, limits), ());
        read_synthetic(text, limits, &mut reader, current)?;
        Ok(reader.index)
    }
}

/// Fills the index and runs the observers: the only [`Reader`].
pub(super) struct Indexed<K, O> {
    pub(super) index: EventIndex<K>,
    pub(super) observer: O,
    /// Index of the current input, as in [`InputStart`].
    input: usize,
    synthetic: bool,
}

impl<K: Keep, O: Observer> Indexed<K, O> {
    pub(super) fn new(index: EventIndex<K>, observer: O) -> Self {
        Indexed { index, observer, input: 0, synthetic: false }
    }
}

/// Events and findings of one chunk.
pub(super) struct IndexedChunk<K, L> {
    envelope: Envelope,
    kept: K,
    events: u64,
    bytes: u64,
    look: L,
}

impl<K: KeepChunk, L: Look> Collect for IndexedChunk<K, L> {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline(always)]
    fn event(&mut self, event: &Event<'_>) {
        let at = self.kept.locate(event, &mut self.envelope);
        // a text beyond the limit ends the run in `merge`; no look may copy it
        if Place::is_long(event.bytes.len()) && self.envelope.is_refused() {
            return;
        }
        if self.look.event(event, &at) {
            self.events += 1;
            self.bytes += event.bytes.len() as u64;
            self.kept.keep(&at);
        }
    }

    fn document(&mut self, form: Form) {
        self.look.document(form);
        self.envelope.document(form);
    }

    fn member(&mut self, member: Member<'_>) {
        self.look.member(&member);
        self.envelope.member(member);
    }

    fn damage(&mut self, damage: &Damage<'_>) {
        self.look.damage(damage);
        self.envelope.damage(damage);
    }

    fn note(&mut self, note: Note, offset: u64) {
        self.look.note(note, offset);
        self.envelope.note(note);
    }

    /// Seals `kept` before the look: `kept` sets the span of the chunk, and the look may change
    /// that span.
    fn seal(&mut self) {
        self.kept.seal(&mut self.envelope);
        self.look.seal(&mut self.envelope.stats);
    }
}

impl<K: Keep, O: Observer> Reader for Indexed<K, O> {
    type Chunk = IndexedChunk<K::Chunk, O::Chunk>;

    fn needs(&self) -> Needs {
        self.index.kept.needs().and(self.observer.needs())
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        (self.input, self.synthetic) = (input.number, input.synthetic);
        self.index.kept.begin(input);
        self.observer.begin(input);
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        let (keep, look) = (self.index.kept.starter(), self.observer.starter());
        let room = self.index.room;
        Box::new(move |chunk| {
            let envelope = Envelope::at(chunk.base).with_room(room);
            IndexedChunk { envelope, kept: keep(chunk), events: 0, bytes: 0, look: look(chunk) }
        })
    }

    fn takes_entries(&self) -> bool {
        self.index.kept.takes_entries() && self.observer.ignores_plain_events()
    }

    fn chunk_of_entries(&self, base: u64, entries: &[Entry]) -> Self::Chunk {
        let mut chunk = self.starter()(&ChunkStart { base, len_hint: 0 });
        for &Entry { time, place } in entries {
            chunk.envelope.stats.note_event(place.offset());
            chunk.events += 1;
            chunk.bytes += place.short_len().unwrap_or_default();
            chunk.kept.keep_entry(Entry { time, place: place.behind(base) });
        }
        chunk.seal();
        chunk
    }

    /// Merges long events and documents first, because observers may read long events and
    /// documents. Merges the entries last, because spilling entries reads events.
    fn merge(&mut self, chunk: Self::Chunk, base: u64, current: Current<'_>) -> Result<(), Error> {
        let IndexedChunk { mut envelope, kept, events, bytes, look } = chunk;
        let index = &mut self.index;
        index.events += events;
        index.bytes += bytes;
        let chunk_long_events = std::mem::take(&mut envelope.long);
        let stats = std::mem::take(&mut envelope.stats);
        index.long_events.append(&chunk_long_events)?;
        let documents_before = index.documents.len();
        let keys_before = index.documents.last().map_or(0, |last| last.keys.len());
        envelope.append_to(&mut index.documents);
        let chunk = SealedChunk {
            input: self.input,
            synthetic: self.synthetic,
            base,
            stats: &stats,
            kept: &[],
            kept_events: events,
            kept_bytes: bytes,
            chunk_long_events: &chunk_long_events,
            long_events: &index.long_events,
            documents: &index.documents,
            documents_before,
            keys_before,
            current,
        };
        self.observer.merge(look, &SealedChunk { kept: kept.places(), ..chunk })?;
        index.kept.merge(kept, &chunk)
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.index.documents
    }
}
