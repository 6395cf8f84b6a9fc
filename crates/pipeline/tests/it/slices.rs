//! Compares slices of random traces with the naive reference, byte for byte, and tests the laws of
//! slicing.

use crate::run::{Folder, Knobs, PLAIN, config, knobs, output_to, over, read, run};
use crate::trace::assert_same;
use std::collections::BTreeMap;
use tracemill_index::slice;
use tracemill_join::report::AnnotationReport;
use tracemill_pipeline::SliceReport;
use tracemill_testkit::generate::{ProfileShape, TraceShape, profile_trace, trace};
use tracemill_testkit::{Rng, reference, seeds};
use tracemill_trace::output::target::Format;
use tracemill_trace::run::error::ErrorClass;
use tracemill_trace::time::windows::{Edges, Moment, TimeWindow};
use tracemill_trace::{Error, Source};

type Sliced = Result<(Vec<u8>, SliceReport), Error>;

fn time(ns: Option<i64>) -> Option<Moment> {
    ns.map(Moment::At)
}

pub(crate) fn absolute(windows: &[reference::Window]) -> Vec<TimeWindow> {
    windows.iter().map(|&(from, to)| TimeWindow { from: time(from), to: time(to) }).collect()
}

pub(crate) fn run_slice(
    inputs: &[&[u8]],
    windows: &[TimeWindow],
    edges: Edges,
    format: Option<Format>,
    knobs: Knobs,
) -> Sliced {
    let folder = Folder::new();
    let target = folder.path("out");
    let output = output_to(&target, format);
    let work = |sources: &[Source]| slice(sources, windows, edges, &output, &config(knobs));
    let report = over(inputs, knobs, work)?;
    Ok((read(&target), report))
}

const EDGES: [(Edges, reference::Edges); 3] = [
    (Edges::Clip, reference::Edges::Clip),
    (Edges::Keep, reference::Edges::Keep),
    (Edges::Drop, reference::Edges::Drop),
];

/// Returns times for edges: those of events, and nearby ones.
fn edges_of(rng: &mut Rng, inputs: &[&[u8]]) -> Vec<i64> {
    let events = inputs.iter().flat_map(|input| reference::events(input).expect("well-formed"));
    let mut times: Vec<i64> = events
        .filter_map(|event| {
            event.ts?.trim_matches('"').split(['.', 'e', 'E']).next()?.parse::<i64>().ok()
        })
        .filter_map(|micros| micros.checked_mul(1000))
        .collect();
    times.push(5000);
    let count = 1 + rng.index(5);
    let mut edges = Vec::new();
    for _ in 0..count {
        let time = times[rng.index(times.len())];
        let beside = [0, 0, 0, 1, -1, 500, 1000, 20_000, -20_000][rng.index(9)];
        edges.push(time.saturating_add(beside));
    }
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Returns separate windows between those times, in order.
fn windows_between(rng: &mut Rng, edges: &[i64]) -> Vec<reference::Window> {
    let mut windows: Vec<reference::Window> =
        edges.chunks_exact(2).map(|pair| (Some(pair[0]), Some(pair[1]))).collect();
    if edges.len() % 2 == 1 {
        windows.push((edges.last().copied(), None));
    }
    if rng.chance(20) {
        windows[0].0 = None;
    }
    windows
}

fn formats(format: Option<Format>) -> Option<reference::Format> {
    format.map(|format| match format {
        Format::Object => reference::Format::Object,
        Format::Array => reference::Format::Array,
        Format::Ndjson => reference::Format::Ndjson,
    })
}

/// Generates a trace without chunked streams; some have events that slices treat specially.
fn sliceable(seed: u64, rng: &mut Rng) -> Vec<u8> {
    let mut shape = TraceShape { profile_streams: 0, ..TraceShape::arbitrary(rng) };
    if rng.chance(60) {
        // repeated ids and names make pairs
        shape.odd = 0;
    }
    let text = String::from_utf8(trace(seed, &shape)).expect("traces are text");
    let text = match rng.below(3) {
        0 => text
            .replace("\"Paint\"", "\"TracingStartedInBrowser\"")
            .replace("\"MinorGC\"", "\"CommitLoad\""),
        1 => {
            text.replace("\"Layout\"", "\"FunctionCall\"").replace("\"v8.compile\"", "\"Profile\"")
        }
        _ => text,
    };
    // generated durations are short
    let text = if rng.chance(70) {
        text.replace("\"dur\":3", "\"dur\":37").replace("\"dur\":2", "\"dur\":210")
    } else {
        text
    };
    text.into_bytes()
}

#[track_caller]
pub(crate) fn check(
    what: &str,
    inputs: &[&[u8]],
    windows: &[reference::Window],
    format: Option<Format>,
    corners: &[Knobs],
) -> usize {
    let mut changed = 0;
    for (edges, reference_edges) in EDGES {
        let what = format!("{what}, {edges:?}, {windows:?}");
        let expected = reference::slice(inputs, windows, reference_edges, formats(format))
            .unwrap_or_else(|e| panic!("{what}: {e}"));
        for &corner in corners {
            let what = format!("{what}, {corner:?}");
            let (got, report) = run_slice(inputs, &absolute(windows), edges, format, corner)
                .unwrap_or_else(|e| panic!("{what}: {e}"));
            if got != expected {
                for (i, input) in inputs.iter().enumerate() {
                    let name = std::env::temp_dir().join(format!("tracemill-slice-failed-{i}"));
                    std::fs::write(name, input).expect("writable");
                }
            }
            assert_same(&what, &expected, &got);
            changed +=
                (report.clipped + report.opened + report.closed + report.counters + report.moved)
                    as usize;
        }
    }
    changed
}

#[test]
fn slices_match_the_reference_on_random_traces() {
    let mut changed = 0;
    for seed in seeds(0, 140) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> =
            (0..1 + rng.index(2) as u64).map(|i| sliceable(seed * 10 + i, &mut rng)).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let edges = edges_of(&mut rng, &inputs);
        let windows = windows_between(&mut rng, &edges);
        let format = [None, None, Some(Format::Ndjson), Some(Format::Array)][rng.index(4)];
        let corners = [PLAIN, knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)];
        changed += check(&format!("seed {seed}"), &inputs, &windows, format, &corners);
    }
    assert!(changed > 1500, "{changed} events cut, opened, closed");
}

/// Asserts that a slice of the whole trace equals a merge, for all kinds of edges.
#[track_caller]
fn check_whole(what: &str, input: &[u8], windows: &[TimeWindow], corner: Knobs) {
    let (merged, _) = run(&[input], None, PLAIN).expect("sound");
    for (edges, _) in EDGES {
        let what = format!("{what}, {edges:?}, {windows:?}, {corner:?}");
        let (sliced, report) = run_slice(&[input], windows, edges, None, corner).expect(&what);
        assert_same(&what, &merged, &sliced);
        let changed =
            report.clipped + report.opened + report.closed + report.counters + report.rebased;
        assert_eq!(
            (changed, report.written.run.annotations),
            (0, AnnotationReport::default()),
            "{what}"
        );
    }
}

#[test]
fn a_slice_of_the_whole_trace_equals_a_merge() {
    let open = TimeWindow { from: None, to: None };
    let far = 9_000_000_000_000_000_000;
    for seed in seeds(0, 15) {
        let mut rng = Rng::new(seed);
        let shape = TraceShape {
            odd: if rng.chance(50) { 0 } else { 10 },
            ..TraceShape::arbitrary(&mut rng)
        };
        let input = trace(seed, &shape);
        let corner = knobs(seed as usize);
        check_whole(&format!("seed {seed}"), &input, &[open], corner);
        if shape.odd == 0 {
            // odd times may be later than any other
            let window = |from, to| [TimeWindow { from: Some(from), to: Some(to) }];
            check_whole(
                &format!("seed {seed}"),
                &input,
                &window(Moment::At(-far), Moment::At(far)),
                corner,
            );
            let relative = window(Moment::FromStart(0), Moment::FromStart(far / 2));
            check_whole(&format!("seed {seed}"), &input, &relative, corner);
            let tail = [TimeWindow { from: Some(Moment::BeforeEnd(far / 2)), to: None }];
            check_whole(&format!("seed {seed}"), &input, &tail, corner);
        }
    }
}

#[test]
fn slicing_twice_changes_nothing() {
    for seed in seeds(1000, 20) {
        let mut rng = Rng::new(seed);
        let input = match rng.below(3) {
            0 => profile_trace(seed, &ProfileShape::arbitrary(&mut rng)),
            1 => trace(seed, &TraceShape { odd: 0, ..TraceShape::arbitrary(&mut rng) }),
            _ => sliceable(seed, &mut rng),
        };
        let edges_at = edges_of(&mut rng, &[&input]);
        let windows = absolute(&windows_between(&mut rng, &edges_at));
        for (edges, _) in EDGES {
            let what = format!("seed {seed}, {edges:?}, {windows:?}");
            let (once, _) = run_slice(&[&input], &windows, edges, None, PLAIN).expect(&what);
            if once.is_empty() {
                // empty NDJSON cannot be recognized
                continue;
            }
            let corner = knobs(seed as usize);
            let (twice, _) = run_slice(&[&once], &windows, edges, None, corner).expect(&what);
            assert_same(&what, &once, &twice);
        }
    }
}

/// Sums the durations of complete events by process, thread and name, in nanoseconds.
fn durations(trace: &[u8]) -> BTreeMap<[Option<String>; 3], i128> {
    let mut sums = BTreeMap::new();
    for event in reference::events(trace).expect("well-formed") {
        if event.ph.as_deref() == Some("\"X\"")
            && let Some(dur) = event.dur
            && event.ts.is_some()
        {
            let (whole, below) = dur.split_once('.').unwrap_or((&dur, ""));
            let ns: i128 = format!("{whole}{below:0<3}").parse().expect("a plain number");
            *sums.entry([event.pid, event.tid, event.name]).or_default() += ns.max(0);
        }
    }
    sums.retain(|_, sum| *sum > 0);
    sums
}

#[test]
fn durations_of_adjacent_windows_add_up() {
    let mut all = 0;
    for seed in seeds(2000, 30) {
        let mut rng = Rng::new(seed);
        let shape = TraceShape {
            odd: 0,
            profile_streams: 0,
            events: 200,
            ..TraceShape::arbitrary(&mut rng)
        };
        let text = String::from_utf8(trace(seed, &shape))
            .expect("text")
            .replace("\"dur\":3", "\"dur\":375");
        let edges = edges_of(&mut rng, &[text.as_bytes()]);
        let mut windows = vec![(None, edges.first().copied())];
        windows.extend(edges.windows(2).map(|pair| (Some(pair[0]), Some(pair[1]))));
        windows.push((edges.last().copied(), None));
        let mut sums: BTreeMap<_, i128> = BTreeMap::new();
        for window in windows {
            let input = text.as_bytes();
            let (part, _) =
                run_slice(&[input], &absolute(&[window]), Edges::Clip, None, PLAIN).expect("sound");
            for (lane, sum) in durations(&part) {
                *sums.entry(lane).or_default() += sum;
            }
        }
        let expected = durations(text.as_bytes());
        all += expected.len();
        assert_eq!(expected, sums, "seed {seed}");
    }
    assert!(all > 300, "{all} lanes");
}

#[test]
fn impossible_windows_are_refused() {
    let window = |from, to| [TimeWindow { from: Some(from), to: Some(to) }];
    let input = br#"[{"ph":"i","ts":10}]"#;
    for windows in [
        &window(Moment::At(5), Moment::At(5))[..],
        &window(Moment::FromStart(5), Moment::At(9)),
        &[],
    ] {
        let error = run_slice(&[input], windows, Edges::Clip, None, PLAIN).expect_err("refused");
        assert_eq!(error.class(), ErrorClass::Usage, "{error}");
    }
    let (output, report) =
        run_slice(&[input], &window(Moment::At(0), Moment::At(9)), Edges::Clip, None, PLAIN)
            .expect("empty");
    assert_eq!(output, b"[\n]\n");
    assert!(
        report.is_empty && report.written.run.warnings[0].to_string().contains("the window"),
        "{report:?}"
    );
}

/// Generates a trace in which pairs and edges often coincide.
fn crowded(rng: &mut Rng) -> Vec<u8> {
    let mut events = Vec::new();
    for _ in 0..rng.range(1, 30) {
        let ph = rng.pick(&["B", "B", "E", "E", "b", "e", "S", "F", "s", "t", "f", "C", "X", "i"]);
        let (tid, name) = (rng.range(1, 2), rng.pick(&["a", "b"]));
        let fine = rng.pick(&["", "", "", ".0", ".0001", ".5"]);
        let time = format!("{}{fine}", rng.below(9));
        let time = if rng.chance(10) { format!("\"{time}\"") } else { time };
        let mut event = format!("{{\"ph\":\"{ph}\",\"pid\":1,\"tid\":{tid},\"ts\":{time}");
        if ph != "E" || rng.chance(60) {
            event.push_str(&format!(",\"name\":\"{name}\""));
        }
        match rng.below(6) {
            0 => event.push_str(",\"id2\":{\"local\":1}"),
            1 => event.push_str(",\"id2\":{\"global\":1}"),
            2 => {}
            _ => event.push_str(",\"id\":1"),
        }
        if ph == "X" {
            event.push_str(&format!(",\"dur\":{}", rng.below(6)));
        }
        events.push(event + "}");
    }
    format!("{{\"traceEvents\":[{}]}}", events.join(",")).into_bytes()
}

#[test]
fn slices_match_the_reference_on_crowded_traces() {
    let (mut changed, mut dropped) = (0, 0);
    for seed in seeds(0, 600) {
        let mut rng = Rng::new(seed);
        let input = crowded(&mut rng);
        let mut edges: Vec<i64> =
            (0..rng.range(1, 4)).map(|_| rng.below(10) as i64 * 1000).collect();
        edges.sort_unstable();
        edges.dedup();
        let windows = windows_between(&mut rng, &edges);
        let corner = knobs(seed as usize);
        changed += check(&format!("seed {seed}"), &[&input], &windows, None, &[PLAIN, corner]);
        let (output, _) =
            run_slice(&[&input], &absolute(&windows), Edges::Clip, None, PLAIN).expect("sound");
        let (again, _) =
            run_slice(&[&output], &absolute(&windows), Edges::Clip, None, corner).expect("sound");
        assert_same(&format!("seed {seed}, twice"), &output, &again);
        dropped += usize::from(output.len() < input.len());
    }
    assert!(changed > 4000 && dropped > 100, "{changed} made, {dropped} shorter");
}

#[test]
fn an_early_event_late_in_the_file_is_the_start() {
    // an event ten seconds before the others, after the part of the file from which the start is
    // guessed
    let pad = "x".repeat(3000);
    let event = |ts: u64, tid: u64| {
        let pad = if tid == 1 { &*pad } else { "" };
        format!(r#"{{"name":"n{pad}","ph":"X","pid":1,"tid":{tid},"ts":{ts},"dur":70}}"#)
    };
    let mut events: Vec<String> = (0..400).map(|i| event(10_000_000 + i * 1000, 1)).collect();
    events.extend((0..400).map(|i| event(i * 1000, 2)));
    let input = format!("[{}]", events.join(",\n"));
    let window = |from: i64, to: i64| TimeWindow {
        from: Some(Moment::FromStart(from)),
        to: Some(Moment::FromStart(to)),
    };
    for (from, to) in [(200_000_000, 300_000_000), (10_200_000_000, 10_300_000_000)] {
        let windows = [window(from, to)];
        let expected = reference::slice(
            &[input.as_bytes()],
            &[(Some(from), Some(to))],
            reference::Edges::Clip,
            None,
        );
        for corner in (0..8).map(knobs) {
            let (output, report) =
                run_slice(&[input.as_bytes()], &windows, Edges::Clip, None, corner).expect("sound");
            let what = format!("{from} to {to}, {corner:?}");
            assert_same(&what, expected.as_ref().expect("sound"), &output);
            assert_eq!(report.written.run.events, 100, "{what}");
        }
    }
}
