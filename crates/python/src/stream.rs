//! Batches that a thread produces, as a stream of the Arrow PyCapsule interface.

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// A message: whether it is a warning, and its text.
pub(crate) type Message = (bool, String);

/// Interval at which signals are checked.
pub(crate) const TICK: Duration = Duration::from_millis(50);
/// Maximum number of complete batches that wait for the reader.
const WAITING: usize = 2;

/// A part of a stream.
pub(crate) enum Part {
    Batch(RecordBatch),
    /// The end of the stream, with its messages, or the error that ended it.
    End(Result<Vec<Message>, ArrowError>),
}

/// Batches that a separate thread produces.
pub(crate) struct Batches {
    schema: SchemaRef,
    /// If the thread panics, the channel closes before [`Part::End`].
    parts: Receiver<Part>,
    /// Its drop ends the thread. `None` after the end of the stream.
    reader: Option<Box<dyn Send>>,
}

impl Batches {
    /// Creates a stream, and the channel for its thread. `reader` is dropped at the end of the stream,
    /// or when the program that reads it drops the stream.
    pub(crate) fn new(schema: SchemaRef, reader: impl Send + 'static) -> (SyncSender<Part>, Self) {
        let (sender, parts) = sync_channel(WAITING);
        (sender, Batches { schema, parts, reader: Some(Box::new(reader)) })
    }

    /// Returns the next part. The interpreter lock is released during the wait, whether this thread
    /// has it or not.
    fn receive(&mut self) -> Result<Part, ArrowError> {
        let parts = &mut self.parts;
        loop {
            let attached = Python::try_attach(|py| {
                py.check_signals()?;
                Ok(py.detach(|| wait(parts)))
            });
            // without an interpreter, there is nothing to release
            let received = attached.unwrap_or_else(|| Ok(wait(parts)));
            match received.map_err(interrupted)? {
                Ok(part) => return Ok(part),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "the thread that makes the batches ended early".to_owned();
                    return Err(ArrowError::ComputeError(text));
                }
            }
        }
    }
}

/// Waits for the next part for one [`TICK`].
fn wait(parts: &mut Receiver<Part>) -> Result<Part, RecvTimeoutError> {
    parts.recv_timeout(TICK)
}

/// Returns the error of a stream that a signal handler ended. Readers of streams know errors only as
/// text, so KeyboardInterrupt is raised again when they return to the interpreter.
fn interrupted(raised: PyErr) -> ArrowError {
    // before that, because the text is made by the interpreter
    let text = raised.to_string();
    let again = Python::attach(|py| match raised.is_instance_of::<PyKeyboardInterrupt>(py) {
        true => py.import("_thread")?.call_method0("interrupt_main").map(drop),
        false => Ok(()),
    });
    ArrowError::ExternalError(again.map_or_else(|error| error.to_string(), |()| text).into())
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.reader.as_ref()?;
        let next = match self.receive() {
            Ok(Part::Batch(batch)) => return Some(Ok(batch)),
            Ok(Part::End(Ok(messages))) => {
                let raised = Python::try_attach(|py| tell(py, &messages)).and_then(Result::err);
                raised.map(|raised| Err(ArrowError::ExternalError(raised.into())))
            }
            Ok(Part::End(Err(error))) | Err(error) => Some(Err(error)),
        };
        self.reader = None;
        next
    }
}

/// Passes messages to the warnings and the log of Python.
fn tell(py: Python<'_>, messages: &[Message]) -> PyResult<()> {
    if messages.is_empty() {
        return Ok(());
    }
    py.import("tracemill._run")?.call_method1("tell", (messages.to_vec(), 1)).map(drop)
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// Returns a schema as an Arrow C schema.
pub(crate) fn schema_capsule<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(&**schema).map_err(failed)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Returns batches as an Arrow C stream.
pub(crate) fn stream_capsule(py: Python<'_>, batches: Batches) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// Returns the names of the columns.
pub(crate) fn names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

pub(crate) fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
