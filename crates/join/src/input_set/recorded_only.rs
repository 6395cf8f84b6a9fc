//! Hides synthetic events from an observer.

use tracemill_trace::observe::{InputStart, Needs, Observer, SealedChunk, Starter};
use tracemill_trace::run::error::Error;

/// Forwards recorded events to an observer and hides synthetic events. If a merge uses the same
/// scan, it expands synthetic events from `.cpuprofile` inputs.
pub struct RecordedOnly<O> {
    pub(super) observer: O,
    synthetic: bool,
}

impl<O> RecordedOnly<O> {
    pub(super) fn new(observer: O) -> Self {
        RecordedOnly { observer, synthetic: false }
    }
}

impl<O: Observer> Observer for RecordedOnly<O> {
    /// Findings of a chunk; `None` for a chunk of synthetic events.
    type Chunk = Option<O::Chunk>;

    fn needs(&self) -> Needs {
        self.observer.needs()
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.synthetic = input.synthetic;
        if !input.synthetic {
            self.observer.begin(input);
        }
    }

    fn starter(&self) -> Starter<Self::Chunk> {
        let start = (!self.synthetic).then(|| self.observer.starter());
        Box::new(move |chunk| start.as_ref().map(|start| start(chunk)))
    }

    fn merge(&mut self, found: Self::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        found.map_or(Ok(()), |found| self.observer.merge(found, chunk))
    }
}
