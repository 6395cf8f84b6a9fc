//! Runs `report`: its page, suggested commands and limits.

use crate::support::{Folder, STACKS, binary, testdata};
use serde_json::Value;
use std::collections::HashSet;
use std::process::Command;

/// Chrome tasks of 60 and 200 ms, one on a worker, and one that DevTools does not draw.
const TASKS: &str = r#"[
{"ph":"M","name":"thread_name","cat":"__metadata","pid":1,"tid":1,"ts":0,"args":{"name":"CrRendererMain"}},
{"ph":"I","name":"TracingStartedInBrowser","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1,"ts":1000,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","name":"","processId":1}]}}},
{"ph":"I","name":"TracingSessionIdForWorker","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":2,"ts":1001,"args":{"data":{"workerThreadId":2,"workerId":"w","url":"w.js"}}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1,"ts":2000,"dur":60000,"args":{}},
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":1,"tid":1,"ts":3000,"dur":50000,"args":{}},
{"ph":"X","name":"Layout","cat":"devtools.timeline","pid":1,"tid":1,"ts":4000,"dur":30000,"args":{}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1,"ts":100000,"dur":50000,"args":{}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":1,"tid":2,"ts":100000,"dur":90000,"args":{}},
{"ph":"X","name":"RunTask","cat":"toplevel","pid":1,"tid":3,"ts":200000,"dur":200000,"args":{}}]"#;

fn folder() -> Folder {
    let node = std::fs::read(testdata().join("node/trace.json")).expect("a trace");
    let chrome = std::fs::read(testdata().join("chromium/trace.json.gz")).expect("a trace");
    let folder = Folder::new()
        .with("stacks of two.json", STACKS)
        .with("tasks.json", TASKS)
        .with("node.json", node)
        .with("chrome.json.gz", chrome);
    for rank in ["rank-0.json", "rank-1.json"] {
        let text = std::fs::read(testdata().join("pytorch").join(rank)).expect("a trace");
        std::fs::write(folder.path(rank), text).expect("a copy");
    }
    for (name, data) in [("profiles", "node-cpu-prof"), ("build", "clang/14")] {
        std::fs::create_dir(folder.path(name)).expect("a folder");
        for entry in std::fs::read_dir(testdata().join(data)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let target = folder.path(name).join(path.file_name().expect("a name"));
            std::fs::copy(&path, target).expect("a copy");
        }
    }
    folder
}

const INPUTS: [&str; 6] =
    ["tasks.json", "node.json", "chrome.json.gz", "profiles", "build", "rank-0.json rank-1.json"];

fn json(folder: &Folder, words: &str) -> Value {
    let stdout = folder.run(&format!("report --json {words}")).ends(0).stdout;
    serde_json::from_str(&stdout).expect("JSON")
}

/// Returns the suggested commands, each with its section.
fn commands(report: &Value) -> Vec<(String, String)> {
    let sections = report["sections"].as_array().expect("sections");
    let mut all = Vec::new();
    for section in sections {
        for row in section["rows"].as_array().expect("rows") {
            let next = row.as_array().and_then(|row| row.last()).and_then(Value::as_str);
            let id = section["id"].as_str().expect("an id").to_owned();
            all.push((id, next.expect("a command").to_owned()));
        }
    }
    all
}

#[test]
fn suggested_commands_run_and_print_something() {
    let folder = folder();
    let programs = binary().parent().expect("a folder").display().to_string();
    let path = format!("{programs}:{}", std::env::var("PATH").unwrap_or_default());
    let mut runs = 0;
    let mut of = |report: &Value| {
        for (section, command) in commands(report) {
            let mut bash = Command::new("bash");
            let run = bash.args(["-c", &command]).current_dir(folder.path("")).env("PATH", &path);
            let output = run.output().expect("bash");
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{section}: {command}\n{stderr}");
            assert!(output.stdout.len() > 20, "{section}: {command}\n{stderr}");
            runs += 1;
        }
    };
    for words in [
        "tasks.json",
        "node.json",
        "profiles",
        "-n 2 chrome.json.gz",
        "-n 2 node.json profiles",
        "-n 2 --main --from 60ms --to 160ms node.json",
        "-n 2 --tid 5401 --fold-numbers node.json",
        "-n 2 --like panel tasks.json",
        "-n 2 --ignore-list=node_modules --pid 19500 profiles",
        "-n 2 build",
        "rank-0.json",
        "-n 2 --last-step drop --from 1ms rank-0.json rank-1.json",
    ] {
        of(&json(&folder, words));
    }
    let shared = testdata().join("../../shared");
    for input in ["corpus/bazel/tiny.json.gz", "oracle/samples/web.json.gz"] {
        let path = shared.join(input);
        if path.is_file() {
            of(&json(&folder, &format!("-n 2 {}", path.display())));
        }
    }
    let mut command = folder.command("report --json");
    let output = command.arg("stacks of two.json").output().expect("it runs");
    of(&serde_json::from_slice(&output.stdout).expect("JSON"));
    assert!(runs > 60, "{runs}");
}

/// Collects the numbers of a report with their paths; suggested commands are left out.
fn numbers(value: &Value, at: &str, all: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| numbers(member, &format!("{at}.{key}"), all));
        }
        Value::Array(items) => {
            (0..)
                .zip(items)
                .for_each(|(n, item): (u32, _)| numbers(item, &format!("{at}.{n}"), all));
        }
        Value::String(text) if text.starts_with("tracemill ") => {}
        number => all.push((at.to_owned(), number.clone())),
    }
}

/// Exact times differ from DevTools' by rounding only, in every section.
#[test]
fn exact_times_are_in_every_section() {
    let folder = folder();
    let (mut sections, mut compared) = (std::collections::BTreeSet::new(), 0);
    let windowed = ["--from 60ms --to 160ms node.json", "--from 1ms rank-0.json"];
    for words in INPUTS.into_iter().chain(windowed) {
        let usual = json(&folder, words);
        let exact = json(&folder, &format!("--times exact {words}"));
        assert_eq!((&usual["times"], &exact["times"]), (&"devtools".into(), &"exact".into()));
        let origin = exact["origin_ns"].as_i64().expect("a number") as f64;
        // these count from 1970, where rounding is percents of short times
        let near = if words.contains("rank") { 0.05 } else { 2e-3 };
        let [mut one, mut other] = [Vec::new(), Vec::new()];
        let all = ["sections", "window", "duration_ms"];
        all.iter().for_each(|key| numbers(&usual[*key], key, &mut one));
        all.iter().for_each(|key| numbers(&exact[*key], key, &mut other));
        assert_eq!(one.len(), other.len(), "{words}");
        for ((at, one), (_, other)) in one.iter().zip(&other) {
            let (Some(usual), Some(exact)) = (one.as_f64(), other.as_f64()) else {
                assert_eq!(one, other, "{words}: {at}");
                continue;
            };
            let is_near = |moved: f64| (usual - exact - moved).abs() <= near;
            let is_moment = at.starts_with("window") || at.contains("_us");
            let is_moved = is_moment && [1e3, 1e6].iter().any(|unit| is_near(origin / unit));
            assert!(is_near(0.0) || is_moved, "{words}: {at}: {usual} {exact}");
            compared += 1;
        }
        let rows = exact["sections"].as_array().expect("sections").iter();
        sections.extend(rows.map(|section| section["id"].as_str().expect("a text").to_owned()));
        for (section, command) in commands(&exact) {
            let is_told = ["filter", "slice", "show"]
                .iter()
                .any(|verb| command.starts_with(&format!("tracemill {verb} ")));
            assert!(is_told || command.contains("--times=exact"), "{section}: {command}");
        }
    }
    assert!(sections.len() > 15 && compared > 500, "{compared}: {sections:?}");
}

/// As doubles, microseconds since 1970 have steps of 250 ns; shorter times need `--times exact`.
#[test]
fn exact_times_are_finer_than_doubles() {
    let event = |ts: &str, dur: &str| {
        format!(r#"{{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let events = [
        event("1700000000000000.100", "0.300"),
        event("1700000000000001.600", "0.001"),
        event("1700000000000003.700", "0.070"),
    ];
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",")));
    let hot = |words: &str| {
        let report = json(&folder, &format!("{words} t.json"));
        let sections = report["sections"].as_array().expect("sections").clone();
        let section =
            sections.into_iter().find(|section| section["id"] == "hot").expect("functions");
        let columns = section["columns"].as_array().expect("columns");
        let at = columns.iter().position(|column| column == "self_ms").expect("a column");
        (section["rows"][0][at].as_f64(), commands(&report))
    };
    let (exact, commands) = hot("--times exact");
    assert_eq!(exact, Some(0.000_371));
    assert_ne!(hot("").0, exact);
    let window = "--from @1700000000000001600ns --to @1700000000000003700ns";
    let (within, of_window) = hot(&format!("--times exact {window}"));
    assert_eq!(within, Some(0.000_001));
    let has_window = |(_, command): &(String, String)| command.contains(window);
    assert!(of_window.iter().any(has_window), "{of_window:?}");
    for (_, command) in commands.iter().chain(&of_window) {
        folder.run(command.strip_prefix("tracemill ").expect("our command")).ends(0);
    }
    let stdout = folder.run("report --times exact t.json").ends(0).stdout;
    assert!(stdout.lines().next().is_some_and(|line| line.ends_with("exact times")), "{stdout}");
    let refused = ["leave out --times exact"];
    folder.run("report --like panel --times exact t.json").ends(2).says(&refused);
}

#[test]
fn a_page_has_at_most_120_lines() {
    let folder = folder();
    for input in INPUTS.into_iter().chain(["node.json profiles chrome.json.gz"]) {
        for (form, most) in [("", 120), ("--markdown", 140)] {
            let stdout = folder.run(&format!("report {form} {input}")).ends(0).stdout;
            assert!(
                stdout.lines().count() <= most && stdout.lines().count() > 5,
                "{input}: {stdout}"
            );
        }
        let markdown = folder.run(&format!("report --markdown {input}")).ends(0).stdout;
        let text = folder.run(&format!("report {input}")).ends(0).stdout;
        for (section, command) in commands(&json(&folder, input)) {
            assert!(text.contains(&format!("  {command}\n")), "{section}: {command}\n{text}");
            let shown = format!("`{}` |", command.replace('|', "\\|"));
            assert!(markdown.contains(&shown), "{section}: {command}\n{markdown}");
        }
    }
}

#[test]
fn only_tasks_of_main_threads_count() {
    let folder = folder();
    let report = json(&folder, "tasks.json");
    assert_eq!(
        (&report["schema"], &report["producer"]),
        (&"tracemill.report/1".into(), &"chrome".into())
    );
    let tasks = report["sections"]
        .as_array()
        .expect("sections")
        .iter()
        .find(|section| section["id"] == "tasks");
    let tasks = tasks.expect("tasks");
    // a task of exactly 50 ms is not long, and workers do not count
    assert_eq!(tasks["figures"]["count"], 2);
    assert_eq!(tasks["figures"]["blocking_ms"], 160.0);
    assert_eq!((&tasks["rows"][0][1], &tasks["rows"][0][3]), (&200.0.into(), &"r-8".into()));
    let paths = &tasks["rows"][1][4];
    assert_eq!(paths[0]["self_ms"], 30.0);
    assert_eq!(paths[0]["path"][0]["name"], "Function call");
    // the layout of 30 ms inside the call of a script
    let reflow = report["sections"]
        .as_array()
        .expect("sections")
        .iter()
        .find(|section| section["id"] == "reflow");
    let reflow = reflow.expect("forced layouts");
    assert_eq!(reflow["figures"], serde_json::json!({"tasks": 1, "count": 1, "total_ms": 30.0}));
    assert_eq!((&reflow["rows"][0][3], &reflow["rows"][0][5]), (&Value::Null, &"r-5".into()));
    let stdout = folder.run("report tasks.json").ends(0).stdout;
    assert!(
        stdout.contains("## tasks  2 long tasks (over 50 ms); blocking time 160.00 ms"),
        "{stdout}"
    );
    assert!(stdout.contains("Function call > Layout (30.00 ms)"), "{stdout}");
    assert!(stdout.contains("unknown: navigationStart is missing"), "{stdout}");
    let few = folder.run("report -n 1 tasks.json").ends(0).stdout;
    assert!(few.contains("r-8") && !few.contains("r-3"), "{few}");
}

#[test]
fn clang_builds_are_reported_by_file() {
    let folder = folder();
    let sections = |report: &Value| -> Vec<String> {
        let all = report["sections"].as_array().expect("sections");
        all.iter().map(|section| section["id"].as_str().expect("an id").to_owned()).collect()
    };
    let whole = json(&folder, "build");
    let expected = [
        "sources",
        "templates",
        "template-sets",
        "functions",
        "function-sets",
        "headers",
        "hot",
        "path",
        "threads",
    ];
    assert_eq!(
        (&whole["producer"], sections(&whole)),
        (&"clang".into(), expected.map(str::to_owned).to_vec())
    );
    assert_eq!(whole["sections"][0]["figures"]["runs"], 3);
    // a source file has one row, though its front end runs twice
    let sources = whole["sections"][0]["rows"].as_array().expect("rows");
    let files: HashSet<String> = sources.iter().map(|row| row[4].to_string()).collect();
    assert_eq!((sources.len(), files.len()), (3, 3), "{sources:?}");
    // in one trace, files are distinguished by process
    folder.run("merge -q build -o build.json").ends(0);
    let merged = json(&folder, "build.json");
    for at in 0..6 {
        let (section, merged_section) = (&whole["sections"][at], &merged["sections"][at]);
        assert_eq!(section["figures"], merged_section["figures"]);
        let times = |section: &Value| -> Vec<Value> {
            let rows = section["rows"].as_array().expect("rows");
            rows.iter().map(|row| row[0].clone()).collect()
        };
        assert_eq!(times(section), times(merged_section));
    }
    let file = merged["sections"][0]["rows"][0][4].as_str().expect("a file");
    assert!(file.starts_with("build.json (process "), "{file}");
    // sums on separate threads of clang are no work
    let stdout = folder.run("report build/unity.json").ends(0).stdout;
    assert!(!stdout.contains("Total ") && stdout.contains("\n## headers  "), "{stdout}");
    assert!(stdout.contains("int power<int>(Matrix<int, 8>, unsigned int)"), "{stdout}");
    let stdout = folder.run("report --as clang tasks.json").ends(0).stdout;
    assert!(!stdout.contains("## sources") && stdout.contains("## hot"), "{stdout}");
}

#[test]
fn broken_limits_end_with_5() {
    let folder = folder();
    folder
        .run("report tasks.json --fail-on blocking>159ms")
        .ends(5)
        .says(&["FAILED blocking 160.00 ms, limit 159 ms"]);
    folder.run("report tasks.json --fail-on blocking>160ms --fail-on tasks>2").ends(0).quietly();
    folder
        .run("report tasks.json --fail-on self:Layout>29ms")
        .ends(5)
        .says(&["FAILED self of Layout 30.00 ms, limit 29 ms"]);
    folder.run("report tasks.json --fail-on self:Layout>29ms&count>1").ends(0).quietly();
    folder
        .run("report node.json --fail-on blocking>3600s")
        .ends(5)
        .says(&["FAILED blocking: unknown: the trace has no tasks"]);
    folder.run("report profiles --fail-on longest-block>10ms -o r.txt").ends(5);
    assert!(folder.read("r.txt").contains("## blocks"));
    folder
        .run("report tasks.json --fail-on lcp>2.5s")
        .ends(5)
        .says(&["FAILED lcp: unknown: navigationStart is missing"]);
    folder.run("report tasks.json --fail-on cls>0.1").ends(0).quietly();
    let wrong = folder.run("report tasks.json --fail-on self>5%").ends(2);
    assert!(wrong.stderr.contains("a share is of a base"), "{}", wrong.stderr);
    let wrong = folder.run("report tasks.json --fail-on speed>5ms").ends(2);
    assert!(wrong.stderr.contains("expected METRIC"), "{}", wrong.stderr);
}

#[test]
fn reports_do_not_depend_on_limits() {
    let folder = folder();
    for input in INPUTS {
        let stdout = folder.run(&format!("report --json {input}")).ends(0).stdout;
        for knobs in ["-@1", "-@3 -m64M"] {
            let other = folder.run(&format!("report --json {knobs} {input}")).ends(0).stdout;
            assert_eq!(stdout, other, "{knobs} {input}");
        }
    }
    let piped = folder.pipe("report --json -", TASKS).ends(0).stdout;
    let read = folder.run("report --json tasks.json").stdout.replace("tasks.json", "-");
    let [piped, read] = [piped, read].map(|text| text.replace("standard input", "-"));
    assert_eq!(piped.lines().count(), read.lines().count(), "{piped}");
}

#[test]
fn producers_can_be_given() {
    let folder = folder();
    let report = json(&folder, "--as generic tasks.json");
    assert_eq!(report["producer"], "generic");
    assert!(report.to_string().contains("\"slices\""), "{report}");
    folder.run("report --as emacs tasks.json").ends(2);
    let run = folder.run("report --tid 77 tasks.json").ends(1);
    assert!(run.stderr.contains("nothing matches --tid 77"), "{}", run.stderr);
    let folder = folder.with("empty.json", "[]");
    folder.run("report empty.json").ends(1);
    // without idle samples, blocked time is unknown
    let profile = std::fs::read_to_string(testdata().join("quirks/cpuprofile-minimal.cpuprofile"));
    let folder = folder.with("p.cpuprofile", profile.expect("a profile"));
    let stdout = folder.run("report p.cpuprofile").ends(0).stdout;
    assert!(stdout.contains("unknown: 1 CPU profile has no (idle) samples"), "{stdout}");
}

#[test]
fn limits_on_missing_values_are_broken() {
    let folder = folder();
    let failed = |words: &str, part: &str| {
        let run = folder.run(&format!("report -q tasks.json -o page.txt -f {words}")).ends(5);
        run.says(&["tracemill: FAILED ", part]);
    };
    failed("--fail-on self:nosuch>1s", "self:nosuch>1s: no row has this name (the trace has ");
    failed("--fail-on self:FunctionCal$>1s", "did you mean FunctionCall?");
    failed("--fail-on busy>1s --from 70ms --to 80ms", "no thread has an event in the window");
    failed("--fail-on self:Layout>1s --from 10m", "no thread has an event in the window");
    let name = [".", "FunctionCall"];
    for name in name.into_iter().chain(["^Function.call$"]) {
        let words = format!("report tasks.json -o page.txt -f --fail-on self:{name}>1s");
        folder.run(&words).ends(0).quietly();
    }
}

#[test]
fn device_limits_may_be_lower_bounds() {
    let folder = folder();
    let run = |words: &str| folder.run(&format!("report rank-0.json -o page.txt -f {words}"));
    run("--fail-on gpu.idle>1s --fail-on gpu.overlap<50").ends(0);
    let stderr = run("--fail-on gpu.idle>300us --fail-on gpu.overlap<60").ends(5).stderr;
    assert!(stderr.contains("FAILED gpu.idle 0.39 ms, limit 0.3 ms"), "{stderr}");
    assert!(stderr.contains("FAILED gpu.overlap 59.11, lower limit 60"), "{stderr}");
    let stderr = folder.run("report node.json -o page.txt -f --fail-on gpu.idle>1s").ends(5).stderr;
    assert!(stderr.contains("unknown: the trace has no kernels"), "{stderr}");
    let stderr = folder
        .run("diff rank-0.json rank-1.json --any --fail-on gpu.overlap<1% -o rows.txt")
        .ends(5)
        .stderr;
    assert!(stderr.contains("FAILED gpu.overlap 59.11 -> 56.66"), "{stderr}");
    folder.run("diff rank-0.json rank-1.json --any --fail-on gpu.idle>1us -o page.txt -f").ends(0);
    for (wrong, expected) in [
        ("--kernel-gap -1us", "expected a duration that is not negative"),
        ("--kernel-gap x", "expected a time"),
        ("--last-step some", "keep, drop"),
    ] {
        let stderr = folder.run(&format!("report rank-0.json {wrong}")).ends(2).stderr;
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn names_in_tables_never_become_markup() {
    let event = |name: &str, ts: u64| {
        format!(
            r#"{{"name":"{name}","cat":"c","ph":"X","pid":1,"tid":1,"ts":{ts},"dur":900,"args":{{}}}}"#
        )
    };
    let names = ["std::vector<int>", "__init__", "@team/core", "a|b", "plain name"];
    let events: Vec<String> = (1..).zip(names).map(|(at, name)| event(name, 1000 * at)).collect();
    let folder = Folder::new().with("t.json", format!("[{}]", events.join(",\n")));
    for verb in ["top", "tree", "tree --bottom-up", "report"] {
        let text = folder.run(&format!("{verb} --markdown t.json")).ends(0).stdout;
        for shown in [
            "| `std::vector<int>` |",
            "| `__init__` |",
            "| `@team/core` |",
            "| <code>a&#124;b</code> |",
            "| plain name |",
        ] {
            assert!(text.contains(shown), "{verb}: {shown}\n{text}");
        }
    }
}

/// A path shows a thousand rows and the number of deeper ones.
#[test]
fn deep_paths_are_cut_with_a_count() {
    let event = |depth: u32| {
        let (ts, dur) = (depth, 3000 - 2 * depth);
        format!(r#"{{"ph":"X","name":"f{depth}","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let events: Vec<String> = (0..1200).map(event).collect();
    let folder = Folder::new().with("deep.json", format!("[{}]", events.join(",")));
    let tree = folder.run("tree --heaviest deep.json").ends(0).stdout;
    assert!(tree.trim_end().ends_with("… and 200 rows deeper"), "{tree}");
    assert!(tree.contains("f999") && !tree.contains("f1000"), "{tree}");
    let report = folder.run("report deep.json --json").ends(0).stdout;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let sections = report["sections"].as_array().expect("sections");
    let path = sections.iter().find(|section| section["id"] == "path").expect("a path");
    let rows = path["rows"].to_string();
    assert!(rows.contains(r#""left_out":200"#) && rows.contains(r#""name":"f999""#), "{rows}");
}
