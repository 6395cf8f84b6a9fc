//! Functions that run the program and its commands.

use crate::stream::Message;
use crate::watched::watched;
use pyo3::prelude::*;
use std::ffi::OsString;
use tracemill::Answer;
use tracemill::Caller;

/// Result of a command: its status, JSON and messages.
type Answered = (u8, String, Vec<Message>);

/// Runs a command. `words` is the command line after `tracemill`.
#[pyfunction]
#[pyo3(signature = (words, progress=None))]
pub(crate) fn call(
    py: Python<'_>,
    words: Vec<OsString>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Answered> {
    let caller = Caller::default();
    let Answer { json, messages, status } =
        watched(py, &caller, &progress, || tracemill::call(words, &caller))?;
    Ok((
        status,
        json,
        messages.into_iter().map(|message| (message.is_warning, message.text)).collect(),
    ))
}

/// Runs the program with a command line, and returns the exit status. Prints like the program; a
/// signal ends the process.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| tracemill::main(words, None))
}
