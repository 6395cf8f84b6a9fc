//! Changes CPU profiles: lost, duplicated or moved pieces, inconsistent samples and times, moved
//! nodes.

use super::pick::one_of;
use super::values::text;
use crate::Rng;
use serde_json::{Value, json};

pub(super) fn change(rng: &mut Rng, events: &mut Vec<Value>) {
    let is_chunk = |value: &Value| value["name"] == "ProfileChunk";
    let Some(at) = one_of(rng, events, is_chunk) else { return };
    match rng.below(10) {
        0 => drop(events.remove(at)),
        1 => events.insert(rng.index(events.len()), events[at].clone()),
        2 => {
            let other = one_of(rng, events, is_chunk).unwrap_or(at);
            events.swap(at, other);
        }
        3 => change_head(rng, events),
        _ => {
            let data = &mut events[at]["args"]["data"];
            if data.is_object() {
                change_data(rng, data);
            }
        }
    }
}

fn change_head(rng: &mut Rng, events: &mut Vec<Value>) {
    let Some(at) = one_of(rng, events, |event| event["name"] == "Profile") else { return };
    match rng.below(5) {
        0 => drop(events.remove(at)),
        1 => events.insert(rng.index(events.len()), events[at].clone()),
        2 => {
            let head = events.remove(at);
            events.push(head);
        }
        3 => events[at]["id"] = json!("0x77"),
        _ => {
            let other = rng.index(events.len());
            events[at]["tid"] = events[other]["tid"].clone();
        }
    }
}

/// Changes the data of a chunk: nodes and samples are in `cpuProfile`, times and lines next to it.
fn change_data(rng: &mut Rng, data: &mut Value) {
    if rng.chance(35) {
        change_list(rng, &mut data["timeDeltas"]);
    } else if data["cpuProfile"].is_object() {
        change_profile(rng, &mut data["cpuProfile"]);
    }
}

pub(super) fn change_file(rng: &mut Rng, profile: &mut Value) {
    match rng.below(10) {
        0..3 => change_list(rng, &mut profile["timeDeltas"]),
        3 => {
            let key = ["startTime", "endTime"][rng.index(2)];
            profile[key] =
                [json!(0), json!(1), json!(12.5), json!(1e15), json!(-5)][rng.index(5)].clone();
        }
        _ => change_profile(rng, profile),
    }
}

fn change_profile(rng: &mut Rng, profile: &mut Value) {
    match rng.chance(40) {
        true => change_samples(rng, &mut profile["samples"]),
        false => {
            if let Some(nodes) = profile["nodes"].as_array_mut().filter(|nodes| !nodes.is_empty()) {
                change_nodes(rng, nodes);
            }
        }
    }
}

fn change_list(rng: &mut Rng, list: &mut Value) {
    let Some(list) = list.as_array_mut().filter(|list| !list.is_empty()) else { return };
    let at = rng.index(list.len());
    match rng.below(8) {
        0 => list[at] = json!(0),
        1 => list[at] = json!(-1 - rng.below(3000) as i64),
        2 => list[at] = json!(1_000_000_000_u64),
        3 => list[at] = json!(0.5),
        4 => drop(list.pop()),
        5 => list.push(json!(7)),
        6 => list.iter_mut().for_each(|number| *number = json!(0)),
        _ => rng.shuffle(list),
    }
}

fn change_samples(rng: &mut Rng, samples: &mut Value) {
    let Some(list) = samples.as_array_mut().filter(|list| !list.is_empty()) else { return };
    let (at, other) = (rng.index(list.len()), rng.index(list.len()));
    match rng.below(6) {
        0 => list[at] = json!(987_654),
        1 => list[at] = list[other].clone(),
        2 => drop(list.pop()),
        3 => list.push(list[at].clone()),
        4 => rng.shuffle(list),
        _ => {
            let copy = list[at].clone();
            let end = (at + 1 + rng.index(8)).min(list.len());
            list[at..end].fill(copy);
        }
    }
}

fn change_nodes(rng: &mut Rng, nodes: &mut Vec<Value>) {
    const FUNCTIONS: [&str; 6] =
        ["(root)", "(program)", "(idle)", "(garbage collector)", "", "(anonymous)"];
    let (at, other) = (rng.index(nodes.len()), rng.index(nodes.len()));
    match rng.below(12) {
        0 => drop(nodes.remove(at)),
        1 => nodes.push(nodes[at].clone()),
        2 => {
            if !nodes[at]["parent"].is_null() {
                nodes[at]["parent"] = nodes[other]["id"].clone();
            }
        }
        3 => drop(nodes[at].as_object_mut().and_then(|node| node.remove("parent"))),
        4 => nodes[at]["id"] = nodes[other]["id"].clone(),
        5 => rng.shuffle(nodes),
        6 => nodes.swap(0, at),
        7 => nodes[at]["callFrame"]["functionName"] = json!(FUNCTIONS[rng.index(6)]),
        8 => nodes[at]["callFrame"]["url"] = text(rng),
        9 => nodes[at]["callFrame"]["functionName"] = text(rng),
        10 => {
            let key =
                ["scriptId", "lineNumber", "columnNumber", "url", "functionName"][rng.index(5)];
            let value =
                [None, Some(json!(-1)), Some(json!(5)), Some(json!("5"))][rng.index(4)].clone();
            let frame = nodes[at]["callFrame"].as_object_mut();
            match (frame, value) {
                (Some(frame), None) => drop(frame.remove(key)),
                (Some(frame), Some(value)) if key == "lineNumber" || key == "columnNumber" => {
                    let number = value.as_str().map_or(value.clone(), |_| json!(3));
                    drop(frame.insert(key.to_owned(), number));
                }
                _ => {}
            }
        }
        _ => {
            if let Some(children) = nodes[at]["children"].as_array_mut() {
                match rng.below(3) {
                    0 => drop(children.pop()),
                    1 => children.push(json!(987_653)),
                    _ => rng.shuffle(children),
                }
            }
        }
    }
}
