//! Work on a thread of its own, while the one that called watches for signals and tells how far it is.

use crate::errors::exception;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{panic, thread};
use tracemill::{Caller, Refusal, Stage};
use pyo3::prelude::*;

/// Time between two looks.
const TICK: Duration = Duration::from_millis(50);

/// What the caller wants to be told: a function of the stage, the bytes done, and how many there will be if that is known.
pub(crate) type Tell = Option<Py<PyAny>>;

fn tell(py: Python<'_>, caller: &Caller, progress: &Tell) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let Stage { verb, done, total } = Stage::of(&caller.progress);
    progress.call1(py, (verb, done, total)).map(drop)
}

/// Does `work`, which `caller` can end, without holding the interpreter.
///
/// Exceptions of a handler of a signal (KeyboardInterrupt) and of `progress` end the work. If it is complete all the same, its
/// outputs are there: then its answer counts, and `sys.unraisablehook` gets the exception.
///
/// # Errors
/// Such an exception, if the work was ended; else the error of the work.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    caller: &Caller,
    progress: &Tell,
    work: impl FnOnce() -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    let (done, raised) = py.detach(|| {
        thread::scope(|scope| {
            let (working, is_over) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                // hung up when the work is over, however it ends
                let _working = working;
                work()
            });
            let mut raised = None;
            while is_over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if raised.is_none() {
                    let look = |py: Python<'_>| {
                        py.check_signals()?;
                        tell(py, caller, progress)
                    };
                    raised = Python::attach(look).err();
                    if raised.is_some() {
                        caller.cancel.cancel();
                    }
                }
            }
            (worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), raised)
        })
    });
    match (done, raised) {
        (Ok(done), raised) => {
            let raised = raised.or_else(|| tell(py, caller, progress).err());
            raised.into_iter().for_each(|late| late.write_unraisable(py, None));
            Ok(done)
        }
        (Err(_), Some(raised)) => Err(raised),
        (Err(why), None) => Err(exception(py, why.class, &why.text)),
    }
}
