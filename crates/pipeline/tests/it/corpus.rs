//! Merges real traces of many producers: each equals the reference, or is salvaged or refused as
//! listed.
//!
//! The corpus is not part of the repository; without it these tests do nothing.

use crate::run::{Knobs, PLAIN, knobs, run, run_files};
use crate::trace::{Output, assert_same, contains, text_of, without_annotations};
use std::path::{Path, PathBuf};
use tracemill_testkit::reference;
use tracemill_trace::output::target::Format;
use tracemill_trace::run::error::ErrorClass;

/// Malformed traces: number of events kept, number of losses, and the reason.
const SALVAGED: [(&str, usize, u64, &str); 12] = [
    ("derived-encodings/not-perf-leading-comma.json", 2, 0, "a leading comma"),
    ("nasty-strings/node20-nasty-marks.log", 93, 4, "Node does not escape names"),
    ("perfetto/inline-args_ordered.json", 2, 0, "a trailing comma in an event"),
    ("perfetto/inline-json_incomplete.json", 1, 0, "unclosed behind a comma"),
    ("perfetto/inline-json_trailing_comma.json", 2, 0, "a trailing comma"),
    ("seed-examples/000-11-highlighting-lanes-with-threadname-metadata.json", 1, 0, "a comma"),
    ("seed-examples/000-12-todo-snippets.json", 4, 1, "a comment"),
    ("speedscope-trace-event/simple-partial-trailing-comma.json", 6, 0, "unclosed behind a comma"),
    ("speedscope-trace-event/simple-partial-whitespace.json", 6, 0, "unclosed behind a comma"),
    ("speedscope-trace-event/simple-partial.json", 6, 0, "unclosed"),
    ("tracing-chrome/aborted.json", 723, 1, "the program was aborted in an event"),
    ("viztracer/custom-counters-nan.json", 103, 0, "NaN"),
];

/// CPU profiles with invalid parts, and their number of losses.
const FLAWED: [(&str, u64); 4] = [
    // a sample of an unknown node
    ("devtools-edge/e09-cpu-unknown-id.json", 1),
    // an excerpt: a child is missing
    ("seed-examples/001-03-dimensions-and-time.json", 1),
    // a node with a parent that differs from the one that lists it as a child
    ("seed-examples/004-05-parent-and-child-nodes.json", 1),
    // one time step too many
    ("seed-examples/001-06-example-cpu-profile-including-synthetic-node.json", 1),
];

fn is_no_trace(name: &str) -> bool {
    // results of the oracle
    name.contains("golden/")
        // lists for readers
        || matches!(name, "README.md" | "seed-examples/INDEX.tsv")
        // a single node of a CPU profile
        || name == "seed-examples/001-01-synthetic-and-internal-frames.json"
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    equal: usize,
    salvaged: usize,
    profiles: usize,
    refused: usize,
}

pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if folder.is_dir() {
        return Some(folder);
    }
    #[expect(
        clippy::print_stderr,
        reason = "whoever runs the tests should know what was not tested"
    )]
    {
        eprintln!("skipped: there is no corpus beside the project");
    }
    None
}

pub(crate) fn files_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

#[test]
fn corpus_files_are_merged_salvaged_or_refused_as_listed() {
    let Some(folder) = corpus() else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    files.sort();
    let mut counts = Counts::default();
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&folder).expect("it was found there").display().to_string();
        check(&name, file, number, &mut counts);
    }
    assert!(counts.equal >= 100 && counts.refused >= 20, "{counts:?}");
    assert_eq!(counts.salvaged, SALVAGED.len(), "{counts:?}");
}

#[track_caller]
fn check(name: &str, file: &Path, number: usize, counts: &mut Counts) {
    let text = text_of(file);
    if is_no_trace(name) {
        check_refused(name, file);
        counts.refused += 1;
    } else if is_cpu_profile(name, &text) {
        check_profile(name, file, number);
        counts.profiles += 1;
    } else if let Some(expected) = SALVAGED.iter().find(|expected| expected.0 == name) {
        assert!(reference::merge(&[&text], None).is_err(), "{name} is listed as not well-formed");
        check_salvaged(expected, file, &text, number);
        counts.salvaged += 1;
    } else {
        let expected = reference::merge(&[&text], None).unwrap_or_else(|e| panic!("{name}: {e}"));
        check_merged(name, file, number, &expected);
        counts.equal += 1;
    }
}

/// Returns whether a file is a CPU profile, by its name or its keys.
fn is_cpu_profile(name: &str, text: &[u8]) -> bool {
    let has = |value: &serde_json::Value, key| value.get(key).is_some();
    name.trim_end_matches(".gz").ends_with(".cpuprofile")
        || serde_json::from_slice(text)
            .is_ok_and(|value| has(&value, "nodes") && !has(&value, "traceEvents"))
}

/// Returns combinations of knobs with large reads, because some files are large.
fn corners(number: usize) -> impl Iterator<Item = Knobs> {
    (0..3).map(move |corner| {
        let corner = knobs(number * 3 + corner);
        let read_size = corner.read_size.map(|size| size.max(4096));
        Knobs { read_size, chunk: corner.chunk.max(5000), ..corner }
    })
}

#[track_caller]
fn check_refused(name: &str, file: &Path) {
    let error = run_files(&[file], None, PLAIN).expect_err(name);
    assert_eq!(error.class(), ErrorClass::Input, "{name}: {error}");
    let message = error.to_string();
    let file = file.display().to_string();
    assert!(message.contains(&file), "{name}: {message}");
}

/// Asserts that a `.cpuprofile` becomes the same valid trace with all knobs.
#[track_caller]
fn check_profile(name: &str, file: &Path, number: usize) {
    let (output, report) =
        run_files(&[file], None, PLAIN).unwrap_or_else(|e| panic!("{name}: {e}"));
    let lost = FLAWED.iter().find(|(flawed, _)| *flawed == name).map_or(0, |(_, lost)| *lost);
    assert_eq!(
        (report.run.lost(), report.run.inputs[0].profiles),
        (lost, 1),
        "{name}: {report:#?}"
    );
    let expected = reference::merge(&[&output], None).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_same(&format!("{name} is sorted"), &expected, &output);
    for corner in corners(number) {
        let (again, _) = run_files(&[file], None, corner).expect(name);
        assert_same(&format!("{name} {corner:?}"), &output, &again);
    }
    check_again(name, &output, number);
}

/// Asserts that merges with any knobs give this output without losses, and that merging it again
/// changes nothing.
#[track_caller]
fn check_merged(name: &str, file: &Path, number: usize, expected: &[u8]) {
    for corner in [PLAIN].into_iter().chain(corners(number)) {
        let (output, report) =
            run_files(&[file], None, corner).unwrap_or_else(|e| panic!("{name} {corner:?}: {e}"));
        let got = without_annotations(&output);
        assert_same(&format!("{name} {corner:?}"), expected, &got);
        assert_eq!(report.run.lost(), 0, "{name} {corner:?}: {report:#?}");
        // the reference does not change annotations, and correct ones do not change again
        if corner.read_size.is_none() {
            check_again(name, &output, number);
        }
    }
}

#[track_caller]
fn check_again(name: &str, output: &[u8], number: usize) {
    for corner in corners(number) {
        let (again, report) = run(&[output], None, corner).expect(name);
        assert_same(&format!("{name} again, {corner:?}"), output, &again);
        assert_eq!(report.run.lost(), 0, "{name} again, {corner:?}: {report:#?}");
    }
}

#[track_caller]
fn check_salvaged(expected: &(&str, usize, u64, &str), file: &Path, text: &[u8], number: usize) {
    let &(name, kept, lost, _why) = expected;
    let (output, report) =
        run_files(&[file], None, PLAIN).unwrap_or_else(|e| panic!("{name}: {e}"));
    let parsed = Output::parse(report.run.format, &output);
    assert_eq!((parsed.events.len(), report.run.lost()), (kept, lost), "{name}: {report:#?}");
    // NDJSON joins the lines of an event
    let bare = |text: &[u8]| match report.run.format {
        Format::Ndjson => text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect(),
        _ => text.to_vec(),
    };
    let text = bare(text);
    for event in &parsed.events {
        assert!(contains(&text, &bare(event)), "{name}: {}", String::from_utf8_lossy(event));
    }
    check_json(name, report.run.format, &parsed);
    for corner in corners(number) {
        let (got, again) = run_files(&[file], None, corner).expect(name);
        assert_same(&format!("{name} {corner:?}"), &output, &got);
        assert_eq!(report.run.inputs[0].losses, again.run.inputs[0].losses, "{name} {corner:?}");
    }
    check_again(name, &output, number);
}

/// Asserts that the output is JSON, except for oddities inside events, which are copied.
#[track_caller]
fn check_json(name: &str, format: Format, output: &Output<'_>) {
    let is_json = |text: &[u8]| {
        serde_json::from_str::<serde::de::IgnoredAny>(&String::from_utf8_lossy(text)).is_ok()
    };
    let odd = output.events.iter().filter(|event| !is_json(event)).count();
    let may_be_odd = match name {
        // raw control bytes in names
        "nasty-strings/node20-nasty-marks.log" => 4,
        // commas before closing brackets
        "perfetto/inline-args_ordered.json" => 2,
        // NaN and Infinity
        "viztracer/custom-counters-nan.json" => 14,
        _ => 0,
    };
    assert_eq!(odd, may_be_odd, "{name}");
    if format == Format::Object {
        let keys = [b"{\"traceEvents\":[]", output.keys].concat();
        assert!(is_json(&keys), "{name}: {}", String::from_utf8_lossy(&keys));
    }
}
