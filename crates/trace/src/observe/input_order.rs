//! Stores the places of events in input order.

use super::chunk::SealedChunk;
use super::keep::{Keep, KeepChunk, locate_untimed};
use super::look::EventRef;
use crate::event::envelope::Envelope;
use crate::read::{Needs, Starter};
use crate::run::error::Error;
use crate::run::memory::Lease;
use crate::spill::SpillVec;
use crate::store::place::Place;
use tracemill_tokenizer::Event;

/// Stores the places of events in input order: 8 bytes per event.
pub struct InputOrder {
    places: SpillVec<Place>,
    /// Expected bytes per event, for reserving memory; 0 reserves none.
    event_len_hint: usize,
}

impl InputOrder {
    /// Creates an empty list that spills to disk beyond its lease.
    ///
    /// `event_len_hint` is the expected number of bytes per event if nearly all events are kept;
    /// chunks then reserve memory. Otherwise it is 0.
    pub fn new(lease: Lease, event_len_hint: usize) -> Self {
        InputOrder { places: SpillVec::new(lease), event_len_hint }
    }

    /// Returns the places of the kept events, in input order.
    pub fn into_places(self) -> SpillVec<Place> {
        self.places
    }
}

/// Places of the kept events of one chunk.
pub struct InputOrderChunk(Vec<Place>);

impl Keep for InputOrder {
    type Chunk = InputOrderChunk;

    fn needs(&self) -> Needs {
        Needs::WRITES
    }

    fn starter(&self) -> Starter<InputOrderChunk> {
        let event_len = self.event_len_hint;
        Box::new(move |chunk| {
            let events = chunk.len_hint.checked_div(event_len).unwrap_or(0);
            InputOrderChunk(Vec::with_capacity(events))
        })
    }

    fn merge(&mut self, kept: InputOrderChunk, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.places.extend(&kept.0)
    }
}

impl KeepChunk for InputOrderChunk {
    #[inline(always)]
    fn locate(&mut self, event: &Event<'_>, envelope: &mut Envelope) -> EventRef {
        locate_untimed(event, envelope)
    }

    #[inline(always)]
    fn keep(&mut self, at: &EventRef) {
        self.0.push(Place::new(at.offset, at.len, 0));
    }

    fn seal(&mut self, _: &mut Envelope) {
        self.0.shrink_to_fit();
    }

    fn places(&self) -> &[Place] {
        &self.0
    }
}
