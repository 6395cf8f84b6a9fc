//! Calls of verbs by other programs: what they pass in, and the output that they get back.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::{Cancel, Progress};

/// The handle of one call of a verb by another program; do not reuse it for a second call.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Cancels the call.
    pub cancel: Cancel,
    /// Counters of the work done so far.
    pub progress: Arc<Progress>,
    handed: CallerOutput,
}

/// JSON and messages collected during a call.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerOutput(Arc<Mutex<(Vec<u8>, Vec<CallerMessage>)>>);

/// A warning or note of a verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerMessage {
    /// Whether the message is a warning; otherwise it reports a change made without being
    /// requested.
    pub is_warning: bool,
    /// Text of one or more lines, without the program's name.
    pub text: String,
}

/// The result of a verb.
#[derive(Clone, Debug)]
pub struct Answer {
    /// JSON of `--json` or `--report -` (`docs/json.md`); empty if not requested.
    pub json: String,
    /// Messages, in order.
    pub messages: Vec<CallerMessage>,
    /// Exit status of the command: 0, or 1 if something was lost or nothing was found.
    pub status: u8,
}

/// An error that ended a call.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Cause of the error: usage, input or system.
    pub class: ErrorClass,
    /// Error message with the position in the input, without the program's name.
    pub text: String,
}

impl Caller {
    pub(crate) fn handed(&self) -> &CallerOutput {
        &self.handed
    }

    /// Returns the collected JSON and messages at the end of the call.
    pub(crate) fn answer(&self, status: u8) -> Answer {
        let (json, messages) = mem::take(&mut *self.handed.lock());
        Answer { json: String::from_utf8_lossy(&json).into_owned(), messages, status }
    }
}

impl CallerOutput {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Vec<CallerMessage>)> {
        // a thread that panicked while locking lost at most one message
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn json(&self, bytes: Vec<u8>) {
        self.lock().0 = bytes;
    }

    pub(crate) fn say(&self, is_warning: bool, text: String) {
        self.lock().1.push(CallerMessage { is_warning, text });
    }
}
