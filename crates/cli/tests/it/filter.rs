//! Runs `filter`.

use crate::support::{Folder, Run, trace};
use serde_json::{Value, json};

const TRACE: &str = r#"{"traceEvents":[
{"ph":"B","name":"outer","cat":"a,v8","pid":1,"tid":1,"ts":100},
{"ph":"B","name":"inner","cat":"v8.gc","pid":1,"tid":1,"ts":110},
{"ph":"E","pid":1,"tid":1,"ts":120},
{"ph":"E","pid":1,"tid":1,"ts":200},
{"ph":"X","name":"Run\u0054ask","cat":"toplevel","pid":1,"tid":2,"ts":150,"dur":500},
{"ph":"X","name":"tiny","cat":"v8","pid":2,"tid":3,"ts":160,"dur":1.5},
{"ph":"b","name":"load","cat":"net","id":"0x1","pid":1,"tid":1,"ts":170},
{"ph":"e","name":"load","cat":"net","id":"0x1","pid":2,"tid":3,"ts":900},
{"ph":"P","name":"Profile","cat":"cpu","id":"0x9","pid":1,"tid":1,"ts":130},
{"ph":"P","name":"ProfileChunk","cat":"cpu","id":"0x9","pid":1,"tid":7,"ts":1000},
{"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"Renderer"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"ThreadPoolForegroundWorker"}}
],"metadata":{"x":1}}"#;

/// Asserts which lines of [`TRACE`] a filter keeps.
#[track_caller]
fn check(flags: &str, expected: &[usize]) {
    let folder = Folder::new().with("a.json", TRACE);
    let words = format!("filter a.json {flags}");
    let numbers = |text: &str| {
        let lines: Vec<&str> = TRACE.lines().map(|line| line.trim_end_matches(',')).collect();
        let number =
            |line: &str| lines.iter().position(|known| *known == line.trim_end_matches(','));
        text.lines().filter_map(number).filter(|&n| (1..=10).contains(&n)).collect::<Vec<_>>()
    };
    let run = folder.run(&words).ends(i32::from(expected.is_empty()));
    assert_eq!(run.stderr.is_empty(), !expected.is_empty(), "{flags}: {}", run.stderr);
    assert_eq!(numbers(&run.stdout), expected, "{flags}\n{}", run.stdout);
    for kept in ["process_name", "thread_name", "\"metadata\":{\"x\":1}"] {
        assert!(run.stdout.contains(kept), "{flags}: {kept}");
    }
    let piped = folder.pipe(&format!("filter {flags}"), TRACE).ends(i32::from(expected.is_empty()));
    assert_eq!(piped.stdout, run.stdout, "{flags}");
    let rest: Vec<usize> = (1..=10).filter(|number| !expected.contains(number)).collect();
    let run = folder.run(&format!("{words} --invert")).ends(i32::from(rest.is_empty()));
    let inverted = numbers(&run.stdout);
    assert_eq!(inverted, rest, "{flags} --invert");
}

#[test]
fn criteria_keep_related_events_together() {
    check("", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    check("--pid 2", &[6, 7, 8]);
    check("--pid 1 --tid 1-2", &[1, 2, 3, 4, 5, 7, 8, 9, 10]);
    check("--name ^inner$", &[2, 3]);
    check("--name RunTask --name tin", &[5, 6]);
    check("--cat v8", &[1, 4, 6]);
    check("--cat v8*,net", &[1, 2, 3, 4, 6, 7, 8]);
    check("--ph X", &[5, 6]);
    check("--ph B,P", &[1, 2, 3, 4, 9, 10]);
    check("--process Render", &[1, 2, 3, 4, 5, 7, 8, 9, 10]);
    check("--thread ^ThreadPool", &[5]);
    check("--drop threadpool,network", &[1, 2, 3, 4, 6, 9, 10]);
    check("--min-dur 100", &[1, 4, 5, 7, 8, 9, 10]);
    check("--max-dur 1500ns", &[6]);
    check("--max-dur 1499ns", &[]);
    check("--from 50 --to 55us", &[1, 4, 5, 9, 10]);
    check("--to @131", &[1, 2, 3, 4, 9, 10]);
    check("--from @899", &[7, 8, 9, 10]);
    check("--from @900", &[9, 10]);
    check("--from 700 --to 0.8ms --cat net", &[7, 8]);
}

#[test]
fn ids_of_any_type_and_all_presets_match() {
    let events = [
        r#"{"ph":"X","name":"one","pid":"rank 0","tid":"stream 7","ts":1,"dur":1}"#,
        r#"{"ph":"X","name":"two","pid":"12","tid":3,"ts":2,"dur":1}"#,
        r#"{"ph":"X","name":"three","pid":-1,"tid":12,"ts":3,"dur":1}"#,
        r#"{"ph":"X","name":"GPUTask","pid":1,"tid":1,"ts":4,"dur":1}"#,
        r#"{"ph":"X","name":"v8.compileModule","pid":1,"tid":1,"ts":5,"dur":1}"#,
        r#"{"ph":"X","name":"FireAnimationFrame","pid":1,"tid":1,"ts":6,"dur":1}"#,
        r#"{"ph":"X","name":"ResourceFinish","pid":1,"tid":1,"ts":7,"dur":1}"#,
        r#"{"ph":"X","name":"x","cat":"a,viz.b","pid":1,"tid":1,"ts":8,"dur":1}"#,
    ];
    let folder = Folder::new().with("a.json", format!("[{}]", events.join(",\n")));
    for (flags, expected) in [
        ("--pid rank.0", &[][..]),
        ("--tid stream.7,3", &[2]),
        ("--pid 12", &[2]),
        ("--pid 10-19", &[2]),
        ("--pid=-1,12", &[2, 3]),
        ("--pid 12 --pid=-1 --tid 12", &[3]),
        ("--drop gpu", &[1, 2, 3, 5, 6, 7]),
        ("--drop compile,animation", &[1, 2, 3, 4, 7, 8]),
        ("--drop network --drop gpu", &[1, 2, 3, 5, 6]),
        ("--invert-match --pid 1", &[1, 2, 3]),
    ] {
        let run = folder.run(&format!("filter a.json {flags}"));
        let run = run.ends(i32::from(expected.is_empty()));
        assert_eq!(run.times(), expected, "{flags}");
    }
    let mut command = folder.command("filter a.json --pid");
    let run = Run::of(command.args(["rank 0,7", "--tid", "stream 7"]).output().expect("it runs"));
    assert_eq!(run.ends(0).times(), [1]);
}

#[test]
fn names_after_the_events_match() {
    let names = "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"late\"}}]";
    let folder = Folder::new().with("a.json", [&trace([3, 1]), names].concat());
    let run = folder.run("filter a.json --process late").ends(0);
    assert_eq!(run.stdout.matches("\"ts\":").count(), 2, "{}", run.stdout);
    let run = folder.run("filter a.json --process early").ends(1);
    assert_eq!(run.stdout.matches("\"ts\":").count(), 0, "{}", run.stdout);
}

/// A criterion without a match ends with status 1 and lists the existing values.
#[test]
fn unmatched_criteria_are_reported() {
    let folder = Folder::new().with("a.json", TRACE);
    for (flags, expected) in [
        (
            "--process renderer",
            "nothing matches --process renderer: did you mean Renderer? (the trace has Renderer)",
        ),
        (
            "--thread Pool$",
            "nothing matches --thread Pool$: did you mean ThreadPoolForegroundWorker?",
        ),
        ("--name runtask", "nothing matches --name runtask: did you mean RunTask? (the trace has "),
        ("--pid 99999", "nothing matches --pid 99999 (the trace has 1, 2)"),
        ("--tid 8-9,x", "nothing matches --tid 8-9,x (the trace has 0, 1, 2, 3, 7)"),
        ("--cat v8.GC", "nothing matches --cat v8.GC: did you mean v8.gc? (the trace has "),
        ("--ph Z", "nothing matches --ph Z (the trace has "),
        (
            "--pid 2 --name inner",
            "each criterion matches something, but no event matches all of them",
        ),
        ("--min-dur 1h", "no event matches, so only metadata was written"),
    ] {
        let run = folder.run(&format!("filter a.json {flags}")).ends(1).says(&[expected]);
        assert!(run.stdout.contains("process_name") && !run.stdout.contains("\"ts\""), "{flags}");
        // pipes are not read again to list names, categories and phases
        let is_known = ["--pid ", "--tid ", "--process ", "--thread "];
        let plain = match is_known.iter().any(|flag| flags.starts_with(flag)) {
            true => Some(expected),
            false => expected.split(": did").next().and_then(|text| text.split(" (").next()),
        };
        folder
            .pipe(&format!("filter {flags}"), TRACE)
            .ends(1)
            .says(&plain.into_iter().collect::<Vec<_>>());
    }
    folder.pipe("filter --pid 1", "[]").ends(0).says(&["the input has no events"]);
}

#[test]
fn unmatched_values_are_reported_singly() {
    let folder = Folder::new().with("a.json", TRACE);
    for (flags, expected) in [
        (
            "--name RunTask --name innner",
            &["nothing matches --name innner: did you mean inner?"][..],
        ),
        ("--pid 1,77-78", &["nothing matches --pid 77-78 (the trace has 1, 2)"]),
        ("--tid 1,2,4", &["nothing matches --tid 4 (the trace has "]),
        ("--cat v8,v8.GC,v8.g?", &["nothing matches --cat v8.GC: did you mean v8.gc?"]),
        ("--ph X,Z", &["nothing matches --ph Z (the trace has "]),
        (
            "--process Renderer --process Browsr",
            &["nothing matches --process Browsr (the trace has"],
        ),
        ("--invert --name innner", &["nothing matches --name innner: did you mean inner?"]),
        ("--pid 1 --tid 1,2,7", &[]),
        ("--tid 0,1", &[]),
    ] {
        let run = folder.run(&format!("filter a.json {flags} --report r.json -f"));
        if expected.is_empty() {
            assert_eq!(run.stderr, "", "{flags}");
        } else {
            run.ends(0).says(expected);
        }
        let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
        let unmatched = report["unmatched"].as_array().unwrap();
        assert_eq!(unmatched.len(), expected.len(), "{flags}: {unmatched:?}");
    }
}

#[test]
fn ignore_case_applies_to_names() {
    check("-i --process RENDERER", &[1, 2, 3, 4, 5, 7, 8, 9, 10]);
    check("--ignore-case --name runtask", &[5]);
    check("-i --cat V8", &[1, 4, 6]);
    check("-i --thread ^threadpool", &[5]);
}

#[test]
fn dropped_events_are_counted_by_criterion() {
    let folder = Folder::new().with("a.json", TRACE);
    let words = "filter a.json --tid 1,3 --min-dur 50us -o b.json --report r.json -v";
    let run = folder.run(words).ends(0);
    let report: Value = serde_json::from_str(&folder.read("r.json")).unwrap();
    let reasons: Vec<_> = report["dropped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|d| (&d["reason"], &d["events"]))
        .collect();
    let expected = [(json!("--tid"), json!(1)), (json!("--min-dur"), json!(3))];
    assert_eq!(reasons, expected.iter().map(|(a, b)| (a, b)).collect::<Vec<_>>());
    assert_eq!(report["lost"], 0);
    assert_eq!(report["output"]["bytes"], json!(folder.read("b.json").len()));
    assert!(run.stderr.contains("left out by --min-dur: 3 events, "), "{}", run.stderr);
    folder.run("filter -q a.json --pid 9 -o c.json").ends(1).quietly();
}

#[test]
fn shrink_to_reports_its_threshold() {
    let folder = Folder::new().with("a.json", TRACE);
    let size = TRACE.len() - 300;
    let run = folder.run(&format!("filter a.json --shrink-to {size} -v -o b.json")).ends(0);
    assert!(run.stderr.contains("--shrink-to: kept events that last at least "), "{}", run.stderr);
    assert!(run.stderr.contains("left out by --shrink-to: "), "{}", run.stderr);
    assert!(folder.read("b.json").len() <= size);
    assert!(folder.read("b.json").contains("ProfileChunk"), "the longest");
    let run = folder.run("filter a.json --shrink-to 100 -o c.json").ends(1);
    assert!(run.stderr.contains("does not fit --shrink-to"), "{}", run.stderr);
    let metadata = r#"[{"ph":"M","name":"process_name","pid":1,"args":{"name":"all of it"}}]"#;
    let folder = folder.with("m.json", metadata);
    let run = folder.run("filter m.json --shrink-to 20 --for devtools -o e.json").ends(0);
    run.says(&["does not fit --shrink-to: "]);
    let run = folder.run("filter a.json --shrink-to 1M -v -o d.json").ends(0);
    assert!(run.stderr.contains("everything that was left fits"), "{}", run.stderr);
}

#[test]
fn meaningless_flags_are_refused() {
    let folder = Folder::new().with("a.json", TRACE);
    for flags in
        ["--name (", "--min-dur -1", "--from soon", "--drop gpus", "--pid 5-1", "--to 0.0001us"]
    {
        folder.run(&format!("filter a.json {flags}")).ends(2);
    }
    folder.run("filter a.json -f -o a.json").ends(2).says(&["is one of the inputs"]);
}

#[test]
fn annotations_are_dropped_and_counted() {
    let events = "{\"traceEvents\":[{\"ph\":\"X\",\"ts\":1,\"pid\":1},{\"ph\":\"X\",\"ts\":2,\"pid\":2}],
        \"metadata\":{\"modifications\":{\"entriesModifications\":{\"hiddenEntries\":[\"r-0\",\"r-1\"]}}}}";
    let folder = Folder::new().with("a.json", events);
    let run = folder.run("filter a.json --pid 2 --report r.json").ends(0);
    assert!(run.stdout.contains(r#""metadata":{}"#), "{}", run.stdout);
    let report: serde_json::Value = serde_json::from_str(&folder.read("r.json")).expect("JSON");
    let expected = serde_json::json!({"kept": 0, "dropped": {"unfollowed": 2}});
    assert_eq!(report["annotations"], expected);
    run.says(&[
        "2 DevTools annotations (metadata.modifications) were dropped: 2 for events whose numbers changed",
    ]);
}
