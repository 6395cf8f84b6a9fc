//! What is told of pages where events are late, lost or do not nest: small traces, also held against DevTools' own engine where it is.

use crate::insights::{ask, check};
use crate::live::engine;
use crate::report::{read, report};
use serde_json::{Value, json};
use tracemill_analysis::Report;

/// The report of a trace, after its figures were compared with the engine's.
fn told(events: &[Value]) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    std::fs::write(&path, json!(events).to_string()).expect("a file");
    let report = report(&read(&path, 64 << 20));
    if let Some(engine) = engine() {
        let lines = ask(engine, &path).expect("the engine takes it");
        check(&report, &lines, "a small page");
    }
    report
}

fn event(name: &str, ts: u32, args: Value) -> Value {
    json!({"name": name, "cat": "devtools.timeline", "ph": "I", "pid": 1, "tid": 1, "ts": ts, "args": args})
}

/// What all of them have: a frame that shows `http://old.test/`.
fn started(ts: u32) -> Value {
    let frame = json!({"frame": "F", "url": "http://old.test/", "processId": 1, "name": ""});
    event("TracingStartedInBrowser", ts, json!({"data": {"frames": [frame]}}))
}

fn main_thread() -> Value {
    json!({"name": "thread_name", "cat": "__metadata", "ph": "M", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "CrRendererMain"}})
}

fn call(ts: u32, dur: u32, url: &str) -> Value {
    let mut call = event("FunctionCall", ts, json!({"data": {"url": url, "functionName": "f"}}));
    (call["ph"], call["dur"]) = (json!("X"), json!(dur));
    call
}

#[test]
fn requests_stand_where_the_first_of_their_events_does() {
    let of = |name: &str, ts: u32, id: &str| {
        let url = format!("http://a.test/{id}");
        let data = json!({"requestId": id, "url": url, "encodedDataLength": 5});
        event(name, ts, json!({ "data": data }))
    };
    let report = told(&[
        started(10),
        of("ResourceReceivedData", 20, "late"),
        of("ResourceReceivedData", 25, "late"),
        of("ResourceSendRequest", 30, "first"),
        of("ResourceSendRequest", 40, "late"),
        of("ResourceReceivedData", 50, "first"),
        call(60, 5, "http://a.test/x.js"),
    ]);
    let ids: Vec<&str> = report.requests.iter().map(|own| &*own.id).collect();
    assert_eq!(ids, ["late", "first"]);
}

#[test]
fn calls_that_end_behind_what_they_begin_in_take_its_time_and_are_of_nobody() {
    let [own, other] = ["http://old.test/x.js", "http://other.test/x.js"];
    let calls = [call(100, 300, own), call(300, 200, other), call(600, 50, other)];
    let [a, b, c] = calls;
    let report = told(&[main_thread(), started(10), a, b, c]);
    let own = report.parties[0].iter().map(|own| (&*own.name, own.own));
    // of the first 300 µs the second takes its own 200, which count for none
    let close = |ms: f64| (ms * 1000.0).round();
    let own: Vec<(&str, f64)> = own.map(|(name, ms)| (name, close(ms))).collect();
    assert_eq!(own, [("old.test", 100.0), ("other.test", 50.0)]);
}

#[test]
fn data_without_a_length_counts_for_nothing() {
    let of = |name: &str, ts: u32, length: Option<u32>| {
        let mut data = json!({"requestId": "1", "url": "http://old.test/x"});
        if let Some(length) = length {
            data["encodedDataLength"] = json!(length);
        }
        event(name, ts, json!({ "data": data }))
    };
    let report = told(&[
        main_thread(),
        started(10),
        of("ResourceSendRequest", 20, None),
        of("ResourceReceivedData", 30, Some(5)),
        of("ResourceReceivedData", 40, None),
        call(60, 5, "http://old.test/x.js"),
    ]);
    assert_eq!(report.parties[0][0].bytes, 5.0);
}
