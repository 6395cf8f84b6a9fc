//! Columns of events in the order of a trace, and their batches.

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use std::sync::Arc;
use tracemill_arrow::{EventColumn, EventIn, EventRows, plain_batches, plain_schema};
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::{Trace, TraceEvent};

/// Maximum number of events in a batch.
const ROWS: usize = 64 * 1024;
/// Maximum number of bytes of text in a batch. An event that is larger has a batch alone.
const BYTES: usize = 16 << 20;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// A column of the table `events` of SQL.
    Event(EventColumn),
    /// The last name of the process in the trace.
    ProcessName,
    /// The last name of the thread in the trace.
    ThreadName,
}

impl Column {
    /// The default columns.
    pub(crate) const USUAL: [Column; 9] = [
        Column::Event(EventColumn::Time),
        Column::Event(EventColumn::Duration),
        Column::Event(EventColumn::Phase),
        Column::Event(EventColumn::Pid),
        Column::Event(EventColumn::Tid),
        Column::Event(EventColumn::Category),
        Column::Event(EventColumn::Name),
        Column::Event(EventColumn::Id),
        Column::Event(EventColumn::Args),
    ];

    /// Returns all columns. Those that count events in file order are only in SQL.
    pub(crate) fn all() -> impl Iterator<Item = Column> {
        let events = EventColumn::ALL.into_iter().filter(|column| !column.counts_events());
        events.map(Column::Event).chain([Column::ProcessName, Column::ThreadName])
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Column::Event(column) => column.name(),
            Column::ProcessName => "process_name",
            Column::ThreadName => "thread_name",
        }
    }

    /// Returns whether the column has positions of events in their inputs.
    pub(crate) fn is_place(self) -> bool {
        matches!(self, Column::Event(EventColumn::File | EventColumn::ByteOffset))
    }

    fn field(self) -> ArrowField {
        match self {
            Column::Event(column) => column.field(),
            name => ArrowField::new(name.name(), DataType::Utf8, true),
        }
    }
}

/// Returns the schema of the batches.
pub(crate) fn schema(columns: &[Column]) -> SchemaRef {
    plain_schema(&view_schema(columns))
}

fn view_schema(columns: &[Column]) -> Schema {
    Schema::new(columns.iter().map(|column| column.field()).collect::<Vec<_>>())
}

/// A batch to which events are added.
pub(crate) struct BatchRows<'t> {
    trace: &'t Trace,
    columns: &'t [Column],
    events: EventRows,
    /// Names of processes or threads, per column with such names.
    names: Vec<(Column, StringBuilder)>,
    rows: usize,
    bytes: usize,
    /// Pid and tid of the previous event, and the number of its thread.
    thread: (Vec<u8>, Vec<u8>, Option<usize>),
    /// Offset at which the input of the previous event begins, and the name of that input.
    input: (u64, String),
}

impl<'t> BatchRows<'t> {
    pub(crate) fn new(trace: &'t Trace, columns: &'t [Column]) -> Self {
        let (mut events, mut names) = (Vec::new(), Vec::new());
        for &column in columns {
            match column {
                Column::Event(column) => events.push(column),
                name => names.push((name, StringBuilder::new())),
            }
        }
        let events = EventRows::new(&events);
        let (thread, input) = ((Vec::new(), Vec::new(), None), (u64::MAX, String::new()));
        BatchRows { trace, columns, events, names, rows: 0, bytes: 0, thread, input }
    }

    /// Returns whether the batch is full, or would be too large with this event.
    pub(crate) fn is_full(&self, event: &TraceEvent<'_>) -> bool {
        self.rows >= ROWS || self.rows > 0 && self.bytes + event.bytes.len() > BYTES
    }

    /// Passes an event with its place to `takes`, and adds it if that returns true.
    pub(crate) fn push(
        &mut self,
        event: &TraceEvent<'_>,
        takes: impl FnOnce(&EventIn<'_>) -> bool,
    ) {
        let fields = event.fields();
        let start = self.trace.input_start(event.offset);
        if start != self.input.0 {
            self.input = (start, self.trace.locate(event.offset).0);
        }
        let (byte_offset, place) = (event.offset - start, &InputPlace::default());
        let row = EventIn { event: &fields, byte_offset, file: &self.input.1, place };
        if !takes(&row) {
            return;
        }
        self.events.push(&row);
        self.rows += 1;
        self.bytes += event.bytes.len();
        if !self.names.is_empty() {
            let thread = self.thread_of(&fields).map(|at| &self.trace.threads()[at]);
            for (column, names) in &mut self.names {
                names.append_option(thread.and_then(|thread| match column {
                    Column::ProcessName => thread.process_name.as_ref(),
                    _ => thread.name.as_ref(),
                }));
            }
        }
    }

    /// Returns the number of the event's thread in the trace.
    fn thread_of(&mut self, event: &Event<'_>) -> Option<usize> {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let (last_pid, last_tid, number) = &mut self.thread;
        if *last_pid != pid || *last_tid != tid {
            (*last_pid, *last_tid) = (pid.to_vec(), tid.to_vec());
            *number = self.trace.thread_number(pid, tid);
        }
        *number
    }

    /// Returns the batch, and starts the next one. The result has several batches if a column has
    /// 2 GiB of text or more.
    ///
    /// # Errors
    /// Returns an error if one value has 2 GiB of text or more.
    pub(crate) fn take(&mut self) -> Result<Vec<RecordBatch>, ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        let events = self.events.finish();
        let mut events = events.columns().iter().cloned();
        let mut names = self.names.iter_mut().map(|(_, names)| Arc::new(names.finish()));
        let column = |column: &Column| match column {
            Column::Event(_) => events.next(),
            _ => names.next().map(|names| names as ArrayRef),
        };
        let columns = self.columns.iter().filter_map(column).collect();
        let batch = RecordBatch::try_new(Arc::new(view_schema(self.columns)), columns)?;
        plain_batches(&batch, &schema(self.columns))
    }
}
