//! Writes a planned trace to one output. All commands that write traces use this writer.
//!
//! ```text
//!   events, patchers ──────┐
//!   top-level keys ────────┼─ TracePlan ─ TraceWriter ─> opening, events, closing ─┬─> output
//!   DevTools' annotations ─┘                                    inputs unchanged? ─┘   + report
//! ```
//!
//! [`Patcher`](crate::patch::Patcher)s change events.

use crate::annotations::{Annotations, OutputChanges};
use crate::emit::OrderedEvents;
use crate::emit::streamed_output::StreamedOutput;
use crate::keys::MergedKeys;
use crate::reordering::Reordering;
use tracemill_join::inputs::of_inputs;
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{AnnotationReport, RunReport};
use tracemill_trace::Limits;
use tracemill_trace::output::Length;
use tracemill_trace::output::target::{Format, OutputConfig};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;

/// A number of events, and their total length in the inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCount {
    /// Number of events.
    pub events: u64,
    /// Total length in bytes.
    pub bytes: u64,
}

/// The content of an output, and the report of the run so far.
pub struct TracePlan<'r, 's, 'p> {
    /// The events in order.
    pub events: OrderedEvents<'r, 's, 'p>,
    /// The number of the events, and their bytes.
    pub count: EventCount,
    /// The top-level keys.
    pub keys: MergedKeys<'p>,
    /// The report so far. The writer completes it.
    pub report: RunReport,
}

impl TracePlan<'_, '_, '_> {
    /// Adds DevTools' annotations to the keys, with the event indices of the output, and reports
    /// them.
    pub fn annotate(
        &mut self,
        annotations: &Annotations<'_>,
        changes: &OutputChanges<'_>,
        limits: &Limits,
    ) {
        let outcomes = annotations.put(&mut self.keys, &self.events, changes, limits);
        self.report_annotations(outcomes.report());
    }

    /// Adds the outcome of annotations to the report.
    pub(crate) fn report_annotations(&mut self, outcome: AnnotationReport) {
        self.report.warnings.extend(outcome.warning());
        self.report.annotations = outcome;
    }
}

/// Returns the report of a run before writing: format, lost keys, and warnings about inputs.
pub fn begin_report(
    inputs: &Inputs,
    keys: &MergedKeys<'_>,
    format: Format,
    limits: &Limits,
) -> RunReport {
    RunReport {
        format,
        spooled_bytes: inputs.spooled,
        keys_lost: if format == Format::Array { keys.keys.len() as u64 } else { 0 },
        warnings: of_inputs(inputs).collect(),
        ..RunReport::new(limits)
    }
}

/// Adds warnings about keys, and about CPU profile streams without a valid order, to a report.
pub fn warn(keys: &MergedKeys<'_>, delays: &Reordering, report: &mut RunReport) {
    let warnings = &mut report.warnings;
    warnings.extend(keys.warnings.iter().cloned());
    warnings.extend(delays.unordered.iter().cloned().map(Warning::UnorderedStream));
    warnings.extend(keys.lost_to(report.format));
}

/// Writes a planned trace to one output.
pub struct TraceWriter<'w> {
    output: &'w OutputConfig,
    limits: &'w Limits,
    begun: Option<Box<StreamedOutput>>,
}

impl<'w> TraceWriter<'w> {
    /// Creates a writer. Opens nothing yet.
    pub fn new(output: &'w OutputConfig, limits: &'w Limits) -> Self {
        TraceWriter { output, limits, begun: None }
    }

    /// Continues an output that already has the first events, if `begun` is `Some`.
    #[must_use]
    pub fn resume(self, begun: Option<Box<StreamedOutput>>) -> Self {
        TraceWriter { begun, ..self }
    }

    /// Writes opening, events and closing. The output appears only if no input has changed since
    /// the input was opened.
    ///
    /// The report has the length before compression.
    ///
    /// # Errors
    /// Returns an I/O error if the output cannot be written, and
    /// [`Changed`](tracemill_trace::ErrorKind::Changed) if an input changed.
    pub fn write(self, plan: TracePlan<'_, '_, '_>, inputs: &Inputs) -> Result<RunReport, Error> {
        let TracePlan { events, count, keys, mut report } = plan;
        let (limits, layout) = (self.limits, events.layout);
        let keys = &keys.repaired(limits.repair);
        let opening = layout.opening(keys);
        let closing_at = opening.len() as u64 + layout.events_len(count.events, count.bytes);
        let len = closing_at + layout.closing_len(keys);
        let length = if layout.is_verbatim() { Length::Exactly(len) } else { Length::Unknown };
        let begun = match self.begun {
            Some(begun) => {
                if let Length::Exactly(len) = length {
                    begun.output.reserve(len)?;
                }
                *begun
            }
            None => StreamedOutput::new(layout, keys, self.output, limits, length)?,
        };
        debug_assert_eq!(begun.opening, opening.len() as u64);
        let written = events.write(&begun, limits)?;
        debug_assert!(
            events.changes_lengths(limits) || !layout.is_verbatim() || written.end == closing_at
        );
        debug_assert_eq!(begun.next.index + written.events, count.events);
        let mut buffer = Vec::new();
        let mut batch = begun.output.batch(written.batches, written.end, &mut buffer);
        let closing = layout.write_closing(keys, count.events, &mut batch)?;
        batch.finish()?;
        let len = written.end + closing;
        begun.output.set_len(len)?;
        let breaks_escaped = begun.breaks_escaped + written.breaks_escaped;
        if breaks_escaped > 0 {
            report.warnings.push(Warning::BreaksEscaped(breaks_escaped));
        }
        inputs.check_unchanged()?;
        begun.output.finish()?;
        (report.events, report.bytes) = (count.events, len);
        Ok(report)
    }
}
