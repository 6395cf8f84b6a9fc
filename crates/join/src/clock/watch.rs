//! Observes the events needed for aligning clocks.

use super::markers::{ClockSamples, ClockSignals};
use crate::config::ClockRules;
use std::sync::Arc;
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{
    EventRef, InputStart, Look, Observer, PerInput, SealedChunk, Starter,
};
use tracemill_trace::run::error::Error;
use tracemill_trace::time::shift::Shift;

/// Observes marker and clock-sync events. Keeps a bounded number of the earliest events per input.
/// The result does not depend on chunk boundaries. Requires an index that reads times.
pub struct ClockWatch {
    signals: Arc<ClockSignals>,
    rules: ClockRules,
    factor: Option<Arc<Shift>>,
    found: PerInput<ClockSamples>,
}

/// Observes marker and clock-sync events in one chunk.
pub struct ClockLook {
    factor: Option<Arc<Shift>>,
    samples: ClockSamples,
}

impl ClockWatch {
    /// Creates the observer, or returns `None` if no events are needed to align clocks.
    pub(crate) fn new(rules: &ClockRules, several: bool) -> Option<Self> {
        let (signals, rules) = (rules.signals(several)?, rules.clone());
        Some(ClockWatch { signals, rules, factor: None, found: PerInput::default() })
    }

    pub(crate) fn into_samples(self) -> impl Iterator<Item = (u64, ClockSamples)> {
        self.found.into_iter()
    }
}

impl Look for ClockLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if let Some(time) = at.time() {
            self.samples.note(event, time, self.factor.as_deref());
        }
        true
    }
}

impl Observer for ClockWatch {
    type Chunk = Box<ClockLook>;

    fn begin(&mut self, input: &InputStart<'_>) {
        self.factor = self.rules.factor_of(input.name);
    }

    fn starter(&self) -> Starter<Box<ClockLook>> {
        let (signals, factor) = (Arc::clone(&self.signals), self.factor.clone());
        Box::new(move |_| {
            let samples = ClockSamples::new(Arc::clone(&signals));
            Box::new(ClockLook { factor: factor.clone(), samples })
        })
    }

    fn merge(&mut self, found: Box<ClockLook>, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.found.at(chunk.base, |_| {}).append(found.samples);
        Ok(())
    }
}
