//! Compares `filter` with the naive reference, whatever the knobs, and tests its laws.

use crate::run::{Folder, Knobs, PLAIN, config, knobs, output_to, over, read};
use crate::trace::assert_same;
use std::sync::Arc;
use tracemill_join::config::pattern::Preset;
use tracemill_join::report::FilterReport;
use tracemill_join::report::warning::Warning;
use tracemill_pipeline::{EventList, EventLister, Filter, ListedBy, ListedEvent, filter};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{self, Criteria};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::time::{Duration, TimePoint};
use tracemill_trace::{Limits, Source};

pub(crate) fn run(inputs: &[&[u8]], wanted: &Filter, knobs: Knobs) -> (Vec<u8>, FilterReport) {
    let folder = Folder::new();
    let target = folder.path("out");
    let run = |sources: &[Source]| {
        filter(sources, wanted, &output_to(&target, Some(Format::Object)), &config(knobs))
            .expect("sound inputs")
    };
    let report = over(inputs, knobs, run);
    (read(&target), report)
}

fn flags(criteria: &Criteria) -> Filter {
    let ids = |ids: &[String]| (!ids.is_empty()).then(|| ids.join(",").parse().expect("ids"));
    let patterns = |parts: &[String]| parts.iter().map(|p| p.parse().expect("sound")).collect();
    let point = |(absolute, ns)| match absolute {
        true => TimePoint::Absolute(ns),
        false => TimePoint::Relative(ns),
    };
    Filter {
        pid: ids(&criteria.pid),
        tid: ids(&criteria.tid),
        process: patterns(&criteria.process),
        thread: patterns(&criteria.thread),
        ph: criteria.ph.clone(),
        cat: criteria.cat.iter().map(|cat| cat.parse().expect("sound")).collect(),
        name: patterns(&criteria.name),
        events: None,
        args: Vec::new(),
        ignore_case: false,
        min_dur: criteria.min_dur.map(Duration),
        max_dur: criteria.max_dur.map(Duration),
        from: criteria.from.map(point),
        to: criteria.to.map(point),
        drop: Vec::new(),
        drop_args: Vec::new(),
        invert: criteria.invert,
        shrink_to: None,
    }
}

fn some(rng: &mut Rng, rate: u64, texts: &[&str]) -> Vec<String> {
    let count = if rng.chance(rate) { 1 + rng.index(3) } else { 0 };
    (0..count).map(|_| (*rng.pick(texts)).to_owned()).collect()
}

fn criteria(rng: &mut Rng) -> Criteria {
    const NAMES: [&str; 8] = ["Task", "GC", "Call", "v8", "Layout", "Paint", "x", "Profile"];
    let micros = |rng: &mut Rng, most| rng.below(most) as i64 * 1000;
    let times = rng.chance(30);
    let base = if rng.chance(50) { 0 } else { 1_712_195_495_533_685_000 };
    let absolute = rng.chance(50);
    let point = |rng: &mut Rng| {
        (times && rng.chance(70))
            .then(|| (absolute, micros(rng, 800) + if absolute { base } else { 0 }))
    };
    let (from, to) = (point(rng), point(rng));
    Criteria {
        pid: some(rng, 20, &["1", "2", "3", "Spans", "0x1"]),
        tid: some(rng, 20, &["1", "2", "4", "-1"]),
        process: some(rng, 10, &["main", "w", "r"]),
        thread: some(rng, 10, &["main", "w", "k"]),
        ph: some(rng, 20, &["X", "B", "E", "b", "s", "N", "i", "P"]),
        cat: some(rng, 30, &NAMES),
        name: some(rng, 30, &NAMES),
        min_dur: rng.chance(25).then(|| micros(rng, 40)),
        max_dur: rng.chance(15).then(|| micros(rng, 40)),
        from,
        to,
        invert: rng.chance(25),
    }
}

/// Generates a trace with names of processes and threads, which are rare in random events.
fn named(rng: &mut Rng, seed: u64) -> Vec<u8> {
    let shape = TraceShape { bom: false, documents: 1, ..TraceShape::arbitrary(rng) };
    let mut input = trace(seed, &shape);
    if rng.chance(60) {
        let mut lines = String::from("\n");
        for _ in 0..rng.range(1, 8) {
            let what = ["process_name", "thread_name"][rng.index(2)];
            let name = ["main", "work\\u0065r", "", "render"][rng.index(4)];
            let (pid, tid) = (rng.range(1, 4), rng.range(1, 4));
            lines.push_str(&format!(
                "{{\"ph\":\"M\",\"name\":\"{what}\",\"pid\":{pid},\"tid\":{tid},\"args\":{{\"name\":\"{name}\"}}}}\n"
            ));
        }
        input.extend_from_slice(lines.as_bytes());
    }
    input
}

fn inputs(rng: &mut Rng, seed: u64) -> Vec<Vec<u8>> {
    (0..1 + rng.index(2)).map(|i| named(rng, seed * 10 + i as u64)).collect()
}

/// Asserts that `filter` keeps the same events as the reference with all knobs. Returns the numbers
/// of kept and dropped events.
#[track_caller]
pub(crate) fn check(
    what: &str,
    inputs: &[&[u8]],
    criteria: &Criteria,
    corners: &[Knobs],
) -> (u64, u64) {
    let object = Some(reference::Format::Object);
    let expected = reference::filter(inputs, criteria, object).expect("sound inputs");
    let (mut kept, mut dropped) = (0, 0);
    for &knobs in corners {
        let (output, report) = run(inputs, &flags(criteria), knobs);
        let what = format!("{what} {criteria:?} {knobs:?}");
        assert_same(&what, &expected, &output);
        let gone: u64 = report.dropped.iter().map(|dropped| dropped.events).sum();
        let all: u64 = report.run.inputs.iter().map(|input| input.events).sum();
        assert_eq!(report.run.events + gone, all, "{what}");
        assert_eq!(report.run.bytes as usize, output.len(), "{what}");
        kept += report.run.events;
        dropped += gone;
    }
    (kept, dropped)
}

#[test]
fn filter_matches_the_reference_on_random_traces() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in seeds(0, 50) {
        let mut rng = Rng::new(seed);
        let inputs = inputs(&mut rng, seed);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let criteria = criteria(&mut rng);
        let corners = [PLAIN, knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)];
        let (stay, go) = check(&format!("seed {seed}"), &inputs, &criteria, &corners);
        kept += stay;
        dropped += go;
    }
    assert!(kept > 1_000 && dropped > 1_000, "{kept} kept, {dropped} dropped");
}

/// Generates a trace with profiles that begin before, after and among their chunks, and some pairs
/// that must wait.
fn with_profiles(rng: &mut Rng) -> Vec<u8> {
    let is_in_order = rng.chance(40);
    let has_pairs = rng.chance(30);
    let mut lines = Vec::new();
    for place in 0..rng.range(40, 400) {
        let (profile, tid) = (rng.below(4), 1 + rng.below(3));
        let head = |tid| {
            format!(
                r#"{{"ph":"P","name":"Profile","id":"{profile}","pid":1,"tid":{tid},"ts":{place}}}"#
            )
        };
        lines.push(match rng.below(100) {
            0..=14 if is_in_order => head(1 + profile % 3),
            0..=3 => head(tid),
            // chunks come from a thread of their own
            4..=39 => format!(
                r#"{{"ph":"P","name":"ProfileChunk","id":"{profile}","pid":1,"tid":9,"ts":{place},"args":"{}"}}"#,
                // sometimes one that is too long for its place
                "x".repeat(if rng.chance(10) { 20_000 } else { 0 })
            ),
            40..=42 => format!(r#"{{"ph":"M","name":"x","pid":1,"tid":{tid}}}"#),
            43..=45 if has_pairs => format!(r#"{{"ph":"B","name":"b","pid":1,"tid":{tid},"ts":{place}}}"#),
            46..=48 if has_pairs => format!(r#"{{"ph":"E","pid":1,"tid":{tid},"ts":{place}}}"#),
            _ => format!(r#"{{"ph":"X","name":"x","pid":1,"tid":{tid},"ts":{place},"dur":{profile}}}"#),
        });
    }
    format!("[{}]", lines.join(",\n")).into_bytes()
}

#[test]
fn events_written_during_the_scan_are_those_kept() {
    let (mut kept, mut dropped) = (0, 0);
    for seed in seeds(3000, 150) {
        let mut rng = Rng::new(seed);
        let input = with_profiles(&mut rng);
        let criteria = Criteria {
            tid: (1..=3).filter(|_| rng.chance(50)).map(|tid: u32| tid.to_string()).collect(),
            ph: if rng.chance(20) { vec!["X".into(), "P".into()] } else { Vec::new() },
            min_dur: rng.chance(20).then_some(2_000),
            invert: rng.chance(30),
            ..Criteria::default()
        };
        let written = |threads, chunk| Knobs { threads, chunk, ..PLAIN };
        let corners = [written(2, 64), written(2, 300), written(7, 1000), written(1, 64)];
        let (stay, go) = check(&format!("seed {seed}"), &[&input], &criteria, &corners);
        kept += stay;
        dropped += go;
    }
    assert!(kept > 10_000 && dropped > 10_000, "{kept} kept, {dropped} dropped");
}

#[test]
fn a_filter_and_its_inverse_partition_the_events() {
    for seed in seeds(1000, 20) {
        let mut rng = Rng::new(seed);
        let input = named(&mut rng, seed);
        let mut wanted = flags(&Criteria { invert: false, ..criteria(&mut rng) });
        if rng.chance(50) {
            wanted.drop = vec![Preset::ALL[rng.index(Preset::ALL.len())]];
        }
        let selected = |wanted: &Filter| {
            let (output, _) = run(&[&input], wanted, knobs(seed as usize));
            let events = reference::events(&output).expect("sound");
            let others = events.into_iter().filter(|e| !e.ph.as_deref().is_some_and(is_metadata));
            others.map(|event| event.bytes).collect::<Vec<_>>()
        };
        let mut both = selected(&wanted);
        wanted.invert = true;
        both.extend(selected(&wanted));
        let mut all = selected(&Filter::default());
        both.sort();
        all.sort();
        assert!(both == all, "seed {seed} {wanted:?}");
    }
}

/// Lists the events whose phase is in a list.
fn listed(inputs: &[&[u8]], phases: &[String], by: ListedBy) -> EventList {
    let limits = Limits::new(2, 32 << 20, std::env::temp_dir());
    let mut lister = EventLister::new(by, &limits);
    for (input, bytes) in inputs.iter().enumerate() {
        let events = reference::events(bytes).expect("sound inputs");
        for (number, event) in events.iter().enumerate().rev() {
            let phase = event.ph.as_deref().and_then(|ph| serde_json::from_str::<String>(ph).ok());
            if phase.is_some_and(|phase| phases.contains(&phase)) {
                let value = match by {
                    ListedBy::Number => number,
                    ListedBy::Offset => event.span.start,
                };
                let listed = ListedEvent { input: input as u32, value: value as u64 };
                (0..1 + number % 2).for_each(|_| lister.push(listed).expect("memory"));
            }
        }
    }
    lister.finish().expect("memory")
}

#[test]
fn listed_events_are_those_of_a_criterion() {
    let mut kept = 0;
    for seed in seeds(4000, 40) {
        let mut rng = Rng::new(seed);
        let inputs = inputs(&mut rng, seed);
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let mut ph = some(&mut rng, 100, &["X", "B", "E", "b", "e", "s", "N", "i", "P", "C"]);
        ph.sort();
        ph.dedup();
        let invert = rng.chance(30);
        let by = [ListedBy::Number, ListedBy::Offset][rng.index(2)];
        let events = Some(Arc::new(listed(&inputs, &ph, by)));
        let list = Filter { events, invert, ..Filter::default() };
        let criterion = Filter { ph, invert, ..Filter::default() };
        for knobs in [PLAIN, knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)] {
            let (expected, theirs) = run(&inputs, &criterion, knobs);
            let (found, ours) = run(&inputs, &list, knobs);
            assert_same(&format!("seed {seed} {by:?} {knobs:?}"), &expected, &found);
            assert_eq!(ours.matching, theirs.matching, "seed {seed}");
            kept += ours.matching;
        }
    }
    assert!(kept > 1000, "only {kept} events are kept");
}

/// A group lasts from its first to its last event: if joined, ids 5 and "5" would last 10 µs, like
/// threads 5 and "5".
#[test]
fn ids_of_different_types_are_different() {
    let text = br#"[{"ph":"b","cat":"c","name":"n","id":5,"pid":1,"tid":1,"ts":0},
{"ph":"e","cat":"c","name":"n","id":5.0,"pid":1,"tid":1,"ts":4},
{"ph":"b","cat":"c","name":"n","id":"5","pid":1,"tid":1,"ts":6},
{"ph":"e","cat":"c","name":"n","id":"\u0035","pid":1,"tid":1,"ts":10},
{"ph":"B","name":"s","pid":1,"tid":5,"ts":20},
{"ph":"E","pid":1,"tid":"5","ts":30}]"#;
    let wanted = Filter { max_dur: Some(Duration(4_000)), ..Filter::default() };
    let (written, report) = run(&[text], &wanted, PLAIN);
    let written = String::from_utf8(written).expect("text");
    assert_eq!(written.matches(r#""cat":"c""#).count(), 4, "{written}");
    // the B has no end; the E has no begin and no duration
    assert!(!written.contains(r#""ph":"B""#) && written.contains(r#""ph":"E""#), "{written}");
    assert_eq!(report.matching, 5);
    let longer = Filter { min_dur: Some(Duration(5_000)), ..Filter::default() };
    let written = String::from_utf8(run(&[text], &longer, PLAIN).0).expect("text");
    assert!(!written.contains(r#""cat":"c""#), "{written}");
}

fn is_metadata(ph: &str) -> bool {
    serde_json::from_str::<String>(ph).is_ok_and(|ph| ph == "M")
}

#[test]
fn shrink_to_keeps_the_longest_events_that_fit() {
    let mut shrunk = 0;
    for seed in seeds(2000, 25) {
        let mut rng = Rng::new(seed);
        let input = named(&mut rng, seed);
        let chosen = Criteria { invert: false, min_dur: None, ..criteria(&mut rng) };
        let (all, _) = run(&[&input], &flags(&chosen), PLAIN);
        let size = all.len() as u64 * rng.range(10, 110) / 100;
        let wanted = Filter { shrink_to: Some(size), ..flags(&chosen) };
        let (output, report) = run(&[&input], &wanted, knobs(seed as usize));
        let least = report.threshold_ns.expect("a size was given");
        // endless events are dropped too if not even they fit
        let most = if least == i64::MAX { Some(-1) } else { chosen.max_dur };
        let longest = Criteria { min_dur: Some(least), max_dur: most, ..chosen };
        let object = Some(reference::Format::Object);
        let expected = reference::filter(&[&input], &longest, object).expect("sound");
        assert_same(&format!("seed {seed} at least {least} ns"), &expected, &output);
        let larger =
            report.run.warnings.iter().any(|warning| matches!(warning, Warning::DoesNotFit { .. }));
        assert_eq!(output.len() as u64 > size, larger, "seed {seed}: {report:?}");
        // if only metadata is left, nothing can be dropped
        assert_eq!(least > 0 || larger, all.len() as u64 > size, "seed {seed}");
        shrunk += u64::from(least > 0 && !larger);
    }
    assert!(shrunk > 1, "{shrunk}");
}

#[test]
fn begins_without_end_are_longest_and_dropped_only_if_too_large() {
    let event = |rest: &str| format!(r#"{{"name":"n","pid":0,"tid":0,{rest}}}"#);
    let begins: Vec<String> = (0..9).map(|ts| event(&format!(r#""ph":"B","ts":{ts}"#))).collect();
    let long = event(r#""ph":"X","ts":0,"dur":1000000"#);
    let name = event(r#""ph":"M","args":{"name":"t"}"#);
    let input = format!("[{name},{long},{}]", begins.join(",\n"));
    let all = run(&[input.as_bytes()], &Filter::default(), PLAIN).0.len() as u64;
    for (size, events, threshold) in
        [(all, 11, 0..2), (all - 1, 10, 1_000_000_001..i64::MAX), (all / 2, 1, i64::MAX..i64::MAX)]
    {
        let wanted = Filter { shrink_to: Some(size), ..Filter::default() };
        let (output, report) = run(&[input.as_bytes()], &wanted, PLAIN);
        assert!(output.len() as u64 <= size, "{size}: {}", output.len());
        let least = report.threshold_ns.expect("a size was given");
        assert_eq!(report.run.events, events, "{size}");
        assert!(threshold.contains(&least) || least == threshold.start, "{size}: {least}");
    }
}
