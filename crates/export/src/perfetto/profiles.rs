//! Writes samples of CPU profiles, on the tracks of their threads. Each profile has a packet
//! sequence.

use super::packets::{CLEARED, EVENTS, NEEDED, Packets, packet};
use crate::proto::Message;
use tracemill_analysis::value::{named, number, string};
use tracemill_cpuprofile::{Chunk, NO_ID, Role};
use tracemill_tokenizer::{Event, Field, to_text};
use tracemill_trace::json::member;
use tracemill_trace::spill::hash::HashMap;

/// Field numbers of `InternedData`.
mod interned {
    pub(super) const FUNCTION: u32 = 5;
    pub(super) const FRAME: u32 = 6;
    pub(super) const STACK: u32 = 7;
    pub(super) const SCRIPT: u32 = 17;
    pub(super) const SOURCE: u32 = 18;
    pub(super) const MAPPING: u32 = 19;
}

struct Node {
    id: u64,
    parent: u64,
    frame: u64,
    /// Whether the stack of the node has been written.
    is_written: bool,
}

/// State of a profile whose samples are being written.
struct Profile {
    sequence: u64,
    ids: (i64, i64),
    /// Time of the last sample in nanoseconds.
    now: i64,
    /// Time of the last written sample in microseconds.
    written: Option<i64>,
    nodes: Vec<Node>,
    numbers: HashMap<u64, u32>,
    /// Parent of each node that names no parent but is in a list of children.
    listed: HashMap<u64, u64>,
    texts: HashMap<Vec<u8>, u64>,
    frames: HashMap<[u64; 3], u64>,
}

/// All profiles, by process and id.
#[derive(Default)]
pub(super) struct Profiles {
    profiles: HashMap<Vec<u8>, Profile>,
    count: u64,
    pub(super) samples: u64,
    /// Number of samples with an unknown node.
    pub(super) lost: u64,
    chunk: Chunk,
    fresh: Message,
    one: Message,
}

impl Profiles {
    /// Writes the samples of a profile event that is at time `ts` in the output. The thread is
    /// given by its ids.
    pub(super) fn take(
        &mut self,
        event: &Event<'_>,
        role: Role,
        ts: i64,
        pid: i64,
        tid: i64,
        out: &mut Packets<'_>,
    ) {
        let ids = [Field::Pid, Field::Id, Field::Id2].map(|of| event.field(of).unwrap_or_default());
        let key = ids.join(&0);
        if role != Role::Chunk || !self.profiles.contains_key(&key) {
            self.count += 1;
            let profile = Profile::new(EVENTS + self.count, pid, tid, ts);
            self.profiles.insert(key.clone(), profile);
        }
        let Some(profile) = self.profiles.get_mut(&key) else { return };
        let args = event.field(Field::Args).unwrap_or_default();
        self.chunk.clear();
        self.chunk.read_args(args, 0);
        self.fresh.clear();
        profile.take_nodes(&self.chunk, args, &mut self.fresh, &mut self.one);
        if role == Role::Whole
            && let Some(start) = self.chunk.start
        {
            // Times of samples are relative to the start of the profile.
            profile.now = start + ts - event.ts().map_or(ts, |time| time.floor);
        }
        self.one.clear();
        let mut samples = Message::default();
        let steps = self.chunk.samples.iter().zip(&self.chunk.deltas);
        let lost = self.chunk.samples.len().saturating_sub(self.chunk.deltas.len());
        self.lost += lost as u64;
        if steps.len() > 0 {
            profile.tell_thread(out);
        }
        let mut deltas = Message::default();
        for (&id, &delta) in steps {
            profile.now = profile.now.saturating_add(delta);
            let Some(stack) = profile.stack(id, &mut self.fresh, &mut self.one) else {
                self.lost += 1;
                continue;
            };
            let micros = profile.now.div_euclid(1000);
            samples.number(1, stack);
            deltas.number(2, (micros - profile.written.unwrap_or(micros)) as u64);
            profile.written = Some(micros);
            self.samples += 1;
        }
        samples.append(&deltas);
        let (fresh, sequence) = (&self.fresh, profile.sequence);
        if fresh.bytes().is_empty() && samples.bytes().is_empty() {
            return;
        }
        profile.tell_thread(out);
        out.push(|packet| {
            packet.number(packet::SEQUENCE, sequence);
            packet.number(packet::FLAGS, NEEDED);
            packet.field(packet::INTERNED, fresh.bytes());
            packet.field(packet::SAMPLES, samples.bytes());
        });
    }
}

impl Profile {
    fn new(sequence: u64, pid: i64, tid: i64, now: i64) -> Self {
        Profile {
            sequence,
            ids: (pid, tid),
            now,
            written: None,
            nodes: Vec::new(),
            numbers: HashMap::default(),
            listed: HashMap::default(),
            texts: HashMap::default(),
            frames: HashMap::default(),
        }
    }

    /// Writes the thread and the start time of the samples, if they have not been written yet.
    fn tell_thread(&mut self, out: &mut Packets<'_>) {
        if self.written.is_some() {
            return;
        }
        let (micros, (pid, tid)) = (self.now.div_euclid(1000), self.ids);
        self.written = Some(micros);
        let mut thread = Message::default();
        thread.number(1, pid as i32 as u64);
        thread.number(2, tid as u64);
        thread.number(6, micros as u64);
        out.push(|packet| {
            packet.number(packet::SEQUENCE, self.sequence);
            packet.number(packet::FLAGS, CLEARED | NEEDED);
            packet.field(packet::THREAD, thread.bytes());
        });
    }

    fn take_nodes(&mut self, chunk: &Chunk, args: &[u8], fresh: &mut Message, one: &mut Message) {
        for node in &chunk.nodes {
            let text = match node.text.decoded_at() {
                Some(range) => &chunk.decoded_text[range],
                None => &args[node.text.offset as usize..][..node.text.len as usize],
            };
            let children = node.children.clone().unwrap_or(0..0);
            for &child in &chunk.children[children.start as usize..children.end as usize] {
                self.listed.entry(child).or_insert(node.id);
            }
            if node.id == NO_ID || self.numbers.contains_key(&node.id) {
                continue;
            }
            let frame = self.frame(text, fresh, one);
            self.numbers.insert(node.id, self.nodes.len() as u32);
            self.nodes.push(Node { id: node.id, parent: node.parent, frame, is_written: false });
        }
    }

    /// Returns the number of a text. If the text is new, adds it to the interned texts of the next
    /// packet.
    fn text(&mut self, field: u32, text: &[u8], fresh: &mut Message, one: &mut Message) -> u64 {
        let key = [&[field as u8], text].concat();
        let next = self.texts.len() as u64 + 1;
        let number = *self.texts.entry(key).or_insert(next);
        if number == next {
            one.clear();
            one.number(1, number);
            one.field(2, to_text(text).as_bytes());
            fresh.field(field, one.bytes());
            if field == interned::SCRIPT {
                one.clear();
                one.number(1, number);
                one.number(7, number);
                fresh.field(interned::MAPPING, one.bytes());
            }
        }
        number
    }

    /// Returns the number of a node's frame, which consists of function, script and line.
    fn frame(&mut self, node: &[u8], fresh: &mut Message, one: &mut Message) -> u64 {
        let frame = member(node, b"callFrame").unwrap_or(node);
        let [name, url, line] = named(frame, [b"functionName", b"url", b"lineNumber"]);
        let name = name.and_then(string).filter(|name| !name.is_empty());
        let url = url.and_then(string).unwrap_or_default();
        let function =
            self.text(interned::FUNCTION, name.as_deref().unwrap_or(b"(anonymous)"), fresh, one);
        let script = self.text(interned::SCRIPT, &url, fresh, one);
        let line = line.and_then(number).map_or(0, |line| (line + 1.0).max(0.0) as u64);
        let next = self.frames.len() as u64 + 1;
        let number = *self.frames.entry([function, script, line]).or_insert(next);
        if number == next {
            let source = self.text(interned::SOURCE, &url, fresh, one);
            one.clear();
            for (field, value) in [(1, number), (2, function), (3, script), (4, 0), (5, source)] {
                one.number(field, value);
            }
            if line > 0 {
                one.number(6, line);
            }
            fresh.field(interned::FRAME, one.bytes());
        }
        number
    }

    /// Returns the number of a node's stack. If the stack is new, adds it to the interned data of
    /// the next packet. Returns `None` if the node is unknown.
    fn stack(&mut self, id: u64, fresh: &mut Message, one: &mut Message) -> Option<u64> {
        let at = *self.numbers.get(&id)?;
        let number = u64::from(at) + 1;
        if std::mem::replace(&mut self.nodes[at as usize].is_written, true) {
            return Some(number);
        }
        let mut path = Vec::new();
        let mut next = Some(at);
        // A stack longer than the number of nodes has a cycle.
        while let Some(at) = next.filter(|_| path.len() < self.nodes.len()) {
            let node = &self.nodes[at as usize];
            path.push(node.frame);
            let parent = match node.parent {
                NO_ID => self.listed.get(&node.id).copied(),
                parent => Some(parent),
            };
            next = parent.and_then(|parent| self.numbers.get(&parent).copied());
        }
        one.clear();
        one.number(1, number);
        path.iter().rev().for_each(|&frame| one.number(2, frame));
        fresh.field(interned::STACK, one.bytes());
        Some(number)
    }
}
