//! What DevTools shows of a trace is what it shows after a merge: profiles, calls and trees of every thread.
//!
//! The answers come from the engine of DevTools itself, which runs on Node. It stands beside the project; without it,
//! without its corpus or without Node nothing is tested here.

use crate::support::{Folder, binary};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Traces whose trees change, and why.
const TREES_CHANGE: [(&str, &str); 1] = [(
    "node20-trace-workers.json.gz",
    "DevTools pairs B and E over the whole file; those of the two workers pair otherwise once they are in order",
)];

/// Columns of a row of a tree before the event's key, which is its index in the file.
const TREE_COLUMNS: usize = 6;

fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

/// Whether everything is there that the test needs.
fn is_possible() -> bool {
    let folders = ["oracle", "corpus/devtools"].map(beside);
    let folder = folders.iter().find(|folder| !folder.is_dir());
    let program = ["node", "npm"]
        .into_iter()
        .find(|program| Command::new(program).arg("--version").output().is_err());
    let missing = folder.map(|folder| folder.display().to_string()).or(program.map(str::to_owned));
    let Some(missing) = missing else { return true };
    #[expect(
        clippy::print_stderr,
        reason = "whoever runs the tests should know what was not tested"
    )]
    {
        eprintln!("skipped: the engine of DevTools was not asked, for there is no {missing}");
    }
    false
}

/// Copies the oracle's sources and lets npm fetch and build the rest.
fn build(folder: &Folder) {
    for entry in std::fs::read_dir(beside("oracle")).expect("the oracle") {
        let file = entry.expect("an entry").path();
        if file.is_file() {
            let name = file.file_name().expect("a file has a name").to_string_lossy().into_owned();
            std::fs::copy(&file, folder.path(&name)).expect("a copy");
        }
    }
    run(Command::new("npm")
        .args(["install", "--no-audit", "--no-fund"])
        .current_dir(folder.path("")));
    run(Command::new("npm").args(["run", "build"]).current_dir(folder.path("")));
}

#[track_caller]
fn run(command: &mut Command) -> Output {
    let output = command.output().expect("the command runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}", output.status);
    output
}

/// What DevTools makes of a file.
fn ask(oracle: &Folder, file: &Path) -> Value {
    let mut command = Command::new("node");
    let output = run(command.arg(oracle.path("oracle.mjs")).arg("--no-insights").arg(file));
    serde_json::from_slice(&output.stdout).expect("the oracle answers in JSON")
}

/// Per thread what must not change, ordered by process and thread: profile calls, and the tree without the events'
/// indices, which are expected to change.
fn threads(answer: &Value, with_trees: bool) -> Vec<(String, Value)> {
    let facts = |thread: &Value| {
        let key = format!("{} {}", thread["pid"], thread["tid"]);
        let calls = json!([thread["name"], thread["profileCallsSha256"], thread["profileCalls"]]);
        let rows = thread["tree"].as_array().expect("a tree").iter();
        let tree: Vec<&[Value]> =
            rows.map(|row| &row.as_array().expect("a row")[..TREE_COLUMNS]).collect();
        let tree = if with_trees { json!([thread["entries"], tree]) } else { Value::Null };
        (key, json!([calls, tree]))
    };
    let mut threads: Vec<_> =
        answer["threads"].as_array().expect("threads").iter().map(facts).collect();
    threads.sort_by(|a, b| a.0.cmp(&b.0));
    threads
}

/// Returns how many profiles and rows of trees were compared.
#[track_caller]
fn check(oracle: &Folder, file: &Path) -> (usize, usize) {
    let name = file.file_name().expect("a file has a name").to_string_lossy();
    let merged = oracle.path("merged.json");
    run(Command::new(binary()).arg("merge").arg(file).arg("-f").arg("-o").arg(&merged));
    let (before, after) = (ask(oracle, file), ask(oracle, &merged));
    assert_eq!(before["profiles"], after["profiles"], "{name}: profiles");
    assert!(before["profiles"].is_array(), "{name}: {before}");
    let with_trees = TREES_CHANGE.iter().all(|(changes, _why)| *changes != name);
    let (expected, got) = (threads(&before, with_trees), threads(&after, with_trees));
    let keys =
        |threads: &[(String, Value)]| threads.iter().map(|t| t.0.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&expected), keys(&got), "{name}: threads");
    let mut rows = 0;
    for ((thread, expected), (_, got)) in expected.iter().zip(&got) {
        rows += expected[1][1].as_array().map_or(0, Vec::len);
        let differs = || first_difference(&expected[1][1], &got[1][1]);
        assert!(expected == got, "{name}, thread {thread}: {}", differs());
    }
    (before["profiles"].as_array().map_or(0, Vec::len), rows)
}

fn first_difference(expected: &Value, got: &Value) -> String {
    let (Some(expected), Some(got)) = (expected.as_array(), got.as_array()) else {
        return "the profile's calls".to_owned();
    };
    let differs = expected.iter().zip(got).find(|(a, b)| a != b);
    differs.map_or("calls, or the number of rows".to_owned(), |(a, b)| format!("{a}\nbut got {b}"))
}

#[test]
fn devtools_sees_the_same_after_a_merge() {
    if !is_possible() {
        return;
    }
    let oracle = Folder::new();
    build(&oracle);
    let mut files: Vec<PathBuf> = std::fs::read_dir(beside("corpus/devtools"))
        .expect("the corpus")
        .map(|entry| entry.expect("an entry").path())
        .filter(|file| {
            let name = file.to_string_lossy();
            name.ends_with(".json") || name.ends_with(".json.gz")
        })
        .collect();
    files.sort();
    let (mut profiles, mut rows) = (0, 0);
    for file in &files {
        let compared = check(&oracle, file);
        profiles += compared.0;
        rows += compared.1;
    }
    assert!(files.len() >= 5 && profiles >= 8 && rows >= 5000, "{profiles} profiles, {rows} rows");
}
