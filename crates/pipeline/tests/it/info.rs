//! Compares `info` with the naive reference, whatever the knobs.

use crate::run::{Knobs, PLAIN, config, knobs, over};
use std::collections::BTreeMap;
use tracemill_index::info;
use tracemill_inspect::info::{Density, InfoConfig, InfoReport, RealEvent, TopList, TopRow, Usage};
use tracemill_testkit::generate::{TraceShape, trace};
use tracemill_testkit::reference::{self, ByName, Info, Sums};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::{Error, Source};

const ALL: InfoConfig = InfoConfig { top: usize::MAX, full: true, self_times: true };

fn inform(inputs: &[&[u8]], wanted: &InfoConfig, knobs: Knobs) -> Result<InfoReport, Error> {
    over(inputs, knobs, |sources| info(sources, wanted, &config(knobs)))
}

fn sums(usage: &Usage) -> Sums {
    let &Usage { events, bytes, time_ns: time, self_ns: self_time } = usage;
    Sums { events, bytes, time, self_time }
}

/// Returns all rows of a list, which the list by bytes must contain.
#[track_caller]
fn rows(list: &TopList) -> ByName {
    type Measure = fn(&Usage) -> u64;
    let measures: [(Measure, &[TopRow]); 3] = [
        (|usage| usage.bytes, &list.by_bytes),
        (|usage| usage.time_ns, &list.by_time),
        (|usage| usage.self_ns, &list.by_self),
    ];
    for (measure, rows) in measures {
        assert!(rows.iter().all(|row| measure(&row.usage) > 0));
        assert!(rows.is_sorted_by_key(|row| std::cmp::Reverse(measure(&row.usage))));
        let all = list.by_bytes.iter().filter(|row| measure(&row.usage) > 0).count();
        assert_eq!(rows.len(), all);
    }
    assert_eq!(list.by_bytes.len() as u64, list.distinct);
    let mut all: ByName =
        list.by_bytes.iter().map(|row| (row.name.clone(), sums(&row.usage))).collect();
    all.sort();
    all
}

#[track_caller]
fn same(report: &InfoReport, expected: &Info, what: &str) {
    let counts =
        (report.events, report.event_bytes, report.metadata, report.untimed, report.at_zero);
    let Info { events, bytes, metadata, untimed, at_zero, .. } = *expected;
    assert_eq!(counts, (events, bytes, metadata, untimed, at_zero), "{what}");
    assert_eq!(report.start_ns.zip(report.end_ns), expected.bounds, "{what}");
    assert_eq!((report.inversions, report.sorted), (expected.inversions, expected.inversions == 0));
    let phases: BTreeMap<String, u64> = report.phases.iter().cloned().collect();
    assert_eq!((phases.len(), &phases), (report.phases.len(), &expected.phases), "{what}");
    let threads: BTreeMap<(String, String), Sums> = report
        .processes
        .iter()
        .flat_map(|p| p.threads.iter().map(|t| ((p.pid.clone(), t.tid.clone()), sums(&t.usage))))
        .collect();
    assert_eq!(threads, expected.threads, "{what}");
    for process in &report.processes {
        let events: u64 = process.threads.iter().map(|thread| thread.usage.events).sum();
        assert_eq!(process.usage.events, events, "{what}");
    }
    assert_eq!(rows(&report.names), expected.names, "{what}");
    assert_eq!(rows(&report.categories), expected.categories, "{what}");
    assert_eq!(rows(report.args.as_ref().expect("asked for")), expected.args, "{what}");
    same_times(report, expected, what);
}

/// Asserts that first and last event, density and gaps match the reference.
#[track_caller]
fn same_times(report: &InfoReport, expected: &Info, what: &str) {
    let moment = |event: &RealEvent| (event.ts_ns, event.offset as usize);
    let first = expected.real.first().map(|&(ts, _, _, offset)| (ts, offset));
    let last = expected.real.last().map(|&(ts, _, _, offset)| (ts, offset));
    assert_eq!(report.first.as_ref().map(moment), first, "{what}");
    assert_eq!(report.last.as_ref().map(moment), last, "{what}");
    let density = expected.step(Density::COLUMNS as i128).map(|k| {
        let start_ns = expected.real[0].0 >> k << k;
        Density { start_ns, column_ns: 1 << k, events: expected.density(k) }
    });
    assert_eq!(report.density, density, "{what}");
    let gaps: Vec<_> = report.gaps.iter().map(|gap| (gap.from_ns, gap.to_ns)).collect();
    assert_eq!(gaps, expected.gaps(report.least_gap_ns), "{what}");
    if let Some(k) = expected.step(4096) {
        assert_eq!(report.least_gap_ns, 1 << k, "{what}");
    }
}

/// Formats a report without facts that only files have.
fn plain(mut report: InfoReport) -> String {
    for event in [&mut report.first, &mut report.last].into_iter().flatten() {
        event.input.clear();
    }
    for input in &mut report.inputs {
        input.name.clear();
    }
    format!("{report:?}")
}

#[track_caller]
pub(crate) fn check(what: &str, inputs: &[&[u8]], corners: &[Knobs]) -> InfoReport {
    let expected = reference::info(inputs).expect("sound traces");
    let first = inform(inputs, &ALL, PLAIN).unwrap_or_else(|e| panic!("{what}: {e}"));
    same(&first, &expected, what);
    let text = plain(first.clone());
    for &knobs in corners {
        let again = inform(inputs, &ALL, knobs).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(plain(again), text, "{what} {knobs:?}");
    }
    first
}

#[test]
fn info_matches_the_reference_on_random_traces() {
    let (mut with_self, mut with_gaps) = (0, 0);
    for seed in seeds(0, 25) {
        let mut rng = Rng::new(seed);
        let inputs: Vec<Vec<u8>> = (0..1 + rng.index(3))
            .map(|i| trace(seed * 10 + i as u64, &TraceShape::arbitrary(&mut rng)))
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let corners = [knobs(seed as usize * 2), knobs(seed as usize * 2 + 1)];
        let first = check(&format!("seed {seed}"), &inputs, &corners);
        with_self += usize::from(!first.names.by_self.is_empty());
        with_gaps += usize::from(!first.gaps.is_empty());
    }
    assert!(with_self > 6 && with_gaps > 6, "{with_self} {with_gaps}");
}

#[test]
fn top_limits_lists_and_full_lifts_the_limit() {
    for seed in 0..20 {
        let input = trace(seed, &TraceShape { events: 60, ..TraceShape::plain(60) });
        let all = inform(&[&input], &ALL, PLAIN).expect("sound");
        let wanted = InfoConfig { top: 3, full: false, self_times: false };
        let some = inform(&[&input], &wanted, knobs(seed as usize)).expect("sound");
        assert_eq!(some.names.distinct, all.names.distinct);
        let keys = |rows: &[TopRow]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        let least = all.names.by_bytes.len().min(3);
        assert_eq!(keys(&some.names.by_bytes), keys(&all.names.by_bytes[..least]));
        assert!(some.gaps.len() <= 3 && some.gaps[..] == all.gaps[..some.gaps.len()]);
        assert_eq!(some.args, None);
        assert!(some.names.by_self.is_empty());
        assert!(some.processes.iter().all(|process| process.usage.self_ns == 0));
        let wanted = InfoConfig { top: usize::MAX, full: false, self_times: true };
        let brief = inform(&[&input], &wanted, knobs(seed as usize)).expect("sound");
        assert!(brief.has_self && !some.has_self && brief.args.is_none());
        assert_eq!((&brief.names, &brief.processes), (&all.names, &all.processes));
    }
}

#[test]
fn sums_and_times_out_of_range_saturate() {
    let event = |ts: &str, dur: &str| format!(r#"{{"name":"n","ph":"X","ts":{ts},"dur":{dur}}}"#);
    let events: Vec<String> = ["-1e40", "0", "0.0001", "-0.0", "1e40", "\"5\""]
        .into_iter()
        .map(|ts| event(ts, "9e18"))
        .collect();
    let text = format!("[{}]", events.join(","));
    let expected = reference::info(&[text.as_bytes()]).expect("sound");
    for number in 0..12 {
        let report = inform(&[text.as_bytes()], &ALL, knobs(number)).expect("sound");
        same(&report, &expected, &text);
        assert_eq!((report.at_zero, report.names.by_time[0].usage.time_ns), (2, u64::MAX));
    }
}

#[test]
fn more_names_than_memory_are_counted_exactly() {
    let event = |n: u64| {
        format!(
            r#"{{"name":"task {}","cat":"c{},all","ph":"X","ts":{n},"dur":{},"args":{{"k{}":1}}}}"#,
            n % 3001,
            n % 700,
            n % 17,
            n % 900
        )
    };
    let text: String = (1..20_000).map(|n| event(n) + "\n").collect();
    let expected = reference::info(&[text.as_bytes()]).expect("sound");
    for (threads, budget) in [(1, 1000), (2, 30_000), (7, 1 << 20)] {
        let knobs = Knobs { threads, budget: Some(budget), chunk: 5000, ..PLAIN };
        let report = inform(&[text.as_bytes()], &ALL, knobs).expect("sound");
        assert_eq!(report.names.distinct, 3001);
        same(&report, &expected, &format!("{budget}"));
    }
}

#[test]
fn inputs_of_all_kinds() {
    let testdata = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let of = |name: &str, knobs: Knobs| {
        info(&[Source::Path(testdata.join(name))], &ALL, &config(knobs)).expect("sound")
    };
    for name in ["chromium/trace.json.gz", "node/trace.json", "node-cpu-prof", "quirks/empty.json"]
    {
        let first = of(name, PLAIN);
        let events: u64 = first.processes.iter().map(|process| process.usage.events).sum();
        assert_eq!(events, first.events, "{name}");
        assert_eq!(first.events > 0, name != "quirks/empty.json", "{name}");
        for number in [3, 8, 13] {
            assert_eq!(plain(of(name, knobs(number))), plain(first.clone()), "{name}");
        }
    }
    // events before the damage are counted as usual
    let whole = std::fs::read(testdata.join("node/trace.json")).expect("a trace");
    let cut = &whole[..whole.len() / 2];
    let report = inform(&[cut], &ALL, knobs(5)).expect("readable");
    assert!(report.events > 0 && report.inputs[0].lost() == 1);
}
