//! Runs `diff` on traces, runs and stored tables, with limits.

use crate::support::{Folder, testdata};
use serde_json::Value;
use tracemill_testkit::packing;

/// Returns ten events of `a` and ten of `b`, with these durations in microseconds.
fn events(a: u64, b: u64) -> String {
    let event = |name: &str, at: u64, dur: u64| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{at},"dur":{dur}}}"#)
    };
    let all: Vec<String> = (0..10)
        .flat_map(|at| {
            [event("a", 10_000 * at + 1000, a + at), event("b", 10_000 * at + 6000, b + at)]
        })
        .collect();
    format!("[{}]", all.join(",\n"))
}

fn folder() -> Folder {
    Folder::new().with("a.json", events(1000, 2000)).with("b.json", events(1000, 2500))
}

#[test]
fn events_of_two_runs_are_tested() {
    let folder = folder();
    let stdout = folder.run("diff a.json b.json").ends(0).stdout;
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(lines[0].starts_with("busy 30.09 -> 35.09 ms (+16.6 %); 1 run per side"), "{stdout}");
    assert!(lines[2].contains("slower") && lines[2].contains('b'), "{stdout}");
    assert!(lines[3].contains('~'), "{stdout}");
    let json = folder.run("diff --json a.json b.json").ends(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["schema"], "tracemill.diff/1");
    assert_eq!(
        (&json["rows"][0]["name"], &json["rows"][0]["significant"]),
        (&"b".into(), &true.into())
    );
    let csv = folder.run("diff --csv a.json b.json").ends(0).stdout;
    assert!(csv.lines().nth(1).is_some_and(|line| line.starts_with("slower,true,")), "{csv}");
    let same = folder.run("diff a.json a.json").ends(0).stdout;
    assert!(same.lines().skip(2).all(|line| line.contains('~')), "{same}");
}

/// Exact times differ from DevTools' by rounding only, and are finer than doubles of times since
/// 1970.
#[test]
fn times_flag_selects_the_clock() {
    let folder = folder();
    let json = |words: &str| -> Value {
        let stdout = folder.run(&format!("diff --json {words}")).ends(0).stdout;
        serde_json::from_str(&stdout).expect("JSON")
    };
    for words in ["a.json b.json", "--from 20ms --to 90ms a.json b.json", "--focus b a.json b.json"]
    {
        let (usual, exact) = (json(words), json(&format!("--times exact {words}")));
        let rows = |value: &Value| value["rows"].as_array().expect("rows").clone();
        let (usual, exact) = (rows(&usual), rows(&exact));
        assert!(!usual.is_empty() && usual.len() == exact.len(), "{words}");
        for (one, other) in usual.iter().zip(&exact) {
            assert_eq!(
                (&one["name"], &one["significant"]),
                (&other["name"], &other["significant"])
            );
            for side in [0, 1] {
                let [one, other] = [one, other].map(|row| row["self_ms"][side].as_f64());
                let (one, other) = one.zip(other).expect("milliseconds");
                assert!((one - other).abs() < 1e-6, "{words}: {one} {other}");
            }
        }
    }
    let since_1970 = |durations: [&str; 6]| {
        let event = |(at, dur): (usize, &str)| {
            format!(
                r#"{{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1700000000000{at}0.100,"dur":{dur}}}"#
            )
        };
        let all: Vec<String> = (10..).zip(durations).map(event).collect();
        format!("[{}]", all.join(","))
    };
    let folder = Folder::new()
        .with("a.json", since_1970(["0.301", "0.302", "0.303", "0.304", "0.305", "0.306"]))
        .with("b.json", since_1970(["0.311", "0.312", "0.313", "0.314", "0.315", "0.316"]));
    let selves = |words: &str| {
        let stdout = folder.run(&format!("diff --json {words} a.json b.json")).ends(0).stdout;
        let table: Value = serde_json::from_str(&stdout).expect("JSON");
        [0, 1].map(|side: usize| table["rows"][0]["self_ms"][side].as_f64().expect("a time"))
    };
    let exact = selves("--times exact");
    assert_eq!(exact.map(|ms| (ms * 1e6).round()), [1821.0, 1881.0]);
    assert_eq!(exact, selves("--times auto"));
    assert_ne!(exact, selves(""));
    folder.run("diff --like panel --times exact a.json b.json").ends(2).says(&["--times exact"]);
}

#[test]
fn missing_normalize_events_are_reported() {
    let folder = folder().with("c.json", events(1000, 2500).replace("\"a\"", "\"c\""));
    folder.run("diff a.json b.json --normalize event:a").ends(0).quietly();
    let texts = ["no run has any function or event \"x\"", "times stay as they are"];
    folder.run("diff a.json b.json --normalize event:x").ends(0).says(&texts);
    let texts = ["1 of 2 runs have no function or event \"a\"", "compared with others"];
    folder.run("diff a.json c.json --normalize event:a").ends(0).says(&texts);
}

#[test]
fn broken_limits_end_with_5() {
    let folder = folder();
    folder
        .run("diff a.json b.json --fail-on self>5%")
        .ends(5)
        .says(&["FAILED self of b 20.05 -> 25.05 ms (+24.9 %), limit 5 %"]);
    folder.run("diff a.json b.json --fail-on self>5%&self>6ms").ends(0).quietly();
    folder.run("diff a.json b.json --fail-on self:^a$>5%").ends(0).quietly();
    folder.run("diff b.json a.json --fail-on self>5%").ends(0).quietly();
    folder
        .run("diff a.json b.json --fail-on busy>10%")
        .ends(5)
        .says(&["FAILED busy 30.09 -> 35.09 ms (+16.6 %), limit 10 %; no test tells it"]);
    folder.run("diff a.json b.json --fail-on busy>20%").ends(0).quietly();
    folder
        .run("diff a.json b.json --any --fail-on busy>10%")
        .ends(5)
        .says(&["FAILED busy 30.09 -> 35.09 ms (+16.6 %), limit 10 %"]);
    folder
        .run("diff a.json b.json --fail-on lcp>10%")
        .ends(5)
        .says(&["FAILED lcp: unknown: ", "a.json)"]);
    for (terms, expected) in [
        ("self>5", "expected a time with its unit, such as 5ms"),
        ("lcp>x", "expected METRIC[:PATTERN]>VALUE"),
    ] {
        let wrong = folder.run(&format!("diff a.json b.json --fail-on {terms}")).ends(2);
        assert!(wrong.stderr.contains(expected), "{}", wrong.stderr);
    }
    let wrong = folder.run("report a.json --fail-on lcp>5%").ends(2);
    assert!(wrong.stderr.contains("a share is of a base, which only diff has"), "{}", wrong.stderr);
    let wrong = folder.run("diff a.json b.json --fail-on speed>5%").ends(2);
    assert!(wrong.stderr.contains("expected METRIC"), "{}", wrong.stderr);
}

#[test]
fn limits_use_the_test_of_their_figure() {
    let equal = |count: u64, dur: u64| {
        let event = |at: u64| {
            let ts = 1000 + 1000 * at;
            format!(r#"{{"ph":"X","name":"work","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
        };
        format!("[{}]", (0..count).map(event).collect::<Vec<_>>().join(",\n"))
    };
    let folder = Folder::new()
        .with("300x50.json", equal(300, 50))
        .with("450x50.json", equal(450, 50))
        .with("600x25.json", equal(600, 25))
        .with("303x50.json", equal(303, 50));
    let run = |new: &str, limit: &str| {
        folder.run(&format!("diff 300x50.json {new}.json --fail-on {limit} -q"))
    };
    for limit in ["count>50", "count>10%", "total>10%", "self:work>1ms"] {
        run("450x50", limit).ends(5).says(&["FAILED ", " of work "]);
    }
    let more = run("600x25", "count:^work$>99%").ends(5);
    assert!(more.stdout.contains("300 → 600     more"), "{}", more.stdout);
    run("600x25", "self>0%").ends(0).quietly();
    for limit in ["count>0", "self>0%", "total>0%"] {
        run("303x50", limit).ends(0).quietly();
    }
    run("303x50", "self:wrok>1%").ends(5).says(&["did you mean work?"]);
    let empty =
        folder.run("diff 300x50.json 303x50.json --fail-on self>1% --from 1.051ms --to 1.9ms");
    assert!(empty.stderr.contains("FAILED self>1%: no thread has an event"), "{}", empty.stderr);
    empty.ends(5);
}

#[test]
fn stored_tables_replace_traces() {
    let folder = folder();
    let traces = folder.run("diff --json a.json b.json").ends(0).stdout;
    for verb in ["tree", "top"] {
        for name in ["a", "b"] {
            folder
                .run(&format!("{verb} --json --per all {name}.json -f -o {name}.table.json"))
                .ends(0);
        }
        let stored = folder.run("diff --json a.table.json b.table.json").ends(0).stdout;
        let [one, two]: [Value; 2] =
            [&traces, &stored].map(|text| serde_json::from_str(text).expect("JSON"));
        // the sums are added in another order
        let near = |text: &Value| {
            let all = text.as_array().expect("a pair").iter();
            all.map(|number| format!("{:.6}", number.as_f64().expect("a number")))
                .collect::<Vec<_>>()
        };
        assert_eq!(near(&one["busy_ms"]), near(&two["busy_ms"]), "{verb}");
        let sums = |value: &Value| {
            let rows = value["rows"].as_array().expect("rows").clone();
            let mut all: Vec<String> = rows
                .iter()
                .map(|row| {
                    format!(
                        "{} {:?} {:?}",
                        row["name"],
                        near(&row["self_ms"]),
                        near(&row["total_ms"])
                    )
                })
                .collect();
            all.sort();
            all
        };
        assert_eq!(sums(&one), sums(&two), "{verb}");
        // stored tables have no single events, so a change cannot be tested and breaks the limit
        folder
            .run("diff -q a.table.json b.table.json --fail-on self>5%")
            .ends(5)
            .says(&["FAILED self of b 20.05 -> 25.05 ms", "no test tells it from chance"]);
        folder.run("diff a.table.json b.table.json --fail-on self>30%").ends(0).quietly();
    }
    for ms in [4084546.0600849204, 11495413.886116741, 1111201.0213007727] {
        let text = folder.read("a.table.json");
        let mut table: Value = serde_json::from_str(&text).expect("JSON");
        table["parts"][0]["rows"][0][4] = ms.into();
        let folder = Folder::new().with("a.table.json", table.to_string());
        let json = folder.run("diff --json a.table.json a.table.json").ends(0).stdout;
        assert!(json.matches(&ms.to_string()).count() >= 2, "{ms}: {json}");
    }
    let other = folder.read("a.table.json").replace("tracemill.tree/1", "tracemill.tree/9");
    let folder = folder.with("other.json", other);
    folder.run("diff other.json b.json").ends(2).says(&["tracemill.tree/9", "tracemill.tree/1"]);
    folder.run("tree --log --json a.json -o log.json").ends(0);
    folder.run("diff log.json b.json").ends(2).says(&["a log has no sums"]);
}

#[test]
fn unusable_tables_are_refused() {
    let folder = folder();
    folder.run("top --json --per all a.json -o a.table.json").ends(0);
    let refused = |name: &str, text: String, parts: &[&str]| {
        std::fs::write(folder.path(name), text).expect("a file");
        folder.run(&format!("diff {name} b.json")).ends(2).says(&[&[name], parts].concat());
    };
    let table = folder.read("a.table.json");
    let cut = table[..table.len() / 2].to_owned();
    refused("cut.json", cut, &["cut off or damaged", "(byte ", "write it anew with"]);
    let other = table.replace("\"ms\"", "\"us\"");
    refused(
        "unit.json",
        other,
        &["its rows are not those of tracemill tree --json: write it anew"],
    );
    let other = table.replace("\"rows\"", "\"lines\"");
    refused("rows.json", other, &["its rows are not those of tracemill tree --json"]);
    folder.run("tree --json --group-by category a.json -o groups.json").ends(0);
    refused("groups.json", folder.read("groups.json"), &["store it without --group-by category"]);
    folder.run("report --json a.json -o report.json").ends(0);
    refused(
        "report.json",
        folder.read("report.json"),
        &["(tracemill.report/1), no trace", "store"],
    );
    folder.run("diff --json a.json b.json -o diff.json").ends(0);
    refused("diff.json", folder.read("diff.json"), &["(tracemill.diff/1), no trace"]);
    for verb in ["top", "tree", "flame", "report", "calls"] {
        folder
            .run(&format!("{verb} a.table.json"))
            .ends(2)
            .says(&["a.table.json is a table of tracemill top --json", "tracemill diff compares"]);
    }
    let other = table.replace("until the next sample", "all samples alike");
    std::fs::write(folder.path("hits.json"), other).expect("a file");
    folder.run("diff hits.json b.json").ends(0).says(&["not measured alike", "--weights"]);
    let other = table.replace("1705227", "9");
    std::fs::write(folder.path("rules.json"), other).expect("a file");
    folder.run("diff rules.json b.json").ends(0).says(&["rules of DevTools: 9 in rules.json"]);
    folder.file("a.table.json.gz", packing::gz(table.as_bytes(), table.len()));
    let packed = folder.run("diff a.table.json.gz b.json --json").ends(0).stdout;
    assert_eq!(packed, folder.run("diff a.table.json b.json --json").stdout);
}

#[test]
fn runs_of_two_folders_are_tested() {
    let folder = Folder::new();
    for side in ["base", "new"] {
        std::fs::create_dir(folder.path(side)).expect("a folder");
        for at in 0..6 {
            let b = if side == "new" { 2600 } else { 2000 };
            std::fs::write(
                folder.path(&format!("{side}/{at}.json")),
                events(1000 + 7 * at, b + 11 * at),
            )
            .expect("a file");
        }
    }
    let run = folder.run("diff --base base --new new --fail-on self>5%").ends(5);
    assert!(
        run.stdout.starts_with("busy") && run.stdout.contains("6 and 6 runs"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stdout.matches("slower").count(), 1, "{}", run.stdout);
    folder.run("diff --base base --new base --fail-on self>0%").ends(0).quietly();
    let few = folder.run("diff --base base/0.json base/1.json --new new/0.json new/1.json").ends(0);
    assert!(few.stdout.contains("too few"), "{}", few.stdout);
}

/// The functions of all runs stay in memory and count towards the budget.
#[test]
fn runs_beyond_the_budget_are_refused() {
    let event = |i| format!(r#"{{"ph":"X","name":"f{i}","pid":1,"tid":1,"ts":{i},"dur":1}}"#);
    let events = (0..4000).map(event).collect::<Vec<_>>().join(",");
    let folder = Folder::new().with("a.json", format!("[{events}]"));
    let diff = |runs: usize| {
        let each = " a.json".repeat(runs);
        folder.run(&format!("diff -q -m 32M --base{each} --new{each}"))
    };
    diff(2).ends(0);
    diff(10).ends(4).says(&["functions of runs take", "budget of 32 MiB"]);
}

#[test]
fn incomparable_inputs_are_reported() {
    let folder = folder()
        .with("other.json", events(1, 1).replace("\"a\"", "\"x\"").replace("\"b\"", "\"y\""));
    folder.run("diff a.json other.json").ends(0).says(&["no function is on both sides"]);
    folder.run("diff a.json").ends(2).says(&["two sides"]);
    folder.run("diff a.json missing.json").ends(3);
    folder.run("diff a.json b.json --from 1s --to 2s").ends(1).says(&["nothing to compare"]);
}

#[test]
fn samples_of_one_program_show_no_change() {
    let folder = Folder::new();
    let profiles = testdata().join("node-cpu-prof");
    let mut all: Vec<_> = std::fs::read_dir(profiles)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    all.sort();
    let output = folder.command("diff --json").args([&all[0], &all[0]]).output();
    let json: Value = serde_json::from_slice(&output.expect("a run").stdout).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    assert!(!rows.is_empty() && rows.iter().all(|row| row["significant"] == false), "{json}");
    assert!(rows.iter().any(|row| !row["p"].is_null()), "{json}");
}
