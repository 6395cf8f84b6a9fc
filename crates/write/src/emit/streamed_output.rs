//! An output written while the input is still read, for standard output, pipes and devices.
//!
//! Commands that keep the order of their input write each chunk as soon as the scan has proven it.
//! The text before the first event must then not depend on later input:
//!
//! | form of the output | opening | written |
//! |---|---|---|
//! | object | `{"traceEvents":[` | with the first events |
//! | array | `[` | with the first events; later keys are lost |
//! | NDJSON, from NDJSON or an array | the keys before the first event | with the first events; later keys are lost |
//! | NDJSON, from an object | all keys | after the last event |
//!
//! Several inputs are read before anything is written. Regular files are written by all threads at
//! once ([`crate::in_order::overlapped_copy`], [`crate::trace_writer`]).

use crate::keys::merged_keys::MergedKeys;
use crate::keys::unite;
use crate::layout::{Layout, default_format};
use crate::patch::Repairs;
use crate::patch::event_rewriter::{EventRewriter, write_styled};
use memchr::memmem;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::{Form, Tier};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::Document;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::SealedChunk;
use tracemill_trace::output::target::{Format, OutputConfig, Target};
use tracemill_trace::output::{Length, Output};
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::store::place::Place;

/// The position of the next batch, known once the earlier portions are measured.
#[derive(Clone, Copy)]
pub(crate) struct BatchOffset {
    pub(crate) number: usize,
    /// Offset in the output.
    pub(crate) offset: u64,
    /// Number of events before the batch.
    pub(crate) index: u64,
}

/// An open output that already has its opening, and perhaps some events.
pub struct StreamedOutput {
    pub(crate) output: Output,
    pub(crate) layout: Layout,
    /// Length of the opening in bytes.
    pub(crate) opening: u64,
    /// Position of the next batch.
    pub(crate) next: BatchOffset,
    /// Number of raw line breaks in strings that were escaped.
    pub(crate) breaks_escaped: u64,
    repairs: Option<EventRewriter<'static>>,
}

impl StreamedOutput {
    /// Opens the output and writes the opening.
    pub(crate) fn new(
        layout: Layout,
        united: &MergedKeys<'_>,
        output: &OutputConfig,
        limits: &Limits,
        length: Length,
    ) -> Result<Self, Error> {
        let opening = layout.opening(united);
        let output = Output::create(output, limits, length)?;
        let mut buffer = Vec::new();
        let mut batch = output.batch(0, 0, &mut buffer);
        batch.push(&opening)?;
        batch.finish()?;
        let tier = limits.tier.unwrap_or_else(Tier::best);
        let repairs = limits.repair.then(|| EventRewriter::new(&[&Repairs], tier));
        let opening = opening.len() as u64;
        let next = BatchOffset { number: 1, offset: opening, index: 0 };
        Ok(StreamedOutput { output, layout, opening, next, breaks_escaped: 0, repairs })
    }

    /// Wraps an output that already has its opening and some events.
    pub(crate) fn begun(output: Output, layout: Layout, opening: u64, next: BatchOffset) -> Self {
        StreamedOutput { output, layout, opening, next, breaks_escaped: 0, repairs: None }
    }

    /// Appends events to the output.
    pub(crate) fn push(&mut self, places: &[Place], store: &Store<'_>) -> Result<(), Error> {
        if places.is_empty() {
            return Ok(());
        }
        let BatchOffset { number, offset, index } = self.next;
        let first = index == 0;
        let (layout, count) = (self.layout, places.len() as u64);
        let places = places.iter().copied();
        let mut buffer = Vec::new();
        let mut batch = self.output.batch(number, offset, &mut buffer);
        let len = if layout.is_verbatim() && self.repairs.is_none() {
            let bytes = places.clone().map(|place| store.len(place)).sum();
            layout.copy(places, first, store, &mut batch)?;
            layout.batch_len(count, bytes, first)
        } else {
            let repairs = self.repairs.as_mut();
            let (escaped, len) = write_styled(layout, places, first, store, repairs, &mut batch)?;
            self.breaks_escaped += escaped as u64;
            len
        };
        batch.finish()?;
        self.next = BatchOffset { number: number + 1, offset: offset + len, index: index + count };
        Ok(())
    }
}

/// Decides whether and how events are written while the rest of the input is read.
pub struct StreamPolicy<'c> {
    limits: &'c Limits,
    output: &'c OutputConfig,
    layout: Box<dyn Fn(Format) -> Option<Layout>>,
    state: StreamState,
}

enum StreamState {
    /// Nothing is written yet.
    Waiting,
    StreamedOutput(Box<StreamedOutput>),
    /// All events are written at the end.
    Never,
}

impl<'c> StreamPolicy<'c> {
    /// Creates the policy of a run. `layout` returns the layout of a format, or `None` if that
    /// format cannot be streamed.
    pub fn new(
        sources: &[Source],
        output: &'c OutputConfig,
        limits: &'c Limits,
        layout: impl Fn(Format) -> Option<Layout> + 'static,
    ) -> Self {
        let is_read_by_others = match &output.target {
            Target::Stdout | Target::Writer(_) => true,
            Target::File { path, .. } => path.metadata().is_ok_and(|metadata| !metadata.is_file()),
        };
        let may = is_read_by_others && is_one(sources) && !limits.strict;
        let state = if may { StreamState::Waiting } else { StreamState::Never };
        StreamPolicy { limits, output, layout: Box::new(layout), state }
    }

    /// Returns whether events are written as soon as they are found.
    pub fn hurries(&self) -> bool {
        !matches!(self.state, StreamState::Never)
    }

    /// Appends the kept events of a chunk.
    pub fn push(&mut self, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        if matches!(self.state, StreamState::Waiting) && !chunk.kept.is_empty() {
            // the documents of synthetic events are in another store than the events
            self.state = match self.begin(chunk.documents, &chunk.store())? {
                Some(begun) => StreamState::StreamedOutput(Box::new(begun)),
                None => StreamState::Never,
            };
        }
        match &mut self.state {
            StreamState::StreamedOutput(begun) => begun.push(chunk.kept, &chunk.input_store()),
            StreamState::Waiting | StreamState::Never => Ok(()),
        }
    }

    /// Returns the output, if it was started. Later calls of `push` write nothing.
    pub fn take(&mut self) -> Option<Box<StreamedOutput>> {
        match std::mem::replace(&mut self.state, StreamState::Never) {
            StreamState::StreamedOutput(begun) => Some(begun),
            StreamState::Waiting | StreamState::Never => None,
        }
    }

    fn begin(
        &self,
        documents: &[Document],
        store: &Store<'_>,
    ) -> Result<Option<StreamedOutput>, Error> {
        let first = documents.first().map(|document| document.form);
        let format = self.output.format_or(format_in_order(documents, true));
        let is_known = match (format, first) {
            (_, None | Some(Form::Plain)) => false,
            (Format::Object | Format::Array, _) => true,
            (Format::Ndjson, form) => form != Some(Form::Object),
        };
        // keys of further documents come too late, even if they are known already
        let united = unite(&documents[..documents.len().min(1)], store);
        if !is_known || format == Format::Ndjson && has_annotations(&united) {
            return Ok(None);
        }
        let united = united.repaired(self.limits.repair);
        let Some(layout) = (self.layout)(format) else { return Ok(None) };
        StreamedOutput::new(layout, &united, self.output, self.limits, Length::Unknown).map(Some)
    }
}

/// Returns whether the keys may contain DevTools annotations. Their event indices may change.
fn has_annotations(united: &MergedKeys<'_>) -> bool {
    let finder = memmem::Finder::new(b"\"modifications\"");
    let mut pieces = united.keys.iter().flat_map(|key| &key.value);
    pieces.any(|piece| finder.find(piece).is_some())
}

fn is_one(sources: &[Source]) -> bool {
    matches!(sources, [one] if !one.path().is_dir())
}

/// Returns the default format of an output in input order: the form of the first document.
///
/// With several inputs, later keys can turn an array into an object.
pub(crate) fn format_in_order(documents: &[Document], one: bool) -> Format {
    match documents.first().map(|document| document.form) {
        Some(Form::Array) if one => Format::Array,
        _ => default_format(documents),
    }
}

/// Removes the keys that come too late for the first line of NDJSON from a single input. Returns
/// the number of these keys and a warning.
pub(crate) fn take_late_keys(
    documents: &mut [Document],
    sources: &[Source],
    format: Format,
) -> (u64, Option<Warning>) {
    let Some((first, further)) = documents.split_first_mut() else { return (0, None) };
    let begins_at_once = matches!(first.form, Form::Array | Form::Ndjson);
    if format != Format::Ndjson || !is_one(sources) || !begins_at_once {
        return (0, None);
    }
    let late: Vec<_> = further.iter_mut().flat_map(|d| std::mem::take(&mut d.keys)).collect();
    if late.is_empty() {
        return (0, None);
    }
    let names = late.iter().map(|key| String::from_utf8_lossy(&key.key).into_owned()).collect();
    (late.len() as u64, Some(Warning::KeysTooLate(names)))
}
