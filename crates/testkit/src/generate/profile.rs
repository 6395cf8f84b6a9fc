//! Generates `ProfileChunk` events of several streams: in order, out of order, and beyond repair.

use super::finish::finish;
use super::json::Json;
use super::{TraceShape, value};
use crate::Rng;

/// Generates one event for each time of `slots` (file order), distributed over the streams.
pub(super) fn chunks(rng: &mut Rng, shape: &TraceShape, slots: &[i64]) -> Vec<Json> {
    if shape.profile_streams == 0 {
        return Vec::new();
    }
    let owner: Vec<usize> = slots.iter().map(|_| rng.index(shape.profile_streams)).collect();
    let mut events: Vec<Option<Json>> = vec![None; slots.len()];
    for stream in 0..shape.profile_streams {
        let places: Vec<usize> = (0..slots.len()).filter(|&i| owner[i] == stream).collect();
        for (place, event) in stream_events(rng, shape, stream, &places, slots) {
            events[place] = Some(event);
        }
    }
    events.into_iter().flatten().collect()
}

/// Returns the chunks of one stream with their positions in the file.
fn stream_events(
    rng: &mut Rng,
    shape: &TraceShape,
    stream: usize,
    places: &[usize],
    slots: &[i64],
) -> Vec<(usize, Json)> {
    let mut file_order: Vec<usize> = places.to_vec();
    let mut times: Vec<i64> = places.iter().map(|&place| slots[place]).collect();
    match rng.below(6) {
        // file order and time order agree
        0 => times.sort_unstable(),
        // the file is shuffled, but times give the order
        1 => {
            times.sort_unstable();
            rng.shuffle(&mut file_order);
        }
        // file order is right; times are wrong if the trace is disordered
        2 => {}
        // one chunk is late or early in a sorted stream
        3 => {
            times.sort_unstable();
            if times.len() > 1 {
                let at = rng.index(times.len());
                let time = times.remove(at);
                times.insert(rng.index(times.len() + 1), time);
            }
        }
        4 => times.reverse(),
        // neither order is likely right
        _ => {
            rng.shuffle(&mut file_order);
            rng.shuffle(&mut times);
        }
    }
    let key = stream_key(stream);
    let mut nodes = 0;
    let mut events = Vec::with_capacity(places.len());
    for (&place, ts) in file_order.iter().zip(times) {
        let first = nodes == 0;
        let args = if !first && rng.chance(10) { end_chunk(ts) } else { data(rng, &mut nodes) };
        events.push((place, chunk(rng, shape, &key, ts, args)));
    }
    events
}

/// The members that identify a stream.
pub(super) type StreamMembers = Vec<(&'static str, &'static str)>;

/// Returns the key of a stream. Streams differ in the pid, in the id, or in the type of pid or id.
/// Some streams have `id2` or no id at all.
pub(super) fn stream_key(stream: usize) -> StreamMembers {
    match stream {
        0 => vec![("pid", "1"), ("id", "\"0x1\"")],
        1 => vec![("pid", "2"), ("id", "\"0x1\"")],
        2 => vec![("pid", "\"1\""), ("id", "\"0x1\"")],
        3 => vec![("pid", "1"), ("id", "1")],
        4 => vec![("pid", "1")],
        5 => vec![("id", "1")],
        6 => vec![("pid", "1"), ("id2", "{\"local\":\"0x1\"}")],
        7 => vec![("pid", "1"), ("id2", "{\"global\":\"0x1\"}")],
        8 => vec![("pid", "1"), ("id", "\"1\""), ("id2", "{\"local\":\"0x1\"}")],
        _ => vec![("pid", "7"), ("id", "\"0x2\"")],
    }
}

fn chunk(rng: &mut Rng, shape: &TraceShape, key: &StreamMembers, ts: i64, args: Json) -> Json {
    let odd = rng.chance(shape.odd);
    let name = if odd && rng.chance(20) { "\"Profile\\u0043hunk\"" } else { "\"ProfileChunk\"" };
    // a metadata event of that name is no chunk
    let ph = if odd && rng.chance(10) { "\"M\"" } else { "\"P\"" };
    let mut members = vec![
        ("args", args, true),
        ("cat", Json::raw("\"disabled-by-default-v8.cpu_profiler\""), true),
    ];
    members.extend(key.iter().map(|&(name, value)| (name, Json::raw(value), true)));
    members.push(("name", Json::raw(name), true));
    members.push(("ph", Json::raw(ph), true));
    members.push(("tid", Json::raw(rng.range(1, 3).to_string()), true));
    let ts = if rng.chance(20) { value::time(rng, shape, ts) } else { ts.to_string() };
    members.push(("ts", Json::raw(ts), true));
    finish(rng, shape, members)
}

fn end_chunk(ts: i64) -> Json {
    Json::object([("data", Json::object([("endTime", Json::raw(ts.to_string()))]))])
}

/// Generates the args of a chunk. The chunk defines a few nodes after the existing `nodes`, and
/// samples any defined nodes.
fn data(rng: &mut Rng, nodes: &mut u64) -> Json {
    let number = |n: u64| Json::raw(n.to_string());
    let mut new = Vec::new();
    let by_children = rng.chance(10);
    for _ in 0..rng.range(u64::from(*nodes == 0), 4) {
        *nodes += 1;
        let frame = Json::object([
            ("functionName", Json::raw(format!("\"f{}\"", rng.below(9)))),
            ("scriptId", number(rng.below(9))),
        ]);
        let mut node = vec![("callFrame", frame), ("id", number(*nodes))];
        if by_children {
            // children may be defined in later chunks: they are no reference back
            node.push(("children", Json::Array(vec![number(*nodes + 1)])));
        } else if *nodes > 1 {
            node.push(("parent", number(rng.range(1, *nodes - 1))));
        }
        new.push(Json::object(node));
    }
    let samples: Vec<Json> = (0..rng.below(6)).map(|_| number(rng.range(1, *nodes))).collect();
    let deltas = samples.iter().map(|_| Json::raw((rng.below(300) as i64 - 40).to_string()));
    let deltas = Json::Array(deltas.collect());
    let lines = Json::Array(samples.iter().map(|_| number(7)).collect());
    let mut profile = Vec::new();
    if !new.is_empty() || rng.chance(20) {
        profile.push(("nodes", Json::Array(new)));
    }
    profile.push(("samples", Json::Array(samples)));
    let data = [("cpuProfile", Json::object(profile)), ("lines", lines), ("timeDeltas", deltas)];
    Json::object([("data", Json::object(data))])
}
