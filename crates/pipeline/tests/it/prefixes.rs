//! Merges every prefix of a trace, because a producer may be killed at any byte.

use crate::run::{Knobs, PLAIN, knobs, run};
use crate::trace::{Output, assert_same, missing, show};
use std::ops::Range;
use tracemill_join::report::MergeReport;
use tracemill_testkit::generate::{Disorder, Form, Layout, TraceShape, trace};
use tracemill_testkit::reference;
use tracemill_testkit::rounds::factor;
use tracemill_trace::run::error::ErrorClass;

/// A trace with keys on both sides of the events, brackets in strings, escapes, nodes of a profile,
/// and unsorted times.
const BY_HAND: &str = r#"{"displayTimeUnit":"ms","metadata":{"source":"by hand","list":[1,{"a":"]}"}]},
"stackFrames":{"7":{"name":"main","category":"js"}},
"traceEvents":[
{"name":"thread_name","ph":"M","pid":1,"tid":1,"args":{"name":"main"}},
{"name":"say \"hi\" \\","cat":"app","ph":"X","ts":30.5,"dur":4,"pid":1,"tid":1,"sf":7,"args":{"path":"C:\\demo\\"}},
{"name":"ProfileChunk","cat":"v8","ph":"P","id":"0x1","pid":1,"tid":2,"ts":12,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"f}]"}}],"samples":[2,2]},"timeDeltas":[10,20]}}},
{"name":"\u006eo comma behind","ph":"i","s":"t","ts":"11","pid":1,"tid":1}
,  {"ph":"E","ts":-1e1,"pid":1,"tid":1},{"args":{},"ph":"b","cat":"c","id":"0x5","name":"last","ts":5,"pid":1,"tid":3}
],
"otherData":{"version":"1.2","empty":{},"none":null},
"systemTraceEvents":"SystemTraceData"}
"#;

fn corners(cut: usize) -> impl Iterator<Item = Knobs> {
    (0..3).map(move |corner| knobs(cut * 3 + corner))
}

#[track_caller]
fn check(what: &str, whole: &[u8]) {
    let events = reference::events(whole).expect("well-formed");
    let spans: Vec<Range<usize>> = events.into_iter().map(|event| event.span).collect();
    // every offset in long tests; otherwise every third, and the ends of events
    let step = if factor() > 1 { 1 } else { 3 };
    for cut in 0..=whole.len() {
        if cut % step != 0 && spans.iter().all(|span| span.end != cut) {
            continue;
        }
        let what = format!("{what}, cut at {cut}: …{}", show(&whole[..cut], cut));
        check_cut(&what, whole, cut, &spans);
    }
}

#[track_caller]
fn check_cut(what: &str, whole: &[u8], cut: usize, spans: &[Range<usize>]) {
    let prefix = &whole[..cut];
    let complete: Vec<&[u8]> =
        spans.iter().filter(|span| span.end <= cut).map(|span| &whole[span.clone()]).collect();
    let plain = run(&[prefix], None, PLAIN);
    match &plain {
        Ok((output, report)) => {
            let parsed = Output::parse(report.run.format, output);
            if parsed.events.len() > complete.len() {
                // the truncated event may contain objects that look like events; they are kept,
                // with a loss
                assert_eq!(missing(complete.iter().copied(), &parsed.events), None, "{what}");
                assert!(report.run.lost() > 0, "{what}");
            } else {
                assert_same(what, &sorted(&complete), &parsed.events.join(&b'\n'));
            }
            check_losses(what, report, cut, spans);
        }
        Err(error) => {
            assert_eq!(error.class(), ErrorClass::Input, "{what}: {error}");
            assert!(complete.is_empty(), "{what}: {error}");
        }
    }
    for corner in corners(cut) {
        match (&plain, run(&[prefix], None, corner)) {
            (Ok((expected, report)), Ok((got, again))) => {
                assert_same(&format!("{corner:?} {what}"), expected, &got);
                let losses = |report: &MergeReport| report.run.inputs[0].losses.clone();
                assert_eq!(losses(report), losses(&again), "{corner:?} {what}");
            }
            (Err(expected), Err(got)) => assert_eq!(expected.class(), got.class(), "{what}"),
            (expected, got) => panic!("{corner:?} {what}: {expected:?}\n{got:?}"),
        }
    }
}

/// Returns the events in the order of the reference, joined by newlines.
fn sorted(events: &[&[u8]]) -> Vec<u8> {
    let trace = [&b"["[..], &events.join(&b','), b"]"].concat();
    let output = reference::merge(&[&trace], Some(reference::Format::Array));
    let output = output.expect("complete events are well-formed");
    let format = tracemill_trace::output::target::Format::Array;
    Output::parse(format, &output).events.join(&b'\n')
}

/// Asserts that a truncated event is a loss, and a missing end is not.
#[track_caller]
fn check_losses(what: &str, report: &MergeReport, cut: usize, spans: &[Range<usize>]) {
    // the start of the first event in NDJSON may also be keys of an object, which are kept
    let inside = spans.iter().any(|span| span.start > 0 && span.start < cut && cut < span.end);
    let between = spans.first().is_some_and(|first| first.end <= cut)
        && spans.last().is_some_and(|last| cut <= last.end);
    if inside {
        assert_eq!(report.run.lost(), 1, "{what}: {report:#?}");
    } else if between {
        assert_eq!(report.run.lost(), 0, "{what}: {report:#?}");
    }
}

#[test]
fn prefixes_of_an_object_are_salvaged() {
    check("by hand", BY_HAND.as_bytes());
}

#[test]
fn complete_keys_survive() {
    let whole = BY_HAND.as_bytes();
    let members: [&str; 6] = [
        r#""displayTimeUnit":"ms""#,
        r#""metadata":{"source":"by hand","list":[1,{"a":"]}"}]}"#,
        r#""stackFrames":{"7":{"name":"main","category":"js"}}"#,
        r#""otherData":{"version":"1.2","empty":{},"none":null}"#,
        r#""systemTraceEvents":"SystemTraceData""#,
        r#""traceEvents":["#,
    ];
    let ends = members.map(|member| BY_HAND.find(member).expect("it is there") + member.len());
    // from here on the text is certainly a trace
    for cut in ends[5]..=whole.len() {
        let (output, report) = run(&[&whole[..cut]], None, PLAIN).expect("a trace");
        let keys = Output::parse(report.run.format, &output).keys;
        for (member, _) in members[..5].iter().zip(ends).filter(|(_, end)| *end <= cut) {
            let keys = String::from_utf8_lossy(keys);
            assert!(keys.contains(member), "cut at {cut}: no {member} in {keys}");
        }
    }
}

#[test]
fn prefixes_of_all_forms_are_salvaged() {
    let all = [
        (Form::Object, Layout::TwoSpaces),
        (Form::Object, Layout::Compact),
        (Form::Array, Layout::Lines),
        (Form::Array, Layout::CrLf),
        (Form::Ndjson, Layout::Lines),
        (Form::NdjsonWithHeader, Layout::CrLf),
        (Form::Object, Layout::Ragged),
    ];
    for (seed, (form, layout)) in (1..).zip(all) {
        let shape = TraceShape {
            form,
            layout,
            keys_before: 2,
            keys_after: 2,
            disorder: Disorder::Random,
            ..TraceShape::plain(5)
        };
        let whole = trace(seed, &shape);
        assert!((400..3000).contains(&whole.len()), "{form:?} {layout:?}: {}", whole.len());
        check(&format!("{form:?} {layout:?}"), &whole);
    }
}
