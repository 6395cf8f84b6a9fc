//! Writes the text of each generated event.
//!
//! Keys are in the order `args`, `cat`, `name`, `ph`, `id` or `s`, `pid`, `tid`, `ts`. Start and
//! end are written as in the file, other times with as few digits as possible. Invalid text is
//! repaired and counted, so the events are always valid JSON.

use super::samples::SampleBatch;
use super::{MOST, NextEvent, PROFILER, ProfileEvents};
use crate::chunk::NO_HITS;
use crate::tree::assembled::text_of;
use crate::write::{CallFrame, Changed};
use std::sync::Arc;
use tracemill_trace::json::{
    micros, push_integer, push_micros, push_sound, push_sound_key, push_string,
};
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::store::Store;

impl ProfileEvents {
    /// Writes the events before all chunks: names, the instant, and the `Profile` event.
    pub(super) fn open(&mut self) {
        self.out.extend_from_slice(b"{\"traceEvents\":[\n");
        let names = [self.identity.process_name.clone(), self.identity.thread_name.clone()];
        for (event, name) in ["process_name", "thread_name"].into_iter().zip(&names) {
            self.begin("{\"args\":{\"name\":");
            push_string(name, &mut self.out);
            self.end("}", "__metadata", event, "M", b"0");
        }
        let start = self.start.clone();
        for (cat, event, phase) in
            [("v8", "CpuProfiler::StartProfiling", "I"), (PROFILER, "Profile", "P")]
        {
            self.begin("{\"args\":{\"data\":{\"startTime\":");
            self.out.extend_from_slice(&start);
            self.end("}}", cat, event, phase, &start);
        }
    }

    /// Begins an event with `text`, after a comma if it is not the first event.
    fn begin(&mut self, text: &str) {
        if self.out.last() != Some(&b'\n') {
            self.out.extend_from_slice(b",\n");
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Ends an event: closes its args and writes the other keys.
    fn end(&mut self, close: &str, cat: &str, name: &str, phase: &str, ts: &[u8]) {
        let out = &mut self.out;
        out.extend_from_slice(close.as_bytes());
        for (key, value) in [("cat", cat), ("name", name), ("ph", phase)] {
            out.extend_from_slice(format!(",\"{key}\":\"{value}\"").as_bytes());
        }
        match phase {
            "P" => out.extend_from_slice(format!(",\"id\":\"{}\"", self.identity.id).as_bytes()),
            "I" => out.extend_from_slice(b",\"s\":\"t\""),
            _ => {}
        }
        out.extend_from_slice(b",\"pid\":");
        push_integer(self.identity.pid, out);
        out.extend_from_slice(b",\"tid\":");
        push_integer(self.identity.tid, out);
        out.extend_from_slice(b",\"ts\":");
        out.extend_from_slice(ts);
        out.push(b'}');
    }

    /// Writes one chunk of samples, preceded by chunks of nodes if the samples need many.
    pub(super) fn make_samples(&mut self) {
        let payload = Arc::clone(&self.payload);
        let store = Store::of_one(&payload);
        let mut batch = SampleBatch::default();
        let more = self.read_samples(&store, &mut batch);
        if !more {
            self.note_unpaired(&store);
            self.stage = NextEvent::Nodes;
        }
        if batch.nodes.is_empty() {
            return;
        }
        let needed = batch.nodes.iter().map(|&node| self.position(node) + 1).max();
        let needed = needed.unwrap_or(0).max(self.sent);
        self.send_nodes(needed - (needed - self.sent).min(MOST));
        self.ts = self.ts.max(batch.first);
        self.begin("{\"args\":{\"data\":{\"cpuProfile\":{");
        self.push_nodes(needed);
        self.out.extend_from_slice(if self.out.last() == Some(&b'{') { b"" } else { b"," });
        push_list("\"samples\":[", &batch.nodes, &mut self.out, |&node, out| {
            push_integer(self.tree.id(node), out);
        });
        self.out.push(b'}');
        push_list(",\"timeDeltas\":[", &batch.deltas, &mut self.out, |&ns, out| {
            push_micros(ns, out)
        });
        for (key, list, numbers) in [
            (",\"lines\":[", self.positions[0], &batch.positions[0]),
            (",\"columns\":[", self.positions[1], &batch.positions[1]),
        ] {
            if list.given {
                push_list(key, numbers, &mut self.out, |&number, out| push_integer(number, out));
            }
        }
        let ts = micros(self.ts);
        self.end("}}", PROFILER, "ProfileChunk", "P", &ts);
    }

    /// Writes chunks with nodes only, up to position `end`.
    pub(super) fn send_nodes(&mut self, end: usize) {
        while self.sent < end {
            self.begin("{\"args\":{\"data\":{\"cpuProfile\":{");
            self.push_nodes((self.sent + MOST).min(end));
            let ts = micros(self.ts);
            self.end("}}}", PROFILER, "ProfileChunk", "P", &ts);
        }
    }

    fn push_nodes(&mut self, end: usize) {
        if self.sent == end {
            return;
        }
        let payload = Arc::clone(&self.payload);
        let store = Store::of_one(&payload);
        let (tree, decoded_text) = (&self.tree, &self.decoded_text);
        let mut flaws = Flaws::default();
        let nodes: Vec<u32> = (self.sent..end).map(|at| self.node(at)).collect();
        push_list("\"nodes\":[", &nodes, &mut self.out, |&node, out| {
            let text = tree.texts[node as usize];
            let frame = CallFrame::of(text_of(text, &store, decoded_text));
            let mut changed = Changed::default();
            out.extend_from_slice(b"{\"callFrame\":");
            frame.write(out, &mut changed);
            out.extend_from_slice(b",\"id\":");
            push_integer(tree.id(node), out);
            if node != tree.root {
                out.extend_from_slice(b",\"parent\":");
                push_integer(tree.id(tree.parents[node as usize]), out);
            }
            if tree.hits[node as usize] != NO_HITS {
                out.extend_from_slice(b",\"hitCount\":");
                push_integer(tree.hits[node as usize], out);
            }
            frame.write_others(out, &mut changed);
            changed.note(text.offset, &mut flaws);
            out.push(b'}');
        });
        self.sent = end;
        self.note(&flaws);
    }

    /// Writes the events after all chunks: the end with all unknown keys, and the last instant.
    ///
    /// Timestamps never decrease, even if the profile ends before its last sample.
    pub(super) fn close(&mut self) {
        let payload = Arc::clone(&self.payload);
        let store = Store::of_one(&payload);
        let (end_text, end) =
            self.end.clone().unwrap_or_else(|| (micros(self.last).into(), self.last));
        let (mut members, mut flaws) = (Vec::new(), Flaws::default());
        self.push_trace_ids(&store, &mut members, &mut flaws);
        for (key, (offset, len)) in &self.extras {
            members.extend_from_slice(if members.is_empty() { b"" } else { b"," });
            let key = !push_sound_key(key, &mut members);
            members.push(b':');
            let value = !push_sound(store.slice(*offset, *len), &mut members);
            flaws.add_many(FlawKind::Text, *offset, u64::from(key) + u64::from(value));
        }
        self.note(&flaws);
        self.begin("{\"args\":{\"data\":{");
        if !members.is_empty() {
            self.out.extend_from_slice(b"\"cpuProfile\":{");
            self.out.extend_from_slice(&members);
            self.out.extend_from_slice(b"},");
        }
        self.out.extend_from_slice(b"\"endTime\":");
        self.out.extend_from_slice(&end_text);
        self.ts = self.ts.max(self.last);
        let ts = micros(self.ts);
        self.end("}}", PROFILER, "ProfileChunk", "P", &ts);
        self.begin("{\"args\":{\"data\":{\"endTime\":");
        self.out.extend_from_slice(&end_text);
        let ts = micros(self.ts.max(end));
        self.end("}}", "v8", "CpuProfiler::StopProfiling", "I", &ts);
        self.out.extend_from_slice(b"\n]}\n");
    }

    fn push_trace_ids(&self, store: &Store<'_>, out: &mut Vec<u8>, flaws: &mut Flaws) {
        let mut separator: &[u8] = b"\"trace_ids\":{";
        for entry in &self.trace_ids {
            let Some(node) = self.tree.number(entry.node) else {
                flaws.add(FlawKind::TraceId, entry.key.offset);
                continue;
            };
            out.extend_from_slice(separator);
            let changed = !push_sound_key(text_of(entry.key, store, &self.decoded_text), out);
            flaws.add_many(FlawKind::Text, entry.key.offset, u64::from(changed));
            out.push(b':');
            push_integer(self.tree.id(node), out);
            separator = b",";
        }
        if separator == b"," {
            out.push(b'}');
        }
    }
}

/// Appends `open`, the comma-separated items as written by `push`, and a bracket.
fn push_list<T>(
    open: &str,
    items: &[T],
    out: &mut Vec<u8>,
    mut push: impl FnMut(&T, &mut Vec<u8>),
) {
    out.extend_from_slice(open.as_bytes());
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        push(item, out);
    }
    out.push(b']');
}
