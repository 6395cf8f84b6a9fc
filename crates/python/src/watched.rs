//! Runs work on a separate thread, while the calling thread handles signals and reports progress.

use crate::errors::exception;
use crate::stream::TICK;
use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::{panic, thread};
use tracemill::Caller;
use tracemill::Refusal;
use tracemill::Stage;

/// The callback for progress. Its arguments are the stage, the bytes done, and the total bytes if
/// known.
pub(crate) type Tell = Option<Py<PyAny>>;

fn tell(py: Python<'_>, caller: &Caller, progress: &Tell) -> PyResult<()> {
    let Some(progress) = progress else { return Ok(()) };
    let Stage { verb, done, total } = Stage::of(&caller.progress);
    progress.call1(py, (verb, done, total)).map(drop)
}

/// Runs `work` on another thread without the interpreter lock, and reports its progress. `caller` can
/// cancel the work, as in [`interruptible`].
///
/// # Errors
/// Returns the errors of [`interruptible`].
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    caller: &Caller,
    progress: &Tell,
    work: impl FnOnce() -> Result<T, Refusal> + Send,
) -> PyResult<T> {
    interruptible(py, |py| tell(py, caller, progress), || caller.cancel.cancel(), work)
}

/// Runs `work` on another thread without the interpreter lock. This thread calls `look` meanwhile, and
/// once after the work.
///
/// An exception of a signal handler (KeyboardInterrupt) or of `look` calls `cancel`, which must end
/// the work. If the work has finished already, its result is returned, and the exception is passed to
/// `sys.unraisablehook`.
///
/// # Errors
/// Returns the exception if it cancelled the work. Otherwise, returns the error of the work.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    look: impl Fn(Python<'_>) -> PyResult<()> + Sync,
    cancel: impl Fn() + Sync,
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
                    raised = Python::attach(|py| py.check_signals().and_then(|()| look(py))).err();
                    if raised.is_some() {
                        cancel();
                    }
                }
            }
            (worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)), raised)
        })
    });
    match (done, raised) {
        (Ok(done), raised) => {
            let raised = raised.or_else(|| look(py).err());
            raised.into_iter().for_each(|late| late.write_unraisable(py, None));
            Ok(done)
        }
        (Err(_), Some(raised)) => Err(raised),
        (Err(why), None) => Err(exception(py, why.class, &why.text)),
    }
}
