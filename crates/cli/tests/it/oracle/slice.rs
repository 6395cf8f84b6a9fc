//! What DevTools draws of a slice is what it draws of the whole trace, as far as that lies in the window.

use super::engine::{Engine, beside, engine, json, tracemill};
use crate::support::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Times further apart than this many microseconds are different: DevTools adds them up as floats.
const CLOSE: f64 = 0.01;

/// A call: function, start and end.
type Call = (String, f64, f64);

/// Calls of every thread that lie in a window, cut there.
fn calls(answer: &Value, (from, to): (f64, f64)) -> BTreeMap<String, Vec<Call>> {
    let mut threads = BTreeMap::new();
    for thread in answer["threads"].as_array().expect("threads") {
        let mut calls = Vec::new();
        for call in thread["profileCalls"].as_array().into_iter().flatten() {
            let number = |at: usize| call[at].as_f64().expect("a number");
            let name = call[0].to_string();
            let (start, end) = (number(1), number(1) + number(2));
            let (start, end) = (start.max(from), end.min(to));
            if end - start > CLOSE {
                calls.push((name, start, end));
            }
        }
        calls.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)).then(a.0.cmp(&b.0)));
        threads.insert(format!("{} {}", thread["pid"], thread["tid"]), calls);
    }
    threads
}

#[test]
fn debug_shape() {
    let Some(oracle) = engine() else { return };
    let file = beside("corpus/devtools").join("node20-trace-workers.json.gz");
    let answer = oracle.ask(&file);
    let keys: Vec<_> = answer.as_object().expect("an object").keys().collect();
    panic!(
        "{keys:?} {} {:.600} {:.800}",
        answer["bounds"],
        answer["threads"][0]["profileCalls"].to_string(),
        answer["profiles"][0].to_string()
    );
}
