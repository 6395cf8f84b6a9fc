//! Small recordings with CPU profiles, as Chrome and Node write them but stranger: what DevTools makes of them is asked of DevTools.

use crate::Rng;
use serde_json::{Value, json};

/// Microseconds that a recording lasts at least.
const LENGTH: u64 = 3000;
/// When it begins.
const START: u64 = 5_000_000;

const TASKS: [&str; 3] = ["RunTask", "RunMicrotasks", "ThreadPool_RunTask"];
const NAMES: [&str; 16] = [
    "FunctionCall",
    "EvaluateScript",
    "EventDispatch",
    "TimerFire",
    "FireAnimationFrame",
    "V8.Execute",
    "v8.compile",
    "V8.GCScavenger",
    "MinorGC",
    "MajorGC",
    "Layout",
    "UpdateLayoutTree",
    "ParseHTML",
    "RunMicrotasks",
    "Paint",
    "of nobody",
];
const URLS: [&str; 8] = [
    "https://www.shop.co.uk/app.js",
    "https://cdn.shop.co.uk/vendor.js?v=1",
    "file:///srv/node_modules/left/index.js",
    "node:internal/timers",
    "node:fs",
    "native V8Runtime",
    "extensions::binding",
    "",
];
const CATEGORIES: [&str; 4] = [
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "devtools.timeline,v8",
    "disabled-by-default-devtools.timeline,devtools.timeline",
];

/// What wrote it.
#[derive(Clone, Copy, PartialEq)]
enum Producer {
    Browser,
    Node,
    Generic,
}

/// A recording that follows from `seed` alone: an object with `traceEvents`, which has no B and E (DevTools pairs these over the whole file).
///
/// Threads have events that nest, overlap, begin or end at one time, last no time or have no duration, moments, trace ids of samples; some have
/// CPU profiles, with unknown samples, deltas below zero, collections of garbage at any place, nodes alike, and others.
#[must_use]
pub fn recording(seed: u64) -> Value {
    let rng = &mut Rng::new(seed);
    let producer = match rng.index(5) {
        0..3 => Producer::Browser,
        3 => Producer::Node,
        _ => Producer::Generic,
    };
    let mut events = heads(producer);
    for tid in 1..=1 + rng.range(0, 2) {
        let mut own = Vec::new();
        let has_profile = rng.chance(80);
        let scale = Scale { fine: rng.chance(40), ids: has_profile && rng.chance(40) };
        stretch(rng, tid, (0, LENGTH), 0, scale, &mut own);
        if rng.chance(60) {
            rng.shuffle(&mut own);
        }
        events.extend(own);
        if has_profile {
            let profiles = 1 + u64::from(rng.chance(10));
            (0..profiles).for_each(|number| profile(rng, (tid, number), scale, &mut events));
        }
    }
    json!({"traceEvents": events, "metadata": {"source": "DevTools"}})
}

/// A CPU profile of its own, as Node writes it.
#[must_use]
pub fn cpuprofile(seed: u64) -> Value {
    let rng = &mut Rng::new(seed);
    let mut profile = Sampled::new(rng);
    let has_children = rng.chance(50);
    if has_children {
        link(&mut profile.nodes);
    }
    let (samples, deltas) = profile.samples(rng);
    let lasts: i64 = deltas.iter().sum();
    let written = steps(&deltas, samples.len().is_multiple_of(3));
    json!({"nodes": profile.nodes, "samples": samples, "timeDeltas": written,
        "startTime": START, "endTime": START as i64 + lasts.max(0)})
}

/// `children` in the place of `parent`.
fn link(nodes: &mut [Value]) {
    let parents: Vec<(Value, Value)> =
        nodes.iter().map(|node| (node["parent"].clone(), node["id"].clone())).collect();
    for node in nodes {
        let id = node["id"].clone();
        let own = parents.iter().filter(|(parent, _)| *parent == id).map(|(_, id)| id.clone());
        node["children"] = own.collect();
        node.as_object_mut().expect("a node is an object").remove("parent");
    }
}

/// How times are written, and whether events have trace ids.
#[derive(Clone, Copy)]
struct Scale {
    fine: bool,
    ids: bool,
}

impl Scale {
    fn time(self, rng: &mut Rng, micros: u64) -> Value {
        match self.fine && rng.chance(50) {
            true => json!((micros * 1000 + rng.below(1000)) as f64 / 1000.0),
            false => json!(micros),
        }
    }
}

fn heads(producer: Producer) -> Vec<Value> {
    let meta = |name: &str, tid: u64, value: &str| json!({"ph": "M", "name": name, "cat": "__metadata", "pid": 7, "tid": tid, "ts": 0, "args": {"name": value}});
    let mark = |name: &str, cat: &str, args: Value| json!({"ph": "I", "s": "t", "name": name, "cat": cat, "pid": 7, "tid": 1, "ts": START, "args": args});
    let timeline = "disabled-by-default-devtools.timeline";
    match producer {
        Producer::Browser => {
            let frame = json!({"frame": "F", "url": "https://www.shop.co.uk/", "name": "", "processId": 7,
                "isInPrimaryMainFrame": true, "isOutermostMainFrame": true});
            vec![
                meta("process_name", 1, "Renderer"),
                meta("thread_name", 1, "CrRendererMain"),
                meta("thread_name", 2, "DedicatedWorker thread"),
                meta("thread_name", 3, "ThreadPoolForegroundWorker"),
                mark("TracingStartedInBrowser", timeline, json!({"data": {"frames": [frame]}})),
            ]
        }
        Producer::Node => vec![
            meta("process_name", 1, "node"),
            meta("thread_name", 1, "JavaScriptMainThread"),
            meta("thread_name", 2, "WorkerThread"),
            mark("TracingStartedInPage", timeline, json!({"data": {"sessionId": "1"}})),
        ],
        Producer::Generic => vec![meta("thread_name", 2, "second")],
    }
}

/// Fills a stretch of time with events, and these with others.
fn stretch(
    rng: &mut Rng,
    tid: u64,
    (from, to): (u64, u64),
    depth: usize,
    scale: Scale,
    events: &mut Vec<Value>,
) {
    let mut at = from + rng.below(1 + (to - from) / 4) * u64::from(rng.chance(70));
    while at < to && depth < 7 && events.len() < 150 {
        let left = to - at;
        let mut dur = match rng.index(8) {
            0 => left,
            1 => rng.below(3),
            _ => 1 + rng.below(left),
        };
        if rng.chance(3) {
            // overlaps what comes behind
            dur += rng.below(40);
        }
        let name = match depth == 0 && rng.chance(70) {
            true => rng.pick(&TASKS),
            false => rng.pick(&NAMES),
        };
        let mut event = json!({"ph": "X", "name": name, "cat": rng.pick(&CATEGORIES), "pid": 7, "tid": tid,
            "ts": scale.time(rng, START + at), "dur": scale.time(rng, dur), "args": {}});
        if rng.chance(4) {
            event.as_object_mut().expect("an event is an object").remove("dur");
        }
        details(rng, &mut event, scale);
        events.push(event);
        if dur > 2 {
            stretch(rng, tid, (at, (at + dur).min(to)), depth + 1, scale, events);
        }
        if rng.chance(15) {
            let ts = START + at + rng.below(dur + 1);
            let mut moment = json!({"ph": "I", "s": "t", "name": rng.pick(&["MarkDOMContent", "ScheduleStyleRecalculation", "TimerInstall"]),
                "cat": "devtools.timeline", "pid": 7, "tid": tid, "ts": scale.time(rng, ts), "args": {}});
            details(rng, &mut moment, scale);
            events.push(moment);
        }
        at += dur + rng.below(60) * u64::from(rng.chance(70));
    }
}

/// URLs, frames and trace ids in args.
fn details(rng: &mut Rng, event: &mut Value, scale: Scale) {
    if rng.chance(30) {
        event["args"]["data"]["url"] = json!(rng.pick(&URLS));
    }
    if scale.ids && rng.chance(40) {
        let id = json!(rng.below(6));
        match rng.index(3) {
            0 => event["args"]["sampleTraceId"] = id,
            1 => event["args"]["data"]["sampleTraceId"] = id,
            _ => event["args"]["beginData"]["sampleTraceId"] = id,
        }
    }
}

/// A tree of nodes with a way through it.
struct Sampled {
    nodes: Vec<Value>,
    /// Whether samples name what is no node, and deltas lie below zero.
    odd: bool,
}

impl Sampled {
    fn new(rng: &mut Rng) -> Self {
        let count = 5 + rng.index(30);
        let mut nodes = Vec::new();
        let frame = |name: &str, url: &str, script: u64, line: i64| json!({"functionName": name, "scriptId": script, "url": url, "lineNumber": line, "columnNumber": line});
        let mut meta = vec!["(program)", "(idle)", "(garbage collector)"];
        if rng.chance(15) {
            meta.remove(rng.index(3));
        }
        for id in 1..=count {
            let own = match id {
                1 => frame("(root)", "", 0, -1),
                id if id - 2 < meta.len() => frame(meta[id - 2], "", 0, -1),
                _ => {
                    let script = rng.index(URLS.len());
                    let name = rng.pick(&["a", "b", "c", "", "native"]);
                    frame(name, URLS[script], script as u64, rng.below(3) as i64)
                }
            };
            let is_meta = id >= 2 && id - 2 < meta.len();
            let parent = match id {
                _ if is_meta || id < 6 || rng.chance(10) => 1,
                id => 2 + meta.len() + rng.index(id - 2 - meta.len()),
            };
            let mut node = json!({"id": id, "callFrame": own, "parent": parent.min(id - 1).max(1)});
            if id == 1 {
                node.as_object_mut().expect("a node is an object").remove("parent");
            }
            nodes.push(node);
        }
        Sampled { nodes, odd: rng.chance(25) }
    }

    fn samples(&self, rng: &mut Rng) -> (Vec<u64>, Vec<i64>) {
        let count = 2 + rng.index(120);
        let nodes = self.nodes.len() as u64;
        let mut last = 1;
        let mut samples = Vec::new();
        for _ in 0..count {
            last = match rng.index(10) {
                0..3 => last,
                3 => 2 + rng.below(3),
                _ if self.odd && rng.chance(3) => 999,
                _ => 1 + rng.below(nodes),
            };
            samples.push(last);
        }
        let step = 1 + LENGTH / count as u64;
        let delta = |rng: &mut Rng| match self.odd && rng.chance(8) {
            true => -(rng.below(step) as i64),
            false => rng.below(2 * step) as i64,
        };
        let deltas = (0..count).map(|_| delta(rng)).collect();
        (samples, deltas)
    }
}

/// A stream of chunks, nodes before the samples that name them.
fn profile(rng: &mut Rng, (tid, number): (u64, u64), scale: Scale, events: &mut Vec<Value>) {
    let id = format!("0x{:x}", 10 * tid + number);
    let sampled = Sampled::new(rng);
    let (samples, deltas) = sampled.samples(rng);
    let cat = "disabled-by-default-v8.cpu_profiler";
    let source = rng.pick(&["Internal", "Inspector", "Unheard"]);
    let start = START + rng.below(LENGTH / 4);
    events.push(json!({"ph": "P", "name": "Profile", "cat": cat, "pid": 7, "tid": tid, "id": id, "ts": start,
        "args": {"data": {"startTime": start, "source": source}}}));
    let mut given = 0;
    let size = 1 + rng.index(40);
    let mut ts = start;
    for (chunk, (samples, deltas)) in samples.chunks(size).zip(deltas.chunks(size)).enumerate() {
        let highest = samples.iter().filter(|&&id| id < 999).max().copied().unwrap_or(1) as usize;
        let upto =
            if chunk == 0 { highest.max(5) } else { highest }.clamp(given, sampled.nodes.len());
        let mut own = json!({"samples": samples});
        if upto > given {
            own["nodes"] = json!(sampled.nodes[given..upto]);
            given = upto;
        }
        if scale.ids {
            let ids = (0..rng.below(3)).map(|_| (1 + rng.below(5), 1 + rng.below(upto as u64)));
            own["trace_ids"] = ids.map(|(id, node)| (id.to_string(), json!(node))).collect();
        }
        ts += 1 + deltas.iter().sum::<i64>().unsigned_abs();
        events.push(json!({"ph": "P", "name": "ProfileChunk", "cat": cat, "pid": 7, "tid": 9, "id": id, "ts": ts,
            "args": {"data": {"cpuProfile": own, "timeDeltas": steps(deltas, scale.fine && start.is_multiple_of(2))}}}));
    }
}

/// Microseconds as they are written; `is_fine` with digits below the nanosecond.
fn steps(deltas: &[i64], is_fine: bool) -> Value {
    let fine = |(at, &delta): (usize, &i64)| {
        let digits = (7919 * at as i64 + 31 * delta).rem_euclid(100_000);
        json!(delta as f64 + digits as f64 / 1e5)
    };
    if is_fine { deltas.iter().enumerate().map(fine).collect() } else { json!(deltas) }
}
