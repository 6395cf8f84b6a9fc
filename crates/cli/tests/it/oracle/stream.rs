//! Reads CPU profiles from a file independently of the command, as a second opinion.

use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Members of a profile that the comparison treats specially.
const KNOWN: [&str; 8] =
    ["nodes", "samples", "timeDeltas", "lines", "columns", "trace_ids", "startTime", "endTime"];

/// The events of one profile in file order.
pub(super) struct Stream<'f> {
    events: Vec<&'f Value>,
}

impl<'f> Stream<'f> {
    /// Finds the events of `profile` (`pid`, `tid`, `id`) in the trace `file`.
    pub(super) fn of(file: &'f Value, profile: &Value) -> Self {
        let events = file.get("traceEvents").unwrap_or(file).as_array().expect("events");
        let is_of = |event: &&Value| {
            let same = |key| event[key] == profile[key];
            let same_id = || match event.get("id2") {
                Some(id2) if event.get("id").is_none() => {
                    profile["id"].as_str() == Some(&id2.to_string())
                }
                _ => same("id"),
            };
            match event["name"].as_str() {
                // the thread of a stream is that of Profile; chunks come from any thread
                Some("Profile" | "ProfileChunk") => same("pid") && same_id(),
                Some("CpuProfile") => same("pid") && same_id() && same("tid"),
                _ => false,
            }
        };
        Stream { events: events.iter().filter(is_of).collect() }
    }

    /// Returns whether DevTools knows the thread of the profile; otherwise it drops the profile.
    pub(super) fn has_thread(&self) -> bool {
        self.events.iter().any(|event| event["name"] != "ProfileChunk")
    }

    /// Returns whether all events have the id by which DevTools knows profiles.
    pub(super) fn has_id(&self) -> bool {
        self.events.iter().all(|event| event.get("id").is_some())
    }

    pub(super) fn sorted(mut self) -> Self {
        let time = |event: &Value| event["ts"].as_f64().expect("a time");
        self.events.sort_by(|a, b| time(a).total_cmp(&time(b)));
        self
    }

    /// Returns a trace with this profile only, which DevTools draws like a `.cpuprofile`.
    ///
    /// In other traces DevTools derives calls from samples and events of the thread, so calls of a
    /// thread and of its `.cpuprofile` differ.
    pub(super) fn alone(&self) -> Value {
        let mut events = json!(self.events);
        for event in events.as_array_mut().into_iter().flatten() {
            let nodes = event.pointer_mut("/args/data/cpuProfile/nodes");
            for node in nodes.and_then(Value::as_array_mut).into_iter().flatten() {
                let frame = node["callFrame"].as_object_mut().expect("a call frame");
                // tracemill and DevTools show "(anonymous)"; DevTools names the script "undefined",
                // which is no script either
                for (key, missing) in [("functionName", ""), ("scriptId", "0")] {
                    frame.entry(key).or_insert(json!(missing));
                }
            }
        }
        json!({"metadata": {"dataOrigin": "CPUProfile"}, "traceEvents": events})
    }

    /// Returns the contents of the profile, see [`facts`].
    pub(super) fn facts(&self) -> Value {
        let parts: Vec<&Value> = self.events.iter().map(|event| &event["args"]["data"]).collect();
        let mut starts = self.events.iter().filter_map(|event| match event["name"].as_str() {
            Some("Profile") => Some(&event["ts"]),
            Some("CpuProfile") => Some(&event["args"]["data"]["cpuProfile"]["startTime"]),
            _ => None,
        });
        facts(starts.next_back().unwrap_or(&Value::Null), &parts)
    }
}

/// Returns the contents of a `.cpuprofile`, see [`facts`].
pub(super) fn facts_of_file(profile: &Value) -> Value {
    facts(&profile["startTime"], &[&json!({"cpuProfile": profile})])
}

/// Normalizes a profile in chunks, without its end, which DevTools invents for streams.
fn facts(start: &Value, parts: &[&Value]) -> Value {
    let samples = joined(parts, "samples");
    let mut trace_ids = Map::new();
    let mut others = Map::new();
    for part in parts {
        let members = part["cpuProfile"].as_object().into_iter().flatten();
        others.extend(members.filter(|m| !KNOWN.contains(&m.0.as_str())).map(owned));
        trace_ids
            .extend(part["cpuProfile"]["trace_ids"].as_object().into_iter().flatten().map(owned));
    }
    json!({
        "start": start,
        "nodes": nodes(&joined(parts, "nodes"), &samples),
        "samples": samples,
        "timeDeltas": joined(parts, "timeDeltas"),
        "lines": positions(parts, "lines"),
        "columns": positions(parts, "columns"),
        "trace_ids": trace_ids,
        "others": others,
    })
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// Returns a list of a chunk, or of the profile inside it.
fn list<'p>(part: &'p Value, key: &str) -> Option<&'p Vec<Value>> {
    part[key].as_array().or(part["cpuProfile"][key].as_array())
}

fn joined(parts: &[&Value], key: &str) -> Vec<Value> {
    parts.iter().filter_map(|part| list(part, key)).flatten().cloned().collect()
}

/// Returns lines or columns of the samples, 0 for chunks without them; `null` if no chunk has any.
fn positions(parts: &[&Value], key: &str) -> Value {
    if parts.iter().all(|part| list(part, key).is_none()) {
        return Value::Null;
    }
    let of_part = |part: &&Value| match list(part, key) {
        Some(positions) => positions.clone(),
        None => vec![json!(0); list(part, "samples").map_or(0, Vec::len)],
    };
    parts.iter().flat_map(of_part).collect()
}

/// Completes nodes: the parent from `children`, hits from the samples, and the call frame as
/// DevTools does.
fn nodes(nodes: &[Value], samples: &[Value]) -> Vec<Value> {
    let by_children = nodes.first().is_some_and(|root| root.get("children").is_some());
    let mut parents = HashMap::new();
    for node in nodes {
        for child in node["children"].as_array().into_iter().flatten() {
            parents.insert(child.to_string(), node["id"].clone());
        }
    }
    let mut hits: HashMap<String, u64> = HashMap::new();
    samples.iter().for_each(|sample| *hits.entry(sample.to_string()).or_default() += 1);
    let whole = |node: &Value| {
        let mut others = node.as_object().expect("a node").clone();
        let mut frame = others["callFrame"].as_object().expect("a call frame").clone();
        let script = match frame.get("scriptId") {
            Some(Value::String(script)) => script.clone(),
            other => other.map_or_else(|| "0".to_owned(), Value::to_string),
        };
        frame.insert("scriptId".to_owned(), json!(script));
        for (key, missing) in [
            ("functionName", json!("")),
            ("url", json!("")),
            ("lineNumber", json!(-1)),
            ("columnNumber", json!(-1)),
        ] {
            frame.entry(key).or_insert(missing);
        }
        others.retain(|key, _| {
            !["id", "callFrame", "parent", "children", "hitCount"].contains(&key.as_str())
        });
        let id = node["id"].to_string();
        let hits = node["hitCount"].as_u64().or(hits.get(&id).copied()).unwrap_or(0);
        // as in DevTools: if the root has children, `parent` is ignored
        let parent = if by_children { parents.get(&id) } else { node.get("parent") };
        json!({"id": node["id"], "frame": frame, "parent": parent, "hits": hits, "others": others})
    };
    nodes.iter().map(whole).collect()
}
