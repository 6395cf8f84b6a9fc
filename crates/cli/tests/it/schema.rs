//! The page of keys (`docs/json.md`) has every key that any report has.

use crate::support::{Folder, testdata};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Objects whose keys are of the trace, or names of kinds.
const MAPS: [&str; 6] = ["phases", "pids", "ids", "changes", "dropped", "replaced"];

fn keys(value: &Value, under: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                if !MAPS.contains(&under) {
                    found.insert(key.clone());
                }
                keys(value, key, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| keys(value, under, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_on_the_page_and_every_report_has_a_schema() {
    let node = testdata().join("node/trace.json").display().to_string();
    let other = testdata().join("node/trace-2.json").display().to_string();
    let broken = testdata().join("quirks/truncated-in-args.json").display().to_string();
    let chrome = testdata().join("chromium/trace.json.gz").display().to_string();
    let profiles = testdata().join("node-cpu-prof").display().to_string();
    let folder = Folder::new();
    let mut all = BTreeSet::new();
    for words in [
        format!("merge {node} {other} --for devtools --provenance"),
        format!("merge {broken}"),
        format!("filter {node} --min-dur 1ms --shrink-to 100K"),
        format!("slice {node} --from 60ms --duration 50ms"),
        format!("split {node} --by tid -d parts --for perfetto"),
        format!("convert {node} -z zst"),
        format!("redact {node}"),
        format!("info --full {node}"),
        format!("index {node}"),
        format!("check --for devtools {node} {broken}"),
        format!("profile list {node}"),
        format!("profile extract {node} --pid 5389"),
        format!("report {node}"),
        format!("top {node}"),
        format!("tree {node}"),
        format!("flame {node}"),
        format!("calls {node}"),
        format!("diff {node} {other}"),
    ] {
        let output = if words.starts_with("split") { "" } else { " -o out" };
        folder.run(&format!("{words}{output} --report report.json -f"));
        let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
        assert_eq!(report["schema"], 1, "{words}");
        keys(&report, "", &mut all);
    }
    for (words, schema) in [
        (format!("top --json {node}"), "tracemill.tree/1"),
        (format!("tree --json {node}"), "tracemill.tree/1"),
        (format!("tree --log --json {node}"), "tracemill.tree/1"),
        (format!("diff --json {node} {other}"), "tracemill.diff/1"),
        (format!("report --json {node}"), "tracemill.report/1"),
        (format!("report --json {chrome}"), "tracemill.report/1"),
        (format!("report --json {profiles}"), "tracemill.report/1"),
    ] {
        let table: Value = serde_json::from_str(&folder.run(&words).stdout).expect("JSON");
        assert_eq!(table["schema"], schema, "{words}");
        keys(&table, "", &mut all);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page of keys");
    let missing: Vec<&String> =
        all.iter().filter(|key| !page.contains(&format!("\"{key}\""))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(all.len() > 80, "{}", all.len());
}

#[test]
fn reports_are_the_same_but_for_seconds() {
    let node = testdata().join("node/trace.json").display().to_string();
    let folder = Folder::new();
    for words in [format!("info --full --json {node}"), format!("check --json {node}")] {
        let run = || {
            let run = folder.run(&words);
            let mut report: Value = serde_json::from_str(&run.stdout).expect("JSON");
            report["seconds"] = Value::Null;
            report
        };
        assert_eq!(run(), run(), "{words}");
    }
}
