//! Observes the CPU profile streams of each input.

use tracemill_cpuprofile::{Role, StreamOrders};
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{EventRef, Look, Observer, PerInput, SealedChunk, Starter};
use tracemill_trace::run::error::Error;

/// Observes when each stream of `ProfileChunk` events begins, and whether sorting by time would
/// reorder its chunks. Memory grows with the number of streams. Requires an index that reads times.
#[derive(Default)]
pub struct StreamWatch(PerInput<StreamOrders>);

/// Observes the profile events of one chunk of input.
#[derive(Default)]
pub struct StreamLook(StreamOrders);

impl StreamWatch {
    pub(crate) fn into_streams(self) -> impl Iterator<Item = (u64, StreamOrders)> {
        self.0.into_iter()
    }
}

impl Look for StreamLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        // almost no event belongs to a profile; skip computing entries for all other events
        if !at.is_metadata && Role::of(event).is_some() {
            self.0.note(event, at.entry());
        }
        true
    }
}

impl Observer for StreamWatch {
    type Chunk = StreamLook;

    fn starter(&self) -> Starter<StreamLook> {
        Box::new(|_| StreamLook::default())
    }

    fn ignores_plain_events(&self) -> bool {
        true
    }

    fn merge(&mut self, found: StreamLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.at(chunk.base, |_| {}).append(found.0);
        Ok(())
    }
}
