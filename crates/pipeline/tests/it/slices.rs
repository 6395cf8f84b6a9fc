//! Slices of random traces × knobs = one answer = the naive reference, byte for byte; and the laws of slicing.

use crate::run::{Folder, Knobs, PLAIN, config, knobs, output_to, read, run, through_pipes};
use crate::trace::assert_same;
use tracemill_pipeline::{Edges, Error, Format, Moment, SliceReport, Source, TimeWindow, slice};
use tracemill_testkit::Rng;
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference;

/// The output's bytes and the report.
type Sliced = Result<(Vec<u8>, SliceReport), Error>;

fn time(ns: Option<i64>) -> Option<Moment> {
    ns.map(Moment::At)
}

pub(crate) fn absolute(windows: &[reference::Window]) -> Vec<TimeWindow> {
    windows.iter().map(|&(from, to)| TimeWindow { from: time(from), to: time(to) }).collect()
}

/// Slices `inputs` into a folder of its own.
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
    let report = if knobs.read_size.is_some() {
        through_pipes(inputs, work)?
    } else {
        let files = inputs.iter().enumerate();
        let files = files.map(|(i, bytes)| Source::Path(folder.file(&format!("in{i}"), bytes)));
        work(&files.collect::<Vec<_>>())?
    };
    Ok((read(&target), report))
}

const EDGES: [(Edges, reference::Edges); 3] = [
    (Edges::Clip, reference::Edges::Clip),
    (Edges::Keep, reference::Edges::Keep),
    (Edges::Drop, reference::Edges::Drop),
];

/// Times of a trace that edges may lie at: those of events, and some beside them.
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

/// Windows between those times, in order, none touching the next.
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

/// A trace of the generator without streams that have chunks; every third has names that slices know.
fn sliceable(seed: u64, rng: &mut Rng) -> Vec<u8> {
    let mut shape = TraceShape { profile_streams: 0, ..TraceShape::arbitrary(rng) };
    if rng.chance(60) {
        // ids and names repeat, so that there are pairs
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
    // durations of the generator are short
    let text = if rng.chance(70) {
        text.replace("\"dur\":3", "\"dur\":37").replace("\"dur\":2", "\"dur\":210")
    } else {
        text
    };
    text.into_bytes()
}

#[track_caller]
fn check(
    what: &str,
    inputs: &[&[u8]],
    windows: &[reference::Window],
    format: Option<Format>,
    corners: &[Knobs],
) -> usize {
    let mut made = 0;
    for (edges, own) in EDGES {
        let what = format!("{what}, {edges:?}, {windows:?}");
        let expected = reference::slice(inputs, windows, own, formats(format))
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
            made +=
                (report.clipped + report.opened + report.closed + report.counters + report.moved)
                    as usize;
        }
    }
    made
}

#[test]
fn random_traces_with_any_knobs() {
    let mut made = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> =
            (0..1 + rng.index(2) as u64).map(|i| sliceable(seed * 10 + i, &mut rng)).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let edges = edges_of(&mut rng, &inputs);
        let windows = windows_between(&mut rng, &edges);
        let format = [None, None, Some(Format::Ndjson), Some(Format::Array)][rng.index(4)];
        let corners = [PLAIN, knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)];
        made += check(&format!("seed {seed}"), &inputs, &windows, format, &corners);
    }
    assert!(made > 3000, "{made} events cut, opened, closed");
}
