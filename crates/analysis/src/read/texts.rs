//! Reads single events again, by their offsets in a scan before.

use tracemill_join::config::Config;
use tracemill_join::input_set::{EventStacks, InputSet};
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::{Error, Source};

/// An event as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventText {
    /// The text; empty if there is no event.
    pub text: Vec<u8>,
    /// The stacks that `sf`, `stack`, `esf` and `estack` name.
    pub stacks: EventStacks,
}

/// An event at one of the offsets.
struct FoundEvent {
    offset: u64,
    /// Number among all events; within its chunk until the chunk is merged.
    number: u64,
    text: Vec<u8>,
}

/// Finds events at offsets.
struct AtOffsets<'o> {
    /// In order.
    offsets: Vec<u64>,
    /// Number of events of the chunks before.
    events: u64,
    found: &'o mut Vec<FoundEvent>,
}

/// The events found in a chunk.
struct InChunk {
    offsets: Vec<u64>,
    found: Vec<FoundEvent>,
}

impl Look for InChunk {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        let EventRef { offset, number, .. } = *at;
        if self.offsets.binary_search(&offset).is_ok() {
            self.found.push(FoundEvent { offset, number, text: event.bytes.to_vec() });
        }
        true
    }
}

impl Observer for AtOffsets<'_> {
    type Chunk = InChunk;

    fn starter(&self) -> Starter<InChunk> {
        let offsets = self.offsets.clone();
        Box::new(move |_| InChunk { offsets: offsets.clone(), found: Vec::new() })
    }

    fn merge(&mut self, chunk: InChunk, sealed: &SealedChunk<'_>) -> Result<(), Error> {
        let before = self.events;
        let of_all = |event: FoundEvent| FoundEvent { number: event.number + before, ..event };
        self.found.extend(chunk.found.into_iter().map(of_all));
        self.events += sealed.stats.events;
        Ok(())
    }
}

/// Returns the event at each of `offsets`, which
/// [`CauseEvent::offset`](crate::events::causes::CauseEvent) names; the default for an offset without
/// an event. Cost: a scan of all inputs, and [`InputSet::stacks_of`].
///
/// # Errors
/// Returns the errors of [`InputSet::read`] and [`InputSet::stacks_of`].
pub fn event_texts(
    sources: &[Source],
    offsets: &[u64],
    config: &Config,
) -> Result<Vec<EventText>, Error> {
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    let mut found = Vec::new();
    let observer = AtOffsets { offsets: sorted, events: 0, found: &mut found };
    let inputs = InputSet::read(sources, config, observer)?;
    let stacks = inputs.stacks_of(found.iter().map(|event| (event.number, &*event.text)))?;
    let text = |offset: &u64| {
        let mut all = found.iter().zip(&stacks);
        let (event, stacks) = all.find(|(event, _)| event.offset == *offset)?;
        Some(EventText { text: event.text.clone(), stacks: stacks.clone() })
    };
    Ok(offsets.iter().map(|offset| text(offset).unwrap_or_default()).collect())
}
