//! What a merge decides before it writes: names, clocks, keys beside the events. Nothing is put in order, and nothing written.

use super::{Index, KnownInput, add_own_keys, begin_run, warn};
use crate::config::Config;
use crate::copies::Copies;
use crate::identity::may_be_several;
use crate::inputs::read_all;
use crate::keys::unite_renamed;
use crate::reordering::Reordering;
use crate::report::{IdentityReport, MergeReport};
use std::path::PathBuf;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::read::Inputs;
use tracemill_core::source::Source;
use tracemill_core::store::Store;
use tracemill_core::target::Format;

/// What a merge of `sources` would do, see [`crate::plan_merge`]; files that are `known` are not read.
pub(crate) fn plan_known(
    sources: &[Source],
    known: HashMap<PathBuf, KnownInput>,
    format: Option<Format>,
    config: &Config,
) -> Result<MergeReport, Error> {
    let usual = Index::new(config, may_be_several(sources));
    // what is made for a viewer has no say
    let mut index = Index { viewer: None, is_plan: true, known, ..usual };
    let inputs = read_all(sources, config, &mut index)?;
    index.plan(inputs, format, config)
}

impl Index {
    /// What stands in the report of a merge before the first event is put in its place.
    fn plan(
        mut self,
        inputs: Inputs,
        format: Option<Format>,
        config: &Config,
    ) -> Result<MergeReport, Error> {
        let (clocks, warnings) = self.decide_offsets(&inputs, config)?;
        let (mut decided, ..) = self.decide_names(&inputs, &clocks, config)?;
        let store = Store::new(inputs.payloads.iter().map(|held| (held.base, &*held.payload)));
        let mut stay = Copies::take_lists(&mut self.documents, &store, config)?.all_stay();
        let mut united = unite_renamed(&self.documents, &store, &mut decided.rewrite);
        let frames = stay.rejoined.as_mut().and_then(|rejoined| rejoined.take_frames());
        frames.into_iter().for_each(|own| united.set_stack_frames(own));
        let identity = IdentityReport {
            inputs: decided.describe(&inputs, &config.identity),
            metadata_dropped: 0,
            args_keys_absent: decided.args_keys_absent(&config.identity),
        };
        let said = config.identity.provenance.then_some((&*identity.inputs, &*clocks.inputs));
        let own = add_own_keys(&mut united, stay.still_said, said);
        let events = config.viewer.viewer.map(|_| self.events);
        let format = self.format(format, own, events);
        let mut report = MergeReport {
            run: begin_run(&inputs, (&united, format), warnings, config),
            identity,
            clocks: clocks.inputs.clone(),
            ..MergeReport::new(config)
        };
        warn(&united, &Reordering::default(), &report.run.format, &mut report.run.warnings);
        self.warn(&inputs, config, &mut report.run.warnings);
        inputs.check_unchanged()?;
        report.run.inputs = inputs.reports;
        Ok(report)
    }
}
