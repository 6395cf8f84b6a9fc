//! A program that calls verbs, and what it is handed instead of what the command prints.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::run::limits::{Cancel, Progress};

/// A program's call of a verb; each call has one of its own.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Ends the call.
    pub cancel: Cancel,
    /// What it has done so far.
    pub progress: Arc<Progress>,
    handed: CallerOutput,
}

/// What was handed over so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallerOutput(Arc<Mutex<(Vec<u8>, Vec<CallerMessage>)>>);

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerMessage {
    /// Whether it is a warning; else it tells what was done without being asked for.
    pub is_warning: bool,
    /// Lines, without the program's name.
    pub text: String,
}

/// What a verb answers.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The JSON that was asked for (`docs/json.md`); empty if none was.
    pub json: String,
    /// What was said, in order.
    pub said: Vec<CallerMessage>,
    /// The status that the command ends with: 0, or 1 if something was lost, or nothing found that was asked for.
    pub status: u8,
}

/// Why a verb could not finish.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// Whether the user, the input or the system is at fault.
    pub class: ErrorClass,
    /// What the command would have said, with the place in the input, without the program's name.
    pub text: String,
}

impl Caller {
    pub(crate) fn handed(&self) -> &CallerOutput {
        &self.handed
    }

    /// What was handed over, at the end of the call.
    pub(crate) fn answer(&self, status: u8) -> Answer {
        let (json, said) = mem::take(&mut *self.handed.lock());
        Answer { json: String::from_utf8_lossy(&json).into_owned(), said, status }
    }
}

impl CallerOutput {
    fn lock(&self) -> MutexGuard<'_, (Vec<u8>, Vec<CallerMessage>)> {
        // whoever panicked meanwhile left at most a message unsaid
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands over the JSON, in place of what there is.
    pub(crate) fn json(&self, bytes: Vec<u8>) {
        self.lock().0 = bytes;
    }

    /// Hands over a message.
    pub(crate) fn say(&self, is_warning: bool, text: String) {
        self.lock().1.push(CallerMessage { is_warning, text });
    }
}
