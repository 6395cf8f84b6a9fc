//! Observes CPU profiles as events.

use crate::config::Config;
use tracemill_core::error::Error;
use tracemill_core::observe::{EventRef, Look, Needs, Observer, SealedChunk, Starter};
use tracemill_profile::{Room, Router, Streams};
use tracemill_tokenizer::Event;

/// Observes events of CPU profiles: decodes them on the workers, and routes them to their streams.
pub(crate) struct ProfileWatch(pub(super) Streams);

/// The profile events of one chunk.
#[derive(Default)]
pub(crate) struct ProfileLook(Router);

impl ProfileWatch {
    pub(super) fn new(config: &Config) -> Self {
        let share = config.shares().index;
        ProfileWatch(Streams::new(Room { decoded: share / 4, places: share / 8 }, config))
    }
}

impl Look for ProfileLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.0.note(event, at.offset);
        true
    }
}

impl Observer for ProfileWatch {
    type Chunk = ProfileLook;

    fn needs(&self) -> Needs {
        Needs { input_bytes: true, synthetic_bytes: true, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<ProfileLook> {
        Box::new(|_| ProfileLook::default())
    }

    fn merge(&mut self, found: ProfileLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.append(found.0, chunk.base)
    }
}
