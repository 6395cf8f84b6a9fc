//! Changes events while they are written.

pub mod event_rewriter;

use tracemill_join::identity::{Renamer, Rewrite};
use tracemill_tokenizer::{Tier, Validator, mend};
use tracemill_trace::json::patch::Patches;

/// A change to events, shared by all workers.
pub trait Patcher: Sync {
    /// Creates the patcher of one worker.
    fn start(&self, tier: Tier) -> Box<dyn EventPatcher + '_>;
}

/// The origin and the destination of an event.
#[derive(Clone, Copy, Debug)]
pub struct WrittenAt {
    /// Offset in the address space of the inputs.
    pub offset: u64,
    /// Index in the output.
    pub index: u64,
}

/// Finds the changes to events on one worker.
pub trait EventPatcher {
    /// Adds the patches of an event. `patches` has those of earlier patchers; the last patch of a
    /// value wins.
    fn patch(&mut self, event: &[u8], at: WrittenAt, patches: &mut Patches);

    /// Finishes the worker, after all of its changes are written.
    fn finish(&mut self) {}
}

/// Renames ids and moves times to one clock.
impl Patcher for Rewrite {
    fn start(&self, tier: Tier) -> Box<dyn EventPatcher + '_> {
        Box::new(Renamer::new(self, tier))
    }
}

impl EventPatcher for Renamer<'_> {
    fn patch(&mut self, event: &[u8], at: WrittenAt, patches: &mut Patches) {
        self.find(event, at.offset, patches);
    }
}

/// Repairs events that are not JSON. Must be the last patcher, because it reads the result of all
/// other patchers.
pub(crate) struct Repairs;

impl Patcher for Repairs {
    fn start(&self, tier: Tier) -> Box<dyn EventPatcher + '_> {
        Box::new(Repair { validator: Validator::new(tier), event: Vec::new() })
    }
}

struct Repair {
    validator: Validator,
    event: Vec<u8>,
}

impl EventPatcher for Repair {
    fn patch(&mut self, event: &[u8], _: WrittenAt, patches: &mut Patches) {
        if self.validator.check(event).is_ok() {
            return;
        }
        patches.put_in_order(event);
        self.event.clear();
        patches.append_to(event, &mut self.event);
        // events with several possible meanings were dropped while reading
        if let Ok(Some(mended)) = mend(&self.event) {
            patches.clear();
            patches.replace(event, event, &mended);
        }
    }
}

/// A `ProfileChunk` event that is written as several events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutChunk {
    /// Offset in the address space of the inputs.
    pub offset: u64,
    /// Number of events in addition to the first event.
    pub more: u64,
}
