//! Page metrics of small traces with late, lost or overlapping events, compared with DevTools'
//! engine where Node is available.

use crate::common::engine::engine;
use crate::insights::{ask, check};
use crate::report::{read, report};
use serde_json::{Value, json};
use tracemill_report::Report;

/// Returns the report of a trace, after comparing it with the engine.
fn report_of(events: &[Value]) -> Report {
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

/// Returns the start event of all traces in these tests: a frame that shows `http://old.test/`.
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

fn navigation(ts: u32, data: Value) -> Value {
    event("navigationStart", ts, json!({"frame": "F", "data": data}))
}

#[test]
fn requests_are_ordered_by_first_event() {
    let of = |name: &str, ts: u32, id: &str| {
        let url = format!("http://a.test/{id}");
        let data = json!({"requestId": id, "url": url, "encodedDataLength": 5});
        event(name, ts, json!({ "data": data }))
    };
    let report = report_of(&[
        started(10),
        of("ResourceReceivedData", 20, "late"),
        of("ResourceReceivedData", 25, "late"),
        of("ResourceSendRequest", 30, "first"),
        of("ResourceSendRequest", 40, "late"),
        of("ResourceReceivedData", 50, "first"),
        call(60, 5, "http://a.test/x.js"),
    ]);
    let ids: Vec<&str> = report.requests.iter().map(|request| &*request.id).collect();
    assert_eq!(ids, ["late", "first"]);
}

#[test]
fn navigation_without_an_id_sets_the_first_party() {
    let first = |is_outermost: bool, ts: u32| {
        let url = "http://new.test/";
        let data = json!({"documentLoaderURL": url, "isOutermostMainFrame": is_outermost});
        let (old, new) = (call(200, 50, "http://old.test/x.js"), call(300, 50, url));
        let last = call(2_000_000, 50, url);
        let report = report_of(&[main_thread(), started(10), old, new, navigation(ts, data), last]);
        assert_eq!(report.parties.len(), 1);
        let parties = report.parties[0].iter().filter(|party| party.is_first);
        parties.map(|party| party.name.clone()).collect::<Vec<String>>()
    };
    assert_eq!(first(true, 100), ["new.test"]);
    // A nested frame, or long after the start of the recording.
    assert_eq!(first(false, 100), ["old.test"]);
    assert_eq!(first(true, 600_000), ["old.test"]);
}

#[test]
fn navigations_before_the_main_frame_is_known_do_not_count() {
    let visit = |id: &str, ts: u32| {
        navigation(ts, json!({"documentLoaderURL": "http://a.test/", "navigationId": id}))
    };
    let last = call(900, 50, "http://a.test/x.js");
    let report = report_of(&[main_thread(), visit("N", 100), started(50), visit("M", 200), last]);
    let visits = report.visits.expect("Chrome").expect("a frame");
    let keys: Vec<Option<&str>> = visits.iter().map(|page| page.key.as_deref()).collect();
    assert_eq!(keys, [Some("r-3")]);
    // The first navigation with an id counts, wherever it is.
    let report = report_of(&[visit("N", 100), started(50), visit("N", 200), call(900, 50, "")]);
    let visits = report.visits.expect("Chrome").expect("a frame");
    assert_eq!(visits.iter().map(|page| page.key.clone()).collect::<Vec<_>>(), [None]);
}

#[test]
fn pages_have_the_final_address() {
    let visit = |id: &str, ts: u32| {
        let url = format!("http://asked.test/{id}");
        navigation(ts, json!({"documentLoaderURL": url, "navigationId": id}))
    };
    let sends = |id: &str, ts: u32, kind: &str, url: &str| {
        let data = json!({"requestId": id, "url": url, "resourceType": kind});
        event("ResourceSendRequest", ts, json!({ "data": data }))
    };
    let writes = |ts: u32, kind: &str, url: &str| {
        let args = json!({"url": url, "render_frame_host": {"frame_type": kind}});
        let name = "RenderFrameHostImpl::DidCommitSameDocumentNavigation";
        let mut event = event(name, ts, args);
        (event["ph"], event["dur"]) = (json!("X"), json!(1));
        event
    };
    let main = "PRIMARY_MAIN_FRAME";
    let report = report_of(&[
        main_thread(),
        started(10),
        writes(20, main, "http://before.test/"),
        visit("A", 100),
        sends("A", 110, "Document", "http://led.test/a"),
        sends("A", 120, "Image", "http://led.test/other"),
        visit("B", 200),
        sends("B", 210, "Document", "http://led.test/b"),
        writes(220, main, "http://led.test/written"),
        writes(230, main, "http://led.test/last"),
        writes(240, "SUBFRAME", "http://led.test/frame"),
        visit("C", 300),
        call(900, 50, "http://led.test/x.js"),
    ]);
    let visits = report.visits.expect("Chrome").expect("a frame");
    let urls: Vec<&str> = visits.iter().map(|page| &*page.url).collect();
    assert_eq!(urls, ["http://led.test/a", "http://led.test/last", "http://asked.test/C"]);
}

#[test]
fn overlapping_calls_take_time_without_an_owner() {
    let [first, other] = ["http://old.test/x.js", "http://other.test/x.js"];
    let calls = [call(100, 300, first), call(300, 200, other), call(600, 50, other)];
    let [a, b, c] = calls;
    let report = report_of(&[main_thread(), started(10), a, b, c]);
    let times = report.parties[0].iter().map(|party| (&*party.name, party.own));
    // The second takes its 200 µs from the 300 µs of the first, but is counted for nobody.
    let close = |ms: f64| (ms * 1000.0).round();
    let times: Vec<(&str, f64)> = times.map(|(name, ms)| (name, close(ms))).collect();
    assert_eq!(times, [("old.test", 100.0), ("other.test", 50.0)]);
}

#[test]
fn data_without_a_length_adds_no_bytes() {
    let of = |name: &str, ts: u32, length: Option<u32>| {
        let mut data = json!({"requestId": "1", "url": "http://old.test/x"});
        if let Some(length) = length {
            data["encodedDataLength"] = json!(length);
        }
        event(name, ts, json!({ "data": data }))
    };
    let report = report_of(&[
        main_thread(),
        started(10),
        of("ResourceSendRequest", 20, None),
        of("ResourceReceivedData", 30, Some(5)),
        of("ResourceReceivedData", 40, None),
        call(60, 5, "http://old.test/x.js"),
    ]);
    assert_eq!(report.parties[0][0].bytes, 5.0);
}
