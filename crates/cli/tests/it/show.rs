//! Runs `show`: pages of events, their JSON, and causes of all events.

use crate::commands::shell;
use crate::support::{Folder, testdata};
use crate::terminal::lines;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A function that schedules a task, and the run of that task.
pub(crate) const TASKS: &str = r#"[{"ph":"P","name":"Profile","cat":"p","id":"0x1","pid":1,"tid":1,"ts":0,"args":{"data":{"startTime":0}}},
{"ph":"P","name":"ProfileChunk","cat":"p","id":"0x1","pid":1,"tid":1,"ts":0,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","url":"","scriptId":"0","lineNumber":-1,"columnNumber":-1}},
{"id":2,"parent":1,"callFrame":{"functionName":"main","url":"http://a.test/a.js","scriptId":"5","lineNumber":1,"columnNumber":4}},
{"id":3,"parent":1,"callFrame":{"functionName":"tick","url":"http://a.test/a.js","scriptId":"5","lineNumber":8,"columnNumber":2}}],"samples":[2,2,1,3,3,1]},"timeDeltas":[110,50,60,100,50,50]}}},
{"ph":"X","name":"FunctionCall","cat":"c","pid":1,"tid":1,"ts":100,"dur":100,"args":{"data":{"functionName":"main","url":"http://a.test/a.js","scriptId":"5","lineNumber":2,"columnNumber":5}}},
{"ph":"X","name":"v8::Debugger::AsyncTaskScheduled","cat":"c","pid":1,"tid":1,"ts":150,"dur":1,"args":{"taskName":"Promise.then"}},
{"ph":"s","name":"task","id":7,"cat":"c","pid":1,"tid":1,"ts":150},
{"ph":"X","name":"v8::Debugger::AsyncTaskRun","cat":"c","pid":1,"tid":1,"ts":300,"dur":90,"args":{}},
{"ph":"f","name":"task","id":7,"cat":"c","pid":1,"tid":1,"ts":300},
{"ph":"X","name":"FunctionCall","cat":"c","pid":1,"tid":1,"ts":301,"dur":80,"args":{"data":{"functionName":"tick","url":"http://a.test/a.js","scriptId":"5","lineNumber":9,"columnNumber":3}}},
{"ph":"B","name":"pair","cat":"c","pid":1,"tid":1,"ts":160,"args":{}},{"ph":"E","name":"pair","cat":"c","pid":1,"tid":1,"ts":170,"args":{}}]"#;

/// A pair of B and E around a complete event, and an async operation on a thread of its own.
pub(crate) const PAIRS: &str = r#"[{"ph":"B","name":"a","cat":"c","pid":1,"tid":"x","ts":1,"args":{}},{"ph":"E","name":"a","cat":"c","pid":1,"tid":"x","ts":9,"args":{}},
{"ph":"X","name":"b","cat":"c","pid":1,"tid":"x","ts":2,"dur":3,"args":{}},
{"ph":"b","name":"op","id":1,"cat":"c","pid":1,"tid":9,"ts":3}]"#;

/// Keys of the trace of Chromium.
const LAYOUT: &str = "r-4819";
const STYLE: &str = "r-4817";
const REQUEST: &str = "r-3424";
const TIMER: &str = "r-5870";
const CALL: &str = "p-5962-5962-4-5";

fn chromium() -> Vec<u8> {
    std::fs::read(testdata().join("chromium/trace.json.gz")).expect("a trace")
}

pub(crate) fn folder() -> Folder {
    Folder::new()
        .with("page.json.gz", chromium())
        .with("tasks.json", TASKS)
        .with("pairs.json", PAIRS)
}

/// Returns the events of `show --json`.
#[track_caller]
pub(crate) fn events(folder: &Folder, words: &str) -> Vec<Value> {
    let run = folder.run(&format!("show -q --json {words}")).ends(0);
    let value: Value = serde_json::from_str(&run.stdout).expect("JSON");
    value["events"].as_array().expect("a list").clone()
}

/// Returns the rows of `show --causes`.
#[track_caller]
pub(crate) fn causes(folder: &Folder, words: &str) -> Vec<Value> {
    let run = folder.run(&format!("show -q --causes {words}")).ends(0);
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn time_is_summed_up_by_the_function_or_event_that_caused_it() {
    let folder = folder();
    let rows = |by: &str, words: &str| {
        let run = folder.run(&format!("top -q --by {by} --csv {words}")).ends(0);
        run.stdout.lines().skip(1).map(str::to_owned).collect::<Vec<String>>()
    };
    let calls = rows("caller", "--text FunctionCall tasks.json");
    let causes: Vec<&str> = calls.iter().filter_map(|row| row.split(',').nth(3)).collect();
    assert_eq!(causes, ["tick", "main"], "a call names its function");
    let ticks = rows("caller", "--text tick tasks.json");
    assert!(ticks.iter().all(|row| row.ends_with("1,main,http://a.test/a.js:2:5")), "{ticks:?}");
    assert_eq!(ticks.len(), 1, "main scheduled the task that runs tick");
    let counts = |by: &str| {
        let rows = rows(by, "page.json.gz");
        let counts = rows.iter().map(|row| row.split(',').nth(2).expect("a count").to_owned());
        counts.map(|count| count.parse::<u64>().expect("a count")).sum::<u64>()
    };
    assert_eq!(counts("caller"), counts("initiator"));
    let layouts = rows("caller", "--text Layout page.json.gz");
    assert!(
        layouts.iter().any(|row| row.contains("layout,http://demo.test/app.js")),
        "{layouts:?}"
    );
    folder.run("top --by caller --group-by url page.json.gz").ends(2);
    folder.run("top -q --by caller --text nothing page.json.gz").ends(1);
}

#[test]
fn a_page_shows_a_timer_with_its_cause_and_the_next_commands() {
    let folder = folder();
    let page = folder.run(&format!("show -q page.json.gz {TIMER}")).ends(0).stdout;
    let expected = "\
Timer fired  r-5870
  thread      CrRendererMain (Renderer 5962)
  time        260.59 ms after the trace start, duration 702.00 µs, self 27.00 µs, CPU 700.00 µs
  category    devtools.timeline
  args
    \"data\": {
      \"frame\": \"D72CB2D489E63B8090F58E91C2B042ED\",
      \"timerId\": 1
    }
  started by
    TimerInstall                           r-5055 20.23 ms before
  inside      outermost first
    Task                                   r-5868 729.00 µs
    ThreadControllerImpl::RunTask          r-5869 718.00 µs
  children    by time
    Function call                             1 × 675.00 µs
    UpdateCounters                            1 ×
  next
    tracemill show page.json.gz r-5055
    tracemill slice page.json.gz --event r-5870 -o around.json
";
    assert_eq!(page, expected);
    assert_eq!(folder.run(&format!("show -q page.json.gz --event {TIMER}")).stdout, page);
    assert_eq!(folder.run(&format!("show -q {TIMER} page.json.gz")).stdout, page);
}

#[test]
fn pages_show_stacks_and_initiators() {
    let folder = folder();
    for (key, parts) in [
        (
            LAYOUT,
            &[
                "Layout  r-4819",
                "    layout                           http://demo.test/app.js:3:16\n    (anonymous)                      http://demo.test/app.js\n",
                "    ScheduleStyleRecalculation             r-4816 42.00 µs before\n",
                "    layout                           p-5962-5962-19-22 3.60 ms\n",
            ][..],
        ),
        (STYLE, &["Recalculate style  r-4817", "  started by\n    ScheduleStyleRecalculation "]),
        (REQUEST, &["Send request  r-3424", "    ResourceSendRequest                    r-3123 "]),
        (CALL, &["fibonacci  p-5962-5962-4-5", "  stack\n    fibonacci   ", "app.js:2:19\n"]),
        (
            "r-5055",
            &["  started\n    TimerFire                              r-5870 20.23 ms after"],
        ),
    ] {
        let page = folder.run(&format!("show -q page.json.gz {key}")).ends(0).stdout;
        for part in parts {
            assert!(page.contains(part), "{key}: {part}\n{page}");
        }
    }
    let page = folder.run("show tasks.json r-7").ends(0).quietly().stdout;
    let stack = "  stack
    tick                             http://a.test/a.js:9:3
    scheduled as Promise.then by
    main                             http://a.test/a.js:2:5
  started by
    main                                p-1-1-0-2 191.00 µs before
";
    assert!(page.contains(stack), "{page}");
    // a thread without a flame chart
    let page = folder.run("show pairs.json r-3").ends(0).stdout;
    assert!(page.starts_with("op  r-3\n  thread      thread 9 (process 1)\n"), "{page}");
    let profile = testdata().join("node-cpu-prof").display().to_string();
    let page = folder.run(&format!("show -q {profile} --at 80ms --main")).ends(0).stdout;
    assert!(page.starts_with("fibonacci  p-19476-0-11-79\n"), "{page}");
    assert!(page.contains("    … 15 calls more (--full)\n"), "{page}");
}

#[test]
fn at_finds_the_innermost_event_of_the_selected_threads() {
    let folder = folder();
    for (words, name) in [
        ("tasks.json --at 155us", "main"),
        ("tasks.json --at @310", "FunctionCall"),
        ("tasks.json --at 300us", "v8::Debugger::AsyncTaskRun"),
        ("pairs.json --at 2us", "b"),
        ("pairs.json --at 5us", "a"),
        ("page.json.gz --at 237.28ms --main", "Layout"),
        ("page.json.gz --at 237.28ms --pid 5962 --tid 5962", "Layout"),
        ("page.json.gz --at 237.28ms --thread ^CrRendererMain$", "Layout"),
    ] {
        let found = events(&folder, words);
        let written = &found[0]["written"]["name"];
        let label = if written.is_null() { &found[0]["name"] } else { written };
        assert_eq!((found.len(), label), (1, &json!(name)), "{words}");
    }
    folder.run("show pairs.json --at 1s").ends(2).says(&["nothing runs 1.00 s after the trace"]);
    folder.run("show pairs.json --at 2us --tid 9").ends(2).says(&["on the selected threads"]);
}

#[test]
fn wrong_command_lines_are_refused() {
    let folder = folder();
    for (words, message) in [
        ("", "which event? give a key (r-12)"),
        ("r-99999", "no event has the key r-99999; report and tree --log print"),
        ("p-1-1-7-2", "no event has the key p-1-1-7-2"),
        ("--event r-x", "no event has the key r-x"),
        ("r-2 --causes", "--causes writes all events"),
        ("r-2 --source-maps none", "cannot read source maps: none"),
    ] {
        let run = folder.run(&format!("show tasks.json {words}")).ends(2);
        assert_eq!(run.stdout, "", "{words}");
        run.says(&[message]);
    }
    for (words, message) in [
        ("r-2 --pid 1", "required arguments were not provided"),
        ("--causes --json", "cannot be used with"),
        ("r-2 --ful", "a similar argument exists: '--full'"),
        ("--at noon", "invalid value 'noon'"),
    ] {
        let run = folder.run(&format!("show tasks.json {words}")).ends(2);
        assert!(run.stdout.is_empty() && run.stderr.contains(message), "{words}: {}", run.stderr);
    }
    folder.run("show none.json r-2").ends(3);
}

/// A file with the name of a key is an input.
#[test]
fn files_come_before_keys() {
    let folder = folder().with("r-7", TASKS);
    folder.run("show r-7").ends(2).says(&["which event?"]);
    let names: Vec<Value> = ["r-7 r-2", "r-7 --event r-2"]
        .iter()
        .map(|words| events(&folder, words)[0]["written"]["ts"].clone())
        .collect();
    assert_eq!(names, [100, 100]);
}

/// Returns the rows of `show --causes` whose keys are unique.
fn rows_by_key(folder: &Folder, file: &str) -> BTreeMap<String, Value> {
    let rows = causes(folder, file);
    let (mut by_key, mut repeated) = (BTreeMap::new(), BTreeSet::new());
    for row in rows {
        let Some(key) = row["event"].as_str().map(str::to_owned) else { continue };
        if by_key.insert(key.clone(), row).is_some() {
            repeated.insert(key);
        }
    }
    by_key.retain(|key, _| !repeated.contains(key));
    by_key
}

#[test]
fn causes_equal_the_facts_of_single_events() {
    let folder = folder();
    let node = testdata().join("node/trace.json").display().to_string();
    for (file, least, step) in [("page.json.gz", 400, 9), (&*node, 100, 9), ("tasks.json", 6, 1)] {
        let rows = rows_by_key(&folder, file);
        assert!(rows.len() >= least, "{file}: {}", rows.len());
        let keys: Vec<&str> = rows.keys().step_by(step).map(String::as_str).collect();
        let found = events(&folder, &format!("{file} {}", keys.join(" ")));
        assert_eq!(found.len(), keys.len());
        for (key, event) in keys.into_iter().zip(found) {
            let row = &rows[key];
            assert_eq!(event["event"], row["event"], "{file}");
            assert_eq!(event["stack"], row["stack"], "{file} {key}");
            assert_eq!(event["parents"], row["parents"], "{file} {key}");
            // initiators of requests are outside the table
            if event["name"] != "Send request" {
                let initiator = &event["started_by"][0]["event"];
                assert_eq!(initiator, &row["initiator"], "{file} {key}");
            }
        }
    }
}

/// An event is among those that its initiator started.
#[test]
fn initiators_name_the_events_that_they_started() {
    let folder = folder();
    let rows = rows_by_key(&folder, "page.json.gz");
    let started: Vec<(&String, &str)> =
        rows.iter().filter_map(|(key, row)| Some((key, row["initiator"].as_str()?))).collect();
    assert!(started.len() > 100, "{}", started.len());
    let started: Vec<_> = started.into_iter().step_by(11).collect();
    let initiators: Vec<&str> = started.iter().map(|(_, initiator)| *initiator).collect();
    let found = events(&folder, &format!("page.json.gz {}", initiators.join(" ")));
    for ((key, _), initiator) in started.into_iter().zip(found) {
        let all = initiator["started"].as_array().expect("a list");
        assert!(all.iter().any(|event| event["event"] == **key), "{key}: {initiator}");
    }
}

#[test]
fn memory_and_threads_change_nothing() {
    let folder = folder();
    for words in [
        format!("page.json.gz {LAYOUT} {STYLE} {REQUEST} {TIMER} {CALL}"),
        format!("--json page.json.gz {LAYOUT} {STYLE} {REQUEST} {TIMER} {CALL}"),
        "--causes page.json.gz".to_owned(),
        "--causes tasks.json page.json.gz".to_owned(),
    ] {
        let run = |limits: &str| folder.run(&format!("show -q {words} {limits}")).ends(0).stdout;
        let plain = run("");
        assert!(plain.len() > 1000, "{words}");
        for limits in ["-m 32M -@ 1", "-m 32M -@ 7"] {
            assert_eq!(run(limits), plain, "{words} {limits}");
        }
    }
}

/// A pipe cannot be read again, so args are missing.
#[test]
fn pipes_show_everything_but_args() {
    let folder = folder();
    let keys = [LAYOUT, STYLE, REQUEST, TIMER, CALL].join(" ");
    let mut filed = events(&folder, &format!("page.json.gz {keys}"));
    filed.iter_mut().for_each(|event| event["written"] = Value::Null);
    for words in [keys.clone(), format!("- {keys}")] {
        let piped = folder.pipe(&format!("show -q --json {words}"), chromium()).ends(0).stdout;
        let piped: Value = serde_json::from_str(&piped).expect("JSON");
        assert_eq!(piped["events"], json!(filed), "{words}");
    }
    let page = folder.pipe(&format!("show -q - {TIMER}"), chromium()).ends(0).stdout;
    assert!(!page.contains("  args\n") && page.contains("  started by\n"), "{page}");
    assert!(page.ends_with("  next\n    tracemill show - r-5055\n"), "{page}");
}

#[test]
fn full_pages_have_all_lines_that_others_leave_out() {
    let folder = folder();
    let profile = testdata().join("node-cpu-prof").display().to_string();
    for (words, cuts) in [
        (format!("page.json.gz {LAYOUT}"), 1),
        (format!("page.json.gz {REQUEST}"), 2),
        (format!("{profile} --at 80ms --main"), 2),
    ] {
        let short = folder.run(&format!("show -q {words}")).ends(0).stdout;
        let full = folder.run(&format!("show -q --full {words}")).ends(0).stdout;
        assert!(!full.contains("--full"), "{full}");
        assert_eq!(short.matches(" more (--full)\n").count(), cuts, "{short}");
        let mut rest = full.lines();
        let (mut hidden, mut promised) = (full.lines().count(), 0);
        for line in short.lines() {
            if let Some(cut) = line.strip_suffix(" more (--full)") {
                let count = cut.split_whitespace().nth(1).expect("a number");
                promised += count.parse::<usize>().expect("a number");
                continue;
            }
            assert!(rest.any(|other| other == line), "{line}\n{full}");
            hidden -= 1;
        }
        assert_eq!(hidden, promised, "{words}");
    }
}

#[test]
fn pages_fit_the_terminal() {
    let page = testdata().join("chromium/trace.json.gz").display().to_string();
    let profile = testdata().join("node-cpu-prof").display().to_string();
    for words in [
        format!("show -q {page} {LAYOUT} {STYLE} {REQUEST} {TIMER} {CALL}"),
        format!("show -q {profile} --at 80ms --main"),
    ] {
        let wide = lines(&words, 1000);
        for columns in [60, 80] {
            let narrow = lines(&words, columns);
            let is_cut = |line: &&String| {
                line.chars().count() > usize::from(columns) && !line.starts_with("    tracemill ")
            };
            assert_eq!(narrow.iter().find(is_cut), None, "{words}, {columns}");
            assert_eq!(narrow.len(), wide.len(), "{words}, {columns}");
            for (narrow, wide) in narrow.iter().zip(&wide) {
                let start = narrow.strip_suffix('…').unwrap_or(narrow);
                assert!(wide.starts_with(start), "{columns}: {narrow}\n{wide}");
            }
        }
    }
}

#[test]
fn commands_on_pages_run() {
    let folder = folder().with("a b.json", TASKS);
    let mut ran = 0;
    let keys = [LAYOUT, STYLE, REQUEST, TIMER, CALL].join(" ");
    for words in [
        format!("page.json.gz {keys}"),
        "'a b.json' r-7".to_owned(),
        "tasks.json pairs.json r-7".to_owned(),
    ] {
        let page = shell(&folder, &format!("tracemill show -q {words}"));
        let page = String::from_utf8(page.stdout).expect("text");
        for line in page.lines().filter_map(|line| line.strip_prefix("    tracemill ")) {
            let output = shell(&folder, &format!("tracemill {} -q -f", line.trim()));
            let is_answer = !output.stdout.is_empty() || folder.path("around.json").exists();
            assert!(output.status.success() && is_answer, "{line}: {output:?}");
            ran += 1;
        }
    }
    assert_eq!(ran, 12);
}

/// Returns the events of a trace in file order.
fn written(folder: &Folder, name: &str) -> Vec<Value> {
    // half a surrogate pair, which serde_json refuses
    let text = folder.read(name).replace("\\ud83d", "");
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        return value.get("traceEvents").unwrap_or(&value).as_array().expect("a list").clone();
    }
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|event| event["ph"].is_string()).collect()
}

/// Returns name, stacks and causes of an event, without the keys of the file.
fn why(folder: &Folder, name: &str, event: &Value) -> Value {
    let all = written(folder, name);
    let is_it =
        |other: &Value| ["name", "ph", "ts", "tid"].iter().all(|key| other[key] == event[key]);
    let at = all.iter().position(is_it).expect("the event");
    let found = events(folder, &format!("{name} r-{at}")).remove(0);
    let names = |list: &str| -> Vec<Value> {
        found[list].as_array().expect("a list").iter().map(|event| event["name"].clone()).collect()
    };
    json!([found["name"], found["stack"], found["parents"], names("started_by"), names("around")])
}

/// Merges, conversions and slices keep the stack and the causes of an event.
#[test]
fn verbs_that_write_traces_keep_causes() {
    let folder = folder();
    let node = testdata().join("node/trace.json").display().to_string();
    folder.run("convert -q page.json.gz -o page.json").ends(0);
    folder.run(&format!("merge -q page.json {node} -o merged-page.json")).ends(0);
    folder.run(&format!("merge -q tasks.json {node} -o merged-tasks.json")).ends(0);
    for stem in ["page", "tasks"] {
        let to = format!("convert -q {stem}.json --format ndjson -o {stem}.ndjson");
        folder.run(&to).ends(0);
    }
    let mut compared = 0;
    for (stem, numbers) in [("page", &[4819, 4817, 3424, 5870, 6458][..]), ("tasks", &[7, 5])] {
        let all = written(&folder, &format!("{stem}.json"));
        for &number in numbers {
            let event = &all[number];
            let original = why(&folder, &format!("{stem}.json"), event);
            assert!(original[3].as_array().is_some_and(|causes| !causes.is_empty()));
            let ts = event["ts"].as_u64().expect("a time");
            // 30 ms before the event to 5 ms after its end: its causes are inside
            let from = ts.saturating_sub(30_000);
            let to = ts + event["dur"].as_u64().unwrap_or(0) + 5000;
            let cut =
                format!("slice -q {stem}.json --from @{from} --to @{to} -f -o slice-{stem}.json");
            folder.run(&cut).ends(0);
            for other in [
                format!("merged-{stem}.json"),
                format!("{stem}.ndjson"),
                format!("slice-{stem}.json"),
            ] {
                assert_eq!(why(&folder, &other, event), original, "{other} {event}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 21);
}

/// An event whose text is not JSON is shown as text.
#[test]
fn events_that_are_not_json_are_shown_as_text() {
    let event =
        r#"{"ph":"X","name":"n","cat":"c","pid":1,"tid":1,"ts":1,"dur":2,"args":{"v":NaN}}"#;
    let folder = Folder::new().with("a.json", format!("[{event}]"));
    assert_eq!(events(&folder, "a.json r-0")[0]["written"], event);
    let page = folder.run("show -q a.json r-0").ends(0).stdout;
    assert!(page.contains(&format!("  event\n  {event}\n")), "{page}");
}

/// Source maps change the names and positions of a stack.
#[test]
fn source_maps_name_stacks() {
    let folder = Folder::new();
    let maps = testdata().join("source-maps");
    let words = format!("{0}.cpuprofile --at 50ms", maps.join("esbuild").display());
    let site = |flags: &str| events(&folder, &format!("{words} {flags}"))[0]["stack"][0].clone();
    let mapped = site(&format!("--source-maps {}", maps.join("esbuild").display()));
    assert!(mapped[1].as_str().is_some_and(|url| url.ends_with(".ts")), "{mapped}");
    assert!(site("")[1].as_str().is_some_and(|url| url.ends_with("app.js")), "{}", site(""));
}

/// Ids of `stackFrames` belong to their document, before or after its events.
#[test]
fn events_have_the_stacks_that_they_name() {
    let events = |first: u64| {
        let members =
            [r#""sf":2"#, r#""stack":["0x1","0x2"],"esf":"1""#, r#""sf":9,"estack":["a"]"#];
        let event = |(at, members): (u64, &str)| {
            let ts = first + 10 * at;
            format!(
                r#"{{"ph":"X","name":"e","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":2,{members}}}"#
            )
        };
        (0..).zip(members).map(event).collect::<Vec<_>>().join(",")
    };
    let frames = |name: &str| {
        format!(
            r#""stackFrames":{{"1":{{"name":"main","category":"lib.so"}},"2":{{"name":"{name}","category":"lib.so","parent":"1","line":7}}}}"#
        )
    };
    let after = format!(r#"{{"traceEvents":[{}],{}}}"#, events(0), frames("f"));
    let before = format!(r#"{{{},"traceEvents":[{}]}}"#, frames("g"), events(5));
    let folder = Folder::new().with("after.json", &after).with("before.json", &before);
    let main = json!([["main", "lib.so", null, null]]);
    let named = |name: &str| json!([[name, "lib.so", 6, null], ["main", "lib.so", null, null]]);
    let list = json!([["0x2", null, null, null], ["0x1", null, null, null]]);
    let wanted = |name: &str| {
        [
            (named(name), json!([])),
            (list.clone(), main.clone()),
            (json!([]), json!([["a", null, null, null]])),
        ]
    };
    for (words, wanted) in [
        ("after.json r-0 r-1 r-2", wanted("f").to_vec()),
        ("before.json r-0 r-1 r-2", wanted("g").to_vec()),
        ("after.json before.json r-0 r-1 r-2 r-3 r-4 r-5", [wanted("f"), wanted("g")].concat()),
    ] {
        let found = self::events(&folder, words);
        let found: Vec<(Value, Value)> = found
            .iter()
            .map(|event| (event["stack"].clone(), event["end_stack"].clone()))
            .collect();
        assert_eq!(found, wanted, "{words}");
    }
    let page = folder.run("show -q after.json r-0 r-1").ends(0).stdout;
    let line =
        |name: &str, place: &str| format!("    {name:<32} {place}").trim_end().to_owned() + "\n";
    let start = format!("  stack\n{}{}", line("f", "lib.so:7"), line("main", "lib.so"));
    let end = format!(
        "  stack\n{}{}  stack at end\n{}",
        line("0x2", ""),
        line("0x1", ""),
        line("main", "lib.so")
    );
    assert!(page.contains(&start) && page.contains(&end), "{page}");
}
