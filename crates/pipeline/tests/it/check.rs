//! Compares `check` with the naive reference, and tests each rule on a trace that breaks it.

use crate::run::{Knobs, PLAIN, config, knobs, over, run};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tracemill_inspect::check::{CheckReport, Severity, check};
use tracemill_join::config::CheckFor;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::{Error, Source};

const BOTH: [CheckFor; 2] = [CheckFor::Devtools, CheckFor::Perfetto];

fn check_inputs(
    inputs: &[&[u8]],
    viewers: &[CheckFor],
    knobs: Knobs,
) -> Result<CheckReport, Error> {
    over(inputs, knobs, |sources| check(sources, viewers, &config(knobs)))
}

fn counts(report: &CheckReport) -> BTreeMap<&str, u64> {
    report.findings.iter().map(|finding| (finding.kind.as_str(), finding.count)).collect()
}

/// Formats findings without the names of inputs, which pipes do not have.
fn plain(report: &CheckReport) -> Vec<String> {
    let finding = |finding: &tracemill_inspect::check::Finding| {
        let places: Vec<_> = finding.places.iter().map(|p| (p.offset, &p.excerpt)).collect();
        format!("{} {:?} {} {places:?}", finding.kind, finding.severity, finding.count)
    };
    report.findings.iter().map(finding).collect()
}

/// Asserts that `check` finds the same as the reference, and returns the kinds.
#[track_caller]
pub(crate) fn compare(what: &str, inputs: &[&[u8]], corners: &[Knobs]) -> BTreeSet<&'static str> {
    let expected = reference::check(inputs).expect("sound traces");
    let first = check_inputs(inputs, &BOTH, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut got = counts(&first);
    got.retain(|kind, _| reference::KINDS.contains(kind));
    if got != expected {
        std::fs::write(std::env::temp_dir().join("tracemill-failed"), inputs.concat())
            .expect("writable");
    }
    assert_eq!(got, expected, "{what}");
    for &knobs in corners {
        let again = check_inputs(inputs, &BOTH, knobs).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(plain(&again), plain(&first), "{what} {knobs:?}");
    }
    expected.into_keys().collect()
}

#[test]
fn check_matches_the_reference_on_random_traces() {
    let mut all = BTreeSet::new();
    for seed in seeds(0, 25) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(3))
            .map(|i| trace(seed * 10 + i as u64, &TraceShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let corners = [0, 1, 2, 3].map(|number| knobs(seed as usize * 4 + number));
        all.extend(compare(&format!("seed {seed}"), &inputs, &corners));
    }
    let never: Vec<_> = reference::KINDS.iter().filter(|kind| !all.contains(**kind)).collect();
    // the reference only reads well-formed traces
    assert!(never.len() < 20, "{never:?}");
}

/// Kinds of findings for text that is not JSON, except `separators`.
pub(crate) const NOT_JSON: [&str; 9] = [
    "utf8",
    "nan",
    "grammar",
    "malformed",
    "unbalanced",
    "truncated",
    "garbage",
    "not-events",
    "unclosed",
];

/// Bytes to insert where they are invalid.
const BYTES: &[u8] = b",:{}[]\"\\ \xff1aN\n\x01";

#[test]
fn finds_all_text_that_is_not_json() {
    let (mut sound, mut unsound) = (0, 0);
    for seed in seeds(0, 200) {
        let mut rng = Rng::new(seed);
        let mut shape = TraceShape::arbitrary(&mut rng);
        shape.events = shape.events.min(12);
        shape.big = false;
        let mut input = trace(seed, &shape);
        for _ in 0..rng.index(3) {
            let at = rng.index(input.len().max(1)).min(input.len());
            match rng.below(4) {
                0 if at < input.len() => drop(input.remove(at)),
                1 => input.insert(at, BYTES[rng.index(BYTES.len())]),
                2 if at < input.len() => input[at] = BYTES[rng.index(BYTES.len())],
                _ => input.truncate(at),
            }
        }
        let skip = if input.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let valid = tracemill_tokenizer::validate(&input[skip..]).is_ok();
        let Ok(report) = check_inputs(&[&input], &[], knobs(seed as usize)) else { continue };
        let is_text = |kind: &str| NOT_JSON.contains(&kind) || kind == "separators";
        let found: Vec<_> = report.findings.iter().filter(|f| is_text(&f.kind)).collect();
        // a scalar between documents, or an element that is not an event, is JSON but counts as
        // lost
        let lost = report.inputs.iter().any(|input| input.losses.count() > 0);
        if !valid {
            unsound += 1;
            assert!(!found.is_empty(), "seed {seed}: {}", String::from_utf8_lossy(&input));
        } else if !lost {
            sound += 1;
            let text = String::from_utf8_lossy(&input).into_owned();
            assert!(found.is_empty(), "seed {seed}: {found:?}\n{text}");
        }
    }
    assert!(sound > 30 && unsound > 30, "{sound} {unsound}");
}

/// Returns an event with all fields, followed by `more`.
fn event(ph: &str, ts: u64, more: &str) -> String {
    format!(r#"{{"name":"n","cat":"c","ph":"{ph}","pid":1,"tid":1,"ts":{ts},"args":{{}}{more}}}"#)
}

fn events(all: &[String]) -> String {
    format!("{{\"traceEvents\":[{}]}}", all.join(","))
}

fn one(ph: &str, more: &str) -> String {
    events(&[event(ph, 5, more)])
}

fn two(a: (&str, u64, &str), b: (&str, u64, &str)) -> String {
    events(&[event(a.0, a.1, a.2), event(b.0, b.1, b.2)])
}

/// Returns a pair of B and E, and an X event.
fn pair_and_slice(pair: (u64, u64), slice: (u64, u64)) -> String {
    let dur = format!(r#","dur":{}"#, slice.1 - slice.0);
    events(&[event("X", slice.0, &dur), event("B", pair.0, ""), event("E", pair.1, "")])
}

fn profile(chunks: &[&str]) -> String {
    let mut all = vec![event("P", 1, r#","name":"Profile","id":"0x1""#)];
    for (i, data) in chunks.iter().enumerate() {
        let args = format!(r#","name":"ProfileChunk","id":"0x1","args":{{"data":{data}}}"#);
        all.push(event("P", 10 - i as u64, &args));
    }
    events(&all)
}

const ROOT: &str = r#"{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"r"}}],"samples":[1]},"timeDeltas":[1]}"#;
const CHILD: &str = r#"{"cpuProfile":{"nodes":[{"id":2,"parent":1,"callFrame":{"functionName":"c"}}],"samples":[2]},"timeDeltas":[1]}"#;

#[expect(clippy::too_many_lines, reason = "a table: one row a rule")]
fn broken() -> Vec<(&'static str, Vec<u8>)> {
    let x = event("X", 5, r#","dur":1"#);
    let many = format!(
        r#"{{"cpuProfile":{{"nodes":[{{"id":1}}],"samples":[{0}1]}},"timeDeltas":[{0}1]}}"#,
        "1,".repeat(10_000)
    );
    let head = r#","name":"Profile","id":"0x2""#;
    let second = |id: &str, data: &str| {
        event("P", 2, &format!(r#","name":"ProfileChunk","id":"{id}","args":{{"data":{data}}}"#))
    };
    let further = events(&[
        event("P", 1, r#","name":"Profile","id":"0x1""#),
        second("0x1", ROOT),
        event("P", 1, head),
        second("0x2", ROOT),
    ]);
    let start = r#","name":"TracingStartedInBrowser","args":{"data":{"frames":[]}}"#;
    let text: Vec<(&'static str, String)> = vec![
        ("nan", one("X", r#","dur":1,"args":{"a":NaN}"#)),
        ("grammar", one("X", r#","dur":1,"args":{"a":1,}"#)),
        ("malformed", events(&[event("I", 1, r#","name":"a"b""#), x.clone()])),
        ("unbalanced", format!("[{x}}},{x}]")),
        ("truncated", format!("[{x},{}", &x[..40])),
        ("garbage", format!("[{x},log {x}]")),
        ("not-events", format!("{{\"traceEvents\":5}}[{x}]")),
        ("unclosed", format!("[{x}")),
        ("unclosed-object", format!("{{\"traceEvents\":[{x}")),
        ("separators", format!("[{x},]")),
        ("several-documents", format!("[{x}][{x}]")),
        ("ndjson", format!("{x}\n{x}\n")),
        ("no-events", "[]".into()),
        (
            "reported-loss",
            format!("{{\"traceEvents\":[{x}],\"metadata\":{{\"dataLossOccurred\":true}}}}"),
        ),
        ("duplicate-key", format!("{{\"a\":1,\"a\":2,\"traceEvents\":[{x}]}}")),
        ("opening", format!("[\n[],{x}]").replace("[],", ",")),
        ("empty-event", format!("[{x},{{}}]")),
        ("missing-name", one("I", "").replace(r#""name":"n","#, "")),
        ("nameless-end", one("E", "").replace(r#""name":"n","#, "")),
        ("missing-cat", one("I", "").replace(r#""cat":"c","#, "")),
        ("missing-args", one("I", "").replace(r#","args":{}"#, "")),
        ("missing-phase", one("I", "").replace(r#""ph":"I","#, "")),
        ("unknown-phase", one("Q", "")),
        ("missing-pid", one("I", "").replace(r#""pid":1,"#, "")),
        ("missing-tid", one("I", "").replace(r#""tid":1,"#, "")),
        ("missing-ts", one("I", "").replace(r#""ts":5,"#, "")),
        ("bad-number", one("I", r#","ts":"soon""#)),
        ("string-time", one("I", r#","ts":"7""#)),
        ("string-id", one("I", r#","tid":"7""#)),
        ("odd-id", one("I", r#","tid":{}"#)),
        ("id-range", one("I", r#","tid":-1"#)),
        ("big-id", one("I", r#","tid":9007199254740993"#)),
        ("precision", one("I", r#","ts":1712195495533685.110"#)),
        ("negative-ts", one("I", r#","ts":-1"#)),
        ("negative-dur", one("X", r#","dur":-1"#)),
        ("no-dur", one("X", "")),
        ("lower-instant", one("i", "")),
        ("ignored-phase", one("O", "")),
        ("unsorted", two(("I", 5, ""), ("I", 4, r#","tid":2"#))),
        ("unsorted-thread", two(("I", 5, ""), ("I", 4, ""))),
        ("late-metadata", two(("I", 5, ""), ("M", 4, ""))),
        ("late-untimed", two(("I", 5, ""), ("I", 5, r#","ts":null"#))),
        ("begin-without-end", one("B", "")),
        ("end-without-begin", one("E", "")),
        ("crossing", two(("B", 1, ""), ("E", 2, r#","name":"other""#))),
        ("overlap", two(("X", 1, r#","dur":3"#), ("X", 2, r#","dur":3"#))),
        ("overlap", pair_and_slice((2, 9), (1, 3))),
        ("overlap", pair_and_slice((1, 3), (2, 9))),
        ("be-threads", two(("B", 1, ""), ("E", 2, r#","tid":2"#))),
        ("missing-id", one("b", "")),
        ("async-without-end", one("b", r#","id":1"#)),
        ("async-without-begin", one("e", r#","id":1"#)),
        ("async-outside", one("n", r#","id":1"#)),
        ("flow-without-end", one("s", r#","id":1"#)),
        ("flow-without-begin", one("f", r#","id":1"#)),
        ("shared-async-id", two(("b", 1, r#","id":1"#), ("b", 2, r#","id":1,"pid":2"#))),
        ("shared-flow-id", two(("s", 1, r#","id":1"#), ("s", 2, r#","id":1,"pid":2"#))),
        ("async-id-zero", one("b", r#","id":0"#)),
        ("escaped-pair", one("X", r#","args":{"a":"\"b\" \ud83d\ude00"}"#)),
        ("flow-id", one("s", r#","id":"task""#)),
        ("missing-frame", one("I", r#","sf":7"#)),
        (
            "annotation",
            format!(
                r#"{{"traceEvents":[{x}],"metadata":{{"modifications":{{"annotations":{{"entryLabels":[{{"entry":"r-1"}}]}}}}}}}}"#
            ),
        ),
        ("enhanced", one("I", r#","name":"enhancedTraceVersion""#)),
        ("nothing-drawn", one("M", "")),
        ("profiles-alone", profile(&[ROOT])),
        ("two-starts", two(("I", 1, start), ("I", 2, start))),
        ("empty-start", one("I", r#","name":"TracingStartedInBrowser""#)),
        ("hidden-process", two(("I", 1, start), ("I", 2, r#","pid":2"#))),
        ("all-hidden", one("I", start)),
        ("many-samples", profile(&[&many])),
        (
            "unsigned-deltas",
            profile(&[&ROOT.replace("\"timeDeltas\":[1]", "\"timeDeltas\":[4294967246]")]),
        ),
        (
            "deltas-inside",
            profile(&[r#"{"cpuProfile":{"nodes":[{"id":1}],"samples":[1],"timeDeltas":[1]}}"#]),
        ),
        ("profile-id2", one("P", r#","name":"Profile","id2":{"local":"0x1"}"#)),
        (
            "profile-parents",
            profile(&[r#"{"cpuProfile":{"nodes":[{"id":1,"children":[]},{"id":2,"parent":1}]}}"#]),
        ),
        ("profiles-per-thread", further),
        ("chunk-order", profile(&[CHILD, ROOT])),
        ("headless-profile", events(&[second("0x1", ROOT)])),
        ("chunk-lengths", profile(&[&ROOT.replace("[1]},", "[1,1]},")])),
        ("repeated-node", profile(&[&ROOT.replace(r#"{"id":1"#, r#"{"id":1},{"id":1"#)])),
        (
            "unordered-profile",
            profile(&[&ROOT.replace("\"samples\":[1]", "\"samples\":[9]"), CHILD]),
        ),
    ];
    let mut all: Vec<_> = text.into_iter().map(|(kind, text)| (kind, text.into_bytes())).collect();
    all.push(("utf8", one("I", "").replace("\"n\"", "\"?\"").into_bytes()));
    let last = all.len() - 1;
    all[last].1.iter_mut().filter(|b| **b == b'?').for_each(|b| *b = 0xFF);
    let utf16 = events(&[x]).encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    all.push(("packing", [&b"\xff\xfe"[..], &utf16].concat()));
    all
}

#[test]
fn each_rule_finds_its_violation() {
    let wrong: Vec<String> = broken()
        .iter()
        .filter_map(|(kind, input)| {
            let report = match check_inputs(&[input], &BOTH, PLAIN) {
                Ok(report) => report,
                Err(error) => return Some(format!("{kind}: {error}")),
            };
            let found = counts(&report);
            (!found.contains_key(kind)).then(|| format!("{kind}: {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `merge` does not move such chunks, so `check` must not suggest a merge.
#[test]
fn chunks_delayed_by_merge_are_not_unsorted() {
    let input = profile(&[ROOT, CHILD]);
    let (merged, report) = crate::run::run(&[input.as_bytes()], None, PLAIN).expect("sound");
    assert_eq!(report.delayed_chunks, 1);
    let (again, _) = crate::run::run(&[&merged], None, PLAIN).expect("sound");
    assert_eq!(again, merged);
    let report = check_inputs(&[&merged], &[], PLAIN).expect("sound");
    for kind in ["unsorted", "unsorted-thread"] {
        assert!(!counts(&report).contains_key(kind), "{:?}", plain(&report));
    }
    // B events without any E are not pairs
    let open = two(("B", 1, ""), ("B", 2, r#","tid":2"#));
    let report = check_inputs(&[open.as_bytes()], &BOTH, PLAIN).expect("sound");
    assert!(!counts(&report).contains_key("be-threads"), "{:?}", plain(&report));
}

#[test]
fn findings_have_input_and_offset() {
    let (a, b) = (one("I", ""), two(("I", 5, ""), ("Q", 6, "")));
    let report = check_inputs(&[a.as_bytes(), b.as_bytes()], &[], PLAIN).expect("sound");
    let [finding] = &report.findings[..] else { panic!("{report:?}") };
    let place = &finding.places[0];
    assert_eq!(finding.kind, "unknown-phase");
    assert_eq!(place.offset as usize, b.rfind("{\"name\"").expect("an event"));
    assert!(place.input.ends_with("in1") && place.excerpt.starts_with("{\"name\""), "{place:?}");
    assert!(finding.severity == Severity::Warning && !report.is_clean());
}

#[test]
fn sound_traces_have_no_findings() {
    let x = event("X", 5, r#","dur":1"#);
    for text in [events(std::slice::from_ref(&x)), format!("[{x}]")] {
        let report = check_inputs(&[text.as_bytes()], &BOTH, PLAIN).expect("sound");
        assert_eq!(plain(&report), [""; 0]);
    }
}

#[test]
fn nested_pairs_and_slices_do_not_overlap() {
    for (pair, slice) in
        [((2, 4), (1, 5)), ((1, 5), (2, 4)), ((1, 2), (2, 3)), ((2, 3), (1, 2)), ((1, 3), (1, 5))]
    {
        let text = pair_and_slice(pair, slice);
        let report = check_inputs(&[text.as_bytes()], &BOTH, PLAIN).expect("sound");
        assert!(!counts(&report).contains_key("overlap"), "{pair:?} {slice:?}");
    }
}

#[test]
fn events_without_a_thread_need_no_tid() {
    let without = |ph: &str, more: &str| one(ph, more).replace(r#""tid":1,"#, "");
    for (text, is_missing) in [
        (without("C", ""), false),
        (without("M", ""), false),
        (without("b", r#","id":1"#), false),
        (without("I", r#","s":"g""#), false),
        (without("i", r#","s":"p""#), false),
        (without("I", r#","s":"t""#), true),
        (without("X", r#","dur":1"#), true),
        (without("B", ""), true),
    ] {
        let report = check_inputs(&[text.as_bytes()], &[], PLAIN).expect("sound");
        assert_eq!(counts(&report).contains_key("missing-tid"), is_missing, "{text}");
    }
}

#[test]
fn times_that_doubles_represent_are_not_reported_as_rounded() {
    for (ts, is_rounded) in [
        ("1554882536388913.5", false),
        ("1554882536388913.50000000000000000", false),
        ("1554882536388913.25", false),
        ("0.10000000000000000555", false),
        ("18446744073709551616", false),
        ("1554882536388913.51", true),
        ("1712195495533685.110", true),
        ("9007199254740993", true),
    ] {
        let text = one("I", &format!(r#","ts":{ts}"#));
        let report = check_inputs(&[text.as_bytes()], &[], PLAIN).expect("sound");
        assert_eq!(counts(&report).contains_key("precision"), is_rounded, "{ts}");
    }
}

#[test]
fn all_damaged_events_are_found() {
    let good = event("I", 5, "");
    let bad = event("I", 5, r#","args":{"a":NaN,"b":01}"#);
    let text = format!("[{bad},{good},{bad},{good},{bad},{bad}]");
    for number in 0..20 {
        let report = check_inputs(&[text.as_bytes()], &[], knobs(number)).expect("sound");
        assert_eq!(counts(&report), BTreeMap::from([("nan", 4)]));
    }
}

fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn merged_traces_of_real_programs_have_no_errors() {
    for name in ["node/trace.json", "node/trace-2.json", "chromium/trace.json.gz"] {
        let source = [Source::Path(beside("testdata").join(name))];
        let (merged, _) = crate::run::run_sources(&source, None, &config(PLAIN)).expect("sound");
        let report = check_inputs(&[&merged], &[], knobs(3)).expect("sound");
        assert_eq!(report.count(Severity::Error), 0, "{name}: {:?}", plain(&report));
        assert!(!counts(&report).contains_key("unsorted"), "{name}");
    }
    let profiles = [Source::Path(beside("testdata/node-cpu-prof"))];
    let report = check(&profiles, &[], &config(PLAIN)).expect("sound");
    assert!(report.is_clean(), "{:?}", plain(&report));
}

/// Traces of real programs, and the names of their known problems.
const REAL: [(&str, &[&str]); 14] = [
    ("nasty-strings/node20-nasty-marks.log", &["malformed"]),
    ("tracing-chrome/aborted.json", &["truncated"]),
    ("speedscope-trace-event/simple-partial.json", &["unclosed"]),
    ("perfetto/inline-json_trailing_comma.json", &["separators"]),
    ("perfetto/inline-args_ordered.json", &["grammar"]),
    ("viztracer/custom-counters-nan.json", &["nan"]),
    ("derived-encodings/not-perf-leading-comma.json", &["separators"]),
    ("derived-encodings/concatenated-two-docs.json", &["several-documents"]),
    ("keke/keke.json", &["empty-event"]),
    ("bazel/tiny.json.gz", &["unsorted"]),
    ("uftrace/uftrace-chrome.json", &["missing-tid"]),
    ("devtools-edge/e07-lower-i.json", &["lower-instant"]),
    ("devtools-edge/e06-BE-names.json", &["be-threads"]),
    ("devtools-edge/e08-noname.json", &["nameless-end"]),
];

#[test]
fn real_traces_have_their_known_problems() {
    let corpus = beside("../shared/corpus");
    if !corpus.is_dir() {
        return;
    }
    let wrong: Vec<String> = REAL
        .iter()
        .filter_map(|(name, kinds)| {
            let source = [Source::Path(corpus.join(name))];
            let report = match check(&source, &BOTH, &config(PLAIN)) {
                Ok(report) => report,
                Err(error) => return Some(format!("{name}: {error}")),
            };
            let found = counts(&report);
            let all = kinds.iter().all(|kind| found.contains_key(kind));
            (!all).then(|| format!("{name}: {found:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn merged_traces_are_sorted() {
    for seed in seeds(2000, 12) {
        let mut rng = Rng::new(seed);
        let input =
            trace(seed, &TraceShape { profile_streams: 0, ..TraceShape::arbitrary(&mut rng) });
        let (merged, _) = run(&[&input], None, PLAIN).expect("sound");
        let report = check_inputs(&[&merged], &[], knobs(seed as usize)).expect("sound");
        let found = counts(&report);
        for kind in ["unsorted", "unsorted-thread", "late-metadata", "late-untimed"] {
            assert!(!found.contains_key(kind), "seed {seed}: {found:?}");
        }
    }
}

/// Start and duration are both rounded down, so an end may seem one nanosecond too late.
#[test]
fn overlaps_below_a_nanosecond_are_ignored() {
    let overlaps = |events: &[(&str, &str)]| {
        let event = |(ts, dur): &(&str, &str)| {
            format!(
                r#"{{"name":"n","cat":"c","ph":"X","ts":{ts},"dur":{dur},"pid":1,"tid":1,"args":{{}}}}"#
            )
        };
        let events: Vec<String> = events.iter().map(event).collect();
        let input = format!("[{}]", events.join(","));
        let report = check_inputs(&[input.as_bytes()], &[], PLAIN).expect("sound");
        counts(&report).get("overlap").copied().unwrap_or(0)
    };
    // both end at 15.0018
    assert_eq!(overlaps(&[("10.0009", "5.0009"), ("12", "3.0018")]), 0);
    // both end at 20, where the next one begins
    assert_eq!(overlaps(&[("10.0006", "9.9994"), ("11.0004", "8.9996"), ("20", "5")]), 0);
    assert_eq!(overlaps(&[("10.0009", "5.0009"), ("12", "3.004")]), 1);
    // whole nanoseconds are exact
    assert_eq!(overlaps(&[("10.001", "5.001"), ("12", "3.003")]), 1);
    assert_eq!(overlaps(&[("10.001", "5.001"), ("12", "3.002")]), 0);
}
