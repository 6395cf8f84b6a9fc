//! Comparisons: laws, what is found of planted changes, and how often chance is taken for a change.

use crate::export::parts;
use crate::random::{config, generate, read};
use std::collections::BTreeMap;
use std::slice::from_ref;
use tracemill_analysis::{
    CompareRules, Comparison, GroupBy, Location, MatchBy, Normalize, Per, Picks, Query, Run, Shape,
    TableRules, ThreadChoice, Trace, TreeRow, Verdict, Window, compare_figures, compare_runs,
};
use tracemill_testkit::{Rng, seeds};

fn row(depth: u32, name: &str, own: f64, total: f64) -> TreeRow {
    TreeRow {
        depth,
        id: name.to_owned(),
        start: 0.0,
        own,
        total,
        count: 1,
        expandable: false,
        bytes: 0.0,
        key: None,
        label: Some(name.to_owned()),
        is_group: false,
        category: "other",
        location: Location::default(),
    }
}

fn placed(name: &str, url: &str, line: i64, own: f64) -> TreeRow {
    let location = Location { url: url.to_owned(), line: Some(line), column: None };
    TreeRow { location, ..row(0, name, own, own) }
}

fn run(rows: &[TreeRow]) -> Run {
    Run::new(rows.iter().map(|row| row.own).sum(), rows, true)
}

fn rules() -> CompareRules {
    CompareRules { least: 0.1, ..CompareRules::default() }
}

/// A number of mean 0 and deviation 1, near enough.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.below(1 << 32) as f64 / 4_294_967_296.0).sum::<f64>() - 6.0
}

/// Runs of a program of thirty functions, of which the first takes 100 ms and the others less. Each run is a few percent faster or slower as a whole, and each function
/// by 2 % more; times are whole samples of 0.1 ms.
fn runs(rng: &mut Rng, count: usize, factor: f64) -> Vec<Run> {
    let one = |rng: &mut Rng| {
        let whole = 1.0 + 0.01 * normal(rng);
        let rows: Vec<TreeRow> = (0..30)
            .map(|at| {
                let mean = 100.0 / f64::from(at + 1) * if at == 0 { factor } else { 1.0 };
                let own = mean * whole * (1.0 + 0.02 * normal(rng));
                let own = (own * 10.0).round().max(0.0) / 10.0;
                row(0, &format!("f{at}"), own, own)
            })
            .collect();
        run(&rows)
    };
    (0..count).map(|_| one(rng)).collect()
}

fn significant(comparison: &Comparison) -> Vec<&str> {
    comparison.rows.iter().filter(|row| row.significant).map(|row| &*row.name).collect()
}

#[test]
fn five_percent_more_are_found_in_ten_runs_a_side() {
    let mut found = 0;
    for seed in seeds(5000, 200) {
        let mut rng = Rng::new(seed);
        let (base, new) = (runs(&mut rng, 10, 1.0), runs(&mut rng, 10, 1.05));
        let comparison = compare_runs(&base, &new, &rules());
        let planted = comparison.rows.iter().find(|row| row.name == "f0").expect("a row");
        found += u64::from(planted.verdict == Verdict::Slower);
        if planted.verdict == Verdict::Slower {
            let (from, to) = planted.judged.expect("a test").interval;
            assert!(from > 0.0 && from < to, "seed {seed}: {from} {to}");
        }
    }
    assert!(found >= 180, "{found} of 200");
}

#[test]
fn chance_is_not_taken_for_a_change() {
    let mut alarms = 0;
    for seed in seeds(6000, 200) {
        let mut rng = Rng::new(seed);
        let (base, new) = (runs(&mut rng, 10, 1.0), runs(&mut rng, 10, 1.0));
        alarms += u64::from(!significant(&compare_runs(&base, &new, &rules())).is_empty());
    }
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn a_run_does_not_differ_from_itself_and_sides_can_be_exchanged() {
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
            let turned = match row.verdict {
                Verdict::New => Verdict::Gone,
                Verdict::Gone => Verdict::New,
                Verdict::Slower => Verdict::Faster,
                Verdict::Faster => Verdict::Slower,
                same => same,
            };
            assert_eq!(other.verdict, turned, "seed {seed}");
        }
    }
}

#[test]
fn totals_count_recursion_once() {
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
fn functions_match_as_far_as_is_sure() {
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
fn times_are_scaled() {
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

/// Own times of the events of each name, as the log has them; none of calls, and none of names that calls have too.
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

/// How many rows of two runs are judged by their events, which must be those of the log.
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
        let expected = compare_figures(a, b).1.filter(|_| a.len() >= 5 && b.len() >= 5);
        assert_eq!(row.judged.map(|own| own.p), expected.map(|own| own.p), "{row:?}");
        let shift = expected.map(|own| own.shift * b.len() as f64);
        assert_eq!(row.judged.map(|own| own.shift), shift, "{row:?}");
        judged += u32::from(expected.is_some());
    }
    judged
}

#[test]
fn runs_that_are_alone_are_judged_by_the_events_of_the_log() {
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
fn events_that_end_at_0_and_negative_durations_are_judged_as_in_the_log() {
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
