//! `merge --for devtools`: DevTools sees each thread as if alone, although it has one stack of B
//! and E for the whole file.

use super::engine::{Engine, beside, engine, tracemill};
use super::merge::threads;
use super::portrait::{assert_same, tree};
use crate::support::{Folder, testdata};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Returns the tree rows of each thread, by process and thread.
fn trees(answer: &Value) -> BTreeMap<String, Value> {
    let threads = answer["threads"].as_array().expect("threads").iter();
    threads.map(|t| (format!("{} {}", t["pid"], t["tid"]), json!(tree(t)))).collect()
}

fn merged_for_devtools(file: &Path, folder: &Folder) -> (PathBuf, Value) {
    let (merged, report) = (folder.path("merged.json"), folder.path("report.json"));
    let words =
        ["merge", "-q", "--for", "devtools", "--report", report.to_str().expect("text"), "-o"];
    let output = tracemill(&words, &[&merged, file]);
    assert!(output.status.success(), "{}: {output:?}", file.display());
    let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
    (merged, report["viewer"]["changes"].clone())
}

/// Compares each thread of the merged trace with the thread alone; returns the number of pairs, and
/// of compared rows.
#[track_caller]
fn check(oracle: &Engine, file: &Path) -> (u64, usize) {
    let folder = Folder::new();
    let (merged, changes) = merged_for_devtools(file, &folder);
    let together = trees(&oracle.ask(&merged));
    let parts = folder.path("parts");
    let output = tracemill(&["split", "-q", "--by", "tid", "-d"], &[&parts, file]);
    assert!(output.status.success(), "{output:?}");
    let mut rows = 0;
    for part in std::fs::read_dir(&parts).expect("parts") {
        let part = part.expect("a part").path();
        for (thread, alone) in oracle.try_ask(&part).iter().flat_map(trees) {
            let what = format!("{}, thread {thread}", file.display());
            assert_same(&what, &alone, &together[&thread]);
            rows += alone.as_array().map_or(0, Vec::len);
        }
    }
    (changes["pairs"].as_u64().unwrap_or(0), rows)
}

#[test]
fn begin_end_pairs_are_drawn_as_for_each_thread_alone() {
    let Some(oracle) = &engine() else { return };
    let files = [
        beside("corpus/devtools/node20-trace-workers.json.gz"),
        beside("corpus/devtools/speedscope-te-multiprocess.json"),
        testdata().join("node/trace.json"),
    ];
    let (mut pairs, mut rows) = (0, 0);
    for file in files {
        let compared = check(oracle, &file);
        (pairs, rows) = (pairs + compared.0, rows + compared.1);
    }
    assert!(pairs >= 90 && rows >= 500, "{pairs} pairs, {rows} rows");
}

/// The few B and E events of a browser trace are correct, so only their form changes.
#[test]
fn browser_traces_are_drawn_unchanged() {
    let Some(oracle) = &engine() else { return };
    for name in ["chromium156-worker.json.gz", "speedscope-chrome116.json.gz"] {
        let file = beside(&format!("corpus/devtools/{name}"));
        let folder = Folder::new();
        let (merged, _) = merged_for_devtools(&file, &folder);
        let (before, after) = (oracle.ask(&file), oracle.ask(&merged));
        for key in ["bounds", "profiles", "traceIsGeneric", "mainFrameURL"] {
            assert_same(&format!("{name}: {key}"), &before[key], &after[key]);
        }
        let (before, after) = (threads(&before, true), threads(&after, true));
        assert!(before.keys().eq(after.keys()), "{name}");
        for (thread, facts) in &before {
            assert_same(&format!("{name}, thread {thread}"), facts, &after[thread]);
        }
    }
}

/// In a browser recording DevTools hides processes without a page.
#[test]
fn node_processes_are_shown_in_browser_traces() {
    let Some(oracle) = &engine() else { return };
    let folder = Folder::new();
    let browser = beside("corpus/devtools/chromium156-worker.json.gz");
    let node = testdata().join("node/trace.json");
    let alone = trees(&oracle.ask(&node));
    for (words, shown) in [("merge -q -o", false), ("merge -q -f --for devtools -o", true)] {
        let merged = folder.path("merged.json");
        let words: Vec<&str> = words.split(' ').collect();
        let output = tracemill(&words, &[&merged, &browser, &node]);
        assert!(output.status.success(), "{output:?}");
        let all = trees(&oracle.ask(&merged));
        assert!(alone.keys().all(|thread| all.contains_key(thread) == shown), "{:?}", all.keys());
    }
}
