//! The second and third step of a merge: one time line, and who is who.

use super::ordered::Ordered;
use super::scanned::ScannedInputs;
use crate::for_viewer::Changes;
use std::sync::Arc;
use tracemill_cpuprofile::StreamOrders;
use tracemill_join::clock::{Clocks, shift_runs};
use tracemill_join::config::{ClockRules, Config, IdentityRules};
use tracemill_join::identity::parts::Parts;
use tracemill_join::identity::{DecidedNames, Labels, decide_names};
use tracemill_join::inputs::input_watch::decide_clocks;
use tracemill_join::report::IdentityReport;
use tracemill_join::report::warning::Warning;
use tracemill_trace::order::{METADATA, Order};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::store::long_events::LongEvents;

/// Inputs whose clocks are decided. Costs a look at the samples that the scan took of each input.
pub(super) struct Aligned {
    scanned: ScannedInputs,
    clocks: Arc<Clocks>,
    warnings: Vec<Warning>,
}

/// Inputs whose names are decided too: recordings, new pids and ids, labels.
pub(super) struct Renamed {
    pub(super) scanned: ScannedInputs,
    pub(super) clocks: Arc<Clocks>,
    /// Warnings about clocks that could not be aligned.
    pub(super) warnings: Vec<Warning>,
    /// The inputs that are parts of one split.
    pub(super) parts: Parts,
    pub(super) names: DecidedNames,
    pub(super) streams: StreamOrders,
    labels: Option<Labels>,
}

/// Texts beside those of the inputs: labels; and the lengths of oversized events.
pub(super) struct Texts {
    labels: Option<Labels>,
    oversized: LongEvents,
}

impl ScannedInputs {
    /// Decides by how much the times of each input move.
    ///
    /// # Errors
    /// Returns an error if a stated clock cannot be kept.
    pub(super) fn align_clocks(
        mut self,
        inputs: &Inputs,
        rules: &ClockRules,
    ) -> Result<Aligned, Error> {
        let store = inputs.store();
        let (clocks, warnings) =
            decide_clocks(&mut self.facts, &self.documents, inputs, &store, rules)?;
        Ok(Aligned { scanned: self, clocks: Arc::new(clocks), warnings })
    }
}

impl Aligned {
    /// Decides which inputs are one recording and which pids and ids change, and makes the events that show labels.
    ///
    /// # Errors
    /// Returns an error if there is no memory for the labels.
    pub(super) fn resolve_ids(
        self,
        inputs: &Inputs,
        rules: &IdentityRules,
    ) -> Result<Renamed, Error> {
        let Aligned { mut scanned, clocks, warnings } = self;
        let parts = Parts::of(&scanned.documents, inputs);
        let facts = std::mem::take(&mut scanned.facts);
        let (mut names, streams) = decide_names(facts, &parts, inputs, rules, &clocks);
        let end = inputs.payloads.iter().map(|held| held.base + held.payload.len()).max();
        let labels = names.labels(inputs, rules, end.unwrap_or(0))?;
        if let Some(labels) = &labels {
            scanned.long_events.append(&labels.long)?;
            scanned.count.events += labels.places.len() as u64;
            scanned.count.bytes += labels.bytes;
            scanned.entries.list(METADATA, &labels.places)?;
        }
        Ok(Renamed { scanned, clocks, warnings, parts, names, streams, labels })
    }
}

impl Renamed {
    /// Takes the texts that a store borrows.
    pub(super) fn take_texts(&mut self) -> Texts {
        let oversized = std::mem::take(&mut self.scanned.long_events);
        Texts { labels: self.labels.take(), oversized }
    }

    /// Returns the bytes of all events, which know how their times move.
    pub(super) fn store<'p>(&self, inputs: &'p Inputs, texts: &'p Texts) -> Store<'p> {
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let labels = texts.labels.iter().map(|labels| (labels.base, &labels.payload));
        let store = Store::new(payloads.chain(labels)).with_long(&texts.oversized);
        store.with_shifts(self.clocks.shifts())
    }

    /// Describes the decisions; `metadata_dropped` events are left out since others are equal.
    pub(super) fn identity_report(
        &self,
        metadata_dropped: u64,
        inputs: &Inputs,
        config: &Config,
    ) -> IdentityReport {
        IdentityReport {
            inputs: self.names.describe(inputs, &config.identity),
            metadata_dropped,
            args_keys_absent: self.names.args_keys_absent(&config.identity),
        }
    }

    /// Ends the index, with all times as the output has them, and decides which repeated events are left out.
    ///
    /// # Errors
    /// Returns an error if a run cannot be written, or if the events of one time exceed the memory.
    pub(super) fn order(mut self, store: &Store<'_>, config: &Config) -> Result<Ordered, Error> {
        let scanned = &mut self.scanned;
        let (mut runs, lists) = scanned.entries.finish(store)?;
        let found = scanned.viewer.take();
        let mut viewer = found.map(|found| found.finish(store)).transpose()?;
        let special = |time| viewer.iter().flat_map(move |known| known.at(time));
        // equal events have equal times in the inputs
        let mut left_out =
            scanned.repeated.decide(&self.parts, store, &config.limits, |time, each| {
                runs.at(time).chain(special(time)).for_each(each);
            })?;
        if self.clocks.change() {
            shift_runs(&mut runs, &self.clocks, store, &config.limits.tmp_dir)?;
            if let Some(known) = &mut viewer {
                known.shift(&self.clocks, store, &config.limits)?;
            }
        }
        if config.identity.dedup {
            let special = viewer.iter().map(|known| &known.special);
            let all = Vec::from_iter([&runs].into_iter().chain(special));
            left_out.add_equal(&all, &self.names.rewrite, Order(store), &config.limits)?;
        }
        let (copies, changes) = (left_out.events, Changes::default());
        Ok(Ordered { renamed: self, runs, lists, viewer, left_out, copies, changes, added: None })
    }
}
