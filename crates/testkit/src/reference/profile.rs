//! Collects the events of each CPU profile stream, and checks whether an order of the chunks
//! defines every node before its use.

use std::collections::{HashMap, HashSet};

use super::decimal::Decimal;
use super::read::{Fields, elements, is_string, unescape};

/// A JSON value that compares by type and canonical value: 1 equals 1.0, but not "1".
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Missing,
    Number(Decimal),
    Text(Vec<u8>),
    /// Literals, arrays and objects, compared by their bytes.
    Other(String),
}

impl Value {
    pub(super) fn of(raw: Option<&str>) -> Self {
        let Some(raw) = raw else {
            return Self::Missing;
        };
        if let Some(text) = unescape(raw) {
            return Self::Text(text);
        }
        Decimal::parse(raw.as_bytes()).map_or_else(|| Self::Other(raw.to_owned()), Self::Number)
    }
}

/// Key of a stream: pid and id, with `id2` instead of a missing `id`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StreamKey {
    pid: Value,
    id: Value,
    is_id2: bool,
}

pub(super) fn stream_key(event: &Fields<'_>) -> StreamKey {
    let (pid, id, id2) = (event.get("pid"), event.get("id"), event.get("id2"));
    let is_id2 = id.is_none() && id2.is_some();
    StreamKey { pid: Value::of(pid), id: Value::of(id.or(id2)), is_id2 }
}

/// One `ProfileChunk`: its event number, and the nodes that it defines and samples.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) event: usize,
    nodes: Vec<RawNode>,
    samples: Vec<Value>,
}

#[derive(Debug)]
struct RawNode {
    id: Value,
    parent: Option<Value>,
}

/// Returns the streams of `events` in order of appearance, each with its chunks in input order.
pub(super) fn streams(events: &[Fields<'_>]) -> Vec<Vec<Chunk>> {
    let mut numbers: HashMap<StreamKey, usize> = HashMap::new();
    let mut streams: Vec<Vec<Chunk>> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        let is_chunk = event.get("name").is_some_and(|name| is_string(name, "ProfileChunk"));
        if !is_chunk || event.get("ph").is_some_and(|ph| is_string(ph, "M")) {
            continue;
        }
        let stream = *numbers.entry(stream_key(event)).or_insert(streams.len());
        if stream == streams.len() {
            streams.push(Vec::new());
        }
        streams[stream].push(chunk(number, event));
    }
    streams
}

pub(super) fn chunk(event: usize, fields: &Fields<'_>) -> Chunk {
    let profile = fields
        .get("args")
        .and_then(|args| inner(args, "data"))
        .and_then(|data| inner(data, "cpuProfile"));
    let list = |name| profile.and_then(|p| inner(p, name)).and_then(elements).unwrap_or_default();
    let nodes = list("nodes")
        .into_iter()
        .map(|node| RawNode {
            id: Value::of(inner(node, "id")),
            parent: inner(node, "parent").map(|parent| Value::of(Some(parent))),
        })
        .collect();
    let samples = list("samples").into_iter().map(|sample| Value::of(Some(sample))).collect();
    Chunk { event, nodes, samples }
}

/// Returns the member `name` of `raw`, if `raw` is an object that has it.
fn inner<'a>(raw: &'a str, name: &str) -> Option<&'a str> {
    Fields::parse(raw)?.get(name)
}

/// Returns whether this order defines every parent and every sampled node before its use.
pub(super) fn is_consistent<'a>(chunks: impl IntoIterator<Item = &'a Chunk>) -> bool {
    let mut defined: HashSet<&Value> = HashSet::new();
    for chunk in chunks {
        for node in &chunk.nodes {
            if node.parent.as_ref().is_some_and(|parent| !defined.contains(parent)) {
                return false;
            }
            defined.insert(&node.id);
        }
        if !chunk.samples.iter().all(|sample| defined.contains(sample)) {
            return false;
        }
    }
    true
}
