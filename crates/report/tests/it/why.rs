//! Compares initiators and stacks with those of DevTools' engine, for each trace of the corpus that
//! it opens.
//!
//! Stored results are in `../shared/oracle/golden-why.jsonl`: the number of rows and the SHA-256 of
//! the JSON lines of each table.

use crate::common::engine::engine;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tracemill_analysis::{ReadRules, Trace, Wanted, Window, id_text};
use tracemill_causes::{CauseKind, CauseQuery, Causes, EventId, EventKey, Level, Site, totals};
use tracemill_join::config::Config;
use tracemill_report::{Request, initiated_requests};
use tracemill_testkit::Rng;
use tracemill_trace::Source;

/// Folder with the files and results, if the material of the team is there.
fn shared() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    folder.join("oracle/golden-why.jsonl").is_file().then_some(folder)
}

/// Reads a trace as DevTools does, and finds its causes.
fn causes_of(path: &Path, threads: usize, bytes: u64) -> (Trace, Causes) {
    let wanted = Wanted { causes: true, report: true, ..Wanted::default() };
    let rules = ReadRules { wanted, as_devtools: true, ..ReadRules::default() };
    let config = Config::new(threads, bytes, std::env::temp_dir());
    let trace = Trace::read(&[Source::Path(path.into())], rules, &config).expect("works");
    let causes = Causes::find(&trace, true).expect("works");
    (trace, causes)
}

/// A pid or tid as JSON has it.
fn id(written: &[u8]) -> Value {
    serde_json::from_slice(written).unwrap_or_else(|_| json!(id_text(written)))
}

fn number(number: f64) -> Value {
    match number.fract() == 0.0 && number.abs() < 1e15 {
        true => json!(number as i64),
        false => json!(number),
    }
}

fn key(event: EventId, trace: &Trace) -> Value {
    match event.key(trace) {
        EventKey::Key(key) => json!(key),
        EventKey::Pair { thread, ts, name } => {
            let thread = &trace.threads[thread];
            json!({"at": [id(&thread.pid), id(&thread.tid), number(ts), name]})
        }
    }
}

fn site(site: &Site) -> Value {
    json!([site.function, site.url, site.line.map(number), site.column.map(number)])
}

fn level(level: &Level) -> Vec<Value> {
    level.sites.iter().map(site).collect()
}

/// The rows of the table `initiators`, as JSON lines.
fn initiators(trace: &Trace, causes: &Causes) -> Vec<String> {
    let row = |found: tracemill_causes::Initiated| {
        json!([key(found.event, trace), key(found.initiator, trace)]).to_string()
    };
    causes.initiators.iter().map(row).collect()
}

/// The rows of the table `stacks`.
fn stacks(trace: &Trace, causes: &Causes) -> impl Iterator<Item = String> {
    causes.stacks.entries.iter().map(|entry| {
        let levels = causes.stacks.levels(entry.stack, trace, usize::MAX);
        let parent =
            |up: &Level| format!(r#"{{"task":{},"frames":{}}}"#, json!(up.task), json!(level(up)));
        let parents: Vec<String> = levels[1..].iter().map(parent).collect();
        let event = key(entry.event, trace);
        format!("[{event},{},[{}]]", json!(level(&levels[0])), parents.join(","))
    })
}

/// The rows of the table `network`.
fn network(trace: &Trace, causes: &Causes) -> Vec<String> {
    let requests = initiated_requests(trace, causes);
    let row = |(request, initiator): &(Request, Option<usize>)| {
        Some(json!([request.key, requests[(*initiator)?].0.key]).to_string())
    };
    requests.iter().filter_map(row).collect()
}

/// The number of rows and the SHA-256 of their lines.
fn sums(rows: impl IntoIterator<Item = String>) -> Value {
    let (mut count, mut sum) = (0, Sha256::new());
    for row in rows {
        count += 1;
        sum.update(row);
        sum.update("\n");
    }
    let sum: String = sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    json!([count, sum])
}

/// A corpus file whose three threads share a profile id: DevTools keeps the last thread only, we
/// keep all.
const SHARED_PROFILE_ID: &str = "e14-multi-cpuprofile-sameid.json";

#[test]
fn initiators_and_stacks_equal_those_of_devtools() {
    let Some(shared) = shared() else { return };
    let lines = std::fs::read_to_string(shared.join("oracle/golden-why.jsonl")).expect("works");
    let (mut compared, mut wrong) = (0, Vec::new());
    for line in lines.lines() {
        let golden: Value = serde_json::from_str(line).expect("works");
        let file = golden["file"].as_str().expect("works");
        if golden["refused"].is_string() || file.ends_with(SHARED_PROFILE_ID) {
            continue;
        }
        let path = match file.starts_with("corpus/") {
            true => shared.join(file),
            false => shared.join("oracle").join(file),
        };
        let limits = if file.starts_with("samples/") { LIMITS.as_slice() } else { &LIMITS[..1] };
        for &(threads, bytes) in limits {
            let (trace, causes) = causes_of(&path, threads, bytes);
            for (table, found) in [
                ("initiators", sums(initiators(&trace, &causes))),
                ("network", sums(network(&trace, &causes))),
                ("stacks", sums(stacks(&trace, &causes))),
            ] {
                compared += 1;
                if found != golden[table] {
                    let golden = &golden[table];
                    wrong.push(format!("{file} {threads} {bytes}: {table} {found}, not {golden}"));
                }
            }
        }
    }
    assert!(compared > 150, "{compared}");
    assert!(wrong.is_empty(), "{} of {compared}\n{}", wrong.len(), wrong.join("\n"));
}

/// Threads, and bytes of heap.
const LIMITS: [(usize, u64); 3] = [(2, 256 << 20), (1, 32 << 20), (7, 32 << 20)];

/// Names of random events, and members of their `args.data` that link them.
const LINKED: [(&str, &str); 18] = [
    ("UserTiming::Measure", "traceId"),
    ("FunctionCall", ""),
    ("FunctionCall", ""),
    ("RunMicrotasks", ""),
    ("v8.compile", ""),
    ("RunTask", ""),
    ("v8::Debugger::AsyncTaskScheduled", ""),
    ("v8::Debugger::AsyncTaskRun", ""),
    ("v8::Debugger::AsyncTaskRun", ""),
    ("V8Console::runTask", ""),
    ("TimerInstall", "timerId"),
    ("TimerFire", "timerId"),
    ("RequestIdleCallback", "id"),
    ("FireIdleCallback", "id"),
    ("SchedulePostTaskCallback", "taskId"),
    ("RunPostTaskCallback", "taskId"),
    ("WebSocketCreate", "identifier"),
    ("WebSocketSend", "identifier"),
];

/// Returns a frame of a stack as JSON.
fn random_frame(rng: &mut Rng) -> String {
    let (line, column) = (rng.index(3), rng.index(3));
    let (name, script) = (["f", "g", ""][rng.index(3)], rng.index(2));
    let url = ["http://a/a.js", "http://a/b.js", ""][rng.index(3)];
    format!(
        r#"{{"functionName":"{name}","url":"{url}","scriptId":"{script}","lineNumber":{line},"columnNumber":{column}}}"#
    )
}

/// Returns the `args` of a random event.
fn random_args(rng: &mut Rng, name: &str, link: &str) -> String {
    let stack = match rng.index(3) {
        0 => format!(
            r#","stackTrace":[{}]"#,
            (0..rng.index(3)).map(|_| random_frame(rng)).collect::<Vec<_>>().join(",")
        ),
        _ => String::new(),
    };
    let id = rng.index(3);
    match name {
        "UpdateLayoutTree" | "Layout" => format!(r#"{{"beginData":{{"frame":"F{id}"{stack}}}}}"#),
        "ScheduleStyleRecalculation" | "InvalidateLayout" => {
            format!(r#"{{"data":{{"frame":"F{id}"{stack}}}}}"#)
        }
        "UserTiming::Measure" => format!(r#"{{"traceId":{}}}"#, rng.index(20)),
        "v8::Debugger::AsyncTaskScheduled" => format!(r#"{{"taskName":"task {id}"}}"#),
        "FunctionCall" if rng.chance(50) => format!(r#"{{"data":{}}}"#, random_frame(rng)),
        _ if link.is_empty() => format!(r#"{{"data":{{"x":1{stack}}}}}"#),
        _ => format!(r#"{{"data":{{"{link}":{id}{stack}}}}}"#),
    }
}

/// Adds random events that lie in each other, with the phases of flows, to `lines`.
fn random_events(rng: &mut Rng, tid: usize, from: usize, to: usize, lines: &mut Vec<String>) {
    const FRAMES: [&str; 4] =
        ["ScheduleStyleRecalculation", "UpdateLayoutTree", "InvalidateLayout", "Layout"];
    let mut at = from + 1 + rng.index(8);
    while at + 4 < to {
        let end = at + 2 + rng.index(to - at - 2);
        let (name, link) = match rng.chance(25) {
            true => (FRAMES[rng.index(4)], ""),
            false => LINKED[rng.index(LINKED.len())],
        };
        let cat = ["c", "d"][usize::from(rng.chance(10))];
        let place = format!(r#""cat":"{cat}","pid":1,"tid":{tid},"ts":{at}"#);
        let args = random_args(rng, name, link);
        // The engine never ends if the scheduler of a task is not in the tree, and fails on E events
        // without the args that it reads.
        let is_plain = link.is_empty() && !FRAMES.contains(&name) && !name.starts_with("v8::");
        let (instant, pair) = (rng.chance(15), is_plain && rng.chance(20));
        let event = match (instant, pair) {
            (true, _) => format!(r#"{{"ph":"I","s":"t","name":"{name}",{place},"args":{args}}}"#),
            (_, true) => format!(r#"{{"ph":"B","name":"{name}",{place},"args":{args}}}"#),
            _ => {
                format!(r#"{{"ph":"X","name":"{name}",{place},"dur":{},"args":{args}}}"#, end - at)
            }
        };
        lines.push(event);
        for _ in 0..rng.index(4) {
            let phase = ["s", "t", "f", "s", "f"][rng.index(5)];
            let (flow, id) = (["x", "y"][usize::from(rng.chance(10))], rng.index(9));
            lines.push(format!(r#"{{"ph":"{phase}","name":"{flow}","id":{id},{place}}}"#));
        }
        if !instant {
            random_events(rng, tid, at, end, lines);
        }
        if pair && !instant {
            lines.push(format!(
                r#"{{"ph":"E","name":"{name}","cat":"{cat}","pid":1,"tid":{tid},"ts":{end}}}"#
            ));
        }
        at = end + rng.index(5);
    }
}

/// Returns a trace of two threads with random events and samples.
fn random_trace(rng: &mut Rng) -> String {
    const LENGTH: usize = 700;
    let mut lines = Vec::new();
    for tid in 1..=2 {
        random_events(rng, tid, 0, LENGTH, &mut lines);
        let mut nodes = String::new();
        for id in 2..8 {
            nodes += &format!(
                r#",{{"id":{id},"parent":{},"callFrame":{}}}"#,
                1 + rng.index(id - 1),
                random_frame(rng).replace(
                    "\"lineNumber\":0,\"columnNumber\":0",
                    "\"lineNumber\":-1,\"columnNumber\":-1"
                )
            );
        }
        let samples: Vec<String> = (0..60).map(|_| (1 + rng.index(7)).to_string()).collect();
        let deltas: Vec<String> = (0..60).map(|_| (5 + rng.index(15)).to_string()).collect();
        let place = format!(r#""cat":"p","id":"0x{tid}","pid":1,"tid":{tid},"ts":0"#);
        lines.push(format!(
            r#"{{"ph":"P","name":"Profile",{place},"args":{{"data":{{"startTime":0}}}}}}"#
        ));
        lines.push(format!(
            r#"{{"ph":"P","name":"ProfileChunk",{place},"args":{{"data":{{"cpuProfile":{{"nodes":[{{"id":1,"callFrame":{{"functionName":"(root)","url":"","scriptId":"0","lineNumber":-1,"columnNumber":-1}}}}{nodes}],"samples":[{}]}},"timeDeltas":[{}]}}}}}}"#,
            samples.join(","),
            deltas.join(",")
        ));
    }
    format!("[{}]", lines.join(",\n"))
}

#[test]
fn random_causes_equal_those_of_devtools() {
    let Some(engine) = engine() else { return };
    let folder = tempfile::tempdir().expect("works");
    let path = folder.path().join("trace.json");
    let mut rows = 0;
    for seed in tracemill_testkit::seeds(1, 12) {
        std::fs::write(&path, random_trace(&mut Rng::new(seed))).expect("works");
        let output =
            Command::new("node").arg(engine.join("why.mjs")).arg(&path).output().expect("works");
        let theirs = String::from_utf8(output.stdout).expect("works");
        assert_eq!(output.status.code(), Some(0), "{seed}: {theirs}");
        let theirs: Vec<&str> = theirs.lines().filter(|line| line.starts_with('[')).collect();
        let (trace, causes) = causes_of(&path, 2, 64 << 20);
        let ours = initiators(&trace, &causes).into_iter().chain(stacks(&trace, &causes));
        let ours: Vec<String> = ours.collect();
        let differs = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        if differs.is_some() || ours.len() != theirs.len() {
            let at = differs.unwrap_or(ours.len().min(theirs.len()));
            panic!("seed {seed}, row {at}\n{:?}\n{:?}", ours.get(at), theirs.get(at));
        }
        rows += ours.len();
    }
    assert!(rows > 1000, "{rows}");
}

#[test]
fn measures_have_the_stack_of_the_last_call_with_their_trace_id() {
    let folder = tempfile::tempdir().expect("works");
    let path = folder.path().join("trace.json");
    let mut with_stack = 0;
    for seed in tracemill_testkit::seeds(200, 12) {
        let text = random_trace(&mut Rng::new(seed));
        let mut events: Vec<Value> = serde_json::from_str(&text).expect("works");
        let calls = events.len();
        for id in 0..25 {
            events.push(json!({"ph": "b", "cat": "blink.user_timing", "id": id, "name": "m", "pid": 1, "tid": 1,
                "ts": 9, "args": if id < 22 { json!({"traceId": id}) } else { json!({}) }}));
        }
        std::fs::write(&path, json!(events).to_string()).expect("works");
        let (trace, causes) = causes_of(&path, 2, 64 << 20);
        let id_of = |at: usize| EventId::of_key(&trace, &format!("r-{at}")).expect("an event");
        let levels = |stack| causes.stacks.levels(stack, &trace, usize::MAX);
        for at in calls..events.len() {
            let is_call = |call: &usize| {
                events[*call]["name"] == "UserTiming::Measure"
                    && events[*call]["args"] == events[at]["args"]
            };
            let wanted = (0..calls).rev().find(is_call);
            let wanted = wanted.map_or_else(Default::default, |call| causes.stacks.of(id_of(call)));
            let found = levels(causes.stack_of(id_of(at), &trace));
            assert_eq!(found, levels(wanted), "seed {seed}, event {at}");
            with_stack += usize::from(found.iter().any(|level| !level.sites.is_empty()));
        }
    }
    assert!(with_stack > 0, "no measure has a stack");
}

/// Finds the caller of an entry step by step: its stack, then the stacks of its initiators and of
/// those of the entries around it.
fn naive_caller(causes: &Causes, trace: &Trace, around: &[EventId], is_call: bool) -> Option<Site> {
    let sites = |id: EventId| {
        let levels = causes.stacks.levels(causes.stacks.of(id), trace, usize::MAX);
        levels.into_iter().flat_map(|level| level.sites).collect::<Vec<Site>>()
    };
    let event = *around.last()?;
    let site = sites(event).into_iter().nth(usize::from(is_call));
    if site.is_some() {
        return site;
    }
    let initiator = around.iter().rev().find_map(|id| causes.initiators.of(*id))?;
    let mut chain = vec![initiator];
    while chain.len() < 10
        && let Some(next) = causes.initiators.of(chain[chain.len() - 1])
    {
        chain.push(next);
    }
    chain.into_iter().find_map(|id| sites(id).into_iter().next())
}

#[test]
fn totals_by_cause_add_up_to_all_entries() {
    let folder = tempfile::tempdir().expect("works");
    let path = folder.path().join("trace.json");
    for seed in tracemill_testkit::seeds(100, 6) {
        std::fs::write(&path, random_trace(&mut Rng::new(seed))).expect("works");
        let (trace, causes) = causes_of(&path, 1, 64 << 20);
        let threads: Vec<usize> = (0..trace.threads.len()).collect();
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        let (mut busy, mut entries) = (0.0, 0);
        for &at in &threads {
            let track = trace.track(&trace.threads[at]).expect("works");
            let mut around: Vec<EventId> = Vec::new();
            for placed in track.entries() {
                around.truncate(placed.depth as usize);
                around.push(EventId::of_entry(&placed.entry, at));
                entries += 1;
                if placed.depth == 0 {
                    busy += placed.entry.dur / 1000.0;
                }
                let caller = naive_caller(&causes, &trace, &around, placed.entry.is_call());
                *expected.entry(format!("{caller:?}")).or_default() += 1;
            }
        }
        let window = Window { from: f64::NEG_INFINITY, to: f64::INFINITY };
        let all = |by| {
            let query = CauseQuery { by, threads: &threads, window, is_counted: &|_: &str| true };
            totals(&trace, &causes, &query).expect("works")
        };
        for by in [CauseKind::Caller, CauseKind::Initiator] {
            let rows = all(by);
            assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), entries, "{seed}");
            let sum: f64 = rows.iter().map(|row| row.self_time).sum();
            assert!((sum - busy).abs() < 1e-9 * busy, "{seed}: {sum}, not {busy}");
            let odd: Vec<_> = rows.iter().filter(|row| row.self_time > row.total + 1e-9).collect();
            assert!(odd.is_empty(), "{seed}: {odd:?}");
        }
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for row in all(CauseKind::Caller) {
            *found.entry(format!("{:?}", row.site)).or_default() += row.count;
        }
        assert_eq!(found, expected, "{seed}");
    }
}
