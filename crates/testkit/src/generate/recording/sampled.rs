//! Generates CPU profiles: a tree of nodes, a walk through it, and its serialization.

use super::parts::{LENGTH, START, Scale, Thread, URLS};
use crate::Rng;
use serde_json::{Value, json};

/// Names of functions. DevTools groups `native` functions whose URL is in V8 itself.
const FUNCTIONS: [&str; 9] =
    ["a", "b", "c", "", "native", "Parse", "größer", "get (x)", "CompileEval"];

/// Generates a separate CPU profile, as Node writes it.
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
    if rng.chance(30) {
        profile.nodes.iter_mut().for_each(|node| node["hitCount"] = json!(rng.below(3)));
    }
    json!({"nodes": profile.nodes, "samples": samples, "timeDeltas": written,
        "startTime": START, "endTime": START as i64 + lasts.max(0)})
}

fn link(nodes: &mut [Value]) {
    let parents: Vec<(Value, Value)> =
        nodes.iter().map(|node| (node["parent"].clone(), node["id"].clone())).collect();
    for node in nodes {
        let id = node["id"].clone();
        let children = parents.iter().filter(|(parent, _)| *parent == id).map(|(_, id)| id.clone());
        node["children"] = children.collect();
        node.as_object_mut().expect("a node is an object").remove("parent");
    }
}

/// A tree of nodes with a walk through it.
struct Sampled {
    nodes: Vec<Value>,
    /// Whether samples may have unknown ids and deltas may be negative.
    odd: bool,
}

impl Sampled {
    fn new(rng: &mut Rng) -> Self {
        let is_deep = rng.chance(10);
        let count = if is_deep { 120 + rng.index(200) } else { 5 + rng.index(30) };
        let mut nodes = Vec::new();
        let mut meta = vec!["(program)", "(idle)", "(garbage collector)"];
        if rng.chance(15) {
            meta.remove(rng.index(3));
        }
        for id in 1..=count {
            let call_frame = match id {
                1 => frame("(root)", "", 0, -1),
                id if id - 2 < meta.len() => frame(meta[id - 2], "", 0, -1),
                _ => function(rng),
            };
            let is_meta = id >= 2 && id - 2 < meta.len();
            let parent = match id {
                _ if is_meta || id < 6 || rng.chance(if is_deep { 1 } else { 10 }) => 1,
                id if is_deep && rng.chance(95) => id - 1,
                id => 2 + meta.len() + rng.index(id - 2 - meta.len()),
            };
            let mut node =
                json!({"id": id, "callFrame": call_frame, "parent": parent.min(id - 1).max(1)});
            if id == 1 {
                node.as_object_mut().expect("a node is an object").remove("parent");
            }
            if rng.chance(5) {
                node["deoptReason"] = json!("wrong map");
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

fn frame(name: &str, url: &str, script: u64, line: i64) -> Value {
    json!({"functionName": name, "scriptId": script, "url": url, "lineNumber": line, "columnNumber": line})
}

/// Generates a call frame, sometimes with an unusual, extra or missing member.
fn function(rng: &mut Rng) -> Value {
    let script = rng.index(URLS.len());
    let name = rng.pick(&FUNCTIONS);
    let mut call_frame = frame(name, URLS[script], script as u64, rng.below(3) as i64);
    match rng.index(12) {
        0 => call_frame["scriptId"] = json!(script.to_string()),
        1 => call_frame["codeType"] = json!("JS"),
        2 => drop(call_frame.as_object_mut().expect("a frame is an object").remove("url")),
        3 => drop(call_frame.as_object_mut().expect("a frame is an object").remove("lineNumber")),
        4 => drop(call_frame.as_object_mut().expect("a frame is an object").remove("columnNumber")),
        _ => {}
    }
    call_frame
}

/// Writes a stream of chunks, in which nodes precede the samples that refer to them.
pub(super) fn profile(
    rng: &mut Rng,
    thread: Thread,
    number: u64,
    scale: Scale,
    events: &mut Vec<Value>,
) {
    let Thread { pid, tid } = thread;
    let written = 10 * tid + number;
    let id = if rng.chance(90) { json!(format!("0x{written:x}")) } else { json!(written) };
    let sampled = Sampled::new(rng);
    let (samples, deltas) = sampled.samples(rng);
    let cat = "disabled-by-default-v8.cpu_profiler";
    let source = rng.pick(&["Internal", "Inspector", "Unheard"]);
    let start = scale.start + rng.below(LENGTH / 4);
    events.push(json!({"ph": "P", "name": "Profile", "cat": cat, "pid": pid, "tid": tid, "id": id, "ts": start,
        "args": {"data": {"startTime": start, "source": source}}}));
    let mut given = 0;
    let size = 1 + rng.index(40);
    let mut ts = start;
    let has_lines = rng.chance(40);
    let chunks: Vec<_> = samples.chunks(size).zip(deltas.chunks(size)).collect();
    for (chunk, &(samples, deltas)) in chunks.iter().enumerate() {
        let highest = samples.iter().filter(|&&id| id < 999).max().copied().unwrap_or(1) as usize;
        let upto =
            if chunk == 0 { highest.max(5) } else { highest }.clamp(given, sampled.nodes.len());
        let mut cpu_profile = json!({"samples": samples});
        if upto > given {
            cpu_profile["nodes"] = json!(sampled.nodes[given..upto]);
            given = upto;
        }
        if scale.ids {
            let ids = (0..rng.below(3)).map(|_| (1 + rng.below(5), 1 + rng.below(upto as u64)));
            cpu_profile["trace_ids"] =
                ids.map(|(id, node)| (id.to_string(), json!(node))).collect();
        }
        ts += 1 + deltas.iter().sum::<i64>().unsigned_abs();
        let is_fine = scale.fine && start.is_multiple_of(2);
        let mut data = json!({"cpuProfile": cpu_profile, "timeDeltas": steps(deltas, is_fine)});
        if has_lines && chunk % 3 != 2 {
            data["lines"] = samples.iter().map(|_| json!(rng.below(9))).collect();
            data["columns"] = samples.iter().map(|_| json!(rng.below(9))).collect();
        }
        if chunk + 1 == chunks.len() && rng.chance(50) {
            data["endTime"] = json!(ts);
        }
        if rng.chance(10) {
            data["source"] = json!(source);
        }
        events.push(json!({"ph": "P", "name": "ProfileChunk", "cat": cat, "pid": pid, "tid": 9, "id": id, "ts": ts, "args": {"data": data}}));
        if rng.chance(5) {
            events.push(json!({"ph": "P", "name": "ProfileChunk", "cat": cat, "pid": pid, "tid": 9, "id": id, "ts": ts, "args": {}}));
        }
    }
}

/// Returns deltas in microseconds as JSON, with digits below the nanosecond if `is_fine`.
fn steps(deltas: &[i64], is_fine: bool) -> Value {
    let fine = |(at, &delta): (usize, &i64)| {
        let digits = (7919 * at as i64 + 31 * delta).rem_euclid(100_000);
        json!(delta as f64 + digits as f64 / 1e5)
    };
    if is_fine { deltas.iter().enumerate().map(fine).collect() } else { json!(deltas) }
}
