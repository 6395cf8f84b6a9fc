//! DevTools draws in a slice what it draws in that window of the whole trace.

use super::engine::{Engine, beside, engine, json, tracemill};
use crate::support::Folder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Tolerance for equal times in microseconds; DevTools adds up floats.
const CLOSE: f64 = 0.01;
/// Windows to cut out, in percent of the trace's length.
const WINDOWS: [(f64, f64); 3] = [(10.0, 40.0), (35.0, 65.0), (60.0, 95.0)];

/// A call: function with script and line, start, end.
type Call = (String, f64, f64);

/// Returns the calls of a thread in a window, clipped to it.
fn calls(thread: &Value, (from, to): (f64, f64)) -> Vec<Call> {
    let mut calls = Vec::new();
    for call in thread["profileCalls"].as_array().into_iter().flatten() {
        let number = |at: usize| call[at].as_f64().expect("a number");
        let name = format!("{} {} {} {}", call[0], call[1], call[2], call[3]);
        let (start, end) = (number(5).max(from), (number(5) + number(6)).min(to));
        if end - start > CLOSE {
            calls.push((name, start, end));
        }
    }
    calls.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(b.2.total_cmp(&a.2)));
    calls
}

fn key(of: &Value) -> String {
    format!("{} {}", of["pid"], of["tid"])
}

/// Returns the sorted sample times of each thread's profile.
fn samples(trace: &Value, answer: &Value) -> BTreeMap<String, Vec<f64>> {
    let events = trace.get("traceEvents").unwrap_or(trace).as_array().expect("events");
    let mut all = BTreeMap::new();
    for profile in answer["profiles"].as_array().expect("profiles") {
        let is_chunk = |event: &&Value| {
            event["pid"] == profile["pid"]
                && event["id"] == profile["profileId"]
                && event["ph"] == "P"
        };
        let mut time = 0.0;
        let mut times = Vec::new();
        for event in events.iter().filter(is_chunk) {
            if event["name"] == "Profile" {
                time = event["ts"].as_f64().expect("a time");
            }
            for delta in event["args"]["data"]["timeDeltas"].as_array().into_iter().flatten() {
                time += delta.as_f64().expect("a step");
                times.push(time);
            }
        }
        times.sort_by(f64::total_cmp);
        all.insert(key(profile), times);
    }
    all
}

#[derive(Debug, Default)]
struct Compared {
    slices: usize,
    threads: usize,
    calls: usize,
}

impl Compared {
    /// Slices a trace in windows that have samples.
    fn add(&mut self, oracle: &Engine, file: &Path) {
        let whole = oracle.ask(file);
        let enough =
            |profile: &&Value| profile["samples"].as_u64().is_some_and(|count| count >= 50);
        for profile in whole["profiles"].as_array().expect("profiles").iter().filter(enough) {
            let micros = |key: &str| profile[key].as_f64().expect("a time") * 1000.0;
            let (start, end) = (micros("firstTimestampMs"), micros("lastTimestampMs"));
            for window in WINDOWS {
                let at = |part: f64| (start + (end - start) * part / 100.0).floor();
                self.compare(oracle, file, &whole, (at(window.0), at(window.1)));
            }
        }
    }

    fn compare(&mut self, oracle: &Engine, file: &Path, whole: &Value, (from, to): (f64, f64)) {
        let folder = Folder::new();
        let sliced = folder.path("slice.json");
        let edges = [format!("@{from}"), format!("@{to}")];
        tracemill(&["slice", "--from", &edges[0], "--to", &edges[1], "-o"], &[&sliced, file]);
        let part = oracle.ask(&sliced);
        self.slices += 1;
        let samples = samples(&json(&sliced), &part);
        for thread in part["threads"].as_array().expect("threads") {
            let Some(times) = samples.get(&key(thread)).filter(|times| times.len() > 6) else {
                continue;
            };
            let all = calls(thread, (f64::MIN, f64::MAX));
            // not compared: calls before the first sample of the slice, the caller of a garbage
            // collection at its start, calls still open at its end, which stop at the last event
            // that touches them, and single (program) samples at the ends, which are not bridged
            let first = all.iter().map(|call| call.1).fold(f64::MAX, f64::min);
            let last = all.iter().map(|call| call.2).fold(f64::MIN, f64::max);
            let window = (times[2].max(first), times[times.len() - 3].min(last));
            let same = |value: &&Value| key(value) == key(thread);
            let before = whole["threads"].as_array().expect("threads").iter().find(same);
            let expected = calls(before.expect("the thread"), window);
            let got = calls(thread, window);
            let what = format!("{}, {from} to {to}, thread {}", file.display(), key(thread));
            assert_eq!(expected.len(), got.len(), "{what}");
            for (expected, got) in expected.iter().zip(&got) {
                let close = |a: f64, b: f64| (a - b).abs() < CLOSE;
                let same =
                    expected.0 == got.0 && close(expected.1, got.1) && close(expected.2, got.2);
                assert!(same, "{what}: expected {expected:?}, got {got:?}");
            }
            self.threads += usize::from(!got.is_empty());
            self.calls += got.len();
        }
    }
}

#[test]
fn calls_in_a_slice_equal_those_of_the_whole_trace() {
    let Some(oracle) = &engine() else { return };
    let mut compared = Compared::default();
    for name in [
        "chromium156-worker.json.gz",
        "node20-trace-workers.json.gz",
        "speedscope-chrome116.json.gz",
    ] {
        compared.add(oracle, &beside("corpus/devtools").join(name));
    }
    let Compared { slices, threads, calls } = compared;
    assert!(slices >= 12 && threads >= 10 && calls >= 1000, "{compared:?}");
}
