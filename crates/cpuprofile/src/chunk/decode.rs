//! Decodes the args of a `ProfileChunk` or `CpuProfile` event, or a whole `.cpuprofile`, to
//! columns.
//!
//! Numbers go into columns; text (call frames, unknown keys) stays in the input and is referred to
//! by its range. A tree may be given by `parent`, by `children`, or in the old format by nested
//! nodes (`head`). Invalid data is counted as a flaw at its offset.
//!
//! Source of the layout: V8 (`CpuProfile::StreamPendingTraceEvents`). With our own [`Cursor`]
//! instead of serde, a `NaN` costs one element and not the chunk.

use crate::chunk::numbers::{NO_ID, double, odd_id, whole_nanos};
use crate::chunk::source::ProfileSource;
use crate::chunk::text::TextSpan;
use std::ops::Range;
use tracemill_tokenizer::Cursor;
use tracemill_trace::run::flaws::{FlawKind, Flaws};

/// Value of [`Node::hits`] for nodes without a hit count.
pub(crate) const NO_HITS: u32 = u32::MAX;

/// A node of the call tree, as written.
#[derive(Clone, Debug)]
pub struct Node {
    /// Id of the node given by the producer.
    pub id: u64,
    /// Id of the parent; [`NO_ID`] if there is none.
    pub parent: u64,
    /// Range of the node's object, from `{` to `}`.
    pub text: TextSpan,
    /// Value of `hitCount`; [`NO_HITS`] without the key.
    pub hits: u32,
    /// Range of the node's `children` in [`Chunk::children`]; `None` without the key.
    pub children: Option<Range<u32>>,
}

/// An entry of `trace_ids`: the id of a sample, and its node.
#[derive(Clone, Copy, Debug)]
pub struct TraceId {
    /// Id of the sample, including quotes.
    pub key: TextSpan,
    /// Id of the sample's node.
    pub node: u64,
}

/// An unknown key of a profile.
#[derive(Clone, Debug)]
pub struct Extra {
    /// Text of the key, including quotes.
    pub key: TextSpan,
    /// Text of the value.
    pub value: TextSpan,
}

/// An event of a CPU profile, decoded to columns; times are nanoseconds.
///
/// [`decode_into`](crate::decode_into) fills it.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// New nodes of the call tree.
    pub nodes: Vec<Node>,
    /// Ids of the children of all nodes that list them; `Node::children` are ranges of this list.
    pub children: Vec<u64>,
    /// Ids of the samples' nodes; [`NO_ID`] for samples without a node.
    pub samples: Vec<u64>,
    /// Nanoseconds from the previous sample, at first that of the previous chunk, to each sample.
    pub deltas: Vec<i64>,
    /// The steps that are finer than a nanosecond: index in `deltas` (ascending) and the nearest
    /// double, in microseconds.
    pub finer: Vec<(u32, f64)>,
    /// Lines of samples, 0 for invalid lines; `None` without the key. The length may differ from
    /// `samples`.
    pub lines: Option<Vec<i64>>,
    /// Columns of samples, like `lines`.
    pub columns: Option<Vec<i64>>,
    /// Entries of `trace_ids`: ids that programs gave to samples.
    pub trace_ids: Vec<TraceId>,
    /// Unknown keys of the data or of its `cpuProfile`, in input order; they are kept.
    pub extras: Vec<Extra>,
    /// Start of the recording, in nanoseconds.
    pub start: Option<i64>,
    /// End of the recording, in nanoseconds.
    pub end: Option<i64>,
    /// API that recorded the profile, if known.
    pub source: Option<ProfileSource>,
    /// Text that the input has in another form, for [`TextSpan::decoded_at`].
    pub decoded_text: Vec<u8>,
    /// Absolute times of the old format, to be converted to `deltas`, and the offset of their list.
    timestamps: Option<(Vec<i64>, u64)>,
    /// Defects by kind, with offsets in the concatenated inputs.
    pub flaws: Flaws,
}

impl Chunk {
    /// Decodes the args at the start of `args`, whose offset in the concatenated inputs is `base`.
    ///
    /// Cost: one pass, about 1 ns per byte.
    pub fn read_args(&mut self, args: &[u8], base: u64) {
        Decoder::new(args, base, self).args();
    }

    /// Like [`Chunk::read_args`] without samples, times, lines and columns: a tenth of the cost.
    pub(crate) fn read_args_but_samples(&mut self, args: &[u8], base: u64) {
        Decoder { with_samples: false, ..Decoder::new(args, base, self) }.args();
    }

    /// Returns the sum of the steps in nanoseconds, saturating at 64 bits.
    pub fn duration(&self) -> i64 {
        self.deltas.iter().fold(0, |sum: i64, &delta| sum.saturating_add(delta))
    }

    /// Clears the chunk, but keeps its memory for the next chunk.
    pub fn clear(&mut self) {
        let chunk = std::mem::take(self);
        *self = Chunk {
            nodes: emptied(chunk.nodes),
            children: emptied(chunk.children),
            samples: emptied(chunk.samples),
            deltas: emptied(chunk.deltas),
            finer: emptied(chunk.finer),
            trace_ids: emptied(chunk.trace_ids),
            extras: emptied(chunk.extras),
            decoded_text: emptied(chunk.decoded_text),
            ..Chunk::default()
        };
    }

    /// Decodes one key of a whole profile, such as `nodes`.
    pub fn read_member(&mut self, key: &[u8], value: &[u8], base: u64) {
        let mut decoder = Decoder::new(value, base, self);
        decoder.profile_member(key);
        decoder.note_passed();
    }

    /// Reads up to `most` nodes from inside an array at offset `base`; returns the bytes used.
    pub fn read_nodes(&mut self, rest: &[u8], base: u64, most: usize) -> usize {
        self.read_list(rest, base, |decoder| {
            while decoder.chunk.nodes.len() < most && decoder.cursor.next_element() {
                decoder.node();
            }
        })
    }

    /// Reads sample ids from inside an array, like [`Chunk::read_nodes`].
    pub fn read_samples(&mut self, rest: &[u8], base: u64, most: usize) -> usize {
        self.read_list(rest, base, |decoder| decoder.sample_ids(most))
    }

    /// Reads time steps from inside an array, like [`Chunk::read_nodes`].
    pub fn read_deltas(&mut self, rest: &[u8], base: u64, most: usize) -> usize {
        self.read_list(rest, base, |decoder| decoder.deltas(most))
    }

    fn read_list(
        &mut self,
        rest: &[u8],
        base: u64,
        read: impl FnOnce(&mut Decoder<'_, '_>),
    ) -> usize {
        let mut decoder = Decoder::new(rest, base, self);
        read(&mut decoder);
        decoder.note_passed();
        decoder.cursor.offset()
    }

    /// Converts the absolute times of the old format to steps, start and end.
    ///
    /// `startTime` and `endTime` are ignored, as in DevTools: they are in seconds and often whole.
    pub fn finish(&mut self) {
        let Some((times, at)) = self.timestamps.take() else { return };
        self.start = times.first().copied();
        self.end = times.iter().copied().max();
        let before = times.first().into_iter().chain(&times);
        for (time, &before) in times.iter().zip(before) {
            let delta = time.checked_sub(before);
            if delta.is_none() {
                self.flaws.add(FlawKind::Delta, at);
            }
            self.deltas.push(delta.unwrap_or(0));
        }
    }
}

fn emptied<T>(mut list: Vec<T>) -> Vec<T> {
    list.clear();
    list
}

pub(crate) struct Decoder<'b, 'c> {
    pub cursor: Cursor<'b>,
    bytes: &'b [u8],
    /// Offset of `bytes` in the concatenated inputs.
    base: u64,
    pub chunk: &'c mut Chunk,
    with_samples: bool,
}

impl<'b, 'c> Decoder<'b, 'c> {
    fn new(bytes: &'b [u8], base: u64, chunk: &'c mut Chunk) -> Self {
        Decoder { cursor: Cursor::new(bytes), bytes, base, chunk, with_samples: true }
    }

    pub(crate) fn here(&self) -> u64 {
        self.base + self.cursor.offset() as u64
    }

    #[cold]
    pub(crate) fn flaw(&mut self, kind: FlawKind) {
        let here = self.here();
        self.chunk.flaws.add(kind, here);
    }

    /// Counts the invalid text that the cursor skipped.
    fn note_passed(&mut self) {
        if let Some((count, at)) = self.cursor.passed() {
            self.chunk.flaws.add_many(FlawKind::Text, self.base + at as u64, count);
        }
    }

    /// Enters the expected bracket; skips any other value, which is a flaw unless it is `null`.
    pub(crate) fn expect(&mut self, bracket: u8) -> bool {
        if self.cursor.enter(bracket) {
            return true;
        }
        let at = self.here();
        if self.cursor.value() != b"null" {
            self.chunk.flaws.add(FlawKind::Shape, at);
        }
        false
    }

    fn args(mut self) {
        if self.expect(b'{') {
            while let Some(key) = self.cursor.next_key() {
                match &*key {
                    b"data" => self.data(),
                    _ => {
                        self.cursor.value();
                    }
                }
            }
        }
        self.note_passed();
        self.chunk.finish();
    }

    fn data(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        while let Some(key) = self.cursor.next_key() {
            match &*key {
                b"cpuProfile" => self.profile(),
                b"source" => self.source(),
                key => self.profile_member(key),
            }
        }
    }

    fn source(&mut self) {
        let at = self.here();
        match ProfileSource::of(self.cursor.value()) {
            Some(source) => self.chunk.source = Some(source),
            None => self.chunk.flaws.add(FlawKind::Shape, at),
        }
    }

    fn profile(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        while let Some(key) = self.cursor.next_key() {
            self.profile_member(&key);
        }
    }

    /// Reads a key of a profile or of the `data` around the profile: producers put some keys in
    /// either object.
    fn profile_member(&mut self, key: &[u8]) {
        match key {
            b"nodes" => self.nodes(),
            b"head" => self.head(),
            b"samples" | b"timeDeltas" | b"timestamps" | b"lines" | b"columns"
                if !self.with_samples =>
            {
                self.cursor.value();
            }
            b"samples" if self.expect(b'[') => self.sample_ids(usize::MAX),
            b"timeDeltas" if self.expect(b'[') => self.deltas(usize::MAX),
            b"samples" | b"timeDeltas" => {}
            b"timestamps" => {
                let here = self.here();
                let (mut times, at) = self.chunk.timestamps.take().unwrap_or((Vec::new(), here));
                if self.expect(b'[') {
                    self.times(&mut times, usize::MAX, |_, _| {});
                }
                self.chunk.timestamps = Some((times, at));
            }
            b"lines" => self.chunk.lines = self.positions(),
            b"columns" => self.chunk.columns = self.positions(),
            b"trace_ids" | b"traceIds" => self.trace_ids(),
            b"startTime" => self.chunk.start = self.time(|_| {}),
            b"endTime" => self.chunk.end = self.time(|_| {}),
            _ => self.extra(),
        }
    }

    fn text_from(&self, at: u64) -> TextSpan {
        let start = (at - self.base) as usize;
        let text = self.bytes[start..self.cursor.offset()].trim_ascii_end();
        TextSpan { offset: at, len: text.len() as u64 }
    }

    fn extra(&mut self) {
        let key = self.key();
        let value = TextSpan { offset: self.here(), len: self.cursor.value().len() as u64 };
        self.chunk.extras.push(Extra { key, value });
    }

    fn key(&self) -> TextSpan {
        let (key, at) = self.cursor.key();
        TextSpan { offset: self.base + at as u64, len: key.len() as u64 }
    }

    fn nodes(&mut self) {
        if !self.expect(b'[') {
            return;
        }
        while self.cursor.next_element() {
            self.node();
        }
    }

    fn node(&mut self) {
        let at = self.here();
        if !self.cursor.enter(b'{') {
            self.flaw(FlawKind::Node);
            self.cursor.value();
            return;
        }
        let text = TextSpan::default();
        let mut node = Node { id: NO_ID, parent: NO_ID, text, hits: NO_HITS, children: None };
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
            return self.chunk.flaws.add(FlawKind::Node, at);
        }
        self.chunk.nodes.push(node);
    }

    /// Reads a node id: a non-negative integer of up to 64 bits, possibly in quotes.
    #[inline]
    pub(crate) fn id(&mut self) -> Option<u64> {
        match self.cursor.integer() {
            Some(id) => u64::try_from(id).ok(),
            None => odd_id(self.cursor.value()),
        }
    }

    /// Reads a parent id: `null` is no parent, an invalid value becomes an id that no node has.
    fn parent(&mut self) -> u64 {
        if self.cursor.peek() == b'n' {
            self.cursor.value();
            return NO_ID;
        }
        self.id().unwrap_or(NO_ID - 1)
    }

    pub(crate) fn hits(&mut self) -> u32 {
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
            let at = self.here();
            match self.id() {
                Some(id) => self.chunk.children.push(id),
                None => self.chunk.flaws.add(FlawKind::Child, at),
            }
        }
        Some(start..self.chunk.children.len() as u32)
    }

    /// Reads sample ids from the entered list until the chunk has `most`.
    fn sample_ids(&mut self, most: usize) {
        // an invalid id still has a time; it is counted later, as a sample without a node
        while self.chunk.samples.len() < most {
            let samples = &mut self.chunk.samples;
            self.cursor.integers(|id| {
                samples.push(u64::try_from(id).unwrap_or(NO_ID));
                samples.len() < most
            });
            if samples.len() >= most || !self.cursor.next_element() {
                return;
            }
            let id = self.id().unwrap_or(NO_ID);
            self.chunk.samples.push(id);
        }
    }

    /// Reads time steps from the entered list until the chunk has `most`.
    fn deltas(&mut self, most: usize) {
        let mut deltas = std::mem::take(&mut self.chunk.deltas);
        let mut finer = std::mem::take(&mut self.chunk.finer);
        self.times(&mut deltas, most, |at, micros| finer.push((at as u32, micros)));
        (self.chunk.deltas, self.chunk.finer) = (deltas, finer);
    }

    /// Reads times as nanoseconds. Calls `finer` with the index and microseconds of each inexact
    /// time.
    fn times(&mut self, out: &mut Vec<i64>, most: usize, mut finer: impl FnMut(usize, f64)) {
        while out.len() < most {
            self.cursor.integers(|micros| {
                out.push(micros * 1000);
                out.len() < most
            });
            if out.len() >= most || !self.cursor.next_element() {
                return;
            }
            let at = self.here();
            let time = self.time(|micros| finer(out.len(), micros));
            if time.is_none() {
                self.chunk.flaws.add(FlawKind::Delta, at);
            }
            out.push(time.unwrap_or(0));
        }
    }

    /// Reads microseconds as nanoseconds; calls `finer` with the microseconds if that is inexact.
    #[inline]
    fn time(&mut self, finer: impl FnOnce(f64)) -> Option<i64> {
        if let Some(micros) = self.cursor.integer() {
            return micros.checked_mul(1000);
        }
        let at = self.here();
        let value = self.cursor.value();
        let (time, exact) = whole_nanos(value)?;
        if !exact {
            self.chunk.flaws.add(FlawKind::Rounded, at);
            if let Some(micros) = double(value) {
                finer(micros);
            }
        }
        Some(time)
    }

    fn positions(&mut self) -> Option<Vec<i64>> {
        if !self.expect(b'[') {
            return None;
        }
        let mut positions = Vec::with_capacity(self.chunk.samples.len());
        loop {
            self.cursor.integers(|position| {
                positions.push(position);
                true
            });
            if !self.cursor.next_element() {
                return Some(positions);
            }
            let position = self.cursor.integer();
            if position.is_none() {
                self.flaw(FlawKind::Lines);
                self.cursor.value();
            }
            positions.push(position.unwrap_or(0));
        }
    }

    fn trace_ids(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        while self.cursor.next_key().is_some() {
            let key = self.key();
            match self.id() {
                Some(node) => self.chunk.trace_ids.push(TraceId { key, node }),
                None => self.chunk.flaws.add(FlawKind::TraceId, key.offset),
            }
        }
    }
}
