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
//! 10,000, because DevTools fails on chunks of 125,000. The instants are there because
//! DevTools shows a thread only if its process has any event but P. Nodes keep their order and ids, so what is
//! extracted from the events again is what went in.
//!
//! The events are made on demand, as a stream that the scanner reads like a pipe. Of the profile only the call tree is
//! in memory (about 60 bytes a node); samples and times are read from the input as they are needed:
//!
//! ```text
//!   input   {"nodes":[…],"startTime":…,"samples":[9,9,4,…],"timeDeltas":[5,7,6,…]}
//!                 │                              ^ list        ^ list               places of what is next
//!                 v                              └── 10,000 ───┘ ─> one chunk of text, then the next ones
//!               tree ── nodes that a chunk is the first to need ──┘
//! ```
//!
//! What is wrong with the profile is counted where it is found, by its place in the input, in flaws that the session shares: so a stream that is
//! read to its end has told all. A profile without a start gets one by a guess, which is counted; one without an end ends with its latest sample.

pub(crate) mod browser;
pub(crate) mod identity;
pub(crate) mod inputs;
mod list;
pub(crate) mod nested;
mod samples;
mod text;

use crate::chunk::text::TextSpan;
use crate::chunk::{Chunk, TraceId};
use crate::events::browser::StartedProfile;
use crate::events::identity::Identity;
use crate::tree::assembled::text_of;
use tracemill_trace::json::micros;
use tracemill_trace::run::flaws::{FlawKind, Flaws};

use crate::tree::{Builder, Tree};
use list::{ArrayReader, Steps, ValueSpan, time};
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use tracemill_tokenizer::{nanos, number_text, string_is};
use tracemill_trace::event::envelope::Document;
use tracemill_trace::store::{Payload, Store};

/// Samples, and nodes, of a chunk at most.
const MOST: usize = 10_000;
/// The start of a profile that does not say: DevTools overlooks events at 0.
const START: i64 = 1000;
/// The category of the events of a stream.
const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";

/// Which event comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextEvent {
    /// What stands before all chunks.
    Opening,
    Samples,
    /// Nodes that no sample needed.
    Nodes,
    /// What stands behind all chunks.
    Closing,
    Done,
}

/// Makes the events of one profile; see the module doc.
pub(crate) struct ProfileEvents {
    payload: Arc<Payload>,
    identity: Identity,
    tree: Tree,
    decoded_text: Vec<u8>,
    trace_ids: Vec<TraceId>,
    /// Nodes in the order in which they are sent, and where each stands in it; `None` if that is how they came.
    order: Option<(Vec<u32>, Vec<u32>)>,
    /// How many nodes were sent, in that order.
    sent: usize,
    samples: ArrayReader,
    steps: Steps,
    times: ArrayReader,
    positions: [ArrayReader; 2],
    /// Keys with no other place: key and value.
    extras: Vec<(Box<[u8]>, ValueSpan)>,
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
    stage: NextEvent,
    out: Vec<u8>,
    /// How much of `out` was read.
    at: usize,
    flaws: Arc<Mutex<Flaws>>,
}

/// Whether a document of the plain form is a CPU profile.
pub(crate) fn is_profile(document: &Document) -> bool {
    document.form == tracemill_tokenizer::Form::Plain
        && document.keys.iter().any(|k| string_is(&k.key, b"nodes") || string_is(&k.key, b"head"))
}

/// What tells a profile from others, for its stream's id: its short members with their keys, and how long all of them are. Cost: some hundred
/// bytes; lists are not looked at.
pub fn content(document: &Document, store: &Store<'_>) -> Vec<u8> {
    let short = document.keys.iter().filter(|key| key.len < 64);
    let mut content: Vec<u8> =
        short.flat_map(|key| [&key.key, store.slice(key.offset, key.len)].concat()).collect();
    content.extend(document.keys.iter().flat_map(|key| key.len.to_le_bytes()));
    content
}

impl ProfileEvents {
    /// For the profile `document` of an input; offsets are those of the input. Cost: one pass over the nodes.
    pub(crate) fn new(
        payload: Arc<Payload>,
        document: &Document,
        identity: Identity,
        flaws: Arc<Mutex<Flaws>>,
    ) -> Self {
        let store = Store::of_one(&payload);
        let mut own = Flaws::default();
        let value = |name: &[u8]| {
            let key = document.keys.iter().rev().find(|key| string_is(&key.key, name))?;
            Some((key.offset, key.len))
        };
        let mut chunk = Chunk::default();
        for name in [&b"head"[..], b"trace_ids", b"traceIds"] {
            if let Some((offset, len)) = value(name) {
                chunk.read_member(name, store.slice(offset, len), offset);
            }
        }
        let nodes = ArrayReader::new(value(b"nodes"), &store, &mut own);
        let tree = tree_of(&mut chunk, nodes, &store, &mut own);
        let order = tree.parents_first().map(|order| {
            let mut position = vec![0; order.len()];
            (0..).zip(&order).for_each(|(at, &node)| position[node as usize] = at);
            (order, position)
        });
        let samples = ArrayReader::new(value(b"samples"), &store, &mut own);
        let deltas = ArrayReader::new(value(b"timeDeltas"), &store, &mut own);
        let stamps = ArrayReader::new(value(b"timestamps"), &store, &mut own);
        let (steps, times) = match (deltas.given, stamps.given) {
            (true, _) => (Steps::Deltas, deltas),
            (false, true) => (Steps::Times(None), stamps),
            (false, false) => {
                let count = samples.count(&store);
                (Steps::Even { taken: 0, count }, ArrayReader::default())
            }
        };
        let [lines, columns] =
            [&b"lines"[..], b"columns"].map(|name| ArrayReader::new(value(name), &store, &mut own));
        let mut this = ProfileEvents {
            identity,
            decoded_text: chunk.decoded_text,
            trace_ids: chunk.trace_ids,
            tree,
            order,
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
            stage: NextEvent::Opening,
            out: Vec::new(),
            at: 0,
            payload: Arc::clone(&payload),
            flaws,
        };
        this.find_bounds(value(b"startTime"), value(b"endTime"), &store, &mut own);
        this.note(&own);
        this
    }

    /// The node that is sent as number `at`.
    fn node(&self, at: usize) -> u32 {
        self.order.as_ref().map_or(at as u32, |(order, _)| order[at])
    }

    /// As which number a node is sent.
    fn position(&self, node: u32) -> usize {
        self.order.as_ref().map_or(node, |(_, position)| position[node as usize]) as usize
    }

    /// Bytes of heap that it takes as long as it lives.
    pub(crate) fn heap(&self) -> u64 {
        let order = self.order.as_ref().map_or(0, |(order, _)| 8 * order.len());
        (self.tree.heap() + order + self.decoded_text.capacity()) as u64
    }

    /// What the others need to know of it.
    pub(crate) fn started(&self) -> StartedProfile {
        let Identity { pid, tid, is_main, .. } = self.identity;
        StartedProfile { pid, tid, is_main, start: self.start_ns }
    }

    fn note(&self, flaws: &Flaws) {
        self.flaws.lock().unwrap_or_else(PoisonError::into_inner).append(flaws);
    }

    /// Start and end as they are written, or guessed.
    fn find_bounds(
        &mut self,
        start: Option<ValueSpan>,
        end: Option<ValueSpan>,
        store: &Store<'_>,
        flaws: &mut Flaws,
    ) {
        let number = |span: Option<ValueSpan>| {
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
            self.start = micros(self.start_ns).into();
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
                    self.start = micros(self.start_ns).into();
                }
            }
        }
        // without an end nothing tells how long they took: they are counted when they find no time
        if let (Steps::Even { count: 1.., .. }, Some(_)) = (self.steps, &self.end) {
            flaws.add(FlawKind::Untimed, self.samples.start);
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
            NextEvent::Opening => {
                self.open();
                self.stage = NextEvent::Samples;
            }
            NextEvent::Samples => self.make_samples(),
            NextEvent::Nodes => {
                self.send_nodes(self.tree.len());
                self.stage = NextEvent::Closing;
            }
            NextEvent::Closing => {
                self.close();
                self.stage = NextEvent::Done;
            }
            NextEvent::Done => {}
        }
    }
}

impl Read for ProfileEvents {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.out.len() && self.stage != NextEvent::Done {
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

/// The tree of the nodes in `chunk` and those in the list, of which only some are in memory at a time: as they come 10,000 are decoded, and go
/// into the tree's columns.
fn tree_of(
    chunk: &mut Chunk,
    mut nodes: ArrayReader,
    store: &Store<'_>,
    flaws: &mut Flaws,
) -> Tree {
    let mut builder = Builder::default();
    loop {
        let bytes = |text: TextSpan| text_of(text, store, &chunk.decoded_text);
        for node in &chunk.nodes {
            let same = |earlier| bytes(earlier) == bytes(node.text);
            builder.add(node, &chunk.children, node.text, same, flaws);
        }
        flaws.append(&std::mem::take(&mut chunk.flaws));
        chunk.nodes.clear();
        chunk.children.clear();
        if nodes.rest.1 == 0 {
            return builder.finish(flaws);
        }
        let (offset, len) = nodes.rest;
        let used = chunk.read_nodes(store.slice(offset, len), offset, MOST) as u64;
        nodes.rest = (offset + used, len - used);
    }
}

/// Keys that the events have no other place for.
fn extras(document: &Document) -> Vec<(Box<[u8]>, ValueSpan)> {
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
