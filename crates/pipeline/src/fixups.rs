//! Changes of events for more than new names and times, as for a viewer: found event by event, by whoever writes them.

use tracemill_core::patch::Patches;
use tracemill_tokenizer::Tier;

/// What all workers share.
pub(crate) trait Fixups: Sync {
    /// What finds changes, for one worker.
    fn finder(&self, tier: Tier) -> Box<dyn FindFixups + '_>;
}

/// Finds what is changed in events; one for each worker.
pub(crate) trait FindFixups {
    /// Adds to the patches of an event, the `index`th of the output; a value that has a patch already gets its last one here.
    fn find(&mut self, event: &[u8], index: u64, patches: &mut Patches);

    /// Counts what was found: all of it is written.
    fn finish(&mut self);
}

/// A chunk of a CPU profile that is written as several events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CutChunk {
    /// Its offset among all inputs.
    pub(crate) offset: u64,
    /// Events beside the first one.
    pub(crate) more: u64,
}
