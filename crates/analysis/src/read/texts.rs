//! Reads single events again, by their offsets in a scan before.

use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::{Error, Source};

/// Finds events at offsets.
struct AtOffsets<'o> {
    /// In order.
    offsets: Vec<u64>,
    found: &'o mut Vec<(u64, Vec<u8>)>,
}

/// The events found in a chunk.
struct InChunk {
    offsets: Vec<u64>,
    found: Vec<(u64, Vec<u8>)>,
}

impl Look for InChunk {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if self.offsets.binary_search(&at.offset).is_ok() {
            self.found.push((at.offset, event.bytes.to_vec()));
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

    fn merge(&mut self, chunk: InChunk, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.found.extend(chunk.found);
        Ok(())
    }
}

/// Returns the text of each event at one of `offsets`, which
/// [`CauseEvent::offset`](crate::events::causes::CauseEvent) names; empty for an offset without an
/// event. Cost: a scan of all inputs.
///
/// # Errors
/// Returns the errors of [`InputSet::read`].
pub fn event_texts(
    sources: &[Source],
    offsets: &[u64],
    config: &Config,
) -> Result<Vec<Vec<u8>>, Error> {
    let mut sorted = offsets.to_vec();
    sorted.sort_unstable();
    let mut found = Vec::new();
    InputSet::read(sources, config, AtOffsets { offsets: sorted, found: &mut found })?;
    let text = |offset: &u64| {
        let at = found.iter().find(|(other, _)| other == offset);
        at.map(|(_, text)| text.clone()).unwrap_or_default()
    };
    Ok(offsets.iter().map(text).collect())
}
