//! One scan of all inputs, whose events become batches.

use crate::builder::{ChunkNumber, ChunkNumbers};
use crate::column::EventColumn;
use crate::filter::{EventFilter, EventIn};
use crate::input::{CurrentInput, EventThread, ThreadNumbers};
use crate::rows::{ChunkBatch, RowBuilder};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::ops::ControlFlow;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::read_plan::ReadPlan;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::Event;
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::observe::{
    EventRef, InputStart, Look, Nothing, Observer, SealedChunk, Starter,
};
use tracemill_trace::read::Inputs;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, ErrorKind, Source};

/// Maximum number of rows of a batch.
pub(crate) const ROWS: usize = 8192;
/// Number of bytes of text after which a batch ends.
const TEXT: usize = 1 << 20;

/// A scan of inputs for some columns of their events.
#[derive(Clone, Debug)]
pub struct EventScan {
    columns: Vec<EventColumn>,
    filter: EventFilter,
    places: Vec<InputPlace>,
}

/// Receives the batches of a scan, and breaks if it wants no more.
pub type TakeBatch<'t> = dyn FnMut(RecordBatch) -> ControlFlow<()> + 't;

/// The result of a scan. The default is that of a scan that was stopped.
#[derive(Default)]
pub struct ScanEnd {
    /// One report per input that was read.
    pub inputs: Vec<InputReport>,
    /// Warnings about inputs.
    pub warnings: Vec<Warning>,
    /// Whether all inputs were read to their ends. If not, `inputs` and `warnings` are empty.
    pub is_complete: bool,
}

impl ScanEnd {
    /// Returns the result of a scan that read all inputs to their ends.
    ///
    /// # Errors
    /// Returns an error if an input was written to while it was read.
    pub fn complete(inputs: Inputs) -> Result<Self, Error> {
        inputs.check_unchanged()?;
        let warnings = of_inputs(&inputs).collect();
        Ok(ScanEnd { inputs: inputs.reports, warnings, is_complete: true })
    }
}

impl EventScan {
    /// Creates a scan for all events.
    pub fn new(columns: impl Into<Vec<EventColumn>>) -> Self {
        EventScan { columns: columns.into(), filter: EventFilter::default(), places: Vec::new() }
    }

    /// Restricts the scan to events that satisfy a filter.
    #[must_use]
    pub fn filtered(self, filter: EventFilter) -> Self {
        EventScan { filter, ..self }
    }

    /// Renames pids and moves times as a merge does, by [`InputSet::places`] of the same sources.
    ///
    /// [`InputSet::places`]: tracemill_join::input_set::InputSet::places
    #[must_use]
    pub fn at_places(self, places: Vec<InputPlace>) -> Self {
        EventScan { places, ..self }
    }

    /// Returns the filter.
    pub fn filter(&self) -> &EventFilter {
        &self.filter
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        EventColumn::schema(&self.columns)
    }

    /// Returns whether a column depends on all earlier events of its input. Then a part of an input
    /// cannot be read alone.
    pub fn counts_events(&self) -> bool {
        self.columns.iter().any(|column| column.counts_events())
    }

    /// Reads the byte ranges of a plan, and passes batches to `take` in file order until it breaks.
    /// The plan must contain all events that the filter takes, and no column may
    /// [count events](EventScan::counts_events).
    ///
    /// The ranges are read twice: first to check that their events are those of the index, so that
    /// no batch has to be taken back. Returns `None` if they are not.
    ///
    /// # Errors
    /// Returns [`Changed`](ErrorKind::Changed) if the file is written to while it is read.
    pub fn run_planned(
        &self,
        plan: &ReadPlan,
        config: &Config,
        take: impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<Option<ScanEnd>, Error> {
        if plan.read(Nothing, (), config)?.is_none() {
            return Ok(None);
        }
        let mut rows = self.rows(take);
        let read = plan.read(Nothing, &mut rows, config)?.map(|scanned| scanned.inputs);
        if rows.is_stopped {
            return Ok(Some(ScanEnd::default()));
        }
        let end = ScanEnd::complete(read.ok_or_else(|| plan.index.changed())?)?;
        plan.index.check_unchanged()?;
        Ok(Some(end))
    }

    fn rows<F>(&self, take: F) -> BatchReader<F> {
        BatchReader {
            request: Arc::new(self.clone()),
            schema: self.schema(),
            input: CurrentInput::default(),
            is_stopped: false,
            take,
        }
    }

    /// Reads all sources, and passes batches to `take` in file order until it breaks.
    ///
    /// Cost: one pass at scanning speed, and the decoding of the requested columns. Heap: the chunks
    /// that workers read, a few of them waiting for `take`.
    ///
    /// # Errors
    /// Returns the errors of [`scan`].
    pub fn run(
        &self,
        sources: &[Source],
        config: &Config,
        take: impl FnMut(RecordBatch) -> ControlFlow<()>,
    ) -> Result<ScanEnd, Error> {
        let mut rows = self.rows(take);
        read(sources, config, &mut rows, |rows| rows.is_stopped)
    }
}

/// Reads all sources until the observer stops.
///
/// # Errors
/// Returns the errors of [`scan`], unless the observer stopped.
pub(crate) fn read<O: Observer>(
    sources: &[Source],
    config: &Config,
    observer: &mut O,
    is_stopped: impl Fn(&O) -> bool,
) -> Result<ScanEnd, Error> {
    let read = scan(sources, config, Nothing, &mut *observer).map(|scanned| scanned.inputs);
    if is_stopped(observer) {
        return Ok(ScanEnd::default());
    }
    ScanEnd::complete(read?)
}

/// The observer that builds batches.
struct BatchReader<F> {
    request: Arc<EventScan>,
    schema: SchemaRef,
    input: CurrentInput,
    is_stopped: bool,
    take: F,
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> Observer for BatchReader<F> {
    type Chunk = ChunkRows;

    fn begin(&mut self, input: &InputStart<'_>) {
        self.input.begin(input, &self.request.places);
    }

    fn starter(&self) -> Starter<ChunkRows> {
        let request = Arc::clone(&self.request);
        let (file, place) = (Arc::clone(&self.input.file), Arc::clone(&self.input.place));
        Box::new(move |_| ChunkRows::new(&request, &file, &place))
    }

    fn merge(&mut self, found: ChunkRows, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let input = &mut self.input;
        let numbers = input.numbers.append(&found.numbers);
        let base = input.base();
        let number = |kind: ChunkNumber, at: u32| match kind {
            ChunkNumber::Event => input.events + i64::from(at),
            ChunkNumber::EventId => input.event_id(at),
            ChunkNumber::Thread => base + numbers.threads[at as usize] as i64,
            ChunkNumber::Process => base + numbers.processes[at as usize] as i64,
        };
        for batch in found.batches {
            if (self.take)(batch.into_batch(&self.schema, number)).is_break() {
                self.is_stopped = true;
                return Err(ErrorKind::Cancelled.into());
            }
        }
        input.events += chunk.stats.events as i64;
        Ok(())
    }
}

/// The rows of a chunk.
struct ChunkRows {
    request: Arc<EventScan>,
    file: Arc<str>,
    place: Arc<InputPlace>,
    rows: RowBuilder,
    /// Number of events so far, with those that the filter leaves out.
    events: u32,
    numbers: ThreadNumbers,
    /// Whether threads are numbered.
    numbers_threads: bool,
    batches: Vec<ChunkBatch>,
}

impl ChunkRows {
    fn new(request: &Arc<EventScan>, file: &Arc<str>, place: &Arc<InputPlace>) -> Self {
        let is_numbered = |column: &EventColumn| {
            matches!(column, EventColumn::UniqueThread | EventColumn::UniqueProcess)
        };
        ChunkRows {
            file: Arc::clone(file),
            place: Arc::clone(place),
            rows: RowBuilder::new(&request.columns),
            events: 0,
            numbers: ThreadNumbers::default(),
            numbers_threads: request.columns.iter().any(is_numbered),
            batches: Vec::new(),
            request: Arc::clone(request),
        }
    }

    /// Numbers the thread and the process of an event, whether the filter takes it or not: their
    /// numbers must not depend on the filter.
    fn number(&mut self, event: &Event<'_>) -> ChunkNumbers {
        let thread = match self.numbers_threads {
            true => self.numbers.number(event),
            false => EventThread::default(),
        };
        ChunkNumbers { event: self.events, thread }
    }

    fn end_batch(&mut self) {
        if self.rows.len() > 0 {
            self.batches.push(self.rows.finish());
        }
    }
}

impl Look for ChunkRows {
    #[inline]
    fn event(&mut self, event: &Event<'_>, _: &EventRef) -> bool {
        let numbers = self.number(event);
        self.events += 1;
        let (file, place) = (&*self.file, &*self.place);
        let event = EventIn { event, byte_offset: event.offset, file, place };
        if !self.request.filter.takes(&event) {
            return true;
        }
        self.rows.push(&event, &numbers);
        if self.rows.len() >= ROWS || self.rows.text() >= TEXT {
            self.end_batch();
        }
        true
    }

    fn seal(&mut self, _: &mut ChunkStats) {
        self.end_batch();
    }
}
