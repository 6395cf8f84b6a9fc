//! Merges a trace with itself: DevTools sees everything twice, without connections between the
//! copies.

use super::engine::{beside, engine, tracemill};
use super::merge::threads;
use super::portrait::{assert_same, count};
use crate::support::{Folder, testdata};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

/// Lists whose length is compared over the whole trace.
const COUNTED: [&str; 5] =
    ["performanceMarks", "consoleTimeStamps", "animations", "interactions", "flows"];
/// Pairs of async events: category, name, id, time, duration, pid, tid, index.
const PAIRS: [&str; 2] = ["consoleTimings", "performanceMeasures"];

fn files() -> Vec<PathBuf> {
    let beside = ["node20-trace-workers", "chromium156-worker", "speedscope-chrome116"]
        .map(|name| beside(&format!("corpus/devtools/{name}.json.gz")));
    beside.into_iter().chain([testdata().join("node/trace.json")]).collect()
}

/// Returns pairs without ids and indices, in order.
fn pairs(answer: &Value, kind: &str, pid: impl Fn(u64) -> u64) -> Vec<Value> {
    let all = answer["synthetic"][kind].as_array().expect("pairs").iter();
    let mut all: Vec<Value> = all
        .map(|pair| {
            let old_pid = pair[5].as_u64().expect("a pid");
            json!([pair[0], pair[1], pair[3], pair[4], pid(old_pid), pair[6]])
        })
        .collect();
    all.sort_by_key(Value::to_string);
    all
}

#[test]
fn merging_a_trace_with_itself_doubles_everything() {
    let Some(oracle) = &engine() else { return };
    let (mut profiles, mut calls, mut measures) = (0, 0, 0);
    for file in files() {
        let name = file.display();
        let folder = Folder::new();
        let (merged, report) = (folder.path("merged.json"), folder.path("report.json"));
        let words = ["merge", "-q", "--report", report.to_str().expect("text"), "-o"];
        let output = tracemill(&words, &[&merged, &file, &file]);
        assert!(output.status.success(), "{name}: {output:?}");
        let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
        let pids = report["identity"]["inputs"][1]["pids"].as_object().expect("pids");
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let new: HashMap<u64, u64> = pids
            .iter()
            .map(|(old, new)| (number(old), number(new.as_str().expect("a text"))))
            .collect();
        let (once, twice) = (oracle.ask(&file), oracle.ask(&merged));
        assert_eq!(count(&twice["profiles"]), 2 * count(&once["profiles"]), "{name}: profiles");
        let (before, after) = (threads(&once, false), threads(&twice, false));
        assert_eq!(after.len(), 2 * before.len(), "{name}: threads");
        for (thread, facts) in &before {
            let (pid, tid) = thread.split_once(' ').expect("pid and tid");
            let copy = format!("{} {tid}", new[&number(pid)]);
            for key in [thread, &copy] {
                assert_same(&format!("{name}, thread {key}"), facts, &after[key]);
            }
            calls += count(&facts["calls"][2]);
        }
        for kind in PAIRS {
            let mut expected = pairs(&once, kind, |pid| pid);
            expected.extend(pairs(&once, kind, |pid| new[&pid]));
            expected.sort_by_key(Value::to_string);
            let got = pairs(&twice, kind, |pid| pid);
            assert_same(&format!("{name}: {kind}"), &json!(expected), &json!(got));
            measures += got.len();
        }
        for kind in COUNTED {
            let counts = [&once, &twice].map(|answer| answer["synthetic"][kind].as_u64());
            let [Some(once), Some(twice)] = counts else { panic!("{name}: no {kind}") };
            assert_eq!(2 * once, twice, "{name}: {kind}");
        }
        profiles += count(&once["profiles"]);
    }
    assert!(profiles >= 5 && calls >= 1000 && measures > 0, "{profiles} {calls} {measures}");
}
