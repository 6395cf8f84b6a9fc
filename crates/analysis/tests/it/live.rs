//! Compares our tables with DevTools' engine, run now, for traces of the project and synthetic
//! traces.
//!
//! By default the engine also reads one in twelve files of the corpus. `TRACEMILL_LIVE=all` selects
//! all of them, `TRACEMILL_LIVE=FOLDER` those of a folder. Without Node, nothing is compared.

use crate::common::engine::{engine, traces};
use crate::common::files::{shared, unpacked};
use crate::golden::{Outcome, check, first_differences};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use tracemill_analysis::Entities;
use tracemill_testkit::{generate, seeds};

/// The engine's list of companies.
const COMPANIES: &str = "node_modules/chrome-devtools-frontend/front_end/third_party/third-party-web/package/dist/entities-nostats.json";

/// Arguments for the engine: heads of tables, with checksums of their rows.
pub(crate) const QUESTION: [&str; 6] = [
    "--all",
    "--visible",
    "--like=panel",
    "--window=full,31%..36%,panel",
    "--group-by=all",
    "--format=hash",
];

fn run(engine: &Path, words: &[&str], file: &Path) -> Vec<Value> {
    let mut command = Command::new("node");
    command.arg(engine.join("trees.mjs")).args(words).arg(file);
    let output = command.output().expect("the engine runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 2)), "{command:?}: {stderr}");
    let text = String::from_utf8(output.stdout).expect("text");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

/// Describes the first differing rows of the first wrong table of each file.
pub(crate) fn explained(
    engine: &Path,
    outcome: &Outcome,
    ask: impl Fn(&[&str], &Path) -> Vec<Value>,
) -> String {
    let mut report = String::new();
    for (file, head) in outcome.first_wrong.iter().take(12) {
        let text = |key: &str| match &head[key] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let entries = match &*text("entries") {
            "panel" => "--like=panel".to_owned(),
            name => format!("--{name}"),
        };
        let mut words = vec![entries, format!("--tables={}", text("table"))];
        words.extend(["pid", "tid"].map(|id| format!("--{id}={}", text(id))));
        if head["table"] != "flame" {
            words.push(format!("--window={}", text("window")));
        }
        if head["groupBy"].is_string() {
            words.push(format!("--group-by={}", text("groupBy")));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let lines = ask(&words, file);
        let answer = (head, &*lines, companies(engine));
        report += &format!("{}: {}\n", file.display(), first_differences(file, answer));
    }
    report
}

pub(crate) fn companies(engine: &Path) -> Entities {
    let list = std::fs::read(engine.join(COMPANIES)).expect("the engine's list of companies");
    Entities::parse(&list).expect("a list")
}

#[track_caller]
fn compare<'f>(engine: &Path, files: impl Iterator<Item = &'f PathBuf>) -> Outcome {
    let mut outcome = Outcome::default();
    for file in files {
        let lines = run(engine, &QUESTION, file);
        let name = file.display().to_string();
        check(&name, file, (&lines, companies(engine)), &mut outcome);
    }
    outcome.assert_right(|| explained(engine, &outcome, |words, file| run(engine, words, file)));
    outcome
}

#[test]
fn tables_match_the_live_engine() {
    let Some(engine) = engine() else { return };
    let compared = compare(engine, traces().iter()).compared;
    assert!(compared > 1000, "{compared}");
}

/// Entries are hidden only if DevTools can read all keys; the recorded file has an invalid one.
#[test]
fn hidden_entries_match_the_engine() {
    let Some(engine) = engine() else { return };
    let recorded = shared().join("corpus/devtools/chromium156-worker-annotated.json.gz");
    let mut trace: Value = serde_json::from_slice(&unpacked(&recorded)).expect("JSON");
    let keys = &mut trace["metadata"]["modifications"]["entriesModifications"]["hiddenEntries"];
    let keys = keys.as_array_mut().expect("keys");
    keys.retain(|key| !key.as_str().is_some_and(|key| key.contains("--")));
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, trace: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, trace.to_string()).expect("a file");
        path
    };
    let hidden = file("hidden.json", &trace);
    let breadcrumb = &mut trace["metadata"]["modifications"]["initialBreadcrumb"];
    breadcrumb["child"] = Value::Null;
    let first = file("first.json", &trace);
    trace["metadata"]["modifications"]["annotations"] = Value::Null;
    let none = file("none.json", &trace);
    trace["metadata"]["modifications"]["annotations"] = json!({});
    let keys = &mut trace["metadata"]["modifications"]["entriesModifications"]["hiddenEntries"];
    keys.as_array_mut().expect("keys").push(json!("p-1-2-3-4"));
    let bad = file("bad.json", &trace);
    compare(engine, [hidden, first, none, bad].iter());
}

fn event(ph: &str, name: &str, ts: u32, dur: u32, args: Value) -> Value {
    let cat = "devtools.timeline,disabled-by-default-devtools.timeline";
    let mut event =
        json!({"ph": ph, "name": name, "cat": cat, "pid": 7, "tid": 7, "ts": ts, "args": args});
    if ph == "X" {
        event["dur"] = json!(dur);
    }
    event
}

const URLS: [&str; 15] = [
    "https://www.google-analytics.com/analytics.js",
    "https://connect.facebook.net/en_US/fbevents.js?x=1",
    "https://www.shop.co.uk/app.js",
    "https://cdn.shop.co.uk/vendor.js",
    "https://maps.googleapis.com/maps/api/js",
    "https://unheard-of.example.org:8443/x.js",
    "http://192.168.1.20/a.js",
    "http://localhost:3000/a.js",
    "https://intranet/a.min.js",
    "chrome-extension://abcdefghijklmnop/content.js",
    "extensions::binding",
    "native array.js",
    "file:///home/user/www.facebook.com/x.js",
    "node:fs",
    "",
];

fn url_of(url: &str) -> Value {
    json!({"data": {"url": url}})
}

/// Returns the events of a request that begins at `ts`: the third was never sent, the fourth
/// redirected.
fn request(number: usize, ts: u32) -> Vec<Value> {
    let id = format!("R{number}");
    let data = |data: Value| json!({"data": data});
    let ask =
        |url: &str| data(json!({"requestId": id, "url": url, "frame": "F", "priority": "High"}));
    let mut events = Vec::new();
    if number != 3 {
        events.push(event("I", "ResourceSendRequest", ts, 0, ask(URLS[number])));
    }
    if number == 4 {
        events.push(event("I", "ResourceSendRequest", ts + 50, 0, ask(URLS[0])));
    }
    for (name, at, bytes) in [
        ("ResourceReceiveResponse", 100, 100),
        ("ResourceReceivedData", 200, 400),
        ("ResourceFinish", 300, 512 * number as u32),
    ] {
        let fields = json!({"requestId": id, "fromCache": number == 5, "encodedDataLength": bytes,
            "mimeType": "text/javascript", "statusCode": 200});
        events.push(event("I", name, ts + at, 0, data(fields)));
    }
    let known = json!({"requestId": id, "readyState": 4});
    events.push(event("X", "XHRReadyStateChange", ts + 500, 300, data(known)));
    events
}

/// Returns image events, some by reference, on two threads.
fn images(number: usize, ts: u32) -> Vec<Value> {
    let mut events = vec![event("X", "Decode Image", ts, 100, json!({"imageType": "JPEG"}))];
    if number > 2 {
        events.push(event("X", "PaintImage", ts + 500, 50, url_of(URLS[number])));
        let lazy = json!({"LazyPixelRef": number});
        events.push(event("I", "Draw LazyPixelRef", ts + 600, 0, lazy.clone()));
        let mut decode = event("X", "Decode LazyPixelRef", ts + 700, 50, lazy);
        decode["tid"] = json!(8);
        let mut image = event("X", "Decode Image", ts + 800, 20, json!({}));
        image["tid"] = json!(8);
        events.extend([decode, image]);
    }
    events.push(event("X", "Decode Image", ts + 1000, 100, json!({"imageType": "PNG"})));
    events
}

/// Returns a page with scripts, requests and images of its own and of third parties.
fn page() -> Value {
    let frame = json!({"frame": "F", "url": "https://www.shop.co.uk/", "name": "", "processId": 7,
        "isInPrimaryMainFrame": true, "isOutermostMainFrame": true});
    let mut events = vec![
        event("M", "thread_name", 0, 0, json!({"name": "CrRendererMain"})),
        event("I", "TracingStartedInBrowser", 1000, 0, json!({"data": {"frames": [frame]}})),
    ];
    for (number, url) in URLS.iter().enumerate() {
        let ts = 10_000 * (1 + number as u32);
        events.push(event("X", "RunTask", ts, 9_000, json!({})));
        events.push(event("X", "EvaluateScript", ts + 10, 5_000, url_of(url)));
        events.push(event("X", "FunctionCall", ts + 20, 1_000, url_of(URLS[(number + 3) % 15])));
        events.push(event("X", "Layout", ts + 100, 200, json!({"beginData": {"frame": "F"}})));
        let stack = json!({"stackTrace": [{"url": URLS[(number + 5) % 15]}], "url": url});
        events.push(event("X", "UpdateLayoutTree", ts + 2_000, 500, json!({"data": stack})));
        events.extend(request(number, ts + 3_000));
        events.extend(images(number, ts + 6_000));
    }
    json!({"traceEvents": events, "metadata": {}})
}

#[test]
fn third_parties_and_images_match_the_engine() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.json");
    std::fs::write(&path, page().to_string()).expect("a file");
    compare(engine, [path].iter());
}

/// Compares random recordings and profiles; a failure names the seed.
#[test]
fn random_recordings_match_the_engine() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: String, trace: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, trace.to_string()).expect("a file");
        path
    };
    let traces = seeds(1, 12).map(|seed| file(format!("{seed}.json"), &generate::recording(seed)));
    let profiles =
        seeds(1, 6).map(|seed| file(format!("{seed}.cpuprofile"), &generate::cpuprofile(seed)));
    let all: Vec<PathBuf> = traces.chain(profiles).collect();
    let outcome = compare(engine, all.iter());
    assert!(outcome.refused.is_empty(), "the engine refuses {:?}", outcome.refused);
    assert!(outcome.compared > 40 * all.len() as u64, "{}", outcome.compared);
}
