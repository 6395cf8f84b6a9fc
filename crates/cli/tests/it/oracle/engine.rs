//! Runs the engine of DevTools on a file.

use crate::support::{binary, testdata};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tracemill_testkit::devtools;
pub(super) use tracemill_testkit::devtools::beside;

pub(super) struct Engine(&'static Path);

/// Returns the engine, or `None` if something that it needs is missing.
pub(super) fn engine() -> Option<Engine> {
    devtools::engine(Path::new(env!("CARGO_TARGET_TMPDIR"))).map(Engine)
}

impl Engine {
    /// Returns DevTools' result for a file, or its error.
    pub(super) fn try_ask(&self, file: &Path) -> Result<Value, Value> {
        let mut command = Command::new("node");
        command.arg(self.0.join("oracle.mjs")).arg("--no-insights").arg(file);
        let output = command.output().expect("the oracle runs");
        let stderr = || String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command:?}: {error}\n{}", stderr()));
        match output.status.code() {
            Some(0) => Ok(answer),
            Some(2) => Err(answer["error"].clone()),
            _ => panic!("{command:?}: {}\n{}", output.status, stderr()),
        }
    }

    /// Returns DevTools' result for a file that it must accept.
    #[track_caller]
    pub(super) fn ask(&self, file: &Path) -> Value {
        match self.try_ask(file) {
            Ok(answer) => answer,
            Err(error) => panic!("DevTools refuses {}: {error}", file.display()),
        }
    }
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the command runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    output
}

pub(super) fn tracemill(words: &[&str], paths: &[&Path]) -> Output {
    Command::new(binary()).args(words).args(paths).output().expect("the command runs")
}

/// Reads a JSON file, compressed or not, with Node, so that the tested code does not judge itself.
///
/// Browsers write unpaired surrogates, which Rust strings cannot hold; they become U+FFFD.
pub(super) fn json(file: &Path) -> Value {
    const READ: &str = "const b = require('fs').readFileSync(process.argv[1]);
        const text = new TextDecoder().decode(b[0] === 0x1f ? require('zlib').gunzipSync(b) : b);
        const sound = (_, value) => typeof value === 'string' ? value.toWellFormed() : value;
        process.stdout.write(JSON.stringify(JSON.parse(text), sound))";
    let output = run(Command::new("node").args(["-e", READ]).arg(file));
    serde_json::from_slice(&output.stdout).expect("Node writes JSON")
}

/// An input with CPU profiles.
pub(super) struct Input {
    pub(super) file: PathBuf,
    /// Path below the corpus or `testdata`.
    pub(super) name: String,
    pub(super) is_trace: bool,
}

/// Returns all inputs of the corpus and `testdata` with CPU profiles.
pub(super) fn inputs_with_profiles() -> &'static [Input] {
    static INPUTS: OnceLock<Vec<Input>> = OnceLock::new();
    INPUTS.get_or_init(|| {
        let roots = [beside("corpus"), testdata()];
        let inputs = roots.iter().flat_map(|root| {
            files_below(root).into_iter().filter_map(|file| Input::read(root, file))
        });
        inputs.collect()
    })
}

impl Input {
    /// Returns `None` for a file without CPU profiles.
    fn read(root: &Path, file: PathBuf) -> Option<Self> {
        let output = tracemill(&["profile", "list", "--json"], &[&file]);
        let list: Value = serde_json::from_slice(&output.stdout).ok()?;
        if list["profiles"].as_array().is_none_or(Vec::is_empty) {
            return None;
        }
        let name = file.strip_prefix(root).expect("a file below").to_string_lossy().into_owned();
        Some(Input { file, name, is_trace: list["inputs"][0]["profiles"] == 0 })
    }
}

/// Returns all files below a folder, except golden files.
fn files_below(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true if path.ends_with("golden") => {}
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    files
}
