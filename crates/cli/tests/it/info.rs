//! Runs `info` in each output format.

use crate::support::{Folder, event, testdata, trace};
use serde_json::{Value, json};

/// Two nested slices, and names that contain markup.
const NASTY: &str = r#"[
{"name":"a|`b`","cat":"x,y","ph":"X","ts":10,"dur":10,"pid":1,"tid":2,"args":{"data":{"k":1}}},
{"name":"in\\|ner","cat":"y","ph":"X","ts":12,"dur":3,"pid":1,"tid":2,"args":{}},
{"name":"B","ph":"B","ts":900,"pid":1,"tid":3},
{"name":"B","ph":"E","ts":904.5,"pid":1,"tid":3},
{"name":"thread_name","ph":"M","pid":1,"tid":2,"args":{"name":"<b>@main"}}
]"#;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn full_has_self_times_and_keys_of_args() {
    let folder = Folder::new().with("a.json", NASTY);
    let report = json(&folder.run("info --full --json a.json").ends(0).stdout);
    let rows = report["names"]["by_self"].as_array().expect("rows").iter();
    let times: Vec<_> = rows.map(|row| (row["name"].clone(), row["self_ns"].clone())).collect();
    let expected = [
        (json!("a|`b`"), json!(7000)),
        (json!("B"), json!(4500)),
        (json!("in\\|ner"), json!(3000)),
    ];
    assert_eq!(times, expected);
    let keys = report["args"]["by_bytes"].as_array().expect("rows").iter();
    let keys: Vec<_> = keys.map(|row| row["name"].clone()).collect();
    assert_eq!(keys, ["name", "data", "data.k"]);
    assert_eq!(report["processes"][0]["self_ns"], json!(14_500));
    let gaps = json!([{"from_ns": 20_000, "to_ns": 900_000, "duration_ns": 880_000},
                      {"from_ns": 900_000, "to_ns": 904_500, "duration_ns": 4500}]);
    assert_eq!(report["gaps"]["longest"], gaps);
    assert_eq!(
        (&report["first"]["ts_ns"], &report["last"]["ts_ns"]),
        (&json!(10_000), &json!(904_500))
    );
    assert_eq!(report["categories"]["distinct"], json!(3));

    let plain = json(&folder.run("info --json a.json").ends(0).stdout);
    assert_eq!(plain["args"], Value::Null);
    assert_eq!(plain["names"].get("by_self"), None);
}

/// A B event without an E has an unknown duration, so it adds no self time.
#[test]
fn unended_slices_are_counted_separately() {
    let events = [
        r#"{"name":"open","ph":"B","ts":0,"pid":1,"tid":1}"#,
        r#"{"name":"work","ph":"X","ts":10,"dur":5,"pid":1,"tid":1}"#,
        r#"{"name":"work","ph":"X","ts":20,"dur":28,"pid":1,"tid":1}"#,
        r#"{"name":"half","ph":"B","ts":50,"pid":1,"tid":1}"#,
    ];
    let folder = Folder::new().with("a.json", format!("[{}]", events.join(",")));
    let text = folder.run("info --full a.json").ends(0).stdout;
    let line = "\nunended    2 slices begin and never end (B without E): 17.00 µs of their own, in no self time\n";
    assert!(text.contains(line), "{text}");
    let report = json(&folder.run("info --full --json a.json").ends(0).stdout);
    assert_eq!(report["unended"], json!({"slices": 2, "self_ns": 17_000}));
    let rows = report["names"]["by_self"].as_array().expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["name"], &rows[0]["self_ns"]), (&json!("work"), &json!(33_000)));
    assert_eq!(report["processes"][0]["self_ns"], json!(33_000));
}

#[test]
fn top_cuts_lists() {
    let folder = Folder::new().with("a.json", NASTY);
    let text = folder.run("info --top 1 a.json").ends(0).stdout;
    assert!(text.contains("\nnames      by bytes (1 of 4)"), "{text}");
    assert!(
        text.contains(
            "\ngaps       880.00 µs from 20 µs on, 10.00 µs after the first event\norder"
        )
    );
    folder.run("info --top 0 a.json").ends(2);
    folder.run("info --top -1 a.json").ends(2);
}

#[test]
fn markdown_tables_escape_names() {
    let folder = Folder::new().with("a.json", NASTY);
    let text = folder.run("info --markdown a.json").ends(0).stdout;
    for line in [
        "| order | `not sorted: 1 neighbour out of order (merge sorts)` |",
        "| <code>a&#124;&#96;b&#96;</code> | 1 | 94 B | 10.00 µs |",
        "| <code>in&#92;&#124;ner</code> | 1 | 80 B | 3.00 µs |",
        "| &emsp;`<b>@main (2)` | 3 | 248 B | 13.00 µs |",
    ] {
        assert!(text.lines().any(|row| row == line), "{line}\n{text}");
    }
    let bars: Vec<usize> = text.lines().map(|line| line.matches('|').count()).collect();
    let is_even = |pair: &[usize]| pair[0] == 0 || pair[1] == 0 || pair[0] == pair[1];
    assert!(bars.windows(2).all(is_even), "{text}");
    folder.run("info --markdown --json a.json").ends(2);
}

#[test]
fn inputs_of_all_kinds() {
    let folder = Folder::new().with("lines.json", format!("{}\n{}\n", event(5), event(9)));
    let report = json(&folder.run("info --json lines.json").ends(0).stdout);
    assert_eq!((&report["events"], &report["names"]["distinct"]), (&json!(2), &json!(1)));
    let run = folder.pipe("info --full", trace([7, 5])).ends(0).stdout;
    assert!(run.contains("first      5 µs: X e, pid 1, tid 2, at byte "), "{run}");
    for empty in ["", "[]"] {
        let run = folder.pipe("info --full --markdown", empty).ends(0).stdout;
        assert!(run.contains("| time | `none` |\n") && !run.contains("density"), "{run}");
    }
    let profile = testdata().join("quirks/cpuprofile-minimal.cpuprofile");
    let report = json(&folder.run(&format!("info --json {}", profile.display())).ends(0).stdout);
    assert_eq!(report["profiles"].as_array().map(Vec::len), Some(1), "{report}");
    let packed = testdata().join("chromium/trace.json.gz");
    let run = folder.run(&format!("info --top 5 {}", packed.display())).ends(0).stdout;
    assert!(run.contains("\ndensity    ") && run.contains(", gzip\n"), "{run}");
}

#[test]
fn get_prints_the_value_unchanged() {
    let head = r#"{"metadata":{"command_line":"a \u0062","n":[1.50,{"x":null}]},"traceEvents":["#;
    let event = r#"{"ph":"i","ts":1,"name":"n"}"#;
    let folder = Folder::new()
        .with("a.json", format!("{head}{event}],\"behind\":{{\"y\": 2 }}}}"))
        .with(
            "b.ndjson",
            format!("{{\"tracemill\":{{\"metadata\":{{\"command_line\":3}}}}}}\n{event}\n"),
        )
        .with("c.json", format!("[{event}]"));
    for (key, value) in [
        ("metadata.command_line", r#""a \u0062""#),
        ("metadata.n.1.x", "null"),
        ("metadata.n.0", "1.50"),
        ("behind", r#"{"y": 2 }"#),
        ("behind.y", "2"),
    ] {
        let run = folder.run(&format!("info a.json --get {key}")).ends(0).quietly();
        assert_eq!(run.stdout, format!("{value}\n"), "{key}");
        let piped = folder.pipe(&format!("info --get {key}"), folder.read("a.json")).ends(0);
        assert_eq!(piped.stdout, run.stdout, "{key}");
    }
    let run = folder.run("info a.json b.ndjson c.json --get metadata.command_line").ends(0);
    assert_eq!(run.stdout, "\"a \\u0062\"\n3\n");
    let run = folder.run("info a.json --get metadata.comand_line").ends(1);
    run.says(&["no key metadata.comand_line: did you mean metadata.command_line? (there are metadata.command_line, metadata.n)"]);
    let run = folder.run("info a.json --get behnd").ends(1);
    run.says(&["did you mean behind?", "(there are behind, metadata)"]);
    folder.run("info c.json --get x").ends(1).says(&["(nothing stands beside the events)"]);
    folder.run("info a.json --get behind -o out.txt").ends(0);
    assert_eq!(folder.read("out.txt"), "{\"y\": 2 }\n");
    folder.run("info a.json --get behind --full").ends(2);
}

/// Only the start of the file is read: 32 GiB with a hole after the first event.
#[test]
fn get_stops_before_the_events() {
    let folder =
        Folder::new().with("huge.json", r#"{"metadata":{"a":7},"traceEvents":[{"ph":"i"}"#);
    let file =
        std::fs::File::options().write(true).open(folder.path("huge.json")).expect("it is ours");
    // a hole takes no disk space, if the file system supports it
    if file.set_len(32 << 30).is_err() {
        return;
    }
    let start = std::time::Instant::now();
    let run = folder.run("info huge.json --get metadata.a").ends(0).quietly();
    assert_eq!(run.stdout, "7\n");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// The start of a pipe is kept only if it looks like a CPU profile, so a later profile is not read.
#[test]
fn profiles_after_other_documents_are_reported() {
    let profile = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"a","scriptId":"0","url":"","lineNumber":0,"columnNumber":0}}],"startTime":1,"endTime":5,"samples":[1,1],"timeDeltas":[1,1]}"#;
    for before in ["[]", r#"{"traceEvents":[]}"#, r#"{"a":1}"#] {
        let folder = Folder::new().with("a.json", format!("{before}{profile}"));
        let whole = folder.run("info --json a.json").ends(0);
        assert_eq!(json(&whole.stdout)["events"], json!(7), "{before}");
        let piped = folder.pipe("info -", folder.read("a.json")).ends(0);
        let note = "1 CPU profile after other content, the first at byte";
        assert!(piped.stderr.contains(note), "{before}: {}", piped.stderr);
    }
}

#[test]
fn info_and_check_agree_on_viewers() {
    let folder = Folder::new();
    let mut counts = [0; 3];
    for file in crate::remedies::all_traces() {
        let file = file.display();
        let info = folder.run(&format!("info --index never {file}"));
        let line = info.stdout.lines().find(|line| line.starts_with("opens in "));
        let Some(line) = line else { continue };
        for viewer in ["DevTools", "Perfetto"] {
            let check = folder.run(&format!("check --for {} {file}", viewer.to_lowercase()));
            let verdict = check.stdout.lines().find(|line| line.starts_with("verdict: "));
            let Some(verdict) = verdict else { continue };
            let found = match () {
                () if line.contains(&format!("{viewer} yes")) => 0,
                () if line.contains(&format!("{viewer} in part")) => 1,
                () if line.contains(&format!("{viewer} no")) => 2,
                () => panic!("{file}: {line}"),
            };
            let expected = match () {
                () if verdict.contains("and is shown right") => 0,
                () if verdict.contains("but not all is shown right") => 1,
                () => 2,
            };
            assert_eq!(found, expected, "{file}: {line}, {verdict}");
            counts[found] += 1;
        }
    }
    assert!(counts.iter().all(|&count| count > 3), "{counts:?}");
}

/// Tests a file, a pipe and an index.
#[test]
fn losses_recorded_in_the_trace_are_reported() {
    let event = r#"{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":5,"dur":2,"args":{}}"#;
    let metadata = r#"{"dataLossOccurred":true,"stats":{"chunks_overwritten":7,"dropped":0}}"#;
    let text = format!("{{\"traceEvents\":[{event}],\"metadata\":{metadata}}}");
    let folder = Folder::new().with("a.json", &text);
    let expected = "lost       while it was recorded, as its keys say: dataLossOccurred: true, chunks_overwritten: 7";
    let file = folder.run("info a.json").ends(0).stdout;
    assert!(file.lines().any(|line| line == expected), "{file}");
    assert!(file.contains("opens in   Perfetto yes · DevTools yes"), "{file}");
    let pipe = folder.pipe("info", &*text).ends(0).stdout;
    assert!(pipe.lines().any(|line| line == expected), "{pipe}");
    folder.run("index a.json").ends(0);
    let run = folder.run("info -v --json a.json").ends(0);
    assert!(run.stderr.contains("answered by"), "{}", run.stderr);
    let json: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let losses = serde_json::json!(["dataLossOccurred: true", "chunks_overwritten: 7"]);
    assert_eq!(json["reported_losses"], losses);
    assert!(folder.run("check a.json").ends(1).stdout.contains("not complete: a top-level key"));
}
