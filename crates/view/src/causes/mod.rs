//! Why events ran: initiators and stacks, from a second pass over the inputs. Trees of selections
//! and the tracks of pages come from the same pass.
//!
//! ```text
//!   first question ─> read: Trace::read, Causes::find ─> FoundCauses, kept
//!   drawn event ─ offset, or thread and start ─> EventId ─> reasons ─> drawn events
//! ```
//!
//! An event has the same offset in both passes. Calls of samples have no offset; they are found by
//! a walk over the calls of their thread.

mod answer;
mod matching;
mod pages;
mod trees;

use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use tracemill_analysis::{ReadRules, Trace, Wanted};
use tracemill_causes::Causes;
use tracemill_join::config::Config;
use tracemill_report::ReasonFinder;
use tracemill_trace::run::limits::{Cancel, Limits};
use tracemill_trace::run::memory::Share;
use tracemill_trace::{Error, Source};

/// Share of the memory for causes. They are kept while the page is shown.
const CAUSES: Share = Share::of(1, 4);

/// The causes of all events of a trace.
pub(crate) struct FoundCauses {
    trace: Trace,
    causes: Causes,
    reasons: ReasonFinder,
}

impl FoundCauses {
    /// Reads the inputs again. Cost: a pass over the inputs, and sorts of the events that may be
    /// connected.
    pub(crate) fn read(
        sources: &[Source],
        config: &Config,
        cancel: &Cancel,
    ) -> Result<Self, Error> {
        let mut limits = Limits {
            cancel: cancel.clone(),
            progress: Arc::default(),
            ..config.limits.within(CAUSES)
        };
        // drawing needs the other half of the threads at the same time
        limits.threads = (limits.threads / 2).max(1);
        let config = Config { limits, ..config.as_merged() };
        let wanted = Wanted { causes: true, report: true, ..Wanted::default() };
        let rules = ReadRules { wanted, ignore_refusals: true, ..ReadRules::default() };
        let trace = Trace::read(sources, rules, &config)?;
        let causes = Causes::find(&trace, false)?;
        Ok(FoundCauses { trace, causes, reasons: ReasonFinder::default() })
    }
}

/// The causes of a trace once they are read, or the reason why they cannot be shown.
#[derive(Default)]
pub(crate) struct CauseStore(OnceLock<Result<FoundCauses, String>>);

impl CauseStore {
    pub(crate) fn set(&self, found: Result<FoundCauses, String>) {
        let stored = self.0.set(found);
        debug_assert!(stored.is_ok(), "they are read once");
    }

    /// Returns an answer from the causes, or a JSON object that says that they are being read, or
    /// why they cannot be.
    pub(crate) fn answer(
        &self,
        answer: impl FnOnce(&FoundCauses) -> Result<Option<Value>, Error>,
    ) -> Result<Option<Value>, Error> {
        match self.0.get() {
            None => Ok(Some(json!({ "state": "reading" }))),
            Some(Err(why)) => Ok(Some(json!({ "state": "failed", "why": why }))),
            Some(Ok(found)) => answer(found),
        }
    }
}
