//! Compares `merge --for` with the naive reference, whatever the knobs. `check --for` must not find
//! the repaired problems.

use crate::corpus::{corpus, files_below};
use crate::run::{Folder, Knobs, PLAIN, config, knobs, over, run_sources};
use crate::trace::{Output, assert_same};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tracemill_inspect::check::check;
use tracemill_join::config::{CheckFor, Config, IdentityRules, Overlaps, PidPolicy, ViewerRules};
use tracemill_join::report::MergeReport;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{self, members};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::{Error, Source};

/// Kinds of findings that an output for DevTools never has.
const DEVTOOLS: [&str; 21] = [
    "nameless-end",
    "missing-name",
    "missing-cat",
    "missing-args",
    "lower-instant",
    "string-time",
    "empty-event",
    "begin-without-end",
    "end-without-begin",
    "be-threads",
    "two-starts",
    "empty-start",
    "many-samples",
    "profile-id2",
    "profiles-alone",
    "deltas-inside",
    "all-hidden",
    "big-id",
    "ndjson",
    "several-documents",
    "separators",
];
/// Kinds of findings that an output for Perfetto never has.
const PERFETTO: [&str; 7] = [
    "id-range",
    "flow-id",
    "opening",
    "ndjson",
    "several-documents",
    "unclosed-object",
    "escaped-pair",
];

pub(crate) fn merge_for(
    inputs: &[&[u8]],
    viewer: ViewerRules,
    knobs: Knobs,
) -> Result<(Vec<u8>, MergeReport), Error> {
    merge_with(inputs, viewer, IdentityRules::default(), knobs)
}

fn merge_with(
    inputs: &[&[u8]],
    viewer: ViewerRules,
    identity: IdentityRules,
    knobs: Knobs,
) -> Result<(Vec<u8>, MergeReport), Error> {
    let config = Config { viewer, identity, ..config(knobs) };
    over(inputs, knobs, |sources| run_sources(sources, None, &config))
}

pub(crate) fn rules(viewer: CheckFor, overlaps: Overlaps) -> ViewerRules {
    ViewerRules { viewer: Some(viewer), overlaps }
}

fn found(text: &[u8], viewer: CheckFor) -> BTreeMap<String, u64> {
    let folder = Folder::new();
    let source = Source::Path(folder.file("out", text));
    let report = check(&[source], &[viewer], &config(PLAIN)).expect("an output is a trace");
    report.findings.iter().map(|finding| (finding.kind.clone(), finding.count)).collect()
}

fn has_overlap(text: &[u8], viewer: CheckFor) -> bool {
    found(text, viewer).contains_key("overlap")
}

#[track_caller]
fn assert_clean(what: &str, text: &[u8], viewer: CheckFor) {
    let found = found(text, viewer);
    let kinds: &[&str] = if viewer == CheckFor::Devtools { &DEVTOOLS } else { &PERFETTO };
    for kind in kinds {
        assert!(!found.contains_key(*kind), "{what}: {kind}: {found:?}");
    }
}

pub(crate) fn changes(report: &MergeReport) -> BTreeMap<&'static str, u64> {
    report.run.viewer.changes.iter().map(|&(name, count, _)| (name, count)).collect()
}

/// Generates random events, and some that often pair or overlap.
fn inputs(seed: u64, rng: &mut Rng) -> Vec<Vec<u8>> {
    let count = 1 + rng.below(2);
    let mut all: Vec<Vec<u8>> =
        (0..count).map(|i| trace(seed * 10 + i, &TraceShape::arbitrary(rng))).collect();
    if rng.chance(70) {
        all.insert(rng.index(all.len() + 1), slices(rng));
    }
    all
}

/// Members of generated slices, with their probability in percent.
const MEMBERS: [(u64, &[&str]); 9] = [
    (85, &[r#""name":"a""#, r#""name":"b""#, r#""n\u0061me":"\u0061""#]),
    (80, &[r#""cat":"c""#, r#""cat":"d""#, r#""cat":"c""#]),
    (
        70,
        &[
            r#""args":{}"#,
            r#""args":{"x":1,"y":{"z":[2]}}"#,
            r#""args":{ "y" : 3 }"#,
            r#""args":null"#,
            r#""args":5"#,
        ],
    ),
    (30, &[r#""tts":5"#, r#""tts":"7.25""#, r#""tts":-1"#]),
    (10, &[r#""sf":3"#, r#""esf":4"#, r#""stack":["f"]"#]),
    (10, &[r#""cname":"good""#, r#""cname":"bad""#, r#""s":"t""#, r#""tdur":1"#]),
    (60, &[r#""dur":3"#, r#""dur":"12.5""#, r#""dur":40.000000001"#, r#""dur":7"#]),
    (100, &[r#""pid":1"#, r#""pid":1"#, r#""pid":1.0"#, r#""pid":7000000000"#, r#""pid":"1""#]),
    (95, &[r#""tid":2"#, r#""tid":2"#, r#""tid":139693758835584"#, r#""tid":3"#]),
];

fn slices(rng: &mut Rng) -> Vec<u8> {
    let mut time = 50;
    let mut event = || {
        let ph = rng.pick(&["B", "B", "E", "E", "X"]).to_owned();
        time += rng.below(5);
        let late = if rng.chance(10) { rng.below(30) } else { 0 };
        let ts = format!("{}.{:04}", time - late, rng.below(3) * 2500);
        let mut fields = vec![format!(r#""ph":"{ph}""#), format!(r#""ts":{ts}"#)];
        for (rate, all) in MEMBERS {
            if rng.chance(rate) {
                fields.push((*rng.pick(all)).to_owned());
            }
        }
        format!("{{{}}}", fields.join(","))
    };
    let events: Vec<String> = (0..60).map(|_| event()).collect();
    format!("[{}]", events.join(",\n")).into_bytes()
}

/// Returns the names of ids that may exceed 2^53, which the reference does not change.
fn large_ids(event: &str) -> Option<Vec<Vec<u8>>> {
    let is_long =
        |value: &str| value.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > 15);
    let ids = ["pid", "tid", "id", "id2", "bind_id"].map(|name| name.as_bytes().to_vec());
    let all = members(event)?;
    let large = ids.into_iter().filter(|name| all.get(name).is_some_and(|value| is_long(value)));
    Some(large.collect::<Vec<_>>()).filter(|large| !large.is_empty())
}

#[track_caller]
pub(crate) fn compare(what: &str, inputs: &[&[u8]], corners: &[Knobs]) -> MergeReport {
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(inputs, rules, PLAIN).expect("sound");
    let expected = reference::for_devtools(inputs).expect("sound");
    let events = Output::parse(report.run.format, &output).events;
    assert_eq!(events.len() as u64, report.run.events, "{what}");
    for (at, (expected, got)) in expected.iter().zip(&events).enumerate() {
        let got = std::str::from_utf8(got).expect("UTF-8");
        if let Some(large) = large_ids(&expected.text) {
            let rest = |text: &str| {
                let mut all = members(text).expect("an object");
                large.iter().for_each(|name| drop(all.remove(name)));
                all
            };
            assert_eq!(rest(&expected.text), rest(got), "{what}, event {at}: {got}");
            continue;
        }
        match expected.merged {
            true => assert_eq!(members(&expected.text), members(got), "{what}, event {at}: {got}"),
            false => assert_eq!(expected.text, got, "{what}, event {at}"),
        }
    }
    assert_eq!(expected.len(), events.len(), "{what}");
    assert_clean(what, &output, CheckFor::Devtools);
    for &knobs in corners {
        let (again, other) = merge_for(inputs, rules, knobs).expect("sound");
        assert_same(&format!("{what} {knobs:?}"), &output, &again);
        assert_eq!(changes(&report), changes(&other), "{what} {knobs:?}");
    }
    report
}

#[test]
fn output_for_devtools_matches_the_reference() {
    let mut all = BTreeMap::new();
    for seed in seeds(0, 250) {
        let what = format!("seed {seed}");
        let mut rng = Rng::new(seed);
        let inputs = inputs(seed, &mut rng);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let corners = [0, 1, 2].map(|number| knobs(seed as usize * 3 + number));
        let report = compare(&what, &inputs, &corners);
        for (name, count) in changes(&report) {
            *all.entry(name).or_insert(0) += count;
        }
    }
    for name in
        ["pairs", "open-begins", "lone-ends", "end-keys", "instants", "names", "cats", "args"]
    {
        assert!(all.get(name).is_some_and(|&count| count > 10), "{name}: {all:?}");
    }
    assert!(all["quoted-times"] > 10 && all["empty-events"] > 10, "{all:?}");
}

/// An X event with a duration, or a pair of B and E.
struct Slice {
    events: Vec<usize>,
    thread: String,
    /// Start in nanoseconds, rounded down.
    start: i64,
    end: i64,
    /// Whether begin and end are whole nanoseconds, if that matters.
    exact: bool,
}

/// Returns the track of each slice: the first without an overlap; 0 is the thread.
fn lanes(slices: &[Slice]) -> Vec<usize> {
    let mut lanes: Vec<usize> = Vec::new();
    for (at, slice) in slices.iter().enumerate() {
        let overlaps = |lane: usize| {
            slices[..at].iter().zip(&lanes).any(|(other, &earlier_lane)| {
                // times finer than a nanosecond may differ by one without an overlap
                let least = if slice.exact && other.exact { 0 } else { 1 };
                // an X event and a pair nest, whichever comes first
                let is_before = other.start < slice.start
                    || other.start == slice.start && slice.events.len() == other.events.len();
                let inside = is_before && slice.start < other.end;
                other.thread == slice.thread
                    && earlier_lane == lane
                    && inside
                    && slice.end.saturating_sub(other.end) > least
            })
        };
        lanes.push((0..).find(|&lane| !overlaps(lane)).expect("there is no last lane"));
    }
    lanes
}

fn slices_of(events: &[reference::RawEvent]) -> Vec<Slice> {
    let nanos = |value: &Option<String>| {
        let time = reference::time(value.as_deref()?)?;
        let ns = time.nanos_floor();
        Some((ns, reference::time(&format!("{ns}e-3")) == Some(time)))
    };
    let id = |value: &Option<String>| {
        let value = value.as_deref().unwrap_or("-");
        reference::time(value)
            .filter(|_| !value.starts_with('"'))
            .map_or(value.to_owned(), |n| format!("{n:?}"))
    };
    let text = |value: &Option<String>| -> Option<String> {
        let value: serde_json::Value = serde_json::from_str(value.as_deref()?).ok()?;
        Some(value.to_string()).filter(|_| !value.is_null() && value != "")
    };
    let (mut all, mut open) = (Vec::new(), Vec::<(usize, String, Option<String>, i64)>::new());
    for (number, event) in events.iter().enumerate() {
        let Some((start, is_whole)) = nanos(&event.ts) else { continue };
        let thread = format!("{} {}", id(&event.pid), id(&event.tid));
        let name = text(&event.name);
        match text(&event.ph).as_deref() {
            Some("\"X\"") => {
                let Some((dur, whole)) = nanos(&event.dur).filter(|length| length.0 > 0) else {
                    continue;
                };
                let (end, exact) = (start.saturating_add(dur), whole && is_whole);
                all.push(Slice { events: vec![number], thread, start, end, exact });
            }
            Some("\"B\"") => open.push((number, thread, name, start)),
            Some("\"E\"") => {
                let of_name = |candidate: &(usize, String, Option<String>, i64)| {
                    candidate.1 == thread && name.is_some() && candidate.2 == name
                };
                let position = open.iter().rposition(of_name);
                let Some(position) =
                    position.or_else(|| open.iter().rposition(|begin| begin.1 == thread))
                else {
                    continue;
                };
                let (begin, _, _, from) = open.remove(position);
                let (events, end) = (vec![begin, number], start);
                if from < end {
                    all.push(Slice { events, thread, start: from, end, exact: true });
                }
            }
            _ => {}
        }
    }
    all.sort_by_key(|slice| slice.events[0]);
    all
}

fn is_outside(tid: &str) -> bool {
    let limit = |text: &str| reference::time(text).expect("a number");
    let number = reference::time(tid).filter(|_| !tid.starts_with('"'));
    number.is_some_and(|number| number > limit("4294967295") || number < limit("0"))
}

/// Asserts that only `changed` members of an event differ, and that they may.
#[track_caller]
fn assert_only(
    what: &str,
    (old, new): (&reference::RawEvent, &reference::RawEvent),
    changed: &BTreeSet<&str>,
    (overlaps, lane): (Overlaps, usize),
) {
    let ph: Option<String> = old.ph.as_deref().and_then(|ph| serde_json::from_str(ph).ok());
    let is_one_of = |phases: &[&str]| ph.as_deref().is_some_and(|ph| phases.contains(&ph));
    let (spills, clips) = (overlaps == Overlaps::Spill, overlaps == Overlaps::Clip);
    // with clipped X events, tracks are assigned differently
    let pair_may_move = clips && is_one_of(&["B", "E"]);
    if spills && lane > 0 {
        assert!(changed.contains("tid"), "{what}: {old:?}");
    }
    if !spills || lane == 0 {
        let outside = old.tid.as_deref().is_some_and(is_outside);
        let may_change = outside || pair_may_move;
        assert!(!changed.contains("tid") || may_change, "{what}: {old:?} {new:?}");
    }
    assert!(clips || !changed.contains("dur"), "{what}: {old:?} {new:?}");
    let id_may_change = is_one_of(&["s", "t", "f"]);
    assert!(id_may_change || !changed.contains("id"), "{what}: {old:?} {new:?}");
    let rest = |event: &reference::RawEvent| -> BTreeMap<_, _> {
        let mut all =
            members(std::str::from_utf8(&event.bytes).expect("UTF-8")).expect("an object");
        ["pid", "tid", "id", "bind_id", "dur"]
            .iter()
            .for_each(|name| drop(all.remove(name.as_bytes())));
        all
    };
    assert_eq!(rest(old), rest(new), "{what}");
    if changed.is_empty() {
        assert_eq!(old.bytes, new.bytes, "{what}");
    }
}

#[test]
fn output_for_perfetto_has_only_reported_changes() {
    let mut all = BTreeMap::new();
    for seed in seeds(0, 250) {
        let what = format!("seed {seed}");
        let mut rng = Rng::new(seed);
        let inputs = inputs(seed, &mut rng);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let overlaps = [Overlaps::Spill, Overlaps::Clip, Overlaps::Keep][rng.index(3)];
        let rules = rules(CheckFor::Perfetto, overlaps);
        let (output, report) = merge_for(&inputs, rules, PLAIN).expect("sound");
        let plain = reference::merge(&inputs, Some(reference::Format::Object)).expect("sound");
        let plain = reference::with_characters(std::str::from_utf8(&plain).expect("UTF-8"));
        let mut before = reference::events(plain.as_bytes()).expect("sound");
        before.retain(|event| !event.members.is_empty());
        let after = reference::events(&output).expect("sound");
        let changes_of = changes(&report);
        let lane_events = changes_of.get("lanes").copied().unwrap_or(0) as usize;
        assert_eq!(
            (after.len(), report.run.events as usize),
            (before.len() + lane_events, after.len()),
            "{what}"
        );
        let after = &after[lane_events..];
        let slices = slices_of(&before);
        let of_slices = slices.iter().zip(lanes(&slices));
        let lanes: BTreeMap<usize, usize> = of_slices
            .flat_map(|(slice, lane)| slice.events.iter().map(move |&number| (number, lane)))
            .collect();
        for (number, (old, new)) in before.iter().zip(after).enumerate() {
            let lane = lanes.get(&number).copied().unwrap_or(0);
            let mut changed: BTreeSet<&str> = ["pid", "tid", "id", "bind_id", "dur"].into();
            changed.retain(|name| old.get(name) != new.get(name));
            assert_only(&what, (old, new), &changed, (overlaps, lane));
        }
        // an event without an id cannot be given one
        let is_null = |event: &reference::RawEvent| event.id.as_deref() == Some("null");
        if !after.iter().any(is_null) {
            assert_clean(&what, &output, CheckFor::Perfetto);
        }
        let overlap = has_overlap(&output, CheckFor::Perfetto);
        assert!(!overlap || overlaps == Overlaps::Keep, "{what}");
        for number in 0..3 {
            let knobs = knobs(seed as usize * 3 + number);
            let (again, other) = merge_for(&inputs, rules, knobs).expect("sound");
            assert_same(&format!("{what} {knobs:?}"), &output, &again);
            assert_eq!(changes_of, changes(&other), "{what} {knobs:?}");
        }
        for (name, count) in changes_of {
            *all.entry(name).or_insert(0) += count;
        }
    }
    let done =
        "empty-events pids tids flow-ids flow-id2 escapes spilled spilled-pairs lanes clipped";
    for name in done.split(' ') {
        assert!(all.get(name).is_some_and(|&count| count > 0), "{name}: {all:?}");
    }
}

/// Merged real traces have no findings for the viewer, and keep everything else.
#[test]
fn real_traces_have_no_findings_after_repair() {
    let Some(folder) = corpus() else { return };
    let mut files = Vec::new();
    files_below(&folder, &mut files);
    files.sort();
    let (mut traces, mut pairs, mut mended) = (0, 0, 0);
    for (number, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&folder).unwrap_or(Path::new("")).display().to_string();
        if name.contains("golden/") || file.metadata().is_ok_and(|data| data.len() > 20 << 20) {
            continue;
        }
        for viewer in [CheckFor::Devtools, CheckFor::Perfetto] {
            let config = Config { viewer: rules(viewer, Overlaps::Spill), ..config(PLAIN) };
            let source = [Source::Path(file.clone())];
            let Ok((output, report)) = run_sources(&source, None, &config) else { continue };
            assert_clean(&name, &output, viewer);
            assert!(!has_overlap(&output, viewer), "{name}");
            let changes = changes(&report);
            pairs += changes.get("pairs").copied().unwrap_or(0);
            mended += changes.get("mended").copied().unwrap_or(0);
            let knobs = Knobs { threads: 7, budget: Some(2000), chunk: 5000, ..knobs(number) };
            if knobs.read_size.is_none() && output.len() < 1 << 22 {
                let config = Config { viewer: config.viewer, ..crate::run::config(knobs) };
                let (again, _) = run_sources(&source, None, &config).expect("a trace");
                assert_same(&format!("{name} {knobs:?}"), &output, &again);
            }
            traces += 1;
        }
    }
    assert!(traces > 100 && pairs > 500 && mended > 0, "{traces} {pairs} {mended}");
}

fn one(events: &str) -> Vec<u8> {
    format!("{{\"traceEvents\":[{events}]}}").into_bytes()
}

/// Recordings of a browser, of another program that begins earlier, and of another browser.
#[test]
fn merged_browsers_keep_one_start_and_all_pages() {
    let start = |ts: u64, pid: u64| {
        format!(
            r#"{{"name":"TracingStartedInBrowser","cat":"c","ph":"I","ts":{ts},"pid":1,"tid":1,"args":{{"data":{{"frames":[{{"frame":"F{pid}","processId":{pid},"url":"http://h/{pid}"}}]}}}}}}"#
        )
    };
    let event = |ts: u64, pid: u64| {
        format!(
            r#"{{"name":"n","cat":"c","ph":"X","ts":{ts},"dur":1,"pid":{pid},"tid":7,"args":{{}}}}"#
        )
    };
    let to = r#"{"name":"navigationStart","cat":"c","ph":"R","ts":103,"pid":5,"tid":1,"args":{"frame":"F5","data":{"isOutermostMainFrame":true,"documentLoaderURL":"http://to/"}}}"#;
    let browser = one(&[start(100, 5), event(101, 5), event(102, 1), to.into()].join(","));
    let second = one(&[start(300, 6), event(301, 6)].join(","));
    let node = one(&[event(50, 9), event(250, 9)].join(","));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    for order in [[&browser, &second, &node], [&node, &second, &browser]] {
        let inputs = order.map(|input| &**input);
        let auto = IdentityRules { pid: PidPolicy::Auto, ..IdentityRules::default() };
        let (output, report) = merge_with(&inputs, rules, auto, PLAIN).expect("sound");
        let changes = changes(&report);
        assert_eq!(changes, BTreeMap::from([("pages", 1), ("start-moved", 1), ("starts", 1)]));
        let events = reference::events(&output).expect("sound");
        assert_eq!(events.len(), 8);
        let named = |name: &str| -> Vec<String> {
            let named = events.iter().filter(|event| event.name.as_deref() == Some(name));
            named.map(|event| String::from_utf8(event.bytes.clone()).expect("UTF-8")).collect()
        };
        let start = &named("\"TracingStartedInBrowser\"")[0];
        // the main frame of the earliest comes last, and DevTools uses it
        assert!(start.contains(r#""frames":[{"frame":"F6""#), "{start}");
        assert!(start.contains("\"ts\":50") && start.find("F6") < start.find("F5"), "{start}");
        assert!(start.contains(r#""url":"http://to/""#), "where it went to: {start}");
        let load = &named("\"CommitLoad\"")[0];
        assert!(
            load.contains("\"url\":\"process:9\"")
                && load.contains("\"pid\":9,\"tid\":7,\"ts\":50")
        );
        let hidden = found(&output, CheckFor::Devtools);
        assert_eq!(hidden.get("hidden-process"), Some(&1), "the browser's own stays hidden");
    }
    let bare = one(
        r#"{"name":"TracingStartedInBrowser","cat":"c","ph":"I","ts":5,"pid":1,"tid":1,"args":{}}"#,
    );
    for (inputs, left) in [(vec![&*browser, &bare], 1), (vec![&bare], 0)] {
        let (output, report) = merge_for(&inputs, rules, PLAIN).expect("sound");
        assert_eq!(changes(&report).get("bare-starts"), Some(&1));
        let events = reference::events(&output).expect("sound");
        let name = Some("\"TracingStartedInBrowser\"");
        assert_eq!(events.iter().filter(|event| event.name.as_deref() == name).count(), left);
    }
    let (output, report) = merge_for(&[&node], rules, PLAIN).expect("sound");
    assert!(report.run.viewer.changes.is_empty(), "what is not of a browser stays so");
    assert_eq!(reference::events(&output).expect("sound").len(), 2);
}

/// An oversized CPU profile chunk, `NaN`, and a raw control character.
#[test]
fn repairs_chunks_and_json_for_devtools() {
    let list = vec!["1"; 25_000].join(",");
    let chunk = format!(
        r#"{{"name":"ProfileChunk","cat":"c","ph":"P","id":"0x1","pid":1,"tid":1,"ts":2,"args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1}}],"samples":[{list}]}},"timeDeltas":[{list}]}}}}}}"#
    );
    let head =
        r#"{"name":"Profile","cat":"c","ph":"P","id":"0x1","pid":1,"tid":1,"ts":1,"args":{}}"#;
    let odd = "{\"name\":\"a\tb\",\"cat\":\"c\",\"ph\":\"X\",\"dur\":1,\"pid\":1,\"tid\":1,\"ts\":3,\"args\":{\"x\":NaN}}";
    let mut input = one(&[head, &chunk, odd].join(","));
    input.truncate(input.len() - 1);
    input.extend_from_slice(b",\"metadata\":{\"a\":-Infinity}}");
    let (output, report) =
        merge_for(&[&input], rules(CheckFor::Devtools, Overlaps::Keep), PLAIN).expect("sound");
    let expected =
        BTreeMap::from([("chunk-parts", 2), ("chunks", 1), ("mended", 1), ("mended-keys", 1)]);
    assert_eq!((changes(&report), report.run.events), (expected, 5));
    let value: serde_json::Value = serde_json::from_slice(&output).expect("strict JSON");
    let samples = value["traceEvents"].as_array().expect("events").iter();
    let samples = samples.filter_map(|e| e.pointer("/args/data/cpuProfile/samples")?.as_array());
    assert_eq!(samples.map(Vec::len).collect::<Vec<_>>(), [10_000, 10_000, 5000]);
    assert_eq!(value["traceEvents"][4]["name"], "a\tb");
    assert_eq!(value["metadata"]["a"], serde_json::Value::Null);
    assert_eq!(report.run.format, Format::Object);
    assert_clean("odd", &output, CheckFor::Devtools);
}

fn texts(output: &[u8]) -> Vec<String> {
    let events = reference::events(output).expect("sound");
    events.into_iter().map(|event| String::from_utf8(event.bytes).expect("UTF-8")).collect()
}

#[test]
fn pairs_with_equal_times_nest_in_the_order_of_their_begins() {
    let half = |ph: &str, name: &str, ts: u64| {
        format!(
            r#"{{"ph":"{ph}","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"args":{{}}}}"#
        )
    };
    let nested = ["a", "b", "c"].map(|name| half("B", name, 10));
    let ends = ["c", "b", "a"].map(|name| half("E", name, 20));
    let input = one(&[nested.join(","), ends.join(",")].join(","));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, _) = merge_for(&[&input], rules, PLAIN).expect("sound");
    let names = texts(&output);
    assert!(
        ["a", "b", "c"].iter().zip(&names).all(|(name, text)| {
            text.contains(&format!(r#""ph":"X","name":"{name}""#)) && text.contains("\"dur\":10")
        }),
        "{names:?}"
    );
}

#[test]
fn ids_that_javascript_rounds_are_replaced_for_devtools() {
    let event = |tid: &str, id: &str| {
        format!(
            r#"{{"name":"n","cat":"c","ph":"b","pid":1,"tid":{tid},"ts":9,"id":{id},"args":{{}}}}"#
        )
    };
    let (large, one_more) = ("16190951540141881971", "16190951540141881972");
    let input = one(&[event(large, large), event(one_more, one_more), event("5", "6")].join(","));
    assert_eq!(found(&input, CheckFor::Devtools).get("big-id"), Some(&4));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    assert_eq!(changes(&report), BTreeMap::from([("big-ids", 2), ("tids", 2)]));
    assert_clean("big ids", &output, CheckFor::Devtools);
    let [a, b, c] = &texts(&output)[..] else { panic!("three events") };
    assert!(
        a.contains(&format!("\"id\":\"{large}\"")) && !a.contains(&format!("\"tid\":{large}")),
        "{a}"
    );
    assert!(b.contains(&format!("\"id\":\"{one_more}\"")), "{b}");
    assert_eq!(*c, event("5", "6"));
}

#[test]
fn time_steps_move_to_where_devtools_reads_them() {
    let chunk = |inside: &str, outside: &str| {
        one(&format!(
            r#"{{"name":"ProfileChunk","cat":"c","ph":"P","id":"0x1","pid":1,"tid":1,"ts":2,"args":{{"data":{{{outside}"cpuProfile":{{"samples":[2,1]{inside}}}}}}}}}"#
        ))
    };
    let input = chunk(r#","timeDeltas":[5,6],"x":1,"lines":[7,8]"#, "");
    assert_eq!(found(&input, CheckFor::Devtools).get("deltas-inside"), Some(&1));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    assert_eq!(changes(&report).get("moved-deltas"), Some(&1));
    assert_clean("deltas", &output, CheckFor::Devtools);
    let text = &texts(&output)[0];
    let moved =
        r#"{"data":{"timeDeltas":[5,6],"lines":[7,8],"cpuProfile":{"samples":[2,1],"x":1}}}"#;
    assert!(text.contains(moved), "{text}");
    let sound = chunk("", r#""timeDeltas":[5,6],"#);
    assert!(!found(&sound, CheckFor::Devtools).contains_key("deltas-inside"));
}

#[test]
fn a_browser_without_a_page_is_drawn() {
    let started = r#"{"name":"TracingStartedInPage","cat":"c","ph":"I","pid":1,"tid":1,"ts":1,"args":{"data":{}}}"#;
    let slice = r#"{"name":"n","cat":"c","ph":"X","pid":1,"tid":1,"ts":10,"dur":5,"args":{}}"#;
    let input = one(&[started, slice].join(","));
    assert_eq!(found(&input, CheckFor::Devtools).get("all-hidden"), Some(&1));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    assert_eq!(changes(&report).get("pages"), Some(&1));
    assert_clean("no page", &output, CheckFor::Devtools);
    // a blank page counts as a page
    let start = r#"{"name":"TracingStartedInBrowser","cat":"c","ph":"I","pid":2,"tid":1,"ts":1,"args":{"data":{"frames":[{"frame":"F","processId":1,"url":"about:blank"}]}}}"#;
    let input = one(&[start, slice].join(","));
    assert!(!found(&input, CheckFor::Devtools).contains_key("all-hidden"));
    // CPU profiles saved by DevTools have no page
    let profile = r#"{"name":"CpuProfile","cat":"c","ph":"X","id":"0x1","pid":1,"tid":1,"ts":1,"dur":9,"args":{"data":{"cpuProfile":{}}}}"#;
    let input = one(profile);
    assert!(!found(&input, CheckFor::Devtools).contains_key("all-hidden"));
    let (_, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    assert_eq!(changes(&report).get("pages"), None);
}

/// Events whose args DevTools reads unchecked, and browser starts without data, in any phase.
#[test]
fn missing_args_are_added_for_devtools() {
    let bare = [
        r#"{"name":"Paint","cat":"c","ph":"X","ts":2,"dur":1,"pid":1,"tid":1,"args":{}}"#,
        r#"{"name":"Paint","cat":"c","ph":"X","ts":3,"dur":1,"pid":1,"tid":1}"#,
        r#"{"name":"firstPaint","cat":"c","ph":"R","ts":4,"pid":1,"tid":1,"args":{"frame":"F"}}"#,
        r#"{"name":"firstPaint","cat":"c","ph":"R","ts":5,"pid":1,"tid":1,"args":{"data":{"navigationId":""}}}"#,
        r#"{"name":"MarkLoad","cat":"c","ph":"I","ts":6,"pid":1,"tid":1,"args":{"data":{"x":1}}}"#,
        r#"{"name":"ParseHTML","cat":"c","ph":"X","ts":7,"dur":1,"pid":1,"tid":1,"args":null}"#,
        r#"{"name":"TracingStartedInBrowser","cat":"c","ph":"M","ts":1,"pid":1,"tid":1}"#,
        r#"{"name":"thread_name","cat":"c","ph":"M","ts":8,"pid":1,"tid":1,"args":{"name":12}}"#,
    ];
    let input = one(&bare.join(","));
    let folder = Folder::new();
    let check = |text: &[u8]| {
        let source = Source::Path(folder.file("in", text));
        let report =
            tracemill_inspect::check::check(&[source], &[CheckFor::Devtools], &config(PLAIN));
        let findings = report.expect("a trace").findings.into_iter();
        let errors = findings.filter(|f| f.severity == tracemill_inspect::check::Severity::Error);
        errors.map(|finding| (finding.kind, finding.count)).collect::<Vec<_>>()
    };
    // the process of ParseHTML has no page here, so DevTools does not show it
    let errors = [("bare-args", 6), ("empty-start", 1)];
    let errors = errors.map(|(kind, count)| (kind.to_owned(), count));
    assert_eq!(BTreeMap::from_iter(check(&input)), BTreeMap::from(errors));
    let rules = rules(CheckFor::Devtools, Overlaps::Keep);
    let (output, report) = merge_for(&[&input], rules, PLAIN).expect("sound");
    let expected = BTreeMap::from([("bare-starts", 1), ("page-args", 6), ("thread-names", 1)]);
    assert_eq!((changes(&report), report.run.events), (expected, 7));
    assert_eq!(check(&output), []);
    let value: serde_json::Value = serde_json::from_slice(&output).expect("JSON");
    let args: Vec<_> = value["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .map(|e| e["args"].to_string())
        .collect();
    let expected = [
        r#"{"name":"12"}"#,
        r#"{"data":{}}"#,
        r#"{"data":{}}"#,
        r#"{"data":{"navigationId":"none"},"frame":"F"}"#,
        r#"{"data":{"navigationId":"none"}}"#,
        r#"{"data":{"frame":"none","x":1}}"#,
        r#"{"beginData":{}}"#,
    ];
    assert_eq!(args, expected);
}
