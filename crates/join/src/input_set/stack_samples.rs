//! CPU profiles from the top-level keys `samples` and `stackFrames`, as written by Hermes, XRay and
//! PerfView. Each thread becomes a profile like those of `ProfileChunk` events.
//!
//! ```text
//!   "stackFrames": {"1": {"name": "f"}, "2": {"name": "g", "parent": 1}} ─> nodes 1, 2 f, 3 g
//!   "samples": [{"ts": 10, "pid": 7, "tid": 8, "sf": 2}, …]              ─> one profile per thread
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use tracemill_cpuprofile::{Chunk, NO_ID, TextSpan};
use tracemill_tokenizer::{
    Cursor, members, nanos, number_text, string_is, unescape, unescaped_text,
};
use tracemill_trace::event::envelope::{Document, KeyValue};
use tracemill_trace::json::push_string;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::store::Store;

pub(super) struct StackSamples {
    pub(super) pid: Box<[u8]>,
    pub(super) tid: Box<[u8]>,
    /// Offset of the list of samples, which identifies the input.
    pub(super) offset: u64,
    /// Nodes of the call tree as JSON, shared by all threads of a document.
    nodes: Arc<Vec<u8>>,
    /// Time in nanoseconds and node id of each sample.
    samples: Vec<(i64, u64)>,
}

const ROOT: u64 = 1;

impl StackSamples {
    /// Reads the samples of all documents. Cost: a copy of the lists, and 16 bytes per sample.
    ///
    /// # Errors
    /// Returns [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if the lists exceed
    /// `quota`.
    pub(super) fn read(
        documents: &[Document],
        store: &Store<'_>,
        quota: &Quota,
    ) -> Result<Vec<Self>, Error> {
        let mut all: Vec<StackSamples> = Vec::new();
        for document in documents {
            let key = |name| document.keys.iter().rev().find(|key| string_is(&key.key, name));
            let (Some(samples), Some(frames)) = (key(b"samples"), key(b"stackFrames")) else {
                continue;
            };
            quota.check(2 * (samples.len + frames.len), "samples and stackFrames")?;
            let value = |key: &KeyValue| store.copy(key.offset..key.offset + key.len);
            let (nodes, ids) = nodes_of(&value(frames));
            let nodes = Arc::new(nodes);
            let list = value(samples);
            let mut numbers: HashMap<(&[u8], &[u8]), usize> = HashMap::new();
            let mut cursor = Cursor::new(&list);
            let is_list = cursor.enter(b'[');
            while is_list && cursor.next_element() {
                let [pid, tid, ts, frame] = named(cursor.value(), [b"pid", b"tid", b"ts", b"sf"]);
                let Some(ts) = ts.and_then(time) else { continue };
                let node = frame.and_then(|frame| ids.get(&content(frame))).copied();
                let [pid, tid] = [pid, tid].map(Option::unwrap_or_default);
                let at = *numbers.entry((pid, tid)).or_insert_with(|| {
                    let (offset, nodes) = (samples.offset, Arc::clone(&nodes));
                    let (pid, tid) = (pid.into(), tid.into());
                    all.push(StackSamples { pid, tid, offset, nodes, samples: Vec::new() });
                    all.len() - 1
                });
                all[at].samples.push((ts, node.unwrap_or(NO_ID)));
            }
        }
        all.iter_mut().for_each(|thread| thread.samples.sort_by_key(|(ts, _)| *ts));
        Ok(all)
    }

    /// Returns the first time in microseconds.
    pub(super) fn start(&self) -> String {
        let start = self.samples.first().map_or(0, |(ts, _)| *ts);
        let (sign, size) = (if start < 0 { "-" } else { "" }, start.unsigned_abs());
        format!("{sign}{}.{:03}", size / 1000, size % 1000)
    }

    pub(super) fn chunk(&self) -> Chunk {
        let mut chunk = Chunk::default();
        chunk.read_member(b"nodes", &self.nodes, TextSpan::DECODED);
        chunk.decoded_text.clone_from(&self.nodes);
        let mut before = self.samples.first().map_or(0, |(ts, _)| *ts);
        for &(ts, node) in &self.samples {
            chunk.samples.push(node);
            chunk.deltas.push(ts.saturating_sub(before));
            before = ts;
        }
        chunk
    }
}

/// Converts stack frames to nodes. Returns the nodes as JSON, and the node id of each frame id.
fn nodes_of(frames: &[u8]) -> (Vec<u8>, HashMap<Vec<u8>, u64>) {
    let mut ids: HashMap<Vec<u8>, u64> = HashMap::new();
    let mut next = ROOT;
    for (key, frame) in members(frames) {
        let id = if is_root(frame) { ROOT } else { next + 1 };
        next = next.max(id);
        ids.insert(content(key), id);
    }
    let mut nodes = format!(
        r#"[{{"id":{ROOT},"callFrame":{{"functionName":"(root)","scriptId":"0","url":""}}}}"#
    )
    .into_bytes();
    for (key, frame) in members(frames).filter(|(_, frame)| !is_root(frame)) {
        let [name, parent, line, column] = named(frame, [b"name", b"parent", b"line", b"column"]);
        let id = ids[&content(key)];
        let parent =
            parent.and_then(|parent_id| ids.get(&content(parent_id))).copied().unwrap_or(ROOT);
        nodes.extend_from_slice(
            format!(r#",{{"id":{id},"parent":{parent},"callFrame":{{"scriptId":"0","url":"","functionName":"#)
                .as_bytes(),
        );
        push_string(&name.map_or_else(String::new, text), &mut nodes);
        for (key, value) in [("lineNumber", line), ("columnNumber", column)] {
            let number = value.and_then(|digits| text(digits).parse::<i64>().ok());
            let number = number.map_or(-1, |position| position.saturating_sub(1));
            nodes.extend_from_slice(format!(r#","{key}":{number}"#).as_bytes());
        }
        nodes.extend_from_slice(b"}}");
    }
    nodes.push(b']');
    (nodes, ids)
}

/// Returns whether a frame is the root of all stacks.
fn is_root(frame: &[u8]) -> bool {
    let [name, category, parent] = named(frame, [b"name", b"category", b"parent"]);
    let is = |value: Option<&[u8]>, text: &[u8]| value.is_some_and(|bytes| string_is(bytes, text));
    parent.is_none() && (is(category, b"root") || is(name, b"[root]") || is(name, b"(root)"))
}

/// Returns the last member of an object with each of these names.
pub(super) fn named<'v, const N: usize>(
    object: &'v [u8],
    names: [&[u8]; N],
) -> [Option<&'v [u8]>; N] {
    let mut found = [None; N];
    for (key, value) in members(object) {
        if let Some(at) = names.iter().position(|name| string_is(key, name)) {
            found[at] = Some(value);
        }
    }
    found
}

/// Returns a number as written, or a string unescaped.
pub(super) fn content(value: &[u8]) -> Vec<u8> {
    let [b'"', content @ .., b'"'] = value else { return value.to_vec() };
    let mut out = Vec::with_capacity(content.len());
    unescape(content, &mut out);
    out
}

pub(super) fn text(value: &[u8]) -> String {
    unescaped_text(&content(value))
}

fn time(value: &[u8]) -> Option<i64> {
    Some(nanos(number_text(value, &mut Vec::new())?)?.floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_nodes_below_one_root() {
        let frames = br#"{"5":{"name":"[root]","category":"root"},"a":{"name":"f\"","line":"3","parent":"5"},"7":{"name":"g","parent":"a"},"8":{"name":"alone"}}"#;
        let (nodes, ids) = nodes_of(frames);
        let id = |key: &str| ids[key.as_bytes()];
        assert_eq!([id("5"), id("a"), id("7"), id("8")], [1, 2, 3, 4]);
        let mut chunk = Chunk::default();
        chunk.read_member(b"nodes", &nodes, 0);
        let parents: Vec<u64> = chunk.nodes.iter().map(|node| node.parent).collect();
        assert_eq!(parents, [NO_ID, 1, 2, 1]);
        let json = String::from_utf8(nodes).expect("UTF-8");
        assert!(
            json.contains(r#""functionName":"f\"","lineNumber":2,"columnNumber":-1"#),
            "{json}"
        );
    }
}
