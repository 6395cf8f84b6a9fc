//! Splits `ProfileChunk` events that have more samples, nodes or time steps than DevTools can read.
//!
//! ```text
//!   nodes      1 2 3 │ 4 5                  10,000 each, all of them before the first sample
//!   samples          │ a b c │ d e f │ g    with steps, lines and columns
//!   other keys       │ x     │       │ endTime
//! ```
//!
//! DevTools passes each list as the arguments of one function call, and joins chunks in file order,
//! so it reads the parts like the whole chunk. Memory: a copy of the event.

use tracemill_tokenizer::{Cursor, Event, Field, members, string_is};
use tracemill_trace::json::member;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::spill::hash::HashMap;

/// Maximum number of elements of a list in one chunk.
pub(super) const MOST: usize = 10_000;
/// Names of the lists in `data` that are parallel to the samples.
const STEPS: [&[u8]; 3] = [b"timeDeltas", b"lines", b"columns"];

/// A list that is written in parts.
struct ListFeed<'e>(Cursor<'e>);

impl ListFeed<'_> {
    fn write(&mut self, out: &mut Vec<u8>) {
        out.push(b'[');
        let start = out.len();
        for _ in 0..MOST {
            if !self.0.next_element() {
                // an empty cursor returns no more elements
                self.0 = Cursor::new(b"");
                break;
            }
            if out.len() > start {
                out.push(b',');
            }
            out.extend_from_slice(self.0.value());
        }
        out.push(b']');
    }
}

struct ChunkLists<'e> {
    /// The lists of the chunk. Each key is the memory address of a list's JSON text.
    feeds: HashMap<usize, ListFeed<'e>>,
    /// Number of parts for the nodes, and for the samples with their parallel lists.
    parts: [usize; 2],
}

impl<'e> ChunkLists<'e> {
    fn of(data: &'e [u8]) -> Self {
        let mut lists = ChunkLists { feeds: HashMap::default(), parts: [0, 0] };
        for (key, value) in members(data) {
            if string_is(key, b"cpuProfile") && value.starts_with(b"{") {
                for (key, value) in members(value) {
                    if string_is(key, b"nodes") {
                        lists.add(0, value);
                    } else if string_is(key, b"samples") {
                        lists.add(1, value);
                    }
                }
            } else if STEPS.iter().any(|step| string_is(key, step)) {
                lists.add(1, value);
            }
        }
        lists
    }

    /// Returns the number of parts before the first samples. The part with the first samples also
    /// has the last nodes.
    fn before_samples(&self) -> usize {
        self.parts[0].saturating_sub(1)
    }

    fn count(&self) -> usize {
        self.before_samples() + self.parts[1].max(1)
    }

    fn add(&mut self, kind: usize, list: &'e [u8]) {
        let mut cursor = Cursor::new(list);
        if !cursor.enter(b'[') {
            return;
        }
        self.feeds.insert(list.as_ptr() as usize, ListFeed(cursor.clone()));
        let mut count = 0usize;
        while cursor.next_element() {
            cursor.value();
            count += 1;
        }
        self.parts[kind] = self.parts[kind].max(count.div_ceil(MOST));
    }
}

#[derive(Clone, Copy)]
struct ChunkPart {
    /// Whether samples are written.
    samples: bool,
    /// Whether members that are not lists are written.
    rest: bool,
    last: bool,
}

/// Returns whether an event may be a chunk that is too large, judging by name and length.
#[inline]
pub(super) fn may_be_large(event: &Event<'_>) -> bool {
    // an element and its comma take two bytes
    event.bytes.len() > 2 * MOST && event.is_string(Field::Name, b"ProfileChunk")
}

/// Returns the `data` and the lists of a chunk, or `None` if the chunk is not too large.
fn large<'e>(event: &Event<'e>) -> Option<(&'e [u8], ChunkLists<'e>)> {
    if !may_be_large(event) {
        return None;
    }
    let data = member(event.field(Field::Args)?, b"data").filter(|data| data.starts_with(b"{"))?;
    let lists = ChunkLists::of(data);
    (lists.count() > 1).then_some((data, lists))
}

/// Returns the number of events that an event is split into, usually 1.
pub(super) fn count_parts(event: &Event<'_>) -> u64 {
    large(event).map_or(1, |(_, lists)| lists.count() as u64)
}

/// Splits a chunk. Returns the parts, joined by `separator`, and their number. Returns `None` if
/// the chunk is not too large.
pub(super) fn cut(event: &Event<'_>, separator: &[u8]) -> Option<(Vec<u8>, u64)> {
    let (data, mut lists) = large(event)?;
    let (first, count) = (lists.before_samples(), lists.count());
    let mut out = Vec::new();
    for number in 0..count {
        let part = ChunkPart {
            samples: number >= first,
            rest: number == first,
            last: number + 1 == count,
        };
        let mut patches = Patches::default();
        patches.replace(event.bytes, data, &data_of(data, part, &mut lists));
        out.extend_from_slice(if number > 0 { separator } else { b"" });
        out.extend_from_slice(&patches.apply(event.bytes));
    }
    Some((out, count as u64))
}

fn data_of(data: &[u8], part: ChunkPart, lists: &mut ChunkLists<'_>) -> Vec<u8> {
    let mut out = vec![b'{'];
    for (key, value) in members(data) {
        let is = |name: &[u8]| string_is(key, name);
        if is(b"cpuProfile") && value.starts_with(b"{") {
            push_key(key, &mut out);
            out.push(b'{');
            for (key, value) in members(value) {
                let samples = part.samples || string_is(key, b"nodes");
                push_list(key, value, ChunkPart { samples, ..part }, lists, &mut out);
            }
            out.push(b'}');
        } else if is(b"endTime") {
            if part.last {
                push_key(key, &mut out);
                out.extend_from_slice(value);
            }
        } else {
            push_list(key, value, part, lists, &mut out);
        }
    }
    out.push(b'}');
    out
}

fn push_key(key: &[u8], out: &mut Vec<u8>) {
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(key);
    out.push(b':');
}

/// Appends a member of `data` to a part: the next elements of a list, or an empty list if the part
/// has no samples. Any other member is appended only if `part.rest`.
fn push_list(
    key: &[u8],
    value: &[u8],
    part: ChunkPart,
    lists: &mut ChunkLists<'_>,
    out: &mut Vec<u8>,
) {
    match lists.feeds.get_mut(&(value.as_ptr() as usize)) {
        Some(feed) => {
            push_key(key, out);
            if part.samples { feed.write(out) } else { out.extend_from_slice(b"[]") }
        }
        None if part.rest => {
            push_key(key, out);
            out.extend_from_slice(value);
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use tracemill_tokenizer::fields_of;

    fn parts(event: &str) -> Option<Vec<Value>> {
        let spans = fields_of(event.as_bytes());
        let (text, count) = cut(&spans.of(event.as_bytes()), b",\n")?;
        let text = format!("[{}]", String::from_utf8(text).unwrap());
        let parts: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!((parts.len() as u64, count), (count, count_parts(&spans.of(event.as_bytes()))));
        Some(parts)
    }

    fn chunk(nodes: usize, samples: usize, steps: usize) -> String {
        let list = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        let nodes: Vec<String> = (0..nodes).map(|id| format!("{{\"id\":{id}}}")).collect();
        format!(
            "{{\"name\":\"ProfileChunk\",\"ts\":5,\"args\":{{\"data\":{{\"endTime\":9,\"cpuProfile\":{{\"nodes\":[{}],\
             \"samples\":[{}],\"trace_ids\":{{\"1\":2}}}},\"timeDeltas\":[{}],\"source\":\"Internal\"}}}},\"pid\":1}}",
            nodes.join(","),
            list(samples),
            list(steps)
        )
    }

    #[test]
    fn split_chunks_keep_every_element_and_the_limit() {
        for (nodes, samples, steps, count) in [
            (5, 10_001, 10_001, 2),
            (25_000, 7, 7, 3),
            (10_001, 30_000, 29_000, 4),
            (0, 1, 20_001, 3),
        ] {
            let parts = parts(&chunk(nodes, samples, steps)).unwrap();
            assert_eq!(parts.len(), count);
            let list = |path: &str| -> Vec<Value> {
                let lists =
                    parts.iter().map(|part| part.pointer(path).unwrap().as_array().unwrap());
                lists.inspect(|list| assert!(list.len() <= MOST)).flatten().cloned().collect()
            };
            assert_eq!(list("/args/data/cpuProfile/nodes").len(), nodes);
            let numbers = |count: usize| (0..count).map(Value::from).collect::<Vec<_>>();
            assert_eq!(list("/args/data/cpuProfile/samples"), numbers(samples));
            assert_eq!(list("/args/data/timeDeltas"), numbers(steps));
            let has = |path: &str| parts.iter().filter(|part| part.pointer(path).is_some()).count();
            assert_eq!(has("/args/data/source"), 1);
            assert_eq!(has("/args/data/cpuProfile/trace_ids"), 1);
            assert!(has("/args/data/endTime") == 1 && has("/ts") == count);
            assert!(parts[count - 1].pointer("/args/data/endTime").is_some());
            // all nodes precede the samples
            let sampled = |part: &Value| {
                !part
                    .pointer("/args/data/cpuProfile/samples")
                    .unwrap()
                    .as_array()
                    .unwrap()
                    .is_empty()
            };
            let first = parts.iter().position(sampled).unwrap_or(0);
            let later = parts[first + 1..].iter();
            let nodes = |part: &Value| part.pointer("/args/data/cpuProfile/nodes").cloned();
            assert!(later.map(nodes).all(|nodes| nodes == Some(Value::Array(Vec::new()))));
        }
        assert!(parts(&chunk(10_000, 10_000, 10_000)).is_none());
    }
}
