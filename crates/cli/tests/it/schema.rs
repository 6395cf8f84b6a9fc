//! Checks that `docs/json.md` lists exactly the JSON keys that verbs write.

use crate::support::{Folder, Run, testdata};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

/// Objects whose keys come from the trace or are names of kinds.
const MAPS: [&str; 8] =
    ["phases", "pids", "ids", "changes", "dropped", "replaced", "modifications", "args"];

/// Words on the page that these runs do not write; those from the second line on are in reports on
/// pages, PyTorch and Bazel, which other tests cover.
#[rustfmt::skip]
const ABSENT: [&str; 21] = [
    "faster", "fewer", "long", "more", "neither", "slower", "user",
    "actions", "bazel", "components", "delay_ms", "dur_pct", "handling_ms", "load_delay_ms", "load_ms", "p98",
    "presentation_ms", "render_delay_ms", "start_us", "ttfb_ms", "worst",
];

/// Keys of the JSON outputs, and words for kinds, as values or as keys of maps.
#[derive(Default)]
struct Seen {
    keys: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Seen {
    fn add(&mut self, value: &Value, under: &str) {
        match value {
            Value::Object(members) => {
                // the args of `info --full` are a list of names
                let is_map = MAPS.contains(&under) && !members.contains_key("distinct");
                for (key, value) in members {
                    match is_map {
                        true => self.words.insert(key.clone()),
                        false => self.keys.insert(key.clone()),
                    };
                    self.add(value, key);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.add(value, under)),
            Value::String(word) => {
                self.words.insert(word.clone());
            }
            _ => {}
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

/// Runs all verbs and collects their JSON: reports, `--json`, manifests, rows of calls, provenance.
fn all_output() -> Seen {
    let path = |name: &str| testdata().join(name).display().to_string();
    let (node, other) = (path("node/trace.json"), path("node/trace-2.json"));
    let (broken, lapsed) =
        (path("quirks/truncated-in-args.json"), path("quirks/windows-backslash.json"));
    let (chromium, profiles) = (path("chromium/trace.json.gz"), path("node-cpu-prof"));
    let folder = Folder::new()
        .with("parties.json", crate::parties::PAGE)
        .with("async.json", crate::one_answer::ASYNC);
    let mut seen = Seen::default();
    for words in [
        format!(
            "merge {node} {other} --for devtools --provenance --write-manifest m.json --args-key none"
        ),
        format!("merge {broken} {lapsed} -z gz"),
        format!("merge {node} {other} --align marker:nodeStart"),
        format!("merge {node} {other} --align start"),
        format!("merge {node} {other} --offset {other}=1ms"),
        format!("filter {node} --min-dur 1ms --shrink-to 100K --cat nothing"),
        format!("slice {node} --from 60ms --duration 50ms"),
        format!("slice {node} --from 60ms --duration 50ms --edges drop"),
        format!("split {node} --by tid -d parts --for perfetto --manifest list.json"),
        format!("split {node} --by cat -d cats"),
        format!("convert {node} -z zst"),
        format!("convert {node} --format perfetto"),
        format!("redact {chromium} --also Node"),
        format!("info --full {node}"),
        format!("index {node}"),
        format!("check --for devtools --for perfetto {node} {broken}"),
        format!("profile list {node}"),
        format!("profile extract {node} --pid 5389"),
        format!("report {node}"),
        format!("top {node}"),
        format!("tree {node}"),
        format!("flame {node}"),
        format!("calls {node}"),
        format!("diff {node} {other}"),
        format!("view {node} --no-open --idle 1ms"),
    ] {
        let has_no_output = ["split", "view"].iter().any(|verb| words.starts_with(verb));
        let output = if has_no_output { "" } else { " -o out" };
        let _ = std::fs::remove_file(folder.path("report.json"));
        let replace = if words.starts_with("view") { "" } else { " -f" };
        folder.run(&format!("{words}{output} --report report.json{replace}"));
        let report: Value = serde_json::from_str(&folder.read("report.json")).expect("JSON");
        assert_eq!(report["schema"], 1, "{words}");
        seen.add(&report, "");
        if words.contains("--provenance") {
            let merged: Value = serde_json::from_str(&folder.read("out")).expect("JSON");
            seen.add(&merged["metadata"]["tracemill"], "");
        }
    }
    for name in ["m.json", "list.json"] {
        seen.add(&serde_json::from_str(&folder.read(name)).expect("JSON"), "");
    }
    add_printed(&folder, [&node, &other, &broken, &chromium, &profiles], &mut seen);
    seen
}

/// Adds the JSON printed by verbs, other than reports.
fn add_printed(folder: &Folder, traces: [&str; 5], seen: &mut Seen) {
    let [node, other, broken, chromium, profiles] = traces;
    let more =
        ["cases/page-without-navigation.json", "cases/whole.json", "quirks/nan-infinity.json"];
    let [page, whole, odd] = more.map(|name| testdata().join(name).display().to_string());
    for (words, schema) in [
        (format!("info --json --full {node}"), None),
        (format!("check --json {broken}"), None),
        (format!("profile list --json {node}"), None),
        (format!("calls --rows {node}"), None),
        (format!("top --json {node}"), Some("tracemill.tree/1")),
        (format!("tree --json {node}"), Some("tracemill.tree/1")),
        (format!("tree --log --json {node}"), Some("tracemill.tree/1")),
        (format!("tree --json=nested {node}"), Some("tracemill.nested/1")),
        (format!("diff --json {node} {other}"), Some("tracemill.diff/1")),
        (format!("report --json {node}"), Some("tracemill.report/1")),
        (format!("report --json {chromium}"), Some("tracemill.report/1")),
        (format!("report --json {profiles}"), Some("tracemill.report/1")),
        (format!("report --json {page}"), Some("tracemill.report/1")),
        (format!("report --json {whole}"), Some("tracemill.report/1")),
        (
            format!("report --json {}", testdata().join("clang/14").display()),
            Some("tracemill.report/1"),
        ),
        (format!("report --json {odd}"), Some("tracemill.report/1")),
        (
            format!("report --json -n 9 {}", testdata().join("pytorch/rank-0.json").display()),
            Some("tracemill.report/1"),
        ),
        ("report --json parties.json".to_owned(), Some("tracemill.report/1")),
        ("top --async --json async.json".to_owned(), Some("tracemill.async/1")),
    ] {
        let values = printed(&folder.run(&words));
        if let Some(schema) = schema {
            assert_eq!(values[0]["schema"], schema, "{words}");
        }
        assert!(!values.is_empty(), "{words}");
        values.iter().for_each(|value| seen.add(value, ""));
    }
}

/// Returns the words in double quotes on the page.
fn words_of_page(page: &str) -> BTreeSet<String> {
    let is_word = |word: &&str| {
        !word.is_empty()
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    page.split('"').skip(1).step_by(2).filter(is_word).map(str::to_owned).collect()
}

#[test]
fn the_page_lists_exactly_the_written_keys() {
    let seen = all_output();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = std::fs::read_to_string(page).expect("the page of keys");
    let missing: Vec<&String> =
        seen.keys.iter().filter(|key| !page.contains(&format!("\"{key}\""))).collect();
    assert!(missing.is_empty(), "not on the page: {missing:?}");
    let there = |word: &String| {
        seen.keys.contains(word) || seen.words.contains(word) || ABSENT.contains(&word.as_str())
    };
    let words = words_of_page(&page);
    let gone: Vec<&String> = words.iter().filter(|word| !there(word)).collect();
    assert!(gone.is_empty(), "on the page, but no verb writes it: {gone:?}");
    let needless = |word: &&str| {
        seen.keys.contains(*word) || seen.words.contains(*word) || !words.contains(*word)
    };
    let needless: Vec<&str> = ABSENT.into_iter().filter(|word| needless(word)).collect();
    assert!(needless.is_empty(), "{needless:?}");
    assert!(seen.keys.len() > 120, "{}", seen.keys.len());
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
