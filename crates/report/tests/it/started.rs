//! Compares the causes that reports name with those that a second implementation finds in the tables
//! of causes.

use crate::report::{ALL, rules};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use tracemill_analysis::{ReadRules, ThreadChoice, Trace, Wanted};
use tracemill_causes::{Cause, Causes, EventId, Site};
use tracemill_join::config::Config;
use tracemill_report::Report;
use tracemill_testkit::{Rng, seeds};
use tracemill_trace::Source;

/// Reads a trace and its causes, and reports on all of it.
fn explained(path: &Path, memory: u64) -> (Trace, Report) {
    let config = Config::new(2, memory, std::env::temp_dir());
    let wanted = Wanted { report: true, urls: true, causes: true, ..Wanted::default() };
    let read = ReadRules { wanted, ..ReadRules::default() };
    let trace = Trace::read(&[Source::Path(path.to_owned())], read, &config).expect("a trace");
    let threads = trace.choose(&ThreadChoice::default());
    let mut report = tracemill_report::report(&trace, &threads, &rules(ALL)).expect("room");
    report.add_causes(&trace, &threads, &rules(ALL)).expect("a disk");
    (trace, report)
}

fn event(phase: &str, name: &str, place: [u64; 3], args: &Value) -> Value {
    let [tid, ts, dur] = place;
    let mut event = json!({
        "ph": phase, "name": name, "cat": "devtools.timeline", "pid": 1, "tid": tid, "ts": ts,
        "args": args,
    });
    if phase == "X" {
        event["dur"] = json!(dur);
    }
    event
}

fn stack(rng: &mut Rng) -> Value {
    let frames = (0..rng.below(3)).map(|_| {
        let url = rng.pick(&["", "http://a.test/a.js", "http://a.test/b.js"]);
        let function = format!("f{}", rng.below(5));
        let line = 1 + rng.below(50);
        json!({"functionName": function, "url": url, "lineNumber": line, "columnNumber": 1})
    });
    frames.collect()
}

/// Adds events inside an interval: timers, layouts and pairs, which earlier events start.
fn add_events(rng: &mut Rng, place: [u64; 3], timers: &mut u64, all: &mut Vec<Value>) {
    let [tid, mut at, end] = place;
    while at + 20 < end {
        let dur = rng.range(10, end - at);
        let inside = [tid, at, dur];
        let data = json!({"data": {"frame": "F", "stackTrace": stack(rng)}});
        let begin = json!({"beginData": {"frame": "F", "stackTrace": stack(rng)}});
        let id = rng.below(*timers + 1);
        let fired = json!({"data": {"timerId": id, "frame": "F"}});
        match rng.below(7) {
            0 => {
                *timers += 1;
                let installed = json!({"data": {"timerId": timers, "stackTrace": stack(rng)}});
                all.push(event("I", "TimerInstall", inside, &installed));
            }
            1 => all.push(event("X", "TimerFire", inside, &fired)),
            2 => all.push(event("I", "ScheduleStyleRecalculation", inside, &data)),
            3 => all.push(event("X", "UpdateLayoutTree", inside, &begin)),
            4 => all.push(event("I", "InvalidateLayout", inside, &data)),
            5 => all.push(event("X", "Layout", inside, &begin)),
            _ => all.push(event("X", "FunctionCall", inside, &json!({}))),
        }
        if dur > 2000 && rng.chance(70) {
            add_events(rng, [tid, at + 1, at + dur - 1], timers, all);
        }
        at += dur + rng.range(1, 2000);
    }
}

/// Returns the args of the event by which DevTools recognizes a page.
fn begun() -> Value {
    let frame = json!({"frame": "F", "url": "http://a.test/", "name": "", "processId": 1});
    json!({"data": {"frames": [frame]}})
}

/// Returns a page with long and short tasks on two threads.
fn random_page(rng: &mut Rng) -> String {
    let mut all = vec![event("I", "TracingStartedInBrowser", [1, 1, 0], &begun())];
    let mut timers = 0;
    for tid in 1..=2 {
        let mut at = 1000;
        for _ in 0..8 {
            let dur = rng.range(20_000, 120_000);
            let mut task = event("X", "RunTask", [tid, at, dur], &json!({}));
            task["cat"] = json!("disabled-by-default-devtools.timeline");
            all.push(task);
            add_events(rng, [tid, at + 1, at + dur - 1], &mut timers, &mut all);
            at += dur + rng.range(0, 3000);
        }
    }
    serde_json::to_string(&all).expect("JSON")
}

/// Returns the cause that an initiator is, from the levels of its stack.
fn cause_of(trace: &Trace, causes: &Causes, initiator: EventId) -> Cause {
    let levels = causes.stacks.levels(causes.stacks.of(initiator), trace, usize::MAX);
    let mut sites = levels.into_iter().flat_map(|level| level.sites);
    let has_file = |site: &Site| site.url.as_ref().is_some_and(|url| !url.is_empty());
    Cause {
        name: Some(initiator.name(trace)),
        key: initiator.key(trace).text(),
        site: sites.find(has_file),
    }
}

#[test]
fn starters_of_tasks_are_the_initiators_of_their_longest_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let (mut found, mut sites, mut layouts) = (0, 0, 0);
    for seed in seeds(1, 8) {
        std::fs::write(&path, random_page(&mut Rng::new(seed))).expect("a file");
        let (trace, report) = explained(&path, 64 << 20);
        let causes = Causes::find(&trace, false).expect("room");
        for task in report.tasks.expect("tasks").longest {
            let track = trace.track(&trace.threads[task.thread]).expect("a chart");
            let mut best: Option<(f64, EventId)> = None;
            for entry in track.entries().map(|placed| placed.entry) {
                let is_in = entry.ts >= task.ts && entry.end() <= task.ts + task.dur;
                let id = EventId::of_entry(&entry, task.thread);
                let mut of_event = causes.initiators.iter().filter(|row| row.event == id);
                let initiator = of_event.next().filter(|_| is_in).map(|row| row.initiator);
                let start = |id: &EventId| id.start(&trace).expect("a start");
                let before = initiator.filter(|id| start(id) < task.window.from);
                if let Some(before) = before.filter(|_| best.is_none_or(|best| entry.dur > best.0))
                {
                    best = Some((entry.dur, before));
                }
            }
            let expected = best.map(|best| cause_of(&trace, &causes, best.1));
            assert_eq!(task.started_by, expected, "seed {seed}, {:?}", task.key);
            found += usize::from(expected.is_some());
            sites += usize::from(expected.is_some_and(|cause| cause.site.is_some()));
        }
        for reflow in report.reflows.expect("layouts").functions {
            let key = reflow.longest.key.expect("a key");
            let layout = EventId::of_key(&trace, &key).expect("an event");
            let mut rows = causes.initiators.iter().filter(|row| row.event == layout);
            let expected = rows.next().map(|row| cause_of(&trace, &causes, row.initiator));
            assert_eq!(reflow.longest.started_by, expected, "seed {seed}, {key}");
            layouts += usize::from(expected.is_some());
        }
    }
    assert!(found > 30 && sites > 10 && layouts > 10, "{found}, {sites}, {layouts}");
}

#[test]
fn kernels_name_the_operator_and_function_that_launch_most_of_their_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    for seed in seeds(1, 8) {
        let mut rng = Rng::new(seed);
        let (mut all, mut device) = (Vec::new(), 0);
        let mut sums: BTreeMap<(u64, u64, u64), u64> = BTreeMap::new();
        for number in 1..=60 {
            let [kernel, operator, function] = [3, 3, 2].map(|most| rng.below(most));
            let dur = rng.range(1, 40);
            *sums.entry((kernel, operator, function)).or_default() += dur;
            let slice = |cat: &str, name: String, place: [u64; 4], args: Value| {
                let [pid, tid, ts, dur] = place;
                json!({
                    "ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts,
                    "dur": dur, "args": args,
                })
            };
            let at = 1000 * number;
            let python = format!("model.py({}): forward{function}", 7 * (function + 1));
            let operator = format!("aten::op{operator}");
            let id = json!({"correlation": number});
            let on_device = json!({"correlation": number, "stream": 7});
            device += 50;
            all.extend([
                slice("python_function", python, [9, 9, at, 900], json!({})),
                slice(
                    "python_function",
                    "<built-in method f>".to_owned(),
                    [9, 9, at + 1, 800],
                    json!({}),
                ),
                slice("cpu_op", "aten::outer".to_owned(), [9, 9, at + 2, 700], json!({})),
                slice("cpu_op", operator, [9, 9, at + 3, 600], json!({})),
                slice("cuda_runtime", "cudaLaunchKernel".to_owned(), [9, 9, at + 4, 5], id),
                slice("kernel", format!("k{kernel}"), [0, 7, 100_000 + device, dur], on_device),
            ]);
        }
        rng.shuffle(&mut all);
        std::fs::write(&path, serde_json::to_string(&all).expect("JSON")).expect("a file");
        let (_, report) = explained(&path, 64 << 20);
        for kernel in report.devices.expect("a device").kernels {
            let of_kernel: Vec<_> =
                sums.iter().filter(|(key, _)| format!("k{}", key.0) == kernel.name).collect();
            let most = of_kernel.iter().map(|row| *row.1).max().expect("a sum");
            let launched_by = kernel.launched_by.expect("a cause");
            let is_cause = |key: &(u64, u64, u64)| {
                let site = Site {
                    function: Some(format!("forward{}", key.2)),
                    url: Some("model.py".to_owned()),
                    line: Some((7 * (key.2 + 1) - 1) as f64),
                    column: None,
                };
                let name = Some(format!("aten::op{}", key.1));
                launched_by == Cause { name, key: None, site: Some(site) }
            };
            let row = of_kernel.iter().find(|(key, _)| is_cause(key));
            assert_eq!(row.map(|row| *row.1), Some(most), "seed {seed}: {launched_by:?}");
        }
    }
}

#[test]
fn a_report_without_room_for_causes_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("trace.json");
    let mut all = vec![
        event("I", "TracingStartedInBrowser", [1, 1, 0], &begun()),
        event("X", "RunTask", [1, 1000, 90_000], &json!({})),
        event("X", "FunctionCall", [1, 2000, 80_000], &json!({})),
        event("X", "Layout", [1, 3000, 70_000], &json!({})),
    ];
    all[1]["cat"] = json!("disabled-by-default-devtools.timeline");
    all.extend((0..240_000).map(|id| {
        json!({"ph": "s", "name": "flow", "cat": "c", "id": id, "pid": 1, "tid": 1, "ts": 4000 + id})
    }));
    std::fs::write(&path, serde_json::to_string(&all).expect("JSON")).expect("a file");
    let (_, report) = explained(&path, 32 << 20);
    let why = report.no_causes.expect("a reason");
    assert!(why.contains("open flows"), "{why}");
    let tasks = report.tasks.expect("tasks");
    assert_eq!((tasks.count, &tasks.longest[0].started_by), (1, &None));
    let (_, report) = explained(&path, 256 << 20);
    assert_eq!(report.no_causes, None);
}
