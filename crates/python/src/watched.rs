//! Runs work on a separate thread, while the calling thread handles signals and reports progress.

use crate::errors::exception;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{panic, thread};
use tracemill::Caller;
use tracemill::Refusal;
use tracemill::Stage;

/// Interval at which signals are checked and progress is reported.
const TICK: Duration = Duration::from_millis(50);

/// The callback for progress. Its arguments are the stage, the bytes done, and the total bytes if
/// known.
pub(crate) type Tell = Option<Py<PyAny>>;

fn tell(py: Python<'_>, caller: &Caller, progress: &Tell) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let Stage { verb, done, total } = Stage::of(&caller.progress);
    progress.call1(py, (verb, done, total)).map(drop)
}

/// Runs `work` on another thread without the interpreter lock. `caller` can cancel the work.
///
/// An exception of a signal handler (KeyboardInterrupt) or of `progress` cancels the work. If the
/// work has finished already, its result is returned, and the exception is passed to
/// `sys.unraisablehook`.
///
/// # Errors
/// Returns the exception if it cancelled the work. Otherwise, returns the error of the work.
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
                // this value is dropped when the work ends, even by a panic, and closes the channel
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
