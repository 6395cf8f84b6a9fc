//! Streams events as Arrow batches through the PyCapsule interface.
//!
//! ```text
//!   open (a scan) ─> Events ─ __arrow_c_stream__ ─> thread ─> up to 2 batches ─> reader
//! ```

use crate::rows::{BatchRows, COLUMNS, Column, Opened, USUAL, text};
use crate::verbs::Message;
use crate::watched::{Tell, watched};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::HashSet;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::Builder;
use tracemill::Caller;
use tracemill::ErrorClass;
use tracemill::Reading;
use tracemill::Refusal;
use tracemill_cpuprofile::ProfileReader;
use tracemill_tokenizer::Field;
use tracemill_trace::time::bounds::{Bounds, Times};
use tracemill_trace::time::windows::{self, TimeSpan, Windows};
use tracemill_trace::{EventOrder, Trace, TraceEvent};

/// Maximum number of complete batches that wait for the reader.
const WAITING: usize = 2;

/// Which events and columns the user requests.
struct EventQuery {
    columns: Vec<(&'static str, Column)>,
    /// Windows in nanoseconds. `None` selects all events, including events without a time.
    windows: Option<Vec<TimeSpan>>,
    pids: Option<HashSet<String>>,
    tids: Option<HashSet<String>>,
    names: Option<HashSet<String>>,
}

impl EventQuery {
    fn takes(&self, event: &TraceEvent<'_>, scratch: &mut Vec<u8>) -> bool {
        let sides =
            [(&self.pids, Field::Pid), (&self.tids, Field::Tid), (&self.names, Field::Name)];
        if sides.iter().all(|(wanted, _)| wanted.is_none()) {
            return true;
        }
        let fields = event.fields();
        sides.iter().all(|(wanted, field)| {
            wanted.as_ref().is_none_or(|wanted| {
                let value = fields.field(*field);
                value.is_some_and(|value| wanted.contains(&*text(value, scratch)))
            })
        })
    }
}

/// The events of traces as a table of any size, in a stream of Arrow batches.
///
/// Each stream starts from the first event, and its reader decides how many batches to keep.
#[pyclass(frozen, module = "tracemill")]
pub(crate) struct Events {
    opened: Arc<Opened>,
    query: Arc<EventQuery>,
    schema: SchemaRef,
}

#[pymethods]
impl Events {
    /// Returns the schema as an Arrow C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// Returns the events as an Arrow C stream. A requested schema is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // the protocol allows a schema that differs from the requested one
        let _ = requested_schema;
        let batches = Batches::begin(self).map_err(|why| failed(why.into()))?;
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&'static str> {
        self.query.columns.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the number of events in the traces, including those not selected.
    #[getter]
    fn read(&self) -> u64 {
        self.opened.trace.len()
    }

    fn __repr__(&self) -> String {
        format!("<tracemill.Events: {}>", self.columns().join(", "))
    }
}

fn failed(why: ArrowError) -> PyErr {
    PyRuntimeError::new_err(why.to_string())
}

/// Batches that a separate thread builds.
struct Batches {
    schema: SchemaRef,
    /// Receives each batch, and `None` after the last one. If the thread panics, the channel closes
    /// earlier.
    batches: Receiver<Option<Result<RecordBatch, ArrowError>>>,
    is_over: bool,
    /// The thread ends after this value is dropped with the reader.
    _reader: Arc<()>,
}

impl Batches {
    fn begin(events: &Events) -> std::io::Result<Self> {
        let (sender, batches) = sync_channel(WAITING);
        let schema = Arc::clone(&events.schema);
        let (opened, query) = (Arc::clone(&events.opened), Arc::clone(&events.query));
        let builder_schema = Arc::clone(&schema);
        let reader = Arc::new(());
        let is_read = Arc::downgrade(&reader);
        let make = move || {
            let last = make(&opened, &query, &builder_schema, &sender, &is_read);
            // the receiver may have been dropped
            let _ = last.map(|last| sender.send(Some(last)).and_then(|()| sender.send(None)));
        };
        Builder::new().name("events".into()).spawn(make)?;
        Ok(Batches { schema, batches, is_over: false, _reader: reader })
    }
}

struct Gone;

/// Builds all batches, and sends all except the last one. Returns the last batch, or the error that
/// ended the work.
fn make(
    opened: &Opened,
    query: &EventQuery,
    schema: &SchemaRef,
    sender: &SyncSender<Option<Result<RecordBatch, ArrowError>>>,
    reader: &Weak<()>,
) -> Result<Result<RecordBatch, ArrowError>, Gone> {
    let mut rows = BatchRows::new(opened, schema, &query.columns);
    let all = || opened.trace.events(EventOrder::Time);
    let events: Box<dyn Iterator<Item = TraceEvent<'_>>> = match &query.windows {
        None => Box::new(all()),
        Some(windows) => {
            Box::new(windows.iter().flat_map(|window| all().within(window.from..window.to)))
        }
    };
    let mut scratch = Vec::new();
    // ends the thread after the reader is dropped, even if no batch becomes full
    let events = events.take_while(|_| reader.strong_count() > 0);
    for event in events.filter(|event| query.takes(event, &mut scratch)) {
        if rows.is_full(&event) {
            sender.send(Some(rows.take())).map_err(|_| Gone)?;
        }
        if let Err(why) = rows.push(&event) {
            return Ok(Err(why));
        }
    }
    // if an input has changed, the events do not belong to the same trace
    let changed = opened.trace.check_unchanged();
    let changed = changed.map_err(|why| ArrowError::ExternalError(Box::new(why)));
    Ok(changed.and_then(|()| rows.take()))
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.batches.recv().unwrap_or_else(|_| {
            let text = "the thread that makes the batches ended early".to_owned();
            Some(Err(ArrowError::ComputeError(text)))
        });
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Values of a field that are accepted. `None` accepts all values.
type TextFilter = Option<HashSet<String>>;

/// Reads the inputs for the `words` of a `merge` command. Returns the events and the messages.
#[pyfunction]
#[pyo3(signature = (words, windows, columns, pids, tids, names, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are those of the function in Python")]
pub(crate) fn open_events(
    py: Python<'_>,
    words: Vec<OsString>,
    windows: Vec<String>,
    columns: Option<Vec<String>>,
    pids: TextFilter,
    tids: TextFilter,
    names: TextFilter,
    progress: Tell,
) -> PyResult<(Events, Vec<Message>)> {
    let caller = Caller::default();
    watched(py, &caller, &progress, || {
        let columns = chosen(columns)?;
        let refusal = merged_places(&columns);
        let reading = tracemill::reading(words, &windows, refusal, &caller)?;
        let (opened, windows, messages) = open(reading)?;
        let schema = opened.schema(&columns);
        let query = Arc::new(EventQuery { columns, windows, pids, tids, names });
        Ok((Events { opened: Arc::new(opened), query, schema }, messages))
    })
}

/// Returns an error message if a column has positions in the inputs, which a merge would change.
/// Returns `None` if there is no such column.
fn merged_places(columns: &[(&'static str, Column)]) -> Option<String> {
    let (name, _) = columns.iter().find(|(_, column)| column.is_place())?;
    Some(format!(
        "the column {name} is that of inputs as they are written, and several are merged: \
         pid=\"keep\", ids=\"keep\", align=\"none\" reads them as they are"
    ))
}

fn wrong(text: String) -> Refusal {
    Refusal { class: ErrorClass::Usage, text }
}

fn chosen(names: Option<Vec<String>>) -> Result<Vec<(&'static str, Column)>, Refusal> {
    let Some(names) = names else { return Ok(COLUMNS[..USUAL].to_vec()) };
    if names.is_empty() {
        return Err(wrong("no columns: leave them out for the usual ones".to_owned()));
    }
    let column = |name: &String| {
        COLUMNS.into_iter().find(|(known, _)| known == name).ok_or_else(|| {
            let all = COLUMNS.map(|(name, _)| name).join(", ");
            wrong(format!("no column {name}: there are {all}"))
        })
    };
    names.iter().map(column).collect()
}

/// The opened trace, the requested windows, and the messages.
type OpenedEvents = (Opened, Option<Vec<TimeSpan>>, Vec<Message>);

fn open(reading: Reading) -> Result<OpenedEvents, Refusal> {
    let Reading { sources, limits, profiles, windows, messages } = reading;
    if !windows.is_empty() {
        windows::check(&windows)?;
    }
    let mut reader = ProfileReader::new(&profiles, false, false);
    let trace = Trace::observe(&sources, &limits, &mut reader, ())?;
    let lost = tracemill::losses(trace.inputs()).into_iter().map(|text| (true, text));
    let messages = messages
        .into_iter()
        .map(|message| (message.is_warning, message.text))
        .chain(lost)
        .collect();
    let spans = match (windows.is_empty(), bounds(&trace)) {
        (true, _) => None,
        (false, Some(bounds)) => Some(Windows::of(&windows, bounds)?.0),
        (false, None) => Some(Vec::new()),
    };
    Ok((Opened::new(trace), spans, messages))
}

/// Returns the start of the trace and the time of its last event. Returns `None` if no event has a
/// time.
fn bounds(trace: &Trace) -> Option<Bounds> {
    let (_, last) = trace.span()?;
    let mut times = Times::default();
    let mut note = |event: &TraceEvent<'_>| {
        let event = event.fields();
        let time = event.ts().filter(|_| !event.is_metadata())?;
        times.note(&event, time, time.floor);
        Some(time.floor)
    };
    // whether events at time 0 count depends on later events, so this reads up to the first of
    // them, and the last event
    let _ = trace.events(EventOrder::Time).filter_map(|event| note(&event)).find(|&time| time > 0);
    let _ = trace.events(EventOrder::Time).within(last..i64::MAX).next().map(|event| note(&event));
    times.bounds()
}
