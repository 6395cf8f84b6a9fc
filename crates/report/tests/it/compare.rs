//! Comparisons of runs: laws, detection of planted changes, and rate of false alarms.

use crate::common::random::{config, generate, read};
use crate::common::tables::parts;
use std::collections::BTreeMap;
use std::slice::from_ref;
use tracemill_analysis::{
    GroupBy, Location, Per, Picks, Query, Shape, TableRules, ThreadChoice, Trace, TreeRow, Window,
};
use tracemill_report::CompareRules;
use tracemill_report::Comparison;
use tracemill_report::MatchBy;
use tracemill_report::Normalize;
use tracemill_report::Run;
use tracemill_report::Verdict;
use tracemill_report::compare_runs;
use tracemill_testkit::{Rng, seeds};

fn row(depth: u32, name: &str, self_time: f64, total: f64) -> TreeRow {
    TreeRow {
        depth,
        id: name.to_owned(),
        start: 0.0,
        own: self_time,
        total,
        cpu: None,
        count: 1,
        expandable: false,
        bytes: 0.0,
        key: None,
        label: Some(name.to_owned()),
        is_group: false,
        category: "other",
        location: Location::default(),
        color: 0,
    }
}

fn placed(name: &str, url: &str, line: i64, self_time: f64) -> TreeRow {
    let location = Location { url: url.to_owned(), line: Some(line), column: None };
    TreeRow { location, ..row(0, name, self_time, self_time) }
}

fn run(rows: &[TreeRow]) -> Run {
    Run::new(rows.iter().map(|row| row.own).sum(), rows, true)
}

fn rules() -> CompareRules {
    CompareRules { least: 0.1, ..CompareRules::default() }
}

/// Returns an approximately normal number with mean 0 and deviation 1.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.below(1 << 32) as f64 / 4_294_967_296.0).sum::<f64>() - 6.0
}

/// Creates runs of a program with thirty functions; the first function takes 100 ms, all other
/// functions take less. Runs vary by 1 %, and each function by another 2 %.
fn runs(rng: &mut Rng, count: usize, factor: f64) -> Vec<Run> {
    let one = |rng: &mut Rng| {
        let whole = 1.0 + 0.01 * normal(rng);
        let rows: Vec<TreeRow> = (0..30)
            .map(|at| {
                let mean = 100.0 / f64::from(at + 1) * if at == 0 { factor } else { 1.0 };
                let self_time = mean * whole * (1.0 + 0.02 * normal(rng));
                let self_time = (self_time * 10.0).round().max(0.0) / 10.0;
                row(0, &format!("f{at}"), self_time, self_time)
            })
            .collect();
        run(&rows)
    };
    (0..count).map(|_| one(rng)).collect()
}

fn significant(comparison: &Comparison) -> Vec<&str> {
    comparison.rows.iter().filter(|row| row.own.is_significant()).map(|row| &*row.name).collect()
}

#[test]
fn finds_five_percent_in_ten_runs_per_side() {
    let mut found = 0;
    for seed in seeds(5000, 200) {
        let mut rng = Rng::new(seed);
        let (base, new) = (runs(&mut rng, 10, 1.0), runs(&mut rng, 10, 1.05));
        let comparison = compare_runs(&base, &new, &rules());
        let planted = comparison.rows.iter().find(|row| row.name == "f0").expect("a row");
        found += u64::from(planted.verdict == Verdict::Slower);
        if planted.verdict == Verdict::Slower {
            let (from, to) = planted.own.judged.expect("a test").interval;
            assert!(from > 0.0 && from < to, "seed {seed}: {from} {to}");
        }
    }
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn false_alarms_are_rare_between_equal_runs() {
    let mut alarms = 0;
    for seed in seeds(6000, 200) {
        let mut rng = Rng::new(seed);
        let (base, new) = (runs(&mut rng, 10, 1.0), runs(&mut rng, 10, 1.0));
        alarms += u64::from(!significant(&compare_runs(&base, &new, &rules())).is_empty());
    }
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn comparison_is_reflexive_and_antisymmetric() {
    for seed in seeds(7000, 60) {
        let mut rng = Rng::new(seed);
        let of = |seed: u64| {
            let (text, _) = generate(&mut Rng::new(seed));
            let trace = read(&text, &config());
            let tables = parts(&trace, Per::All);
            let mut run = Run::new(tables[0].busy(), &tables[0].table.rows, true);
            run.add_samples(&trace, &tables[0].threads);
            run
        };
        let (a, b) = (of(rng.bits()), of(rng.bits()));
        let same = compare_runs(from_ref(&a), from_ref(&a), &rules());
        for row in &same.rows {
            assert_eq!((row.own.change(), row.verdict), (0.0, Verdict::Same), "{row:?}");
        }
        let there = compare_runs(from_ref(&a), from_ref(&b), &rules());
        let back = compare_runs(&[b], &[a], &rules());
        assert_eq!(there.rows.len(), back.rows.len());
        let sum = |all: &Comparison| all.rows.iter().map(|row| row.own.change()).sum::<f64>();
        assert!((sum(&there) - there.busy.change()).abs() < 1e-6, "seed {seed}");
        for row in &there.rows {
            let other = back.rows.iter().find(|other| other.name == row.name).expect("a row");
            assert_eq!(row.own.change(), -other.own.change());
            for pair in [row.own, row.total, row.count] {
                let judged = pair.judged.map(|test| (test.shift, test.interval));
                let about = |(shift, (from, to)): (f64, (f64, f64))| {
                    shift == pair.change() && from <= shift && shift <= to
                };
                assert!(judged.is_none_or(about), "seed {seed}: {pair:?}");
            }
            let turned = match row.verdict {
                Verdict::New => Verdict::Gone,
                Verdict::Gone => Verdict::New,
                Verdict::Slower => Verdict::Faster,
                Verdict::Faster => Verdict::Slower,
                Verdict::More => Verdict::Fewer,
                Verdict::Fewer => Verdict::More,
                same => same,
            };
            assert_eq!(other.verdict, turned, "seed {seed}");
        }
    }
}

#[test]
fn recursive_functions_count_once_in_totals() {
    let rows = [
        row(0, "a", 1.0, 10.0),
        row(1, "b", 2.0, 9.0),
        row(2, "a", 7.0, 7.0),
        row(0, "a", 1.0, 1.0),
    ];
    let comparison = compare_runs(&[run(&rows)], &[run(&[])], &rules());
    let of = |name: &str| comparison.rows.iter().find(|row| row.name == name).expect("a row");
    assert_eq!((of("a").own.base, of("a").total.base, of("a").count.base), (9.0, 11.0, 3.0));
    assert_eq!((of("b").total.base, of("b").verdict), (9.0, Verdict::Gone));
}

#[test]
fn functions_match_where_unambiguous() {
    let base = run(&[
        placed("f", "https://a.test/main.0123abcd.js?x", 3, 1.0),
        placed("g", "a.js", 1, 1.0),
        placed("g", "a.js", 9, 1.0),
        placed("h", "old.js", 5, 1.0),
    ]);
    let new = run(&[
        placed("f", "https://a.test/main.89ef4567.js", 4, 2.0),
        placed("g", "a.js", 2, 1.0),
        placed("h", "new.js", 5, 1.0),
    ]);
    let count = |by| {
        let rules = CompareRules { by, ..rules() };
        let all = compare_runs(from_ref(&base), from_ref(&new), &rules).rows;
        all.iter().filter(|row| row.count.base > 0.0 && row.count.new > 0.0).count()
    };
    assert_eq!([MatchBy::Exact, MatchBy::Line, MatchBy::Name].map(count), [0, 1, 2]);
}

#[test]
fn times_are_normalized() {
    let base = run(&[row(0, "a", 10.0, 10.0), row(0, "b", 10.0, 10.0)]);
    let new = run(&[row(0, "a", 20.0, 20.0), row(0, "b", 20.0, 20.0)]);
    let changes = |normalize| {
        let rules = CompareRules { normalize, ..rules() };
        let all = compare_runs(from_ref(&base), from_ref(&new), &rules);
        all.rows.iter().map(|row| row.own.change()).collect::<Vec<_>>()
    };
    assert_eq!(changes(Normalize::None), [10.0, 10.0]);
    assert_eq!(changes(Normalize::Busy), [0.0, 0.0]);
    assert_eq!(changes(Normalize::Event("a".to_owned())), [0.0, 0.0]);
    assert_eq!(changes(Normalize::Event("nothing".to_owned())), [10.0, 10.0]);
}

/// Returns the self times in the event log by name, without names that calls have.
fn own_times(trace: &Trace, threads: &[usize], query: &Query) -> BTreeMap<String, Vec<f64>> {
    let log = Query { shape: Shape::Log, ..query.clone() };
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    let mut calls: Vec<String> = Vec::new();
    for row in trace.parts(threads, &log).expect("room").iter().flat_map(|part| &part.table.rows) {
        match row.id.starts_with("f:") {
            true => calls.push(row.name().to_owned()),
            false => times.entry(row.name().to_owned()).or_default().push(row.own),
        }
    }
    times.retain(|name, _| !calls.contains(name));
    times
}

/// Counts the rows of two runs that are tested by their events. Asserts that these equal the log.
fn judged_as_in_the_log(texts: [String; 2], rules: TableRules, is_in_part: bool) -> u32 {
    let (mut runs, mut logs) = (Vec::new(), Vec::new());
    for text in &texts {
        let trace = read(text, &config());
        let (from, to) = (trace.bounds.0 / 1000.0, trace.bounds.1 / 1000.0);
        let later = Window { from: from + (to - from) / 3.0, to };
        let query = Query {
            shape: Shape::CallTree,
            by: GroupBy::None,
            rules,
            per: Per::All,
            windows: if is_in_part { vec![later] } else { Vec::new() },
            picks: Picks::default(),
            key: None,
        };
        let threads = trace.choose(&ThreadChoice::default());
        runs.push(Run::of(&trace, &threads, &query, true).expect("room"));
        logs.push(own_times(&trace, &threads, &query));
    }
    let rules = CompareRules { by: MatchBy::Exact, ..CompareRules::default() };
    let mut judged = 0;
    for row in compare_runs(&runs[..1], &runs[1..], &rules).rows {
        let (Some(a), Some(b)) = (logs[0].get(&row.name), logs[1].get(&row.name)) else { continue };
        if row.own.base.max(row.own.new) < 0.0 {
            continue;
        }
        let (from, to) = row.own.judged.expect("events").interval;
        let reach = reach(a, b);
        assert!(((to - from) / 2.0 - reach).abs() <= 1e-5 * reach + 1e-6, "{row:?} {reach}");
        assert_eq!((a.len() as f64, b.len() as f64), (row.count.base, row.count.new), "{row:?}");
        judged += u32::from(a.len() >= 5 && b.len() >= 5);
    }
    judged
}

/// Returns half the width of the confidence interval, computed naively (Welch and Poisson).
fn reach(a: &[f64], b: &[f64]) -> f64 {
    let squares = |all: &[f64], from: f64| all.iter().map(|x| (x - from).powi(2)).sum::<f64>();
    let (n, m) = (a.len() as f64, b.len() as f64);
    if n.min(m) < 5.0 {
        return 1.959_964 * (squares(a, 0.0) + squares(b, 0.0)).sqrt();
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let [one, two] = [a, b].map(|all| {
        let count = all.len() as f64;
        count * squares(all, mean(all)) / (count - 1.0) + count * 1e-12
    });
    let counts = mean(&[a, b].concat()).powi(2) * (4.0 * (n - m).powi(2)).min(n + m);
    let variance = one + two + counts;
    let degrees = variance.powi(2) / (one * one / (n - 1.0) + two * two / (m - 1.0));
    let z = 1.959_964 * (8.0 * degrees + 3.0) / (8.0 * degrees + 1.0);
    (degrees * ((z * z / degrees).exp() - 1.0)).sqrt() * variance.sqrt()
}

/// Events with random times and durations: at most 5 of 100 comparisons report a change.
#[test]
fn random_events_are_no_change() {
    let (mut times, mut counts) = (0, 0);
    for seed in seeds(9000, 200) {
        let mut rng = Rng::new(seed);
        let texts = [0; 2].map(|_| {
            // Number of events within 1 s at a rate of 100 per second.
            let mut at = 0.0_f64;
            let mut events: Vec<String> = Vec::new();
            loop {
                at += -10_000.0 * (1.0 - rng.below(1 << 32) as f64 / 4_294_967_296.0).ln();
                if at > 1e6 {
                    return format!("[{}]", events.join(","));
                }
                let dur = 500 + rng.below(1000);
                events.push(format!(
                    r#"{{"ph":"X","name":"e","cat":"c","pid":1,"tid":{},"ts":{at:.0},"dur":{dur}}}"#,
                    events.len()
                ));
            }
        });
        let runs = texts.map(|text| run_of(&read(&text, &config())));
        let rows = compare_runs(&runs[..1], &runs[1..], &rules()).rows;
        let row = rows.iter().find(|row| row.name == "e").expect("a row");
        times += u32::from(row.own.is_significant());
        counts += u32::from(row.count.is_significant());
    }
    assert!(times <= 18 && counts <= 18, "{times} and {counts} of 200");
}

/// Creates a run of all threads, alone on its side.
fn run_of(trace: &Trace) -> Run {
    let query = Query {
        shape: Shape::CallTree,
        by: GroupBy::None,
        rules: TableRules::default(),
        per: Per::All,
        windows: Vec::new(),
        picks: Picks::default(),
        key: None,
    };
    Run::of(trace, &trace.choose(&ThreadChoice::default()), &query, true).expect("room")
}

/// Creates a run with `count` events of `dur` microseconds.
fn equal(count: u64, dur: u64) -> Run {
    let event = |at: u64| {
        let ts = 1000 + 1000 * at;
        format!(r#"{{"ph":"X","name":"work","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let events: Vec<String> = (0..count).map(event).collect();
    run_of(&read(&format!("[{}]", events.join(",")), &config()))
}

#[test]
fn change_of_a_sum_depends_on_counts_and_durations() {
    let row = |a: (u64, u64), b: (u64, u64)| {
        let all = compare_runs(&[equal(a.0, a.1)], &[equal(b.0, b.1)], &rules());
        all.rows.into_iter().next().expect("a row")
    };
    let verdict = |a, b| row(a, b).verdict;
    assert_eq!(verdict((300, 50), (200, 60)), Verdict::Faster);
    assert_eq!(verdict((300, 50), (450, 50)), Verdict::Slower);
    assert_eq!(verdict((300, 50), (300, 51)), Verdict::Slower);
    assert_eq!(verdict((300, 50), (600, 25)), Verdict::More);
    assert_eq!(verdict((600, 25), (300, 50)), Verdict::Fewer);
    assert_eq!(verdict((300, 50), (303, 50)), Verdict::Same);
    assert_eq!(verdict((1, 50), (1, 500)), Verdict::Same);
    let more = row((300, 50), (450, 50));
    assert!(more.count.is_significant() && more.total.is_significant(), "{more:?}");
    assert_eq!(more.trace_name, "work");
}

#[test]
fn totals_are_tested_independently() {
    let text = |inner: u64| {
        let event = |name: &str, ts: u64, dur: u64| {
            format!(
                r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#
            )
        };
        let all = (0..20).map(|at| {
            let ts = 10_000 * at + 1000;
            // The self times of the outer event stay the same.
            event("outer", ts, 100 + inner + at % 3) + "," + &event("inner", ts + 10, inner)
        });
        run_of(&read(&format!("[{}]", all.collect::<Vec<_>>().join(",")), &config()))
    };
    let all = compare_runs(&[text(500)], &[text(900)], &rules());
    let row = all.rows.iter().find(|row| row.name == "outer").expect("a row");
    assert!(row.total.is_significant() && !row.own.is_significant(), "{row:?}");
    assert_eq!(row.verdict, Verdict::Same);
}

#[test]
fn single_runs_are_tested_by_events_of_the_log() {
    let mut judged = 0;
    for seed in seeds(8000, 80) {
        let mut rng = Rng::new(seed);
        let rules = TableRules { as_devtools: rng.chance(50), ..TableRules::default() };
        let texts = [generate(&mut rng).0, generate(&mut rng).0];
        judged += judged_as_in_the_log(texts, rules, rng.chance(50));
    }
    assert!(judged > 100, "{judged} rows");
}

#[test]
fn odd_events_are_tested_as_in_the_log() {
    let event = |tid: u32, name: &str, ts: i64, dur: i64| {
        format!(
            r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":{tid},"ts":{ts},"dur":{dur}}}"#
        )
    };
    let text = |scale: i64| {
        let mut events = vec![event(1, "ends at 0", -2000, 2000)];
        events.extend((0..6).map(|at| event(1, "within", -1900 + 300 * at, 20 * scale + at)));
        events.extend((0..7).map(|at| event(1, "within", -9000 + 300 * at, 30 * scale + at)));
        events.extend((0..5).map(|at| event(2, "around", 9000 + 300 * at, 100 * scale)));
        events.extend((0..5).map(|at| event(2, "back", 9010 + 300 * at, -5 * scale)));
        events.extend((0..5).map(|at| event(2, "beside", 9030 + 300 * at, 7 * scale + at)));
        format!("[{}]", events.join(","))
    };
    for as_devtools in [false, true] {
        let rules = TableRules { as_devtools, ..TableRules::default() };
        assert!(judged_as_in_the_log([text(1), text(2)], rules, false) >= 2, "{as_devtools}");
    }
}
