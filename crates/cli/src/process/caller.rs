//! Types for programs that call this library: their handle of a call, and the output that they
//! receive.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::{Cancel, Progress};

/// The handle of one call of a command. A program must create another handle for each call.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Cancels the command.
    pub cancel: Cancel,
    /// Counters of the progress of the command.
    pub progress: Arc<Progress>,
    handed: CallerOutput,
}

/// JSON and messages that a command has written so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerOutput(Arc<Mutex<(Vec<u8>, Vec<CallerMessage>)>>);

/// A warning or a note of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerMessage {
    /// Whether the message is a warning. If not, it reports a change that was not requested.
    pub is_warning: bool,
    /// Text of the message, without the program's name. It may have several lines.
    pub text: String,
}

/// The result of a command.
#[derive(Clone, Debug)]
pub struct Answer {
    /// JSON of `--json` or `--report -` (see `docs/json.md`). Empty if none was requested.
    pub json: String,
    /// Messages in the order in which they were written.
    pub messages: Vec<CallerMessage>,
    /// Exit status of the command: 0, or 1 if data was lost or nothing was found.
    pub status: u8,
}

/// The error that ended a command.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Class of the error: usage, input or system.
    pub class: ErrorClass,
    /// Text of the error, with the position in the input, without the program's name.
    pub text: String,
}

impl Caller {
    pub(crate) fn handed(&self) -> &CallerOutput {
        &self.handed
    }

    /// Returns the JSON and the messages at the end of a command.
    pub(crate) fn answer(&self, status: u8) -> Answer {
        let (json, messages) = mem::take(&mut *self.handed.lock());
        Answer { json: String::from_utf8_lossy(&json).into_owned(), messages, status }
    }
}

impl CallerOutput {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Vec<CallerMessage>)> {
        // if a thread panicked while it held the lock, at most one message is lost
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn json(&self, bytes: Vec<u8>) {
        self.lock().0 = bytes;
    }

    pub(crate) fn say(&self, is_warning: bool, text: String) {
        self.lock().1.push(CallerMessage { is_warning, text });
    }
}
