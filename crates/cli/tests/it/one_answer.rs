//! Different verbs report the same facts about a trace.

use crate::support::Folder;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::sync::{Arc, Mutex};
use tracemill_join::config::Config;
use tracemill_trace::output::target::OutputConfig;

/// Pids 1 and "1", which are different processes, and a thread without a tid.
const IDS: &str = r#"[{"ph":"X","cat":"x","name":"A","pid":"1","tid":"1","ts":10,"dur":50,"args":{}},
{"ph":"X","cat":"x","name":"B","pid":1,"tid":1,"ts":20,"dur":5,"args":{}},
{"ph":"X","cat":"x","name":"C","pid":1,"ts":20,"dur":5,"args":{}},
{"ph":"C","name":"n","pid":"1","ts":20,"args":{"v":1}}]"#;

/// Collects all values of `keys` at any depth.
fn find<'v>(value: &'v Value, keys: &[&str], found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            if keys.contains(&&**key) {
                found.push(value);
            }
            find(value, keys, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| find(value, keys, found)),
        _ => {}
    }
}

#[test]
fn ids_are_reported_as_written() {
    let folder = Folder::new().with("ids.json", IDS);
    let ids = |words: &str| {
        let stdout = folder.run(words).ends(0).stdout;
        let values: Vec<Value> = match serde_json::from_str(&stdout) {
            Ok(value) => vec![value],
            Err(_) => {
                stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
            }
        };
        let mut found = Vec::new();
        values.iter().for_each(|value| find(value, &["pid", "tid"], &mut found));
        let mut found: Vec<String> = found.into_iter().map(Value::to_string).collect();
        found.sort();
        found.dedup();
        found
    };
    let expected = ["\"1\"", "1", "null"];
    for words in ["info --json", "top --json", "tree --json", "tree --json=nested", "calls --rows"]
    {
        assert_eq!(ids(&format!("{words} ids.json")), expected, "{words}");
    }
    let report: Value =
        serde_json::from_str(&folder.run("report --json ids.json").stdout).expect("JSON");
    let mut found = BTreeSet::new();
    for section in report["sections"].as_array().expect("sections") {
        let columns = section["columns"].as_array().expect("columns").iter();
        for at in columns.enumerate().filter(|(_, column)| *column == "pid" || *column == "tid") {
            let rows = section["rows"].as_array().expect("rows").iter();
            found.extend(rows.map(|row| row[at.0].to_string()));
        }
    }
    assert_eq!(Vec::from_iter(found), expected);
}

/// Tests the Rust API behind `tracemill.events` in Python.
#[test]
fn reading_several_inputs_equals_their_merge() {
    let trace = |base: u64| {
        format!(
            r#"{{"traceEvents":[{{"ph":"X","name":"f","cat":"c","pid":1,"tid":1,"ts":1000,"dur":50}},
{{"ph":"s","name":"f","cat":"c","id":"0x1","pid":1,"tid":1,"ts":1010}},
{{"ph":"f","name":"f","cat":"c","id":"0x1","pid":1,"tid":1,"ts":1020}}],"baseTimeNanoseconds":{base}}}"#
        )
    };
    let folder = Folder::new().with("a.json", trace(0)).with("b.json", trace(1_500));
    let path = |name: &str| folder.path(name).into_os_string();
    let read = |flags: &[&str], refusal: Option<&str>| {
        let words = ["merge"].iter().chain(flags).map(OsString::from);
        let words = words.chain([path("a.json"), path("b.json")]);
        tracemill::reading(words, &[], refusal.map(str::to_owned), &tracemill::Caller::default())
    };
    for flags in [&[][..], &["--pid=keep"], &["--ids=keep", "--align=none"], &["--pid=offset"]] {
        let reading = read(flags, None).expect("they can be read");
        assert_eq!((reading.sources.len(), reading.messages.is_empty()), (1, false), "{flags:?}");
        let merged = Arc::new(Mutex::new(Vec::new()));
        let (output, config) =
            (OutputConfig::writer(Arc::clone(&merged)), Config::of(reading.limits));
        tracemill_pipeline::merge(&reading.sources, &output, &config).expect("a trace");
        let expected = folder.run(&format!("merge {} a.json b.json", flags.join(" "))).stdout;
        assert_eq!(*merged.lock().unwrap(), expected.as_bytes(), "{flags:?}");
        assert_eq!(read(flags, Some("no")).expect_err("it is refused").text, "no");
    }
    let as_written = ["--pid=keep", "--ids=keep", "--align=none"];
    assert_eq!(read(&as_written, Some("no")).expect("nothing changes").sources.len(), 2);
}

/// Renumbered pids mean nothing to users, so equally named threads are distinguished by file.
#[test]
fn equally_named_threads_are_labelled_by_file() {
    let trace = |ts: u64| {
        format!(
            r#"[{{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{{"name":"main"}}}},
{{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{{"name":"only at {ts}"}}}},
{{"ph":"X","name":"f","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":50}},
{{"ph":"X","name":"f","cat":"c","pid":1,"tid":2,"ts":{ts},"dur":50}}]"#
        )
    };
    let folder = Folder::new().with("a.json", trace(1000)).with("b.json", trace(9_000_000));
    for words in ["tree --per thread", "report"] {
        let text = folder.run(&format!("{words} a.json b.json")).ends(0).stdout;
        for (name, is_labelled) in
            [("main a.json", true), ("main b.json", true), ("at 1000", true), ("at 1000 a", false)]
        {
            assert_eq!(text.contains(name), is_labelled, "{words}: {name}\n{text}");
        }
        let alone = folder.run(&format!("{words} --tid 1 a.json")).ends(0).stdout;
        assert!(!alone.contains("main a.json"), "{alone}");
    }
    let json: Value =
        serde_json::from_str(&folder.run("top --per thread --json a.json b.json").stdout)
            .expect("JSON");
    let mut inputs = Vec::new();
    find(&json, &["input"], &mut inputs);
    let inputs: Vec<String> = inputs.into_iter().map(Value::to_string).collect();
    for name in ["\"a.json\"", "\"b.json\"", "null"] {
        assert!(inputs.iter().any(|input| input == name), "{name}: {inputs:?}");
    }
}

/// Hermes writes stacks as top-level `stackFrames` and samples, with numbers in quotes.
#[test]
fn samples_with_stack_frames_form_a_profile() {
    let sample = |ts: u32, sf: u32| {
        format!(r#"{{"cpu":"-1","name":"","ts":"{ts}","pid":7,"tid":"8","weight":"1","sf":{sf}}}"#)
    };
    let samples = [sample(30_000, 3), sample(20_000, 2), sample(40_000, 3), sample(50_000, 2)];
    let frames = r#"{"1":{"name":"[root]","category":"root"},"2":{"name":"render","line":"12","column":"3","parent":1},"3":{"name":"layout","parent":2}}"#;
    let event =
        r#"{"name":"mark","cat":"c","ph":"X","ts":"20000","dur":0,"pid":7,"tid":"8","args":{}}"#;
    let text = format!(
        r#"{{"traceEvents":[{event}],"samples":[{}],"stackFrames":{frames}}}"#,
        samples.join(",")
    );
    let folder = Folder::new().with("h.json", text);
    let top: Value =
        serde_json::from_str(&folder.run("top --json h.json").ends(0).stdout).expect("JSON");
    let rows = top["parts"][0]["rows"].as_array().expect("rows").iter();
    let rows: Vec<String> =
        rows.map(|row| format!("{} {} {} {}", row[3], row[4], row[5], row[6])).collect();
    assert_eq!(rows, ["\"layout\" 20.0 20.0 1", "\"render\" 20.0 40.0 1", "\"mark\" 0.0 0.0 1"]);
    assert_eq!(top["parts"][0]["samples"], 4);
    let tree = folder.run("tree h.json").ends(0).quietly().stdout;
    assert!(tree.contains("40.00 ms busy of 40.00 ms") && tree.contains("└─ layout"), "{tree}");
    folder.run("calls h.json -o calls.json").ends(0);
    let calls = folder.read("calls.json");
    assert!(calls.contains(r#""name":"layout""#) && calls.contains("stackFrames"), "{calls}");
    folder.run("report h.json").ends(0).quietly();
    folder.run("flame h.json").ends(0).quietly();
}

/// Nested operations with one id, one in the old form without an end, and other events.
pub(crate) const ASYNC: &str = r#"[{"ph":"b","pid":1,"id":1,"tid":0,"ts":1,"name":"run","cat":"z","args":{}},
{"ph":"e","pid":1,"id":1,"tid":0,"ts":900,"name":"run","cat":"z"},{"ph":"S","pid":1,"id":2,"tid":0,"ts":5,"name":"old","cat":"z"},
{"ph":"C","pid":1,"ts":5,"name":"n","args":{"v":1}},{"ph":"M","pid":1,"name":"process_name","args":{"name":"p"}}]"#;

#[test]
fn async_operations_are_tabulated() {
    let folder = Folder::new().with("async.json", ASYNC);
    let text = folder.run("top --async async.json").ends(0).quietly().stdout;
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["899.00", "1", "899.00", "899.00", "899.00", "0", "run", "z"], "{text}");
    assert_eq!(lines[2], ["–", "0", "–", "–", "–", "1", "old", "z"], "{text}");
    assert!(lines[0].starts_with(&["total", "µs", "count", "p50", "µs"]), "{text}");
    let csv = folder.run("top --async --csv -n 1 async.json").ends(0).stdout;
    assert_eq!(csv.lines().nth(1), Some("0.899,1,0.899,0.899,0.899,0,run,z"));
    let twice = folder.run("top --async --csv async.json async.json").ends(0).stdout;
    assert_eq!(twice.lines().nth(1), Some("1.798,2,0.899,0.899,0.899,0,run,z"));
    for flags in ["--pid 1", "--focus run", "--sort name", "--times exact"] {
        folder.run(&format!("top --async {flags} async.json")).ends(2);
    }
}

#[test]
fn traces_without_slices_are_described() {
    let folder = Folder::new().with("async.json", ASYNC);
    for verb in ["top", "tree", "flame", "calls --rows"] {
        let run = folder.run(&format!("{verb} async.json")).ends(1);
        run.says(&[
            "no thread has a slice",
            "2 async operations, 1 counter event, 1 metadata event",
            "tracemill top --async",
        ]);
    }
}

/// Scaling all times by 1000 gives the same numbers in another unit.
#[test]
fn tables_choose_the_unit_by_their_times() {
    let trace = |scale: f64| {
        let event = |name: &str, ts: f64, dur: f64| {
            let (ts, dur) = (ts * scale, dur * scale);
            format!(
                r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#
            )
        };
        let events = [event("a", 1000.0, 360.0), event("b", 1125.0, 7.5), event("c", 1200.0, 90.0)];
        format!("[{}]", events.join(","))
    };
    let folder = Folder::new().with("us.json", trace(1.0)).with("ms.json", trace(1000.0));
    for words in ["top", "tree --min 0", "tree --log", "tree --heaviest", "tree --peek b"] {
        let [micros, millis] = ["us", "ms"].map(|unit| {
            let text = folder.run(&format!("{words} {unit}.json")).ends(0).stdout;
            assert!(text.contains(&format!("total {}", unit.replace('u', "µ"))), "{text}");
            text
        });
        assert_eq!(micros.replace("µs", "ms"), millis, "{words}");
        assert!(!micros.contains(" 0.00 "), "{micros}");
    }
}

#[test]
fn all_figures_are_finite() {
    let profile = r#"[{"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","name":"Profile","id":"0x1","pid":1,"tid":1,"ts":1000,"args":{"data":{"startTime":1000}}},
{"ph":"P","cat":"disabled-by-default-v8.cpu_profiler","name":"ProfileChunk","id":"0x1","pid":1,"tid":1,"ts":2000,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":3,"columnNumber":0}}],"samples":[2,2,1]},"timeDeltas":[100,500,300]}}}]"#;
    let far = r#"[{"ph":"X","cat":"c","name":"a","pid":1,"tid":1,"ts":5,"dur":1e999},{"ph":"X","cat":"c","name":"b","pid":1,"tid":1,"ts":1e999,"dur":1},{"ph":"X","cat":"c","name":"c","pid":1,"tid":1,"ts":7,"dur":2}]"#;
    let zero = r#"[{"ph":"X","cat":"devtools.timeline","name":"Paint","pid":1,"tid":1,"ts":0,"dur":3,"args":{"data":{}}}]"#;
    let folder =
        Folder::new().with("p.json", profile).with("far.json", far).with("zero.json", zero);
    for verb in [
        "info",
        "top",
        "top --like panel",
        "tree --like panel",
        "tree --log",
        "report",
        "flame",
        "diff far.json",
        "check",
    ] {
        for name in ["p.json", "far.json", "zero.json"] {
            let run = folder.run(&format!("{verb} {name}"));
            let output = format!("{}{}", run.stdout, run.stderr);
            let mut words = output.split(|letter: char| !letter.is_alphanumeric());
            assert!(
                !words.any(|word| ["NaN", "inf", "infms"].contains(&word)),
                "{verb} {name}\n{output}"
            );
        }
    }
    let top = folder.run("top p.json").stdout;
    assert!(top.contains("800.00 µs busy") && top.contains("a.js:4:1"), "{top}");
}

#[test]
fn idle_time_is_excluded_with_a_note() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},{"id":2,"callFrame":{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},{"id":3,"callFrame":{"functionName":"handler","scriptId":"1","url":"file:///app/a.js","lineNumber":9,"columnNumber":0}}],"startTime":1000000,"endTime":1010000,"samples":[2,3,2,2,3,2],"timeDeltas":[1000,1000,1000,4000,1000,1000]}"#;
    let folder = Folder::new().with("a.cpuprofile", profile);
    let top = folder.run("top a.cpuprofile").ends(0).stdout;
    assert!(top.contains("2.00 ms busy of 10.00 ms (20.0 %), 7.00 ms idle not counted"), "{top}");
    let words = |line: Option<&str>| -> Vec<String> {
        line.into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    assert_eq!(words(top.lines().last()), ["7.00", "–", "7.00", "–", "3", "(idle)"]);
    folder.run("tree --json a.cpuprofile -o base.json").ends(0);
    let diff: Value =
        serde_json::from_str(&folder.run("diff --json base.json a.cpuprofile").stdout)
            .expect("JSON");
    assert_eq!(diff["busy_ms"], serde_json::json!([2.0, 2.0]), "{diff}");
    let report: Value =
        serde_json::from_str(&folder.run("report --json a.cpuprofile").stdout).expect("JSON");
    let mut busy = Vec::new();
    find(&report, &["busy_ms"], &mut busy);
    assert!(!busy.is_empty() && busy.iter().all(|ms| *ms == 2.0), "{busy:?}");
}
