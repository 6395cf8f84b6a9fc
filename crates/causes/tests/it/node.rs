//! Resources of Node's async hooks: which event created the resource of a callback, and of the
//! resource that triggered it.

use crate::{causes_of, events_of, folder, number};
use std::collections::HashMap;
use tracemill_analysis::value::clock::Times;

/// Returns the initiators of the events that begin operations, by index, with one map.
fn naive(events: &[serde_json::Value]) -> HashMap<usize, usize> {
    let is_hook = |at: &usize| {
        let event = &events[*at];
        let cat = event["cat"].as_str().unwrap_or_default();
        cat.contains("node.async_hooks") && event["ph"] == "b"
    };
    let mut hooks: Vec<usize> = (0..events.len()).filter(is_hook).collect();
    hooks.sort_by_key(|&at| (events[at]["ts"].as_u64(), at));
    let mut created: HashMap<(u64, u64, u64), usize> = HashMap::new();
    let mut found = HashMap::new();
    for at in hooks {
        let event = &events[at];
        let [pid, tid] = ["pid", "tid"].map(|key| event[key].as_u64().expect("works"));
        let id = event["id"].as_str().expect("works").trim_start_matches("0x");
        let id = u64::from_str_radix(id, 16).expect("works");
        let is_callback = event["name"].as_str().expect("works").ends_with("_CALLBACK");
        let cause = match is_callback {
            true => id,
            false => event["args"]["data"]["triggerAsyncId"].as_u64().expect("works"),
        };
        if let Some(&cause) = created.get(&(pid, tid, cause)) {
            found.insert(at, cause);
        }
        if !is_callback {
            created.insert((pid, tid, id), at);
        }
    }
    found
}

#[test]
fn callbacks_and_triggered_resources_have_the_creation_as_initiator() {
    for (path, count) in [
        ("testdata/node/trace.json", 729),
        ("testdata/node/trace-2.json", 716),
        ("../shared/corpus/node20-trace-events/node_trace.454.1.log", 1838),
        ("../shared/corpus/node20-trace-events/node_trace.464.1.log", 657),
        ("../shared/corpus/node20-trace-events/node_trace.465.1.log", 726),
    ] {
        let file = folder(path);
        if path.starts_with("../shared") && !file.is_file() {
            continue;
        }
        let events = events_of(&file);
        let wanted = naive(&events);
        assert_eq!(wanted.len(), count, "{path}");
        let (trace, causes) = causes_of(&[file], Times::Devtools, 64 << 20);
        let is_hook = |at: usize| {
            events[at]["cat"].as_str().is_some_and(|cat| cat.contains("node.async_hooks"))
        };
        let rows = causes.initiators.by_event();
        let rows = rows.map(|row| [row.event, row.initiator].map(|event| number(event, &trace)));
        let found: HashMap<usize, usize> = rows
            .filter_map(|[event, initiator]| Some((event.filter(|at| is_hook(*at))?, initiator?)))
            .collect();
        assert_eq!(found, wanted, "{path}");
    }
}
