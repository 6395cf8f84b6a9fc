//! Regression tests on small traces (`testdata/cases`) on which a verb and its reference disagreed.

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

#[test]
fn merged_parts_have_each_event_once() {
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
                // merging the parts in two steps gives the same
                let (late, _) = run(rest, None, corner).expect("parts are traces");
                let (merged, _) = run(&[first, &late], None, corner).expect("traces");
                assert_eq!(events(&merged), events(&whole), "{name}, {by:?}, one after the other");
            }
        }
    }
}

/// Parts with a process of the page identify the page. Other parts do not, because DevTools would
/// then hide their process.
#[test]
fn parts_identify_their_page() {
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

/// DevTools reads only `id`, and would join two profiles identified by `id2`.
#[test]
fn profiles_with_id2_get_an_id_for_devtools() {
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

/// Nodes may refer to children and to parents in one profile; DevTools then reads only the
/// children.
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

/// Nodes that refer to parents are ignored by DevTools. Extraction repairs them.
#[test]
fn check_reports_nodes_that_devtools_ignores() {
    let input = case("profile-of-two-spellings.json");
    let errors = |text: &[u8]| findings(text, Some(CheckFor::Devtools), Severity::Error);
    assert_eq!(errors(&input), BTreeMap::from([("profile-parents".to_owned(), 1)]));
    let profiles = extract(&[&input], PLAIN).expect("a profile");
    assert_eq!(errors(&profiles[0].bytes), BTreeMap::new());
}

/// A slice between two samples has the stack at that time. An event around it gives it bounds in
/// DevTools.
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
        // profiles that have such an event get no second one
        let (again, report) = merge_for(&[text.as_bytes()], rules, PLAIN).expect("sound");
        assert_eq!(changes(&report), BTreeMap::new());
        assert_eq!(String::from_utf8(again).expect("UTF-8"), text);
    }
}

/// An instant gives the trace a range of length 0, in which calls have no duration.
#[test]
fn a_profile_with_only_an_instant_is_drawn() {
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

/// Time 0 means no time: the trace starts with the second event.
#[test]
fn trace_start_ignores_events_at_zero() {
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

/// Samples of nodes in lost chunks are dropped and reported; later samples take over their time.
/// Children of such nodes move to the root.
#[test]
fn samples_of_lost_nodes_are_reported_and_keep_their_time() {
    let profiles = extract(&[&case("profile-with-lost-chunks.json")], PLAIN).expect("a profile");
    let flaws = kinds(&profiles[0].info.flaws);
    let flaws: Vec<_> = flaws.iter().map(|&(kind, count, _)| (kind, count)).collect();
    assert_eq!(flaws, [(FlawKind::Orphan, 1), (FlawKind::Sample, 2)]);
    let profile: serde_json::Value = serde_json::from_slice(&profiles[0].bytes).expect("JSON");
    assert_eq!(profile["samples"].to_string(), "[2,2,2,4]");
    assert_eq!(profile["timeDeltas"].to_string(), "[30,30,30,90]");
    assert_eq!(profile["nodes"][0]["children"].to_string(), "[2,4]");
}

/// A slice that ends with its parent is inside it even if rounding differs. One that ends a few
/// nanoseconds later is not.
#[test]
fn slices_nested_to_the_last_digit_do_not_overlap() {
    let input = case("nested-to-the-digit.json");
    assert_eq!(findings(&input, None, Severity::Warning), BTreeMap::new());
    let later = String::from_utf8(input).expect("UTF-8").replace("4.0036", "4.0069");
    let found = findings(later.as_bytes(), None, Severity::Warning);
    assert_eq!(found, BTreeMap::from([("overlap".to_owned(), 1)]));
}

#[test]
fn suggested_merge_repairs_what_devtools_refuses() {
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

#[test]
fn events_that_are_not_json_are_dropped() {
    let (output, report) = run(&[&case("not-json.txt")], None, PLAIN).expect("a trace");
    let events: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    assert_eq!(events.as_array().map(Vec::len), Some(1));
    assert_eq!(report.run.inputs[0].lost(), 5);
}

/// Begin events without an end are dropped first if not everything fits.
#[test]
fn begins_without_end_respect_the_size_limit() {
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

#[test]
fn ends_with_other_names_close_the_open_begin() {
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
