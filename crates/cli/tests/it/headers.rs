//! Checks the notes above tables: DevTools' time 0, and CPU profiles that are not counted.

use crate::support::Folder;
use serde_json::{Value, json};

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// Returns a page trace in which recording starts 820 ms after the first event.
fn page(name: &str) -> String {
    let event = |name: &str, ts: u64, data: Value| json!({"ph": "X", "name": name, "cat": "devtools.timeline", "pid": 1, "tid": 1, "ts": ts, "dur": 900, "args": {"data": data}});
    let frame = json!({"frame": "F", "url": "https://a.example/", "processId": 1, "isInPrimaryMainFrame": true, "isOutermostMainFrame": true, "name": ""});
    let start = json!({"ph": "I", "s": "t", "name": name, "cat": "devtools.timeline", "pid": 1, "tid": 1, "ts": 821_000, "args": {"data": {"frames": [frame]}}});
    json!([event("Early", 1_000, json!({})), start, event("FunctionCall", 830_000, json!({}))])
        .to_string()
}

/// Returns a CPU profile, with its thread if `tid` is given.
fn profile(id: &str, tid: Option<u64>) -> Vec<Value> {
    let of = |name: &str, tid: u64, data: Value| json!({"ph": "P", "name": name, "cat": "disabled-by-default-v8.cpu_profiler", "id": id, "pid": 1, "tid": tid, "ts": 1_000, "args": {"data": data}});
    let frame = |name: &str| json!({"functionName": name, "scriptId": 1, "url": "a.js"});
    let nodes = json!([{"id": 1, "callFrame": frame("(root)")}, {"id": 2, "parent": 1, "callFrame": frame("f")}]);
    let chunk = json!({"cpuProfile": {"nodes": nodes, "samples": [2, 2, 2]}, "timeDeltas": [100, 100, 100]});
    let head = tid.map(|tid| of("Profile", tid, json!({"startTime": 1_000})));
    head.into_iter().chain([of("ProfileChunk", 9, chunk)]).collect()
}

const ALL: [&str; 5] =
    ["top", "tree", "tree --heaviest --pid 1", "report", "tree --bottom-up --markdown"];

#[test]
fn tables_note_devtools_zero() {
    let folder = Folder::new()
        .with("page.json", page("TracingStartedInBrowser"))
        .with("plain.json", page("Other"));
    for verb in ALL {
        let stdout = folder.run(&format!("{verb} page.json")).ends(0).stdout;
        assert!(stdout.contains("DevTools' 0 is at +820.00 ms"), "{verb}: {stdout}");
        let stdout = folder.run(&format!("{verb} plain.json")).ends(0).stdout;
        assert!(!stdout.contains("DevTools' 0"), "{verb}: {stdout}");
    }
    // the difference of the two starts is the one in the note
    let info = parsed(&folder.run("info --json page.json").ends(0).stdout);
    let top = parsed(&folder.run("top --json page.json").ends(0).stdout);
    let start = info["time"]["start_ns"].as_f64().expect("a time") / 1e6;
    let zero = top["devtools_zero_ms"].as_f64().expect("a time");
    assert_eq!(top["parts"][0]["window"][0].as_f64(), Some(start + zero), "{top}");
}

#[test]
fn uncounted_profiles_are_noted() {
    let call = json!({"ph": "X", "name": "FunctionCall", "cat": "devtools.timeline", "pid": 1, "tid": 1, "ts": 1_000, "dur": 900, "args": {}});
    let of = |profiles: &[(&str, Option<u64>)]| {
        let profiles = profiles.iter().flat_map(|&(id, tid)| profile(id, tid));
        Value::from([vec![call.clone()], profiles.collect()].concat()).to_string()
    };
    let folder = Folder::new()
        .with("all.json", of(&[("0x1", Some(1)), ("0x2", Some(2))]))
        .with("some.json", of(&[("0x1", Some(1)), ("0x2", Some(1)), ("0x3", None)]));
    let expected = "2 of 3 CPU profiles not counted: 1 of threads with another (one of each counts, as in DevTools), 1 without the Profile event that names their thread";
    for verb in ALL {
        let stdout = folder.run(&format!("{verb} some.json")).ends(0).stdout;
        assert!(stdout.contains(expected), "{verb}: {stdout}");
        let stdout = folder.run(&format!("{verb} all.json")).ends(0).stdout;
        assert!(!stdout.contains("not counted"), "{verb}: {stdout}");
    }
    let top = parsed(&folder.run("top --json some.json").ends(0).stdout);
    assert_eq!(top["uncounted_profiles"], json!({"of": 3, "further": 1, "unowned": 1}));
    let run = folder.run("calls some.json -o calls.json -v").ends(0);
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn table_times_are_relative_to_the_trace_start() {
    let folder = Folder::new().with("page.json", page("TracingStartedInBrowser"));
    let log = parsed(&folder.run("tree --log --json --main page.json").ends(0).stdout);
    let at = |name: &str| {
        let columns = log["columns"].as_array().expect("columns");
        columns.iter().position(|column| column == name).expect("a column")
    };
    let rows = log["parts"][0]["rows"].as_array().expect("rows");
    let call = rows.iter().find(|row| row[at("label")] == "Function call").expect("a call");
    assert_eq!(call[at("start_ms")].as_f64(), Some(829.0), "{log}");
    let stdout = folder.run("tree --log page.json").ends(0).stdout;
    assert!(stdout.contains("829.000"), "{stdout}");
    let window = "--from 829ms --duration 500us page.json";
    let stdout = folder.run(&format!("top {window}")).ends(0).stdout;
    assert!(
        stdout.contains("from 829.00 ms to 829.50 ms") && stdout.contains("Function call"),
        "{stdout}"
    );
    assert!(folder.run(&format!("slice {window}")).ends(0).stdout.contains("FunctionCall"));
}
