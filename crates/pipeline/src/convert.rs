//! `convert`: a trace in another form or with other white space, in the order of its input.
//!
//! ```text
//!   inputs ─ scan ─> parts: 8 bytes an event ─┬─ in memory ─┬─ gather, restyle ─> output
//!                                             └─ on disk ───┘
//! ```
//!
//! Nothing is sorted. Several documents come one after the other, and their keys are united as `merge` does it. While
//! the scan has an event in cache it looks for line breaks: if there is none in any, which is so for what most producers
//! write, NDJSON too is copied as it stands, to a place known beforehand, by all threads.

use crate::annotations::{Annotations, Written};
use crate::config::Config;
use crate::emit::Emit;
use crate::inputs::read_all;
use crate::keys::unite;
use crate::layout::{Layout, Text, has_break};
use crate::overlapped_copy::{self, OverlappedCopy};
use crate::reordering::Reordering;
use crate::report::{ConvertReport, RunReport};
use crate::streamed_output::{StreamPolicy, format_in_order, report_in_order, take_late_keys};
use tracemill_core::envelope::{Document, Envelope};
use tracemill_core::error::Error;
use tracemill_core::long_events::LongEvents;
use tracemill_core::order::{Buckets, Order, Timed};
use tracemill_core::output::{self, Length};
use tracemill_core::place::Place;
use tracemill_core::read::{Current, Reader};
use tracemill_core::remedy::Remedy;
use tracemill_core::scan::Collect;
use tracemill_core::source::Source;
use tracemill_core::spill::SpillVec;
use tracemill_core::store::Store;
use tracemill_core::target::{Format, OutputConfig, Style};
use tracemill_tokenizer::Event;

/// See [`crate::convert()`]; for no viewer.
pub(crate) fn convert(
    sources: &[Source],
    style: Style,
    output: &OutputConfig,
    config: &Config,
) -> Result<ConvertReport, Error> {
    config.check()?;
    check_style(output.format, style)?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let stream_policy = StreamPolicy::new(sources, output, config, move |format| {
        // whether a later event has a line break is not known
        check_style(Some(format), style).is_ok().then(|| layout(format, style, true))
    });
    let mut index = Index::new(config, (output, style), stream_policy);
    // of one file it is known from the start where its events will stand
    index.may_begin = sources.len() == 1 && overlapped_copy::is_possible(output, config);
    let inputs = read_all(sources, config, &mut index)?;
    let format =
        output.format.unwrap_or_else(|| format_in_order(&index.documents, sources.len() == 1));
    check_style(Some(format), style)?;
    let (late_keys, late) = take_late_keys(&mut index.documents, sources, format);
    let payloads = inputs.payloads.iter().map(|held| (held.base, &*held.payload));
    let store = &Store::new(payloads).with_long(&index.long);
    let mut united = unite(&index.documents, store);
    let annotations =
        Annotations::read(&index.documents, &inputs, true, (store, &config.table_quota()))?;
    let mut run = RunReport {
        events: index.events,
        ..report_in_order(&inputs, (&united, format), (late_keys, late), config)
    };
    let kept = index.kept.finish()?;
    let spilled_bytes = kept.spilled_bytes();
    let emit = Emit {
        order: Order(store),
        // of nothing at all not even a line break is written
        layout: layout(format, style, index.breaks || index.events == 0),
        delays: Reordering::default(),
        lists: &kept.into(),
        timed: Timed::Buckets(Buckets::over(std::iter::empty())),
        rewrite: None,
        fixups: None,
    };
    run.annotations = annotations.put(&mut united, &Written::whole(&emit, config)).report();
    run.warnings.extend(run.annotations.warning());
    let counts = (index.events, index.bytes);
    let check = || inputs.check_unchanged();
    let copied = index.overlapped.map(|copy| copy.end(emit.layout, &united)).transpose()?;
    let begun = copied.flatten().or(index.stream_policy.take());
    run.bytes =
        emit.write_all(&united, counts, (output, begun), config, &mut run.warnings, check)?;
    run.inputs = inputs.reports;
    Ok(ConvertReport { run, style, spilled_bytes })
}

fn check_style(format: Option<Format>, style: Style) -> Result<(), Error> {
    if format == Some(Format::Ndjson) && style == Style::Pretty {
        let problem = "NDJSON has one event per line, so it cannot be pretty";
        return Err(Error::usage(problem, Some(Remedy::OtherStyle)));
    }
    Ok(())
}

fn layout(format: Format, style: Style, breaks: bool) -> Layout {
    let layout = match style {
        Style::Keep => Layout::of(format),
        Style::Compact => Layout::compact(format),
        Style::Pretty => Layout::pretty(format),
    };
    match layout.text {
        Text::OneLine if !breaks => layout.as_they_stand(),
        _ => layout,
    }
}

/// The findings of all inputs.
struct Index<'c> {
    config: &'c Config,
    output: (&'c OutputConfig, Style),
    /// Whether the output may be begun when the first events are found.
    may_begin: bool,
    stream_policy: StreamPolicy<'c>,
    overlapped: Option<OverlappedCopy>,
    kept: SpillVec<Place>,
    long: LongEvents,
    events: u64,
    bytes: u64,
    /// Whether any event has a line break.
    breaks: bool,
    documents: Vec<Document>,
}

impl<'c> Index<'c> {
    fn new(
        config: &'c Config,
        output: (&'c OutputConfig, Style),
        stream_policy: StreamPolicy<'c>,
    ) -> Self {
        Index {
            config,
            output,
            may_begin: false,
            stream_policy,
            overlapped: None,
            kept: SpillVec::new(&config.tmp_dir, config.shares().index),
            long: LongEvents::new(config),
            events: 0,
            bytes: 0,
            breaks: false,
            documents: Vec::new(),
        }
    }
}

impl Index<'_> {
    /// Has the events of a part written at once, if that can be.
    fn hand_on(&mut self, part: &ChunkFindings, base: u64, current: Current<'_>) {
        if std::mem::take(&mut self.may_begin) && base == 0 {
            self.overlapped = self.begin_overlapped(current);
        }
        if let Some(mut copy) = self.overlapped.take()
            && base == 0
            && (!part.breaks || copy.keeps_breaks())
            && copy.push(&part.places, part.bytes, &part.envelope.long)
        {
            self.overlapped = Some(copy);
        }
    }

    fn begin_overlapped(&self, current: Current<'_>) -> Option<OverlappedCopy> {
        let (output, style) = self.output;
        let layout = |format| layout(format, style, false);
        // it is cut to length at the end
        OverlappedCopy::begin(current, (layout, Length::Exactly), output, self.config)
    }
}

/// The findings of one chunk of an input.
#[derive(Default)]
struct ChunkFindings {
    envelope: Envelope,
    places: Vec<Place>,
    bytes: u64,
    breaks: bool,
}

impl Collect for ChunkFindings {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let (offset, len) = (self.envelope.event(event), event.bytes.len());
        self.bytes += len as u64;
        self.places.push(Place::new(offset, len, 0));
        self.breaks = self.breaks || has_break(event.bytes);
    }

    fn seal(&mut self) {
        self.places.shrink_to_fit();
    }
}

impl Reader for Index<'_> {
    type Findings = ChunkFindings;

    fn part(base: u64, bytes: usize) -> ChunkFindings {
        // a guess that fits the Chrome-like traces; it is cut to size when the chunk is done
        ChunkFindings {
            envelope: Envelope::at(base),
            places: Vec::with_capacity(bytes / 256),
            ..ChunkFindings::default()
        }
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;

    fn hurries(&self) -> bool {
        self.stream_policy.hurries()
    }

    fn take(&mut self, part: ChunkFindings, base: u64, current: Current<'_>) -> Result<(), Error> {
        if part.envelope.stats.events > 0 {
            self.hand_on(&part, base, current);
        }
        self.events += part.envelope.stats.events;
        self.bytes += part.bytes;
        self.breaks |= part.breaks;
        self.long.append(&part.envelope.long)?;
        part.envelope.append_to(&mut self.documents);
        if self.stream_policy.hurries() {
            let store = current.own_store(&self.long);
            self.stream_policy.push(&self.documents, &part.places, &store)?;
        }
        self.kept.extend(&part.places)
    }
}
