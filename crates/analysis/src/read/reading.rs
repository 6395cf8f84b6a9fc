//! The scan of an analysis: one pass over all inputs.

use crate::profile::functions::meta_names;
use crate::read::facts::Facts;
use crate::read::spools::EventSpools;
use crate::trace::ReadRules;
use crate::value::record::ChunkPosition;
use crate::value::space::Space;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputSet;
use tracemill_pipeline::{MergeIndex, scan_to_merge};
use tracemill_trace::observe::{Needs, Observer, SealedChunk, Starter};
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::{Error, Source};

/// Reads the facts of an analysis in the scan. Passes records to the sorter, and keeps tables of
/// names, threads and details in memory.
pub(crate) struct Reading<'c> {
    pub(crate) facts: Facts,
    pub(crate) spools: EventSpools,
    pub(crate) space: Space,
    pub(crate) quota: Quota,
    pub(crate) rules: ReadRules,
    pub(crate) config: &'c Config,
    events: u64,
}

impl<'c> Reading<'c> {
    pub(crate) fn new(rules: ReadRules, config: &'c Config) -> Self {
        let space = Space::new(
            config.limits.lease("records of an analysis", Share::of_index(1, 1)),
            config.limits.threads,
        );
        let quota = config.limits.quota("names and details", Share::of(1, 4));
        let mut facts = Facts::new(rules);
        facts.names = meta_names();
        let spools = EventSpools::new(&space, rules);
        Reading { facts, spools, space, quota, rules, config, events: 0 }
    }

    pub(crate) fn read(&mut self, sources: &[Source]) -> Result<InputSet, Error> {
        InputSet::read(sources, self.config, self)
    }

    /// Reads all inputs, and indexes their contents for a merge.
    pub(crate) fn read_to_merge(
        &mut self,
        sources: &[Source],
    ) -> Result<(InputSet, MergeIndex), Error> {
        scan_to_merge(sources, self.config, self)
    }
}

impl Observer for Reading<'_> {
    type Chunk = Facts;

    fn needs(&self) -> Needs {
        Needs::NONE
    }

    fn starter(&self) -> Starter<Facts> {
        let rules = self.rules;
        Box::new(move |_| Facts::new(rules))
    }

    fn merge(&mut self, found: Facts, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        // An input that is left out has no report, and its chunks have no events.
        if chunk.stats.events == 0 {
            return Ok(());
        }
        let position = ChunkPosition { input: chunk.input, first: self.events };
        self.events += chunk.stats.events;
        self.facts.append(found, position, &mut self.spools)?;
        self.quota.check(self.facts.heap(), "names, threads and details of events")
    }
}
