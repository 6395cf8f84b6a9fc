//! Invalid traces are reported or left out, without panics, recursion or quadratic time.

use tracemill_analysis::{
    GroupBy, Per, Picks, Query, ReadRules, Shape, TableRules, ThreadChoice, Trace, View,
};
use tracemill_join::config::Config;
use tracemill_trace::Source;

fn read(text: &str) -> Trace {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    std::fs::write(&path, text).expect("a file");
    let config = Config::new(2, 256 << 20, std::env::temp_dir());
    Trace::read(&[Source::Path(path)], ReadRules::default(), &config).expect("a trace")
}

/// Returns ids and self times of the rows of all threads.
fn top(trace: &Trace, shape: Shape) -> Vec<(String, f64)> {
    let rules = TableRules::default();
    let query = Query {
        shape,
        by: GroupBy::None,
        rules,
        per: Per::All,
        windows: Vec::new(),
        picks: Picks::default(),
        key: None,
    };
    let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room");
    let rows = parts.iter().flat_map(|part| &part.table.rows);
    rows.map(|row| (row.id.clone(), row.own)).collect()
}

fn profile(nodes: &str, samples: &str, deltas: &str) -> String {
    format!(
        r#"{{"nodes":[{nodes}],"startTime":1000,"endTime":9000,"samples":[{samples}],"timeDeltas":[{deltas}]}}"#
    )
}

fn node(id: u64, name: &str, children: &str) -> String {
    format!(
        r#"{{"id":{id},"callFrame":{{"functionName":"{name}","scriptId":"1","url":"u","lineNumber":0,"columnNumber":0}},"children":[{children}]}}"#
    )
}

#[test]
fn cyclic_nodes_terminate() {
    let nodes = [node(1, "(root)", "2"), node(2, "a", "3"), node(3, "b", "2,3")].join(",");
    let trace = read(&profile(&nodes, "3,3,2", "0,1000,1000"));
    let rows = top(&trace, Shape::BottomUp { levels: 1 });
    assert_eq!(rows, [("f:b@1:0:0".to_owned(), 2.0), ("f:a@1:0:0".to_owned(), 1.0)]);
}

#[test]
fn unknown_samples_are_counted() {
    let nodes = [node(1, "(root)", "2"), node(2, "a", "")].join(",");
    let trace = read(&profile(&nodes, "2,77,2", "0,1000,1000"));
    assert_eq!(trace.threads[0].unknown_samples(), 1);
    top(&trace, Shape::CallTree);
}

#[test]
fn backward_and_huge_time_steps_are_accepted() {
    let nodes = [node(1, "(root)", "2"), node(2, "a", "")].join(",");
    let trace = read(&profile(&nodes, "2,1,2,1", "0,1000,-500,99999999999999"));
    let rows = top(&trace, Shape::CallTree);
    assert!(rows.iter().all(|(_, self_ms)| *self_ms >= 0.0), "{rows:?}");
}

#[test]
fn stack_of_400_000_calls_does_not_recurse() {
    let events: Vec<String> = (0..400_000u64)
        .map(|at| {
            let (ts, dur) = (at + 1, 1_000_000 - 2 * at);
            format!(
                r#"{{"ph":"X","name":"f{}","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#,
                at % 7
            )
        })
        .collect();
    let trace = read(&format!("[{}]", events.join(",")));
    assert_eq!(top(&trace, Shape::CallTree).len(), 400_000);
    assert_eq!(top(&trace, Shape::BottomUp { levels: 1 }).len(), 7);
}

#[test]
fn overlaps_lone_ends_and_invalid_times_are_counted() {
    let trace = read(
        r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1,"dur":10},
        {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":5,"dur":10},
        {"ph":"E","name":"x","cat":"c","pid":1,"tid":1,"ts":6},
        {"ph":"B","name":"y","cat":"c","pid":1,"tid":1,"ts":7},
        {"ph":"X","name":"z","cat":"c","pid":1,"tid":1,"ts":null,"dur":1}]"#,
    );
    let thread = &trace.threads[0];
    assert_eq!((thread.pairs.lone_ends, thread.pairs.unended, trace.untimed), (1, 1, 1));
    let track = trace.track(thread).expect("room");
    assert_eq!(View::new(&track, TableRules::default()).dropped(), 1);
}

#[test]
fn trace_without_threads_has_no_table() {
    let trace = read(r#"[{"ph":"M","name":"process_name","args":{"name":"x"}}]"#);
    assert_eq!(top(&trace, Shape::CallTree), []);
}

/// Times include values beyond doubles, and values that are not numbers.
#[test]
fn infinite_or_missing_times_do_not_panic() {
    let event = |ts: &str, dur: &str| {
        format!(r#"{{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":{ts},"dur":{dur}}}"#)
    };
    let times = ["1", "-5", "1e999", "-1e999", "NaN", "null", "\"x\"", "1e308", "-0"];
    let mut events = Vec::new();
    for ts in times {
        events.extend(times.map(|dur| event(ts, dur)));
    }
    let trace = read(&format!("[{}]", events.join(",")));
    for shape in [Shape::CallTree, Shape::BottomUp { levels: 3 }, Shape::Log] {
        top(&trace, shape);
    }
    assert!(trace.untimed > 0);
    let nodes = [node(1, "(root)", "2"), node(2, "a", "")].join(",");
    for deltas in ["NaN,1,2", "1e999,1,2", "-1e999,1e999,2", "null,null,null"] {
        top(&read(&profile(&nodes, "2,1,2", deltas)), Shape::CallTree);
    }
}

#[test]
fn each_unpaired_begin_and_end_is_counted() {
    let half = |ph: &str, name: &str, at: usize| {
        format!(r#"{{"ph":"{ph}","name":"{name}{at}","cat":"c","pid":1,"tid":1,"ts":{at}}}"#)
    };
    let events: Vec<String> =
        (0..3000).flat_map(|at| [half("B", "b", at), half("E", "e", at)]).collect();
    let trace = read(&format!("[{}]", events.join(",")));
    let pairs = trace.threads[0].pairs;
    assert_eq!((pairs.unended, pairs.lone_ends), (3000, 3000));
    let rows = top(&trace, Shape::CallTree);
    assert!(rows.len() == 3000 && rows.iter().all(|(_, self_ms)| *self_ms == 0.0));
}

#[test]
fn empty_window_has_no_rows() {
    let trace = read(
        r#"[{"ph":"X","name":"a","cat":"c","pid":1,"tid":1,"ts":1000,"dur":10},
        {"ph":"X","name":"b","cat":"c","pid":1,"tid":1,"ts":9000,"dur":10}]"#,
    );
    for (from, to) in [(2.0, 3.0), (0.0, 0.5), (20.0, 30.0), (5.0, 5.0), (f64::NAN, f64::NAN)] {
        let query = Query {
            shape: Shape::BottomUp { levels: 2 },
            by: GroupBy::None,
            rules: TableRules::default(),
            per: Per::All,
            windows: vec![tracemill_analysis::Window { from, to }],
            picks: Picks::default(),
            key: None,
        };
        let parts = trace.parts(&trace.choose(&ThreadChoice::default()), &query).expect("room");
        let rows: usize = parts.iter().map(|part| part.table.rows.len()).sum();
        assert!(rows == 0 || from.is_nan(), "{from} {to}");
    }
}

/// Each call of a CPU profile ends exactly where the next one begins. Steps are random, at times of
/// a machine with a long uptime.
#[test]
fn adjacent_calls_are_not_nested() {
    let mut rng = tracemill_testkit::Rng::new(11);
    let names = ["(root)", "a", "b", "(idle)", "c"];
    let nodes: Vec<String> = (1..)
        .zip(names)
        .map(|(id, name)| {
            node(
                id,
                name,
                if id == 1 {
                    "2,3,4"
                } else if id == 3 {
                    "5"
                } else {
                    ""
                },
            )
        })
        .collect();
    for _ in 0..40 {
        let start = 25_000_000_000 + rng.below(1_000_000_000);
        let samples: Vec<u64> = (0..200).map(|_| 2 + rng.below(4)).collect();
        let steps: Vec<u64> = samples.iter().map(|_| 300 + rng.below(9_000)).collect();
        let end = start + steps.iter().sum::<u64>() + 1_000;
        let list = |all: &[u64]| all.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let text = format!(
            r#"{{"nodes":[{}],"startTime":{start},"endTime":{end},"samples":[{}],"timeDeltas":[{}]}}"#,
            nodes.join(","),
            list(&samples),
            list(&steps)
        );
        let mut sums = [0.0; 6];
        // The last sample lasts until the end of the profile.
        for (at, &id) in samples.iter().enumerate() {
            let step = steps.get(at + 1).copied();
            sums[id as usize] += step.unwrap_or_default() as f64 / 1000.0;
        }
        let last = *samples.last().expect("samples");
        for (id, self_ms) in top(&read(&text), Shape::BottomUp { levels: 1 }) {
            let number = names.iter().position(|name| id == format!("f:{name}@1:0:0"));
            let number = number.expect("a function of the profile") + 1;
            let rest = self_ms - sums[number];
            assert!(
                rest.abs() < 1e-6 || number as u64 == last && rest > 0.0,
                "{id}: {self_ms} {sums:?}"
            );
        }
        let top_rows = top(&read(&text), Shape::CallTree);
        assert_eq!(top_rows.len(), 4, "{top_rows:?}"); // a, b, c below b, (idle)
    }
}
