//! DevTools annotations: after each verb that keeps them, the engine of DevTools finds the same
//! entries and can read every key.

use super::engine::{Engine, beside, engine, json, tracemill};
use crate::support::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Returns what readable annotations name: function or event, name, time, duration.
fn named(answer: &Value) -> Vec<(String, String, f64, f64)> {
    let all = answer["modifications"].as_array().expect("annotations").iter();
    let readable = all.filter(|row| row[1].is_string() && row[1] != "ERROR");
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let of = |row: &Value| {
        let key = row[0].as_str().expect("a key").chars().next().expect("a letter");
        let name = row[1].as_str().expect("a name").to_owned();
        (key.to_string(), name, number(&row[2]), number(&row[3]))
    };
    readable.map(of).collect()
}

/// Runs a verb on files; asserts that all written keys are readable, and returns what they name.
#[track_caller]
fn after(oracle: &Engine, words: &[&str], files: &[&Path]) -> Vec<(String, String, f64, f64)> {
    let folder = Folder::new();
    let out = folder.path("out.json");
    let mut all = words.to_vec();
    all.extend(["-q", "-o"]);
    let paths: Vec<&Path> = std::iter::once(&*out).chain(files.iter().copied()).collect();
    let output = tracemill(&all, &paths);
    assert!(output.status.success(), "{words:?}: {output:?}");
    let answer = oracle.ask(&out);
    let found = named(&answer);
    let keys = answer["modifications"].as_array().expect("annotations").len();
    assert_eq!(found.len(), keys, "{words:?}: {}", answer["modifications"]);
    let written = json(&out);
    let modifications = &written["metadata"]["modifications"];
    let window = &modifications["initialBreadcrumb"]["window"];
    assert_eq!(window["min"].as_f64(), answer["bounds"]["min"].as_f64(), "{words:?}");
    assert_eq!(window["max"].as_f64(), answer["bounds"]["max"].as_f64(), "{words:?}");
    found
}

fn annotated() -> PathBuf {
    beside("corpus/devtools/chromium156-worker-annotated.json.gz")
}

#[test]
fn annotations_name_the_same_entries_after_each_verb() {
    let Some(oracle) = &engine() else { return };
    let file = annotated();
    let before = named(&oracle.ask(&file));
    assert!(before.len() > 50, "{before:?}");
    let others = ["node20-trace-workers", "speedscope-chrome116", "chromium156-worker-annotated"]
        .map(|name| beside(&format!("corpus/devtools/{name}.json.gz")));
    assert_eq!(after(oracle, &["merge"], &[&file]), before, "sorted");
    assert_eq!(after(oracle, &["convert"], &[&file]), before, "converted");
    for other in &others[..2] {
        assert_eq!(after(oracle, &["merge"], &[&file, other]), before, "{}", other.display());
        assert_eq!(after(oracle, &["merge"], &[other, &file]), before, "{}", other.display());
    }
    // the copy has other pids, and all annotations appear twice
    let both = after(oracle, &["merge", "--pid", "auto"], &[&file, &others[2]]);
    let mut twice = [before.clone(), before].concat();
    let mut both = both;
    let order = |a: &(String, String, f64, f64), b: &(String, String, f64, f64)| {
        (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.2.total_cmp(&b.2)).then(a.3.total_cmp(&b.3))
    };
    twice.sort_by(order);
    both.sort_by(order);
    assert_eq!(both, twice);
}

#[test]
fn annotations_of_remaining_events_are_kept() {
    let Some(oracle) = &engine() else { return };
    let file = annotated();
    let before = named(&oracle.ask(&file));
    let names = |all: &[(String, String, f64, f64)]| -> BTreeSet<(String, String)> {
        all.iter().map(|named| (named.0.clone(), named.1.clone())).collect()
    };
    for words in [
        &["slice", "--from", "@1706585000", "--to", "@1707000000"][..],
        &["slice", "--from", "@1706590000", "--to", "@1707320000"],
        &["slice", "--from", "@1706700000", "--edges", "keep"],
        &["slice", "--to", "@1707320000", "--edges", "drop"],
    ] {
        let left = after(oracle, words, &[&file]);
        assert!(!left.is_empty(), "{words:?}");
        let unknown: Vec<_> = names(&left).difference(&names(&before)).cloned().collect();
        assert!(unknown.is_empty(), "{words:?}: {unknown:?}");
        let same = left.iter().filter(|left| before.contains(left)).count();
        let is_whole = words.contains(&"--edges");
        assert!(!is_whole || same == left.len(), "{words:?}: {left:?}");
    }
}
