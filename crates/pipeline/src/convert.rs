//! `convert`: writes a trace in another form or with other white space, in input order.
//!
//! ```text
//!   inputs ─ scan ─> locations, 8 bytes each ─┬─ in memory ─┬─ gather, restyle ─> output
//!                                             └─ on disk ───┘
//! ```
//!
//! Nothing is sorted. Documents follow each other, with their keys merged as by `merge`. The scan
//! looks for line breaks in events; if there are none, NDJSON too is copied unchanged, by all
//! threads.

use tracemill_join::config::Config;
use tracemill_join::inputs::scan;
use tracemill_join::report::ConvertReport;
use tracemill_tokenizer::Event;
use tracemill_trace::Limits;
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{
    EventRef, InputOrder, Look, Needs, Observer, Scanned, SealedChunk, Starter,
};
use tracemill_trace::output::target::{Format, OutputConfig, Style};
use tracemill_trace::output::{self, Length};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_write::emit::streamed_output::StreamPolicy;
use tracemill_write::in_order::overlapped_copy::{self, OverlappedCopy};
use tracemill_write::in_order::{ChosenEvents, InOrderWriter, ReadInputs};
use tracemill_write::layout::{Layout, TextStyle, has_break};
use tracemill_write::trace_writer::EventCount;

/// Implements [`crate::convert()`] without a viewer.
pub(crate) fn convert(
    sources: &[Source],
    style: Style,
    output: &OutputConfig,
    config: &Config,
) -> Result<ConvertReport, Error> {
    config.limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let stream_policy = StreamPolicy::new(sources, output, &config.limits, move |format| {
        // later events may have line breaks
        Some(layout(format, style, true))
    });
    let observer = WhileRead {
        limits: &config.limits,
        output: (output, style),
        // with one file the offsets in the output are known from the start
        may_begin: sources.len() == 1 && overlapped_copy::is_possible(output, &config.limits),
        stream_policy,
        overlapped: None,
        breaks: false,
    };
    let keep = InputOrder::new(config.limits.lease("places of events", Share::of_index(1, 1)), 256);
    let Scanned { inputs, mut index, mut observed } = scan(sources, config, keep, observer)?;
    let store = &inputs.store().with_long(&index.long_events);
    let read = ReadInputs { inputs: &inputs, documents: &mut index.documents, store };
    let writer = InOrderWriter::new(sources, read, true, output, &config.limits)?;
    let kept = index.kept.into_places().finish()?;
    let spilled_bytes = kept.spilled_bytes();
    // without events not even a line break is written
    let layout = layout(writer.format, style, observed.breaks || index.events == 0);
    let count = EventCount { events: index.events, bytes: index.bytes };
    let lists = &kept.into();
    let all = ChosenEvents { layout, lists, count, warning: None, patchers: Vec::new() };
    let mut run = writer.write(all, |keys| {
        let copied = observed.overlapped.map(|copy| copy.end(layout, keys)).transpose()?;
        Ok(copied.flatten().or(observed.stream_policy.take()))
    })?;
    run.inputs = inputs.reports;
    Ok(ConvertReport { run, style, spilled_bytes })
}

fn layout(format: Format, style: Style, breaks: bool) -> Layout {
    let layout = match style {
        Style::Keep => Layout::of(format),
        Style::Compact => Layout::compact(format),
    };
    match layout.text {
        TextStyle::OneLine if !breaks => layout.as_they_stand(),
        _ => layout,
    }
}

/// Finds line breaks in events, and writes events during the scan: to a file while they can be
/// copied, to a pipe as they are found.
struct WhileRead<'c> {
    limits: &'c Limits,
    output: (&'c OutputConfig, Style),
    /// Whether the output may be started at the first events.
    may_begin: bool,
    stream_policy: StreamPolicy<'c>,
    overlapped: Option<OverlappedCopy>,
    breaks: bool,
}

/// Finds line breaks in the events of one chunk.
#[derive(Default)]
struct LineBreaks(bool);

impl Look for LineBreaks {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        self.0 = self.0 || has_break(event.bytes);
        true
    }
}

impl WhileRead<'_> {
    /// Writes the events of a chunk immediately, if they can be copied.
    fn hand_on(&mut self, breaks: bool, chunk: &SealedChunk<'_>) {
        if std::mem::take(&mut self.may_begin) && chunk.base == 0 {
            let (output, style) = self.output;
            let layout = |format| layout(format, style, false);
            // the file is truncated at the end
            self.overlapped =
                OverlappedCopy::begin(chunk.current, layout, Length::Exactly, output, self.limits);
        }
        if let Some(mut copy) = self.overlapped.take()
            && chunk.base == 0
            && (!breaks || copy.keeps_breaks())
            && copy.push(chunk.kept, chunk.kept_bytes, chunk.chunk_long_events)
        {
            self.overlapped = Some(copy);
        }
    }
}

impl Observer for WhileRead<'_> {
    type Chunk = LineBreaks;

    fn needs(&self) -> Needs {
        Needs { streams_output: self.stream_policy.hurries(), ..Needs::NONE }
    }

    fn starter(&self) -> Starter<LineBreaks> {
        Box::new(|_| LineBreaks::default())
    }

    fn merge(
        &mut self,
        LineBreaks(breaks): LineBreaks,
        chunk: &SealedChunk<'_>,
    ) -> Result<(), Error> {
        if chunk.stats.events > 0 {
            self.hand_on(breaks, chunk);
        }
        self.breaks |= breaks;
        if self.stream_policy.hurries() {
            self.stream_policy.push(chunk)?;
        }
        Ok(())
    }
}
