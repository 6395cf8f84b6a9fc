//! Asks the engine of DevTools what it makes of a file.

use crate::support::{binary, testdata};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tracemill_testkit::devtools;
pub(super) use tracemill_testkit::devtools::beside;

/// The engine, ready to be asked.
pub(super) struct Engine(&'static Path);

/// The engine; `None` where something is missing that it needs.
pub(super) fn engine() -> Option<Engine> {
    devtools::engine(Path::new(env!("CARGO_TARGET_TMPDIR"))).map(Engine)
}

impl Engine {
    /// What DevTools makes of a file; the error if it refuses it.
    pub(super) fn try_ask(&self, file: &Path) -> Result<Value, Value> {
        let mut command = Command::new("node");
        command.arg(self.0.join("oracle.mjs")).arg("--no-insights").arg(file);
        let output = command.output().expect("the oracle runs");
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{command:?}: {error}\n{}", said()));
        match output.status.code() {
            Some(0) => Ok(answer),
            Some(2) => Err(answer["error"].clone()),
            _ => panic!("{command:?}: {}\n{}", output.status, said()),
        }
    }

    /// What DevTools makes of a file that it must not refuse.
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
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

/// Runs the command.
pub(super) fn tracemill(words: &[&str], paths: &[&Path]) -> Output {
    Command::new(binary()).args(words).args(paths).output().expect("the command runs")
}

/// The JSON in a file, packed or not. Node reads it: what is tested must not be its own judge, and browsers write lone
/// halves of surrogate pairs, which are no Rust strings; they become U+FFFD.
pub(super) fn json(file: &Path) -> Value {
    const READ: &str = "const b = require('fs').readFileSync(process.argv[1]);
        const text = new TextDecoder().decode(b[0] === 0x1f ? require('zlib').gunzipSync(b) : b);
        const sound = (_, value) => typeof value === 'string' ? value.toWellFormed() : value;
        process.stdout.write(JSON.stringify(JSON.parse(text), sound))";
    let output = run(Command::new("node").args(["-e", READ]).arg(file));
    serde_json::from_slice(&output.stdout).expect("Node writes JSON")
}

/// An input in which the command found CPU profiles.
pub(super) struct Input {
    pub(super) file: PathBuf,
    /// Below the corpus or `testdata`.
    pub(super) name: String,
    pub(super) is_trace: bool,
}

/// All inputs of the corpus and of `testdata` with CPU profiles.
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
    /// `None` for a file without CPU profiles.
    fn read(root: &Path, file: PathBuf) -> Option<Self> {
        let output = tracemill(&["profile", "list", "--json"], &[&file]);
        // what is no trace has no list
        let list: Value = serde_json::from_slice(&output.stdout).ok()?;
        if list["profiles"].as_array().is_none_or(Vec::is_empty) {
            return None;
        }
        let name = file.strip_prefix(root).expect("a file below").to_string_lossy().into_owned();
        Some(Input { file, name, is_trace: list["inputs"][0]["profiles"] == 0 })
    }
}

/// All files below a folder, but for recorded answers.
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
