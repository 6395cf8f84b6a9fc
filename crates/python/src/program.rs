//! Runs the program `tracemill-query`, which answers SQL.

use crate::stream::Message;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use tracemill::engine::{PROGRAM, program};
use tracemill::{ErrorClass, Refusal};

/// A program that runs, and the messages that it has printed.
pub(crate) struct Program {
    handle: ProgramHandle,
    messages: JoinHandle<String>,
}

/// A handle of a program.
#[derive(Clone)]
pub(crate) struct ProgramHandle(Arc<Mutex<Child>>);

impl Program {
    /// Starts the program with the words of a command line, and returns it with its output. It is
    /// searched in the folder of `near` first.
    ///
    /// # Errors
    /// Returns an error if the program is missing or cannot be started.
    pub(crate) fn start(words: &[OsString], near: &Path) -> Result<(Self, ChildStdout), Refusal> {
        let mut command = program(near).ok_or_else(|| Refusal {
            class: ErrorClass::Usage,
            text: format!("SQL needs the program {PROGRAM}: pip install \"tracemill[sql]\""),
        })?;
        command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = command.get_program().display().to_string();
        let failed = |error| system(format!("cannot start {name}: {error}"));
        let mut child = command.spawn().map_err(failed)?;
        let (Some(output), Some(messages)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(system(format!("{name} has no output")));
        };
        let handle = ProgramHandle(Arc::new(Mutex::new(child)));
        let read = move || text_of(messages);
        let messages = Builder::new().name("messages".into()).spawn(read);
        let messages = messages.map_err(|error| {
            handle.stop();
            system(format!("cannot read the messages of {name}: {error}"))
        })?;
        Ok((Program { handle, messages }, output))
    }

    pub(crate) fn handle(&self) -> ProgramHandle {
        self.handle.clone()
    }

    /// Waits for the end of the program. Returns its messages.
    ///
    /// # Errors
    /// Returns the error that the program has printed.
    pub(crate) fn end(self) -> Result<Vec<Message>, Refusal> {
        let text = self.messages.join().unwrap_or_default();
        let status = self
            .handle
            .wait()
            .map_err(|error| system(format!("cannot wait for {PROGRAM}: {error}")))?;
        let (messages, error) = parsed(&text);
        let class = match status.code() {
            Some(0 | 1) => return Ok(messages),
            Some(2) => ErrorClass::Usage,
            Some(3) => ErrorClass::Input,
            Some(130 | 143) => ErrorClass::Cancelled,
            _ => ErrorClass::System,
        };
        let text = error.unwrap_or_else(|| format!("{PROGRAM} ended early: {status}"));
        Err(Refusal { class, text })
    }
}

impl ProgramHandle {
    /// Ends the program, if it still runs. It removes its temporary files.
    pub(crate) fn stop(&self) {
        let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(child.try_wait(), Ok(None)) {
            // it may have ended in between; its id is not reused before `wait`
            let _ended = kill_process(Pid::from_child(&child), Signal::TERM);
            let _status = child.wait();
        }
    }

    fn wait(&self) -> std::io::Result<ExitStatus> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wait()
    }
}

/// Ends a program when it is dropped.
pub(crate) struct ProgramGuard(pub(crate) ProgramHandle);

impl Drop for ProgramGuard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

fn system(text: String) -> Refusal {
    Refusal { class: ErrorClass::System, text }
}

fn text_of(mut messages: ChildStderr) -> String {
    let mut bytes = Vec::new();
    // after an error, the messages so far are used
    let _ = messages.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Returns the messages in the text of a program, and its error. Only the first line of an error
/// begins with its kind.
fn parsed(text: &str) -> (Vec<Message>, Option<String>) {
    let (mut messages, mut error) = (Vec::new(), None::<String>);
    for line in text.lines() {
        let line = line.strip_prefix("tracemill: ").unwrap_or(line);
        if let Some(first) = line.strip_prefix("error: ") {
            error = Some(first.to_owned());
        } else if let Some(error) = &mut error {
            *error += "\n";
            *error += line;
        } else if let Some(warning) = line.strip_prefix("warning: ") {
            messages.push((true, warning.to_owned()));
        } else {
            messages.push((false, line.to_owned()));
        }
    }
    (messages, error)
}
