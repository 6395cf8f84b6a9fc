//! Second and third step of a merge: aligns clocks and renames ids.

use super::scanned::ScannedInputs;
use std::sync::Arc;
use tracemill_cpuprofile::StreamOrders;
use tracemill_join::clock::Clocks;
use tracemill_join::config::{ClockRules, Config, IdentityRules};
use tracemill_join::identity::parts::InputParts;
use tracemill_join::identity::{DecidedNames, LabelEvents, decide_names};
use tracemill_join::inputs::input_watch::decide_clocks;
use tracemill_join::report::IdentityReport;
use tracemill_join::report::warning::Warning;
use tracemill_trace::order::METADATA;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::store::long_events::LongEvents;

/// Inputs with decided clocks.
pub(super) struct Aligned {
    scanned: ScannedInputs,
    clocks: Arc<Clocks>,
    warnings: Vec<Warning>,
}

/// Inputs with decided clocks, recordings, pids, ids and labels.
pub(super) struct Renamed {
    pub(super) scanned: ScannedInputs,
    pub(super) clocks: Arc<Clocks>,
    pub(super) warnings: Vec<Warning>,
    /// The inputs that are parts of one split.
    pub(super) parts: InputParts,
    pub(super) names: DecidedNames,
    pub(super) streams: StreamOrders,
    labels: Option<LabelEvents>,
}

/// Label events, and the lengths of oversized events.
pub(super) struct AddedTexts {
    labels: Option<LabelEvents>,
    oversized: LongEvents,
}

impl ScannedInputs {
    /// Decides the clock offset of each input.
    ///
    /// # Errors
    /// Returns an error if a requested clock cannot be used.
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
    /// Decides recordings, pids and ids, and creates the events that show labels.
    ///
    /// # Errors
    /// Returns an error if the labels exceed the memory limit.
    pub(super) fn resolve_ids(
        self,
        inputs: &Inputs,
        rules: &IdentityRules,
    ) -> Result<Renamed, Error> {
        let Aligned { mut scanned, clocks, warnings } = self;
        let parts = InputParts::of(&scanned.documents, inputs);
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
    /// Takes the texts that the store of events borrows.
    pub(super) fn take_texts(&mut self) -> AddedTexts {
        let oversized = std::mem::take(&mut self.scanned.long_events);
        AddedTexts { labels: self.labels.take(), oversized }
    }

    /// Returns the store of all events, with the time shifts of their inputs.
    pub(super) fn store<'p>(&self, inputs: &'p Inputs, texts: &'p AddedTexts) -> Store<'p> {
        let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
        let labels = texts.labels.iter().map(|labels| (labels.base, &labels.payload));
        let store = Store::new(payloads.chain(labels)).with_long(&texts.oversized);
        store.with_shifts(self.clocks.shifts())
    }

    /// Reports recordings, new pids and ids. `metadata_dropped` counts equal metadata events that
    /// were dropped.
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
}
