//! CPU times of rows on random traces, against sums over the events.

use crate::common::recordings::config;
use crate::common::tables::query;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tracemill_analysis::{
    Entries, Per, Query, ReadRules, Shape, ThreadChoice, Times, Trace, Wanted, Window,
};
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// A slice of a random trace. Its times are whole microseconds.
struct Slice {
    /// Names of the slices around it and its own.
    path: Vec<String>,
    from: u64,
    to: u64,
    cpu: Option<u64>,
}

/// Adds a slice and the slices in it.
fn add(rng: &mut Rng, around: &[String], from: u64, to: u64, all: &mut Vec<Slice>) {
    let name = rng.pick(&["a", "b", "c", "d"]).to_owned();
    let path = [around, &[name]].concat();
    let cpu = rng.chance(70).then(|| rng.below(to - from + 1));
    all.push(Slice { path: path.clone(), from, to, cpu });
    let mut at = from + rng.below(10);
    while at + 2 < to && path.len() < 6 {
        let end = at + 1 + rng.below(to - at - 1);
        add(rng, &path, at, end, all);
        at = end + rng.below(20);
    }
}

/// Returns the events of slices on a thread, as X events or as pairs of B and E, shuffled.
fn events(rng: &mut Rng, slices: &[Slice], tid: u64) -> Vec<Value> {
    let mut events = Vec::new();
    for slice in slices {
        let name = slice.path.last();
        let args = json!({"tdur": 1, "a": [{"tts": 5}]});
        let event = |ph: &str, ts: u64, extra: Option<(&str, u64)>| {
            let mut event =
                json!({"ph": ph, "name": name, "cat": "c", "pid": 1, "tid": tid, "ts": ts});
            extra.iter().for_each(|(key, value)| event[key] = json!(value));
            event["args"] = args.clone();
            event
        };
        if rng.chance(50) {
            let mut x = event("X", slice.from, slice.cpu.map(|cpu| ("tdur", cpu)));
            x["dur"] = json!(slice.to - slice.from);
            events.push(x);
            continue;
        }
        let start = rng.below(1000);
        events.push(event("B", slice.from, slice.cpu.map(|_| ("tts", start))));
        events.push(event("E", slice.to, slice.cpu.map(|cpu| ("tts", start + cpu))));
    }
    events
}

type Sums = BTreeMap<Vec<String>, Option<f64>>;

/// Sums up CPU times by path, or by name over the outermost slices of each name.
fn expected(slices: &[Slice], is_flat: bool, window: (u64, u64)) -> Sums {
    let mut sums = Sums::new();
    for Slice { path, from, to, cpu } in slices {
        let counted = (*to.min(&window.1) as f64) - (*from.max(&window.0) as f64);
        let (name, around) = path.split_last().expect("a name");
        if counted < 0.0 || is_flat && around.contains(name) {
            continue;
        }
        let cpu = cpu.map(|cpu| cpu as f64 * counted / (to - from) as f64);
        let key = if is_flat { vec![name.clone()] } else { path.clone() };
        let sum = sums.entry(key).or_default();
        *sum = match (*sum, cpu) {
            (Some(sum), Some(cpu)) => Some(sum + cpu),
            (sum, cpu) => sum.or(cpu),
        };
    }
    sums
}

fn sums_of(trace: &Trace, shape: Shape, window: Option<(u64, u64)>) -> Sums {
    let windows = window.map(|(from, to)| Window { from: from as f64 / 1e3, to: to as f64 / 1e3 });
    let windows = windows.into_iter().collect();
    let query = Query { per: Per::All, ..query(shape, Entries::All, windows) };
    let threads = trace.choose(&ThreadChoice::default());
    let parts = trace.parts(&threads, &query).expect("room");
    let mut path: Vec<String> = Vec::new();
    let rows = parts[0].table.rows.iter();
    rows.map(|row| {
        path.truncate(row.depth as usize);
        path.push(row.id.clone());
        (path.clone(), row.cpu)
    })
    .collect()
}

/// Asserts that each found sum is the expected one. A bottom-up table lacks rows without self time.
fn compare(found: &Sums, expected: &Sums, tolerance: f64, context: &str) -> usize {
    for (path, cpu) in found {
        let expected = expected.get(path).unwrap_or_else(|| panic!("{context}: {path:?}"));
        let is_equal = match (cpu, expected) {
            (Some(cpu), Some(expected)) => (cpu - expected).abs() <= tolerance,
            (cpu, expected) => cpu == expected,
        };
        assert!(is_equal, "{context}: {path:?} {cpu:?} {expected:?}");
    }
    found.values().flatten().count()
}

#[test]
fn cpu_times_of_rows_are_sums_over_their_events() {
    let mut compared = 0;
    for seed in seeds(0, 40) {
        let mut rng = Rng::new(seed);
        let (mut slices, mut all) = (Vec::new(), Vec::new());
        for tid in 0..3 {
            let first = slices.len();
            add(&mut rng, &[], 1000, 3000, &mut slices);
            all.extend(events(&mut rng, &slices[first..], tid));
        }
        let text = json!({"traceEvents": all}).to_string();
        let wanted = Wanted { cpu_times: true, ..Wanted::default() };
        for times in [Times::Devtools, Times::Exact] {
            let rules = ReadRules { wanted, times, ..ReadRules::default() };
            let source = || Source::bytes("t.json", text.clone().into_bytes());
            let trace = Trace::read(&[source()], rules, &config()).expect("a trace");
            for (shape, is_flat) in
                [(Shape::CallTree, false), (Shape::BottomUp { levels: 1 }, true)]
            {
                let context = format!("seed {seed}, {times:?}, {shape:?}");
                let expect = |window| expected(&slices, is_flat, window);
                let whole = sums_of(&trace, shape, None);
                compared += compare(&whole, &expect((0, 9000)), 0.0, &context);
                if times == Times::Devtools {
                    let cut = sums_of(&trace, shape, Some((1500, 2200)));
                    compared += compare(&cut, &expect((1500, 2200)), 1e-6, &context);
                }
            }
            let rules = ReadRules { times, ..ReadRules::default() };
            let without = Trace::read(&[source()], rules, &config()).expect("a trace");
            assert!(sums_of(&without, Shape::CallTree, None).values().all(Option::is_none));
        }
    }
    assert!(compared > 2000, "{compared}");
}
