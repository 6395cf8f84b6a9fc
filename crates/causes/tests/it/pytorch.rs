//! Launches and Python stacks in traces in the form of PyTorch's profiler.

use crate::{causes_of, events_of, folder, number};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use tracemill_analysis::value::clock::Times;
use tracemill_causes::{Level, Site};
use tracemill_testkit::{Rng, seeds};

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
        slice(
            "cpu_op",
            "AddBackward0",
            [7, 8, 2000, 500],
            json!({"Sequence number": 5, "Fwd thread id": 1}),
        ),
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
    for (reverse, flows) in [(false, true), (true, true), (false, false), (true, false)] {
        let mut lines = step();
        if reverse {
            lines.reverse();
        }
        // The sequence number connects the operators too.
        lines.retain(|line| flows || !line.contains("fwdbwd"));
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

/// Returns an operator on one of a few threads, with a sequence number that others have too.
fn operator(rng: &mut Rng) -> Value {
    let mut args = json!({"External id": 7});
    match rng.index(9) {
        0 => {}
        1 => args["Sequence number"] = json!(-1),
        2 => args["Sequence number"] = json!(rng.index(4).to_string()),
        _ => args["Sequence number"] = json!(rng.index(4)),
    }
    match rng.index(5) {
        0 | 1 => args["Fwd thread id"] = json!(1 + rng.index(2)),
        2 => args["Fwd thread id"] = json!(0),
        _ => {}
    }
    let names = ["aten::add", "AddBackward0", "autograd::engine::evaluate_function: AddBackward0"];
    let cats = ["cpu_op", "cpu_op", "Operator", "user_annotation"];
    let (cat, name) = (cats[rng.index(4)], names[rng.index(3)]);
    let tid = if rng.chance(80) { 1 } else { 2 };
    json!({"ph": if rng.chance(95) { "X" } else { "i" }, "cat": cat, "name": name, "pid": rng.index(2), "tid": tid,
        "ts": rng.index(40), "dur": 1, "args": args})
}

/// Returns the forward operators of backward operators, by index: those that PyTorch's profiler
/// connects, as far as threads are clear.
fn forward_operators(events: &[Value]) -> HashMap<usize, usize> {
    let sequence = |at: usize| {
        let number = &events[at]["args"]["Sequence number"];
        number.as_u64().or_else(|| number.as_str()?.parse().ok())
    };
    let is_operator = |at: &usize| {
        let event = &events[*at];
        let name = event["name"].as_str().expect("a name");
        event["ph"] == "X"
            && ["cpu_op", "Operator"].contains(&event["cat"].as_str().expect("works"))
            && !name.starts_with("autograd::engine::evaluate_function")
    };
    let is_backward = |at: usize| events[at]["args"]["Fwd thread id"].as_u64() > Some(0);
    let mut order: Vec<usize> = (0..events.len()).filter(is_operator).collect();
    order.sort_by_key(|&at| events[at]["ts"].as_u64());
    let mut found = HashMap::new();
    let mut used: HashSet<usize> = HashSet::new();
    for (place, &at) in order.iter().enumerate() {
        if !is_backward(at) || sequence(at).is_none() {
            continue;
        }
        let is_same = |other: usize| {
            events[other]["pid"] == events[at]["pid"] && sequence(other) == sequence(at)
        };
        let earlier = || order[..place].iter().copied().filter(|&other| is_same(other));
        let forward = || earlier().filter(|&other| !is_backward(other));
        let tids: HashSet<String> =
            forward().map(|other| events[other]["tid"].to_string()).collect();
        let free = forward().next_back().filter(|&last| used.insert(last));
        found.extend(free.filter(|_| tids.len() == 1).map(|free| (at, free)));
    }
    found
}

#[test]
fn backward_operators_have_the_forward_operator_with_their_sequence_number_as_initiator() {
    let folder = tempfile::tempdir().expect("works");
    let path = folder.path().join("trace.json");
    let mut count = 0;
    for seed in seeds(0, 60) {
        let mut rng = Rng::new(seed);
        let events: Vec<Value> = (0..rng.index(60)).map(|_| operator(&mut rng)).collect();
        std::fs::write(&path, json!({"traceEvents": &events}).to_string()).expect("works");
        for bytes in [32 << 20, 64 << 20] {
            let (trace, causes) = causes_of(std::slice::from_ref(&path), Times::Auto, bytes);
            let rows = causes.initiators.by_event();
            let rows = rows.map(|row| [row.event, row.initiator].map(|id| number(id, &trace)));
            let found: HashMap<usize, usize> =
                rows.map(|[a, b]| (a.expect("an event"), b.expect("an event"))).collect();
            assert_eq!(found, forward_operators(&events), "seed {seed}");
            count += found.len();
        }
    }
    assert!(count > 0, "no trace has a backward operator");
}
