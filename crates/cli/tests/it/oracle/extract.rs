//! `profile extract` writes the profile that DevTools sees in the input.

use super::engine::{Engine, Input, engine, inputs_with_profiles, json, tracemill};
use super::portrait::{assert_same, count, portrait, sheet};
use super::stream::{Stream, facts_of_file};
use crate::support::Folder;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A repair of the command that DevTools does not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Chunks are put in time order; DevTools keeps the order of the file.
    Order,
    /// Samples without a time or a known node are dropped, and nodes without a parent get the root;
    /// DevTools keeps such samples as holes and drops such nodes.
    Damage,
    End,
    /// Nodes listed as children get parents; in chunks DevTools reads only the parent of each node.
    Tree,
}

const REPAIRED: [(&str, Repair); 9] = [
    ("cases/profile-of-two-spellings.json", Repair::Tree),
    ("cases/profile-with-lost-chunks.json", Repair::Damage),
    ("quirks/profile-chunks-shuffled.json", Repair::Order),
    ("chrome-devtools/speedscope-chrome141-no-arg-data.json", Repair::Damage),
    ("devtools-edge/e02-swapped.json", Repair::Order),
    ("devtools-edge/e09-cpu-unknown-id.json", Repair::Damage),
    ("devtools-edge/e09-trace-unknown-id.json", Repair::Damage),
    ("devtools-edge/e11-no-endtime.json", Repair::End),
    ("seed-examples/001-06-example-cpu-profile-including-synthetic-node.json", Repair::Damage),
];

/// Inputs that DevTools refuses, and why.
const REFUSED: [(&str, &str); 4] = [
    ("chromium/trace.json.gz", "TracingStartedInBrowser has no frames"),
    ("chromium-156/cdp-stream-small.json", "TracingStartedInBrowser has no frames"),
    ("devtools-edge/e11-no-samples.json", "neither samples nor hitCount"),
    ("quirks/cpuprofile-old-head.cpuprofile", "the old form"),
];

/// Returns the repair of an input, if any.
pub(super) fn repair(input: &Input) -> Option<Repair> {
    REPAIRED.iter().find(|(name, _)| *name == input.name).map(|(_, repair)| *repair)
}

/// Returns DevTools' result for an input; `None` for inputs known to be refused.
#[track_caller]
pub(super) fn ask(oracle: &Engine, input: &Input) -> Option<Value> {
    let answer = oracle.try_ask(&input.file);
    let is_refused = REFUSED.iter().any(|(name, _why)| *name == input.name);
    assert_eq!(answer.is_err(), is_refused, "{}: {:?}", input.name, answer.err());
    answer.ok()
}

/// Extracts the profiles of an input, and returns the rows of the report.
#[track_caller]
fn extract(input: &Input, folder: &Folder) -> Vec<Value> {
    let (report, profiles) = (folder.path("report.json"), folder.path("profiles"));
    let words = ["profile", "extract", "-d"];
    let output = tracemill(&words, &[&profiles, Path::new("--report"), &report, &input.file]);
    // status 1 means damage, which some inputs have
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {output:?}", input.name);
    let report: Value = json(&report);
    let rows = report["profiles"].as_array().expect("profiles").iter();
    rows.filter(|row| !row["file"].is_null()).cloned().collect()
}

fn file_of(row: &Value) -> PathBuf {
    PathBuf::from(row["file"].as_str().expect("a file"))
}

/// Counts of compared items.
#[derive(Debug, Default)]
struct Compared {
    profiles: usize,
    /// Number of profiles that DevTools draws in the trace.
    chosen: usize,
    nodes: usize,
    samples: usize,
    calls: usize,
}

impl Compared {
    /// Compares every profile of a trace with the extracted one.
    fn add_trace(&mut self, oracle: &Engine, input: &Input) {
        let (folder, content) = (Folder::new(), json(&input.file));
        let chosen = ask(oracle, input).map_or(json!([]), |answer| answer["profiles"].clone());
        let chosen = chosen.as_array().expect("profiles");
        let mut found = 0;
        for row in extract(input, &folder) {
            let what = format!("{}, {} {} {}", input.name, row["pid"], row["tid"], row["id"]);
            let mut stream = Stream::of(&content, &row);
            let extracted = oracle.ask(&file_of(&row));
            let same = |profile: &&Value| {
                profile["pid"] == row["pid"]
                    && profile["tid"] == row["tid"]
                    && profile["profileId"] == row["id"]
            };
            let in_trace = chosen.iter().find(same);
            found += usize::from(in_trace.is_some());
            if let Some(repair) = repair(input) {
                let in_trace = sheet(in_trace.expect("DevTools chose it"));
                assert_ne!(in_trace, sheet(&extracted["profiles"][0]), "{what}: not {repair:?}");
                if repair != Repair::Order {
                    continue;
                }
                stream = stream.sorted();
            } else if let Some(in_trace) = in_trace {
                assert_same(&what, &sheet(in_trace), &sheet(&extracted["profiles"][0]));
                self.chosen += 1;
            }
            self.add_stream(oracle, &what, &stream, (&row, &extracted), &folder);
        }
        // DevTools joins all profiles without an id of a process into one that equals none of them
        let with_id = chosen.iter().filter(|profile| !profile["profileId"].is_null()).count();
        assert_eq!(found, with_id, "{}: not all profiles were extracted", input.name);
    }

    /// Compares one profile with the extracted one, and with DevTools' result for it.
    fn add_stream(
        &mut self,
        oracle: &Engine,
        what: &str,
        stream: &Stream<'_>,
        (row, extracted): (&Value, &Value),
        folder: &Folder,
    ) {
        let (mut expected, mut facts) = (stream.facts(), facts_of_file(&json(&file_of(row))));
        self.nodes += count(&facts["nodes"]);
        self.samples += count(&facts["samples"]);
        if !stream.has_thread() {
            // the start is unknown too, so it is guessed
            expected["start"].take();
            facts["start"].take();
        }
        assert_same(what, &expected, &facts);
        self.profiles += 1;
        if stream.has_thread() {
            let alone = folder.path("alone.json");
            std::fs::write(&alone, stream.alone().to_string()).expect("a file");
            let (expected, got) = (portrait(&oracle.ask(&alone)), portrait(extracted));
            if !stream.has_id() {
                assert_ne!(expected, got, "{what}: DevTools looks for no id2");
                return;
            }
            assert_same(what, &expected, &got);
            self.calls += count(&got["threads"][0]["calls"]);
        }
    }

    fn add_profile(&mut self, oracle: &Engine, input: &Input) {
        let folder = Folder::new();
        let rows = extract(input, &folder);
        assert_eq!(rows.len(), 1, "{}", input.name);
        let file = file_of(&rows[0]);
        let after = oracle.ask(&file);
        let Some(before) = ask(oracle, input) else {
            // nothing to compare with, but the output must have something to draw
            assert!(after["profiles"][0]["rawNodes"].as_u64() > Some(1), "{}: {after}", input.name);
            return;
        };
        let all = |answer: &Value| json!([answer["profiles"], answer["threads"], answer["bounds"]]);
        if let Some(repair) = repair(input) {
            assert_ne!(all(&before), all(&after), "{}: not {repair:?}", input.name);
            if repair != Repair::End {
                return;
            }
            // calls follow from the samples, regardless of the end
            assert_same(&input.name, &portrait_without_end(&before), &portrait_without_end(&after));
        } else {
            assert_same(&input.name, &all(&before), &all(&after));
        }
        let facts = facts_of_file(&json(&file));
        assert_same(&input.name, &facts_of_file(&json(&input.file)), &facts);
        self.profiles += 1;
        self.nodes += count(&facts["nodes"]);
        self.samples += count(&facts["samples"]);
        self.calls += after["threads"][0]["profileCalls"].as_array().map_or(0, Vec::len);
    }
}

fn portrait_without_end(answer: &Value) -> Value {
    let mut portrait = portrait(answer);
    portrait["profiles"][0]["endMs"].take();
    portrait
}

#[test]
fn extracted_profiles_are_those_of_devtools() {
    let Some(oracle) = &engine() else { return };
    let mut compared = Compared::default();
    for input in inputs_with_profiles().iter().filter(|input| input.is_trace) {
        compared.add_trace(oracle, input);
    }
    let Compared { profiles, chosen, nodes, samples, calls } = compared;
    let enough = profiles >= 30 && chosen >= 25 && nodes >= 1000 && samples >= 20_000;
    assert!(enough && calls >= 5000, "{compared:?}");
}

#[test]
fn cpuprofiles_are_extracted_unchanged() {
    let Some(oracle) = &engine() else { return };
    let mut compared = Compared::default();
    for input in inputs_with_profiles().iter().filter(|input| !input.is_trace) {
        compared.add_profile(oracle, input);
    }
    let Compared { profiles, nodes, samples, calls, .. } = compared;
    let enough = profiles >= 30 && nodes >= 5000 && samples >= 20_000;
    assert!(enough && calls >= 20_000, "{compared:?}");
}
