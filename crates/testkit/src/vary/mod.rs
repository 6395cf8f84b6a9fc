//! Varies real traces by seed, so that they resemble files of users: with lost, duplicated and
//! moved events, odd times and args, other names, and incomplete profiles. The output is always
//! JSON.
//!
//! [`varied`] first cuts a trace to a few ranges, so that comparisons are fast.
//!
//! The variants avoid input that no program writes and that JavaScript misreads: events named like
//! object properties (`constructor`), lists or objects as the type of an `EventDispatch`, URLs that
//! are not strings, and quoted times.

mod events;
mod pick;
mod profiles;
mod times;
mod values;

use crate::Rng;
use serde_json::{Value, json};

/// Creates a variant of a trace or CPU profile, determined by `rng`, with little more than `most`
/// events.
///
/// # Panics
///
/// Panics if `source` is not a list of events, an object with such a list, or a CPU profile.
#[must_use]
pub fn varied(rng: &mut Rng, source: &Value, most: usize) -> String {
    let changes = if rng.chance(50) { rng.range(1, 4) } else { rng.range(5, 15) };
    if source["nodes"].is_array() {
        let mut profile = source.clone();
        (0..changes).for_each(|_| profiles::change_file(rng, &mut profile));
        return written(&profile);
    }
    let has_more = source.is_object();
    let list = if has_more { &source["traceEvents"] } else { source };
    let list = list.as_array().expect("a list of events");
    let mut events = cut(rng, list, most);
    for _ in 0..changes {
        if !events.is_empty() {
            change(rng, &mut events);
        }
    }
    if !has_more {
        return written(&Value::Array(events));
    }
    let mut trace = json!({"traceEvents": events});
    if !source["metadata"].is_null() && rng.chance(80) {
        trace["metadata"] = source["metadata"].clone();
    }
    written(&trace)
}

/// Events that must be kept to preserve the kind of trace.
const KEPT: [&str; 6] = [
    "TracingStartedInBrowser",
    "navigationStart",
    "CommitLoad",
    "FrameCommittedInBrowser",
    "TracingSessionIdForWorker",
    "Profile",
];

/// Selects some ranges of a list, and the events that identify processes and pages.
fn cut(rng: &mut Rng, list: &[Value], most: usize) -> Vec<Value> {
    if list.len() <= most {
        return list.to_vec();
    }
    let mut is_kept = vec![false; list.len()];
    for (event, kept) in list.iter().zip(&mut is_kept) {
        let name = event["name"].as_str().unwrap_or_default();
        *kept = event["ph"] == "M" || KEPT.contains(&name);
    }
    // chunks are read in order, and the first chunk of each profile contains the root
    if rng.chance(60) {
        let is_chunk = |event: &&Value| event["name"] == "ProfileChunk";
        let first = list.iter().filter(is_chunk).count().min(rng.index(1 + most / 20));
        let chunks = list.iter().zip(&mut is_kept).filter(|(event, _)| is_chunk(event));
        chunks.take(first).for_each(|(_, kept)| *kept = true);
    }
    let ranges = 1 + rng.index(3);
    for _ in 0..ranges {
        let length = most / ranges;
        let from = rng.index(list.len() - length + 1);
        is_kept[from..from + length].fill(true);
    }
    list.iter().zip(is_kept).filter(|(_, kept)| *kept).map(|(event, _)| event.clone()).collect()
}

fn change(rng: &mut Rng, events: &mut Vec<Value>) {
    match rng.below(100) {
        0..18 => events::change_list(rng, events),
        18..35 => times::change(rng, events),
        35..45 => times::change_phase(rng, events),
        45..61 => values::change_args(rng, events),
        61..68 => values::change_text(rng, events),
        68..74 => events::rename(rng, events),
        74..80 => events::move_thread(rng, events),
        80..94 => profiles::change(rng, events),
        _ => events::change_category(rng, events),
    }
}

/// Returns the text; placeholders become halves of surrogate pairs, which a Rust string cannot
/// hold.
fn written(trace: &Value) -> String {
    let text = trace.to_string();
    text.replace(values::HIGH, "\\ud83d").replace(values::LOW, "\\udc00")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Value {
        let event = |n: u32| json!({"name": format!("e{n}"), "cat": "c", "ph": "X", "pid": 1, "tid": 1, "ts": n, "dur": 2, "args": {"data": {"url": "a"}}});
        let chunk = json!({"name": "ProfileChunk", "ph": "P", "pid": 1, "tid": 1, "ts": 5, "id": "0x1", "args": {"data":
            {"cpuProfile": {"nodes": [{"id": 1, "callFrame": {"functionName": "f"}}], "samples": [1, 1]}, "timeDeltas": [1, 2]}}});
        let mut events: Vec<Value> = (0..300).map(event).collect();
        events.insert(100, chunk);
        json!({"traceEvents": events, "metadata": {"source": "x"}})
    }

    #[test]
    fn variants_are_json_and_determined_by_the_seed() {
        let source = source();
        let variant = |seed| varied(&mut Rng::new(seed), &source, 50);
        let mut all: Vec<String> = (0..400).map(variant).collect();
        assert_eq!(all, (0..400).map(variant).collect::<Vec<_>>());
        for text in &all {
            let plain = text.replace("\\ud83d", "").replace("\\udc00", "");
            let read: Value = serde_json::from_str(&plain).expect("JSON");
            assert!(read["traceEvents"].as_array().expect("events").len() < 200, "{text}");
        }
        assert!(all.iter().any(|text| text.contains("\\ud83d")));
        all.sort();
        all.dedup();
        assert!(all.len() > 350, "{}", all.len());
    }
}
