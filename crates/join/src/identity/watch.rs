//! Observes the processes and ids of several inputs.

use super::processes::{IdFilter, ProcessFindings, Processes};
use super::resolve::watched;
use crate::config::{Config, THREADS};
use std::sync::Arc;
use tracemill_tokenizer::Event;
use tracemill_trace::observe::{EventRef, Look, Observer, PerInput, SealedChunk, Starter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::{Holding, Quota};
use tracemill_trace::run::memory::Lease;

/// Observes processes with their names, threads and sampled times, ranges of ids, and the offsets of
/// pids and ids within their lease. Other memory grows with threads, not with events or ids.
/// Requires an index that reads times.
pub struct IdentityWatch {
    filter: Arc<IdFilter>,
    found: PerInput<Processes>,
    /// Heap bytes of all inputs except the last.
    earlier: u64,
    /// Heap bytes of the offsets in all inputs except the last.
    earlier_offsets: u64,
    holding: Holding,
}

impl IdentityWatch {
    /// Creates an observer whose memory counts against `quota`. Returns `None` if no id can be
    /// renamed or labeled. `offsets` is for the offsets of values, if events are renamed.
    pub(crate) fn new(
        config: &Config,
        several: bool,
        quota: &Arc<Quota>,
        offsets: Option<Lease>,
    ) -> Option<Self> {
        let filter = watched(several, &config.identity, offsets)?;
        let (found, holding) = (PerInput::default(), Holding::new(quota));
        Some(IdentityWatch { filter, found, earlier: 0, earlier_offsets: 0, holding })
    }

    pub(crate) fn into_processes(self) -> impl Iterator<Item = (u64, Processes)> {
        self.found.into_iter()
    }
}

impl Look for ProcessFindings {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.note(event, at.time());
        true
    }
}

impl Observer for IdentityWatch {
    type Chunk = Box<ProcessFindings>;

    fn starter(&self) -> Starter<Box<ProcessFindings>> {
        let filter = Arc::clone(&self.filter);
        Box::new(move |_| Box::new(ProcessFindings::new(Arc::clone(&filter))))
    }

    fn merge(&mut self, found: Box<ProcessFindings>, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let IdentityWatch { found: all, earlier, earlier_offsets, holding, .. } = self;
        let processes = all.at(chunk.base, |last| {
            last.finish();
            *earlier += last.heap();
            *earlier_offsets += last.offsets.heap();
        });
        processes.append(*found, *earlier_offsets);
        holding.resize(*earlier + processes.heap(), THREADS)
    }
}
