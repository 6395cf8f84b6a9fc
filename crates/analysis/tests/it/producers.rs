//! Which events count, and the time range: by DevTools' rules in traces of Chrome and Node only.

use crate::common::tables::query;
use std::collections::BTreeMap;
use tracemill_analysis::{Entries, ReadRules, Shape, ThreadChoice, Times, Trace, TreeRow};
use tracemill_index::info;
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::Config;
use tracemill_trace::Source;

const SHAPES: [Shape; 3] = [Shape::CallTree, Shape::BottomUp { levels: 3 }, Shape::Log];

fn config() -> Config {
    Config::new(2, 256 << 20, std::env::temp_dir())
}

fn source(text: &str) -> Source {
    Source::bytes("t.json", text.as_bytes().to_vec())
}

fn read(text: &str, times: Times) -> Trace {
    let rules = ReadRules { times, ..ReadRules::default() };
    Trace::read(&[source(text)], rules, &config()).expect("a trace")
}

/// Rounds to whole nanoseconds, since DevTools' doubles depend on absolute times.
fn nanos(ms: f64) -> i64 {
    (ms * 1e6).round() as i64
}

/// Returns the rows, self times and totals of all threads, and their busy time and length.
fn tables(trace: &Trace, shape: Shape) -> String {
    let threads = trace.choose(&ThreadChoice::default());
    let parts = trace.parts(&threads, &query(shape, Entries::Visible, Vec::new())).expect("room");
    let of_part = |part: &tracemill_analysis::Part| {
        let rows = part.table.rows.iter();
        let rows = rows.map(|row: std::borrow::Cow<'_, TreeRow>| {
            (row.depth, row.id.clone(), nanos(row.own), nanos(row.total), row.count)
        });
        (nanos(part.busy()), nanos(part.table.total), rows.collect::<Vec<_>>())
    };
    format!("{:?}", parts.iter().map(of_part).collect::<Vec<_>>())
}

/// Returns events of several phases, names and categories at times from `start`, in microseconds.
fn trace(cat: &str, start: u32, first: &str) -> String {
    let event = |ph: &str, name: &str, ts: u32, more: &str| {
        let ts = start + ts;
        format!(r#"{{"ph":"{ph}","name":"{name}","cat":"{cat}","pid":1,"tid":1,"ts":{ts}{more}}}"#)
    };
    let first = match first {
        "B" => [event("B", "main", 0, ""), event("E", "main", 1000, "")].join(","),
        "C" => event("C", "main", 0, r#","args":{"a":1}"#),
        "I" => event("I", "main", 0, ""),
        phase => event(phase, "main", 0, r#","dur":1000"#),
    };
    let others = [
        event("X", "work", 100, r#","dur":200"#),
        event("X", "RunTask", 400, r#","dur":300"#),
        event("X", "Time::UMA", 1200, r#","dur":400"#),
        event("b", "wait", 1300, r#","id":1"#),
        event("e", "wait", 1700, r#","id":1"#),
    ];
    format!("[{first},{}]", others.join(","))
}

#[test]
fn start_at_zero_does_not_change_tables() {
    for (cat, first) in [("cpu_op", "X"), ("c", "X"), ("c", "B"), ("c", "C"), ("c", "I")] {
        for times in [Times::Auto, Times::Exact, Times::Devtools] {
            let [early, later] = [0, 1].map(|start| read(&trace(cat, start, first), times));
            for shape in SHAPES {
                assert_eq!(tables(&early, shape), tables(&later, shape), "{cat} {first} {shape:?}");
            }
        }
    }
}

#[test]
fn length_and_busy_time_match_info() {
    let wanted = InfoConfig { top: 9, full: true, self_times: true };
    for first in ["X", "B", "C", "I"] {
        let text = trace("c", 0, first);
        let facts = info(&[source(&text)], &wanted, &config()).expect("a trace");
        let lasts = facts.end_ns.expect("times") - facts.start_ns.expect("times");
        let trace = read(&text, Times::Exact);
        assert_eq!(trace.bounds.1 - trace.bounds.0, lasts as f64 / 1000.0, "{first}");
        let parts = trace.parts(&[0], &query(Shape::CallTree, Entries::Visible, Vec::new()));
        let busy = parts.expect("room")[0].busy();
        let threads = facts.processes.iter().flat_map(|process| &process.threads);
        let of_info: BTreeMap<&str, u64> =
            threads.map(|thread| (&*thread.tid, thread.usage.self_ns)).collect();
        assert_eq!(nanos(busy) as u64, of_info["1"], "{first}");
    }
}

#[test]
fn bounds_of_chrome_traces_match_devtools() {
    for cat in ["devtools.timeline", "disabled-by-default-v8.gc,x", "blink.user_timing"] {
        let chrome = read(&trace(cat, 0, "X"), Times::Devtools);
        assert!(chrome.follows_devtools, "{cat}");
        assert_eq!(chrome.bounds, (100.0, 700.0), "{cat}");
    }
}

#[test]
fn profiles_without_events_keep_their_samples() {
    let of = |name: &str, ts: u32, data: &str| {
        let cat = "disabled-by-default-v8.cpu_profiler";
        format!(
            r#"{{"ph":"P","cat":"{cat}","name":"{name}","id":"0x1","pid":1,"tid":1,"ts":{ts},"args":{{"data":{data}}}}}"#
        )
    };
    let nodes = r#"[{"id":1,"callFrame":{"functionName":"(root)"}},{"id":2,"parent":1,"callFrame":{"functionName":"f","scriptId":"1","url":"a.js"}}]"#;
    let chunk = format!(
        r#"{{"cpuProfile":{{"nodes":{nodes},"samples":[2,2,1]}},"timeDeltas":[100,500,300]}}"#
    );
    for ts in [0, 1000] {
        let text = [of("Profile", ts, r#"{"startTime":1000}"#), of("ProfileChunk", ts, &chunk)];
        let trace = read(&format!("[{}]", text.join(",")), Times::Auto);
        let parts = trace.parts(&[0], &query(SHAPES[1], Entries::Visible, Vec::new()));
        let part = &parts.expect("room")[0];
        assert!((part.busy() - 0.8).abs() < 1e-9, "{part:?}");
        assert!((part.table.total - 0.9).abs() < 1e-9, "{part:?}");
        assert_eq!(part.table.rows.len(), 1);
    }
}

#[test]
fn events_without_a_duration_are_counted() {
    for cat in ["c", "devtools.timeline"] {
        let event = |ph: &str, ts: u32, more: &str| {
            format!(
                r#"{{"ph":"{ph}","name":"TimerFire","cat":"{cat}","pid":1,"tid":1,"ts":{ts}{more}}}"#
            )
        };
        let alone = |name: &str| event("X", 60, r#","dur":0"#).replace("TimerFire", name);
        let all = [
            event("X", 10, r#","dur":30"#),
            event("X", 20, r#","dur":0"#),
            event("B", 30, ""),
            event("E", 30, ""),
            event("I", 35, ""),
            alone("HitTest"),
        ];
        let trace = read(&format!("[{}]", all.join(",")), Times::Auto);
        for shape in [SHAPES[0], SHAPES[1]] {
            let parts = trace.parts(&[0], &query(shape, Entries::Visible, Vec::new()));
            let rows = &parts.expect("room")[0].table.rows;
            let mut sums: BTreeMap<String, (u64, f64)> = BTreeMap::new();
            for row in rows.iter().filter(|row| shape == SHAPES[0] || row.depth == 0) {
                let sum = sums.entry(row.id.clone()).or_default();
                *sum = (sum.0 + row.count, sum.1 + row.own);
            }
            let expected = [("HitTest", (1, 0.0)), ("TimerFire", (3, 0.03))];
            let expected = expected.map(|(name, sum)| (name.to_owned(), sum));
            assert_eq!(sums, BTreeMap::from(expected), "{cat} {shape:?}");
        }
    }
}

#[test]
fn each_type_of_dispatched_event_has_a_row() {
    let event = |kind: &str, ts: u32, dur: u32| {
        format!(
            r#"{{"ph":"X","name":"EventDispatch","cat":"devtools.timeline","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{"data":{{"type":"{kind}"}}}}}}"#
        )
    };
    let text = format!("[{},{}]", event("mouseout", 10, 20), event("click", 50, 80));
    let rows = |as_devtools: bool| -> Vec<(String, Option<String>, i64)> {
        let rules = ReadRules { as_devtools, ..ReadRules::default() };
        let trace = Trace::read(&[source(&text)], rules, &config()).expect("a trace");
        let parts = trace.parts(&[0], &query(SHAPES[1], Entries::Visible, Vec::new()));
        let rows = &parts.expect("room")[0].table.rows;
        rows.iter().map(|row| (row.id.clone(), row.label.clone(), nanos(row.own))).collect()
    };
    let row = |id: &str, label: &str, ns: i64| (id.to_owned(), Some(label.to_owned()), ns);
    assert_eq!(
        rows(false),
        [
            row("EventDispatch:click", "Event: click", 80_000),
            row("EventDispatch:mouseout", "Event: mouseout", 20_000),
        ]
    );
    assert_eq!(rows(true).len(), 1);
}
