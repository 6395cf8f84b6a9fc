//! Generates traces with valid CPU profiles: complete streams in all notations and arrangements
//! that occur in practice.
//!
//! The profiles depend only on the seed and the size; the arrangement decides their layout in the
//! file. So the same profile can be generated in order and shuffled.

use super::json::Json;
use super::profile::{StreamMembers, stream_key};
use super::{Form, Layout, TraceShape, document, event, shape};
use crate::Rng;

/// Arrangement of the chunks of each stream in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Chunks in stream order.
    InOrder,
    /// Chunks in random order, each with its true time.
    Shuffled,
    /// Chunks in stream order, all with the same time.
    EqualTimes,
    /// Chunks in stream order, with random times.
    RandomTimes,
    /// Chunks in random order, with random times.
    Lost,
}

impl Arrangement {
    /// All arrangements.
    pub const ALL: [Self; 5] =
        [Self::InOrder, Self::Shuffled, Self::EqualTimes, Self::RandomTimes, Self::Lost];
}

/// Shape of a generated trace with profiles, except its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileShape {
    /// Number of profiles.
    pub streams: usize,
    /// Maximum number of nodes per profile.
    pub nodes: usize,
    /// Maximum number of chunks per profile.
    pub chunks: usize,
    /// Maximum number of samples per chunk.
    pub samples: usize,
    /// Order and times of the chunks.
    pub arrangement: Arrangement,
    /// Number of other events.
    pub others: usize,
    /// The container format.
    pub form: Form,
    /// The whitespace layout.
    pub layout: Layout,
}

impl ProfileShape {
    /// Creates a tidy shape of `streams` small profiles, one event per line.
    #[must_use]
    pub fn plain(streams: usize) -> Self {
        Self {
            streams,
            nodes: 12,
            chunks: 6,
            samples: 8,
            arrangement: Arrangement::InOrder,
            others: 3,
            form: Form::Object,
            layout: Layout::Lines,
        }
    }

    /// Creates a random shape, usually small.
    pub fn arbitrary(rng: &mut Rng) -> Self {
        Self {
            streams: 1 + rng.index(9),
            nodes: [1, 4, 20, 60][rng.index(4)],
            chunks: [1, 4, 12][rng.index(3)],
            // streams with more than 1024 samples are spilled
            samples: if rng.chance(5) { 1500 } else { [3, 20][rng.index(2)] },
            arrangement: Arrangement::ALL[rng.index(5)],
            others: [0, 5, 40][rng.index(3)],
            form: shape::form(rng),
            layout: shape::layout(rng),
        }
    }
}

/// Generates a well-formed trace with `shape.streams` valid profiles.
#[must_use]
pub fn profile_trace(seed: u64, shape: &ProfileShape) -> Vec<u8> {
    let rng = &mut Rng::new(!seed);
    let plain = TraceShape { keys_after: 0, ..TraceShape::plain(0) };
    let tidy = TraceShape { layout: shape.layout, ..plain };
    let mut sources: Vec<Vec<Json>> = (0..shape.streams)
        .map(|number| {
            let stream =
                ProfileStream::new(&mut Rng::new(seed.wrapping_mul(64) + number as u64), shape);
            stream.events(rng, number, shape.arrangement)
        })
        .collect();
    let others = (0..shape.others).map(|ts| event::event(rng, &tidy, 10 * ts as i64)).collect();
    sources.push(others);
    sources.iter_mut().for_each(|events| events.reverse());
    let mut events = Vec::new();
    while let Some(left) = sources.iter().map(Vec::len).reduce(|a, b| a + b).filter(|&n| n > 0) {
        let mut number = rng.index(left);
        for source in &mut sources {
            if number < source.len() {
                events.extend(source.pop());
                break;
            }
            number -= source.len();
        }
    }
    let mut out = String::new();
    document(&mut out, rng, &tidy, shape.form, events);
    out.into_bytes()
}

struct ProfileStream {
    start: String,
    own_start: Option<i64>,
    source: Option<&'static str>,
    /// `args` of each chunk, if any, and its true time.
    chunks: Vec<(Option<Json>, i64)>,
    whole: bool,
}

fn number(n: impl std::fmt::Display) -> Json {
    Json::Raw(n.to_string())
}

fn numbers(all: &[u64]) -> Json {
    Json::Array(all.iter().map(number).collect())
}

fn shuffled(rng: &mut Rng, members: Vec<(&'static str, Json)>) -> Json {
    let mut members = members;
    rng.shuffle(&mut members);
    Json::object(members)
}

impl ProfileStream {
    fn new(rng: &mut Rng, shape: &ProfileShape) -> Self {
        let start = if rng.chance(50) { rng.range(1, 5000) } else { 1_795_226_383_502_128 };
        let written = match rng.below(4) {
            0 => format!("{start}.8"),
            1 => format!("\"{start}.125\""),
            2 => format!("{start}.000000000000001"),
            _ => start.to_string(),
        };
        let whole = rng.chance(6);
        let mut content = ChunkContent::new(rng, shape);
        let count = if whole { 1 } else { 1 + rng.index(shape.chunks) };
        let own_start = rng.chance(70).then(|| if rng.chance(50) { start as i64 } else { 77 });
        let mut chunks = Vec::new();
        let mut ts = start as i64;
        for number in 0..count {
            ts += 1 + rng.below(400) as i64;
            if rng.chance(5) && !whole {
                let empty = if rng.chance(50) { Some(Json::object([])) } else { None };
                chunks.push((empty, ts));
                ts += 1;
            }
            let end = if number + 1 == count { own_start.filter(|_| whole) } else { None };
            chunks.push((Some(content.chunk(rng, number, count, end)), ts));
        }
        if !whole && rng.chance(70) {
            // the end is sometimes before the last sample
            let end = own_start.unwrap_or(start as i64) + rng.below(900) as i64;
            let data = Json::object([("endTime", number(end))]);
            chunks.push((Some(Json::object([("data", data)])), ts + 1));
        }
        let source = [None, Some("\"Inspector\""), Some("\"Internal\"")][rng.index(3)];
        ProfileStream { start: written, own_start, source, chunks, whole }
    }

    fn events(self, rng: &mut Rng, number_of: usize, arrangement: Arrangement) -> Vec<Json> {
        let key = if self.whole { stream_key(usize::MAX) } else { stream_key(number_of) };
        let in_order = arrangement == Arrangement::InOrder;
        let base = self.chunks[0].1;
        let mut chunks: Vec<(Option<Json>, i64)> = self.chunks;
        match arrangement {
            Arrangement::InOrder => {}
            Arrangement::Shuffled => rng.shuffle(&mut chunks),
            Arrangement::EqualTimes => chunks.iter_mut().for_each(|(_, ts)| *ts = base),
            Arrangement::RandomTimes => {
                chunks.iter_mut().for_each(|(_, ts)| *ts = base + rng.below(50) as i64);
            }
            Arrangement::Lost => {
                rng.shuffle(&mut chunks);
                chunks.iter_mut().for_each(|(_, ts)| *ts = base + rng.below(50) as i64);
            }
        }
        let name = if self.whole { "\"CpuProfile\"" } else { "\"ProfileChunk\"" };
        let phase = if self.whole { "\"X\"" } else { "\"P\"" };
        let mut events: Vec<Json> = chunks
            .into_iter()
            .map(|(args, ts)| envelope(rng, name, phase, &key, 99, args, &ts.to_string()))
            .collect();
        if !self.whole {
            let start_time = self.own_start.map(|start| ("startTime", number(start)));
            let source = self.source.map(|source| ("source", Json::raw(source)));
            let data = Json::object(start_time.into_iter().chain(source));
            let args = Some(Json::object([("data", data)]));
            let head = envelope(rng, "\"Profile\"", "\"P\"", &key, 7, args, &self.start);
            let at = if in_order { 0 } else { rng.index(events.len() + 1) };
            events.insert(at, head);
        }
        events
    }
}

fn envelope(
    rng: &mut Rng,
    name: &str,
    phase: &str,
    key: &StreamMembers,
    tid: u64,
    args: Option<Json>,
    ts: &str,
) -> Json {
    let mut members = vec![
        ("cat", Json::raw("\"disabled-by-default-v8.cpu_profiler\"")),
        ("name", Json::raw(name)),
        ("ph", Json::raw(phase)),
        ("tid", number(tid)),
        ("ts", Json::raw(ts)),
    ];
    members.extend(key.iter().map(|&(name, value)| (name, Json::raw(value))));
    members.extend(args.map(|args| ("args", args)));
    if rng.chance(20) { shuffled(rng, members) } else { Json::object(members) }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Parents,
    Children,
    Both,
}

/// State of a profile while it is divided into chunks.
struct ChunkContent {
    ids: Vec<u64>,
    parents: Vec<usize>,
    links: Links,
    samples: usize,
    lines_from: usize,
    /// Whether `timeDeltas` are inside `cpuProfile`, as in older recordings, not next to
    /// `cpuProfile`.
    steps_inside: bool,
    has_hits: bool,
    trace_ids: bool,
    decimals: bool,
    sent: usize,
    /// Deltas delayed to the chunk after their samples.
    late: Vec<String>,
}

impl ChunkContent {
    fn new(rng: &mut Rng, shape: &ProfileShape) -> Self {
        let count = 1 + rng.index(shape.nodes);
        let mut id = if rng.chance(10) { 1 << 40 } else { rng.below(3) };
        let ids = (0..count)
            .map(|_| {
                id += if rng.chance(80) { 1 } else { rng.range(1, 9) };
                id
            })
            .collect();
        let recent = |rng: &mut Rng, i: usize| i - 1 - rng.index(i.min(4));
        let parents = (0..count)
            .map(|i| match i {
                0 => 0,
                _ if rng.chance(60) => recent(rng, i),
                _ => rng.index(i),
            })
            .collect();
        ChunkContent {
            ids,
            parents,
            links: [Links::Parents, Links::Parents, Links::Children, Links::Both][rng.index(4)],
            samples: shape.samples,
            lines_from: if rng.chance(50) { usize::MAX } else { rng.index(4) },
            steps_inside: rng.chance(15),
            has_hits: rng.chance(20),
            trace_ids: rng.chance(20),
            decimals: rng.chance(15),
            sent: 0,
            late: Vec::new(),
        }
    }

    /// Returns the args of the next chunk. The last chunk has all remaining nodes.
    fn chunk(&mut self, rng: &mut Rng, chunk: usize, of: usize, start: Option<i64>) -> Json {
        let last = chunk + 1 == of;
        let least = usize::from(self.sent == 0);
        let left = self.ids.len() - self.sent;
        let count = if last { left } else { (least + rng.index(left + 1)).min(left) };
        let nodes: Vec<Json> = (self.sent..self.sent + count).map(|i| self.node(rng, i)).collect();
        self.sent += count;
        let count = rng.index(self.samples + 1);
        let samples: Vec<u64> = (0..count).map(|_| self.ids[rng.index(self.sent)]).collect();
        let mut steps = std::mem::take(&mut self.late);
        steps.extend((0..count).map(|_| self.step(rng)));
        if !last && rng.chance(5) {
            self.late = steps.split_off(rng.index(steps.len() + 1));
        }
        let mut profile = Vec::new();
        if !nodes.is_empty() || rng.chance(20) {
            profile.push(("nodes", Json::Array(nodes)));
        }
        if count > 0 || rng.chance(50) {
            profile.push(("samples", numbers(&samples)));
        }
        if self.trace_ids && rng.chance(40) {
            let id = Json::Raw(self.ids[rng.index(self.sent)].to_string());
            let entry = (format!("\"{}\"", 12_884_901_888 + rng.below(3)), id);
            profile.push(("trace_ids", Json::Object(vec![entry])));
        }
        profile.extend(start.map(|start| ("startTime", number(start))));
        let mut data = Vec::new();
        let steps = Json::Array(steps.into_iter().map(Json::Raw).collect());
        if self.steps_inside { &mut profile } else { &mut data }.push(("timeDeltas", steps));
        if chunk >= self.lines_from && rng.chance(80) {
            let lines: Vec<u64> = samples.iter().map(|_| rng.below(300)).collect();
            data.push(("lines", numbers(&lines)));
            if rng.chance(50) {
                data.push(("columns", numbers(&lines)));
            }
        }
        if rng.chance(5) {
            data.push(("title", Json::raw("\"of \\\"nodes\\\":[{ all\"")));
        }
        data.push(("cpuProfile", shuffled(rng, profile)));
        Json::object([("data", shuffled(rng, data))])
    }

    fn step(&self, rng: &mut Rng) -> String {
        let micros = rng.below(300) as i64 - 60;
        if self.decimals { format!("{micros}.{:03}", rng.below(1000)) } else { micros.to_string() }
    }

    fn node(&self, rng: &mut Rng, at: usize) -> Json {
        let mut members = vec![("id", number(self.ids[at])), ("callFrame", frame(rng, at))];
        if at > 0 && self.links != Links::Children {
            members.push(("parent", number(self.ids[self.parents[at]])));
        }
        let below = (1..self.ids.len()).filter(|&child| self.parents[child] == at);
        let children: Vec<u64> = below.map(|child| self.ids[child]).collect();
        if self.links != Links::Parents && (at == 0 || !children.is_empty() || rng.chance(20)) {
            members.push(("children", numbers(&children)));
        }
        if self.has_hits {
            members.push(("hitCount", number(rng.below(9))));
        }
        match rng.below(12) {
            0 => {
                let tick = Json::object([("line", number(at)), ("ticks", number(2))]);
                members.push(("positionTicks", Json::Array(vec![tick])));
            }
            1 => members.push(("deoptReason", Json::raw("\"not \\u00e9\\\\\\\" a reason\""))),
            _ => {}
        }
        shuffled(rng, members)
    }
}

fn frame(rng: &mut Rng, at: usize) -> Json {
    const NAMES: &[&str] = &[
        "(program)",
        "(idle)",
        "",
        "f",
        "größe",
        "],\\\"nodes\\\":[{",
        "\\u2028",
        "a\\nb",
        "\\\\",
        "get [Symbol.iterator]",
        "ProfileChunk",
        "😀",
    ];
    let name = if at == 0 { "(root)" } else { rng.pick(NAMES) };
    let mut members = vec![("functionName", Json::raw(format!("\"{name}\"")))];
    match rng.below(5) {
        0 => members.push(("scriptId", number(rng.below(99)))),
        1..=3 => members.push(("scriptId", Json::raw(format!("\"{}\"", rng.below(99))))),
        _ => {}
    }
    if rng.chance(70) {
        members.push(("url", Json::raw("\"file:///a%20b.js?c=\\\"d\\\"\"")));
    }
    if rng.chance(70) {
        members.push(("lineNumber", number(rng.below(400) as i64 - 1)));
        members.push(("columnNumber", number(rng.below(80) as i64 - 1)));
    }
    if rng.chance(60) {
        members.push(("codeType", Json::raw("\"JS\"")));
    }
    shuffled(rng, members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;

    #[test]
    fn arrangement_does_not_change_the_profiles() {
        for seed in 0..60 {
            let mut shape = ProfileShape { chunks: 5, ..ProfileShape::plain(4) };
            let read = |shape: &ProfileShape| {
                let trace = profile_trace(seed, shape);
                let found = reference::cpu_profiles(&[&trace])
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
                let mut found: Vec<_> =
                    found.into_iter().map(|p| (p.pid, p.id, p.profile)).collect();
                found.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
                found
            };
            let expected = read(&shape);
            assert_eq!(expected.len(), 4, "seed {seed}");
            for arrangement in [Arrangement::Shuffled, Arrangement::EqualTimes] {
                shape.arrangement = arrangement;
                assert_eq!(read(&shape), expected, "seed {seed} {arrangement:?}");
            }
        }
    }

    #[test]
    fn every_arrangement_occurs() {
        let mut orders: Vec<&str> = Vec::new();
        for seed in 0..200 {
            let shape = ProfileShape::arbitrary(&mut Rng::new(seed));
            let found = reference::cpu_profiles(&[&profile_trace(seed, &shape)]);
            let found = found.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert_eq!(found.len(), shape.streams, "seed {seed}: {shape:?}");
            orders.extend(found.iter().map(|profile| profile.order));
        }
        for order in ["both", "time", "input", "neither"] {
            let count = orders.iter().filter(|&&seen| seen == order).count();
            assert!(count > 20, "{order}: {count}");
        }
    }
}
