//! Streams events as Arrow batches through the PyCapsule interface.
//!
//! ```text
//!   open (a scan) ─> Events ─ __arrow_c_stream__ ─> thread ─> up to 2 batches ─> reader
//! ```

use crate::columns::{BatchRows, Column, schema};
use crate::stream::{Batches, Message, Part, failed, names, schema_capsule, stream_capsule};
use crate::watched::{Tell, watched};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Weak};
use std::thread::Builder;
use tracemill::Caller;
use tracemill::ErrorClass;
use tracemill::Reading;
use tracemill::Refusal;
use tracemill_arrow::{Condition, EventFilter, TextColumn};
use tracemill_cpuprofile::ProfileReader;
use tracemill_trace::time::bounds::{Bounds, Times};
use tracemill_trace::time::windows::{self, TimeSpan, Windows};
use tracemill_trace::{EventOrder, Trace, TraceEvent};

/// Which events and columns the user requests.
struct EventQuery {
    columns: Vec<Column>,
    /// Windows in nanoseconds. `None` selects all events, including events without a time.
    windows: Option<Vec<TimeSpan>>,
    filter: EventFilter,
}

/// The events of traces as a table of any size, in a stream of Arrow batches.
///
/// Each stream starts from the first event, and its reader decides how many batches to keep.
#[pyclass(frozen, module = "tracemill")]
pub(crate) struct Events {
    trace: Arc<Trace>,
    query: Arc<EventQuery>,
    schema: SchemaRef,
}

#[pymethods]
impl Events {
    /// Returns the schema as an Arrow C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
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
        stream_capsule(py, self.batches().map_err(|error| failed(error.into()))?)
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    /// Returns the number of events in the traces, including those not selected.
    #[getter]
    fn read(&self) -> u64 {
        self.trace.len()
    }

    fn __repr__(&self) -> String {
        format!("<tracemill.Events: {}>", self.columns().join(", "))
    }
}

impl Events {
    /// Starts the thread that builds the batches. It ends after the stream is dropped.
    fn batches(&self) -> std::io::Result<Batches> {
        let reader = Arc::new(());
        let is_read = Arc::downgrade(&reader);
        let (sender, batches) = Batches::new(Arc::clone(&self.schema), reader);
        let (trace, query) = (Arc::clone(&self.trace), Arc::clone(&self.query));
        let build = move || {
            let end = build(&trace, &query, &sender, &is_read).map(|()| Vec::new());
            // the receiver may have been dropped
            let _ = sender.send(Part::End(end));
        };
        Builder::new().name("events".into()).spawn(build)?;
        Ok(batches)
    }
}

/// Builds all batches, and sends them.
fn build(
    trace: &Trace,
    query: &EventQuery,
    sender: &SyncSender<Part>,
    reader: &Weak<()>,
) -> Result<(), ArrowError> {
    let mut rows = BatchRows::new(trace, &query.columns);
    let all = || trace.events(EventOrder::Time);
    let events: Box<dyn Iterator<Item = TraceEvent<'_>>> = match &query.windows {
        None => Box::new(all()),
        Some(windows) => {
            Box::new(windows.iter().flat_map(|window| all().within(window.from..window.to)))
        }
    };
    // a dropped receiver also drops the reader
    let send = |batch| drop(sender.send(Part::Batch(batch)));
    // ends the thread after the reader is dropped, even if no batch becomes full
    for event in events.take_while(|_| reader.strong_count() > 0) {
        if rows.is_full(&event) {
            rows.take()?.into_iter().for_each(send);
        }
        rows.push(&event, |event| query.filter.takes(event));
    }
    // if an input has changed, the events do not belong to the same trace
    trace.check_unchanged().map_err(|error| ArrowError::ExternalError(Box::new(error)))?;
    rows.take()?.into_iter().for_each(send);
    Ok(())
}

/// Values of a column that are accepted. `None` accepts all values.
type TextFilter = Option<BTreeSet<String>>;

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
        let (trace, windows, messages) = open(reading)?;
        let schema = schema(&columns);
        let any = |column, texts: TextFilter| texts.map(|all| Condition::AnyText(column, all));
        let conditions = [
            any(TextColumn::PidText, pids),
            any(TextColumn::TidText, tids),
            any(TextColumn::Name, names),
        ];
        let filter = EventFilter(conditions.into_iter().flatten().collect());
        let query = Arc::new(EventQuery { columns, windows, filter });
        Ok((Events { trace: Arc::new(trace), query, schema }, messages))
    })
}

/// Returns an error message if a column has positions in the inputs, which a merge would change.
/// Returns `None` if there is no such column.
fn merged_places(columns: &[Column]) -> Option<String> {
    let name = columns.iter().find(|column| column.is_place())?.name();
    Some(format!(
        "the column {name} is that of inputs as they are written, and several are merged: \
         pid=\"keep\", ids=\"keep\", align=\"none\" reads them as they are"
    ))
}

fn wrong(text: String) -> Refusal {
    Refusal { class: ErrorClass::Usage, text }
}

fn chosen(names: Option<Vec<String>>) -> Result<Vec<Column>, Refusal> {
    let Some(names) = names else { return Ok(Column::USUAL.to_vec()) };
    if names.is_empty() {
        return Err(wrong("no columns: leave them out for the usual ones".to_owned()));
    }
    let column = |name: &String| {
        Column::all().find(|column| column.name() == name).ok_or_else(|| {
            let all: Vec<&str> = Column::all().map(Column::name).collect();
            wrong(format!("no column {name}: there are {}", all.join(", ")))
        })
    };
    names.iter().map(column).collect()
}

/// The opened trace, the requested windows, and the messages.
type OpenedEvents = (Trace, Option<Vec<TimeSpan>>, Vec<Message>);

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
    Ok((trace, spans, messages))
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
