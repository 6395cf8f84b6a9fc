//! Columns of events, and the conversion of events to Arrow batches.

use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field as ArrowField, Schema, SchemaRef};
use std::borrow::Cow;
use std::sync::Arc;
use tracemill_tokenizer::{Event, Field, parse, unescape};
use tracemill_trace::{EventOrder, Trace, TraceEvent};

/// Maximum number of events in a batch.
const ROWS: usize = 64 * 1024;
/// Maximum number of bytes of text in a batch. An event that is larger has a batch alone.
const BYTES: usize = 16 << 20;

/// A column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    TsNs,
    DurNs,
    /// A field as text.
    Text(Field),
    /// A field of ids. If all ids of the trace are integers, the column has integers. Otherwise, it
    /// has text.
    Id(Field),
    /// The field `id`. If it is missing, the field `id2` as JSON.
    EventId,
    /// A field as JSON.
    Json(Field),
    ProcessName,
    ThreadName,
    Event,
    /// The name of the input. [`Column::Offset`] is the position of the event in the input.
    Input,
    Offset,
}

impl Column {
    /// Returns whether the column has positions of events in their inputs.
    pub(crate) fn is_place(self) -> bool {
        matches!(self, Column::Input | Column::Offset)
    }
}

/// All columns, with their names. The first [`USUAL`] ones are the default.
pub(crate) const COLUMNS: [(&str, Column); 14] = [
    ("ts_ns", Column::TsNs),
    ("dur_ns", Column::DurNs),
    ("ph", Column::Text(Field::Ph)),
    ("pid", Column::Id(Field::Pid)),
    ("tid", Column::Id(Field::Tid)),
    ("cat", Column::Text(Field::Cat)),
    ("name", Column::Text(Field::Name)),
    ("id", Column::EventId),
    ("args", Column::Json(Field::Args)),
    ("process_name", Column::ProcessName),
    ("thread_name", Column::ThreadName),
    ("event", Column::Event),
    ("input", Column::Input),
    ("offset", Column::Offset),
];

/// Number of default columns.
pub(crate) const USUAL: usize = 9;

/// An opened trace.
pub(crate) struct Opened {
    pub(crate) trace: Trace,
    /// Whether all pids are integers, and whether all tids are.
    numbers: [bool; 2],
}

impl Opened {
    pub(crate) fn new(trace: Trace) -> Self {
        let mut numbers = [true; 2];
        for thread in trace.threads() {
            numbers[0] &= is_number(&thread.pid);
            numbers[1] &= is_number(&thread.tid);
        }
        // metadata events come first and belong to no thread
        for event in trace.events(EventOrder::Time) {
            let event = event.fields();
            if !event.is_metadata() {
                break;
            }
            for (is, field) in numbers.iter_mut().zip([Field::Pid, Field::Tid]) {
                *is &= event.field(field).is_none_or(is_number);
            }
        }
        Opened { trace, numbers }
    }

    pub(crate) fn schema(&self, columns: &[(&'static str, Column)]) -> SchemaRef {
        let field = |&(name, column): &(&'static str, Column)| {
            ArrowField::new(name, self.data_type(column), !column.is_place())
        };
        Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn data_type(&self, column: Column) -> DataType {
        let is_number = match column {
            Column::TsNs | Column::DurNs | Column::Offset => true,
            Column::Id(field) => self.numbers[usize::from(field == Field::Tid)],
            _ => false,
        };
        if is_number { DataType::Int64 } else { DataType::Utf8 }
    }
}

/// Returns the content of a JSON string, without its quotes. Returns other values unchanged.
fn content(value: &[u8]) -> &[u8] {
    match value {
        [b'"', content @ .., b'"'] => content,
        _ => value,
    }
}

/// Returns whether an id is missing, is an integer, or is a string with an integer.
fn is_number(id: &[u8]) -> bool {
    id.is_empty() || id == b"null" || parse::<i64>(content(id)).is_some()
}

/// Returns the content of a JSON string, without escapes. Invalid UTF-8 becomes U+FFFD. Returns
/// other values unchanged.
pub(crate) fn text<'s>(value: &[u8], scratch: &'s mut Vec<u8>) -> Cow<'s, str> {
    scratch.clear();
    match value {
        [b'"', content @ .., b'"'] => unescape(content, scratch),
        _ => scratch.extend_from_slice(value),
    }
    String::from_utf8_lossy(scratch)
}

/// Builders for the values of a column, by type.
enum ColumnValues {
    Numbers(Int64Builder),
    Texts(StringBuilder),
}

/// A batch to which events are added.
pub(crate) struct BatchRows<'t> {
    opened: &'t Opened,
    schema: SchemaRef,
    columns: Vec<(Column, ColumnValues)>,
    rows: usize,
    bytes: usize,
    scratch: Vec<u8>,
    /// Pid and tid of the previous event, and the number of its thread.
    thread: (Vec<u8>, Vec<u8>, Option<usize>),
    /// Offset at which the input of the previous event begins, and the name of that input.
    input: (u64, String),
}

impl<'t> BatchRows<'t> {
    pub(crate) fn new(
        opened: &'t Opened,
        schema: &SchemaRef,
        columns: &[(&'static str, Column)],
    ) -> Self {
        let values = |column| match opened.data_type(column) {
            DataType::Int64 => ColumnValues::Numbers(Int64Builder::new()),
            _ => ColumnValues::Texts(StringBuilder::new()),
        };
        let columns = columns.iter().map(|&(_, column)| (column, values(column))).collect();
        let (schema, scratch) = (Arc::clone(schema), Vec::new());
        let (thread, input) = ((Vec::new(), Vec::new(), None), (u64::MAX, String::new()));
        BatchRows { opened, schema, columns, rows: 0, bytes: 0, scratch, thread, input }
    }

    /// Returns whether the batch is full, or would be too large with this event.
    pub(crate) fn is_full(&self, event: &TraceEvent<'_>) -> bool {
        self.rows >= ROWS || self.rows > 0 && self.bytes + event.bytes.len() > BYTES
    }

    /// Adds an event.
    ///
    /// # Errors
    /// Returns an error if the event has more than 512 MiB.
    pub(crate) fn push(&mut self, event: &TraceEvent<'_>) -> Result<(), ArrowError> {
        // a column holds less than 2 GiB of text
        if event.bytes.len() > i32::MAX as usize / 4 {
            let (name, at) = self.opened.trace.locate(event.offset);
            let text = format!("{name}: the event at byte {at} is too large for a column");
            return Err(ArrowError::InvalidArgumentError(text));
        }
        let fields = event.fields();
        self.rows += 1;
        self.bytes += event.bytes.len();
        let start = self.opened.trace.input_start(event.offset);
        if start != self.input.0 {
            self.input = (start, self.opened.trace.locate(event.offset).0);
        }
        let mut columns = std::mem::take(&mut self.columns);
        for (column, values) in &mut columns {
            match values {
                ColumnValues::Numbers(all) => {
                    all.append_option(number(*column, &fields, event.offset - start))
                }
                ColumnValues::Texts(all) => self.push_text(*column, &fields, event, all),
            }
        }
        self.columns = columns;
        Ok(())
    }

    fn push_text(
        &mut self,
        column: Column,
        fields: &Event<'_>,
        event: &TraceEvent<'_>,
        all: &mut StringBuilder,
    ) {
        let value = match column {
            Column::Text(field) | Column::Id(field) | Column::Json(field) => fields.field(field),
            Column::EventId => fields.field(Field::Id).or_else(|| fields.field(Field::Id2)),
            Column::Event => Some(event.bytes),
            Column::Input => return all.append_value(&self.input.1),
            Column::ProcessName | Column::ThreadName => {
                let name = self.thread_of(fields).and_then(|at| {
                    let thread = &self.opened.trace.threads()[at];
                    let of_process = column == Column::ProcessName;
                    if of_process { thread.process_name.as_ref() } else { thread.name.as_ref() }
                });
                return all.append_option(name);
            }
            Column::TsNs | Column::DurNs | Column::Offset => None,
        };
        let Some(value) = value.filter(|&value| value != b"null") else { return all.append_null() };
        if matches!(column, Column::Json(_)) {
            self.scratch.clear();
            self.scratch.extend_from_slice(value);
            return all.append_value(String::from_utf8_lossy(&self.scratch));
        }
        all.append_value(text(value, &mut self.scratch));
    }

    /// Returns the number of the event's thread in the trace.
    fn thread_of(&mut self, event: &Event<'_>) -> Option<usize> {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|id| event.field(id).unwrap_or_default());
        let (last_pid, last_tid, number) = &mut self.thread;
        if *last_pid != pid || *last_tid != tid {
            (*last_pid, *last_tid) = (pid.to_vec(), tid.to_vec());
            *number = self.opened.trace.thread_number(pid, tid);
        }
        *number
    }

    /// Returns the batch, and starts the next one.
    ///
    /// # Errors
    /// Returns an error if columns do not match the schema, which should not happen.
    pub(crate) fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        let columns = self.columns.iter_mut().map(|(_, values)| match values {
            ColumnValues::Numbers(all) => Arc::new(all.finish()) as ArrayRef,
            ColumnValues::Texts(all) => Arc::new(all.finish()) as ArrayRef,
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect())
    }
}

fn number(column: Column, event: &Event<'_>, offset: u64) -> Option<i64> {
    match column {
        Column::TsNs => event.ts().map(|time| time.floor),
        Column::DurNs => event.dur().map(|time| time.floor),
        Column::Id(field) => event.field(field).and_then(|id| parse(content(id))),
        Column::Offset => i64::try_from(offset).ok(),
        _ => None,
    }
}
