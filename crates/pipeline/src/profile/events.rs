//! A `.cpuprofile` as the trace events that V8 would have streamed.
//!
//! ```text
//! process_name, thread_name
//! I CpuProfiler::StartProfiling
//! P Profile               ts = startTime, as it is written
//! P ProfileChunk …        at most 10,000 samples and 10,000 nodes, nodes before the samples that need them
//! P ProfileChunk          endTime; keys of the profile that have no other place
//! I CpuProfiler::StopProfiling
//! ```
//!
//! 10,000, because DevTools fails on chunks of 125,000 (devtools-semantics §1.12). The instants are there because
//! DevTools shows a thread only if its process has any event but P (§9.5). Nodes keep their order and ids, so what is
//! extracted from the events again is what went in.
//!
//! The events are made on demand, as a stream that the scanner reads like a pipe. Of the profile only the call tree is
//! in memory (about 60 bytes a node); samples and times are read from the input as they are needed.

use super::assemble::text_of;
use super::browser::Started;
use super::chunk::{Chunk, NO_HITS, Text, TraceId};
use super::flaws::{FlawKind, Flaws};
use super::identity::Identity;
use super::json::{push_integer, push_micros, push_sound, push_string};
use super::list::{List, Span, Steps, time};
use super::tree::{Builder, Tree};
use super::write::Frame;
use crate::index::Document;
use crate::store::{Payload, Store};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::{nanos, number_text, string_is};

/// Samples, and nodes, of a chunk at most.
const MOST: usize = 10_000;
/// The start of a profile that does not say: DevTools overlooks events at 0.
const START: i64 = 1000;
/// The category of the events of a stream.
const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Opening,
    Samples,
    Nodes,
    Closing,
    Done,
}

/// Makes the events of one profile; see the module doc.
pub(crate) struct Events {
    payload: Arc<Payload>,
    identity: Identity,
    tree: Tree,
    made: Vec<u8>,
    trace_ids: Vec<TraceId>,
    /// Nodes in the order in which they are sent, and where each stands in it.
    order: Vec<u32>,
    position: Vec<u32>,
    sent: usize,
    samples: List,
    steps: Steps,
    times: List,
    positions: [List; 2],
    /// Keys with no other place: key and value.
    extras: Vec<(Box<[u8]>, Span)>,
    /// As it is written.
    start: Box<[u8]>,
    start_ns: i64,
    end: Option<(Box<[u8]>, i64)>,
    /// Nanoseconds: of the sample before, of the last event, of the latest sample.
    time: i64,
    /// Steps of samples that name no node: they belong to the next one.
    carried: i64,
    /// Samples without times.
    surplus: u64,
    ts: i64,
    last: i64,
    stage: Stage,
    out: Vec<u8>,
    at: usize,
    flaws: Arc<Mutex<Flaws>>,
}

/// Whether a document of the plain form is a CPU profile.
pub(crate) fn is_profile(document: &Document) -> bool {
    document.form == tracemill_tokenizer::Form::Plain
        && document.keys.iter().any(|k| string_is(&k.key, b"nodes") || string_is(&k.key, b"head"))
}

/// What tells a profile from others, for its stream's id.
pub(crate) fn content(document: &Document, store: &Store<'_>) -> Vec<u8> {
    let short = document.keys.iter().filter(|key| key.len < 64);
    let mut content: Vec<u8> =
        short.flat_map(|key| [&key.key, store.slice(key.offset, key.len)].concat()).collect();
    content.extend(document.keys.iter().flat_map(|key| key.len.to_le_bytes()));
    content
}

impl Events {
    /// For the profile `document` of an input; offsets are those of the input. Cost: one pass over the nodes.
    pub(crate) fn new(
        payload: Arc<Payload>,
        document: &Document,
        identity: Identity,
        flaws: Arc<Mutex<Flaws>>,
    ) -> Self {
        let store = Store::new(std::iter::once((0, &*payload)), Vec::new());
        let mut own = Flaws::default();
        let value = |name: &[u8]| {
            let key = document.keys.iter().rev().find(|key| string_is(&key.key, name))?;
            Some((key.offset, key.len))
        };
        let mut chunk = Chunk::default();
        for name in [&b"nodes"[..], b"head", b"trace_ids", b"traceIds"] {
            if let Some((offset, len)) = value(name) {
                chunk.read_member(name, store.slice(offset, len), offset);
            }
        }
        own.append(&chunk.flaws);
        let tree = tree_of(&chunk, &store, &mut own);
        let order = tree.parents_first();
        let mut position = vec![0; order.len()];
        (0..).zip(&order).for_each(|(at, &node)| position[node as usize] = at);
        let samples = List::new(value(b"samples"), &store, &mut own);
        let deltas = List::new(value(b"timeDeltas"), &store, &mut own);
        let stamps = List::new(value(b"timestamps"), &store, &mut own);
        let (steps, times) = match (deltas.given, stamps.given) {
            (true, _) => (Steps::Deltas, deltas),
            (false, true) => (Steps::Times(None), stamps),
            (false, false) => {
                let count = samples.count(&store);
                (Steps::Even { taken: 0, count }, List::default())
            }
        };
        let [lines, columns] =
            [&b"lines"[..], b"columns"].map(|name| List::new(value(name), &store, &mut own));
        let mut this = Events {
            identity,
            made: chunk.made,
            trace_ids: chunk.trace_ids,
            tree,
            order,
            position,
            sent: 0,
            samples,
            steps,
            times,
            positions: [lines, columns],
            extras: extras(document),
            start: Box::default(),
            start_ns: 0,
            end: None,
            time: 0,
            carried: 0,
            surplus: 0,
            ts: 0,
            last: 0,
            stage: Stage::Opening,
            out: Vec::new(),
            at: 0,
            payload: Arc::clone(&payload),
            flaws,
        };
        this.find_bounds(value(b"startTime"), value(b"endTime"), &store, &mut own);
        this.note(&own);
        this
    }

    /// What the others need to know of it.
    pub(crate) fn started(&self) -> Started {
        let Identity { pid, tid, is_main, .. } = self.identity;
        Started { pid, tid, is_main, start: self.start_ns }
    }

    fn note(&self, flaws: &Flaws) {
        self.flaws.lock().unwrap_or_else(PoisonError::into_inner).append(flaws);
    }

    /// Start and end as they are written, or guessed.
    fn find_bounds(
        &mut self,
        start: Option<Span>,
        end: Option<Span>,
        store: &Store<'_>,
        flaws: &mut Flaws,
    ) {
        let number = |span: Option<Span>| {
            let (offset, len) = span?;
            let mut scratch = Vec::new();
            let text = number_text(store.slice(offset, len), &mut scratch)?;
            Some((Box::<[u8]>::from(text), nanos(text)?))
        };
        if matches!(self.steps, Steps::Times(_)) {
            // start and end are in seconds, often whole: the times decide, as in DevTools
            let mut times = self.times;
            let mut first = None;
            times.read(store, |cursor, _| {
                first = time(cursor).map(|(time, _)| time);
                false
            });
            self.start_ns = first.unwrap_or(START);
            self.start = text(self.start_ns);
        } else {
            self.end = number(end).map(|(text, end)| (text, end.floor));
            match number(start) {
                Some((text, start)) => {
                    self.start = text;
                    // what is later than this must not come before it
                    self.start_ns = start.floor + i64::from(!start.exact);
                }
                None => {
                    let nowhere = start.or(end).map_or(0, |(offset, _)| offset);
                    flaws.add(FlawKind::NoStart, nowhere);
                    self.start_ns = self.guess_start(store);
                    self.start = text(self.start_ns);
                }
            }
        }
        if let Steps::Even { count: 1.., .. } = self.steps {
            let kind = if self.end.is_some() { FlawKind::Untimed } else { FlawKind::Unpaired };
            flaws.add(kind, self.samples.rest.0);
        }
        (self.time, self.ts, self.last) = (self.start_ns, self.start_ns, self.start_ns);
    }

    /// The end less all steps, if there is an end.
    fn guess_start(&self, store: &Store<'_>) -> i64 {
        let Some((_, end)) = self.end else { return START };
        let (mut times, mut sum) = (self.times, 0i64);
        times.read(store, |cursor, _| {
            sum = sum.saturating_add(time(cursor).map_or(0, |(time, _)| time));
            true
        });
        end.saturating_sub(sum)
    }

    /// Appends the next event, or few.
    fn make(&mut self) {
        match self.stage {
            Stage::Opening => {
                self.open();
                self.stage = Stage::Samples;
            }
            Stage::Samples => self.make_samples(),
            Stage::Nodes => {
                self.send_nodes(self.order.len());
                self.stage = Stage::Closing;
            }
            Stage::Closing => {
                self.close();
                self.stage = Stage::Done;
            }
            Stage::Done => {}
        }
    }

    fn open(&mut self) {
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

    /// Begins an event, which is not the first of all.
    fn begin(&mut self, text: &str) {
        if self.out.last() != Some(&b'\n') {
            self.out.extend_from_slice(b",\n");
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    /// Ends an event: what closes its args, and the envelope.
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

    /// One chunk of samples, behind chunks of nodes where it needs many.
    fn make_samples(&mut self) {
        let payload = Arc::clone(&self.payload);
        let store = Store::new(std::iter::once((0, &*payload)), Vec::new());
        let mut batch = Batch::default();
        let more = self.read_samples(&store, &mut batch);
        if !more {
            self.note_unpaired(&store);
            self.stage = Stage::Nodes;
        }
        if batch.nodes.is_empty() {
            return;
        }
        let needed = batch.nodes.iter().map(|&node| self.position[node as usize] + 1).max();
        let needed = (needed.unwrap_or(0) as usize).max(self.sent);
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
        let ts = text(self.ts);
        self.end("}}", PROFILER, "ProfileChunk", "P", &ts);
    }

    /// Reads the next samples that name a node; false if those were the last.
    fn read_samples(&mut self, store: &Store<'_>, batch: &mut Batch) -> bool {
        let mut flaws = Flaws::default();
        let mut ids = Vec::with_capacity(MOST);
        self.samples.read(store, |cursor, at| {
            ids.push((cursor.integer().and_then(|id| u64::try_from(id).ok()), at));
            if ids.last().is_some_and(|(id, _)| id.is_none()) {
                let value = cursor.value();
                let odd = ids.last_mut().expect("pushed above");
                odd.0 = number_text(value, &mut Vec::new())
                    .and_then(|text| std::str::from_utf8(text).ok()?.parse().ok());
            }
            ids.len() < MOST
        });
        let mut steps = self.read_steps(store, ids.len(), &mut flaws);
        let more = ids.len() == MOST && steps.len() == MOST;
        self.surplus += (ids.len() - steps.len()) as u64;
        ids.truncate(steps.len());
        let positions = self.read_positions(store, ids.len(), &mut flaws);
        for (i, &(id, at)) in ids.iter().enumerate() {
            self.time = self.time.saturating_add(steps[i]);
            match id.and_then(|id| self.tree.number(id)) {
                Some(node) => {
                    if batch.nodes.is_empty() {
                        batch.first = self.time;
                    }
                    self.last = self.last.max(self.time);
                    batch.nodes.push(node);
                    batch.deltas.push(steps[i].saturating_add(std::mem::take(&mut self.carried)));
                    for (list, own) in batch.positions.iter_mut().zip(&positions) {
                        list.push(own.get(i).copied().unwrap_or(0));
                    }
                }
                None => {
                    self.carried = self.carried.saturating_add(steps[i]);
                    flaws.add(FlawKind::Sample, at);
                }
            }
        }
        steps.clear();
        self.note(&flaws);
        more
    }

    /// The steps of the next `count` samples, as many as there are.
    fn read_steps(&mut self, store: &Store<'_>, count: usize, flaws: &mut Flaws) -> Vec<i64> {
        let mut steps = Vec::with_capacity(count);
        if count == 0 {
            return steps;
        }
        if let Steps::Even { taken, count: all } = &mut self.steps {
            let Some((_, end)) = self.end else { return steps };
            let duration = i128::from(end.saturating_sub(self.start_ns).max(0));
            let time = |sample: u64| (duration * i128::from(sample) / i128::from(*all)) as i64;
            let samples = *taken..*taken + count as u64;
            steps.extend(samples.map(|i| time(i) - time(i.saturating_sub(1))));
            *taken += count as u64;
            return steps;
        }
        let mut before = match self.steps {
            Steps::Times(last) => Some(last.unwrap_or(self.start_ns)),
            _ => None,
        };
        self.times.read(store, |cursor, at| {
            let read = time(cursor);
            match read {
                None => flaws.add(FlawKind::Delta, at),
                Some((_, false)) => flaws.add(FlawKind::Rounded, at),
                Some(_) => {}
            }
            let read = read.map(|(time, _)| time);
            steps.push(match &mut before {
                None => read.unwrap_or(0),
                Some(before) => {
                    let time = read.unwrap_or(*before);
                    time.saturating_sub(std::mem::replace(before, time))
                }
            });
            steps.len() < count
        });
        if let Steps::Times(last) = &mut self.steps {
            *last = before;
        }
        steps
    }

    /// Lines and columns of the next `count` samples.
    fn read_positions(
        &mut self,
        store: &Store<'_>,
        count: usize,
        flaws: &mut Flaws,
    ) -> [Vec<i64>; 2] {
        let mut lists = [Vec::new(), Vec::new()];
        for (list, numbers) in self.positions.iter_mut().zip(&mut lists) {
            if !list.given || count == 0 {
                continue;
            }
            list.read(store, |cursor, at| {
                let number = cursor.integer();
                if number.is_none() {
                    flaws.add(FlawKind::Lines, at);
                    cursor.value();
                }
                numbers.push(number.unwrap_or(0));
                numbers.len() < count
            });
            if numbers.len() < count {
                flaws.add(FlawKind::Lines, list.rest.0);
            }
        }
        lists
    }

    /// Counts samples without times and times without samples.
    fn note_unpaired(&self, store: &Store<'_>) {
        let mut flaws = Flaws::default();
        let surplus = self.surplus + self.samples.count(store) + self.times.count(store);
        flaws.add_many(FlawKind::Unpaired, self.samples.rest.0, surplus);
        self.note(&flaws);
    }

    /// Chunks of nodes alone, up to the node before `end`.
    fn send_nodes(&mut self, end: usize) {
        while self.sent < end {
            self.begin("{\"args\":{\"data\":{\"cpuProfile\":{");
            self.push_nodes((self.sent + MOST).min(end));
            let ts = text(self.ts);
            self.end("}}}", PROFILER, "ProfileChunk", "P", &ts);
        }
    }

    /// The nodes before `end` that were not sent yet.
    fn push_nodes(&mut self, end: usize) {
        if self.sent == end {
            return;
        }
        let payload = Arc::clone(&self.payload);
        let store = Store::new(std::iter::once((0, &*payload)), Vec::new());
        let (tree, made, repaired) = (&self.tree, &self.made, &mut 0);
        push_list("\"nodes\":[", &self.order[self.sent..end], &mut self.out, |&node, out| {
            let frame = Frame::of(text_of(tree.texts[node as usize], &store, made));
            out.extend_from_slice(b"{\"callFrame\":");
            *repaired += frame.write(out);
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
            *repaired += frame.write_others(out);
            out.push(b'}');
        });
        let mut flaws = Flaws::default();
        flaws.add_many(
            FlawKind::Text,
            tree.texts[self.order[self.sent] as usize].offset,
            *repaired,
        );
        self.sent = end;
        self.note(&flaws);
    }

    fn close(&mut self) {
        let payload = Arc::clone(&self.payload);
        let store = Store::new(std::iter::once((0, &*payload)), Vec::new());
        let (end_text, end) = self.end.clone().unwrap_or_else(|| (text(self.last), self.last));
        let mut members: Vec<u8> = Vec::new();
        self.push_trace_ids(&store, &mut members);
        for (key, (offset, len)) in &self.extras {
            members.extend_from_slice(if members.is_empty() { b"" } else { b"," });
            members.extend_from_slice(key);
            members.push(b':');
            push_sound(store.slice(*offset, *len), &mut members);
        }
        self.begin("{\"args\":{\"data\":{");
        if !members.is_empty() {
            self.out.extend_from_slice(b"\"cpuProfile\":{");
            self.out.extend_from_slice(&members);
            self.out.extend_from_slice(b"},");
        }
        self.out.extend_from_slice(b"\"endTime\":");
        self.out.extend_from_slice(&end_text);
        self.ts = self.ts.max(self.last);
        let ts = text(self.ts);
        self.end("}}", PROFILER, "ProfileChunk", "P", &ts);
        self.begin("{\"args\":{\"data\":{\"endTime\":");
        self.out.extend_from_slice(&end_text);
        let ts = text(self.ts.max(end));
        self.end("}}", "v8", "CpuProfiler::StopProfiling", "I", &ts);
        self.out.extend_from_slice(b"\n]}\n");
    }

    fn push_trace_ids(&self, store: &Store<'_>, out: &mut Vec<u8>) {
        let mut flaws = Flaws::default();
        let mut separator: &[u8] = b"\"trace_ids\":{";
        for entry in &self.trace_ids {
            let Some(node) = self.tree.number(entry.node) else {
                flaws.add(FlawKind::TraceId, entry.key.offset);
                continue;
            };
            out.extend_from_slice(separator);
            out.extend_from_slice(text_of(entry.key, store, &self.made));
            out.push(b':');
            push_integer(self.tree.id(node), out);
            separator = b",";
        }
        if separator == b"," {
            out.push(b'}');
        }
        self.note(&flaws);
    }
}

impl Read for Events {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.out.len() && self.stage != Stage::Done {
            self.out.clear();
            self.at = 0;
            self.make();
        }
        let count = buffer.len().min(self.out.len() - self.at);
        buffer[..count].copy_from_slice(&self.out[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

/// Samples of a chunk.
#[derive(Default)]
struct Batch {
    nodes: Vec<u32>,
    deltas: Vec<i64>,
    positions: [Vec<i64>; 2],
    /// Time of the first of them.
    first: i64,
}

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

/// Nanoseconds as the text of microseconds.
fn text(ns: i64) -> Box<[u8]> {
    let mut text = Vec::new();
    push_micros(ns, &mut text);
    text.into()
}

fn tree_of(chunk: &Chunk, store: &Store<'_>, flaws: &mut Flaws) -> Tree {
    let mut builder = Builder::default();
    let bytes = |text: Text| text_of(text, store, &chunk.made);
    for node in &chunk.nodes {
        let same = |earlier| bytes(earlier) == bytes(node.text);
        builder.add(node, &chunk.children, node.text, same, flaws);
    }
    builder.finish(flaws)
}

/// Keys that the events have no other place for.
fn extras(document: &Document) -> Vec<(Box<[u8]>, Span)> {
    const KNOWN: [&[u8]; 11] = [
        b"nodes",
        b"head",
        b"samples",
        b"timeDeltas",
        b"timestamps",
        b"lines",
        b"columns",
        b"trace_ids",
        b"traceIds",
        b"startTime",
        b"endTime",
    ];
    let unknown =
        document.keys.iter().filter(|k| !KNOWN.iter().any(|known| string_is(&k.key, known)));
    unknown.map(|key| (key.key.clone(), (key.offset, key.len))).collect()
}
