//! Finds overlaps, and none that only rounding, window edges or the largest time would cause.

use crate::cases::findings;
use crate::run::knobs;
use crate::slices::{absolute, run_slice};
use crate::viewer::{changes, merge_for, rules};
use std::collections::BTreeMap;
use tracemill_inspect::check::Severity;
use tracemill_join::config::{CheckFor, Overlaps};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::time::windows::Edges;

/// Begin and end in picoseconds.
type Interval = (i128, i128);

/// Adds `outer` and random intervals inside it, nested up to `depth`.
fn nest(rng: &mut Rng, outer: Interval, depth: usize, all: &mut Vec<Interval>) {
    all.push(outer);
    let mut edges: Vec<i128> = (0..2 * rng.index(4))
        .map(|_| outer.0 + i128::from(rng.below((outer.1 - outer.0) as u64 + 1)))
        .collect();
    // some begin or end with the outer one
    edges.extend(rng.chance(40).then_some(outer.1));
    edges.extend(rng.chance(40).then_some(outer.0));
    edges.sort_unstable();
    for pair in edges.chunks_exact(2) {
        if depth > 0 && pair[0] < pair[1] {
            nest(rng, (pair[0], pair[1]), depth - 1, all);
        }
    }
}

fn micros(ps: i128) -> String {
    let text = format!("{}.{:06}", ps / 1_000_000, ps % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn trace(intervals: &[Interval]) -> Vec<u8> {
    let events = intervals.iter().enumerate().map(|(number, &(from, to))| {
        let (ts, dur) = (micros(from), micros(to - from));
        format!(
            r#"{{"ph":"X","name":"n{number}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{}}}}"#
        )
    });
    format!("[{}]\n", events.collect::<Vec<_>>().join(",\n")).into_bytes()
}

fn overlaps(text: &[u8]) -> u64 {
    findings(text, None, Severity::Warning).get("overlap").copied().unwrap_or(0)
}

#[test]
fn slicing_keeps_nesting_to_the_last_digit() {
    let mut cut = 0;
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        // some times are beyond the range of nanoseconds
        let base = [0, 10_000_900, 1_700_000_000_000_000_123_456, 9_300_000_000_000_000_000_000];
        let base = base[rng.index(4)];
        let length = i128::from(rng.range(1, 40_000_000));
        let mut all = Vec::new();
        nest(&mut rng, (base, base + length), 5, &mut all);
        let input = trace(&all);
        assert_eq!(overlaps(&input), 0, "seed {seed}: {}", String::from_utf8_lossy(&input));
        let Ok(from) = i64::try_from(base / 1000) else { continue };
        let edge = |rng: &mut Rng| from + rng.below(length as u64 / 1000 + 2) as i64;
        let (a, b) = (edge(&mut rng), edge(&mut rng));
        let windows = absolute(&[(Some(a.min(b)), Some(a.max(b) + 1))]);
        let (slice, report) =
            run_slice(&[&input], &windows, Edges::Clip, None, knobs(seed as usize))
                .expect("a trace");
        assert_eq!(overlaps(&slice), 0, "seed {seed}: {}", String::from_utf8_lossy(&slice));
        cut += report.clipped;
    }
    assert!(cut > 30, "{cut} were cut");
}

fn trace_with_pairs(rng: &mut Rng, intervals: &[Interval]) -> Vec<u8> {
    let event = |number: usize, ph: &str, ts: i128, more: &str| {
        let ts = micros(ts);
        format!(r#"{{"ph":"{ph}","name":"n{number}","cat":"c","pid":1,"tid":1,"ts":{ts}{more}}}"#)
    };
    let (mut events, mut open) = (Vec::new(), Vec::<(usize, i128)>::new());
    for (number, &(from, to)) in intervals.iter().enumerate() {
        while let Some((ended, end)) = open.pop_if(|innermost| innermost.1 <= from) {
            events.push(event(ended, "E", end, ""));
        }
        if rng.chance(50) {
            events.push(event(number, "B", from, ""));
            open.push((number, to));
        } else {
            let dur = format!(r#","dur":{}"#, micros(to - from));
            events.push(event(number, "X", from, &dur));
        }
    }
    events.extend(open.iter().rev().map(|&(number, end)| event(number, "E", end, "")));
    format!("[{}]\n", events.join(",\n")).into_bytes()
}

#[test]
fn nested_pairs_and_x_events_stay_on_their_thread() {
    for seed in seeds(0, 100) {
        let mut rng = Rng::new(seed);
        let base = [0, 10_000_900, 1_700_000_000_000_000_123_456][rng.index(3)];
        let mut all = Vec::new();
        let length = [200_000, 40_000_000][rng.index(2)];
        let length = i128::from(rng.range(1, length));
        nest(&mut rng, (base, base + length), 5, &mut all);
        let input = trace_with_pairs(&mut rng, &all);
        for how in [Overlaps::Clip, Overlaps::Spill] {
            let rules = rules(CheckFor::Perfetto, how);
            let (output, report) =
                merge_for(&[&input], rules, knobs(seed as usize)).expect("a trace");
            assert_eq!(changes(&report), BTreeMap::new(), "seed {seed}");
            assert_eq!(overlaps(&output), 0, "seed {seed}: {}", String::from_utf8_lossy(&output));
        }
    }
}

#[test]
fn repairs_two_nanosecond_overrun() {
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        let from = i128::from(rng.range(1, 5_000_000_000));
        let to = from + i128::from(rng.range(10_000, 90_000_000));
        let begin = from + 1000 + i128::from(rng.below((to - from - 2000) as u64));
        let late = to + 2000 + i128::from(rng.below(5_000_000));
        let input = trace(&[(from, to), (begin, late)]);
        assert_eq!(overlaps(&input), 1, "seed {seed}: {}", String::from_utf8_lossy(&input));
        for how in [Overlaps::Clip, Overlaps::Spill] {
            let rules = rules(CheckFor::Perfetto, how);
            let (output, _) = merge_for(&[&input], rules, knobs(seed as usize)).expect("a trace");
            assert_eq!(overlaps(&output), 0, "seed {seed}: {}", String::from_utf8_lossy(&output));
        }
    }
}
