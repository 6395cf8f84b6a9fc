//! DevTools opens recorded traces after every verb, with unchanged profiles.

use super::engine::{Engine, beside, engine, tracemill};
use super::merge::threads;
use super::portrait::{assert_same, count, sheet};
use crate::support::Folder;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::slice::from_ref;

/// Values of `split --by`; parts without events other than metadata are skipped.
const SPLITS: [&str; 2] = ["tid", "events=10000"];
/// Filters that keep CPU profiles complete.
const FILTERS: [&[&str]; 2] = [&["--drop", "gpu,network,animation"], &["--min-dur", "1ms"]];

#[derive(Debug, Default)]
struct Opened {
    converted: usize,
    filtered: usize,
    parts: usize,
    slices: usize,
    profiles: usize,
}

/// Runs a verb from one file to another.
#[track_caller]
fn run(words: &[&str], output: &Path, input: &Path) {
    let ran = tracemill(&[words, &["-q", "-o"]].concat(), &[output, input]);
    assert!(ran.status.success(), "{words:?} {}: {ran:?}", input.display());
}

/// Returns the properties of all profiles, independent of their order.
fn sheets(answers: &[Value]) -> Value {
    let profiles = answers.iter().flat_map(|answer| answer["profiles"].as_array().expect("a list"));
    let mut sheets: Vec<Value> = profiles.map(sheet).collect();
    sheets.sort_by_key(Value::to_string);
    json!(sheets)
}

impl Opened {
    fn add(&mut self, oracle: &Engine, file: &Path) {
        let whole = oracle.ask(file);
        self.profiles += count(&whole["profiles"]);
        let folder = Folder::new();
        let output = folder.path("output.json");
        let name = file.file_name().expect("a name").to_string_lossy();
        for format in ["object", "array"] {
            // the array form drops top-level keys, with a warning
            let words = ["convert", "--format", format, "--style", "compact", "-f", "-q", "-o"];
            tracemill(&words, &[&output, file]);
            let answer = oracle.ask(&output);
            let what = format!("{name}, {format}");
            assert_same(&what, &whole["profiles"], &answer["profiles"]);
            let facts = |answer: &Value| json!(threads(answer, true));
            assert_same(&what, &facts(&whole), &facts(&answer));
            self.converted += 1;
        }
        for flags in FILTERS {
            run(&[&["filter", "-f"], flags].concat(), &output, file);
            let answer = oracle.ask(&output);
            assert_same(
                &format!("{name}, {flags:?}"),
                &sheets(from_ref(&whole)),
                &sheets(&[answer]),
            );
            self.filtered += 1;
        }
        run(&["slice", "-f", "--window", "0..100ms"], &output, file);
        oracle.ask(&output);
        self.slices += 1;
        for by in SPLITS {
            self.split(oracle, file, by, &whole);
        }
    }

    fn split(&mut self, oracle: &Engine, file: &Path, by: &str, whole: &Value) {
        let folder = Folder::new();
        let dir = folder.path("parts");
        let list = folder.path("list.json");
        let words = ["split", "-q", "-O", "{part}.json", "--by", by, "--manifest"];
        let ran = tracemill(&words, &[&list, Path::new("-d"), &dir, file]);
        assert!(ran.status.success(), "{by} {}: {ran:?}", file.display());
        let list: Value = serde_json::from_str(&folder.read("list.json")).expect("JSON");
        let mut answers = Vec::new();
        for part in list["parts"].as_array().expect("parts") {
            let only_metadata = part["events"] == part["metadata"];
            if !only_metadata {
                answers.push(oracle.ask(Path::new(part["file"].as_str().expect("a name"))));
            }
        }
        self.parts += answers.len();
        let what = format!("{}, by {by}", file.display());
        assert_same(&what, &sheets(from_ref(whole)), &sheets(&answers));
    }
}

#[test]
fn recorded_traces_open_after_every_verb() {
    let Some(oracle) = &engine() else { return };
    let names = [
        "chromium156-worker-annotated.json.gz",
        "node20-trace-workers.json.gz",
        "speedscope-chrome116.json.gz",
    ];
    let files: Vec<PathBuf> =
        names.iter().map(|name| beside("corpus/devtools").join(name)).collect();
    let mut opened = Opened::default();
    files.iter().for_each(|file| opened.add(oracle, file));
    let Opened { converted, filtered, parts, slices, profiles } = opened;
    assert_eq!((converted, filtered, slices), (6, 6, 3));
    assert!(parts >= 8 && profiles >= 4, "{opened:?}");
}
