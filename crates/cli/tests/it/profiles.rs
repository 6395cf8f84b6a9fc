//! Runs `profile list`, `profile extract`, and verbs on `.cpuprofile` inputs.

use crate::support::{Folder, testdata};
use serde_json::Value;

/// Returns a profile stream of the thread `tid` as V8 writes it.
fn stream(tid: u32, start: u64, samples: usize) -> String {
    let list = |item: &str| vec![item; samples].join(",");
    format!(
        r#"{{"name":"Profile","ph":"P","pid":7,"tid":{tid},"id":"0x{tid}","ts":{start},"args":{{"data":{{"startTime":{start}}}}}}},
{{"name":"ProfileChunk","ph":"P","pid":7,"tid":99,"id":"0x{tid}","ts":{start},"args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)","scriptId":0}}}},{{"id":2,"parent":1,"callFrame":{{"functionName":"f","scriptId":5,"url":"a.js","lineNumber":3,"columnNumber":4}}}}],"samples":[{}]}},"timeDeltas":[{}]}}}}}}"#,
        list("2"),
        list("10")
    )
}

fn trace() -> String {
    format!(
        "{{\"metadata\":{{\"startTime\":\"2026-11-21T01:58:12.345Z\"}},\"traceEvents\":[\n{},\n{}\n]}}",
        stream(1, 1000, 3),
        stream(2, 500, 4)
    )
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

const FIRST: &str = "CPU.20261121.015812.7.2.001.cpuprofile";
const SECOND: &str = "CPU.20261121.015812.7.1.002.cpuprofile";

#[test]
fn files_are_named_as_node_does() {
    let folder = Folder::new().with("trace.json", trace());
    folder.run("profile extract trace.json -d out").ends(0).quietly();
    let list = || {
        let mut names: Vec<_> = std::fs::read_dir(folder.path("out"))
            .expect("the folder was made")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    };
    assert_eq!(list(), [SECOND, FIRST]);
    folder
        .run("profile extract trace.json -d out -O {id}-{process}-{thread}-{seq}.{tid}")
        .ends(0)
        .quietly();
    assert_eq!(list()[..2], ["0x1-none-none-002.1", "0x2-none-none-001.2"]);
}

#[test]
fn extracted_profiles_are_complete() {
    let folder = Folder::new().with("trace.json", trace());
    let run = folder.run("profile extract trace.json --tid 1 -o -").ends(0).quietly();
    assert!(run.stdout.starts_with("{\"nodes\":[{\"id\":1,"), "{}", run.stdout);
    let expected = json(
        r#"{"nodes":[
            {"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},
             "hitCount":0,"children":[2]},
            {"id":2,"callFrame":{"functionName":"f","scriptId":"5","url":"a.js","lineNumber":3,"columnNumber":4},
             "hitCount":3}],
            "startTime":1000,"endTime":1030,"samples":[2,2,2],"timeDeltas":[10,10,10]}"#,
    );
    assert_eq!(json(&run.stdout), expected);
}

#[test]
fn existing_files_are_refused_before_writing() {
    let folder = Folder::new().with("trace.json", trace()).with(SECOND, "mine");
    folder.run("profile extract trace.json").ends(2).says(&["exists already", SECOND, "-f"]);
    assert_eq!(folder.names(), [SECOND, "trace.json"]);
    folder.run("profile extract trace.json -f").ends(0).quietly();
    assert_eq!(folder.names(), [SECOND, FIRST, "trace.json"]);
    assert_ne!(folder.read(SECOND), "mine");
    folder
        .run("profile extract trace.json --pid 7 --tid 1 -o trace.json -f")
        .ends(2)
        .says(&["one of the inputs"]);
}

#[test]
fn one_output_takes_one_profile() {
    let folder = Folder::new().with("trace.json", trace());
    folder.run("profile extract trace.json -o one").ends(3).says(&[
        "2 CPU profiles",
        "--tid",
        "-d",
    ]);
    folder.run("profile extract trace.json -o one --id 0x9").ends(3).says(&["none of the 2"]);
    folder.run("profile extract trace.json -O same").ends(3).says(&[
        "two CPU profiles",
        "same",
        "{seq}",
    ]);
    assert_eq!(folder.names(), ["trace.json"]);
    for words in ["-o one -d x", "-o one -O x", "-O a/b", "-O {nix}", "--pid 9-1"] {
        folder.run(&format!("profile extract trace.json {words}")).ends(2);
    }
    let empty = Folder::new().with("empty.json", "[]");
    empty.run("profile extract empty.json").ends(3).says(&["no CPU profile"]);
    empty.run("profile list empty.json").ends(0).says(&["the input has no CPU profile"]);
}

#[test]
fn lists_are_text_and_json() {
    let folder = Folder::new().with("trace.json", trace());
    let text = folder.pipe("profile list", trace()).ends(0).quietly().stdout;
    let words: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words[1][..4], ["7", "2", "-", "0x2"]);
    assert_eq!(words.len(), 3);
    let report = json(&folder.run("profile list trace.json --json --tid 1").ends(0).stdout);
    let profile = &report["profiles"][0];
    assert_eq!(report["profiles"].as_array().map(Vec::len), Some(1));
    for (key, value) in [
        ("pid", 7),
        ("tid", 1),
        ("start_ns", 1_000_000),
        ("end_ns", 1_030_000),
        ("samples", 3),
        ("nodes", 2),
        ("chunks", 1),
    ] {
        assert_eq!(profile[key], value, "{key}");
    }
    assert_eq!((&profile["id"], &profile["order"]), (&"0x1".into(), &"both".into()));
}

/// The bytes of a profile in a trace are those of `info`; a file counts whole.
#[test]
fn sizes_are_those_of_events_or_of_the_file() {
    let folder = Folder::new().with("trace.json", trace());
    let sizes = |words: &str| -> Vec<(String, u64)> {
        let found = json(&folder.run(words).ends(0).stdout);
        let profiles = found["profiles"].as_array().expect("a list").iter();
        let mut sizes: Vec<_> = profiles
            .map(|profile| (profile["id"].to_string(), profile["bytes"].as_u64().expect("bytes")))
            .collect();
        sizes.sort();
        sizes
    };
    let recorded = testdata().join("chromium/trace.json.gz").display().to_string();
    for (file, count) in [("trace.json", 2), (&*recorded, 2)] {
        let listed = sizes(&format!("profile list -q --json {file}"));
        assert_eq!(listed.len(), count);
        assert_eq!(listed, sizes(&format!("info -q --json {file}")), "{file}");
    }
    let file = testdata().join("node/CPU.20261121.044053.5418.0.001.cpuprofile");
    let len = std::fs::metadata(&file).expect("a file").len();
    let listed = sizes(&format!("profile list -q --json {}", file.display()));
    assert_eq!(listed.iter().map(|(_, bytes)| *bytes).collect::<Vec<_>>(), [len]);
}

#[test]
fn profiles_of_several_inputs_are_read_as_merged() {
    let metadata = |name: &str| {
        format!(r#"{{"name":"process_name","ph":"M","pid":7,"tid":1,"args":{{"name":"{name}"}}}}"#)
    };
    let other = |name: &str, start: u64| {
        format!(r#"{{"traceEvents":[{},{}]}}"#, metadata(name), stream(1, start, 3))
    };
    let folder = Folder::new().with("a.json", other("a", 1000)).with("b.json", other("b", 900_000));
    let merged = folder.run("merge a.json b.json").ends(0).stdout;
    for flags in ["", "--json --tid 1"] {
        let several = folder.run(&format!("profile list {flags} a.json b.json")).ends(0).stdout;
        let one = folder.pipe(&format!("profile list {flags} -"), merged.clone()).ends(0).stdout;
        let profiles = |text: &str| match flags {
            "" => text.to_owned(),
            _ => json(text)["profiles"].to_string(),
        };
        assert_eq!(profiles(&several), profiles(&one));
    }
    let listed = json(&folder.run("profile list --json a.json b.json").ends(0).stdout);
    let pids = [0, 1].map(|at| listed["profiles"][at]["pid"].clone());
    assert_ne!(pids[0], pids[1], "{listed}");
    assert_eq!(listed["inputs"].as_array().map(Vec::len), Some(2));
    folder.run("profile extract a.json b.json -d several").ends(0);
    folder.pipe("profile extract - -d one", merged).ends(0);
    for name in std::fs::read_dir(folder.path("one")).expect("a folder") {
        let name = name.expect("a file").file_name().to_string_lossy().into_owned();
        assert_eq!(folder.read(&format!("several/{name}")), folder.read(&format!("one/{name}")));
    }
}

#[test]
fn damage_is_reported_and_the_rest_extracted() {
    let damaged = trace().replacen("\"samples\":[2,2,2]", "\"samples\":[2,77,2]", 1);
    let at = damaged.find("{\"name\":\"ProfileChunk").expect("a chunk");
    let folder = Folder::new().with("trace.json", damaged);
    let place = format!("byte {at} of trace.json");
    let run =
        folder.run("profile extract trace.json").ends(1).says(&["tid 1", "(sample, once)", &place]);
    assert_eq!(run.stdout, "");
    let profile = json(&folder.read(SECOND));
    assert_eq!((&profile["samples"], &profile["timeDeltas"]), (&json("[2,2]"), &json("[10,20]")));
    assert_eq!(json(&folder.read(FIRST))["samples"], json("[2,2,2,2]"));
}

#[test]
fn profiles_and_traces_go_through_pipes() {
    let folder = Folder::new().with("trace.json", trace());
    folder.run("profile extract trace.json -d p").ends(0).quietly();
    let merged = folder.run("merge p trace.json").ends(0).quietly().stdout;
    let report = json(&folder.pipe("profile list - --json", merged).ends(0).quietly().stdout);
    let lanes: Vec<_> = report["profiles"]
        .as_array()
        .expect("profiles")
        .iter()
        .map(|p| (p["tid"].clone(), p["samples"].clone()))
        .collect();
    assert_eq!(lanes.len(), 4, "{lanes:?}");
    let profile = folder.read(&format!("p/{FIRST}"));
    let run = folder.pipe("merge -", profile).ends(0).says(&[
        "standard input",
        "--pid-tid",
        "pid 10000000",
    ]);
    assert!(run.stdout.contains("ProfileChunk"));
    assert!(run.stdout.contains(r#"{"args":{"name":"standard input"}"#), "a process has a name");
}

#[test]
fn pid_tid_sets_the_thread_of_profiles() {
    let folder = Folder::new().with("trace.json", trace());
    folder.run("profile extract trace.json --tid 1 -o some.cpuprofile").ends(0).quietly();
    let run = folder
        .run("merge some.cpuprofile --pid-tid some.cpuprofile=5:6 --for devtools")
        .ends(0)
        .quietly();
    let trace = json(&run.stdout);
    let events = trace["traceEvents"].as_array().expect("events");
    assert!(events.iter().all(|event| (&event["pid"], &event["tid"]) == (&5.into(), &6.into())));
    for name in [
        "process_name",
        "thread_name",
        "TracingStartedInBrowser",
        "CommitLoad",
        "Profile",
        "ProfileChunk",
    ] {
        assert!(events.iter().any(|event| event["name"] == name), "{name}");
    }
}

#[test]
fn several_profiles_of_one_thread_get_separate_threads() {
    let folder = Folder::new().with("trace.json", trace());
    folder
        .run("profile extract trace.json --tid 1 -o CPU.20260101.000000.5.0.001.cpuprofile")
        .ends(0)
        .quietly();
    let again = folder.read("CPU.20260101.000000.5.0.001.cpuprofile");
    let folder = folder.with("CPU.20260101.000000.5.0.002.cpuprofile", again);
    let run = folder
        .run("merge CPU.20260101.000000.5.0.001.cpuprofile CPU.20260101.000000.5.0.002.cpuprofile")
        .ends(0)
        .says(&["002", "the profile is moved to pid", "tid 10000000"]);
    let report = json(&folder.pipe("profile list - --json", run.stdout).ends(0).stdout);
    let profiles = report["profiles"].as_array().expect("profiles");
    assert_eq!(profiles.len(), 2);
    assert_ne!(profiles[0]["id"], profiles[1]["id"]);
    assert_ne!(profiles[0]["tid"], profiles[1]["tid"]);
}

#[test]
fn incompatible_clocks_are_reported() {
    let folder = Folder::new()
        .with("a.json", "[{\"ph\":\"I\",\"ts\":1795226383502128}]")
        .with("b.json", "[{\"ph\":\"I\",\"ts\":1988285780}]");
    folder.run("merge a.json b.json").ends(0).says(&["a.json count from 1970", "b.json do not"]);
}

#[test]
fn recorded_profiles_and_traces_are_recognised() {
    let node = testdata().join("node");
    let folder = Folder::new();
    let words = |name: &str| format!("info --json {}", node.join(name).display());
    let report = json(&folder.run(&words("trace.json")).ends(0).stdout);
    assert_eq!(report["profiles"][0]["id"], "0x1");
    let report =
        json(&folder.run(&words("CPU.20261121.044053.5418.0.001.cpuprofile")).ends(0).stdout);
    assert_eq!(
        (&report["profiles"][0]["pid"], &report["inputs"][0]["profiles"]),
        (&5418.into(), &1.into())
    );
}

#[test]
fn a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        return;
    }
    let folder = Folder::new().with("trace.json", trace());
    folder
        .run("profile extract trace.json --tid 1 -o /dev/full")
        .ends(4)
        .says(&["cannot write /dev/full"]);
}

/// Chrome and DevTools write the time of the recording under different names.
#[test]
fn extracted_profiles_are_dated_by_the_metadata() {
    let events = r#"{"ph":"P","name":"Profile","pid":7,"tid":8,"id":"0x1","ts":1,"args":{"data":{"startTime":1}}},
        {"ph":"P","name":"ProfileChunk","pid":7,"tid":9,"id":"0x1","ts":2,"args":{"data":{"cpuProfile":{"nodes":
        [{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}],"samples":[1,1]},"timeDeltas":[5,5]}}}"#;
    for (metadata, date) in [
        (r#"{"trace-capture-datetime":"2026-11-21 1:48:13"}"#, "20261121.014813"),
        (
            r#"{"trace-capture-datetime":"2026-11-21 12:48:13","startTime":"2025-01-02T03:04:05.678Z"}"#,
            "20250102.030405",
        ),
        (r#"{"trace-capture-datetime":"2024-5-3 7:8:9"}"#, "20240503.070809"),
        (r#"{"startTime":"2024-05-03T07:08:09+02:00"}"#, "20240503.070809"),
        (r#"{"trace-capture-datetime":"yesterday"}"#, "19700101.000000"),
        (r#"{"trace-capture-datetime":"2024-5-3 7:8"}"#, "19700101.000000"),
    ] {
        let text = format!("{{\"traceEvents\":[{events}],\"metadata\":{metadata}}}");
        let folder = Folder::new().with("a.json", text);
        folder.run("profile extract a.json -d out").ends(0).quietly();
        assert!(folder.path(&format!("out/CPU.{date}.7.8.001.cpuprofile")).exists(), "{metadata}");
    }
}
