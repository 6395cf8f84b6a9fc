//! Merges traces with `.cpuprofile` files; DevTools shows each as if alone.

use super::engine::{beside, engine};
use super::lanes::{Merged, Single};
use super::merge::{keeps_trees, threads};
use super::portrait::assert_same;
use crate::support::testdata;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Returns traces with merge flags. In a browser trace DevTools draws no process without a page, so
/// profiles need the page that `--for devtools` adds.
fn traces() -> [(PathBuf, &'static str); 3] {
    [
        (testdata().join("node/trace.json"), ""),
        (beside("corpus/devtools/node20-trace-workers.json.gz"), ""),
        (beside("corpus/devtools/chromium156-worker.json.gz"), "--for devtools"),
    ]
}

/// Returns DevTools' facts about the whole trace, except those that grow.
fn whole(answer: &Value) -> Value {
    let keys = ["traceIsGeneric", "isCPUProfile", "mainFrameId", "mainFrameURL", "gpuProcessId"];
    json!(keys.map(|key| (key, answer[key].clone())))
}

#[test]
fn traces_and_profiles_do_not_affect_each_other() {
    let Some(oracle) = &engine() else { return };
    let folder = testdata().join("node-cpu-prof");
    let singles = Single::all(oracle, &folder);
    let mut calls = 0;
    for (trace, words) in traces() {
        let name = trace.display();
        let inputs: [&Path; 2] = [&folder, &trace];
        let is_ours = |pid| singles.iter().any(|single| single.pid == pid);
        let merged = Merged::of(oracle, &inputs, words, is_ours);
        for (single, lane) in singles.iter().zip(merged.check(&singles)) {
            assert_eq!((lane.pid, lane.tid), (single.pid, single.tid), "{name}");
        }
        let before = oracle.ask(&trace);
        assert_same(&format!("{name}, as a whole"), &whole(&before), &whole(&merged.answer));
        let profiles = before["profiles"].as_array().expect("profiles");
        let after = merged.answer["profiles"].as_array().expect("profiles");
        assert!(profiles.iter().all(|profile| after.contains(profile)), "{name}: profiles");
        assert_eq!(after.len(), profiles.len() + singles.len(), "{name}: profiles");
        let with_trees = keeps_trees(&trace);
        let got = threads(&merged.answer, with_trees);
        for (thread, facts) in threads(&before, with_trees) {
            let got = got.get(&thread).unwrap_or_else(|| panic!("{name}: no thread {thread}"));
            assert_same(&format!("{name}, thread {thread}"), &facts, got);
            calls += facts["calls"][2].as_array().map_or(0, Vec::len);
        }
    }
    assert!(calls >= 1000, "only {calls} calls were compared");
}
