//! The scan of inputs: all of them, or what an index says of one.

use crate::devices::DeviceEvent;
use crate::facts::{Ends, Facts};
use crate::functions::meta_names;
use crate::sorting::Sorting;
use crate::space::Space;
use crate::trace::ReadRules;
use std::sync::Arc;
use tracemill_core::limits::Quota;
use tracemill_core::spill::SpillVec;
use tracemill_pipeline::{
    Config, Error, Excerpt, Scanned, ScannedToMerge, Source, Stretch, scan_excerpt, scan_inputs,
    scan_to_merge,
};

/// Reads one run of inputs.
pub(crate) struct Reading<'c> {
    pub(crate) facts: Facts,
    pub(crate) sorting: Sorting,
    /// What PyTorch's profiler tells of devices.
    pub(crate) devices: SpillVec<DeviceEvent>,
    pub(crate) space: Space,
    pub(crate) room: Quota,
    pub(crate) rules: ReadRules,
    pub(crate) config: &'c Config,
}

impl<'c> Reading<'c> {
    pub(crate) fn new(rules: ReadRules, config: &'c Config) -> Self {
        let space = Space::new(config, config.shares().index, config.threads);
        let room = Quota::new(config, config.memory / 4);
        let mut facts = Facts::new(rules);
        facts.names = meta_names();
        let sorting = Sorting::new(&space, (rules.as_devtools, rules.only_calls));
        let devices = space.spool(8);
        Reading { facts, sorting, devices, space, room, rules, config }
    }

    /// What makes findings of a worker, and what takes them.
    fn parts(
        &mut self,
    ) -> (
        impl Fn() -> Facts + Send + Sync + use<>,
        impl FnMut(Facts, Stretch) -> Result<(), Error> + '_,
    ) {
        let rules = self.rules;
        let Reading { facts, sorting, devices, room, .. } = self;
        let take = |part: Facts, stretch| {
            facts.append(part, stretch, (&mut *sorting, &mut *devices))?;
            room.check(facts.heap(), "names, threads and details of events")
        };
        (move || Facts::new(rules), take)
    }

    /// All inputs.
    pub(crate) fn all(&mut self, sources: &[Source]) -> Result<Scanned, Error> {
        let config = self.config;
        let (new, take) = self.parts();
        scan_inputs(sources, config, new, take)
    }

    /// All inputs, for a merge too.
    pub(crate) fn all_to_merge(&mut self, sources: &[Source]) -> Result<ScannedToMerge, Error> {
        let config = self.config;
        let (new, take) = self.parts();
        scan_to_merge(sources, config, new, take)
    }

    /// A part of an input; `None` if that is other than an index says.
    pub(crate) fn part(
        &mut self,
        source: &Source,
        excerpt: &Excerpt,
    ) -> Result<Option<Scanned>, Error> {
        self.facts.expect(&excerpt.threads);
        let config = self.config;
        let ends = Arc::new(Ends { lasting: excerpt.ends.clone(), seen: excerpt.seen.clone() });
        let (new, take) = self.parts();
        let scanned = scan_excerpt(source, excerpt, config, move || new().with_ends(&ends), take)?;
        Ok(scanned.filter(|_| self.facts.lanes.len() == excerpt.threads.len()))
    }
}
