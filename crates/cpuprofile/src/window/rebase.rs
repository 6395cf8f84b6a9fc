//! Re-bases a CPU profile stream: writes the part in windows as a new stream that starts at the
//! first of these windows.
//!
//! ```text
//!   stream      Profile @10   samples  12 15 18 │    21 24 27 │ 30 …    window │20 … 30│
//!   re-based    Profile @20   samples           │ 20 21 24 27           20 has the node of 18
//! ```
//!
//! The stream has the samples inside with exact times, lines and columns; their nodes with all
//! ancestors, as written; and their `trace_ids`. A window begins with the sample in force
//! ([`InForce`]), unless a sample is exactly at its start. If the profile starts outside the
//! windows, `ts` of its `Profile` event moves to the window's start, and `startTime` moves by the
//! same difference.
//!
//! Cost: assembling the profile, and reading its samples twice more. Heap: its call tree.

use crate::chunk::in_force::InForce;
use crate::streams::ProfileGroup;
use crate::streams::collect::PlacedProfile;
use crate::tree::NONE;
use crate::tree::assembled::{Profile, SampleColumn, Samples};
use tracemill_tokenizer::{Field, fields_of, members, string_is};
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::{member, push_integer, push_micros};
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::time::attos::Attos;
use tracemill_trace::time::windows::Windows;

/// Maximum number of samples, and of nodes, in a chunk.
const MOST: usize = 10_000;

/// Line and column of a sample; 0 if missing.
type Positions = [i64; 2];

/// Writes an assembled profile as a re-based stream, once.
pub(crate) struct Rebase<'g, 's, 'p> {
    group: ProfileGroup<'g>,
    whole: &'g PlacedProfile<'s, 'p>,
    windows: &'g Windows,
    /// Node, line and column of the sample in force at the start of each window.
    in_force: Vec<Option<(u32, Positions)>>,
    store: &'g Store<'p>,
    /// Position of each node in an order with parents first.
    position: Vec<u32>,
    /// Whether a chunk with the node was written.
    sent: Vec<bool>,
    /// Text that ends each chunk event, up to the value of `ts`.
    tail: Vec<u8>,
    /// Whether the recording API was written.
    begun: bool,
    ts: i64,
    out: Vec<u8>,
}

#[derive(Default)]
struct RebasedSamples {
    nodes: Vec<u32>,
    deltas: Vec<i64>,
    positions: [Vec<i64>; 2],
    first: i64,
}

/// Iterator over samples with their times and positions.
struct SampleWalk<'a> {
    steps: Samples<'a>,
    positions: [Option<Samples<'a>>; 2],
    time: i64,
}

impl Iterator for SampleWalk<'_> {
    type Item = (u32, i64, Positions);

    fn next(&mut self) -> Option<Self::Item> {
        let sample = self.steps.next()?;
        self.time = self.time.saturating_add(sample.delta);
        let mut positions = [0; 2];
        for (position, samples) in positions.iter_mut().zip(&mut self.positions) {
            if let Some(samples) = samples {
                *position = samples.next().map_or(0, |sample| sample.position);
            }
        }
        Some((sample.node, self.time, positions))
    }
}

/// Iterator over the samples to write: the samples in windows, and the sample in force at the start
/// of each window.
struct Inside<'a> {
    walk: SampleWalk<'a>,
    windows: &'a Windows,
    /// Samples in force at the start of windows that have not begun.
    in_force: std::iter::Peekable<std::vec::IntoIter<(usize, u32, Positions)>>,
    /// The next sample and its window, to be returned after the samples in force.
    held: Option<(usize, (u32, i64, Positions))>,
}

impl Iterator for Inside<'_> {
    type Item = (u32, i64, Positions);

    fn next(&mut self) -> Option<Self::Item> {
        while self.held.is_none() {
            let Some(sample) = self.walk.next() else { break };
            self.held = self.windows.at(sample.1).map(|window| (window, sample));
        }
        let to = self.held.map_or(usize::MAX, |(window, _)| window);
        match self.in_force.next_if(|&(window, ..)| window <= to) {
            Some((window, node, positions)) => Some((node, self.windows.0[window].from, positions)),
            None => self.held.take().map(|(_, sample)| sample),
        }
    }
}

impl<'g, 's, 'p> Rebase<'g, 's, 'p> {
    /// Creates the writer. Reads the samples once to find the samples in force at the start of
    /// windows.
    pub(crate) fn new(
        group: ProfileGroup<'g>,
        whole: &'g PlacedProfile<'s, 'p>,
        windows: &'g Windows,
        store: &'g Store<'p>,
    ) -> Result<Self, Error> {
        let tree = &whole.profile.tree;
        let mut position: Vec<u32> = (0..tree.len() as u32).collect();
        for (at, node) in (0..).zip(tree.parents_first().into_iter().flatten()) {
            position[node as usize] = at;
        }
        let (sent, ts) = (vec![false; tree.len()], i64::MIN);
        let (tail, out, begun) = (Vec::new(), Vec::new(), false);
        let in_force = Vec::new();
        let mut rebase =
            Rebase { group, whole, windows, in_force, store, position, sent, tail, begun, ts, out };
        let mut in_force = InForce::new(windows);
        for (node, time, positions) in rebase.walk() {
            in_force.note(time, (node, positions));
        }
        rebase.in_force = in_force.finish(whole.last);
        Ok(rebase)
    }

    fn profile(&self) -> &'g Profile<'s, 'p> {
        &self.whole.profile
    }

    /// Returns all samples of the profile with their times.
    fn walk(&self) -> SampleWalk<'g> {
        let profile = self.profile();
        let [lines, columns] = profile.has_positions();
        let of = |which, has: bool| has.then(|| profile.samples(SampleColumn::Position(which)));
        let positions = [of(0, lines), of(1, columns)];
        SampleWalk {
            steps: profile.samples(SampleColumn::Steps),
            positions,
            time: self.whole.start,
        }
    }

    fn inside(&self) -> Inside<'g> {
        let windows = self.in_force.iter().enumerate();
        let known =
            windows.filter_map(|(window, &sample)| sample.map(|(node, at)| (window, node, at)));
        let in_force: Vec<_> = known.collect();
        let (walk, in_force) = (self.walk(), in_force.into_iter().peekable());
        Inside { walk, windows: self.windows, in_force, held: None }
    }

    /// Writes the `Profile` event, chunks, and a chunk with the end if there is one.
    ///
    /// Returns the number of samples.
    pub(crate) fn write(
        mut self,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let start = self.start();
        self.write_head(start, emit)?;
        self.tail = self.envelope();
        let mut batch = RebasedSamples::default();
        let (mut before, mut count, mut last) = (start, 0, start);
        for (node, time, positions) in self.inside() {
            if batch.nodes.is_empty() {
                batch.first = time;
            }
            batch.nodes.push(node);
            batch.deltas.push(time.saturating_sub(before));
            for (list, position) in batch.positions.iter_mut().zip(positions) {
                list.push(position);
            }
            (before, count, last) = (time, count + 1, last.max(time));
            if batch.nodes.len() == MOST {
                self.write_chunk(&std::mem::take(&mut batch), emit)?;
            }
        }
        if !batch.nodes.is_empty() {
            self.write_chunk(&batch, emit)?;
        }
        self.write_end(last, emit)?;
        Ok(count)
    }

    /// Returns the new start: the start of the profile if a window contains it, else the start of
    /// the window of the first sample.
    fn start(&self) -> i64 {
        let start = self.whole.start;
        if self.windows.at(start).is_some() {
            return start;
        }
        let Some((_, time, _)) = self.inside().next() else { return start };
        let from = self.windows.at(time).map_or(time, |window| self.windows.0[window].from);
        // a window without a lower limit has no start
        if from == i64::MIN { time } else { from }
    }

    /// Writes the last `Profile` event with a new `ts` and `startTime`, and all other bytes
    /// unchanged.
    ///
    /// `startTime` may use another clock than `ts`. So the same difference is added to `ts` and to
    /// `startTime`, without rounding.
    fn write_head(
        &mut self,
        start: i64,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.ts = start;
        let Some(head) = self.group.parts.heads.last() else { return Ok(()) };
        let bytes = self.store.event(head.entry.place);
        if start == self.whole.start {
            return emit(bytes);
        }
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let mut patches = Patches::default();
        let ts = event.field(Field::Ts).and_then(Attos::of);
        let data = event.field(Field::Args).and_then(|args| member(args, b"data"));
        if let Some(value) = data.and_then(|data| member(data, b"startTime"))
            && let Some(moved) = ts.zip(Attos::of(value))
        {
            let mut text = Vec::new();
            (moved.1 + Attos::from_nanos(start) - moved.0).push(&mut text);
            patches.number(bytes, value, &text);
        }
        let mut text = Vec::new();
        push_micros(start, &mut text);
        patches.field(&event, Field::Ts, &text);
        emit(&patches.apply(bytes))
    }

    /// Returns `,"cat":…,"id":…,"name":"ProfileChunk","ph":"P","pid":…,"tid":…,"ts":`.
    fn envelope(&self) -> Vec<u8> {
        let head = || self.group.parts.heads.last().map(|head| head.entry);
        let Some(first) = self.group.chunks().first().or_else(head) else { return Vec::new() };
        let bytes = self.store.event(first.place);
        let spans = fields_of(bytes);
        let mut tail = Vec::new();
        for field in [Field::Cat, Field::Id, Field::Id2] {
            if let Some(value) = spans.field(bytes, field) {
                tail.extend_from_slice(format!(",\"{}\":", field.key()).as_bytes());
                tail.extend_from_slice(value);
            }
        }
        tail.extend_from_slice(b",\"name\":\"ProfileChunk\",\"ph\":\"P\"");
        for field in [Field::Pid, Field::Tid] {
            if let Some(value) = spans.field(bytes, field) {
                tail.extend_from_slice(format!(",\"{}\":", field.key()).as_bytes());
                tail.extend_from_slice(value);
            }
        }
        tail.extend_from_slice(b",\"ts\":");
        tail
    }

    /// Ends the current event with the common keys and the time.
    fn end_event(&mut self, emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        self.out.extend_from_slice(&self.tail);
        push_micros(self.ts, &mut self.out);
        self.out.push(b'}');
        emit(&self.out)
    }

    /// Writes a chunk of samples, preceded by chunks of nodes if the samples need too many nodes.
    fn write_chunk(
        &mut self,
        batch: &RebasedSamples,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut nodes = self.needed(batch);
        while nodes.len() > MOST {
            let rest = nodes.split_off(MOST);
            self.begin_nodes(&nodes);
            self.out.extend_from_slice(b"}}}");
            self.end_event(emit)?;
            nodes = rest;
        }
        self.ts = self.ts.max(batch.first);
        self.begin_nodes(&nodes);
        self.out.extend_from_slice(if nodes.is_empty() { b"" } else { b"," });
        let tree = &self.profile().tree;
        self.list("\"samples\":[", &batch.nodes, |&node, out| push_integer(tree.id(node), out));
        self.out.push(b'}');
        let has = self.profile().has_positions();
        for (number, key) in [",\"lines\":[", ",\"columns\":["].into_iter().enumerate() {
            if has[number] {
                self.list(key, &batch.positions[number], |&number, out| push_integer(number, out));
            }
        }
        self.list(",\"timeDeltas\":[", &batch.deltas, |&ns, out| push_micros(ns, out));
        self.out.extend_from_slice(b"}}");
        self.end_event(emit)
    }

    fn list<T>(&mut self, open: &str, items: &[T], push: impl Fn(&T, &mut Vec<u8>)) {
        self.out.extend_from_slice(open.as_bytes());
        for (number, item) in items.iter().enumerate() {
            if number > 0 {
                self.out.push(b',');
            }
            push(item, &mut self.out);
        }
        self.out.push(b']');
    }

    /// Returns the unwritten nodes of a batch with their ancestors, parents first.
    fn needed(&mut self, batch: &RebasedSamples) -> Vec<u32> {
        let tree = &self.whole.profile.tree;
        let mut nodes = Vec::new();
        for &node in &batch.nodes {
            let mut node = node;
            while node != NONE && !std::mem::replace(&mut self.sent[node as usize], true) {
                nodes.push(node);
                node = tree.parents[node as usize];
            }
        }
        nodes.sort_unstable_by_key(|&node| self.position[node as usize]);
        nodes
    }

    fn begin_nodes(&mut self, nodes: &[u32]) {
        self.out.clear();
        self.out.extend_from_slice(b"{\"args\":{\"data\":{");
        if let Some(source) = self.profile().source
            && !std::mem::replace(&mut self.begun, true)
        {
            self.out.extend_from_slice(format!("\"source\":\"{}\",", source.name()).as_bytes());
        }
        self.out.extend_from_slice(b"\"cpuProfile\":{");
        if nodes.is_empty() {
            return;
        }
        let profile = self.profile();
        self.list("\"nodes\":[", nodes, |&node, out| push_node(profile, node, out));
    }

    /// Writes the last chunk, with the end and the unknown keys of the profile.
    fn write_end(
        &mut self,
        last: i64,
        emit: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let profile = self.profile();
        let ids = profile.trace_ids.iter().filter(|(_, node)| self.sent[*node as usize]);
        let mut inner: Vec<u8> = Vec::new();
        for (number, &(key, node)) in ids.enumerate() {
            inner.extend_from_slice(if number == 0 { b"\"trace_ids\":{" } else { b"," });
            inner.extend_from_slice(profile.text(key));
            inner.push(b':');
            push_integer(profile.tree.id(node), &mut inner);
        }
        inner.extend_from_slice(if inner.is_empty() { b"" } else { b"}" });
        for extra in &profile.extras {
            inner.extend_from_slice(if inner.is_empty() { b"" } else { b"," });
            inner.extend_from_slice(profile.text(extra.key));
            inner.push(b':');
            inner.extend_from_slice(profile.text(extra.value));
        }
        if inner.is_empty() && profile.end.is_none() {
            return Ok(());
        }
        self.ts = self.ts.max(last);
        self.out.clear();
        self.out.extend_from_slice(b"{\"args\":{\"data\":{");
        if !inner.is_empty() {
            self.out.extend_from_slice(b"\"cpuProfile\":{");
            self.out.extend_from_slice(&inner);
            self.out.push(b'}');
        }
        if profile.end.is_some() {
            self.out.extend_from_slice(if inner.is_empty() { b"" } else { b"," });
            self.out.extend_from_slice(b"\"endTime\":");
            push_micros(self.end(last), &mut self.out);
        }
        self.out.extend_from_slice(b"}}");
        self.end_event(emit)
    }

    /// Returns the end in the clock of the data, at most the end of the window.
    fn end(&self, last: i64) -> i64 {
        let end = match self.windows.at(last) {
            Some(window) => self.whole.bounds.end.min(self.windows.0[window].to),
            None => self.whole.bounds.end,
        };
        match self.group.own_start() {
            Some(start) => start.saturating_add(end.saturating_sub(self.whole.start)),
            None => end,
        }
    }
}

/// Writes a node, unchanged if that is still valid, otherwise with a new id and parent.
fn push_node(profile: &Profile<'_, '_>, node: u32, out: &mut Vec<u8>) {
    let tree = &profile.tree;
    let text = profile.text(tree.texts[node as usize]);
    let parent = tree.parents[node as usize];
    let parent = (parent != NONE).then(|| tree.id(parent).to_string());
    let has = |name: &[u8]| member(text, name);
    let stays = !tree.renumber
        && has(b"children").is_none()
        && has(b"hitCount").is_none()
        && has(b"parent") == parent.as_deref().map(str::as_bytes);
    if stays {
        return out.extend_from_slice(text);
    }
    out.extend_from_slice(b"{\"id\":");
    push_integer(tree.id(node), out);
    if let Some(parent) = parent {
        out.extend_from_slice(b",\"parent\":");
        out.extend_from_slice(parent.as_bytes());
    }
    const MADE: [&[u8]; 4] = [b"id", b"parent", b"children", b"hitCount"];
    for (key, value) in
        members(text).filter(|(key, _)| !MADE.iter().any(|emit| string_is(key, emit)))
    {
        out.push(b',');
        out.extend_from_slice(key);
        out.push(b':');
        out.extend_from_slice(value);
    }
    out.push(b'}');
}
