//! One piece of a profile, decoded: the args of a `ProfileChunk` or `CpuProfile` event, or a whole `.cpuprofile`.
//!
//! Numbers go into columns; text (call frames, unknown keys) stays where it stands in the input and is referred to by
//! place. Both ways to write a tree are read, `parent` and `children`, and the old one with nodes inside nodes (`head`),
//! without recursion. What is no profile data is counted as a flaw at its place.
//!
//! Source of the layout: `V8` (`CpuProfile::StreamPendingTraceEvents`), checked against the corpus. Decoded with our own
//! [`Cursor`] instead of serde: one `NaN` or raw byte costs its element there, the whole chunk with serde_json.

use super::flaws::{FlawKind, Flaws};
use std::ops::Range;
use tracemill_tokenizer::{Cursor, nanos, number_text};

/// No id: ids are below it.
pub(crate) const NO_ID: u64 = u64::MAX;
/// No hit count of its own.
pub(crate) const NO_HITS: u32 = u32::MAX;

/// A stretch of text: in the inputs, or (with the top bit) in the text that was made while decoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Text {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

impl Text {
    pub(crate) const MADE: u64 = 1 << 63;

    fn made(range: Range<usize>) -> Self {
        Text { offset: range.start as u64 | Self::MADE, len: range.len() as u32 }
    }

    /// Where in the made text, if it is there.
    pub(crate) fn made_at(self) -> Option<Range<usize>> {
        let start = (self.offset & !Self::MADE) as usize;
        (self.offset & Self::MADE != 0).then_some(start..start + self.len as usize)
    }
}

/// A node of the call tree, as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) id: u64,
    /// [`NO_ID`] if there is none.
    pub(crate) parent: u64,
    /// Its object.
    pub(crate) text: Text,
    /// [`NO_HITS`] if there is none.
    pub(crate) hits: u32,
    /// Its `children`, in [`Chunk::children`]; `None` if it has no such key.
    pub(crate) children: Option<Range<u32>>,
}

/// An entry of `trace_ids`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceId {
    /// With its quotes.
    pub(crate) key: Text,
    pub(crate) node: u64,
}

/// An unknown key of a profile.
#[derive(Clone, Debug)]
pub(crate) struct Extra {
    /// With its quotes.
    pub(crate) key: Text,
    pub(crate) value: Text,
}

/// What profiles say of their origin; DevTools chooses by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileSource {
    /// Tracing.
    Internal,
    /// The inspector protocol.
    Inspector,
    /// The JS self-profiling API.
    SelfProfiling,
}

impl ProfileSource {
    fn of(value: &[u8]) -> Option<Self> {
        match value {
            b"\"Internal\"" => Some(ProfileSource::Internal),
            b"\"Inspector\"" => Some(ProfileSource::Inspector),
            b"\"SelfProfiling\"" => Some(ProfileSource::SelfProfiling),
            _ => None,
        }
    }

    /// As it is written in traces.
    pub fn name(self) -> &'static str {
        match self {
            ProfileSource::Internal => "Internal",
            ProfileSource::Inspector => "Inspector",
            ProfileSource::SelfProfiling => "SelfProfiling",
        }
    }
}

/// A piece of a profile. Times are nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) nodes: Vec<Node>,
    pub(crate) children: Vec<u64>,
    /// Ids; [`NO_ID`] where there is none.
    pub(crate) samples: Vec<u64>,
    pub(crate) deltas: Vec<i64>,
    pub(crate) lines: Option<Vec<i64>>,
    pub(crate) columns: Option<Vec<i64>>,
    pub(crate) trace_ids: Vec<TraceId>,
    pub(crate) extras: Vec<Extra>,
    pub(crate) start: Option<i64>,
    pub(crate) end: Option<i64>,
    pub(crate) source: Option<ProfileSource>,
    pub(crate) made: Vec<u8>,
    /// Absolute times of the old form; become deltas.
    timestamps: Option<Vec<i64>>,
    pub(crate) flaws: Flaws,
}

impl Chunk {
    /// Reads the args that `args` begins with, which stand at `base`. Cost: one pass over them, about 1 ns a byte.
    pub(crate) fn read_args(&mut self, args: &[u8], base: u64) {
        Decoder { cursor: Cursor::new(args), bytes: args, base, chunk: self }.args();
        self.settle();
    }

    /// Forgets everything but the room that it took.
    pub(crate) fn clear(&mut self) {
        let Chunk { nodes, children, samples, deltas, trace_ids, extras, made, .. } =
            std::mem::take(self);
        *self =
            Chunk { nodes, children, samples, deltas, trace_ids, extras, made, ..Chunk::default() };
        self.nodes.clear();
        self.children.clear();
        self.samples.clear();
        self.deltas.clear();
        self.trace_ids.clear();
        self.extras.clear();
        self.made.clear();
    }

    /// Decodes one member of a whole profile, such as its nodes without its samples.
    pub(crate) fn read_member(&mut self, key: &[u8], value: &[u8], base: u64) {
        let cursor = Cursor::new(value);
        Decoder { cursor, bytes: value, base, chunk: self }.profile_member(key, base);
    }

    /// The old form has absolute times, and start and end in seconds, often whole: the times decide, as in DevTools.
    fn settle(&mut self) {
        let Some(times) = self.timestamps.take() else { return };
        self.start = times.first().copied();
        self.end = times.iter().copied().max();
        let before = times.first().into_iter().chain(&times);
        self.deltas.extend(times.iter().zip(before).map(|(time, before)| time - before));
    }

    /// Bytes of heap.
    pub(crate) fn heap(&self) -> usize {
        let of = |numbers: &Option<Vec<i64>>| numbers.as_ref().map_or(0, |n| n.capacity() * 8);
        self.nodes.capacity() * size_of::<Node>()
            + (self.children.capacity() + self.samples.capacity() + self.deltas.capacity()) * 8
            + of(&self.lines)
            + of(&self.columns)
            + self.trace_ids.capacity() * size_of::<TraceId>()
            + self.made.capacity()
            + size_of::<Chunk>()
    }
}

struct Decoder<'b, 'c> {
    cursor: Cursor<'b>,
    /// What the cursor goes over.
    bytes: &'b [u8],
    /// Where that begins among all inputs.
    base: u64,
    chunk: &'c mut Chunk,
}

impl<'b> Decoder<'b, '_> {
    fn here(&self) -> u64 {
        self.base + self.cursor.offset() as u64
    }

    #[cold]
    fn flaw(&mut self, kind: FlawKind) {
        let here = self.here();
        self.chunk.flaws.add(kind, here);
    }

    /// Enters the bracket that belongs here; counts anything else but `null`, and takes it.
    fn expect(&mut self, bracket: u8) -> bool {
        if self.cursor.enter(bracket) {
            return true;
        }
        let at = self.here();
        if self.cursor.value() != b"null" {
            self.chunk.flaws.add(FlawKind::Shape, at);
        }
        false
    }

    fn args(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        while let Some(key) = self.cursor.next_key() {
            match &*key {
                b"data" => self.data(),
                _ => {
                    self.cursor.value();
                }
            }
        }
    }

    fn data(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        loop {
            let key_at = self.here();
            let Some(key) = self.cursor.next_key() else { return };
            match &*key {
                b"cpuProfile" => self.profile(),
                b"source" => self.source(),
                key => self.profile_member(key, key_at),
            }
        }
    }

    fn source(&mut self) {
        match ProfileSource::of(self.cursor.value()) {
            Some(source) => self.chunk.source = Some(source),
            None => self.flaw(FlawKind::Shape),
        }
    }

    fn profile(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        loop {
            let key_at = self.here();
            let Some(key) = self.cursor.next_key() else { return };
            self.profile_member(&key, key_at);
        }
    }

    /// A key of a profile, or of the data that hold it: producers differ in where they put some of them.
    fn profile_member(&mut self, key: &[u8], key_at: u64) {
        match key {
            b"nodes" => self.nodes(),
            b"head" => self.head(),
            b"samples" => self.samples(),
            b"timeDeltas" => {
                let mut deltas = std::mem::take(&mut self.chunk.deltas);
                self.times(&mut deltas);
                self.chunk.deltas = deltas;
            }
            b"timestamps" => {
                let mut times = self.chunk.timestamps.take().unwrap_or_default();
                self.times(&mut times);
                self.chunk.timestamps = Some(times);
            }
            b"lines" => self.chunk.lines = self.positions(),
            b"columns" => self.chunk.columns = self.positions(),
            b"trace_ids" | b"traceIds" => self.trace_ids(),
            b"startTime" => self.chunk.start = self.time(),
            b"endTime" => self.chunk.end = self.time(),
            _ => self.extra(key_at),
        }
    }

    /// The text that begins at `at`, as far as the cursor has come.
    fn text_from(&self, at: u64) -> Text {
        let start = (at - self.base) as usize;
        let text = self.bytes[start..self.cursor.offset()].trim_ascii_end();
        Text { offset: at, len: text.len() as u32 }
    }

    fn extra(&mut self, key_at: u64) {
        let at = self.here();
        let value = Text { offset: at, len: self.cursor.value().len() as u32 };
        let start = (key_at - self.base) as usize;
        // from the key's quote, or a comma before it, to the colon before the value
        let before = &self.bytes[start..(at - self.base) as usize];
        let (Some(open), Some(close)) =
            (before.iter().position(|&b| b == b'"'), before.iter().rposition(|&b| b == b'"'))
        else {
            return;
        };
        let key = Text { offset: key_at + open as u64, len: (close + 1 - open) as u32 };
        self.chunk.extras.push(Extra { key, value });
    }

    fn nodes(&mut self) {
        if !self.expect(b'[') {
            return;
        }
        while self.cursor.next_element() {
            let at = self.here();
            if !self.cursor.enter(b'{') {
                self.flaw(FlawKind::Node);
                self.cursor.value();
                continue;
            }
            let mut node = Node {
                id: NO_ID,
                parent: NO_ID,
                text: Text::default(),
                hits: NO_HITS,
                children: None,
            };
            while let Some(key) = self.cursor.next_key() {
                match &*key {
                    b"id" => node.id = self.id().unwrap_or(NO_ID),
                    b"parent" => node.parent = self.parent(),
                    b"hitCount" => node.hits = self.hits(),
                    b"children" => node.children = self.children(),
                    _ => {
                        self.cursor.value();
                    }
                }
            }
            node.text = self.text_from(at);
            if node.id == NO_ID {
                self.chunk.flaws.add(FlawKind::Node, at);
                continue;
            }
            self.chunk.nodes.push(node);
        }
    }

    /// A node id: a whole number that is not negative, of up to 64 bits, possibly in quotes.
    #[inline]
    fn id(&mut self) -> Option<u64> {
        match self.cursor.integer() {
            Some(id) => u64::try_from(id).ok(),
            None => odd_id(self.cursor.value()),
        }
    }

    /// `null` is no parent; what is no id names a node that does not exist.
    fn parent(&mut self) -> u64 {
        if self.cursor.peek() == b'n' {
            self.cursor.value();
            return NO_ID;
        }
        self.id().unwrap_or(NO_ID - 1)
    }

    fn hits(&mut self) -> u32 {
        match self.cursor.integer() {
            Some(hits) => u32::try_from(hits).unwrap_or(NO_HITS),
            None => {
                self.cursor.value();
                NO_HITS
            }
        }
    }

    fn children(&mut self) -> Option<Range<u32>> {
        if !self.expect(b'[') {
            return None;
        }
        let start = self.chunk.children.len() as u32;
        while self.cursor.next_element() {
            match self.id() {
                Some(id) => self.chunk.children.push(id),
                None => self.flaw(FlawKind::Shape),
            }
        }
        Some(start..self.chunk.children.len() as u32)
    }

    fn samples(&mut self) {
        if !self.expect(b'[') {
            return;
        }
        while self.cursor.next_element() {
            // what is no id still has a time: it is counted when it is found to name nobody
            let id = self.id().unwrap_or(NO_ID);
            self.chunk.samples.push(id);
        }
    }

    fn times(&mut self, out: &mut Vec<i64>) {
        if !self.expect(b'[') {
            return;
        }
        while self.cursor.next_element() {
            let time = self.time();
            if time.is_none() {
                self.flaw(FlawKind::Delta);
            }
            out.push(time.unwrap_or(0));
        }
    }

    /// Microseconds to nanoseconds.
    #[inline]
    fn time(&mut self) -> Option<i64> {
        if let Some(micros) = self.cursor.integer() {
            return micros.checked_mul(1000);
        }
        let at = self.here();
        let value = self.cursor.value();
        let time = nanos(number_text(value, &mut Vec::new())?)?;
        if !time.exact {
            self.chunk.flaws.add(FlawKind::Rounded, at);
        }
        Some(time.floor)
    }

    fn positions(&mut self) -> Option<Vec<i64>> {
        if !self.expect(b'[') {
            return None;
        }
        let mut positions = Vec::with_capacity(self.chunk.samples.len());
        while self.cursor.next_element() {
            let position = self.cursor.integer();
            if position.is_none() {
                self.flaw(FlawKind::Lines);
                self.cursor.value();
            }
            positions.push(position.unwrap_or(0));
        }
        Some(positions)
    }

    fn trace_ids(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        loop {
            let at = self.here();
            if self.cursor.next_key().is_none() {
                return;
            }
            let before = &self.bytes[(at - self.base) as usize..self.cursor.offset()];
            let open = before.iter().position(|&b| b == b'"').unwrap_or(0);
            let close = before.iter().rposition(|&b| b == b'"').unwrap_or(open);
            let key = Text { offset: at + open as u64, len: (close + 1 - open) as u32 };
            match self.id() {
                Some(node) => self.chunk.trace_ids.push(TraceId { key, node }),
                None => self.chunk.flaws.add(FlawKind::TraceId, at),
            }
        }
    }

    /// The old form: nodes inside the `children` of nodes, of any depth.
    fn head(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        let first = self.chunk.nodes.len();
        // per open node its own number and that of its parent among the new ones
        let mut open = vec![self.open_nested()];
        let mut parents = vec![None];
        while let Some(&number) = open.last() {
            let into_children = match self.cursor.next_key() {
                Some(key) if &*key == b"children" && self.cursor.enter(b'[') => self.next_nested(),
                Some(key) => {
                    self.nested_member(number, &key);
                    false
                }
                None => {
                    self.close_nested(number);
                    open.pop();
                    !open.is_empty() && self.next_nested()
                }
            };
            if into_children {
                parents.push(open.last().copied());
                open.push(self.open_nested());
            }
        }
        for (node, parent) in (first..).zip(parents) {
            self.chunk.nodes[node].parent = parent.map_or(NO_ID, |p| self.chunk.nodes[p].id);
        }
        let before = self.chunk.nodes.len();
        self.chunk.nodes.retain(|node| node.id != NO_ID);
        let lost = before - self.chunk.nodes.len();
        let here = self.here();
        self.chunk.flaws.add_many(FlawKind::Node, here, lost as u64);
    }

    /// A new node, in the order in which nodes begin.
    fn open_nested(&mut self) -> usize {
        let text = Text::made(0..0);
        self.chunk.nodes.push(Node {
            id: NO_ID,
            parent: NO_ID,
            text,
            hits: NO_HITS,
            children: None,
        });
        self.chunk.nodes.len() - 1
    }

    /// Whether there is another object in the array of children.
    fn next_nested(&mut self) -> bool {
        while self.cursor.next_element() {
            if self.cursor.enter(b'{') {
                return true;
            }
            self.flaw(FlawKind::Node);
            self.cursor.value();
        }
        false
    }

    /// A key of a nested node; the text of all that is kept grows in [`Chunk::made`] if nothing came between, and is
    /// gathered anew behind the children otherwise.
    fn nested_member(&mut self, number: usize, key: &[u8]) {
        match key {
            b"id" => self.chunk.nodes[number].id = self.id().unwrap_or(NO_ID),
            b"hitCount" => self.chunk.nodes[number].hits = self.hits(),
            _ => {
                let value = self.cursor.value();
                let made = &mut self.chunk.made;
                let text = self.chunk.nodes[number].text.made_at().unwrap_or_default();
                let start = if text.is_empty() || text.end == made.len() {
                    if text.is_empty() { made.len() } else { text.start }
                } else {
                    let start = made.len();
                    made.extend_from_within(text);
                    start
                };
                made.push(if made.len() == start { b'{' } else { b',' });
                made.push(b'"');
                made.extend_from_slice(key);
                made.extend_from_slice(b"\":");
                made.extend_from_slice(value);
                self.chunk.nodes[number].text = Text::made(start..made.len());
            }
        }
    }

    fn close_nested(&mut self, number: usize) {
        let made = &mut self.chunk.made;
        let text = self.chunk.nodes[number].text.made_at().unwrap_or_default();
        let start = if !text.is_empty() && text.end == made.len() {
            text.start
        } else {
            let start = made.len();
            made.extend_from_within(text);
            start
        };
        if made.len() == start {
            made.push(b'{');
        }
        made.push(b'}');
        self.chunk.nodes[number].text = Text::made(start..made.len());
    }
}

/// An id that is no plain integer: up to 20 digits, or a number in quotes.
#[cold]
fn odd_id(value: &[u8]) -> Option<u64> {
    let mut scratch = Vec::new();
    let text = number_text(value, &mut scratch)?;
    let id = std::str::from_utf8(text).ok()?.parse().ok()?;
    (id < NO_ID - 1).then_some(id)
}
