//! `merge --for devtools`: DevTools sees each thread as it sees it alone, where its one stack of B and E for the whole file
//! does no harm; and what was right before stays so.

use super::engine::{Engine, beside, engine, tracemill};
use super::merge::threads;
use super::portrait::{assert_same, tree};
use crate::support::{Folder, testdata};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Rows of the tree of each thread, by process and thread.
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

/// Returns how many pairs there were, and rows that were compared.
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
fn calls_of_b_and_e_are_those_of_each_thread_alone() {
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

/// The trace of a browser has few B and E, and those are right: nothing changes but what they are written as.
#[test]
fn the_trace_of_a_browser_stays_as_it_is() {
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

/// Beside the recording of a browser DevTools hides whoever has no page.
#[test]
fn a_node_process_is_shown_beside_a_browser() {
    let Some(oracle) = &engine() else { return };
    let folder = Folder::new();
    let browser = beside("corpus/devtools/chromium156-worker.json.gz");
    let node = testdata().join("node/trace.json");
    let own = trees(&oracle.ask(&node));
    for (words, shown) in [("merge -q -o", false), ("merge -q -f --for devtools -o", true)] {
        let merged = folder.path("merged.json");
        let words: Vec<&str> = words.split(' ').collect();
        let output = tracemill(&words, &[&merged, &browser, &node]);
        assert!(output.status.success(), "{output:?}");
        let all = trees(&oracle.ask(&merged));
        assert!(own.keys().all(|thread| all.contains_key(thread) == shown), "{:?}", all.keys());
    }
}
