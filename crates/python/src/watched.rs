//! Work on a thread of its own, while the one that called watches for signals and tells how far it is.

use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use std::{panic, thread};
use tracemill::{Caller, Stage};

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
/// # Errors
/// What a handler of a signal raised (KeyboardInterrupt), or `progress`: the work was ended then.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    caller: &Caller,
    progress: &Tell,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
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
            let done = worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            match raised {
                Some(error) => Err(error),
                None => Python::attach(|py| tell(py, caller, progress)).map(|()| done),
            }
        })
    })
}
