//! Last step of a merge: prepares the plan of the output.

use crate::for_viewer::{Changes, ViewerFacts, ViewerFixups};
use std::sync::Arc;
use tracemill_join::clock::Clocks;
use tracemill_join::config::Config;
use tracemill_join::identity::Rewrite;
use tracemill_join::report::MergeReport;
use tracemill_trace::order::{EntryRuns, Lists, Order};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_write::annotations::{Annotations, OutputChanges};
use tracemill_write::emit::OrderedEvents;
use tracemill_write::keys::MergedKeys;
use tracemill_write::layout::Layout;
use tracemill_write::patch::Patcher;
use tracemill_write::reordering::Reordering;
use tracemill_write::trace_writer::EventCount;

/// A merge with all decisions made, which the plan of the output borrows.
pub(super) struct Settled {
    pub(super) runs: EntryRuns,
    /// Metadata events and events without a time.
    pub(super) lists: Lists,
    /// The ids and times that change, if any.
    pub(super) rewrite: Option<Rewrite>,
    pub(super) clocks: Arc<Clocks>,
    pub(super) viewer: Option<ViewerFacts>,
    /// The changes made for the viewer so far.
    pub(super) changes: Changes,
    pub(super) count: EventCount,
    pub(super) layout: Layout,
    /// The time range in nanoseconds that DevTools shows when it opens the output; `None` for the
    /// whole trace.
    pub(super) window: Option<(i64, i64)>,
}

/// The parts of an output's plan that the plan owns.
pub(super) struct Contents<'p> {
    pub(super) delays: Reordering,
    pub(super) keys: MergedKeys<'p>,
    pub(super) annotations: Annotations<'p>,
    /// The report. The writer completes it.
    pub(super) report: MergeReport,
}

impl Settled {
    /// Returns the events of the output in order, with their new ids and times.
    pub(super) fn events<'r, 's, 'p>(
        &'r self,
        store: &'s Store<'p>,
        delays: Reordering,
    ) -> OrderedEvents<'r, 's, 'p> {
        let order = Order(store);
        let rewrite = self.rewrite.as_ref().map(|rewrite| rewrite as &dyn Patcher);
        OrderedEvents {
            order,
            layout: self.layout,
            delays,
            lists: &self.lists,
            timed: self.runs.timed(order),
            patchers: rewrite.into_iter().collect(),
        }
    }

    /// Finds the changes to events for the viewer. Returns `None` if the merge is not for a viewer.
    ///
    /// # Errors
    /// Returns an error if the changes cannot be written, or open slices exceed the memory limit.
    pub(super) fn fix_for_viewer<'r>(
        &'r self,
        events: &mut OrderedEvents<'r, '_, '_>,
        config: &Config,
    ) -> Result<Option<ViewerFixups>, Error> {
        let Some(known) = &self.viewer else { return Ok(None) };
        let rewrite = self.rewrite.as_ref();
        ViewerFixups::new(known, events, &self.runs, rewrite, self.changes, config).map(Some)
    }

    /// Returns the differences between output and inputs that affect annotations.
    pub(super) fn changes(&self, fixups: Option<&ViewerFixups>) -> OutputChanges<'_> {
        OutputChanges {
            partial: self.viewer.is_some(),
            synthetic: None,
            rewrite: self.rewrite.as_ref(),
            clocks: Some(&self.clocks),
            before: fixups.map_or(0, ViewerFixups::before),
            cut_chunks: self.viewer.as_ref().map_or(&[], |known| &known.cut_chunks),
            window: self.window,
        }
    }

    /// Completes the report after the output is written.
    pub(super) fn complete(
        &self,
        report: &mut MergeReport,
        fixups: Option<&ViewerFixups>,
        inputs: Inputs,
    ) {
        report.run.warnings.extend(self.clocks.stuck());
        if let Some(fixups) = fixups {
            fixups.report(report, inputs.span());
        }
        report.run.inputs = inputs.reports;
    }
}
