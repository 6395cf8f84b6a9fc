//! Writes the selected and the synthetic events of a slice.

use super::report::SliceReport;
use super::synthetic;
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::order::{Gather, Lists, Order, Sorter};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_write::annotations::{Annotations, OutputChanges};
use tracemill_write::emit::OrderedEvents;
use tracemill_write::keys::unite;
use tracemill_write::layout::{Layout, default_format};
use tracemill_write::reordering::Reordering;
use tracemill_write::trace_writer::{EventCount, TracePlan, TraceWriter, begin_report, warn};

pub(super) struct KeptEvents {
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) timed: Sorter,
    pub(super) lists: Lists,
    pub(super) delays: Reordering,
}

/// Synthetic events, documents and annotations to write with the kept events.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'w, 'p> {
    pub(super) synthesized: &'w synthetic::Synthesized,
    pub(super) documents: &'w [Document],
    pub(super) annotations: &'w Annotations<'p>,
    pub(super) inputs: &'w Inputs,
    pub(super) store: &'w Store<'p>,
    /// Whether the windows contain the whole trace.
    pub(super) whole: bool,
}

impl KeptEvents {
    /// Writes the kept and the synthetic events.
    pub(super) fn write(
        self,
        Surroundings { synthesized, documents, annotations, inputs, store, whole }: Surroundings<
            '_,
            '_,
        >,
        output: &OutputConfig,
        limits: &Limits,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let order = Order(store);
        let mut timed = Gather::onto(self.timed, order);
        synthesized.entries.iter().try_for_each(|entry| timed.push(entry))?;
        let count =
            EventCount { events: self.events + timed.events, bytes: self.bytes + timed.bytes };
        let (runs, _) = timed.finish()?.finish(store)?;
        let keys = unite(documents, store);
        let format = output.format_or(default_format(documents));
        let mut run = begin_report(inputs, &keys, format, limits);
        run.warnings.append(&mut report.written.run.warnings);
        warn(&keys, &self.delays, &mut run);
        report.written.delayed_chunks = self.delays.count();
        let events = OrderedEvents {
            order,
            layout: Layout::of(format),
            delays: self.delays,
            lists: &self.lists,
            timed: runs.timed(order),
            patchers: Vec::new(),
        };
        let mut plan = TracePlan { events, count, keys, report: run };
        let synthetic = Some(&synthesized.of);
        let changes = OutputChanges { partial: !whole, synthetic, ..OutputChanges::default() };
        plan.annotate(annotations, &changes, limits);
        report.written.run = TraceWriter::new(output, limits).write(plan, inputs)?;
        Ok(())
    }
}
