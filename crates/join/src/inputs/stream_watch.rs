//! Observes the CPU profile streams of each input.

use tracemill_cpuprofile::{Role, StreamOrders};
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{EventRef, Look, Observer, PerInput, SealedChunk, Starter};
use tracemill_trace::run::error::Error;

/// Observes when each stream of `ProfileChunk` events begins, and whether time order would tear it.
/// Memory grows with streams. Needs an index that reads times.
#[derive(Default)]
pub struct StreamWatch(PerInput<StreamOrders>);

/// Looks for these events in one chunk.
#[derive(Default)]
pub struct StreamLook(StreamOrders);

impl StreamWatch {
    /// Returns the streams of each input that has chunks, by its base.
    pub(crate) fn into_streams(self) -> impl Iterator<Item = (u64, StreamOrders)> {
        self.0.into_iter()
    }
}

impl Look for StreamLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        // nearly no event is one of a profile, and the entry of the others is not computed
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
