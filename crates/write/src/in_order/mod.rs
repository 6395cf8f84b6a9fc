//! Writes outputs of commands that keep the order of their inputs: merges keys, keeps or drops
//! annotations, writes events, reports.

pub mod overlapped_copy;

use crate::annotations::{Annotations, OutputChanges, unfollowed};
use crate::emit::OrderedEvents;
use crate::emit::streamed_output::{StreamedOutput, format_in_order, take_late_keys};
use crate::keys::merged_keys::MergedKeys;
use crate::keys::{unite, unite_without_annotations};
use crate::layout::Layout;
use crate::patch::Patcher;
use crate::reordering::Reordering;
use crate::trace_writer::{EventCount, TracePlan, TraceWriter, begin_report, warn};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{AnnotationReport, RunReport};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::source::Source;
use tracemill_trace::order::{Buckets, Lists, Order, TimedEntries};
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;

/// The inputs, documents and bytes that a scan has read.
pub struct ReadInputs<'w, 'p> {
    /// The inputs.
    pub inputs: &'w Inputs,
    /// The documents of the inputs.
    pub documents: &'w mut [Document],
    /// The bytes of the inputs.
    pub store: &'w Store<'p>,
}

/// An output with known top-level keys and annotations, before its events are chosen.
pub struct InOrderWriter<'w, 'p> {
    inputs: &'w Inputs,
    store: &'w Store<'p>,
    output: &'w OutputConfig,
    limits: &'w Limits,
    /// The format of the output.
    pub format: Format,
    keys: MergedKeys<'p>,
    annotations: Option<Annotations<'p>>,
    /// Report of the annotations, if they are dropped.
    dropped: AnnotationReport,
    /// Number of keys found after the output was started, and a warning about these keys.
    late: (u64, Option<Warning>),
}

/// The events to write, in input order, and their layout.
pub struct ChosenEvents<'a> {
    /// The layout.
    pub layout: Layout,
    /// The events, in order.
    pub lists: &'a Lists,
    /// The number of the events, and their bytes.
    pub count: EventCount,
    /// A warning about the choice of events.
    pub warning: Option<Warning>,
    /// Changes to the events.
    pub patchers: Vec<&'a dyn Patcher>,
}

impl<'w, 'p> InOrderWriter<'w, 'p> {
    /// Merges the keys and reads the annotations of the inputs. Annotations are kept only if all
    /// events will be written (`is_whole`).
    ///
    /// # Errors
    /// Returns [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if the annotations
    /// exceed the memory limit.
    pub fn new(
        sources: &[Source],
        read: ReadInputs<'w, 'p>,
        is_whole: bool,
        output: &'w OutputConfig,
        limits: &'w Limits,
    ) -> Result<Self, Error> {
        let ReadInputs { inputs, documents, store } = read;
        let is_one = sources.len() == 1;
        let format = output.format_or(format_in_order(documents, is_one));
        let late = take_late_keys(documents, sources, format);
        let has_place = format != Format::Array;
        let (annotations, dropped, keys) = match is_whole {
            true => {
                let quota = limits.table_quota();
                let annotations = Annotations::read(documents, inputs, true, store, &quota)?;
                (Some(annotations), AnnotationReport::default(), unite(documents, store))
            }
            false => {
                let dropped = has_place.then(|| unfollowed(documents, store));
                (None, dropped.unwrap_or_default(), unite_without_annotations(documents, store))
            }
        };
        Ok(InOrderWriter {
            inputs,
            store,
            output,
            limits,
            format,
            keys,
            annotations,
            dropped,
            late,
        })
    }

    /// Returns a function from the number of events and their bytes to the maximum length of the
    /// output.
    pub fn len(&self, layout: Layout) -> impl Fn(u64, u64) -> u64 + use<> {
        let around = layout.opening(&self.keys).len() as u64 + layout.closing_len(&self.keys);
        move |events, bytes| around + layout.events_len(events, bytes)
    }

    /// Writes the output. `begun` returns an output that already has the first events, or `None`.
    /// The caller adds the inputs to the report.
    ///
    /// # Errors
    /// Returns an I/O error if the output cannot be written, and
    /// [`Changed`](tracemill_trace::run::error::ErrorKind::Changed) if an input changed since it
    /// was opened.
    pub fn write(
        self,
        chosen: ChosenEvents<'_>,
        begun: impl FnOnce(&MergedKeys<'p>) -> Result<Option<Box<StreamedOutput>>, Error>,
    ) -> Result<RunReport, Error> {
        let InOrderWriter { inputs, store, output, limits, format, keys, .. } = self;
        let (keys_too_late, late) = self.late;
        let ChosenEvents { layout, lists, count, warning, patchers } = chosen;
        let events = OrderedEvents {
            order: Order(store),
            layout,
            delays: Reordering::default(),
            lists,
            timed: TimedEntries::Buckets(Buckets::over(std::iter::empty())),
            patchers,
        };
        let mut report = begin_report(inputs, &keys, format, limits);
        report.keys_lost += keys_too_late;
        warn(&keys, &events.delays, &mut report);
        report.warnings.extend(late.into_iter().chain(warning));
        let mut plan = TracePlan { events, count, keys, report };
        match &self.annotations {
            Some(annotations) => plan.annotate(annotations, &OutputChanges::default(), limits),
            None => plan.report_annotations(self.dropped),
        }
        let begun = begun(&plan.keys)?;
        TraceWriter::new(output, limits).resume(begun).write(plan, inputs)
    }
}
