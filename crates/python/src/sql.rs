//! Streams the rows of a query, which the program `tracemill-query` answers.
//!
//! ```text
//!   words ─> tracemill-query --format=arrow ─ pipe ─> StreamReader (thread) ─> up to 2 batches ─> reader
//! ```

use crate::program::{Program, ProgramGuard, ProgramHandle};
use crate::stream::{Batches, Message, Part, failed, names, schema_capsule, stream_capsule};
use crate::watched::interruptible;
use arrow_ipc::reader::StreamReader;
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::ChildStdout;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use tracemill::{ErrorClass, Refusal};

/// The rows of a query, in a stream of Arrow batches.
///
/// The query runs while the stream is read. Each stream after the first runs the query again.
#[pyclass(frozen, module = "tracemill")]
pub(crate) struct Rows {
    call: ProgramCall,
    schema: SchemaRef,
    /// The answer whose schema was read, until a reader takes it.
    answer: Mutex<Option<Answer>>,
}

/// The command line of the program, and a file in the folder that is searched for it first.
struct ProgramCall {
    words: Vec<OsString>,
    near: PathBuf,
}

/// An answer after its schema was read.
struct Answer {
    program: Program,
    guard: ProgramGuard,
    batches: StreamReader<ChildStdout>,
}

impl ProgramCall {
    /// Starts the program, and applies `work` to it and its output. A signal ends both.
    fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(Program, ChildStdout) -> Result<T, Refusal> + Send,
    ) -> PyResult<T> {
        let started = Program::start(&self.words, &self.near);
        let handle = started.as_ref().ok().map(|(program, _)| program.handle());
        let is_stopped = AtomicBool::new(false);
        let cancel = || {
            is_stopped.store(true, Ordering::Relaxed);
            handle.iter().for_each(ProgramHandle::stop);
        };
        interruptible(
            py,
            |_| Ok(()),
            cancel,
            || {
                let (program, output) = started?;
                let done = work(program, output)?;
                match is_stopped.load(Ordering::Relaxed) {
                    true => Err(Refusal { class: ErrorClass::Cancelled, text: String::new() }),
                    false => Ok(done),
                }
            },
        )
    }

    /// Runs the program until it has written the schema.
    fn answer(&self, py: Python<'_>) -> PyResult<Answer> {
        self.run(py, |program, output| {
            let guard = ProgramGuard(program.handle());
            match StreamReader::try_new(output, None) {
                Ok(batches) => Ok(Answer { program, guard, batches }),
                Err(error) => {
                    program.end()?;
                    Err(Refusal { class: ErrorClass::System, text: error.to_string() })
                }
            }
        })
    }
}

#[pymethods]
impl Rows {
    /// Returns the schema as an Arrow C schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// Returns the rows as an Arrow C stream. A requested schema is ignored.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // the protocol allows a schema that differs from the requested one
        let _ = requested_schema;
        let first = self.answer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let answer = first.map_or_else(|| self.call.answer(py), Ok)?;
        stream_capsule(py, answer.stream().map_err(|error| failed(error.into()))?)
    }

    /// Returns the names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        names(&self.schema)
    }

    fn __repr__(&self) -> String {
        format!("<tracemill.Rows: {}>", self.columns().join(", "))
    }
}

impl Answer {
    /// Starts the thread that reads the batches. The program ends after the stream is dropped.
    fn stream(self) -> std::io::Result<Batches> {
        let Answer { program, guard, batches: reader } = self;
        let (sender, batches) = Batches::new(reader.schema(), guard);
        let read = move || {
            let send = |batch| drop(sender.send(Part::Batch(batch)));
            let failure = reader.map(|batch| batch.map(send)).find_map(Result::err);
            // an output that is cut off follows from an error of the program
            let end = program.end().map_err(|why| ArrowError::ExternalError(why.text.into()));
            let end = end.and_then(|messages| failure.map_or(Ok(messages), Err));
            // the receiver may have been dropped
            let _ = sender.send(Part::End(end));
        };
        Builder::new().name("sql".into()).spawn(read)?;
        Ok(batches)
    }
}

/// Starts a query, given the words of its command line, and waits for its first rows.
#[pyfunction]
pub(crate) fn open_query(py: Python<'_>, words: Vec<OsString>, near: PathBuf) -> PyResult<Rows> {
    let call = ProgramCall { words, near };
    let answer = call.answer(py)?;
    let schema = answer.batches.schema();
    Ok(Rows { call, schema, answer: Mutex::new(Some(answer)) })
}

/// Runs a query, given the words of its command line. Returns its output as text, and its messages.
#[pyfunction]
pub(crate) fn query_text(
    py: Python<'_>,
    words: Vec<OsString>,
    near: PathBuf,
) -> PyResult<(String, Vec<Message>)> {
    ProgramCall { words, near }.run(py, |program, mut output| {
        let mut text = String::new();
        let read = output.read_to_string(&mut text);
        let messages = program.end()?;
        let failed = |error| Refusal { class: ErrorClass::System, text: format!("{error}") };
        read.map_err(|error: std::io::Error| failed(error))?;
        Ok((text, messages))
    })
}
