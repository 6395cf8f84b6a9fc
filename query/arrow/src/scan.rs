//! One scan of all inputs, whose events become batches.

use crate::builder::{ChunkNumber, ChunkNumbers};
use crate::column::EventColumn;
use crate::filter::{EventFilter, EventIn};
use crate::rows::{ChunkBatch, RowBuilder};
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use std::ops::ControlFlow;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::input_set::InputPlace;
use tracemill_join::inputs::{of_inputs, scan};
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::thread_table::ThreadTable;
use tracemill_trace::observe::{
    EventRef, InputStart, Look, Nothing, Observer, SealedChunk, Starter,
};
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::{Error, ErrorKind, Source};

/// Maximum number of rows of a batch.
const ROWS: usize = 8192;
/// Number of bytes of text after which a batch ends.
const TEXT: usize = 1 << 20;
/// Number of ids per input: ids are the number of the input times this, plus a number in the input.
const IDS_PER_INPUT: i64 = 1 << 40;

/// A scan of inputs for some columns of their events.
#[derive(Clone, Debug)]
pub struct EventScan {
    columns: Vec<EventColumn>,
    filter: EventFilter,
    places: Vec<InputPlace>,
}

/// The result of a scan.
pub struct ScanEnd {
    /// One report per input that was read.
    pub inputs: Vec<InputReport>,
    /// Warnings about inputs.
    pub warnings: Vec<Warning>,
    /// Whether all inputs were read to their ends. If not, `inputs` and `warnings` are empty.
    pub is_complete: bool,
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
        let mut rows = EventRows {
            request: Arc::new(self.clone()),
            schema: self.schema(),
            input: InputRows::default(),
            is_stopped: false,
            take,
        };
        let read = scan(sources, config, Nothing, &mut rows).map(|scanned| scanned.inputs);
        if rows.is_stopped {
            return Ok(ScanEnd { inputs: Vec::new(), warnings: Vec::new(), is_complete: false });
        }
        let inputs = read?;
        inputs.check_unchanged()?;
        let warnings = of_inputs(&inputs).collect();
        Ok(ScanEnd { inputs: inputs.reports, warnings, is_complete: true })
    }
}

/// The observer that builds batches.
struct EventRows<F> {
    request: Arc<EventScan>,
    schema: SchemaRef,
    input: InputRows,
    is_stopped: bool,
    take: F,
}

/// The input that is being read.
#[derive(Default)]
struct InputRows {
    file: Arc<str>,
    number: usize,
    place: Arc<InputPlace>,
    /// Number of events in earlier chunks.
    events: i64,
    threads: ThreadTable,
    processes: ThreadTable,
}

impl<F: FnMut(RecordBatch) -> ControlFlow<()>> Observer for EventRows<F> {
    type Chunk = ChunkRows;

    fn begin(&mut self, input: &InputStart<'_>) {
        if input.synthetic && self.input.number == input.number {
            // events of a CPU profile continue its input
            return;
        }
        let place = self.request.places.get(input.number).cloned().unwrap_or_default();
        let (file, number, place) = (input.name.into(), input.number, Arc::new(place));
        self.input = InputRows { file, number, place, ..InputRows::default() };
    }

    fn starter(&self) -> Starter<ChunkRows> {
        let request = Arc::clone(&self.request);
        let (file, place) = (Arc::clone(&self.input.file), Arc::clone(&self.input.place));
        Box::new(move |_| ChunkRows::new(&request, &file, &place))
    }

    fn merge(&mut self, found: ChunkRows, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        let input = &mut self.input;
        let threads = input.threads.append(&found.threads);
        let processes = input.processes.append(&found.processes);
        let base = input.number as i64 * IDS_PER_INPUT;
        let number = |kind: ChunkNumber, at: u32| match kind {
            ChunkNumber::Event => input.events + i64::from(at),
            ChunkNumber::Thread => base + threads[at as usize] as i64,
            ChunkNumber::Process => base + processes[at as usize] as i64,
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
    threads: ThreadTable,
    processes: ThreadTable,
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
            threads: ThreadTable::default(),
            processes: ThreadTable::default(),
            numbers_threads: request.columns.iter().any(is_numbered),
            batches: Vec::new(),
            request: Arc::clone(request),
        }
    }

    /// Numbers the thread and the process of an event, whether the filter takes it or not: their
    /// numbers must not depend on the filter.
    fn number(&mut self, event: &Event<'_>) -> ChunkNumbers {
        let number = ChunkNumbers { event: self.events, thread: None, process: None };
        if !self.numbers_threads {
            return number;
        }
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id));
        let process = pid.map(|pid| self.processes.number(pid, b"") as u32);
        let thread = tid.map(|tid| self.threads.number(pid.unwrap_or_default(), tid) as u32);
        ChunkNumbers { thread, process, ..number }
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
