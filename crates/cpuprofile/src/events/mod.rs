//! Converts a `.cpuprofile` to the trace events that V8 would have streamed.
//!
//! ```text
//! process_name, thread_name
//! I CpuProfiler::StartProfiling
//! P Profile               ts = startTime, as written
//! P ProfileChunk …        at most 10,000 samples and 10,000 nodes; nodes before their samples
//! P ProfileChunk          endTime, and unknown keys of the profile
//! I CpuProfiler::StopProfiling
//! ```
//!
//! DevTools fails on chunks of 125,000 samples. It shows a thread only if the process has an event
//! other than P, so the conversion writes instants. Nodes keep their order and ids, so extracting
//! the profile again returns the input.
//!
//! The events are generated on demand, and the scanner reads them like a pipe. Only the call tree
//! is in memory (about 60 bytes per node):
//!
//! ```text
//!   input   {"nodes":[…],"startTime":…,"samples":[9,9,4,…],"timeDeltas":[5,7,6,…]}
//!                 │                              ^ list        ^ list    offsets of the next items
//!                 v                              └── 10,000 ───┘ ─> one chunk, then the next
//!               tree ── nodes not yet written that a chunk needs ──┘
//! ```
//!
//! Defects are counted by their offset when the stream reaches them. A missing start is guessed,
//! and counted; a missing end is the time of the latest sample.

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

/// Maximum number of samples, and of nodes, in a chunk.
const MOST: usize = 10_000;
/// Start, in nanoseconds, of profiles without a start; not 0, since DevTools ignores events at 0.
const START: i64 = 1000;
/// Category of `Profile` and `ProfileChunk` events.
const PROFILER: &str = "disabled-by-default-v8.cpu_profiler";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextEvent {
    Opening,
    Samples,
    /// Write the nodes that no sample needs.
    Nodes,
    Closing,
    Done,
}

/// Generates the events of one profile; see the module docs.
pub(crate) struct ProfileEvents {
    payload: Arc<Payload>,
    identity: Identity,
    tree: Tree,
    decoded_text: Vec<u8>,
    trace_ids: Vec<TraceId>,
    /// Nodes in the order in which they are sent, and each node's position; `None` for input order.
    order: Option<(Vec<u32>, Vec<u32>)>,
    sent: usize,
    samples: ArrayReader,
    steps: Steps,
    times: ArrayReader,
    positions: [ArrayReader; 2],
    extras: Vec<(Box<[u8]>, ValueSpan)>,
    start: Box<[u8]>,
    start_ns: i64,
    end: Option<(Box<[u8]>, i64)>,
    /// Time of the previous sample in nanoseconds. `ts` is the time of the last event, `last` the
    /// time of the latest sample.
    time: i64,
    /// Sum of the time steps of samples without a node, to be added to the next sample.
    carried: i64,
    /// Number of samples without times.
    surplus: u64,
    ts: i64,
    last: i64,
    stage: NextEvent,
    out: Vec<u8>,
    at: usize,
    flaws: Arc<Mutex<Flaws>>,
}

/// Returns whether a document is a CPU profile: no trace, and with the key `nodes` or `head`.
pub(crate) fn is_profile(document: &Document) -> bool {
    document.form == tracemill_tokenizer::Form::Plain
        && document.keys.iter().any(|k| string_is(&k.key, b"nodes") || string_is(&k.key, b"head"))
}

/// Returns bytes that distinguish a profile from other profiles: the short members, and the lengths
/// of all members.
///
/// Cost: a few hundred bytes; lists are not read.
pub fn content(document: &Document, store: &Store<'_>) -> Vec<u8> {
    let short = document.keys.iter().filter(|key| key.len < 64);
    let mut content: Vec<u8> =
        short.flat_map(|key| [&key.key, store.slice(key.offset, key.len)].concat()).collect();
    content.extend(document.keys.iter().flat_map(|key| key.len.to_le_bytes()));
    content
}

impl ProfileEvents {
    /// Reads the nodes of the profile `document`; offsets are within the input.
    pub(crate) fn new(
        payload: Arc<Payload>,
        document: &Document,
        identity: Identity,
        flaws: Arc<Mutex<Flaws>>,
    ) -> Self {
        let store = Store::of_one(&payload);
        let mut found = Flaws::default();
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
        let nodes = ArrayReader::new(value(b"nodes"), &store, &mut found);
        let tree = tree_of(&mut chunk, nodes, &store, &mut found);
        let order = tree.parents_first().map(|order| {
            let mut position = vec![0; order.len()];
            (0..).zip(&order).for_each(|(at, &node)| position[node as usize] = at);
            (order, position)
        });
        let samples = ArrayReader::new(value(b"samples"), &store, &mut found);
        let deltas = ArrayReader::new(value(b"timeDeltas"), &store, &mut found);
        let stamps = ArrayReader::new(value(b"timestamps"), &store, &mut found);
        let (steps, times) = match (deltas.given, stamps.given) {
            (true, _) => (Steps::Deltas, deltas),
            (false, true) => (Steps::Times(None), stamps),
            (false, false) => {
                let count = samples.count(&store);
                (Steps::Even { taken: 0, count }, ArrayReader::default())
            }
        };
        let [lines, columns] = [&b"lines"[..], b"columns"]
            .map(|name| ArrayReader::new(value(name), &store, &mut found));
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
        this.find_bounds(value(b"startTime"), value(b"endTime"), &store, &mut found);
        this.note(&found);
        this
    }

    fn node(&self, at: usize) -> u32 {
        self.order.as_ref().map_or(at as u32, |(order, _)| order[at])
    }

    /// Returns the position at which a node is sent.
    fn position(&self, node: u32) -> usize {
        self.order.as_ref().map_or(node, |(_, position)| position[node as usize]) as usize
    }

    /// Returns the bytes of heap of the tree and of texts.
    pub(crate) fn heap(&self) -> u64 {
        let order = self.order.as_ref().map_or(0, |(order, _)| 8 * order.len());
        (self.tree.heap() + order + self.decoded_text.capacity()) as u64
    }

    /// Returns identity and start for [`browser_events`](browser::browser_events).
    pub(crate) fn started(&self) -> StartedProfile {
        let Identity { pid, tid, is_main, .. } = self.identity;
        StartedProfile { pid, tid, is_main, start: self.start_ns }
    }

    fn note(&self, flaws: &Flaws) {
        self.flaws.lock().unwrap_or_else(PoisonError::into_inner).append(flaws);
    }

    /// Sets start and end as written, or guesses them.
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
            // the old format has seconds, often whole; the times decide, as in DevTools
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
                    // rounded up, so that later events do not precede it
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
        // without an end the samples get no time, and are counted later
        if let (Steps::Even { count: 1.., .. }, Some(_)) = (self.steps, &self.end) {
            flaws.add(FlawKind::Untimed, self.samples.start);
        }
        (self.time, self.ts, self.last) = (self.start_ns, self.start_ns, self.start_ns);
    }

    /// Guesses the start: the end minus all steps, if there is an end.
    fn guess_start(&self, store: &Store<'_>) -> i64 {
        let Some((_, end)) = self.end else { return START };
        let (mut times, mut sum) = (self.times, 0i64);
        times.read(store, |cursor, _| {
            sum = sum.saturating_add(time(cursor).map_or(0, |(time, _)| time));
            true
        });
        end.saturating_sub(sum)
    }

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

/// Builds the tree from the nodes in `chunk` and in the list. Decodes 10,000 nodes at a time.
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

/// Returns the unknown keys of a profile with their values.
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
