//! A folder to run the command in, and traces to run it on.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
pub(crate) use tracemill_testkit::Run;
pub(crate) use tracemill_testkit::world::times;

/// Two threads: `a` around `b` twice, and `b` alone.
pub(crate) const STACKS: &str = r#"[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":9000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":6000,"dur":1000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":1000,"dur":500}]"#;

/// A temporary folder in which the command is run.
pub(crate) struct Folder(tracemill_testkit::Folder);

impl Deref for Folder {
    type Target = tracemill_testkit::Folder;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tracemill_testkit::Folder::new())
    }

    /// Writes a file and returns the folder, for chaining.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(name, content);
        self
    }

    /// The command, to be run in this folder with words separated by blanks, in a terminal of 100 columns.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.program(binary(), words);
        command.env("COLUMNS", "100");
        command
    }

    /// Runs the command with nothing on standard input.
    pub(crate) fn run(&self, words: &str) -> Run {
        self.0.run(&mut self.command(words))
    }

    /// Runs the command with `input` on standard input.
    pub(crate) fn pipe(&self, words: &str, input: impl AsRef<[u8]>) -> Run {
        self.0.pipe(&mut self.command(words), input.as_ref())
    }
}

/// The built command.
pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tracemill"))
}

/// Inputs that the project keeps.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

/// One event.
pub(crate) fn event(ts: u64) -> String {
    format!(r#"{{"name":"e","ph":"X","ts":{ts},"dur":1,"pid":1,"tid":2,"args":{{}}}}"#)
}

/// A trace in the object form.
pub(crate) fn trace(times: impl IntoIterator<Item = u64>) -> String {
    let events: Vec<String> = times.into_iter().map(event).collect();
    format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

/// A trace whose third event is cut off, and where that event begins.
pub(crate) fn truncated() -> (String, usize) {
    let whole = trace([3, 1, 2]);
    let at = whole.rfind("{\"name\"").expect("an event");
    (whole[..at + 20].to_owned(), at)
}
