//! Separates the error of an observer from the errors of the scan.

use std::cell::Cell;
use std::rc::Rc;
use tracemill_trace::observe::{InputStart, Needs, Observer, SealedChunk, Starter};
use tracemill_trace::run::error::{Error, ErrorKind};

/// Keeps the first error of an observer and cancels the scan. A scan of indexed ranges that fails
/// for another reason is repeated without the index; an error of the observer is final.
pub(super) struct FirstError<O> {
    observer: O,
    /// Shared with the caller, because a failed scan drops its observers.
    error: Rc<Cell<Option<Error>>>,
}

impl<O> FirstError<O> {
    /// Wraps an observer. Also returns the cell that receives the observer's error.
    pub(super) fn new(observer: O) -> (Self, Rc<Cell<Option<Error>>>) {
        let error = Rc::default();
        (FirstError { observer, error: Rc::clone(&error) }, error)
    }
}

impl<O: Observer> Observer for FirstError<O> {
    type Chunk = O::Chunk;

    fn needs(&self) -> Needs {
        self.observer.needs()
    }

    fn begin(&mut self, input: &InputStart<'_>) {
        self.observer.begin(input);
    }

    fn starter(&self) -> Starter<O::Chunk> {
        self.observer.starter()
    }

    fn merge(&mut self, found: O::Chunk, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.observer.merge(found, chunk).map_err(|error| {
            self.error.set(Some(error));
            ErrorKind::Cancelled.into()
        })
    }
}
