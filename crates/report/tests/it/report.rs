//! Compares sections of reports with DevTools' engine, the tables of `top` and `tree`, and naive
//! counts.

use crate::common::files::{files, goldens, has_goldens, input_of, lines, shared, unpacked};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tracemill_analysis::{
    GroupBy, Per, Picks, Producer, Query, ReadRules, Shape, TableRules, ThreadChoice, ThreadKind,
    Trace, Wanted, Window,
};
use tracemill_join::config::Config;
use tracemill_report::Report;
use tracemill_report::ReportRules;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// More rows than any section has.
pub(crate) const ALL: usize = 1 << 20;

pub(crate) fn read(path: &Path, memory: u64) -> Trace {
    let config = Config::new(2, memory, std::env::temp_dir());
    let wanted = Wanted { titles: true, report: true, urls: true, ..Wanted::default() };
    let rules = ReadRules { wanted, ..ReadRules::default() };
    Trace::read(&[Source::Path(path.to_owned())], rules, &config).expect("a trace")
}

pub(crate) fn rules(rows: usize) -> ReportRules {
    ReportRules {
        rows,
        producer: None,
        tables: TableRules::default(),
        window: None,
        devices: Default::default(),
    }
}

pub(crate) fn report(trace: &Trace) -> Report {
    let threads = trace.choose(&ThreadChoice::default());
    tracemill_report::report(trace, &threads, &rules(ALL)).expect("room")
}

fn query(shape: Shape, per: Per, windows: Vec<Window>) -> Query {
    let (rules, picks) = (TableRules::default(), Picks::default());
    Query { shape, by: GroupBy::None, rules, per, windows, picks, key: None }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(b.abs()).max(1.0)
}

/// Returns traces of the project, and of the corpus if it exists.
fn traces() -> Vec<PathBuf> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    let mut all = files(&testdata.join("node"));
    all.extend(files(&testdata.join("node-cpu-prof")));
    all.extend(files(&testdata.join("chromium")));
    for name in ["devtools", "bazel", "viztracer", "jax-xla", "pytorch-kineto", "node20"] {
        all.extend(files(&shared().join("corpus").join(name)));
    }
    all.retain(|path| !path.to_string_lossy().contains("golden") && path.extension().is_some());
    all
}

#[test]
fn long_tasks_match_devtools() {
    let mut compared = 0;
    for (name, golden) in goldens(".insights.jsonl.gz") {
        let lines = lines(&golden);
        let Some(at) = lines.iter().position(|line| line["table"] == "longTasks") else { continue };
        let count = lines[at]["rows"].as_u64().expect("a count") as usize;
        let number = |value: &Value| value.as_f64().expect("a number").to_bits();
        let mut expected: Vec<_> = lines[at + 1..]
            .iter()
            .take_while(|line| line.is_array())
            .map(|row| {
                (row[4].as_str().expect("a key").to_owned(), number(&row[0]), number(&row[1]))
            })
            .collect();
        assert_eq!(expected.len(), count, "{name}");
        let tasks = report(&read(&input_of(&name), 256 << 20)).tasks.unwrap_or_default();
        let of = |interval: &tracemill_report::Stretch| {
            (
                interval.key.clone().unwrap_or_default(),
                interval.ts.to_bits(),
                interval.dur.to_bits(),
            )
        };
        let mut found: Vec<_> = tasks.longest.iter().map(of).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{name}");
        assert_eq!(tasks.count as usize, count, "{name}");
        let beyond: f64 = tasks.longest.iter().map(|task| task.dur / 1000.0 - 50.0).sum();
        assert!(close(tasks.blocking, beyond), "{name}");
        compared += count;
    }
    assert!(!has_goldens() || compared > 5, "{compared}");
}

#[test]
fn reports_match_top_and_tree() {
    for path in traces() {
        let trace = read(&path, 256 << 20);
        let threads = trace.choose(&ThreadChoice::default());
        let report = report(&trace);
        let name = path.display();
        let tables =
            |shape, per, windows| trace.parts(&threads, &query(shape, per, windows)).expect("room");
        let mut top = tables(Shape::BottomUp { levels: 1 }, Per::All, Vec::new());
        let Some(mut top) = top.pop() else {
            assert!(report.hot.is_none(), "{name}");
            continue;
        };
        let rows = top.table.rows.iter().filter(|row| row.label.as_deref() != Some("(idle)"));
        top.table.rows = rows.map(Cow::into_owned).collect::<Vec<_>>().into();
        let hot = report.hot.as_ref().expect("rows");
        assert_eq!(hot.table.rows, top.table.rows, "{name}");
        assert_eq!(hot.busy().to_bits(), top.busy().to_bits(), "{name}");

        for part in tables(Shape::BottomUp { levels: 1 }, Per::Thread, Vec::new()) {
            let sums = report.threads.iter().find(|thread| thread.thread == part.threads[0]);
            let sums = sums.expect("each thread");
            let is_idle = |label: Option<&str>| label == Some("(idle)");
            // In DevTools, calls of a CPU profile may be below (idle), and take time from it.
            let idles = part.table.rows.iter().any(|row| is_idle(row.label.as_deref()));
            let is_alone = trace.threads[sums.thread].kind == ThreadKind::CpuProfile;
            let busy = if part.busy().is_finite() { part.busy() } else { 0.0 };
            assert!(is_alone || idles || close(sums.busy, busy), "{name}: {sums:?} {busy}");
            let shares: f64 = sums.categories.iter().map(|(_, ms)| ms).sum();
            let selves: f64 = part
                .table
                .rows
                .iter()
                .filter(|row| !is_idle(row.label.as_deref()) && row.own > 0.0)
                .map(|row| row.own)
                .sum();
            assert!(close(shares, selves), "{name}: {shares} {selves}");
        }
        let trees = tables(Shape::CallTree, Per::Thread, Vec::new());
        if let Some((at, heaviest)) = &report.heaviest {
            let part = trees.iter().find(|part| part.threads == [*at]).expect("its tree");
            let path = part.table.heaviest(None);
            assert_eq!(heaviest, &path, "{name}");
        }
        let intervals = report.tasks.iter().flat_map(|task| &task.longest);
        for interval in intervals.chain(report.blocks.iter().flat_map(|block| &block.longest)) {
            let own_query = query(Shape::CallTree, Per::Thread, vec![interval.window]);
            let part = trace.parts(&[interval.thread], &own_query).expect("room").remove(0);
            let mut selves: Vec<f64> = part.table.rows.iter().map(|row| row.own).collect();
            selves.sort_by(|a, b| b.total_cmp(a));
            selves.retain(|ms| *ms > 0.0);
            assert_eq!(interval.paths.len(), selves.len().min(3), "{name}");
            for (path, ms) in interval.paths.iter().zip(selves) {
                assert!(close(path.own(), ms), "{name}: {} {ms}", path.own());
                assert!(path.rows.iter().map(|row| row.depth).eq(0..path.rows.len() as u32));
            }
        }
    }
}

/// Returns events of three names that do not overlap, and values of two counters.
fn slices(rng: &mut Rng) -> String {
    let mut events = Vec::new();
    let mut at = 1000;
    for _ in 0..1 + rng.index(400) {
        let (name, dur) = (["a", "b", "c"][rng.index(3)], rng.index(5000));
        events.push(format!(
            r#"{{"ph":"X","name":"{name}","cat":"c","pid":1,"tid":1,"ts":{at},"dur":{dur}.{}}}"#,
            rng.index(10)
        ));
        at += dur + 2;
    }
    for value in 0..2 + rng.index(50) {
        let (name, sign) = (["m", "n"][value % 2], ["", "-"][rng.index(2)]);
        let number = rng.index(100_000);
        events.push(format!(
            r#"{{"ph":"C","name":"{name}","pid":1,"ts":{at},"args":{{"x":{sign}{number},"y":"{number}.5","z":null}}}}"#
        ));
    }
    rng.shuffle(&mut events);
    format!("[{}]", events.join(",\n"))
}

#[test]
fn durations_and_counters_match_a_naive_count() {
    let mut seen = (0, 0);
    let folder = tempfile::tempdir().expect("a folder");
    let generated = seeds(800, 20).map(|seed| {
        let path = folder.path().join(format!("{seed}.json"));
        std::fs::write(&path, slices(&mut Rng::new(seed))).expect("a file");
        path
    });
    for path in traces().into_iter().chain(generated) {
        let Ok(value) = serde_json::from_slice::<Value>(&unpacked(&path)) else { continue };
        let events = value.get("traceEvents").unwrap_or(&value);
        let Some(events) = events.as_array() else { continue };
        let trace = read(&path, 256 << 20);
        let report = report(&trace);
        let name = path.display();
        // Other tests cover pairs of B and E.
        if trace.producer().is_of_slices() && events.iter().all(|event| event["ph"] != "B") {
            let mut durations: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
            for event in events.iter().filter(|event| event["ph"] == "X" && event["ts"].is_number())
            {
                let name = event["name"].as_str().unwrap_or_default();
                durations.entry(name).or_default().push(event["dur"].as_f64().unwrap_or(0.0));
            }
            for spread in report.spread.iter().flatten() {
                let all = durations.get_mut(&*spread.name).expect("a name of the trace");
                all.sort_by(f64::total_cmp);
                let rank = |percent: usize| all[(all.len() * percent).div_ceil(100) - 1];
                let expected = (all.len() as u64, rank(50), rank(99), all[all.len() - 1]);
                assert_eq!(
                    (spread.count, spread.p50, spread.p99, spread.most),
                    expected,
                    "{name}: {spread:?}"
                );
                seen.0 += 1;
            }
        }
        let mut counters: BTreeMap<(String, String), (u64, f64)> = BTreeMap::new();
        for event in events.iter().filter(|event| event["ph"] == "C") {
            for (key, value) in event["args"].as_object().into_iter().flatten() {
                let Some(number) = value.as_f64().or_else(|| value.as_str()?.parse().ok()) else {
                    continue;
                };
                let counter = event["name"].as_str().unwrap_or_default().to_owned();
                let at = counters.entry((counter, key.clone())).or_insert((0, f64::NEG_INFINITY));
                *at = (at.0 + 1, at.1.max(number));
            }
        }
        let mut found = BTreeMap::new();
        for counter in &report.counters {
            let at = found
                .entry((counter.name.clone(), counter.key.clone()))
                .or_insert((0, f64::NEG_INFINITY));
            *at = (at.0 + counter.count, at.1.max(counter.most));
        }
        assert_eq!(found, counters, "{name}");
        seen.1 += counters.len();
    }
    assert!(seen.0 >= 40 && seen.1 >= 40, "{seen:?}");
}

/// Returns a CPU profile of one function and an idle CPU, and the start of each sample, with
/// whether it is idle.
fn profile(rng: &mut Rng) -> (String, Vec<(i64, bool)>, i64) {
    let count = 3 + rng.index(60);
    let (mut at, mut samples) = (1_000_000, Vec::new());
    let mut deltas = vec![0];
    for number in 0..count {
        if number > 0 {
            let step = 1 + rng.index(40_000) as i64;
            deltas.push(step);
            at += step;
        }
        samples.push((at, rng.chance(30)));
    }
    let ids: Vec<i64> = samples.iter().map(|(_, is_idle)| if *is_idle { 3 } else { 2 }).collect();
    let text = format!(
        r#"{{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}},"children":[2,3]}},
{{"id":2,"callFrame":{{"functionName":"f","scriptId":"1","url":"a.js","lineNumber":1,"columnNumber":1}}}},
{{"id":3,"callFrame":{{"functionName":"(idle)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1}}}}],
"startTime":1000000,"endTime":{at},"samples":{ids:?},"timeDeltas":{deltas:?}}}"#
    );
    (text, samples, at)
}

#[test]
fn blocks_lie_between_idle_samples() {
    let mut seen = 0;
    for seed in seeds(700, 40) {
        let mut rng = Rng::new(seed);
        let (text, samples, last) = profile(&mut rng);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.cpuprofile");
        std::fs::write(&path, text).expect("a file");
        let report = report(&read(&path, 256 << 20));
        let mut expected: Vec<(i64, i64)> = Vec::new();
        let mut since = None;
        for (at, is_idle) in samples.iter().copied().chain([(last, true)]) {
            match (is_idle, since) {
                (false, None) => since = Some(at),
                (true, Some(from)) => {
                    expected.extend((at - from >= 50_000).then_some((from, at)));
                    since = None;
                }
                _ => {}
            }
        }
        let blocks = report.blocks.expect("a profile");
        assert_eq!(report.producer, Producer::CpuProfile);
        let mut found: Vec<(f64, f64)> =
            blocks.longest.iter().map(|block| (block.window.from, block.window.to)).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let near = |ms: f64, us: i64| (ms * 1000.0 - us as f64).abs() <= 1e-3;
        let same = found.len() == expected.len()
            && found
                .iter()
                .zip(&expected)
                .all(|(block, its)| near(block.0, its.0) && near(block.1, its.1));
        assert!(same, "seed {seed}: {found:?} {expected:?}");
        assert_eq!(blocks.count as usize, expected.len());
        seen += expected.len();
        let behind = [(last, true)];
        let steps = samples.iter().zip(samples[1..].iter().chain(&behind));
        let busy: i64 = steps.filter(|(step, _)| !step.1).map(|(step, next)| next.0 - step.0).sum();
        let found = report.threads[0].busy;
        assert!((found * 1000.0 - busy as f64).abs() < 0.1, "seed {seed}: {found} {busy}");
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn reports_do_not_depend_on_memory_or_rows() {
    for path in traces() {
        let [small, large] = [64 << 20, 1 << 30].map(|memory| {
            let trace = read(&path, memory);
            let threads = trace.choose(&ThreadChoice::default());
            format!("{:?}", tracemill_report::report(&trace, &threads, &rules(3)).expect("room"))
        });
        assert_eq!(small, large, "{}", path.display());
        let trace = read(&path, 256 << 20);
        let threads = trace.choose(&ThreadChoice::default());
        let (few, all) =
            (tracemill_report::report(&trace, &threads, &rules(2)).expect("room"), report(&trace));
        let longest = |figures: &Report| -> Vec<f64> {
            figures
                .tasks
                .iter()
                .flat_map(|sums| &sums.longest)
                .map(|task| task.dur)
                .take(2)
                .collect()
        };
        assert_eq!(longest(&few), longest(&all), "{}", path.display());
        assert_eq!(few.hot.map(|part| part.table), all.hot.map(|part| part.table));
    }
}

#[test]
fn call_trees_may_exceed_the_budget() {
    let (folder, mut text) = (tempfile::tempdir().expect("a folder"), String::from("["));
    for (outer, inner) in (0..500).flat_map(|outer| (0..300).map(move |inner| (outer, inner))) {
        let ts = outer * 1000 + 2 * inner;
        if inner == 0 {
            text += &format!(
                "{{\"ph\":\"X\",\"name\":\"o{outer}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":900}},\n"
            );
        }
        let dur = 1.0 + f64::from(outer + inner) / 1000.0;
        text += &format!(
            "{{\"ph\":\"X\",\"name\":\"i{inner}\",\"pid\":1,\"tid\":1,\"ts\":{ts},\"dur\":{dur}}},\n"
        );
    }
    let path = folder.path().join("t.json");
    std::fs::write(&path, text.trim_end_matches(",\n").to_owned() + "]").expect("a file");
    let [small, large] = [32 << 20, 1 << 30].map(|memory| {
        let trace = read(&path, memory);
        let threads = trace.choose(&ThreadChoice::default());
        tracemill_report::report(&trace, &threads, &rules(20)).expect("the tree is on disk")
    });
    let found = format!("{small:?}");
    assert_eq!(found, format!("{large:?}"));
    assert!(found.contains("\"o499\"") && found.contains("\"i299\""), "{found}");
}

#[test]
fn producers_are_detected_by_content() {
    let of = |events: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.json");
        std::fs::write(&path, format!("[{events}]")).expect("a file");
        read(&path, 64 << 20).producer()
    };
    let x = |name: &str, cat: &str| {
        format!(r#"{{"ph":"X","name":"{name}","cat":"{cat}","pid":1,"tid":1,"ts":1,"dur":2}}"#)
    };
    assert_eq!(of(&x("a", "b")), Producer::Generic);
    assert_eq!(of(&x("Total ExecuteCompiler", "")), Producer::Clang);
    assert_eq!(of(&x("volta_sgemm", "kernel")), Producer::Pytorch);
    assert_eq!(of(&x("Launch Blaze", "build phase marker")), Producer::Bazel);
    assert_eq!(of(&x("Environment", "node,node.environment")), Producer::Node);
    let started = r#"{"ph":"I","name":"TracingStartedInBrowser","cat":"c","pid":1,"tid":1,"ts":1,"args":{"data":{"frames":[]}}}"#;
    assert_eq!(of(started), Producer::Chrome);
    // A page that a merge adds for DevTools does not identify the producer.
    let page = r#"{"isOutermostMainFrame":true,"frame":"F","url":"URL","processId":1}"#;
    let with_node = |url: &str| {
        let started = started.replace("[]", &format!("[{}]", page.replace("URL", url)));
        of(&[&*started, &x("Environment", "node,node.environment")].join(","))
    };
    assert_eq!(with_node("process:1"), Producer::Node);
    assert_eq!(with_node("https://a.example/"), Producer::Chrome);
    let corpus = shared().join("corpus");
    for (name, producer) in [
        ("bazel/tiny.json.gz", Producer::Bazel),
        (
            "pytorch-kineto/cpu_only_rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz",
            Producer::Pytorch,
        ),
        ("devtools/chromium156-worker.json.gz", Producer::Chrome),
        ("devtools/node20-trace-workers.json.gz", Producer::Node),
        ("bun/CPU.20261121.015945.2803.0.001.cpuprofile", Producer::CpuProfile),
        ("uftrace/uftrace-chrome.json", Producer::Generic),
    ] {
        if corpus.is_dir() {
            assert_eq!(read(&corpus.join(name), 64 << 20).producer(), producer, "{name}");
        }
    }
}

#[test]
fn bazel_builds_match_a_naive_count() {
    let path = shared().join("corpus/bazel/tiny.json.gz");
    if !path.is_file() {
        return;
    }
    let value: Value = serde_json::from_slice(&unpacked(&path)).expect("JSON");
    let of = |cat: &str| -> Vec<(f64, f64, String)> {
        let events = value["traceEvents"].as_array().expect("events").iter();
        let mut all: Vec<_> = events
            .filter(|event| event["cat"] == cat)
            .map(|event| {
                let number = |key: &str| event[key].as_f64().unwrap_or(0.0);
                (number("ts"), number("dur"), event["name"].as_str().expect("a name").to_owned())
            })
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    };
    let trace = read(&path, 64 << 20);
    let build = report(&trace).build.expect("a build");
    let phases = of("build phase marker");
    assert_eq!(phases.len(), 7);
    for (at, (ts, _, name)) in phases.iter().enumerate() {
        let next = phases.get(at + 1).map_or(trace.bounds.1, |next| next.0);
        let (phase, window) = &build.phases[at];
        assert_eq!((phase, window.from, window.to), (name, ts / 1000.0, next.max(*ts) / 1000.0));
    }
    let critical = of("critical path component");
    let found: Vec<_> =
        build.critical.iter().map(|step| (step.ts, step.dur, step.name.clone())).collect();
    assert_eq!(found, critical);
    // Bazel prints: Critical Path: 13.05s
    assert_eq!(format!("{:.2}", build.critical_ms / 1000.0), "13.05");
    let mut actions = of("action processing");
    assert_eq!(build.actions as usize, actions.len());
    let all: f64 = actions.iter().map(|action| action.1 / 1000.0).sum();
    assert!(close(build.actions_ms, all));
    actions.sort_by(|a, b| b.1.total_cmp(&a.1));
    let slowest: Vec<f64> = build.slowest.iter().map(|action| action.dur).collect();
    assert_eq!(slowest, actions.iter().map(|action| action.1).collect::<Vec<_>>());
}

#[test]
fn layouts_without_a_stack_are_forced_by_the_enclosing_function() {
    let node = |id: u64, parent: u64, name: &str| {
        format!(
            r#"{{"id":{id},"parent":{parent},"callFrame":{{"functionName":"{name}","scriptId":7,"url":"https://a.test/{name}.js","lineNumber":{},"columnNumber":1}}}}"#,
            name.len()
        )
    };
    let nodes = [
        r#"{"id":1,"callFrame":{"functionName":"(root)","scriptId":0}}"#.to_owned(),
        node(2, 1, "a"),
        node(3, 2, "bb"),
        node(4, 3, "a"),
        node(5, 4, "bb"),
        node(6, 1, "forces"),
    ]
    .join(",");
    let head = r#""cat":"disabled-by-default-devtools.timeline","pid":1,"tid":1"#;
    let event = |name: &str, ts: u64, dur: u64| {
        format!(r#"{{"ph":"X","name":"{name}",{head},"ts":{ts},"dur":{dur},"args":{{}}}}"#)
    };
    let text = format!(
        r#"[{{"ph":"P","name":"Profile","cat":"v8","pid":1,"tid":1,"ts":1000,"id":"0x1","args":{{"data":{{"startTime":1000}}}}}},
{{"ph":"P","name":"ProfileChunk","cat":"v8","pid":1,"tid":1,"ts":2000,"id":"0x1","args":{{"data":{{"cpuProfile":{{"nodes":[{nodes}],"samples":[6,6,6,6]}},"timeDeltas":[2000,1000,60000,30000]}}}}}},
{},{},{}]"#,
        event("RunTask", 1000, 100_000),
        event("FunctionCall", 2000, 98_000),
        event("Layout", 10_000, 50_000),
    );
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    std::fs::write(&path, text).expect("room");
    let reflows = report(&read(&path, 64 << 20)).reflows.expect("layouts");
    let functions: Vec<_> =
        reflows.functions.iter().map(|function| function.function.as_deref()).collect();
    assert_eq!((reflows.count, functions), (1, vec![Some("forces")]));
    assert_eq!(reflows.functions[0].location.url, "https://a.test/forces.js");
}
