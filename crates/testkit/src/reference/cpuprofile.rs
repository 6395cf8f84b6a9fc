//! Extracts CPU profiles from well-formed traces, and reads `.cpuprofile` files, as a reference.
//!
//! Everything is a `serde_json` value; times are whole nanoseconds. Only valid profiles are
//! supported: numeric ids, proper trees, and as many samples as deltas.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::decimal::Decimal;
use super::order::{OrderDecision, SortKey, decide};
use super::profile::{self, StreamKey};
use super::read::{self, Fields, is_string};

/// A node of the call tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Node {
    pub id: u64,
    pub parent: Option<u64>,
    pub hits: u64,
    /// The `callFrame`, with missing members added.
    pub frame: Map<String, Value>,
    /// All other keys.
    pub others: Map<String, Value>,
}

/// A profile: its start, end, nodes and samples. Equal profiles in different notations are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields carry the names of the format")]
pub struct CpuProfile {
    pub start: Decimal,
    /// End in nanoseconds.
    pub end: i128,
    /// Nodes in stream order, but the root first.
    pub nodes: Vec<Node>,
    pub samples: Vec<u64>,
    /// Time deltas in nanoseconds.
    pub deltas: Vec<i128>,
    pub lines: Option<Vec<i64>>,
    pub columns: Option<Vec<i64>>,
    pub trace_ids: BTreeMap<String, u64>,
    /// All other keys.
    pub extras: BTreeMap<String, Value>,
}

/// A profile in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamProfile {
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// `tid` of the `Profile` event as written; empty if missing.
    pub tid: String,
    /// `id`, or else `id2`, as written; empty if missing.
    pub id: String,
    /// Order of the chunks: `both`, `time`, `input` or `neither`.
    pub order: &'static str,
    /// Number of events other than the `Profile` event.
    pub chunks: usize,
    /// Start in nanoseconds.
    pub start: i128,
    /// Nodes, samples and times of the profile.
    pub profile: CpuProfile,
}

/// Extracts the profiles of `inputs` that have nodes, by start.
///
/// # Errors
///
/// Returns a description of malformed input.
pub fn cpu_profiles(inputs: &[&[u8]]) -> Result<Vec<StreamProfile>, String> {
    let mut events = Vec::new();
    for (number, input) in inputs.iter().enumerate() {
        for source in read::sources(input)? {
            for event in source.events {
                events.push((number, Fields::parse(event).ok_or("an event is no object")?));
            }
        }
    }
    let keys: Vec<SortKey> = events.iter().map(|(_, event)| SortKey::of(event)).collect();
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let mut rank = vec![0; events.len()];
    order.iter().enumerate().for_each(|(place, &event)| rank[event] = place);
    let profiles = groups(&events).into_iter().map(|group| group.profile(&events, &rank));
    let mut profiles: Vec<StreamProfile> =
        profiles.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    profiles.sort_by_key(|profile| profile.start);
    Ok(profiles)
}

#[derive(Default)]
struct ProfileGroup {
    heads: Vec<usize>,
    chunks: Vec<usize>,
    /// Whether the only chunk is a `CpuProfile` event.
    whole: bool,
}

/// Returns the streams in order of their first events. A stream is divided where a further input
/// has its own `Profile` event.
fn groups(events: &[(usize, Fields<'_>)]) -> Vec<ProfileGroup> {
    let mut numbers: HashMap<StreamKey, usize> = HashMap::new();
    let mut streams: Vec<Vec<ProfileGroup>> = Vec::new();
    let has = |event: &Fields<'_>, key, value| event.get(key).is_some_and(|v| is_string(v, value));
    let is_head = |event: &Fields<'_>| has(event, "name", "Profile") && !has(event, "ph", "M");
    for (number, (input, event)) in events.iter().enumerate() {
        if has(event, "name", "CpuProfile") && has(event, "ph", "X") {
            streams.push(vec![ProfileGroup {
                chunks: vec![number],
                whole: true,
                ..ProfileGroup::default()
            }]);
            continue;
        }
        let is_chunk = has(event, "name", "ProfileChunk") && !has(event, "ph", "M");
        if !is_chunk && !is_head(event) {
            continue;
        }
        let key = profile::stream_key(event);
        let stream = *numbers.entry(key.clone()).or_insert(streams.len());
        if stream == streams.len() {
            streams.push(vec![ProfileGroup::default()]);
        }
        let own_head =
            events.iter().any(|(i, e)| i == input && is_head(e) && profile::stream_key(e) == key);
        let groups = &mut streams[stream];
        let last = groups.last().expect("made with one");
        let of_other_input = last.heads.iter().any(|&head| events[head].0 != *input);
        if own_head && of_other_input {
            groups.push(ProfileGroup::default());
        }
        let last = groups.last_mut().expect("made with one");
        if is_head(event) { last.heads.push(number) } else { last.chunks.push(number) }
    }
    streams.into_iter().flatten().collect()
}

impl ProfileGroup {
    fn profile(
        &self,
        events: &[(usize, Fields<'_>)],
        rank: &[usize],
    ) -> Result<Option<StreamProfile>, String> {
        let event = |number: usize| &events[number].1;
        let (chunks, order) = self.in_order(events, rank);
        let pieces: Vec<EventData> =
            chunks.iter().map(|&number| piece(event(number))).collect::<Result<_, _>>()?;
        if pieces.iter().all(|piece| piece.nodes.is_empty()) {
            return Ok(None);
        }
        let head = self.heads.last().copied();
        let first = event(head.unwrap_or_else(|| chunks[0]));
        let written = first.get("ts").ok_or("no start")?.trim_matches('"').to_owned();
        let (start, end) = match (head, self.whole) {
            (_, true) => {
                let begin = pieces[0].start.clone().unwrap_or(written);
                (begin, pieces[0].end)
            }
            (Some(head), _) => {
                let last_end = pieces.iter().rev().find_map(|piece| piece.end);
                let origin = piece(event(head))?.start.map(|text| nanos(&text)).transpose()?;
                // both are on the clock of the data, which may differ from that of the events
                let shift =
                    origin.map_or(Ok(0), |origin| nanos(&written).map(|start| start - origin))?;
                (written, last_end.map(|end| end + shift))
            }
            (None, _) => return Err("no Profile event".into()),
        };
        let value = |name| first.get(name).unwrap_or_default().to_owned();
        let profile = assemble(&pieces, &start, end)?;
        Ok(Some(StreamProfile {
            pid: value("pid"),
            tid: value("tid"),
            id: first.get("id").or(first.get("id2")).unwrap_or_default().to_owned(),
            order,
            chunks: chunks.len(),
            start: nanos(&start)?,
            profile,
        }))
    }

    fn in_order(
        &self,
        events: &[(usize, Fields<'_>)],
        rank: &[usize],
    ) -> (Vec<usize>, &'static str) {
        let chunks: Vec<profile::Chunk> =
            self.chunks.iter().map(|&number| profile::chunk(number, &events[number].1)).collect();
        let mut sorted = self.chunks.clone();
        sorted.sort_by_key(|&number| rank[number]);
        if sorted == self.chunks {
            return (sorted, "both");
        }
        match decide(&chunks, rank) {
            OrderDecision::Sorted => (sorted, "time"),
            OrderDecision::Input => (self.chunks.clone(), "input"),
            OrderDecision::SortedAnyway => (sorted, "neither"),
        }
    }
}

#[derive(Debug, Default)]
struct EventData {
    nodes: Vec<Value>,
    samples: Vec<u64>,
    deltas: Vec<i128>,
    lines: Option<Vec<i64>>,
    columns: Option<Vec<i64>>,
    trace_ids: Vec<(String, u64)>,
    extras: Vec<(String, Value)>,
    start: Option<String>,
    end: Option<i128>,
}

fn piece(event: &Fields<'_>) -> Result<EventData, String> {
    let mut piece = EventData::default();
    let Some(args) = event.get("args") else { return Ok(piece) };
    let args: Value = serde_json::from_str(args).map_err(|e| e.to_string())?;
    let Some(Value::Object(data)) = args.get("data") else { return Ok(piece) };
    let inner = data.get("cpuProfile").and_then(Value::as_object).into_iter().flatten();
    for (key, value) in data.iter().filter(|(key, _)| *key != "cpuProfile").chain(inner) {
        match key.as_str() {
            "nodes" => piece.nodes = list(value, |node| Some(node.clone()))?,
            "samples" => piece.samples = list(value, Value::as_u64)?,
            "timeDeltas" => piece.deltas = list(value, |step| nanos(&text(step)).ok())?,
            "lines" => piece.lines = Some(list(value, Value::as_i64)?),
            "columns" => piece.columns = Some(list(value, Value::as_i64)?),
            "trace_ids" => piece.trace_ids = ids_by_name(value)?,
            "startTime" => piece.start = Some(text(value)),
            "endTime" => piece.end = Some(nanos(&text(value))?),
            "source" => {}
            _ => piece.extras.push((key.clone(), value.clone())),
        }
    }
    Ok(piece)
}

fn ids_by_name(value: &Value) -> Result<Vec<(String, u64)>, String> {
    let members = value.as_object().ok_or("trace_ids are no object")?;
    let id = |id: &Value| id.as_u64().ok_or("a trace id names no node");
    members.iter().map(|(key, value)| Ok((key.clone(), id(value)?))).collect()
}

fn list<T>(value: &Value, item: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
    let items = value.as_array().ok_or_else(|| format!("no array: {value}"))?;
    items.iter().map(|v| item(v).ok_or_else(|| format!("of another kind: {v}"))).collect()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn nanos(micros: &str) -> Result<i128, String> {
    let (negative, digits) = match micros.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, micros),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (kept, cut) = fraction.split_at(fraction.len().min(3));
    let all = format!("{whole}{kept:0<3}");
    let size: i128 = all.parse().map_err(|_| format!("no time: {micros}"))?;
    let is_cut = cut.bytes().any(|digit| digit != b'0');
    Ok(if negative { -size - i128::from(is_cut) } else { size })
}

fn assemble(pieces: &[EventData], start: &str, end: Option<i128>) -> Result<CpuProfile, String> {
    let mut trace_ids = BTreeMap::new();
    let mut extras = BTreeMap::new();
    for piece in pieces {
        trace_ids.extend(piece.trace_ids.iter().cloned());
        for (key, value) in &piece.extras {
            extras.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    let samples: Vec<u64> = pieces.iter().flat_map(|piece| piece.samples.clone()).collect();
    let deltas: Vec<i128> = pieces.iter().flat_map(|piece| piece.deltas.clone()).collect();
    let nodes = tree(pieces, &samples)?;
    let ids: HashSet<u64> = nodes.iter().map(|node| node.id).collect();
    if !samples.iter().all(|id| ids.contains(id)) {
        return Err("a sample names no node".into());
    }
    if samples.len() != deltas.len() {
        return Err("samples and steps differ in number".into());
    }
    let positions = |get: fn(&EventData) -> Option<&Vec<i64>>| {
        // without samples there are no lines
        let any = !samples.is_empty() && pieces.iter().any(|piece| get(piece).is_some());
        let zeros = |piece: &EventData| vec![0; piece.samples.len()];
        let of = |piece| get(piece).cloned().unwrap_or_else(|| zeros(piece));
        any.then(|| pieces.iter().flat_map(of).collect::<Vec<i64>>())
    };
    let (mut time, mut last) = (nanos(start)?, nanos(start)?);
    for delta in &deltas {
        time += delta;
        last = last.max(time);
    }
    Ok(CpuProfile {
        start: Decimal::parse(start.as_bytes()).ok_or("the start is no number")?,
        end: end.map_or(last, |end| end.max(last)),
        nodes,
        lines: positions(|piece| piece.lines.as_ref()),
        columns: positions(|piece| piece.columns.as_ref()),
        samples,
        deltas,
        trace_ids,
        extras,
    })
}

fn tree(pieces: &[EventData], samples: &[u64]) -> Result<Vec<Node>, String> {
    let mut parents: HashMap<u64, u64> = HashMap::new();
    let mut counted: HashMap<u64, u64> = HashMap::new();
    samples.iter().for_each(|&id| *counted.entry(id).or_default() += 1);
    let mut nodes = Vec::new();
    let all: Vec<&Value> = pieces.iter().flat_map(|piece| &piece.nodes).collect();
    for (number, value) in all.iter().enumerate() {
        // an identical repetition is not another node
        if all[..number].contains(value) {
            continue;
        }
        let (node, children) = node(value)?;
        parents.extend(node.parent.map(|parent| (node.id, parent)));
        parents.extend(children.into_iter().map(|child| (child, node.id)));
        let own_hits = value.get("hitCount").is_some();
        let hits = counted.get(&node.id).copied().unwrap_or(0);
        nodes.push(if own_hits { node } else { Node { hits, ..node } });
    }
    for node in &mut nodes {
        node.parent = parents.get(&node.id).copied();
    }
    // the sort is stable
    nodes.sort_by_key(|node| node.parent.is_some());
    Ok(nodes)
}

/// Reads a node and completes its frame; also returns the ids of its children.
fn node(value: &Value) -> Result<(Node, Vec<u64>), String> {
    let members = value.as_object().ok_or("a node is no object")?;
    let number = |name| members.get(name).and_then(Value::as_u64);
    let children = members.get("children").map_or(Ok(Vec::new()), |l| list(l, Value::as_u64))?;
    let old = !members.contains_key("callFrame");
    let mut others = members.clone();
    ["id", "parent", "hitCount", "children", "callFrame"].iter().for_each(|&key| {
        others.remove(key);
    });
    let old_frame = if old { std::mem::take(&mut others) } else { Map::new() };
    let given = members.get("callFrame").and_then(Value::as_object).unwrap_or(&old_frame);
    let mut frame = given.clone();
    let string = |key: &str| given.get(key).filter(|v| v.is_string()).cloned();
    let or_empty = |key| string(key).unwrap_or_else(|| Value::from(""));
    frame.insert("functionName".into(), or_empty("functionName"));
    frame.insert("url".into(), or_empty("url"));
    let script = given.get("scriptId").filter(|v| v.is_string() || v.is_number());
    frame.insert("scriptId".into(), Value::from(script.map_or_else(|| "0".into(), text)));
    for key in ["lineNumber", "columnNumber"] {
        let position = given.get(key).and_then(Value::as_i64);
        let position = position.map_or(-1, |n| n - i64::from(old));
        frame.insert(key.into(), Value::from(position));
    }
    if old {
        let known = ["functionName", "scriptId", "url", "lineNumber", "columnNumber"];
        let is_known = |key: &String| known.contains(&key.as_str());
        others = frame.clone().into_iter().filter(|(key, _)| !is_known(key)).collect();
        frame.retain(|key, _| is_known(key));
    }
    let id = number("id").ok_or("a node without an id")?;
    let hits = number("hitCount").unwrap_or(0);
    Ok((Node { id, parent: number("parent"), hits, frame, others }, children))
}

impl CpuProfile {
    /// Reads a valid `.cpuprofile` of the new form.
    ///
    /// # Errors
    ///
    /// Returns a description of the first invalid value.
    pub fn read(file: &[u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(file).map_err(|e| e.to_string())?;
        let inner = format!("{{\"data\":{{\"cpuProfile\":{text}}}}}");
        let piece = piece(&Fields(vec![("\"args\"", &inner)]))?;
        let start = piece.start.clone().ok_or("no startTime")?;
        let end = piece.end;
        assemble(&[piece], &start, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (micros, ns) in
            [("1", 1000), ("-0.5", -500), ("1795226383502128.8", 1_795_226_383_502_128_800)]
        {
            assert_eq!(nanos(micros), Ok(ns));
        }
        assert_eq!((nanos("1.0009"), nanos("-1.0009")), (Ok(1000), Ok(-1001)));
    }

    #[test]
    fn shuffled_stream_is_put_in_order() {
        let trace = br#"[
            {"name":"ProfileChunk","pid":1,"id":1,"ts":30,"args":{"data":{"cpuProfile":{"samples":[2]},
             "timeDeltas":[-5],"lines":[4]}}},
            {"name":"ProfileChunk","pid":1,"id":1,"ts":20,"args":{"data":{"cpuProfile":{
             "nodes":[{"id":1,"callFrame":{"scriptId":7}},{"id":2,"parent":1}],"samples":[1]},"timeDeltas":[9]}}},
            {"name":"Profile","pid":1,"id":1,"tid":5,"ts":10.25,"args":{"data":{"startTime":2}}},
            {"name":"ProfileChunk","pid":1,"id":1,"ts":40,"args":{"data":{"endTime":99}}}]"#;
        let profiles = cpu_profiles(&[trace]).unwrap();
        let [found] = &profiles[..] else { panic!("one profile: {profiles:?}") };
        assert_eq!((found.tid.as_str(), found.order, found.chunks), ("5", "time", 3));
        let profile = &found.profile;
        assert_eq!((&profile.samples[..], &profile.deltas[..]), (&[1, 2][..], &[9000, -5000][..]));
        assert_eq!((profile.lines.as_deref(), profile.end), (Some(&[0, 4][..]), 107_250));
        assert_eq!(
            (profile.nodes[0].frame["scriptId"].as_str(), profile.nodes[1].parent),
            (Some("7"), Some(1))
        );
    }
}
