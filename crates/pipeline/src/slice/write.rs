//! From what was chosen and made to the output.

use super::report::SliceReport;
use super::synthetic;
use crate::merge::warn;
use tracemill_join::config::Config;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::order::{Gather, Lists, Order, Sorter};
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_write::annotations::{Annotations, Written};
use tracemill_write::emit::Emit;
use tracemill_write::keys::unite;
use tracemill_write::layout::{Layout, default_format};
use tracemill_write::reordering::Reordering;

/// Events of the inputs that are kept.
pub(super) struct KeptEvents {
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) timed: Sorter,
    pub(super) lists: Lists,
    pub(super) delays: Reordering,
}

/// What is written beside the events chosen, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'w, 'p> {
    pub(super) made: &'w synthetic::Synthesized,
    pub(super) documents: &'w [Document],
    pub(super) annotations: &'w Annotations<'p>,
    pub(super) inputs: &'w Inputs,
    pub(super) store: &'w Store<'p>,
    /// See [`super::judge::Judge::whole`].
    pub(super) whole: bool,
}

impl KeptEvents {
    /// Writes what was chosen and what was made.
    pub(super) fn write(
        self,
        Surroundings { made, documents, annotations, inputs, store, whole }: Surroundings<'_, '_>,
        output: &OutputConfig,
        config: &Config,
        report: &mut SliceReport,
    ) -> Result<(), Error> {
        let order = Order(store);
        let mut timed = Gather::onto(self.timed, order);
        made.entries.iter().try_for_each(|entry| timed.push(entry))?;
        let (events, bytes) = (self.events + timed.events, self.bytes + timed.bytes);
        let (runs, _) = timed.finish()?.finish(store)?;
        let mut united = unite(documents, store);
        let written = &mut report.written;
        written.run.events = events;
        written.run.format = output.format_or(default_format(documents));
        written.delayed_chunks = self.delays.count();
        let is_array = written.run.format == Format::Array;
        written.run.keys_lost = if is_array { united.keys.len() as u64 } else { 0 };
        warn(&united, &self.delays, &written.run.format, &mut written.run.warnings);
        let (delays, layout) = (self.delays, Layout::of(written.run.format));
        let emit = Emit {
            order,
            layout,
            delays,
            lists: &self.lists,
            timed: runs.timed(order),
            patchers: Vec::new(),
        };
        let output_of = Written { whole, made: Some(&made.of), ..Written::whole(&emit, config) };
        written.run.annotations = annotations.put(&mut united, &output_of).report();
        written.run.warnings.extend(written.run.annotations.warning());
        let size = (events, bytes);
        let check = || inputs.check_unchanged();
        written.run.bytes = emit.write_all(
            &united,
            size,
            (output, None),
            config,
            &mut written.run.warnings,
            check,
        )?;
        Ok(())
    }
}
