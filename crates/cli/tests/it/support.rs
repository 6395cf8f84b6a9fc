//! A folder to run the command in, and traces to run it on.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Two threads: `a` around `b` twice, and `b` alone.
pub(crate) const STACKS: &str = r#"[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":9000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":6000,"dur":1000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":1000,"dur":500}]"#;

/// A temporary folder with inputs.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file and returns the folder, for chaining.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), content).expect("a file in a temporary folder");
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file of text")
    }

    /// Names of all files, hidden ones too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The command, to be run in this folder with words separated by blanks.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(binary());
        command
            .current_dir(self.0.path())
            .env_remove("TRACEMILL_TIER")
            .env("COLUMNS", "100")
            .args(words.split_whitespace());
        command
    }

    /// Runs the command with nothing on standard input.
    pub(crate) fn run(&self, words: &str) -> Run {
        Run::of(self.command(words).output().expect("the command runs"))
    }

    /// Runs the command with `input` on standard input.
    pub(crate) fn pipe(&self, words: &str, input: impl Into<Vec<u8>>) -> Run {
        Run::of(self.command(words).write_stdin(input).output().expect("the command runs"))
    }
}

/// What a run did.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn of(output: Output) -> Self {
        Run {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Asserts how it ended.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard error is one line with all of `parts`.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Self {
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("tracemill: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "not said: {part}\n{}", self.stderr);
        }
        self
    }

    /// Asserts that standard error is one line with all of `parts`, and a line of an input with a caret below it.
    #[track_caller]
    pub(crate) fn points(mut self, parts: &[&str]) -> Self {
        let caret = self.stderr.lines().last().unwrap_or_default();
        assert_eq!(caret.trim_start_matches("tracemill: ").trim_start(), "^", "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 3, "{}", self.stderr);
        self.stderr = self.stderr.lines().take(1).collect();
        self.says(parts)
    }

    /// Asserts that nothing was said.
    #[track_caller]
    pub(crate) fn quietly(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }

    /// Times of the events on standard output.
    #[track_caller]
    pub(crate) fn times(&self) -> Vec<u64> {
        times(&self.stdout)
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

/// Times of the events of a trace in the object or array form.
#[track_caller]
pub(crate) fn times(trace: &str) -> Vec<u64> {
    let value: serde_json::Value = serde_json::from_str(trace).expect("JSON");
    let events = value.get("traceEvents").unwrap_or(&value).as_array().expect("events");
    events.iter().map(|event| event["ts"].as_u64().expect("a time")).collect()
}
