//! Merges inputs with different clocks.

use crate::support::{Folder, Run};
use serde_json::{Value, json};

/// Returns a trace of one event, with additional top-level keys.
fn event(name: &str, ts: &str, beside: &str) -> String {
    format!(
        "{{\"traceEvents\":[{{\"ph\":\"X\",\"name\":\"{name}\",\"ts\":{ts},\"pid\":1,\"tid\":1}}]{beside}}}\n"
    )
}

fn folder() -> Folder {
    Folder::new()
        .with("a.json", event("a", "100", ",\"baseTimeNanoseconds\":1719853884000000000"))
        .with("b.json", event("b", "5.10", ",\"baseTimeNanoseconds\":\"1719853884000090900\""))
        .with("c.json", event("c", "\"7\"", ""))
}

#[track_caller]
fn assert_said(run: &Run, parts: &[&str]) {
    for part in parts {
        assert!(run.stderr.contains(part), "not said: {part}\n{}", run.stderr);
    }
}

/// Returns names and times in order; numbers are compared by value, because features of other
/// crates change how serde_json compares them.
fn times(trace: &str) -> Vec<(Value, Value)> {
    let value: Value = serde_json::from_str(trace).expect("JSON");
    let events = value["traceEvents"].as_array().expect("events");
    events
        .iter()
        .map(|event| time(event["name"].as_str().expect("a name"), event["ts"].clone()))
        .collect()
}

fn time(name: &str, ts: impl Into<Value>) -> (Value, Value) {
    let ts = ts.into();
    (json!(name), ts.as_f64().map_or(ts, |number| json!(number)))
}

#[test]
fn base_times_align_clocks_with_a_message() {
    let folder = folder();
    let run =
        folder.run("merge a.json b.json c.json --pid keep --report r.json --provenance").ends(0);
    let run = run.says(&[
        "one time line: b.json +90.9µs (base-time) (--align none leaves times as they are)",
    ]);
    assert_eq!(times(&run.stdout), [time("c", "7"), time("b", 96.0), time("a", 100)]);
    assert!(run.stdout.contains("\"ts\":96.00,"));
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    assert_eq!(report["clocks"][1]["offset_ns"], 90_900);
    assert_eq!(report["clocks"][2]["method"], Value::Null);
    let whole: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(whole["metadata"]["tracemill"]["clocks"][1]["method"], "base-time");
    let run = folder.run("merge a.json b.json c.json --pid keep --align none").ends(0).quietly();
    assert_eq!(times(&run.stdout), [time("b", 5.1), time("c", "7"), time("a", 100)]);
}

#[test]
fn flags_move_single_inputs() {
    let folder = folder();
    let flags = "--pid keep --align start --offset c.json=-1ms --scale b.json=2";
    let run = folder.run(&format!("merge a.json b.json c.json {flags}")).ends(0);
    let run = run.says(&["b.json × 2 +89.8µs (start); c.json -907µs (start)"]);
    assert_eq!(times(&run.stdout), [time("c", "-900"), time("a", 100), time("b", 100.0)]);
    for (flags, problem) in [
        (
            "--offset d.json=1ms",
            "an offset is given for d.json, but no input has this path or name",
        ),
        ("--scale d.json=2", "a factor is given for d.json, but no input"),
        ("--offset a.json=1 --offset a.json=2", "--offset is given twice for a.json"),
        ("--offset a.json=1.5ns", "expected whole nanoseconds"),
        ("--scale a.json=0", "expected a factor above 0"),
        ("--align soon", "marker:NAME or clock-sync: soon"),
        ("--align marker:", "marker:NAME or clock-sync"),
    ] {
        assert_said(&folder.run(&format!("merge a.json b.json {flags}")).ends(2), &[problem]);
    }
}

#[test]
fn marker_fit_is_reported() {
    let marks = |offset: u64, drift: u64| {
        let mark = |at: u64| {
            let ts = 1000 * at + at % 3 + offset + drift * at;
            format!("{{\"ph\":\"X\",\"name\":\"step\",\"ts\":{ts},\"pid\":{offset},\"tid\":1}}")
        };
        format!("[{}]", (0..1000).map(mark).collect::<Vec<_>>().join(","))
    };
    let folder = Folder::new()
        .with("a.json", marks(0, 0))
        .with("b.json", marks(555, 1))
        .with("none.json", event("other", "5", ""));
    let run = folder.run("merge a.json b.json none.json --align marker:step -v").ends(0);
    let parts = [
        "none.json has no event named step: this input is not aligned by this rule",
        "clock of b.json -1.055ms (marker:step), 1,000 events, the worst is off by 500µs, certain to ±499.5µs",
        "--scale b.json=0.999001000",
    ];
    assert_said(&run, &parts);
    let run = folder.run("merge a.json none.json --align marker:step").ends(0);
    assert_said(&run, &["only one input has events named step"]);
    let run = folder.run("merge a.json b.json --align clock-sync").ends(0);
    assert_said(&run, &["no input has clock-sync events"]);
}

#[test]
fn manifests_repeat_offsets_and_can_be_edited() {
    let folder = folder();
    let flags = "--pid keep --offset a.json=1 --scale b.json=3";
    let first = folder.run(&format!("merge a.json b.json {flags} --write-manifest m")).ends(0);
    let mut manifest: Value = serde_json::from_str(&folder.read("m")).unwrap();
    let inputs = &manifest["inputs"];
    assert_eq!((&inputs[0]["offset"], &inputs[0]["scale"]), (&json!("1000ns"), &Value::Null));
    assert_eq!((&inputs[1]["offset"], &inputs[1]["scale"]), (&json!("90900ns"), &json!("3")));
    let again = folder.run("merge --pid keep --manifest m").ends(0);
    assert_eq!(first.stdout, again.stdout);
    manifest["inputs"][1]["offset"] = json!("-0.5ms");
    let folder = folder.with("m2", manifest.to_string());
    let edited = folder.run("merge --pid keep --manifest m2").ends(0).says(&["b.json × 3 -500µs"]);
    assert_eq!(times(&edited.stdout), [time("b", -484.7), time("a", 101)]);
}

#[test]
fn cpu_profiles_are_moved_completely() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],"startTime":1000.25,"endTime":1004,"samples":[1,1],"timeDeltas":[1,2]}"#;
    let folder = Folder::new()
        .with("CPU.20250510.134625.5.0.001.cpuprofile", profile)
        .with("a.json", event("a", "2000", ""));
    let run = folder.run("merge a.json CPU.20250510.134625.5.0.001.cpuprofile").ends(0).quietly();
    assert!(run.stdout.contains("\"ts\":1000.25"));
    let flags = "--offset CPU.20250510.134625.5.0.001.cpuprofile=1ms --for devtools";
    let run =
        folder.run(&format!("merge a.json CPU.20250510.134625.5.0.001.cpuprofile {flags}")).ends(0);
    for text in
        ["\"startTime\":2000.25", "\"endTime\":2004", "\"ts\":2000.25", "\"timeDeltas\":[1,2]"]
    {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let events: Value = serde_json::from_str(&run.stdout).unwrap();
    let is_start = |event: &&Value| event["name"] == "TracingStartedInBrowser";
    let start = events["traceEvents"].as_array().unwrap().iter().find(is_start).unwrap();
    assert_eq!(start["ts"].as_f64(), Some(2000.0), "the earliest of all, after it was moved");
    // events generated for a viewer are no input
    let flags = "--align start --for devtools --write-manifest m";
    folder.run(&format!("merge a.json CPU.20250510.134625.5.0.001.cpuprofile {flags}")).ends(0);
    let manifest: Value = serde_json::from_str(&folder.read("m")).unwrap();
    assert_eq!(manifest["inputs"].as_array().unwrap().len(), 2);
    folder.run("merge --manifest m").ends(0);
}

#[test]
fn unknown_markers_are_refused() {
    let event = |ts: u64| format!(r#"[{{"name":"step 1","ph":"X","ts":{ts},"dur":1,"pid":1}}]"#);
    let folder = Folder::new().with("a.json", event(10)).with("b.json", event(20));
    let run = folder.run("merge a.json b.json --align marker:step -o c.json");
    run.ends(2).says(&["no input has an event named step to align their clocks by"]);
}
