//! DevTools shows the same profiles, calls and trees of every thread after a merge.

use super::engine::{Engine, beside, engine, tracemill};
use super::portrait::{assert_same, count, tree};
use crate::support::Folder;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Traces whose trees change, and why.
const TREES_CHANGE: [(&str, &str); 1] = [(
    "node20-trace-workers.json.gz",
    "DevTools pairs B and E over the whole file; those of the two workers pair otherwise once they are in order",
)];

/// Returns whether a merge keeps the trees of a trace.
pub(super) fn keeps_trees(file: &Path) -> bool {
    TREES_CHANGE.iter().all(|(name, _why)| !file.ends_with(name))
}

/// Returns calls and trees by process and thread, which a merge must not change.
pub(super) fn threads(answer: &Value, with_trees: bool) -> BTreeMap<String, Value> {
    let facts = |thread: &Value| {
        let key = format!("{} {}", thread["pid"], thread["tid"]);
        let calls = json!([thread["name"], thread["profileCallsSha256"], thread["profileCalls"]]);
        let tree = with_trees.then(|| json!({"entries": thread["entries"], "rows": tree(thread)}));
        (key, json!({"calls": calls, "tree": tree}))
    };
    answer["threads"].as_array().expect("threads").iter().map(facts).collect()
}

/// Returns how many profiles and tree rows were compared.
#[track_caller]
fn check(oracle: &Engine, file: &Path) -> (usize, usize) {
    let name = file.file_name().expect("a file has a name").to_string_lossy();
    let folder = Folder::new();
    let merged = folder.path("merged.json");
    let output = tracemill(&["merge", "-o"], &[&merged, file]);
    assert!(output.status.success(), "{name}: {output:?}");
    let (before, after) = (oracle.ask(file), oracle.ask(&merged));
    assert_same(&format!("{name}, profiles"), &before["profiles"], &after["profiles"]);
    let with_trees = keeps_trees(file);
    let (expected, got) = (threads(&before, with_trees), threads(&after, with_trees));
    assert!(expected.keys().eq(got.keys()), "{name}: {:?}, {:?}", expected.keys(), got.keys());
    let mut rows = 0;
    for (thread, facts) in &expected {
        assert_same(&format!("{name}, thread {thread}"), facts, &got[thread]);
        rows += facts["tree"]["rows"].as_array().map_or(0, Vec::len);
    }
    (count(&before["profiles"]), rows)
}

#[test]
fn devtools_sees_the_same_after_a_merge() {
    let Some(oracle) = &engine() else { return };
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
        let compared = check(oracle, file);
        profiles += compared.0;
        rows += compared.1;
    }
    assert!(files.len() >= 5 && profiles >= 8 && rows >= 5000, "{profiles} profiles, {rows} rows");
}
