//! Launches and Python stacks in traces in the form of PyTorch's profiler.

use crate::{causes_of, events_of, folder, number};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use tracemill_analysis::value::clock::Times;
use tracemill_causes::{Level, Site};

/// Returns the launches of kernels and copies, by index among all events.
fn naive(events: &[Value], first: usize) -> HashMap<usize, usize> {
    let cat = |at: &usize| events[*at]["cat"].as_str().unwrap_or_default();
    let id = |at: usize| events[at]["args"]["correlation"].as_u64();
    let all = || 0..events.len();
    let mut launches: HashMap<u64, Vec<usize>> = HashMap::new();
    for at in all().filter(|at| cat(at).ends_with("_runtime")) {
        launches.entry(id(at).expect("works")).or_default().push(at);
    }
    let on_device = all().filter(|at| ["kernel", "gpu_memcpy", "gpu_memset"].contains(&cat(at)));
    on_device
        .filter_map(|at| match launches.get(&id(at)?)?[..] {
            [launch] => Some((first + at, first + launch)),
            _ => None,
        })
        .collect()
}

#[test]
fn kernels_have_the_launch_with_their_correlation_as_initiator() {
    let files = ["rank-0.json", "rank-1.json"].map(|file| folder("testdata/pytorch").join(file));
    let events = files.each_ref().map(|file| events_of(file));
    let wanted: Vec<HashMap<usize, usize>> =
        [naive(&events[0], 0), naive(&events[1], events[0].len())].into();
    assert_eq!([wanted[0].len(), wanted[1].len()], [141, 139]);
    let check = |files: &[PathBuf], wanted: HashMap<usize, usize>| {
        for times in [Times::Devtools, Times::Exact] {
            let (trace, causes) = causes_of(files, times, 64 << 20);
            let rows = causes.initiators.by_event();
            let rows = rows.map(|row| [row.event, row.initiator].map(|id| number(id, &trace)));
            let found: HashMap<usize, usize> =
                rows.map(|[a, b]| Some((a?, b?))).map(|row| row.expect("works")).collect();
            assert_eq!(found, wanted, "{files:?}");
            // Kernels that overlap others in part are in no flame chart.
            let levels = |stack| causes.stacks.levels(stack, &trace, 9).len();
            let mut entries = causes.stacks.entries.iter();
            assert!(entries.all(|entry| levels(entry.stack) == 2), "{files:?}");
            let missing = wanted.len() - causes.stacks.entries.len();
            assert_eq!(missing, if files.len() == 1 { 0 } else { 3 });
        }
    };
    check(&files[..1], wanted[0].clone());
    check(&files, wanted.into_iter().flatten().collect());
}

/// Returns a complete event; `ts` and `dur` are nanoseconds, `ts` after the start.
fn slice(cat: &str, name: &str, place: [u64; 4], args: Value) -> String {
    let [pid, tid, ts, dur] = place;
    let time = |nanos: u64| format!("{}.{:03}", nanos / 1000, nanos % 1000);
    let (ts, dur) = (time(START + ts), time(dur));
    format!(
        r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},"args":{args}}}"#
    )
}

/// Returns a phase of a flow.
fn phase(phase: &str, cat: &str, id: u64, place: [u64; 3]) -> String {
    let [pid, tid, ts] = place;
    let ts = START + ts;
    format!(
        r#"{{"ph":"{phase}","id":{id},"pid":{pid},"tid":{tid},"ts":{}.{:03},"cat":"{cat}","name":"{cat}","bp":"e"}}"#,
        ts / 1000,
        ts % 1000
    )
}

/// Nanoseconds since 1970, which a double of microseconds cannot represent.
const START: u64 = 1_700_000_000_000_000_123;

/// Returns a step with a forward and a backward operator, both with a kernel. The kernels follow
/// each other within less than the precision of a double.
fn step() -> Vec<String> {
    let python =
        |name: &str, ts: u64, dur: u64| slice("python_function", name, [7, 7, ts, dur], json!({}));
    let launch = |tid: u64, ts: u64, id: u64| {
        slice("cuda_runtime", "cudaLaunchKernel", [7, tid, ts, 40], json!({"correlation": id}))
    };
    let kernel =
        |name: &str, ts: u64, dur: u64, args: Value| slice("kernel", name, [0, 3, ts, dur], args);
    vec![
        python("train.py(12): step", 0, 10_000),
        python("<built-in method add>", 100, 900),
        slice("cpu_op", "aten::add", [7, 7, 200, 700], json!({"Sequence number": 5})),
        launch(7, 300, 1),
        slice("cpu_op", "AddBackward0", [7, 8, 2000, 500], json!({"Sequence number": 5})),
        launch(8, 2100, 2),
        slice("gpu_user_annotation", "step", [0, 3, 5000, 120], json!({})),
        kernel("forward", 5000, 60, json!({"stream": 3, "correlation": 1})),
        kernel("backward", 5060, 60, json!({"stream": 3})),
        phase("s", "ac2g", 1, [7, 7, 300]),
        phase("f", "ac2g", 1, [0, 3, 5000]),
        phase("s", "ac2g", 2, [7, 8, 2100]),
        phase("f", "ac2g", 2, [0, 3, 5060]),
        phase("s", "fwdbwd", 9, [7, 7, 200]),
        phase("f", "fwdbwd", 9, [7, 8, 2000]),
    ]
}

#[test]
fn kernels_continue_with_the_python_stack_of_their_launch() {
    let site = |function: &str, url: Option<&str>, line: Option<f64>| Site {
        function: Some(function.to_owned()),
        url: url.map(str::to_owned),
        line,
        column: None,
    };
    let python =
        vec![site("<built-in method add>", None, None), site("step", Some("train.py"), Some(11.0))];
    let level =
        |task: &str, sites: &[Site]| Level { task: Some(task.to_owned()), sites: sites.to_vec() };
    let folder = tempfile::tempdir().expect("works");
    let path = folder.path().join("trace.json");
    for reverse in [false, true] {
        let mut lines = step();
        if reverse {
            lines.reverse();
        }
        std::fs::write(&path, format!("[{}]", lines.join(",\n"))).expect("works");
        let (trace, causes) = causes_of(std::slice::from_ref(&path), Times::Auto, 64 << 20);
        let rows = causes.initiators.by_event();
        let mut rows: Vec<[String; 2]> =
            rows.map(|row| [row.event, row.initiator].map(|event| event.name(&trace))).collect();
        rows.sort();
        let wanted = [
            ["AddBackward0", "aten::add"],
            ["backward", "cudaLaunchKernel"],
            ["forward", "cudaLaunchKernel"],
        ];
        assert_eq!(rows, wanted);
        let mut stacks: HashMap<String, Vec<Level>> = HashMap::new();
        for entry in causes.stacks.entries.iter() {
            let levels = causes.stacks.levels(entry.stack, &trace, 9);
            stacks.insert(entry.event.name(&trace), levels);
        }
        let around = level("cudaLaunchKernel", &python);
        assert_eq!(stacks["forward"], [Level::default(), around]);
        let without = level("cudaLaunchKernel", &[]);
        let forward = level("aten::add", &python);
        assert_eq!(stacks["AddBackward0"], [Level::default(), forward.clone()]);
        assert_eq!(stacks["backward"], [Level::default(), without, forward]);
        assert_eq!(stacks["aten::add"], [Level { task: None, sites: python.clone() }]);
        assert!(!stacks.contains_key("step"), "the annotation of the device has no initiator");
    }
}
