//! Small traces in which a verb and what it is held against once disagreed (`testdata/cases`).

use crate::extract::{extract, kinds};
use crate::filter;
use crate::run::{Folder, PLAIN, config, knobs, run};
use crate::slices::{absolute, run_slice};
use crate::split::{check, multiset, settings};
use crate::viewer::{changes, merge_for, rules};
use std::collections::BTreeMap;
use std::path::Path;
use tracemill_inspect::check::Severity;
use tracemill_join::config::{CheckFor, Overlaps};
use tracemill_pipeline::{Filter, SplitBy};
use tracemill_trace::Source;
use tracemill_trace::run::flaws::FlawKind;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};

fn case(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases").join(name);
    std::fs::read(path).expect("it is there")
}

/// Kinds of findings of a severity with their number.
pub(crate) fn findings(
    text: &[u8],
    viewer: Option<CheckFor>,
    severity: Severity,
) -> BTreeMap<String, u64> {
    let folder = Folder::new();
    let source = Source::Path(folder.file("in", text));
    let viewers: Vec<CheckFor> = viewer.into_iter().collect();
    let report =
        tracemill_inspect::check::check(&[source], &viewers, &config(PLAIN)).expect("a trace");
    let found = report.findings.into_iter().filter(|finding| finding.severity == severity);
    found.map(|finding| (finding.kind, finding.count)).collect()
}

const WAYS: [SplitBy; 8] = [
    SplitBy::Pid,
    SplitBy::Tid,
    SplitBy::Cat,
    SplitBy::Events(1),
    SplitBy::Events(2),
    SplitBy::Time(50_000),
    SplitBy::Time(10_000),
    SplitBy::Size(1500),
];

/// A merge of all parts has the events of a merge of the whole, with their pids and metadata.
#[test]
fn parts_put_together_have_each_event_once() {
    for name in ["whole.json", "unnamed.json", "page.json"] {
        let input = case(name);
        let (whole, _) = run(&[&input], None, PLAIN).expect("a trace");
        for (number, by) in WAYS.into_iter().enumerate() {
            let corner = knobs(number);
            let parts = check(number as u64, &[&input], &settings(by, None, None), corner);
            let all: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
            let (merged, _) = run(&all, None, corner).expect("parts are traces");
            let events = |trace: &[u8]| [multiset(trace, false), multiset(trace, true)];
            assert_eq!(events(&merged), events(&whole), "{name}, {by:?}");
            if let [first, rest @ ..] = &all[..]
                && rest.len() > 1
            {
                // some now and some later
                let (late, _) = run(rest, None, corner).expect("parts are traces");
                let (merged, _) = run(&[first, &late], None, corner).expect("traces");
                assert_eq!(events(&merged), events(&whole), "{name}, {by:?}, one after the other");
            }
        }
    }
}

/// Each part with a process of the page says which page that is; the part of another process does not, since DevTools would
/// hide that beside a page.
#[test]
fn parts_have_what_devtools_knows_pages_by() {
    let input = case("page.json");
    for by in WAYS {
        for part in check(0, &[&input], &settings(by, None, None), PLAIN) {
            let text = String::from_utf8(part.clone()).expect("UTF-8");
            let events = text.split("\"tracemill\"").next().unwrap_or_default();
            let is_of_page = events.contains("\"pid\":21");
            let starts = events.matches("TracingStartedInBrowser").count();
            if is_of_page {
                assert_eq!(starts, 1, "{by:?}: {text}");
                let notes = findings(&part, Some(CheckFor::Devtools), Severity::Error);
                assert!(notes.is_empty(), "{by:?}: {notes:?}");
            }
            let is_before_the_worker =
                !events.contains("\"ts\":90") && !events.contains("\"ts\":95");
            let workers = events.matches("TracingSessionIdForWorker").count();
            assert!(!is_of_page || workers == 1 || is_before_the_worker, "{by:?}: {text}");
        }
    }
    let by_pid = check(0, &[&input], &settings(SplitBy::Pid, None, None), PLAIN);
    assert!(!String::from_utf8_lossy(&by_pid[2]).contains("TracingStartedInBrowser"));
}

/// DevTools reads `id` alone: two profiles named by `id2` would be one.
#[test]
fn profiles_named_by_id2_have_an_id_for_devtools() {
    let input = case("profile-by-id2.json");
    let errors = |text: &[u8]| findings(text, Some(CheckFor::Devtools), Severity::Error);
    assert_eq!(errors(&input), BTreeMap::from([("profile-id2".to_owned(), 4)]));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    assert_eq!(changes(&report), BTreeMap::from([("profile-ids", 4)]));
    assert_eq!(errors(&output), BTreeMap::new());
    let text = String::from_utf8(output.clone()).expect("UTF-8");
    for id in ["local:0xa", "local:0xb"] {
        assert_eq!(text.matches(&format!("\"id\":\"{id}\"")).count(), 2, "{text}");
    }
    let profiles = |text: &[u8]| {
        let all = extract(&[text], PLAIN).expect("profiles").into_iter();
        all.map(|profile| profile.bytes).collect::<Vec<_>>()
    };
    assert_eq!(profiles(&output), profiles(&input));
}

/// A profile whose nodes name children here and parents there has both, though DevTools reads children only then.
#[test]
fn nodes_by_children_and_parents_are_one_tree() {
    let profiles = extract(&[&case("profile-of-two-spellings.json")], PLAIN).expect("a profile");
    let profile: serde_json::Value = serde_json::from_slice(&profiles[0].bytes).expect("JSON");
    let nodes = profile["nodes"].as_array().expect("nodes").iter();
    let tree = nodes.map(|n| (n["callFrame"]["functionName"].as_str(), n["children"].to_string()));
    let tree: Vec<_> = tree.collect();
    let expected = [(Some("(root)"), "[2]"), (Some("outer"), "[3]"), (Some("inner"), "null")];
    assert_eq!(tree, expected.map(|(name, children)| (name, children.to_owned())));
}

/// DevTools would leave the nodes out that name their parent: `check` says so, of the trace and not of what is extracted.
#[test]
fn nodes_that_devtools_leaves_out_are_told() {
    let input = case("profile-of-two-spellings.json");
    let errors = |text: &[u8]| findings(text, Some(CheckFor::Devtools), Severity::Error);
    assert_eq!(errors(&input), BTreeMap::from([("profile-parents".to_owned(), 1)]));
    let profiles = extract(&[&input], PLAIN).expect("a profile");
    assert_eq!(errors(&profiles[0].bytes), BTreeMap::new());
}

/// A slice between two samples has the stack that runs there, and for DevTools an event around it: without one it has no bounds,
/// and the call would take no time.
#[test]
fn a_slice_of_a_profile_alone_is_drawn() {
    let input = case("profile-between-samples.json");
    for (from, to, function) in [
        (5_200_000, 5_800_000, "early"),
        (6_400_000, 6_400_500, "late"),
        (7_002_000, 7_003_000, "late"),
    ] {
        let window = absolute(&[(Some(from * 1000), Some(to * 1000))]);
        let (slice, _) = run_slice(&[&input], &window, Edges::Clip, None, PLAIN).expect("a trace");
        let errors = |text: &[u8]| findings(text, Some(CheckFor::Devtools), Severity::Error);
        assert_eq!(errors(&slice), BTreeMap::from([("profiles-alone".to_owned(), 1)]));
        let rules = rules(CheckFor::Devtools, Overlaps::Keep);
        let (output, report) = merge_for(&[&slice], rules, PLAIN).expect("sound");
        assert_eq!(changes(&report), BTreeMap::from([("profile-around", 1)]));
        assert_eq!(errors(&output), BTreeMap::new());
        let text = String::from_utf8(output).expect("UTF-8");
        let around = format!(
            r#""dur":{},"name":"CPU profile","ph":"X","pid":70,"tid":71,"ts":{}"#,
            to - from + 1,
            from - 1
        );
        assert!(text.contains(&around) && text.contains(function), "{text}");
        // what has an event already gets none
        let (again, report) = merge_for(&[text.as_bytes()], rules, PLAIN).expect("sound");
        assert_eq!(changes(&report), BTreeMap::new());
        assert_eq!(String::from_utf8(again).expect("UTF-8"), text);
    }
}

/// A moment alone gives DevTools a range of no length, in which a call has none either.
#[test]
fn a_profile_beside_a_moment_is_drawn_too() {
    let text = String::from_utf8(case("profile-between-samples.json")).expect("UTF-8");
    let moment =
        r#"[{"ph":"I","s":"t","name":"now","cat":"c","pid":70,"tid":71,"ts":5000000,"args":{}},"#;
    for (more, expected) in [
        ("", 1),
        (
            r#"{"ph":"I","s":"t","name":"then","cat":"c","pid":70,"tid":71,"ts":5000001,"args":{}},"#,
            0,
        ),
    ] {
        let input = text.replacen('[', &format!("{moment}{more}"), 1);
        let rules = rules(CheckFor::Devtools, Overlaps::Keep);
        let (output, report) = merge_for(&[input.as_bytes()], rules, PLAIN).expect("sound");
        assert_eq!(changes(&report).get("profile-around").copied().unwrap_or(0), expected);
        assert_eq!(
            String::from_utf8_lossy(&output).matches("CPU profile\"").count() as u64,
            expected
        );
    }
}

/// What stands at 0 has no time: the trace starts with its second event.
#[test]
fn a_start_at_zero_is_not_where_the_trace_starts() {
    let input = case("start-at-zero.json");
    let report = crate::info::check("at zero", &[&input], &[PLAIN]);
    assert_eq!((report.start_ns, report.at_zero), (Some(361_000_500_200_000), 1));
    let gaps: Vec<u64> = report.gaps.iter().map(|gap| gap.length_ns()).collect();
    assert_eq!(gaps, [59_960_000]);
    let window =
        [TimeWindow { from: Some(Moment::FromStart(0)), to: Some(Moment::FromStart(50_000)) }];
    let (slice, _) = run_slice(&[&input], &window, Edges::Clip, None, PLAIN).expect("a trace");
    let text = String::from_utf8(slice).expect("UTF-8");
    assert!(text.contains("load") && !text.contains("draw"), "{text}");
    let parts = check(0, &[&input], &settings(SplitBy::Time(30_000_000), None, None), PLAIN);
    assert_eq!(parts.len(), 2);
}

/// Chunks without data took nodes with them: samples of these are left out and told, and no time is lost; what stands on such a
/// node stands on the root.
#[test]
fn samples_of_nodes_in_lost_chunks_are_told_and_keep_their_time() {
    let profiles = extract(&[&case("profile-with-lost-chunks.json")], PLAIN).expect("a profile");
    let flaws = kinds(&profiles[0].info.flaws);
    let flaws: Vec<_> = flaws.iter().map(|&(kind, count, _)| (kind, count)).collect();
    assert_eq!(flaws, [(FlawKind::Orphan, 1), (FlawKind::Sample, 2)]);
    let profile: serde_json::Value = serde_json::from_slice(&profiles[0].bytes).expect("JSON");
    assert_eq!(profile["samples"].to_string(), "[2,2,2,4]");
    assert_eq!(profile["timeDeltas"].to_string(), "[30,30,30,90]");
    assert_eq!(profile["nodes"][0]["children"].to_string(), "[2,4]");
}

/// Times that nanoseconds cannot say may differ by their rounding: what ends where its parent ends is in it, and what ends some
/// nanoseconds later is not.
#[test]
fn what_is_nested_to_the_digit_does_not_overlap() {
    let input = case("nested-to-the-digit.json");
    assert_eq!(findings(&input, None, Severity::Warning), BTreeMap::new());
    let later = String::from_utf8(input).expect("UTF-8").replace("4.0036", "4.0069");
    let found = findings(later.as_bytes(), None, Severity::Warning);
    assert_eq!(found, BTreeMap::from([("overlap".to_owned(), 1)]));
}

/// What DevTools refuses is found, and mended by the merge that the remedy names; then nothing of it is found.
#[test]
fn what_devtools_refuses_is_found_and_mended() {
    let cases = [
        ("page-without-navigation.json", "bare-args", "page-args"),
        ("paint-of-another-program.json", "bare-args", "page-args"),
        ("start-as-metadata.json", "empty-start", "bare-starts"),
    ];
    for (name, finding, change) in cases {
        let input = case(name);
        let errors = |text: &[u8]| findings(text, Some(CheckFor::Devtools), Severity::Error);
        assert_eq!(errors(&input), BTreeMap::from([(finding.to_owned(), 1)]), "{name}");
        let rules = rules(CheckFor::Devtools, Overlaps::Keep);
        let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
        assert_eq!(changes(&report), BTreeMap::from([(change, 1)]), "{name}");
        assert_eq!(errors(&output), BTreeMap::new(), "{name}");
    }
}

/// Events that are no JSON are lost and counted; what is left is JSON.
#[test]
fn members_that_are_no_json_do_not_pass() {
    let (output, report) = run(&[&case("not-json.txt")], None, PLAIN).expect("a trace");
    let events: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert_eq!(events.as_array().map(Vec::len), Some(1));
    assert_eq!(report.run.inputs[0].lost(), 5);
}

/// Nobody knows how long a begin lasts that never ends: where not all fits, such begins go first.
#[test]
fn begins_that_never_end_do_not_outgrow_a_size() {
    let input = case("begins-alone.json");
    let kept = |most: usize| {
        let wanted = Filter { shrink_to: Some(most as u64), ..Filter::default() };
        filter::run(&[&input], &wanted, PLAIN).0.len()
    };
    let whole = kept(input.len() + 100);
    assert_eq!(kept(whole), whole);
    for most in [60, 100, 200, whole - 1] {
        assert!(kept(most) <= most, "{most}");
    }
}

/// An end with an empty name, with none or with another one ends the begin that is open: in every verb.
#[test]
fn ends_of_other_names_end_what_is_open() {
    let input = case("ends-of-other-names.json");
    let longer_than = |duration: &str| {
        let min_dur = Some(duration.parse().expect("a duration"));
        let wanted = Filter { min_dur, ..Filter::default() };
        let (output, _) = filter::run(&[&input], &wanted, PLAIN);
        String::from_utf8_lossy(&output).matches("\"ph\"").count()
    };
    assert_eq!([longer_than("12us"), longer_than("13us")], [7, 1]);
    let window = absolute(&[(Some(48_000), Some(86_000))]);
    let (slice, _) = run_slice(&[&input], &window, Edges::Clip, None, PLAIN).expect("a trace");
    let slice: serde_json::Value = serde_json::from_slice(&slice).expect("JSON");
    let parts = slice.as_array().expect("events").iter();
    let parts: Vec<_> = parts.map(|event| (event["ph"].as_str(), event["ts"].as_u64())).collect();
    let [b, e] = ["B", "E"].map(Some);
    let expected =
        [(b, 48), (e, 52), (b, 60), (e, 72), (b, 80), (e, 86)].map(|(ph, ts)| (ph, Some(ts)));
    assert_eq!(parts, expected);
}
