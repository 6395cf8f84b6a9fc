//! Builds the engine of DevTools and asks it what it makes of a file.

use crate::support::{binary, testdata};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// What stands beside the project.
pub(super) fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

/// The engine, ready to be asked.
pub(super) struct Engine(PathBuf);

/// The engine; `None`, and a word about it, where something is missing that it needs.
pub(super) fn engine() -> Option<&'static Engine> {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    if let Some(missing) = missing() {
        #[expect(
            clippy::print_stderr,
            reason = "whoever runs the tests should know what was not tested"
        )]
        {
            eprintln!("skipped: the engine of DevTools was not asked, for there is no {missing}");
        }
        return None;
    }
    Some(ENGINE.get_or_init(Engine::built))
}

fn missing() -> Option<String> {
    let folder = ["oracle", "corpus"].map(beside).into_iter().find(|folder| !folder.is_dir());
    let lacks = |program: &&str| Command::new(program).arg("--version").output().is_err();
    folder.map(|folder| folder.display().to_string()).or_else(|| {
        ["node", "npm"].iter().find(|program| lacks(program)).map(|program| (*program).to_owned())
    })
}

impl Engine {
    /// Builds it, or takes what a former run built of the same sources. It is kept below `target/`, since nothing drops
    /// what all tests share and 100 MB would be left in the temporary folder by each run.
    fn built() -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let engine = Engine(target.join("oracle"));
        if engine.is_current() {
            return engine;
        }
        std::fs::create_dir_all(target).expect("a folder below target");
        let folder = tempfile::tempdir_in(target).expect("a temporary folder");
        build(folder.path());
        // a test in another process may have been faster: then its build is as good
        let _ = std::fs::remove_dir_all(&engine.0);
        let moved = std::fs::rename(folder.path(), &engine.0);
        assert!(moved.is_ok() || engine.is_current(), "{}: {moved:?}", engine.0.display());
        engine
    }

    /// Whether it was built of the sources as they are now.
    fn is_current(&self) -> bool {
        let is_same = |source: &PathBuf| {
            let copy = self.0.join(source.file_name().expect("a file has a name"));
            std::fs::read(copy).is_ok_and(|copy| copy == std::fs::read(source).expect("a source"))
        };
        self.0.join("build/frontend-engine.mjs").is_file() && sources().iter().all(is_same)
    }

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

fn sources() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(beside("oracle")).expect("the oracle");
    let files = entries.map(|entry| entry.expect("an entry").path());
    files.filter(|file| file.is_file()).collect()
}

/// Copies the oracle's sources and lets npm fetch and build the rest.
fn build(folder: &Path) {
    for source in sources() {
        let copy = folder.join(source.file_name().expect("a file has a name"));
        std::fs::copy(&source, copy).expect("a copy");
    }
    let install = ["install", "--no-audit", "--no-fund"];
    run(Command::new("npm").args(install).current_dir(folder));
    run(Command::new("npm").args(["run", "build"]).current_dir(folder));
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

/// Runs the command, which must lose nothing.
#[track_caller]
pub(super) fn tracemill(words: &[&str], paths: &[&Path]) -> Output {
    run(Command::new(binary()).args(words).args(paths))
}

/// The JSON in a file, packed or not. Node unpacks it: what is tested must not be its own judge.
pub(super) fn json(file: &Path) -> Value {
    const UNPACK: &str = "const b = require('fs').readFileSync(process.argv[1]);
        process.stdout.write(b[0] === 0x1f ? require('zlib').gunzipSync(b) : b)";
    let text = match file.extension().is_some_and(|end| end == "gz") {
        true => run(Command::new("node").args(["-e", UNPACK]).arg(file)).stdout,
        false => std::fs::read(file).expect("an input"),
    };
    serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// An input in which the command found CPU profiles.
pub(super) struct Input {
    pub(super) file: PathBuf,
    /// Below the corpus or `testdata`.
    pub(super) name: String,
    pub(super) is_trace: bool,
}

/// All inputs of the corpus and of `testdata` with CPU profiles.
pub(super) fn inputs_with_profiles() -> Vec<Input> {
    let mut inputs = Vec::new();
    for root in [beside("corpus"), testdata()] {
        for file in files_below(&root) {
            let mut command = Command::new(binary());
            let list = command.args(["profile", "list", "--json"]).arg(&file).output();
            let list =
                serde_json::from_slice(&list.expect("it runs").stdout).unwrap_or(Value::Null);
            if list["profiles"].as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            let name =
                file.strip_prefix(&root).expect("a file below").to_string_lossy().into_owned();
            let content = json(&file);
            let is_trace = content.is_array() || content.get("traceEvents").is_some();
            inputs.push(Input { file, name, is_trace });
        }
    }
    inputs
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
