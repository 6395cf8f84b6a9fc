//! Decides what an index stores per event.

use super::chunk::SealedChunk;
use super::look::EventRef;
use crate::event::envelope::Envelope;
use crate::read::{InputStart, Needs, Starter};
use crate::run::error::Error;
use crate::store::entry::Entry;
use crate::store::place::Place;
use tracemill_tokenizer::Event;

/// Stores data of each event that all looks ([`Look`](super::Look)) keep.
///
/// | | per event | reads |
/// |---|--:|---|
/// | [`Sorted`](super::Sorted) | 16 bytes, sorted by time | ts, dur, phase |
/// | [`InputOrder`](super::InputOrder) | 8 bytes, in input order | – |
/// | a pair of these | both | as the first member |
/// | [`TimesOnly`](super::TimesOnly) | – | ts, dur, phase |
/// | [`Elsewhere`] | – ; observers store places | – |
/// | [`Nothing`] | – ; events have no places | – |
pub trait Keep {
    /// The stored events of one chunk.
    type Chunk: KeepChunk + 'static;

    /// Returns the work that the session must do for this index.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// Starts an input, or the synthetic events of the current input.
    fn begin(&mut self, _input: &InputStart<'_>) {}

    /// Returns a function with which workers create chunks of the current input.
    fn starter(&self) -> Starter<Self::Chunk>;

    /// Returns whether chunks of the current input can be filled from entries, without a scan.
    fn takes_entries(&self) -> bool {
        false
    }

    /// Merges a chunk, in input order. Spills to disk beyond the lease.
    ///
    /// # Errors
    /// Returns [`Scratch`](crate::run::error::ErrorKind::Scratch) if a spill file cannot be
    /// written.
    fn merge(&mut self, kept: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error>;
}

/// Stores data of each kept event of one chunk, on the worker that scans the chunk.
pub trait KeepChunk: Send {
    /// Counts an event and returns its position.
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef;

    /// Stores the event that was located last.
    fn keep(&mut self, at: &EventRef);

    /// Stores an event from its entry. The scan calls this only if [`Keep::takes_entries`] returns
    /// `true`.
    fn keep_entry(&mut self, _entry: Entry) {}

    /// Finishes the chunk on the worker: sorts and shrinks its lists.
    fn seal(&mut self, envelope: &mut Envelope);

    /// Returns the places of the kept events in input order. Returns no places if the events are
    /// not stored in that order.
    fn places(&self) -> &[Place] {
        &[]
    }
}

/// Counts an event and returns its position without times.
#[inline(always)]
pub(super) fn locate_untimed(event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
    let number = envelope.stats.events;
    let offset = envelope.event(event);
    EventRef { number, offset, len: event.bytes.len(), times: None, is_metadata: false }
}

/// Counts events and stores nothing, not even long events or marks, so no [`Place`] can be read
/// back.
pub struct Nothing;

impl Keep for Nothing {
    type Chunk = Nothing;

    fn starter(&self) -> Starter<Nothing> {
        Box::new(|_| Nothing)
    }

    fn merge(&mut self, _: Nothing, _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl KeepChunk for Nothing {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        let number = envelope.stats.events;
        envelope.stats.events += 1;
        let offset = envelope.base + event.offset;
        if Place::is_long(event.bytes.len()) {
            envelope.measure(event);
        }
        EventRef { number, offset, len: event.bytes.len(), times: None, is_metadata: false }
    }

    #[inline(always)]
    fn keep(&mut self, _: &EventRef) {}

    fn seal(&mut self, _: &mut Envelope) {}
}

/// Stores only long events and marks, because observers store the places.
pub struct Elsewhere;

impl Keep for Elsewhere {
    type Chunk = Elsewhere;

    fn starter(&self) -> Starter<Elsewhere> {
        Box::new(|_| Elsewhere)
    }

    fn merge(&mut self, _: Elsewhere, _: &SealedChunk<'_>) -> Result<(), Error> {
        Ok(())
    }
}

impl KeepChunk for Elsewhere {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        locate_untimed(event, envelope)
    }

    #[inline(always)]
    fn keep(&mut self, _: &EventRef) {}

    fn seal(&mut self, _: &mut Envelope) {}
}

/// An optional index. `None` acts as [`Nothing`].
impl<K: Keep> Keep for Option<K> {
    type Chunk = Option<K::Chunk>;

    fn needs(&self) -> Needs {
        self.as_ref().map_or(Needs::NONE, K::needs)
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.iter_mut().for_each(|keep| keep.begin(input));
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        let start = self.as_ref().map(K::starter);
        Box::new(move |chunk| start.as_ref().map(|start| start(chunk)))
    }

    fn merge(&mut self, kept: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        match (self, kept) {
            (Some(keep), Some(kept)) => keep.merge(kept, chunk),
            _ => Ok(()),
        }
    }
}

impl<K: KeepChunk> KeepChunk for Option<K> {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        match self {
            Some(keep) => keep.locate(event, envelope),
            None => Nothing.locate(event, envelope),
        }
    }

    #[inline(always)]
    fn keep(&mut self, at: &EventRef) {
        if let Some(keep) = self {
            keep.keep(at);
        }
    }

    fn seal(&mut self, envelope: &mut Envelope) {
        self.iter_mut().for_each(|keep| keep.seal(envelope));
    }

    fn places(&self) -> &[Place] {
        self.as_ref().map_or(&[], K::places)
    }
}

/// Stores events in two ways. The first member locates events and sets the span.
impl<A: Keep, B: Keep> Keep for (A, B) {
    type Chunk = (A::Chunk, B::Chunk);

    fn needs(&self) -> Needs {
        self.0.needs().and(self.1.needs())
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.0.begin(input);
        self.1.begin(input);
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        let (first, second) = (self.0.starter(), self.1.starter());
        Box::new(move |chunk| (first(chunk), second(chunk)))
    }

    fn merge(&mut self, kept: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.merge(kept.0, chunk)?;
        self.1.merge(kept.1, chunk)
    }
}

impl<A: KeepChunk, B: KeepChunk> KeepChunk for (A, B) {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        self.0.locate(event, envelope)
    }

    #[inline(always)]
    fn keep(&mut self, at: &EventRef) {
        self.0.keep(at);
        self.1.keep(at);
    }

    fn seal(&mut self, envelope: &mut Envelope) {
        self.1.seal(envelope);
        self.0.seal(envelope);
    }

    /// Returns the places of the second member, because the first member may sort its entries.
    fn places(&self) -> &[Place] {
        self.1.places()
    }
}
