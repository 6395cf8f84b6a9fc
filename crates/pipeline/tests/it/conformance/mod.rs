//! Conformance with RFC 8259: valid JSON passes byte for byte, invalid JSON is found by `check` and
//! refused by `--strict`. Where parsers differ, the tests document ours.
//!
//! The cases in `testdata/json` are our own. Each value is tried in the `args` of an event, as an
//! event, and as a top-level value. serde_json confirms each verdict.

mod numbers;

use crate::check::NOT_JSON;
use crate::run::{Folder, PLAIN, config, knobs, run, run_sources};
use crate::trace::{Output, contains, missing, show};
use serde_json::value::RawValue;
use std::path::Path;
use tracemill_inspect::check::check;
use tracemill_join::report::MergeReport;
use tracemill_pipeline::convert;
use tracemill_trace::Source;
use tracemill_trace::output::target::{Format, OutputConfig, Style};
use tracemill_trace::run::error::ErrorClass;

/// Reads a table of cases: the columns before the last, and the decoded last one.
fn cases(table: &str) -> Vec<(Vec<String>, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/json").join(table);
    let text = std::fs::read_to_string(path).expect("the table is kept");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let case = |line: &str| {
        let (columns, value) = line.rsplit_once('\t').expect("a tab before the text");
        (columns.split('\t').map(str::to_owned).collect(), unescaped(value))
    };
    lines.map(case).collect()
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let (code, rest) = piece.split_at(2);
        bytes.push(u8::from_str_radix(code, 16).expect("two hexadecimal digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    bytes
}

const FIRST: &[u8] =
    br#"{"name":"first","cat":"c","ph":"X","ts":1,"dur":1,"pid":1,"tid":1,"args":{"a":[1,{}]}}"#;
const LAST: &[u8] =
    br#"{"name":"last","cat":"c","ph":"X","ts":9,"dur":1,"pid":1,"tid":1,"args":{"b":"]"}}"#;

fn event_with(value: &[u8]) -> Vec<u8> {
    let head = br#"{"name":"n","cat":"c","ph":"X","ts":5,"dur":1,"pid":1,"tid":1,"args":{"v":"#;
    [&head[..], value, b"}}"].concat()
}

fn trace_with(event: &[u8]) -> Vec<u8> {
    [b"{\"traceEvents\":[", FIRST, b",\n", event, b",\n", LAST, b"],\"key\":1}"].concat()
}

fn beside(value: &[u8]) -> Vec<u8> {
    [b"{\"traceEvents\":[", FIRST, b"],\"key\":", value, b"}"].concat()
}

/// Returns the kinds of `check`'s findings for text that is not JSON.
fn found(trace: &[u8]) -> Vec<String> {
    let folder = Folder::new();
    let source = Source::Path(folder.file("in", trace));
    let report = check(&[source], &[], &config(PLAIN)).expect("a trace");
    let kinds = report.findings.into_iter().map(|finding| finding.kind);
    kinds.filter(|kind| NOT_JSON.contains(&kind.as_str())).collect()
}

fn strictly(trace: &[u8]) -> Result<(Vec<u8>, MergeReport), ErrorClass> {
    let folder = Folder::new();
    let source = Source::Path(folder.file("in", trace));
    let config = crate::run::strict(PLAIN);
    run_sources(&[source], None, &config).map_err(|error| error.class())
}

/// Asserts that all verbs accept a trace, and that `event`, if given, keeps every byte.
#[track_caller]
fn assert_accepted(what: &str, trace: &[u8], event: Option<&[u8]>) {
    assert_eq!(found(trace), Vec::<String>::new(), "{what}");
    let (output, report) = strictly(trace).unwrap_or_else(|e| panic!("{what}: {e:?}"));
    assert_eq!(report.run.lost(), 0, "{what}");
    let corner = knobs(16 + trace.len());
    let (again, _) = run(&[trace], None, corner).expect(what);
    assert!(again == output, "{what}: {corner:?}");
    if let Some(event) = event {
        let events = Output::parse(report.run.format, &output).events;
        assert_eq!(missing([FIRST, event, LAST], &events), None, "{what}");
        let there_and_back = through_ndjson(trace);
        let has_breaks = event.iter().any(|b| b"\r\n".contains(b));
        assert!(has_breaks || contains(&there_and_back, event), "{what}: NDJSON changed it");
    }
}

fn through_ndjson(trace: &[u8]) -> Vec<u8> {
    [Format::Ndjson, Format::Object].into_iter().fold(trace.to_vec(), |text, format| {
        let folder = Folder::new();
        let source = Source::Path(folder.file("in", &text));
        let path = folder.path("out");
        let to = OutputConfig { format: Some(format), ..crate::run::output_to(&path, None) };
        convert(&[source], Style::Keep, &to, &config(PLAIN)).expect("sound");
        crate::run::read(&path)
    })
}

/// Asserts that `check` and `--strict` refuse a trace, and that a merge drops `event` with a loss
/// or keeps it unchanged. The other events survive, and the repaired output is JSON.
#[track_caller]
fn assert_rejected(what: &str, trace: &[u8], event: Option<&[u8]>) {
    assert_ne!(found(trace), Vec::<String>::new(), "{what}: check finds nothing");
    assert_eq!(strictly(trace).map(drop), Err(ErrorClass::Input), "{what}: --strict");
    let (output, report) = run(&[trace], None, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    let events = Output::parse(report.run.format, &output).events;
    assert_eq!(missing([FIRST], &events).map(|e| show(e, 0)), None, "{what}");
    if let Some(event) = event {
        assert_eq!(missing([LAST], &events).map(|e| show(e, 0)), None, "{what}");
        let lapses = report.run.inputs[0].lapses.kept();
        assert!(lapses + report.run.lost() > 0, "{what}: not a word: {}", show(&output, 0));
        let odd = events.iter().filter(|event| !is_json(event)).count();
        assert_eq!(odd as u64, lapses, "{what}: {}", show(&output, 0));
        assert!(odd == 0 || missing([event], &events).is_none(), "{what}: changed");
    }
    assert!(is_json(&repaired(trace)), "{what}: repaired");
}

fn repaired(trace: &[u8]) -> Vec<u8> {
    let folder = Folder::new();
    let source = Source::Path(folder.file("in", trace));
    let mut config = config(PLAIN);
    config.limits.repair = true;
    run_sources(&[source], Some(Format::Object), &config).expect("the first event is sound").0
}

fn is_json(value: &[u8]) -> bool {
    serde_json::from_slice::<&RawValue>(value).is_ok()
}

#[test]
fn valid_json_passes_byte_for_byte() {
    let cases = cases("accepted.txt");
    assert_eq!(cases.len(), 111);
    for (name, value) in &cases {
        let name = &name[0];
        assert!(is_json(value), "{name}: not to serde_json");
        let event = event_with(value);
        assert_accepted(&format!("{name}, in args"), &trace_with(&event), Some(&event));
        assert_accepted(&format!("{name}, beside"), &beside(value), None);
        let trimmed = value.trim_ascii();
        if trimmed.starts_with(b"{") {
            let trace = trace_with(value);
            assert_accepted(&format!("{name}, as an event"), &trace, Some(trimmed));
        }
    }
}

#[test]
fn invalid_json_is_found_and_refused() {
    let cases = cases("rejected.txt");
    assert_eq!(cases.len(), 203);
    for (name, value) in &cases {
        let name = &name[0];
        assert!(!is_json(value), "{name}: serde_json reads it");
        let event = event_with(value);
        assert_rejected(&format!("{name}, in args"), &trace_with(&event), Some(&event));
        // an extra comma is not a loss, but has a finding of its own
        if !matches!(&value[..], b"" | b",") {
            assert_rejected(&format!("{name}, as an event"), &trace_with(value), Some(value));
        }
        assert_rejected(&format!("{name}, beside"), &beside(value), None);
    }
}

#[test]
fn ambiguous_json_is_either_accepted_or_refused() {
    let cases = cases("either.txt");
    assert_eq!(cases.len(), 30);
    for (columns, value) in &cases {
        let [name, verdict] = &columns[..] else { panic!("{columns:?}: a name and a verdict") };
        assert!(verdict == "accepted" || verdict == "rejected", "{name}: {verdict}");
        let event = event_with(value);
        let (trace, beside) = (trace_with(&event), beside(value));
        if verdict == "accepted" {
            assert_accepted(&format!("{name}, in args"), &trace, Some(&event));
            assert_accepted(&format!("{name}, beside"), &beside, None);
        } else {
            assert_rejected(&format!("{name}, in args"), &trace, Some(&event));
            assert_rejected(&format!("{name}, beside"), &beside, None);
        }
    }
}

/// The parser has no recursion, so deep nesting is no special case.
#[test]
fn depth_is_no_limit() {
    for depth in [500, 100_000] {
        let arrays = [b"[".repeat(depth), b"]".repeat(depth)].concat();
        let objects = [b"{\"\":".repeat(depth), b"0".to_vec(), b"}".repeat(depth)].concat();
        for value in [arrays, objects] {
            let event = event_with(&value);
            assert_accepted(&format!("{depth} deep"), &trace_with(&event), Some(&event));
            let open = &value[..depth];
            let event = event_with(open);
            assert_rejected(&format!("{depth} deep, open"), &trace_with(&event), Some(&event));
        }
    }
}
