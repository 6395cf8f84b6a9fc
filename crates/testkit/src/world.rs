//! A temporary folder for running the built command, and the result of a run.
//!
//! ```
//! use tracemill_testkit::Folder;
//!
//! let folder = Folder::new().with("a.txt", "one\n");
//! let run = folder.run(&mut folder.program("cat", "a.txt missing.txt"));
//! assert_eq!((run.code, &*run.stdout), (Some(1), "one\n"));
//! assert!(run.stderr.contains("missing.txt"));
//! assert_eq!(folder.names(), ["a.txt"]);
//! ```

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Length and hash of a file's bytes.
pub type Digest = (usize, u64);

/// Digests of files by name.
pub type Files = BTreeMap<String, Digest>;

/// Returns the length and hash of `bytes`.
#[must_use]
pub fn digest(bytes: &[u8]) -> Digest {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    (bytes.len(), hasher.finish())
}

/// Returns the files in a folder, including hidden files. Returns no files if the folder does not
/// exist.
///
/// # Panics
///
/// Panics if a file cannot be read.
#[must_use]
pub fn files(folder: &Path) -> Files {
    let Ok(entries) = fs::read_dir(folder) else { return Files::new() };
    let entry = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry of a folder");
        let bytes = fs::read(entry.path()).expect("a file that can be read");
        (entry.file_name().to_string_lossy().into_owned(), digest(&bytes))
    };
    entries.map(entry).collect()
}

/// A temporary folder, removed on drop.
#[derive(Debug)]
pub struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Folder::new()
    }
}

#[expect(clippy::missing_panics_doc, reason = "every function panics if the folder fails it")]
impl Folder {
    /// Creates an empty folder.
    #[must_use]
    pub fn new() -> Self {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file, and returns the folder for chaining.
    #[must_use]
    pub fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        self.file(name, content);
        self
    }

    /// Writes a file, and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap_or_else(|error| panic!("{name}: {error}"));
        path
    }

    /// Creates an empty subfolder.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        path
    }

    /// Returns the path of a file in the folder; an empty `name` gives the folder itself.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the bytes of a file.
    #[must_use]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the text of a file.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("a file of text")
    }

    /// Returns the files in a subfolder, including hidden files. Returns no files if the subfolder
    /// does not exist.
    #[must_use]
    pub fn files(&self, name: &str) -> Files {
        files(&self.path(name))
    }

    /// Returns the sorted names of all entries, including hidden entries.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
        let mut names: Vec<_> = entries.map(|entry| name(entry.expect("an entry"))).collect();
        names.sort();
        names
    }

    /// Disables removal on drop, and returns the path.
    pub fn keep(&mut self) -> PathBuf {
        self.0.disable_cleanup(true);
        self.path("")
    }

    /// Creates a command that runs in this folder, with blank-separated arguments and empty
    /// standard input.
    #[must_use]
    pub fn program(&self, program: impl AsRef<OsStr>, words: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env_remove("TRACEMILL_TIER")
            .args(words.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs a program to completion.
    #[must_use]
    pub fn run(&self, command: &mut Command) -> Run {
        Run::of(command.output().unwrap_or_else(|error| panic!("{command:?}: {error}")))
    }

    /// Runs a program with `input` on its standard input.
    #[must_use]
    pub fn pipe(&self, command: &mut Command, input: &[u8]) -> Run {
        let mut child = command.stdin(Stdio::piped()).spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        std::thread::scope(|scope| {
            // a failing program stops reading, and its status shows that
            scope.spawn(move || _ = stdin.write_all(input));
            Run::of(child.wait_with_output().expect("the program ends"))
        })
    }
}

/// Result of a run.
#[derive(Debug)]
pub struct Run {
    /// The exit status; `None` if a signal ended the program.
    pub code: Option<i32>,
    /// The text of standard output.
    pub stdout: String,
    /// The text of standard error.
    pub stderr: String,
}

#[expect(clippy::missing_panics_doc, reason = "assertions")]
#[expect(
    clippy::return_self_not_must_use,
    clippy::must_use_candidate,
    reason = "asserting is the use"
)]
impl Run {
    /// Converts the output of a program to text.
    #[must_use]
    pub fn of(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Asserts the exit status.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard error is a single line from the command that contains all of `parts`.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("tracemill: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "not said: {part}\n{}", self.stderr);
        }
        self
    }

    /// Asserts that standard error is one line with all of `parts`, followed by an input line and a
    /// caret.
    #[track_caller]
    pub fn points(mut self, parts: &[&str]) -> Self {
        let caret = self.stderr.lines().last().unwrap_or_default();
        assert_eq!(caret.trim_start_matches("tracemill: ").trim_start(), "^", "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 3, "{}", self.stderr);
        self.stderr = self.stderr.lines().take(1).collect();
        self.says(parts)
    }

    /// Asserts that standard error is empty.
    #[track_caller]
    pub fn quietly(self) -> Self {
        assert_eq!(self.stderr, "");
        self
    }

    /// Returns the times of the events on standard output.
    #[track_caller]
    #[must_use]
    pub fn times(&self) -> Vec<u64> {
        times(&self.stdout)
    }

    /// Returns whether the run failed with this status and an error that contains one of `parts`.
    #[must_use]
    pub fn failed(&self, code: i32, parts: &[&str]) -> bool {
        let mut errors = self.stderr.lines().filter(|line| line.starts_with("tracemill: error: "));
        self.code == Some(code) && errors.any(|line| parts.iter().any(|part| line.contains(part)))
    }
}

/// Returns the times of the events in a trace in object or array form.
///
/// # Panics
///
/// Panics if the text is not such a trace, or a time is not a whole number.
#[track_caller]
#[must_use]
pub fn times(trace: &str) -> Vec<u64> {
    let value: serde_json::Value = serde_json::from_str(trace).expect("JSON");
    let events = value.get("traceEvents").unwrap_or(&value).as_array().expect("events");
    events.iter().map(|event| event["ts"].as_u64().expect("a time")).collect()
}
