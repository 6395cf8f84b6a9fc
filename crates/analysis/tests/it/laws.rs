//! Laws of tables over recorded and random traces: several inputs equal their merge, the output of
//! `calls` has the rows of its source, and adjacent windows add up.
//!
//! Traces with two CPU profiles on a thread, or with late times, are left out: `merge` may order
//! their events differently.

use crate::common::random;
use crate::common::recordings::{SHAPES, config, read, recording, source, tables};
use crate::common::tables::query;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tracemill_analysis::{
    Entries, Per, Query, ReadRules, RowLimit, Shape, ThreadChoice, Trace, Window,
};
use tracemill_pipeline::merge;
use tracemill_testkit::{Rng, generate, seeds};
use tracemill_trace::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::limits::Shares;

fn merged(sources: &[Source]) -> Vec<u8> {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    merge(sources, &OutputConfig::writer(Arc::clone(&bytes)), &config()).expect("they merge");
    let bytes = bytes.lock().expect("nothing panicked");
    bytes.clone()
}

#[test]
fn several_inputs_equal_their_merge() {
    let mut compared = 0;
    for seed in seeds(0, 24) {
        let texts: Vec<String> =
            (0..2 + seed % 2).map(|at| recording(seed * 20 + 7 * at)).collect();
        let sources = || -> Vec<Source> {
            texts.iter().enumerate().map(|(at, text)| source(at, text.as_bytes())).collect()
        };
        let (several, one) = (read(&sources()), read(&[source(9, &merged(&sources()))]));
        for shape in SHAPES {
            let (several, one) =
                (tables(&several, shape, Entries::Visible), tables(&one, shape, Entries::Visible));
            assert_eq!(several, one, "seed {seed}, {shape:?}");
            compared += several.len();
        }
    }
    assert!(compared > 100, "{compared}");
}

/// V8 gives the first profile of each session the id 0x1, so two recordings of one process share
/// it.
#[test]
fn profiles_of_a_process_recorded_twice_are_both_kept() {
    let text = |function: &str, ts: u32| {
        let cat = "disabled-by-default-v8.cpu_profiler";
        let of = |name: &str, data: Value| serde_json::json!({"ph": "P", "name": name, "cat": cat, "id": "0x1", "pid": 1, "tid": 1, "ts": ts, "args": {"data": data}});
        let frame =
            |name: &str| serde_json::json!({"functionName": name, "scriptId": 1, "url": "a.js"});
        let nodes = serde_json::json!([
            {"id": 1, "callFrame": frame("(root)")},
            {"id": 2, "parent": 1, "callFrame": frame(function)},
        ]);
        let profile = serde_json::json!({"nodes": nodes, "samples": [2, 2, 2]});
        let named = |name: &str, value: &str| serde_json::json!({"ph": "M", "name": name, "pid": 1, "tid": 1, "ts": 0, "args": {"name": value}});
        serde_json::json!([
            named("process_name", "node"),
            named("thread_name", "JavaScriptMainThread"),
            {"ph": "X", "name": "FunctionCall", "cat": "devtools.timeline", "pid": 1, "tid": 1, "ts": ts, "dur": 900, "args": {"data": {}}},
            of("Profile", serde_json::json!({"startTime": ts})),
            of("ProfileChunk", serde_json::json!({"cpuProfile": profile, "timeDeltas": [100, 100, 100]})),
        ])
        .to_string()
    };
    let texts = [text("alpha", 1000), text("beta", 9000)];
    let all = || texts.iter().enumerate().map(|(at, text)| source(at, text.as_bytes())).collect();
    let sources: Vec<Source> = all();
    let shape = Shape::BottomUp { levels: 1 };
    let one = tables(&read(&[source(9, &merged(&all()))]), shape, Entries::Visible);
    assert_eq!(one, tables(&read(&sources), shape, Entries::Visible));
    let printed = format!("{one:?}");
    assert!(one.len() == 2 && printed.contains("alpha") && printed.contains("beta"), "{printed}");
}

/// A limited table has the first rows of the whole table, and counts the rows that it leaves out.
#[test]
fn limited_table_has_the_first_rows() {
    let mut left_out = 0;
    for seed in seeds(900, 24) {
        let trace = read(&[source(0, recording(seed * 7).as_bytes())]);
        let threads = trace.choose(&ThreadChoice::default());
        for (at, shape) in SHAPES.into_iter().enumerate() {
            let per = [Per::Thread, Per::Process, Per::All][(seed as usize + at) % 3];
            let query = Query { per, ..query(shape, Entries::Visible, Vec::new()) };
            let limit = RowLimit { rows: 1 + seed as usize % 9, ..RowLimit::default() };
            let whole = trace.parts(&threads, &query).expect("room");
            let first = trace.parts_within(&threads, &query, limit).expect("room");
            for (first, whole) in first.iter().zip(&whole) {
                let (rows, all) = (&first.table.rows, &whole.table.rows);
                assert_eq!(rows.len() as u64 + first.table.more, all.len() as u64, "seed {seed}");
                assert!(rows.iter().eq(all.iter().take(rows.len())), "seed {seed}, {shape:?}");
                let is_own = per == Per::Thread || threads.len() == 1;
                assert!(rows.len() <= limit.rows || is_own && shape == Shape::Log);
                left_out += first.table.more;
            }
            assert_eq!(first.len(), whole.len());
        }
    }
    assert!(left_out > 100, "{left_out}");
}

#[test]
fn table_of_one_thread_equals_table_of_all() {
    let mut rows = 0;
    for seed in seeds(950, 12) {
        let profile = generate::cpuprofile(seed).to_string().into_bytes();
        let sources = [source(0, recording(seed * 7).as_bytes()), source(1, &profile)];
        for trace in sources.iter().map(|source| read(std::slice::from_ref(source))) {
            for (at, shape) in
                (0..trace.threads.len()).flat_map(|at| SHAPES.map(|shape| (at, shape)))
            {
                let of = |per| {
                    let query = Query { per, ..query(shape, Entries::Visible, Vec::new()) };
                    trace.parts(&[at], &query).expect("room").remove(0).table
                };
                let table = of(Per::Thread);
                assert!(table == of(Per::All), "seed {seed}, {shape:?}");
                rows += table.rows.len();
            }
        }
    }
    assert!(rows > 1000, "{rows}");
}

/// Counts do not add up, since an event may be in several windows.
#[test]
fn adjacent_windows_add_up() {
    type Sums = BTreeMap<(String, Vec<String>), (i64, i64)>;
    let whole = |ms: f64| (ms * 1000.0).round() as i64;
    let add = |sums: &mut Sums, trace: &Trace, shape: Shape, window: Window| {
        let threads = trace.choose(&ThreadChoice::default());
        let query = query(shape, Entries::All, vec![window]);
        for part in trace.parts(&threads, &query).expect("room") {
            let mut path: Vec<String> = Vec::new();
            for row in &part.table.rows {
                path.truncate(row.depth as usize);
                path.push(row.id.clone());
                let sum = sums.entry((trace.title(&part), path.clone())).or_default();
                (sum.0, sum.1) = (sum.0 + whole(row.own), sum.1 + whole(row.total));
            }
        }
    };
    for seed in seeds(500, 120) {
        let mut rng = Rng::new(seed);
        let (text, _) = random::generate(&mut rng);
        let trace = read(&[source(0, text.as_bytes())]);
        let (first, last) = trace.bounds;
        let mut edges: Vec<f64> = (0..1 + rng.index(5))
            .map(|_| first + rng.index((last - first) as usize) as f64)
            .collect();
        edges.extend([first, last]);
        edges.sort_by(f64::total_cmp);
        let window = |from: f64, to: f64| Window { from: from / 1000.0, to: to / 1000.0 };
        // Bottom-up rows exist only with self time.
        let (mut one, mut parts) = (Sums::new(), Sums::new());
        add(&mut one, &trace, Shape::CallTree, window(first, last));
        for pair in edges.windows(2) {
            add(&mut parts, &trace, Shape::CallTree, window(pair[0], pair[1]));
        }
        for sums in [&mut one, &mut parts] {
            sums.retain(|_, sum| *sum != (0, 0));
        }
        assert_eq!(one, parts, "seed {seed}, {edges:?}\n{text}");
    }
}

#[test]
fn calls_do_not_depend_on_when_they_are_computed() {
    let mut compared = 0;
    for seed in seeds(700, 24) {
        let text = match seed % 3 {
            0 => generate::cpuprofile(seed).to_string(),
            _ => recording(seed * 7),
        };
        let usual = read(&[source(0, text.as_bytes())]);
        let rules = ReadRules { as_stored: true, ..ReadRules::default() };
        let mut config = config();
        if seed % 2 == 0 {
            config.limits.shares = Some(Shares { index: 2000, ..config.limits.shares() });
        }
        let kept = Trace::read(&[source(0, text.as_bytes())], rules, &config).expect("a trace");
        for shape in SHAPES {
            let [usual, kept] = [&usual, &kept].map(|trace| tables(trace, shape, Entries::Visible));
            assert_eq!(usual, kept, "seed {seed}, {shape:?}");
            compared += usual.len();
        }
    }
    assert!(compared > 50, "{compared}");
}
