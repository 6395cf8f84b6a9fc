//! A folder in which tests run the command, and sample traces.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
pub(crate) use tracemill_testkit::Run;
pub(crate) use tracemill_testkit::world::times;

/// Two threads: `a` with `b` twice inside, and `b` alone.
pub(crate) const STACKS: &str = r#"[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":9000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":6000,"dur":1000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":1000,"dur":500}]"#;

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

    /// Returns the command with words separated by blanks, in this folder and with 100 columns.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = self.program(binary(), words);
        command.env("COLUMNS", "100");
        command
    }

    pub(crate) fn run(&self, words: &str) -> Run {
        self.0.run(&mut self.command(words))
    }

    /// Runs the command with `input` on standard input.
    pub(crate) fn pipe(&self, words: &str, input: impl AsRef<[u8]>) -> Run {
        self.0.pipe(&mut self.command(words), input.as_ref())
    }
}

pub(crate) fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_tracemill"))
}

/// Returns the folder of the test inputs.
pub(crate) fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata")
}

pub(crate) fn event(ts: u64) -> String {
    format!(r#"{{"name":"e","ph":"X","ts":{ts},"dur":1,"pid":1,"tid":2,"args":{{}}}}"#)
}

/// Returns a trace in object form.
pub(crate) fn trace(times: impl IntoIterator<Item = u64>) -> String {
    let events: Vec<String> = times.into_iter().map(event).collect();
    format!("{{\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
}

/// Returns a trace whose third event is truncated, and the offset of that event.
pub(crate) fn truncated() -> (String, usize) {
    let whole = trace([3, 1, 2]);
    let at = whole.rfind("{\"name\"").expect("an event");
    (whole[..at + 20].to_owned(), at)
}
