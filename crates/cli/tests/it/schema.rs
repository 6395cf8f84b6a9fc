//! Checks that the tables of `docs/json.md` list exactly the keys that verbs write, with their types.

use crate::support::{Folder, Run, testdata};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

/// Objects whose keys come from the trace or are names of kinds: `*` in paths.
const MAPS: [&str; 6] = ["phases", "pids", "ids", "changes", "dropped", "replaced"];

/// Values that the page names and these runs do not write.
#[rustfmt::skip]
const ABSENT: [&str; 13] = [
    "adjust-compression", "base-time", "clock-sync", "faster", "fewer", "long", "more", "neither", "slower", "time", "user", "video-format", "zstd",
];

/// A page with a paint, a layout shift and a click.
const PAGE: &str = r#"[
{"ph":"M","name":"thread_name","cat":"__metadata","pid":7,"tid":7,"ts":0,"args":{"name":"CrRendererMain"}},
{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":1000,"args":{"data":{"frames":[{"frame":"F","url":"http://a.test/","name":"","processId":7,"isInPrimaryMainFrame":true,"isOutermostMainFrame":true}]}}},
{"ph":"R","name":"navigationStart","cat":"blink.user_timing","pid":7,"tid":7,"ts":2000,"args":{"frame":"F","data":{"navigationId":"N","documentLoaderURL":"http://a.test/","isOutermostMainFrame":true}}},
{"ph":"I","s":"t","name":"ResourceSendRequest","cat":"c","pid":7,"tid":7,"ts":3000,"args":{"data":{"requestId":"N","frame":"F","url":"http://a.test/","priority":"High"}}},
{"ph":"I","s":"t","name":"ResourceReceiveResponse","cat":"c","pid":7,"tid":7,"ts":4000,"args":{"data":{"requestId":"N","encodedDataLength":100,"mimeType":"text/html","statusCode":200,"timing":{"requestTime":0.003,"sendStart":0,"sendEnd":0.1,"receiveHeadersEnd":0.9}}}},
{"ph":"I","s":"t","name":"ResourceFinish","cat":"c","pid":7,"tid":7,"ts":5000,"args":{"data":{"requestId":"N","encodedDataLength":512,"finishTime":0.005}}},
{"ph":"R","name":"firstContentfulPaint","cat":"loading","pid":7,"tid":7,"ts":50000,"args":{"frame":"F","data":{"navigationId":"N"}}},
{"ph":"R","name":"largestContentfulPaint::Candidate","cat":"loading","pid":7,"tid":7,"ts":50000,"args":{"frame":"F","data":{"candidateIndex":1,"isMainFrame":true,"isOutermostMainFrame":true,"navigationId":"N","nodeId":7,"size":9,"type":"text"}}},
{"ph":"I","s":"t","name":"LayoutShift","cat":"loading","pid":7,"tid":7,"ts":60000,"args":{"frame":"F","data":{"had_recent_input":false,"is_main_frame":true,"score":0.1,"weighted_score_delta":0.1}}},
{"ph":"b","id":"1","name":"EventTiming","cat":"devtools.timeline","pid":7,"tid":7,"ts":70000,"args":{"data":{"duration":90,"frame":"F","interactionId":5,"nodeId":0,"processingStart":71,"processingEnd":90,"timeStamp":70,"type":"click"}}},
{"ph":"e","id":"1","name":"EventTiming","cat":"devtools.timeline","pid":7,"tid":7,"ts":160000,"args":{}},
{"ph":"X","name":"RunTask","cat":"disabled-by-default-devtools.timeline","pid":7,"tid":7,"ts":71000,"dur":70000,"args":{}},
{"ph":"X","name":"FunctionCall","cat":"devtools.timeline","pid":7,"tid":7,"ts":72000,"dur":60000,"args":{}},
{"ph":"I","s":"t","name":"TimerInstall","cat":"devtools.timeline","pid":7,"tid":7,"ts":6000,"args":{"data":{"timerId":1,"stackTrace":[{"functionName":"f","url":"http://a.test/a.js","lineNumber":2,"columnNumber":3}]}}},
{"ph":"X","name":"TimerFire","cat":"devtools.timeline","pid":7,"tid":7,"ts":71500,"dur":65000,"args":{"data":{"timerId":1}}},
{"ph":"I","s":"t","name":"InvalidateLayout","cat":"devtools.timeline","pid":7,"tid":7,"ts":72500,"args":{"data":{"frame":"F","stackTrace":[{"functionName":"f","url":"http://a.test/a.js","lineNumber":3,"columnNumber":4}]}}},
{"ph":"X","name":"Layout","cat":"devtools.timeline","pid":7,"tid":7,"ts":73000,"dur":40000,"args":{"beginData":{"frame":"F"}}}]"#;

/// A kernel that an operator launches, called by Python.
const KERNEL: &str = r#"[{"ph":"X","name":"train.py(12): step","cat":"python_function","pid":9,"tid":9,"ts":1000,"dur":90},
{"ph":"X","name":"aten::add","cat":"cpu_op","pid":9,"tid":9,"ts":1001,"dur":50},
{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":9,"tid":9,"ts":1002,"dur":5,"args":{"correlation":1}},
{"ph":"X","name":"add","cat":"kernel","pid":0,"tid":7,"ts":1010,"dur":30,"args":{"correlation":1,"stream":7}}]"#;

/// A step with a collective on a rank without a number. The other rank has a longer kernel.
const RANK: &str = r#"[{"ph":"X","name":"ProfilerStep#1","cat":"user_annotation","pid":9,"tid":9,"ts":1000,"dur":90},
{"ph":"X","name":"ncclDevKernel_AllReduce","cat":"kernel","pid":0,"tid":7,"ts":1010,"dur":30,"args":{"stream":7}}]"#;

const BAZEL: &str = r#"[{"ph":"X","name":"Launch","cat":"build phase marker","pid":1,"tid":1,"ts":0,"dur":1000},
{"ph":"X","name":"link","cat":"action processing","pid":1,"tid":2,"ts":2000,"dur":3000},
{"ph":"X","name":"action 'link'","cat":"critical path component","pid":1,"tid":3,"ts":2000,"dur":3000}]"#;

/// An event, an annotation of another one, and a loss.
const NOTES: &str = r#"{"traceEvents":[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":5}],"metadata":{"dataLossOccurred":true,"modifications":
{"entriesModifications":{"hiddenEntries":["r-7"],"expandableEntries":[]},"initialBreadcrumb":{"window":{"min":1,"max":6,"range":5},"child":null}}}}"#;

/// A CPU profile with a sample of a missing node.
const FLAWED: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],
"startTime":1,"endTime":5000,"samples":[1,7,1],"timeDeltas":[0,1000,1000]}"#;

/// A CPU profile of a busy function.
const BUSY: &str = r#"{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2,3]},
{"id":2,"callFrame":{"functionName":"serve","scriptId":"7","url":"a.js","lineNumber":1,"columnNumber":1}},
{"id":3,"callFrame":{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}],
"startTime":1000,"endTime":301000,"samples":[2,2,2],"timeDeltas":[0,100000,100000]}"#;

/// A key of a kind of output. The group is a name that headings of the page have for several outputs.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    group: &'static str,
    output: String,
    path: String,
}

impl Key {
    fn is_of(&self, name: &str) -> bool {
        [self.group, &self.output].contains(&name)
    }
}

/// Types of the keys that verbs wrote, and the words that are values or keys of maps.
#[derive(Default)]
struct Seen {
    types: BTreeMap<Key, BTreeSet<&'static str>>,
    words: BTreeSet<String>,
}

impl Seen {
    fn add(&mut self, of: &Key, value: &Value) {
        // nodes of nested trees contain nodes
        let path = of.path.replace(".children[].children[]", ".children[]");
        let key = Key { path, ..of.clone() };
        let inner = |step: &str| Key { path: key.path.clone() + step, ..key.clone() };
        let kind = match value {
            // an event as in the trace
            Value::Object(_) if key.path.ends_with(".written") => "object",
            Value::Object(members) => {
                let is_map = MAPS.contains(&key.path.rsplit('.').next().unwrap_or_default());
                for (name, value) in members {
                    let separator = if key.path.is_empty() { "" } else { "." };
                    let step = if is_map { "*" } else { name };
                    self.words.extend(is_map.then(|| name.clone()));
                    self.add(&inner(&format!("{separator}{step}")), value);
                }
                if members.is_empty() { "empty" } else { "object" }
            }
            Value::Array(values) => {
                values.iter().for_each(|value| self.add(&inner("[]"), value));
                if values.is_empty() { "empty" } else { "list" }
            }
            Value::String(word) => {
                self.words.insert(word.clone());
                "string"
            }
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::Bool(_) => "boolean",
            Value::Null => "null",
        };
        self.types.entry(key).or_default().insert(kind);
    }

    /// Adds the report of a verb.
    fn add_report(&mut self, report: &Value) {
        let verb = report["verb"].as_str().expect("a verb").to_owned();
        assert_eq!(report["schema"], 1, "{verb}");
        self.add(&Key { group: "--report", output: verb, path: String::new() }, report);
    }

    /// Adds printed JSON; sections of `report --json` count as an output each.
    fn add_printed(&mut self, output: &str, mut value: Value) {
        name_cells(&mut value, &Value::Null);
        let sections = value.as_object_mut().and_then(|members| members.remove("sections"));
        for section in sections.iter().flat_map(|sections| sections.as_array().expect("a list")) {
            let output = section["id"].as_str().expect("an id").to_owned();
            self.add(&Key { group: "sections", output, path: String::new() }, section);
        }
        self.add(&Key { group: "", output: output.to_owned(), path: String::new() }, &value);
    }

    /// Returns whether an output that is called `name` has the key of a row of the page.
    fn has(&self, name: &str, path: &str) -> bool {
        self.types.keys().any(|key| key.is_of(name) && key.path == path)
    }

    /// Returns whether an output had an empty list or nothing where the key could be.
    fn has_nothing_at(&self, name: &str, path: &str) -> bool {
        let is_within = |key: &Key| {
            path.strip_prefix(&key.path).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        let is_nothing = |kinds: &BTreeSet<_>| kinds.contains("empty") || kinds.contains("null");
        self.types.iter().any(|(key, kinds)| key.is_of(name) && is_within(key) && is_nothing(kinds))
    }
}

/// Turns rows that are lists into objects, by the `columns` in or above the object with the rows.
fn name_cells(value: &mut Value, columns: &Value) {
    match value {
        Value::Object(members) => {
            let columns = members.get("columns").unwrap_or(columns).clone();
            for (key, value) in members {
                for row in value.as_array_mut().filter(|_| key == "rows").into_iter().flatten() {
                    if let (Some(cells), Some(columns)) = (row.as_array(), columns.as_array()) {
                        assert_eq!(cells.len(), columns.len());
                        let names = columns.iter().filter_map(Value::as_str).map(str::to_owned);
                        *row =
                            Value::Object(names.zip(cells.iter().cloned()).collect::<Map<_, _>>());
                    }
                }
                name_cells(value, &columns);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| name_cells(value, columns)),
        _ => {}
    }
}

/// An event with the stack at its end.
const STACKS: &str = r#"{"stackFrames":{"1":{"name":"f","category":"lib.so","line":3}},"traceEvents":[
{"ph":"X","name":"e","cat":"c","pid":1,"tid":1,"ts":1,"dur":2,"esf":1}]}"#;

/// A folder with the inputs of [`all_output`].
fn folder() -> Folder {
    let folder = Folder::new();
    ["mixed", "pods", "pods/a", "pods/b"].iter().for_each(|name| drop(folder.folder(name)));
    folder
        .with("parties.json", crate::parties::PAGE)
        .with("async.json", crate::one_answer::ASYNC)
        .with("tasks.json", crate::show::TASKS)
        .with("pairs.json", crate::show::PAIRS)
        .with("stacks.json", STACKS)
        .with("page.json", PAGE)
        .with("insights.json", crate::insights::page())
        .with("bazel.json", BAZEL)
        .with("kernel.json", KERNEL)
        .with("last.json", RANK)
        .with("pods/a/busy.cpuprofile", BUSY)
        .with("pods/b/idle.cpuprofile", BUSY.replace("[2,2,2]", "[3,3,3]"))
        .with("waits.json", RANK.replace("\"dur\":30", "\"dur\":50"))
        .with("mixed/notes.json", NOTES)
        .with("mixed/flawed.cpuprofile", FLAWED)
}

/// Runs all verbs and collects their reports, manifests and printed JSON.
fn all_output() -> Seen {
    let folder = folder();
    let mut seen = Seen::default();
    add_reports(&folder, &mut seen);
    for (output, file) in [
        ("merge --write-manifest", "m.json"),
        ("split --manifest", "tids.json"),
        ("split --manifest", "cats.json"),
    ] {
        seen.add_printed(output, json(&folder, file));
    }
    add_tables(&folder, &mut seen);
    seen
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).expect("JSON")
}

pub(crate) fn data(name: &str) -> String {
    testdata().join(name).display().to_string()
}

/// Runs all verbs with `--report`.
fn add_reports(folder: &Folder, seen: &mut Seen) {
    let [node, other] = ["node/trace.json", "node/trace-2.json"].map(data);
    let [broken, lapsed] = ["quirks/truncated-in-args.json", "quirks/nan-infinity.json"].map(data);
    let [orphans, gzip] = ["cases/profile-with-lost-chunks.json", "quirks/gzip.json.gz"].map(data);
    let chromium = data("chromium/trace.json.gz");
    for words in [
        format!(
            "merge {node} {other} --for devtools --provenance --write-manifest m.json --args-key none --pid offset"
        ),
        format!("merge {broken} {lapsed} -z gz --label {broken}=x"),
        format!("merge {node} {other} --align marker:nodeStart"),
        format!("merge {node} {other} --align start --scale {other}=1.5"),
        format!("merge {node} {other} --offset {other}=1ms"),
        format!("merge {node} mixed"),
        format!("filter {node} --min-dur 1ms --shrink-to 100K --cat nothing"),
        format!("slice {node} --from 60ms --duration 50ms"),
        format!("slice {orphans} --from 50us --duration 100us"),
        format!("slice {node} --from 60ms --duration 50ms --edges drop"),
        format!("split {node} --by tid -d parts --for perfetto --manifest tids.json"),
        format!("split {node} --by cat -d cats --manifest cats.json"),
        format!("convert {node} -z zst"),
        format!("convert {node} --format perfetto"),
        format!("redact {chromium} --also Node"),
        format!("slice {chromium} --from 200ms --duration 300ms --for devtools -o sliced.json"),
        "info sliced.json".to_owned(),
        "info mixed".to_owned(),
        format!("info --full {node}"),
        "index mixed".to_owned(),
        format!("index {gzip}"),
        "check mixed".to_owned(),
        format!("check --for devtools --for perfetto {node} {broken}"),
        format!("profile list {orphans}"),
        format!("profile extract {node} --pid 5389"),
        format!("report {node}"),
        format!("top {node}"),
        format!("tree {node}"),
        format!("flame {node}"),
        format!("calls {node}"),
        format!("diff {node} {other}"),
        format!("show {node} --at 150ms"),
        format!("view {node} --no-open --idle 1ms"),
        format!("info --json --full {node}"),
        format!("check --json {broken}"),
        format!("profile list --json {node}"),
    ] {
        let names_outputs = words.contains(" -o ") || words.starts_with("split");
        let has_no_output = words == "index mixed" || words.starts_with("view");
        let output = if names_outputs || has_no_output { "" } else { " -o out" };
        let replace = if words.starts_with("view") { "" } else { " -f" };
        let _ = std::fs::remove_file(folder.path("report.json"));
        folder.run(&format!("{words}{output} --report report.json{replace}"));
        seen.add_report(&json(folder, "report.json"));
        if words.contains("--provenance") {
            seen.add_printed(
                "merge --provenance",
                json(folder, "out")["metadata"]["tracemill"].clone(),
            );
        }
        if words.contains("--json") {
            seen.add_report(&json(folder, "out"));
        }
    }
}

/// Runs the verbs that print tables.
fn add_tables(folder: &Folder, seen: &mut Seen) {
    let [node, other] = ["node/trace.json", "node/trace-2.json"].map(data);
    let [chromium, pytorch] = ["chromium/trace.json.gz", "pytorch/rank-0.json"].map(data);
    for (output, words) in [
        ("calls --rows", node.clone()),
        ("top --json", chromium.clone()),
        ("top --json", node.clone()),
        ("tree --json", node.clone()),
        ("tree --json", format!("{node} --log")),
        ("tree --json=nested", node.clone()),
        ("diff --json", format!("{node} {other}")),
        ("show --json", format!("{chromium} r-7938 r-3424 r-4817 r-5870 p-5962-5962-4-5")),
        ("show --json", "tasks.json r-7 p-1-1-0-2".to_owned()),
        ("show --json", "pairs.json r-2 r-3 --at 6us".to_owned()),
        ("show --json", "stacks.json r-0".to_owned()),
        ("show --json", format!("{} r-0", data("quirks/nan-infinity.json"))),
        ("show --causes", chromium.clone()),
        ("show --causes", "tasks.json".to_owned()),
        ("top --async --json", "async.json".to_owned()),
        ("top --by CAUSE --json", "tasks.json".to_owned()),
        ("report --json", format!("{node} --times exact")),
        ("report --json", chromium),
        ("report --json", data("clang/14")),
        ("report --json", format!("{pytorch} {} -n 9", data("pytorch/rank-1.json"))),
        ("report --json", "last.json waits.json".to_owned()),
        ("report --json", "pods".to_owned()),
        ("report --json", format!("{pytorch} kernel.json")),
        ("report --json", data("node-cpu-prof")),
        ("report --json", data("cases/page-without-navigation.json")),
        ("report --json", data("cases/whole.json")),
        ("report --json", data("quirks/nan-infinity.json")),
        ("report --json", "parties.json".to_owned()),
        ("report --json", "page.json".to_owned()),
        ("report --json", "insights.json".to_owned()),
        ("report --json", format!("{} -n 9", data("tracks/page.json"))),
        ("top --track NAME --json", data("tracks/page.json")),
        ("report --json", "bazel.json".to_owned()),
        ("report --json", "kernel.json".to_owned()),
    ] {
        let verb = output.replace("CAUSE", "caller").replace("NAME", "gpu");
        let values = printed(&folder.run(&format!("{verb} {words}")));
        assert!(!values.is_empty(), "{output} {words}");
        for value in values {
            // rows of calls are lists, which the page describes
            if value.is_object() {
                seen.add_printed(output, value);
            }
        }
    }
}

/// Parses the printed JSON: one value, or one per line.
#[track_caller]
fn printed(run: &Run) -> Vec<Value> {
    if let Ok(value) = serde_json::from_str(&run.stdout) {
        return vec![value];
    }
    let line = |line| serde_json::from_str(line).expect("JSON");
    run.stdout.lines().map(line).collect()
}

/// A key in a table of the page.
struct Row<'p> {
    /// Names of outputs or groups, from the heading.
    outputs: Vec<&'p str>,
    path: String,
    types: Vec<&'p str>,
}

/// Returns the words between pairs of a separator.
fn between(text: &str, separator: char) -> impl Iterator<Item = &str> {
    text.split(separator).skip(1).step_by(2)
}

/// Returns the rows of all tables, one for each key.
fn rows_of(page: &str) -> Vec<Row<'_>> {
    let (mut rows, mut outputs) = (Vec::new(), Vec::new());
    for line in page.lines() {
        if line.starts_with('#') {
            outputs = between(line, '`').collect();
        } else if line.starts_with("| `") {
            let cells: Vec<&str> = line.split(" | ").collect();
            let first = between(cells[0], '`').next().unwrap_or_default();
            let parent = first.rsplit_once('.').map_or("", |(parent, _)| parent);
            for path in between(cells[0], '`') {
                let parent = if path.starts_with('.') { parent } else { "" };
                let (path, types) = (format!("{parent}{path}"), cells[1].split(" or ").collect());
                rows.push(Row { outputs: outputs.clone(), path, types });
            }
        }
    }
    rows
}

#[test]
fn the_page_lists_exactly_the_written_keys() {
    let seen = all_output();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page of keys");
    let rows = rows_of(&page);
    let mut wrong = String::new();
    for (key, kinds) in &seen.types {
        let row = rows
            .iter()
            .find(|row| row.path == key.path && row.outputs.iter().any(|name| key.is_of(name)));
        let kinds: Vec<&str> = kinds.iter().copied().filter(|kind| *kind != "empty").collect();
        let is_container = kinds.iter().all(|kind| ["object", "list"].contains(kind));
        let is_listed = |kind: &&str| {
            row.is_some_and(|row| {
                row.types.contains(kind) || (*kind == "integer" && row.types.contains(&"number"))
            })
        };
        if !(kinds.iter().all(is_listed) || row.is_none() && is_container) {
            let Key { output, path, .. } = key;
            writeln!(wrong, "not on the page: {output}: | `{path}` | {} | |", kinds.join(" or "))
                .expect("a text");
        }
    }
    for Row { outputs, path, .. } in &rows {
        let is_somewhere = outputs.iter().any(|name| seen.has(name, path));
        for name in outputs {
            if !is_somewhere || !(seen.has(name, path) || seen.has_nothing_at(name, path)) {
                writeln!(wrong, "only on the page: {name}: {path}").expect("a text");
            }
        }
    }
    let is_word = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    let words: BTreeSet<&str> = between(&page, '"').filter(is_word).collect();
    for word in words.into_iter().filter(|word| seen.words.contains(*word) == ABSENT.contains(word))
    {
        writeln!(wrong, "only on the page, or needlessly in ABSENT: {word:?}").expect("a text");
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(rows.len() > 300, "{}", rows.len());
}

#[test]
fn reports_are_the_same_but_for_seconds() {
    let node = testdata().join("node/trace.json").display().to_string();
    let folder = Folder::new();
    for words in [format!("info --full --json {node}"), format!("check --json {node}")] {
        let run = || {
            let run = folder.run(&words);
            let mut report: Value = serde_json::from_str(&run.stdout).expect("JSON");
            report["seconds"] = Value::Null;
            report
        };
        assert_eq!(run(), run(), "{words}");
    }
}
