//! Runs `top`, `tree` and `calls`.

use crate::support::{Folder, STACKS as TRACE};
use serde_json::Value;

fn folder() -> Folder {
    Folder::new().with("t.json", TRACE)
}

#[test]
fn top_merges_threads_and_prints_a_title() {
    let folder = folder();
    let stdout = folder.run("top t.json").ends(0).stdout;
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[0], "2 threads of 1 process: 9.50 ms busy of 18.00 ms (52.8 %), exact times");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(lines[2]), ["5.00", "52.6", "9.00", "94.7", "1", "a"]);
    assert_eq!(words(lines[3]), ["4.50", "47.4", "4.50", "47.4", "3", "b"]);
    let csv = folder.run("top --csv --per thread t.json").ends(0).stdout;
    assert!(
        csv.lines().any(|line| line.starts_with("0,0.5,0.5,100,100,1,0,b,,,,other,1,2,")),
        "{csv}"
    );
}

#[test]
fn json_trees_are_exact() {
    let folder = folder();
    let stdout = folder.run("tree --json --tid 1 t.json").ends(0).stdout;
    let tree: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(tree["schema"], "tracemill.tree/1");
    let rows = tree["parts"][0]["rows"].as_array().expect("rows");
    let row = |at: usize| (&rows[at][0], &rows[at][2], &rows[at][4], &rows[at][5], &rows[at][6]);
    assert_eq!(row(0), (&Value::Null, &"a".into(), &5.0.into(), &9.0.into(), &1.into()));
    assert_eq!(row(1), (&0.into(), &"b".into(), &4.0.into(), &4.0.into(), &2.into()));
    let log = folder.run("tree --log --tid 1 --from 4ms --duration 1500us t.json").ends(0).stdout;
    assert!(log.contains("├─ b") && log.contains("└─ b"), "{log}");
    let peek = folder.run("tree --peek b --per all t.json").ends(0).stdout;
    assert!(peek.contains("calls it"), "{peek}");
}

#[test]
fn calls_rows_are_the_flame_chart() {
    let folder = folder();
    let stdout = folder.run("calls --rows --tid 1 t.json").ends(0).stdout;
    let rows: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[2].to_string(), r#"[1,"E","b",2000.0,3000.0,3000.0,"r-1"]"#);
}

#[test]
fn rows_that_devtools_hides_are_named() {
    let event = |(name, ts): (&str, u32)| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":9}}"#)
    };
    // the microtasks are in the first task
    let names = ["RunTask", "RunMicrotasks", "Impl::RunTask", "Pool_RunTask"];
    let events: Vec<String> = names.into_iter().zip([10, 10, 30, 40]).map(event).collect();
    // only in traces of browsers does DevTools hide events
    let page = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":5,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","name":"","processId":1}]}}}"#;
    let folder = Folder::new().with("t.json", format!("[{page},{}]", events.join(",")));
    let hidden = "DevTools hides Impl::RunTask, Pool_RunTask; --all-events shows them";
    for (words, why) in [
        (
            "top --text RunTask",
            format!("no row matches --text RunTask: did you mean RunMicrotasks? ({hidden})"),
        ),
        (
            "tree --text Pool_",
            "no row matches --text Pool_ (DevTools hides Pool_RunTask; --all-events shows it)"
                .into(),
        ),
        (
            "tree --peek RunTask",
            "no row matches --peek RunTask: did you mean RunMicrotasks? (tables have no rows of RunTask, as in DevTools)".into(),
        ),
        (
            "tree --heaviest=::Run",
            "no row matches --heaviest ::Run (DevTools hides Impl::RunTask; --all-events shows it)"
                .into(),
        ),
    ] {
        let run = folder.run(&format!("{words} t.json")).ends(1).says(&[&why]);
        assert!(!run.stderr.contains("no events match"), "{}", run.stderr);
    }
    folder.run("top --text RunTask --all-events t.json").ends(0);
    folder.run("tree --focus RunTask t.json").ends(0);
    // the row exists, but not in the window
    folder
        .run("top --text microtasks --from 25us t.json")
        .ends(1)
        .says(&["no events match the selected"]);
}

#[test]
fn empty_selections_are_reported() {
    let folder = folder();
    let run = folder.run("top --tid 9 t.json").ends(1);
    assert!(run.stderr.contains("nothing matches --tid 9 (the trace has 1, 2)"), "{}", run.stderr);
    assert!(
        run.stderr.contains("no events match the selected threads, window and name"),
        "{}",
        run.stderr
    );
    folder.run("tree --from 8ms --to 3ms t.json").ends(2).says(&["--to is before --from"]);
    // windows of zero length, and outside the trace
    let verbs =
        ["top", "tree", "tree --log", "tree --bottom-up", "flame", "report", "calls --rows"];
    for verb in verbs {
        for window in ["--from 1s", "--from 1s --to 2s"] {
            let run = folder.run(&format!("{verb} {window} t.json")).ends(1);
            run.says(&[
                "no events match the selected threads, window and name",
                "the trace lasts 9.00 ms",
            ]);
        }
        for window in ["--to @0", "--from @0 --to @0", "--from @0 --duration 1ns"] {
            let run = folder.run(&format!("{verb} {window} t.json")).ends(2);
            run.says(&["before the trace begins"]);
        }
    }
    std::fs::write(folder.path("empty.json"), "[]").expect("the folder takes it");
    folder.run("top --from @1 --to @2 empty.json").ends(1).says(&["the trace holds nothing"]);
    let moment = |verb: &str| folder.run(&format!("{verb} --from 3ms --to 3ms t.json"));
    moment("report").ends(0).says(&["the window has no length"]);
    moment("top").ends(1).says(&["no events match the selected threads, window and name"]);
    assert!(moment("tree").ends(0).quietly().stdout.contains("└─ b"));
    let run = folder.run("top --duration 0 t.json").ends(2);
    assert!(run.stderr.contains("--duration <TIME>': expected a time above 0"), "{}", run.stderr);
    std::fs::write(folder.path("b.json"), r#"[{"ph":"B","name":"x","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":2,"name":"y"},{"ph":"X","name":"n"}]"#)
        .expect("a file");
    let run = folder.run("top b.json").ends(0);
    for message in ["1 begin", "1 end", "1 event without a time"] {
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

/// A thread with a CPU profile: `f` for 2 ms, with `g` inside for the second.
const SAMPLED: &str = r#"{"traceEvents":[
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":1,"tid":1,"ts":1000,"dur":5000},
{"ph":"P","name":"Profile","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","pid":1,"tid":1,"ts":1000,"args":{"data":{"startTime":1000}}},
{"ph":"P","name":"ProfileChunk","cat":"disabled-by-default-v8.cpu_profiler","id":"0x1","pid":1,"tid":2,"ts":6000,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}},{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":3,"url":"a.js","lineNumber":4,"columnNumber":5}},{"id":3,"parent":2,"callFrame":{"functionName":"","scriptId":3,"url":"a.js"}}],"samples":[2,3,2,1]},"timeDeltas":[1000,1000,1000,1000]}}}
],"k":1}"#;

#[test]
fn calls_are_written_as_events() {
    let folder = Folder::new().with("s.json", SAMPLED);
    folder.run("calls s.json -o c.json").ends(0);
    folder.run("merge s.json -o m.json").ends(0);
    let (with, without) = (folder.read("c.json"), folder.read("m.json"));
    let kept: Vec<&str> = with
        .lines()
        .filter(|line| !line.contains("\"v8.calls\""))
        .map(|l| l.trim_end_matches(','))
        .collect();
    let before: Vec<&str> = without.lines().map(|line| line.trim_end_matches(',')).collect();
    assert_eq!(kept, before);
    let call = r#"{"name":"f","cat":"v8.calls","ph":"X","pid":1,"tid":1,"ts":2000.000,"dur":3000.000,"args":{"node":2,"url":"a.js","line":4,"column":5,"sample":0}}"#;
    assert!(with.contains(call), "{with}");
    assert!(with.contains("\"(anonymous)\""), "{with}");
    // the samples give the same calls; without them, the events are the calls
    let rows = |input: &str| -> Vec<Value> {
        let stdout = folder.run(&format!("tree --all-events --json {input}")).ends(0).stdout;
        let tree: Value = serde_json::from_str(&stdout).expect("JSON");
        let rows = tree["parts"][0]["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| serde_json::json!([row[0], row[4], row[5], row[6]])).collect()
    };
    assert_eq!(rows("c.json"), rows("s.json"));
    folder
        .run("filter --cat disabled-by-default-v8.cpu_profiler --invert c.json -o f.json")
        .ends(0);
    assert_eq!(rows("f.json"), rows("s.json"));
    let piped = folder.pipe("calls -", SAMPLED).ends(0).stdout;
    assert_eq!(piped, with);
}

/// Parses `calls --rows`: pid, tid, name, start and duration in microseconds, in flame chart order.
fn calls_in_rows(stdout: &str) -> Vec<(String, String, String, f64, f64)> {
    let mut thread = (String::new(), String::new());
    let mut calls = Vec::new();
    for line in stdout.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if row.is_object() {
            thread = (text(&row["pid"]), text(&row["tid"]));
        } else if row[1] == "P" {
            let number = |at: usize| row[at].as_f64().expect("a number");
            calls.push((thread.0.clone(), thread.1.clone(), text(&row[2]), number(3), number(4)));
        }
    }
    calls
}

/// Parses the same values from the events of a trace.
fn calls_in_trace(text: &str) -> Vec<(String, String, String, f64, f64)> {
    let trace: Value = serde_json::from_str(text).expect("JSON");
    let events = trace["traceEvents"].as_array().or(trace.as_array()).expect("events");
    let calls = events.iter().filter(|event| event["cat"] == "v8.calls");
    calls
        .map(|event| {
            let number = |key: &str| event[key].as_f64().expect("a number");
            let name = event["name"].as_str().expect("a name").to_owned();
            (event["pid"].to_string(), event["tid"].to_string(), name, number("ts"), number("dur"))
        })
        .collect()
}

/// Asserts that `calls` writes the rows of `calls --rows` rounded to nanoseconds, and that viewers
/// accept them.
#[track_caller]
fn holds_the_flame_chart(folder: &Folder, input: &str) -> usize {
    let rows = folder.run(&format!("calls --rows {input}"));
    folder.run(&format!("calls {input} -o out.json --force"));
    let mut expected = calls_in_rows(&rows.stdout);
    let mut written = calls_in_trace(&folder.read("out.json"));
    let sort = |calls: &mut Vec<(String, String, String, f64, f64)>| {
        calls.sort_by(|a, b| {
            (&a.0, &a.1).cmp(&(&b.0, &b.1)).then(a.3.total_cmp(&b.3)).then(b.4.total_cmp(&a.4))
        });
    };
    sort(&mut expected);
    sort(&mut written);
    assert_eq!(expected.len(), written.len(), "{input}");
    for (a, b) in expected.iter().zip(&written) {
        assert_eq!((&a.0, &a.1, &a.2), (&b.0, &b.1, &b.2), "{input}");
        // half a nanosecond of start, one of duration, and the rounding of doubles
        let most = 0.0011 + 4.0 * a.3.abs() * f64::EPSILON;
        assert!((a.3 - b.3).abs() <= most && (a.4 - b.4).abs() <= most, "{a:?} {b:?}");
    }
    for viewer in ["perfetto", "devtools"] {
        let before = folder.run(&format!("check --for {viewer} {input}"));
        let after = folder.run(&format!("check --for {viewer} out.json"));
        assert!(after.code <= before.code, "{viewer}: {}{}", after.stdout, after.stderr);
    }
    written.len()
}

#[test]
fn written_calls_equal_the_flame_chart() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},
{"id":2,"callFrame":{"functionName":"f","scriptId":"3","url":"file:///a.js","lineNumber":4,"columnNumber":5}}],
"startTime":1000,"endTime":9000,"samples":[2,2,1,2],"timeDeltas":[1000,1000,1000,1000]}"#;
    let folder = Folder::new()
        .with("s.json", SAMPLED)
        .with("CPU.20250510.134625.51430.1.001.cpuprofile", profile);
    assert_eq!(holds_the_flame_chart(&folder, "s.json"), 2);
    assert_eq!(holds_the_flame_chart(&folder, "CPU.20250510.134625.51430.1.001.cpuprofile"), 2);
    assert_eq!(
        holds_the_flame_chart(&folder, "s.json CPU.20250510.134625.51430.1.001.cpuprofile"),
        4
    );
    let piped = folder.pipe("calls - -o piped.json", profile).ends(0);
    assert_eq!(calls_in_trace(&folder.read("piped.json")).len(), 2, "{}", piped.stderr);
}

#[test]
fn written_calls_of_the_corpus_equal_the_flame_chart() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let folder = Folder::new();
    let mut calls = 0;
    for name in ["devtools/chromium156-worker.json.gz", "node20"] {
        let path = corpus.join(name);
        let files: Vec<_> = match path.read_dir() {
            Ok(files) => files.flatten().map(|file| file.path()).collect(),
            Err(_) => vec![path],
        };
        for file in files.iter().filter(|file| file.is_file()) {
            calls += holds_the_flame_chart(&folder, &file.display().to_string());
        }
    }
    assert!(!corpus.is_dir() || calls > 0);
}

/// Slices `a` 1–10 ms with `b` 2–5 (with `d` 3–4) and `c` 6–7 inside; on thread 2 `b` 0.5–2.
const NESTED: &str = r#"[
{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":9000},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":2000,"dur":3000},
{"ph":"X","name":"d","cat":"c","pid":1,"tid":1,"ts":3000,"dur":1000},
{"ph":"X","name":"c","cat":"c","pid":1,"tid":1,"ts":6000,"dur":1000},
{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{"name":"server"}},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":2,"ts":500,"dur":1500}]"#;

/// Returns depth, name, self time, total time and count of each row.
#[track_caller]
fn rows_of(folder: &Folder, words: &str) -> Vec<String> {
    let stdout = folder.run(&format!("{words} --json")).ends(0).stdout;
    let tree: Value = serde_json::from_str(&stdout).expect("JSON");
    let parts = tree["parts"].as_array().expect("parts").iter();
    let rows = parts.flat_map(|part| part["rows"].as_array().expect("rows"));
    let text = |row: &Value, at: usize| row[at].to_string().replace('"', "");
    rows.map(|row| [1, 3, 4, 5, 6].map(|at| text(row, at)).join(" ")).collect()
}

#[test]
fn flags_select_events_and_times() {
    let folder = Folder::new().with("n.json", NESTED);
    let rows = |flags: &str| rows_of(&folder, &format!("tree n.json {flags}"));
    let first = "--tid 1";
    assert_eq!(rows(first), ["0 a 5.0 9.0 1", "1 b 2.0 3.0 1", "2 d 1.0 1.0 1", "1 c 1.0 1.0 1"]);
    // the time of b, whatever called it
    assert_eq!(
        rows(&format!("{first} --focus ^b$")),
        ["0 a 0.0 3.0 1", "1 b 2.0 3.0 1", "2 d 1.0 1.0 1"]
    );
    assert_eq!(rows(&format!("{first} --ignore ^b$")), ["0 a 5.0 6.0 1", "1 c 1.0 1.0 1"]);
    assert_eq!(
        rows(&format!("{first} --hide ^b$")),
        ["0 a 7.0 9.0 1", "1 d 1.0 1.0 1", "1 c 1.0 1.0 1"]
    );
    assert_eq!(rows(&format!("{first} --root ^b$")), ["0 b 2.0 3.0 1", "1 d 1.0 1.0 1"]);
    assert_eq!(rows(&format!("{first} --text D")), ["0 d 1.0 1.0 1"]);
    assert_eq!(
        rows_of(&folder, "tree n.json --tid 1 --bottom-up --text d"),
        ["0 d 1.0 1.0 1", "1 b 1.0 1.0 1", "2 a 1.0 1.0 1"]
    );
    // an event in two windows counts once
    assert_eq!(
        rows("--tid 1 --window 0..1000 --window 6ms..7.5ms"),
        ["0 a 1.5 2.0 1", "1 c 0.5 0.5 1"]
    );
    assert_eq!(rows("--event r-1 --tid 1"), ["0 a 0.0 3.0 1", "1 b 2.0 3.0 1", "2 d 1.0 1.0 1"]);
    // b is open from 0.5 to 5 ms on either thread
    assert_eq!(
        rows("--during ^b$ --per all"),
        ["0 a 1.0 4.0 1", "1 b 2.0 3.0 1", "2 d 1.0 1.0 1", "0 b 1.5 1.5 1"]
    );
    folder
        .run("tree n.json --during nothing")
        .ends(1)
        .says(&["nothing matches --during nothing (the trace has a, b, d, c)"]);
    folder.run("tree n.json --event r-99").ends(1).says(&["nothing matches --event r-99"]);
    folder.run("tree n.json --focus (").ends(2);
}

#[test]
fn rows_are_grouped_by_process_thread_file_and_package() {
    let profile = |url: &str| {
        format!(
            r#"{{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},"children":[2]}},
{{"id":2,"callFrame":{{"functionName":"f","scriptId":"3","url":"{url}","lineNumber":4,"columnNumber":5}}}}],
"startTime":1000,"endTime":9000,"samples":[2,2,1,2],"timeDeltas":[1000,1000,4000,1000]}}"#
        )
    };
    let folder = Folder::new()
        .with("n.json", NESTED)
        .with("a.cpuprofile", profile("file:///x/node_modules/@s/p/i.js?v=1"))
        .with("b.cpuprofile", profile("file:///x/main.js"));
    assert_eq!(rows_of(&folder, "top n.json --group-by process"), ["0 1 server 10.5 10.5 5"]);
    assert_eq!(
        rows_of(&folder, "top n.json --group-by thread"),
        ["0 1/1 9.0 9.0 4", "0 1/2 1.5 1.5 1"]
    );
    let profiles = "top a.cpuprofile b.cpuprofile --group-by";
    assert_eq!(
        rows_of(&folder, &format!("{profiles} package")),
        ["0 @s/p 6.0 6.0 2", "0 [no package] 6.0 6.0 2"]
    );
    assert_eq!(
        rows_of(&folder, &format!("{profiles} file")),
        ["0 file:///x/node_modules/@s/p/i.js 6.0 6.0 2", "0 file:///x/main.js 6.0 6.0 2"]
    );
    let inputs = folder.run("top a.cpuprofile b.cpuprofile --per input --csv").ends(0).stdout;
    assert_eq!(inputs.lines().count(), 3, "{inputs}");
}

#[test]
fn weights_set_the_duration_of_samples() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},
{"id":2,"callFrame":{"functionName":"f","scriptId":"3","url":"a.js","lineNumber":4,"columnNumber":5}},
{"id":3,"callFrame":{"functionName":"g","scriptId":"3","url":"a.js","lineNumber":9,"columnNumber":5}}],
"startTime":1000,"endTime":9000,"samples":[2,3,2,3],"timeDeltas":[1000,1000,4000,2000]}"#;
    let folder = Folder::new().with("p.cpuprofile", profile);
    let rows = |flags: &str| rows_of(&folder, &format!("top p.cpuprofile {flags}"));
    assert_eq!(rows(""), ["0 g 4.0 4.0 2", "0 f 3.0 3.0 2"]);
    assert_eq!(rows("--weights delta"), ["0 f 5.0 5.0 2", "0 g 3.0 3.0 2"]);
    assert_eq!(rows("--weights hits"), ["0 f 4.0 4.0 2", "0 g 4.0 4.0 2"]);
    let stdout = folder.run("top p.cpuprofile --weights hits").ends(0).stdout;
    assert!(stdout.contains("(self: all samples alike)"), "{stdout}");
}

#[test]
fn unnamed_end_events_end_the_innermost_begin() {
    let folder = Folder::new().with(
        "b.json",
        r#"[{"ph":"B","name":"a","cat":"c","pid":1,"tid":1,"ts":1000},
        {"ph":"B","name":"b","cat":"c","pid":1,"tid":1,"ts":2000},
        {"ph":"E","pid":1,"tid":1,"ts":4000},
        {"ph":"E","name":"a","pid":1,"tid":1,"ts":5000}]"#,
    );
    assert_eq!(rows_of(&folder, "top b.json"), ["0 b 2.0 2.0 1", "0 a 2.0 4.0 1"]);
}

/// Returns the rows of each thread, sorted by ids, without event keys.
fn threads_in(folder: &Folder, words: &str) -> Vec<String> {
    let stdout = folder.run(&format!("tree --json {words}")).ends(0).stdout;
    let tree: Value = serde_json::from_str(&stdout).expect("JSON");
    let parts = tree["parts"].as_array().expect("parts").iter().map(|part| {
        let rows = part["rows"].as_array().expect("rows").iter().map(|row| {
            let mut row = row.as_array().expect("a row").clone();
            row[8] = Value::Null;
            Value::Array(row)
        });
        let thread = &part["threads"][0];
        let ids =
            [&thread["pid"], &thread["tid"], &thread["name"], &part["window"], &part["self_ms"]];
        format!("{ids:?} {:?}", rows.collect::<Vec<_>>())
    });
    let mut parts: Vec<String> = parts.collect();
    parts.sort();
    parts
}

#[test]
fn several_inputs_are_read_as_merged() {
    let other = TRACE.replace("\"a\"", "\"z\"").replace("9000", "8000");
    let at = |events: &str, base: u64| {
        format!(r#"{{"traceEvents":{events},"baseTimeNanoseconds":{base}000000000}}"#)
    };
    let folder = folder()
        .with("u.json", &other)
        .with("s.json", SAMPLED)
        .with("v.json", SAMPLED.replace("\"f\"", "\"h\"").replace("[2,3,2,1]", "[2,2,3,1]"))
        .with("early.json", at(TRACE, 1))
        .with("late.json", at(&other, 3));
    for words in ["t.json u.json", "s.json v.json", "early.json late.json", "t.json s.json u.json"]
    {
        folder.run(&format!("merge -f {words} -o m.json")).ends(0);
        assert_eq!(threads_in(&folder, words), threads_in(&folder, "m.json"), "{words}");
    }
    let stdout = folder.run("top t.json u.json").ends(0).stdout;
    assert!(stdout.starts_with("4 threads of 2 processes"), "{stdout}");
    let stdout = folder.run("top early.json late.json").ends(0).stdout;
    assert!(stdout.contains("of 8.03 s"), "{stdout}");
}

#[test]
fn flags_select_threads_and_windows() {
    let name = |what: &str, tid: u64, name: &str| {
        format!(r#"{{"ph":"M","name":"{what}","pid":1,"tid":{tid},"args":{{"name":"{name}"}}}},"#)
    };
    let names = name("thread_name", 1, "main") + &name("thread_name", 2, "network");
    let named = TRACE.replacen('[', &format!("[{names}{}", name("process_name", 0, "server")), 1);
    let folder = Folder::new().with("n.json", &named);
    let rows = |words: &str| rows_of(&folder, &format!("{words} n.json"));
    assert_eq!(rows("top --thread ^net"), rows("top --tid 2"));
    assert_eq!(rows("top --thread ^main$ --thread nobody"), rows("top --tid 1"));
    assert_eq!(rows("top --process ^serv"), rows("top"));
    let run = folder.run("top --process client n.json").ends(1);
    let meant = "nothing matches --process client (the trace has server)";
    assert!(run.stderr.contains(meant), "{}", run.stderr);
    assert_eq!(rows("tree --head 3ms"), rows("tree --from 0 --to 3ms"));
    assert_eq!(rows("tree --tail 3ms"), rows("tree --from 6ms"));
    folder.run("top --head 3ms --tail 1ms n.json").ends(2);
}

#[test]
fn rows_are_sorted_and_heaviest_paths_found() {
    let event = |name: &str, ts: u64, dur: u64| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let events = [
        event("z", 1000, 100),
        event("a", 2000, 900),
        event("low", 2100, 300),
        event("b", 2500, 200),
        event("m", 3000, 300),
        event("low", 3100, 100),
    ];
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",")));
    let labels = |words: &str| -> Vec<String> {
        let stdout = folder.run(&format!("tree --json {words} t.json")).ends(0).stdout;
        let tree: Value = serde_json::from_str(&stdout).expect("JSON");
        let rows = tree["parts"][0]["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row[3].as_str().expect("a text").to_owned()).collect()
    };
    assert_eq!(labels(""), ["a", "low", "b", "m", "low", "z"]);
    assert_eq!(labels("--sort name"), ["a", "b", "low", "m", "low", "z"]);
    assert_eq!(labels("--sort start"), ["z", "a", "low", "b", "m", "low"]);
    assert_eq!(labels("--sort self"), ["a", "low", "b", "m", "low", "z"]);
    let path = |words: &str| {
        let stdout = folder.run(&format!("tree {words} t.json")).ends(0).stdout;
        stdout
            .lines()
            .skip(2)
            .map(|line| line.split_whitespace().last().unwrap_or("").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(path("--heaviest"), ["a", "low"]);
    assert_eq!(path("--heaviest=^b$"), ["a", "b"]);
    assert_eq!(path("--heaviest=m"), ["m", "low"]);
    folder.run("tree --heaviest=nobody t.json").ends(1);
}

#[test]
fn fold_numbers_joins_names() {
    let event = |at: u64| {
        let name = format!("job {at} of 7");
        format!(r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{at}000,"dur":10}}"#)
    };
    let events: Vec<String> = (1..=30).map(event).collect();
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",")));
    let stdout = folder.run("top --csv --fold-numbers t.json").ends(0).stdout;
    let rows: Vec<&str> = stdout.lines().skip(1).collect();
    assert_eq!(rows.len(), 1, "{stdout}");
    assert!(rows[0].contains(",30,") && rows[0].contains("job N of N"), "{stdout}");
    assert_eq!(folder.run("top --csv t.json").ends(0).stdout.lines().count(), 31);
}

#[test]
fn ignore_list_collapses_nested_calls() {
    let folder = Folder::new()
        .with("s.json", SAMPLED)
        .with("n.json", SAMPLED.replace("a.js", "node:internal/a"));
    let labels = |words: &str| -> Vec<String> {
        let stdout = folder.run(&format!("tree --json {words}")).ends(0).stdout;
        let tree: Value = serde_json::from_str(&stdout).expect("JSON");
        let rows = tree["parts"][0]["rows"].as_array().expect("rows").clone();
        rows.iter().map(|row| row[3].as_str().expect("a text").to_owned()).collect()
    };
    let all = labels("s.json");
    assert!(all.contains(&"(anonymous)".to_owned()), "{all:?}");
    assert_eq!(labels("--ignore-list s.json"), all);
    assert_eq!(labels("--ignore-list=^b s.json"), all);
    let left: Vec<String> = all.iter().filter(|label| *label != "(anonymous)").cloned().collect();
    assert_eq!(labels(r"--ignore-list=^a\.js s.json"), left);
    assert_eq!(labels("--ignore-list n.json"), left);
    assert_eq!(labels("n.json"), all);
    let head = |words: &str| {
        let stdout = folder.run(&format!("tree {words}")).ends(0).stdout;
        stdout.lines().next().expect("a head").to_owned()
    };
    let [plain, listed] = [head("n.json"), head("--ignore-list n.json")];
    assert!(
        plain.ends_with("on the ignore list of DevTools, which does not draw these"),
        "{plain}"
    );
    assert!(listed.contains("; without ") && listed.ends_with(" on the ignore list"), "{listed}");
}

#[test]
fn traces_refused_by_devtools_are_analysed_with_a_warning() {
    let x = |more: &str| format!(r#"{{"ph":"X","cat":"c","pid":1,"tid":1,"ts":5,"dur":2{more}}}"#);
    let named = x(r#","name":"a","args":{}"#);
    let web = r#"{"ph":"I","name":"TracingStartedInPage","cat":"c","pid":1,"tid":1,"ts":5,"args":{"data":{}}}"#;
    let profile = |more: &str| {
        let node = r#"{"id":1,"callFrame":{"functionName":"(root)"}}"#;
        format!(r#"{{"nodes":[{node}]{more}}}"#)
    };
    let chunk = format!(
        r#"[{named},{{"ph":"P","name":"Profile","cat":"c","id":"1","pid":1,"tid":1,"ts":5,"args":{{}}}},
            {{"ph":"P","name":"ProfileChunk","cat":"c","id":"1","pid":1,"tid":1,"ts":6,"args":{{"data":{{"cpuProfile":
            {{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)"}}}}],"samples":[{}]}},"timeDeltas":[{}]}}}}}}]"#,
        vec!["1"; 120_000].join(","),
        vec!["1"; 120_000].join(",")
    );
    let cases: [(String, &[&str]); 14] = [
        (format!("[{named}]"), &[]),
        (format!("{named}\n{named}\n"), &["ndjson"]),
        (format!("[{named}]\n[{named}]\n"), &["several-documents"]),
        (format!("[{named}"), &["unclosed"]),
        (format!("[{named},,{named}]"), &["separators"]),
        (format!("[{named},{{\"ph\":\"X\",\"name\":\"b"), &["damaged"]),
        (format!("[{}]", x("")), &["missing-name"]),
        (format!("[{}]", x(r#","name":"TracingStartedInBrowser","args":{}"#)), &["empty-start"]),
        (
            format!(
                "[{named},{}]",
                named.replace("\"a\"", "\"RunTask\"").replace("\"cat\":\"c\",", "")
            ),
            &["missing-cat"],
        ),
        (
            format!(r#"{{"traceEvents":[{named}],"metadata":{{"enhancedTraceVersion":1}}}}"#),
            &["enhanced"],
        ),
        (
            r#"[{"ph":"M","name":"thread_name","cat":"c","pid":1,"tid":1,"args":{"name":"t"}}]"#
                .to_owned(),
            &["nothing-drawn"],
        ),
        (profile(r#","startTime":5,"endTime":9"#), &["unsampled"]),
        (profile(r#","samples":[1],"timeDeltas":[3],"startTime":5"#), &["unbounded-profile"]),
        (chunk, &["many-samples"]),
    ];
    for (text, expected) in &cases {
        let folder = Folder::new().with("t.json", text);
        let stdout = folder.run("tree --json -q t.json").stdout;
        let table: Value = serde_json::from_str(&stdout).expect("JSON");
        let short: String = text.chars().take(200).collect();
        assert_eq!(table["devtools_refuses"], serde_json::json!(expected), "{short}");
    }
    let call = x(r#","name":"FunctionCall","args":{}"#);
    let bare = format!("{call},{}", x(""));
    let folder = Folder::new()
        .with("web.json", format!("[{web},{bare}]"))
        .with("other.json", format!("[{bare}]"));
    let run = folder.run("top web.json").ends(0).says(&[
        "DevTools cannot open this trace: events have no name",
        " --for devtools -o OUT.json.gz",
    ]);
    assert!(
        run.stdout.contains("times as in DevTools, which cannot open this trace"),
        "{}",
        run.stdout
    );
    let run = folder.run("top other.json").ends(0);
    assert_eq!(run.stderr, "");
    let run = folder.run("top -v other.json").ends(0);
    assert!(run.stderr.contains("DevTools cannot open this trace"), "{}", run.stderr);
    folder.run("top --times devtools other.json").ends(0).quietly();
}

#[test]
fn times_flag_selects_the_clock() {
    // as doubles, microseconds since 1970 have steps of 250 ns
    let event = |name: &str, ts: &str, dur: &str| {
        format!(
            r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{}}}}"#
        )
    };
    let text = format!(
        "[{},{}]",
        event("a", "1700000000000000.100", "0.500"),
        event("b", "1700000000000000.600", "0.001")
    );
    let folder = Folder::new().with("t.json", &text);
    let rows = |words: &str| {
        let stdout = folder.run(&format!("top --json {words} t.json")).ends(0).stdout;
        let table: Value = serde_json::from_str(&stdout).expect("JSON");
        let rows = table["parts"][0]["rows"].as_array().expect("rows").iter();
        let rows: Vec<(String, f64)> = rows
            .map(|row| (row[2].as_str().expect("a text").to_owned(), row[4].as_f64().expect("ms")))
            .collect();
        (table["times"].as_str().expect("a text").to_owned(), table["origin_ns"].as_i64(), rows)
    };
    let exact = [("a".to_owned(), 0.0005), ("b".to_owned(), 0.000_001)].to_vec();
    let origin = Some(1_700_000_000_000_000_100);
    for words in ["", "--times auto", "--times exact"] {
        assert_eq!(rows(words), ("exact".to_owned(), origin, exact.clone()), "{words}");
    }
    let (times, none, rounded) = rows("--times devtools");
    assert_eq!((&*times, none), ("devtools", None));
    assert_ne!(rounded, exact);
    // windows at absolute timestamps, exact to the nanosecond
    let moment = rows("--from @1700000000000000.600us --duration 1ns").2;
    assert_eq!(moment, [("b".to_owned(), 0.000_001)]);
    folder.run("top --like panel --times exact t.json").ends(2).says(&["leave out --times exact"]);
}

#[test]
fn names_beyond_the_budget_end_the_run() {
    let event = |at: usize| {
        format!(r#"{{"ph":"X","name":"a name of its own {at}","pid":1,"tid":1,"ts":{at},"dur":1}}"#)
    };
    let text = format!("[{}]", (0..400_000).map(event).collect::<Vec<_>>().join(","));
    let folder = Folder::new().with("t.json", &text);
    folder.run("top -m32M t.json").ends(4).says(&["names", "give it more with -m"]);
    let stdout = folder.run("top -m32M --fold-numbers --csv t.json").ends(0).stdout;
    assert!(stdout.contains(",400000,"), "{stdout}");
}

#[test]
fn key_flag_joins_calls_into_rows() {
    let same = SAMPLED.replace("\"functionName\":\"\"", "\"functionName\":\"f\"");
    let folder = Folder::new().with("s.json", &same);
    let labels = |key: &str| -> Vec<String> {
        let stdout = folder.run(&format!("top --csv {key} s.json")).ends(0).stdout;
        let calls = stdout.lines().skip(1).filter(|line| line.contains("a.js"));
        calls.map(|line| line.split(',').nth(7).expect("a name").to_owned()).collect()
    };
    assert_eq!(labels(""), ["f", "f"]);
    assert_eq!(labels("--key devtools"), ["f", "f"]);
    assert_eq!(labels("--key line"), ["f", "f"]);
    assert_eq!(labels("--key function"), ["f"]);
    assert_eq!(labels("--key url"), ["a.js"]);
}

#[test]
fn other_files_in_folders_are_skipped() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("in")).expect("a folder");
    let folder = folder
        .with("in/1.json", TRACE)
        .with("in/2.json", r#"{"compile":"commands"}"#)
        .with("in/3.json", TRACE)
        .with("in/4.json", "hello");
    for verb in ["top --csv", "tree --csv"] {
        let traces = folder.run(&format!("{verb} in/1.json in/3.json")).ends(0).stdout;
        let run = folder.run(&format!("{verb} in")).ends(0);
        assert_eq!(run.stdout, traces, "{verb}");
        assert!(run.stderr.contains("in/2.json is not a trace"), "{}", run.stderr);
    }
    folder.run("report in").ends(0);
    folder.run("flame in -o in.svg").ends(0);
    folder.run("merge in -o all.json").ends(0);
}

#[test]
fn folders_lists_and_names_give_the_same_result() {
    let folder = Folder::new();
    for path in ["in/deep/er", "in/.git", "elsewhere"] {
        std::fs::create_dir_all(folder.path(path)).expect("a folder");
    }
    let commands = r#"[{"directory":"/b","command":"cc -c a.c","file":"a.c"}]"#;
    let folder = folder
        .with("in/1.json", TRACE)
        .with("in/compile_commands.json", commands)
        .with("in/deep/er/2.json", TRACE)
        .with("in/deep/log.jsonl", "{\"level\":1}\n{\"level\":2}\n")
        .with("in/deep/notes.txt", "see {this} and [that]")
        .with("in/deep/z.zip", "PK\u{3}\u{4}")
        .with("in/.git/3.json", TRACE)
        .with("in/.4.json", TRACE)
        .with("elsewhere/5.json", TRACE);
    std::os::unix::fs::symlink("..", folder.path("in/deep/loop")).expect("a link");
    std::os::unix::fs::symlink("../elsewhere", folder.path("in/out")).expect("a link");
    let files = ["1.json", "compile_commands.json", "deep/er/2.json"];
    let rest = ["deep/log.jsonl", "deep/notes.txt", "deep/z.zip"];
    let list = files.iter().chain(&rest).map(|file| format!("in/{file}\n")).collect::<String>();
    let folder = folder.with("list", list);
    let message =
        "left out 4 files that are not traces; the first: in/compile_commands.json is not";
    for verb in ["top --csv", "merge", "filter --name a", "check"] {
        let named = folder.run(&format!("{verb} in/1.json in/deep/er/2.json"));
        for inputs in ["in", "--files-from list"] {
            let run = folder.run(&format!("{verb} {inputs}")).ends(named.code.unwrap_or_default());
            assert_eq!(run.stdout, named.stdout, "{verb} {inputs}");
            assert_eq!(run.stderr.matches(message).count(), 1, "{verb} {inputs}: {}", run.stderr);
        }
    }
    for words in ["index in", "info --get metadata in"] {
        let run = folder.run(words);
        assert!(run.stderr.contains("left out 4 files"), "{words}: {}", run.stderr);
    }
    // the folder in/deep is a run
    let diff = folder.run("diff --base in --new in").stderr;
    for text in ["left out: in/compile_commands.json", "left out 3 files"] {
        assert!(diff.contains(text), "{diff}");
    }
    let strict = folder.run("top --strict --files-from list").ends(3);
    assert!(strict.stderr.contains("in/deep/log.jsonl is not a trace"), "{}", strict.stderr);
}
