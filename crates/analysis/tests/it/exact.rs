//! Compares exact times with a naive implementation in whole nanoseconds.

use crate::common::tables::query;
use std::collections::BTreeMap;
use tracemill_analysis::{
    Entries, GroupBy, Part, Per, Query, ReadRules, Shape, ThreadChoice, Times, Trace, Window,
};
use tracemill_join::config::Config;
use tracemill_testkit::{Rng, generate, seeds};
use tracemill_trace::Source;
use tracemill_trace::run::limits::Shares;

#[derive(Clone, Debug)]
struct Lasting {
    name: String,
    ts: i64,
    end: i64,
    number: usize,
}

/// Self time, total time and count, by path or by name.
type Sums = BTreeMap<Vec<String>, (i64, i64, u64)>;

/// Starts of clocks in nanoseconds: since boot, some months later, and since 1970.
const CLOCKS: [i64; 4] = [0, 1_000_007, 5_000_000_000_000_123, 1_700_000_000_123_456_789];

fn micros(nanos: i64) -> String {
    let text = format!("{}.{:03}", nanos / 1000, nanos % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a random trace as text, and the events of its threads.
fn generate(rng: &mut Rng) -> (String, Vec<Vec<Lasting>>) {
    let start = CLOCKS[rng.index(CLOCKS.len())] + 1 + rng.below(2000) as i64;
    let length = [40, 4_000, 40_000_000][rng.index(3)];
    let mut threads = vec![Vec::new(); 1 + rng.index(3)];
    let mut lines = Vec::new();
    for number in 0..rng.index(60) {
        let tid = rng.index(threads.len());
        let ts = start + rng.below(length) as i64;
        let dur = if rng.chance(10) { 0 } else { 1 + rng.below(length / 2) as i64 };
        let name = ["a", "b", "c", "d"][rng.index(4)].to_owned();
        let head = format!(r#""cat":"c","pid":1,"tid":{tid}"#);
        if rng.chance(20) {
            // A unique name makes the pair unambiguous.
            let name = format!("{name}{number}");
            let head = format!(r#""name":"{name}",{head}"#);
            let line = |phase, at| format!(r#"{{"ph":"{phase}",{head},"ts":{}}}"#, micros(at));
            lines.extend([(number, line("B", ts)), (number, line("E", ts + dur))]);
            threads[tid].push(Lasting { name, ts, end: ts + dur, number });
        } else {
            let times = format!(r#""ts":{},"dur":{}"#, micros(ts), micros(dur));
            lines.push((number, format!(r#"{{"ph":"X","name":"{name}",{head},{times}}}"#)));
            threads[tid].push(Lasting { name, ts, end: ts + dur, number });
        }
    }
    let text: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    (format!("[{}]", text.join(",\n")), threads)
}

/// Returns the nested events of a thread with their depths, without those that overlap their
/// parent.
fn nested(events: &[Lasting]) -> Vec<(usize, Lasting)> {
    let mut sorted = events.to_vec();
    sorted.sort_by_key(|event| (event.ts, std::cmp::Reverse(event.end), event.number));
    let (mut open, mut placed): (Vec<i64>, Vec<(usize, Lasting)>) = Default::default();
    for event in sorted {
        while open.last().is_some_and(|end| *end <= event.ts) {
            open.pop();
        }
        if open.last().is_some_and(|end| event.end > *end) {
            continue;
        }
        placed.push((open.len(), event.clone()));
        open.push(event.end);
    }
    placed
}

/// Returns the call tree of a window, or with `flat` the bottom-up rows.
fn sums(events: &[Lasting], (from, to): (i64, i64), flat: bool) -> Sums {
    let mut sums = Sums::new();
    let mut path: Vec<(String, bool)> = Vec::new();
    // Whether the first event of each name has no duration.
    let mut without_duration: BTreeMap<String, bool> = BTreeMap::new();
    for (depth, event) in nested(events) {
        path.truncate(depth);
        if event.end < from || event.ts > to {
            path.push((event.name, false));
            continue;
        }
        let own_time = event.end.min(to) - event.ts.max(from);
        let counted: Vec<String> =
            path.iter().filter(|(_, counts)| *counts).map(|(name, _)| name.clone()).collect();
        let key = |upto: &[String]| match flat {
            true => upto[upto.len() - 1..].to_vec(),
            false => upto.to_vec(),
        };
        if !counted.is_empty() {
            sums.entry(key(&counted)).or_default().0 -= own_time;
        }
        let is_outermost = !flat || !counted.contains(&event.name);
        let all = [counted, vec![event.name.clone()]].concat();
        without_duration.entry(event.name.clone()).or_insert(event.end == event.ts);
        let row = sums.entry(key(&all)).or_default();
        row.0 += own_time;
        row.1 += if is_outermost { own_time } else { 0 };
        row.2 += 1;
        // An event without a duration counts, and has no children.
        path.push((event.name, event.end > event.ts));
    }
    if flat {
        sums.retain(|path, (sum, total, _)| {
            *sum > 0 || (*sum, *total) == (0, 0) && without_duration[&path[0]]
        });
    }
    sums
}

/// Converts milliseconds to nanoseconds; asserts that they are exact.
fn nanos(ms: f64) -> i64 {
    let nanos = (ms * 1e6).round();
    assert_eq!(nanos / 1e6, ms, "{ms} is not the double nearest to whole nanoseconds");
    nanos as i64
}

fn rows_of(part: &Part) -> Sums {
    let mut path: Vec<String> = Vec::new();
    let rows = part.table.rows.iter();
    rows.map(|row| {
        path.truncate(row.depth as usize);
        path.push(row.id.clone());
        (path.clone(), (nanos(row.own), nanos(row.total), row.count))
    })
    .collect()
}

fn read(text: &str, times: Times, config: &Config) -> Trace {
    let source = Source::bytes("t.json", text.as_bytes().to_vec());
    let rules = ReadRules { times, ..ReadRules::default() };
    Trace::read(&[source], rules, config).expect("a trace")
}

fn config() -> Config {
    Config::new(2, 256 << 20, std::env::temp_dir())
}

fn tables(trace: &Trace, query: &Query) -> Vec<Part> {
    trace.parts(&trace.choose(&ThreadChoice::default()), query).expect("room")
}

fn query_of(shape: Shape, per: Per, windows: Vec<Window>) -> Query {
    Query { per, by: GroupBy::None, ..query(shape, Entries::Visible, windows) }
}

#[test]
fn sums_match_whole_nanoseconds() {
    let mut compared = 0;
    for seed in seeds(0, 400) {
        let mut rng = Rng::new(seed);
        let (text, threads) = generate(&mut rng);
        let all = || threads.iter().flatten();
        let Some(first) = all().map(|event| event.ts).min() else { continue };
        let last = all().map(|event| event.end).max().expect("there is one");
        // The trace is not one of DevTools, so `Auto` selects exact times.
        let times = if seed % 2 == 0 { Times::Auto } else { Times::Exact };
        let trace = read(&text, times, &config());
        assert_eq!(trace.origin(), Some(first), "seed {seed}\n{text}");
        let (begins, ends) = trace.bounds;
        assert_eq!((begins, (ends * 1000.0).round() as i64), (0.0, last - first), "seed {seed}");
        let mut edges = [0, last - first];
        if rng.chance(60) {
            edges = [(); 2].map(|()| rng.below((last - first + 1) as u64) as i64);
            edges.sort_unstable();
        }
        let window = Window { from: edges[0] as f64 / 1e6, to: edges[1] as f64 / 1e6 };
        let within = (first + edges[0], first + edges[1]);
        let trees = tables(&trace, &query_of(Shape::CallTree, Per::Thread, vec![window]));
        let (mut by_name, mut root) = (Sums::new(), 0);
        for part in &trees {
            let tid: usize = trace.threads[part.threads[0]].tid_text().parse().expect("a number");
            let expected = sums(&threads[tid], within, false);
            assert_eq!(rows_of(part), expected, "seed {seed}, thread {tid}, {edges:?}\n{text}");
            let self_time: i64 = expected.values().map(|(self_time, ..)| self_time).sum();
            assert_eq!(self_time + nanos(part.table.own), nanos(part.table.total), "seed {seed}");
            root += nanos(part.table.own);
            for (path, (self_time, total, count)) in sums(&threads[tid], within, true) {
                let sum = by_name.entry(path).or_default();
                *sum = (sum.0 + self_time, sum.1 + total, sum.2 + count);
            }
            compared += 1;
        }
        let top = tables(&trace, &query_of(Shape::BottomUp { levels: 1 }, Per::All, vec![window]));
        for part in &top {
            let rows = rows_of(part);
            // A row without self time on one thread may keep its total in the shared table.
            for (path, sum) in &by_name {
                let self_time = rows.get(path).map_or(0, |row| row.0);
                assert_eq!(self_time, sum.0, "seed {seed}\n{text}");
            }
            assert_eq!(nanos(part.table.own), root, "seed {seed}");
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn exact_results_do_not_depend_on_limits() {
    for seed in seeds(3000, 60) {
        let mut rng = Rng::new(seed);
        let text = match seed % 3 {
            0 => generate(&mut rng).0,
            1 => generate::recording(seed * 7).to_string(),
            _ => generate::cpuprofile(seed).to_string(),
        };
        let query = query_of(Shape::BottomUp { levels: 6 }, Per::All, Vec::new());
        let usual = read(&text, Times::Exact, &config());
        assert!(usual.origin().is_some());
        let mut config = Config::new(1 + rng.index(4), 256 << 20, std::env::temp_dir());
        let shares = config.limits.shares();
        let (chunk, segment) = (64 + rng.index(500), 64 + rng.index(500));
        config.limits.shares = Some(Shares { chunk, segment, index: 2000, ..shares });
        let other = read(&text, Times::Exact, &config);
        let printed = [&usual, &other].map(|trace| format!("{:?}", tables(trace, &query)));
        assert_eq!(printed[0], printed[1], "seed {seed}");
        // Traces of DevTools' kind keep its times.
        let auto = read(&text, Times::Auto, &config);
        let is_of_devtools = seed % 3 != 0;
        assert_eq!(auto.origin().is_none(), is_of_devtools, "seed {seed}");
    }
}

#[test]
fn exact_times_of_calls_add_up() {
    let mut calls = 0;
    for seed in seeds(4000, 40) {
        let mut rng = Rng::new(seed);
        let text = match seed % 2 {
            0 => generate::recording(seed * 7).to_string(),
            _ => generate::cpuprofile(seed).to_string(),
        };
        let trace = read(&text, Times::Exact, &config());
        let (first, last) = trace.bounds;
        if !(first.is_finite() && last > first) {
            continue;
        }
        let [first, last] = [first, last].map(|micros| (micros * 1000.0).round() as i64);
        let mut edges: Vec<i64> =
            (0..rng.index(4)).map(|_| first + rng.below((last - first) as u64) as i64).collect();
        edges.extend([first, last]);
        edges.sort_unstable();
        let sums = |from: i64, to: i64| {
            let window = Window { from: from as f64 / 1e6, to: to as f64 / 1e6 };
            let parts = tables(&trace, &query_of(Shape::CallTree, Per::Thread, vec![window]));
            let mut all: BTreeMap<(usize, Vec<String>), (i64, i64)> = BTreeMap::new();
            for part in &parts {
                let rows = rows_of(part);
                let self_time: i64 = rows.values().map(|(row, ..)| row).sum();
                assert_eq!(self_time + nanos(part.table.own), to - from, "seed {seed}");
                let of =
                    |(path, (self_time, total, _))| ((part.threads[0], path), (self_time, total));
                all.extend(rows.into_iter().map(of));
            }
            all
        };
        let whole = sums(first, last);
        calls += whole.len();
        let mut added: BTreeMap<(usize, Vec<String>), (i64, i64)> = BTreeMap::new();
        for pair in edges.windows(2) {
            for (key, (self_time, total)) in sums(pair[0], pair[1]) {
                let sum = added.entry(key).or_default();
                *sum = (sum.0 + self_time, sum.1 + total);
            }
        }
        let nonzero = |sums: BTreeMap<_, (i64, i64)>| {
            sums.into_iter().filter(|(_, sum)| *sum != (0, 0)).collect::<Vec<_>>()
        };
        assert_eq!(nonzero(whole), nonzero(added), "seed {seed} {edges:?}");
    }
    assert!(calls > 200, "{calls}");
}
