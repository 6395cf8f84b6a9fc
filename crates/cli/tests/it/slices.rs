//! Runs `slice`.

use crate::support::{Folder, times, trace, truncated};

#[test]
fn windows_can_be_given_in_every_form() {
    let folder = Folder::new().with("a.json", trace([50, 10, 20, 30, 40]));
    for (flags, expected) in [
        ("--from 10 --to 30", &[20, 30][..]),
        ("--from @10 --to @30", &[10, 20]),
        ("--from 10us --duration 0.02ms", &[20, 30]),
        ("--duration 15000ns", &[10, 20]),
        ("--to @30", &[10, 20]),
        ("--from 30", &[40, 50]),
        ("--head 11", &[10, 20]),
        // the last event ends at 51
        ("--tail 11us", &[40, 50]),
        ("--window 0..1 --window @40..@41", &[10, 40]),
        ("--window 10us-30us", &[20, 30]),
        ("10us-30us", &[20, 30]),
        ("@10-@30 40us..1ms", &[10, 20, 50]),
        ("--window ..1 --window 35..", &[10, 50]),
        ("--head 1 --tail 1 --window 20..0.021ms", &[10, 30, 50]),
        ("--from 0.00001m --to 1m", &[]),
    ] {
        let run = folder.run(&format!("slice a.json {flags}"));
        let run = run.ends(i32::from(expected.is_empty()));
        assert_eq!(run.times(), expected, "{flags}");
        assert_eq!(run.stderr.is_empty(), !expected.is_empty(), "{flags}: {}", run.stderr);
    }
}

#[test]
fn empty_windows_are_reported() {
    let folder = Folder::new().with("a.json", trace([10, 20]));
    for (flags, expected) in [
        (
            "--from @5 --to @6",
            "the window ends 4.00 µs before the trace begins; the trace lasts 11.00 µs (in µs: window @5..@6, trace @10..@21)",
        ),
        (
            "--from 40s",
            "the window begins 40.00 s after the end of the trace; the trace lasts 11.00 µs (in µs: window @40000010.., trace @10..@21)",
        ),
        (
            "--from 5us --to 6us",
            "no event lies in the window; the trace lasts 11.00 µs (in µs: window @15..@16, trace @10..@21)",
        ),
    ] {
        let words = format!("slice a.json {flags}");
        let run = folder.run(&words).ends(1).says(&["tracemill: warning: ", expected]);
        assert!(run.times().is_empty());
        folder.run(&format!("{words} -q")).ends(1).quietly();
    }
    let run = folder.run("slice a.json --window 0..1 --window 40s..41s").ends(0);
    run.says(&["the window begins 40.00 s after the end of the trace"]);
    Folder::new()
        .with("a.json", "[]")
        .run("slice a.json --from 1")
        .ends(1)
        .says(&["no event of the input has a time"]);
}

/// Events kept in any window, or repeated at its start, do not count as its contents.
#[test]
fn always_kept_events_do_not_fill_a_window() {
    let start = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","ts":0,"pid":1,"tid":1,"s":"t","args":{}}"#;
    let counter = r#"{"ph":"C","name":"c","ts":1,"pid":1,"tid":1,"args":{"v":1}}"#;
    let begin = r#"{"ph":"B","name":"b","ts":2,"pid":1,"tid":1}"#;
    let last = r#"{"ph":"X","name":"x","ts":9000000,"dur":1,"pid":1,"tid":1}"#;
    let folder = Folder::new().with("a.json", format!("[{start},{counter},{last}]"));
    let run =
        folder.run("slice a.json --from 2s --to 3s").ends(1).says(&["no event lies in the window"]);
    assert_eq!(run.stdout.matches("\"ts\"").count(), 2, "{}", run.stdout);
    folder.run("slice a.json --from 40s").ends(1).says(&["begins 31.00 s after the end"]);
    let folder = Folder::new().with("a.json", format!("[{begin},{last}]"));
    folder.run("slice a.json --from 2s --to 3s").ends(0).quietly();
    folder.run("slice a.json --from 40s").ends(1).says(&["after the end of the trace"]);
}

/// `--from 12` means microseconds, but in a trace of 31 s probably seconds.
#[test]
fn bare_numbers_that_look_like_seconds_get_a_hint() {
    let folder = Folder::new().with("a.json", trace((0..31).map(|s| s * 1_000_000)));
    let run = folder.run("slice a.json --from 12 --to 12.5 -o b.json").ends(1);
    assert!(
        run.stderr.contains("--from 12 is 12 µs; for seconds write --from 12s"),
        "{}",
        run.stderr
    );
    for (flags, hint) in [
        ("--from 29 --to 40", "for seconds write --from 29s"),
        ("--from 40 --to 50", "for milliseconds write --from 40ms"),
    ] {
        let run = folder.run(&format!("slice a.json {flags} -o b.json -f"));
        assert!(run.stderr.contains(hint), "{flags}: {}", run.stderr);
    }
    for flags in ["--from 12us --to 14s", "--from 40 --to 50", "--from 12 --to 2000000", "--to 13s"]
    {
        let run = folder.run(&format!("slice a.json {flags} -o c.json -f"));
        assert!(!run.stderr.contains("for seconds"), "{flags}: {}", run.stderr);
    }
}

#[test]
fn wrong_windows_end_with_2() {
    let folder = Folder::new().with("a.json", trace([10, 20]));
    for (flags, part) in [
        ("", "which time?"),
        ("--from 5 --to 5", "ends before it begins"),
        ("--from @6 --to @5", "ends before it begins"),
        ("--window 1..2 --window 4..3", "window 2 ends before it begins"),
        // whether the window is empty is known only after reading
        ("--from 5 --to @12", "in this trace it is 15 to 12 µs"),
        ("--from 1 --to 2 --duration 3", "cannot be used with"),
        ("--duration 0", "above 0"),
        ("--head -5", "unexpected argument"),
        ("--tail 5w", "such as 1500"),
        ("--from 1.5ns", "expected whole nanoseconds"),
        ("--from soon", "such as 1500"),
        ("--window 5", "1s..1.5s"),
        ("--window ..", "1s..1.5s"),
        ("--from 1 --edges cut", "invalid value"),
    ] {
        let run = folder.run(&format!("slice a.json {flags} -o b.json")).ends(2);
        assert!(run.stderr.contains(part), "{flags}: {}", run.stderr);
        assert!(run.stderr.lines().all(|line| line.starts_with("tracemill: ")), "{}", run.stderr);
        assert_eq!(folder.names(), ["a.json"], "{flags}");
    }
}

#[test]
fn printed_times_are_accepted() {
    let folder = Folder::new().with("a.json", trace((0..100).map(|at| 1_000_000 + 1000 * at)));
    let expected = folder.run("slice a.json --from 20ms --to 30ms").ends(0).stdout;
    for (from, to) in
        [("+20.00 ms", "30.00 ms"), ("20000.00 µs", " 0.03 s"), ("@1020000 µs", "@1.03 s")]
    {
        let words = ["slice", "a.json", "--from", from, "--to", to];
        let output = std::process::Command::new(crate::support::binary())
            .current_dir(folder.path(""))
            .args(words)
            .output()
            .expect("a run");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{from} {to}");
    }
    folder.run("slice a.json --from -5ms --to +1ms").ends(0);
    folder.run("top a.json --from -5ms --to +1ms").ends(0);
}

#[test]
fn edges_flag_decides_about_crossing_events() {
    let event = |ts: u64, dur: u64| format!(r#"{{"name":"e","ph":"X","ts":{ts},"dur":{dur}}}"#);
    let events = [event(0, 50), event(15, 2), event(100, 5)].join(",");
    let folder = Folder::new().with("a.json", format!("[{events}]"));
    let run = |edges: &str| {
        folder.run(&format!("slice a.json --from 10 --to 20 --edges {edges}")).ends(0).stdout
    };
    assert_eq!(run("clip"), format!("[\n{},\n{}\n]\n", event(10, 10), event(15, 2)));
    assert_eq!(run("keep"), format!("[\n{},\n{}\n]\n", event(0, 50), event(15, 2)));
    assert_eq!(run("drop"), format!("[\n{}\n]\n", event(15, 2)));
}

#[test]
fn slices_of_pipes_and_files_are_equal() {
    let folder = Folder::new().with("a.json", trace([30, 10, 20]));
    let plain = folder.run("slice a.json --from 5").ends(0).stdout;
    assert_eq!(folder.pipe("slice - --from 5", trace([30, 10, 20])).ends(0).stdout, plain);
    folder.run("slice a.json --from 5 -o b.json.gz").ends(0).quietly();
    let merged = folder.run("merge b.json.gz").ends(0);
    assert_eq!(merged.times(), [20, 30]);
    folder.run("slice a.json --from 5 -o b.json.gz").ends(2).says(&["exists already"]);
    folder.run("slice a.json --from 5 -o a.json -f").ends(2).says(&["one of the inputs"]);
    let lines = folder.run("slice a.json --from 5 --format ndjson").ends(0).stdout;
    assert_eq!(lines.lines().count(), 2);
}

#[test]
fn damage_sets_exit_code_1() {
    let folder = Folder::new().with("a.json", truncated().0);
    let run = folder.run("slice a.json --from 0").ends(1).says(&["lost 1 piece (truncated"]);
    assert_eq!(times(&run.stdout), [1, 3]);
    folder.run("slice --strict a.json --from 0 -o b.json").ends(3).points(&["defect"]);
    assert_eq!(folder.names(), ["a.json"]);
}

#[test]
fn reports_count_the_changes() {
    let text = r#"{"traceEvents":[{"ph":"X","ts":0,"dur":100},{"ph":"B","ts":5,"pid":1},{"ph":"C","ts":6,"name":"c"},
        {"ph":"i","ts":90}],"metadata":{"modifications":{"annotations":{"entryLabels":[{"entry":"r-0"},{"entry":"r-3"}]}}}}"#;
    let folder = Folder::new().with("a.json", text);
    let run = folder.run("slice a.json --from 10 --to 20 --report r.json -v").ends(0);
    assert!(run.stderr.contains("tracemill: 1 event cut at edges"), "{}", run.stderr);
    assert!(run.stderr.contains("1 DevTools annotation "), "{}", run.stderr);
    assert!(run.stdout.contains(r#""entryLabels":[{"entry":"r-0"}]"#), "{}", run.stdout);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    assert_eq!((&report["verb"], &report["lost"]), (&"slice".into(), &0.into()));
    let expected = serde_json::json!({
        "windows": [{"from_ns": 10_000, "to_ns": 20_000}], "edges": "clip",
        "trace": {"start_ns": 0, "end_ns": 100_000},
        "clipped": 1, "opened": 1, "closed": 1, "counters": 1, "moved": 0, "rebased": 0, "samples": 0,
        "flaws": [],
    });
    assert_eq!(report["annotations"], serde_json::json!({"kept": 1, "dropped": {"gone": 1}}));
    assert_eq!(report["slice"], expected);
    assert_eq!(report["output"]["events"], 4);
}

/// Independent computation of the times of X events and B/E pairs with this name, in nanoseconds.
fn naive_events(text: &str, name: &str) -> Vec<(i64, i64)> {
    let trace: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let ns = |value: &serde_json::Value| (value.as_f64().unwrap_or(0.0) * 1000.0).round() as i64;
    let mut events: Vec<_> = trace["traceEvents"].as_array().expect("a list").iter().collect();
    events.sort_by_key(|event| ns(&event["ts"]));
    let (mut open, mut found) = (Vec::new(), Vec::new());
    for event in events.iter().filter(|event| event["name"] == name) {
        let thread = (event["pid"].clone(), event["tid"].clone());
        let ts = ns(&event["ts"]);
        match event["ph"].as_str() {
            Some("B") => open.push((thread, ts)),
            Some("E") => {
                let begin = open.iter().rposition(|(other, _)| *other == thread).expect("a begin");
                found.push((open.remove(begin).1, ts));
            }
            _ => found.push((ts, ts + ns(&event["dur"]))),
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn around_cuts_a_window_around_an_event() {
    let trace = crate::support::testdata().join("node/trace.json");
    let text = std::fs::read_to_string(&trace).expect("test data");
    let folder = Folder::new();
    for name in ["V8.GCScavenger", "PROMISE_CALLBACK", "nodeStart"] {
        let all = naive_events(&text, name);
        assert!(!all.is_empty(), "{name}");
        let longest = all.iter().rev().max_by_key(|(from, to)| to - from).expect("there are some");
        for (flags, (from, to), margin) in [
            (String::new(), *longest, 5_000_000),
            ("--margin 1ms".to_owned(), *longest, 1_000_000),
            (format!("--nth {} --margin 20us", all.len()), all[all.len() - 1], 20_000),
        ] {
            let words = format!("slice {} --around {name} {flags}", trace.display());
            let run = folder.run(&format!("{words} -f -o out.json --report r.json")).ends(0);
            assert!(run.stderr.contains(&format!("--around {name}: ")), "{}", run.stderr);
            let report: serde_json::Value =
                serde_json::from_str(&folder.read("r.json")).expect("JSON");
            let window = &report["slice"]["windows"][0];
            assert_eq!(window["from_ns"], from - margin, "{words}");
            assert_eq!(window["to_ns"], to + margin + 1, "{words}");
            let by_time = format!(
                "slice {} --from @{}ns --to @{}ns -f -o same.json",
                trace.display(),
                from - margin,
                to + margin + 1
            );
            folder.run(&by_time).ends(0);
            assert_eq!(folder.read("out.json"), folder.read("same.json"), "{words}");
        }
    }
}

#[test]
fn unknown_events_are_refused() {
    let begin =
        |ts: u32, name: &str| format!(r#"{{"ph":"B","pid":1,"tid":1,"ts":{ts},"name":"{name}"}}"#);
    let end = r#"{"ph":"E","pid":1,"tid":1,"ts":90}"#;
    let text =
        format!("[{},{},{end},{}]", begin(10, "outer"), begin(20, "inner"), begin(95, "open"));
    let folder = Folder::new().with("a.json", &text);
    folder.run("slice a.json --around inner --margin 1us -q -f -o x.json").ends(0);
    let run = folder.run("slice a.json --around inner --margin 1us -o y.json").ends(0);
    run.says(&["--around inner: the only event of this name, at @20 µs, lasts 70.00 µs"]);
    // an open slice lasts to the end of the trace
    let run = folder.run("slice a.json --around /^o/ -o z.json").ends(0);
    run.says(&["--around /^o/: the longest of 2 events, at @10 µs, lasts 85.00 µs"]);
    let run = folder.run("slice a.json --around Inner -o w.json").ends(2);
    run.says(&["--around Inner: no event has this name: did you mean inner?"]);
    let run = folder.run("slice a.json --around inner --nth 2 -o w.json").ends(2);
    run.says(&["--around inner --nth 2: there is only 1 event of this name"]);
    let run = folder.pipe("slice - --around inner", text).ends(2);
    run.says(&["name files, not a pipe"]);
    folder.run("slice a.json --nth 2 --from 1").ends(2);
}
