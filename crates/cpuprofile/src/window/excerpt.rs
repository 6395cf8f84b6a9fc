//! Reads only the part of a CPU profile stream that windows need: the samples inside and their
//! nodes.
//!
//! ```text
//!   chunks       1      2      3      4 │    5    │ 6      7 …
//!   skimmed   times  times  times  times│  times  │times  times     (on the scan's workers)
//!   decoded     x             x         │    x    │        5 has samples, 1 and 3 have their nodes
//! ```
//!
//! Sample times are sums of steps over all chunks, so every chunk is skimmed. Only chunks that
//! reach into a window, or define a needed node according to their ids, are decoded. All
//! definitions of an id are found and stay in stream order, so the result equals that of the whole
//! stream. Defects of other chunks are not reported.
//!
//! Parents mostly precede their children, so one backward walk finds the ancestors. It repeats
//! until it finds nothing new, since a node may be redefined with another parent.
//!
//! Cost: skimming every chunk, and decoding the needed chunks twice. Heap: about 50 bytes per node
//! in chunks that were read, and 16 per window.

use crate::chunk::decoded_chunks::ChunkRef;
use crate::chunk::in_force::InForce;
use crate::chunk::skim::{Skim, is_far};
use crate::chunk::source::ProfileSource;
use crate::chunk::{Chunk, NO_ID, Node};
use crate::streams::ProfileGroup;
use crate::streams::collect::{PlacedProfile, start_at};
use crate::streams::contents::{Contents, decode, decode_nodes};
use crate::streams::order::{ChunkOrder, is_sorted};
use crate::tree::assemble::{Assembler, Assembly};
use std::collections::BTreeSet;
use tracemill_trace::order::Order;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::FlawKind;
use tracemill_trace::run::limits::Limits;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::windows::Windows;

/// Collects the samples and nodes of a stream that windows need, then cuts the stream chunk by
/// chunk (`cut`).
struct Excerpt<'c, 's, 'p> {
    group: ProfileGroup<'c>,
    contents: Contents<'c, 's, 'p>,
    store: &'s Store<'p>,
    windows: &'c Windows,
    start: i64,
    needed: BTreeSet<u64>,
    /// Samples in force at the start of windows: index of the chunk, and index in the chunk.
    ///
    /// At first, only the chunk is known, and the second index is 0.
    in_force: BTreeSet<(usize, usize)>,
    /// Node ids of each chunk that was read and has nodes, by index of the chunk.
    looked_at: HashMap<usize, Box<[u64]>>,
    /// Parents of the nodes in chunks that were read.
    parents: Parents,
    /// Number of samples in chunks that may reach into windows.
    samples: u64,
    /// Time of the latest sample of the stream, in nanoseconds.
    last: i64,
    /// Time of the sample at the end of the stream, in nanoseconds; may be earlier than `last`.
    end: i64,
    /// Whether the stream has lines of samples, and whether it has columns.
    positions: [bool; 2],
    /// API that recorded the profile, from the last chunk that names one.
    source: Option<ProfileSource>,
}

/// A chunk with its skim, before its bytes are read.
#[derive(Clone, Copy)]
struct ExcerptChunk {
    number: usize,
    entry: Entry,
    skim: Skim,
    /// Time of the last sample before the chunk, in nanoseconds.
    before: i64,
}

impl ExcerptChunk {
    /// Returns the least and greatest time of a sample, if the chunk was skimmed.
    fn times(&self) -> (i64, i64) {
        self.skim.times(self.before)
    }
}

/// Assembles the part of a profile that the windows need.
///
/// Returns `None` if the whole profile must be assembled instead: its chunks are unordered or
/// unusual, or mostly inside the windows.
///
/// # Errors
/// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file cannot
/// be written.
pub(crate) fn excerpt<'s, 'p>(
    group: ProfileGroup<'_>,
    windows: &Windows,
    store: &'s Store<'p>,
    lease: &Lease,
    limits: &Limits,
) -> Result<Option<PlacedProfile<'s, 'p>>, Error> {
    let Some(mut excerpt) = Excerpt::of(group, windows, store) else { return Ok(None) };
    excerpt.find_needed();
    if group.known.is_some_and(|known| known.is_wrong()) {
        return Ok(None);
    }
    let (count, assembly) = (excerpt.samples, Assembly::All(lease.clone()));
    let mut assembler = Assembler::new(store, count, count, assembly, &limits.tmp_dir);
    excerpt.cut_all(|chunk, offset| assembler.add(chunk.view(), offset))?;
    let first = group.chunks().first();
    let mut whole = group.finish(assembler, ChunkOrder::Both, first, store)?;
    let end = whole.profile.end.map_or(excerpt.last, |end| end.max(excerpt.last));
    (whole.bounds.end, whole.last) = (end, excerpt.last);
    whole.profile.source = excerpt.source;
    Ok(Some(whole))
}

impl<'c, 's, 'p> Excerpt<'c, 's, 'p> {
    /// Measures the stream; returns `None` if the stream must be assembled as a whole.
    fn of(group: ProfileGroup<'c>, windows: &'c Windows, store: &'s Store<'p>) -> Option<Self> {
        let is_plain = || {
            // there are no skims if all chunks were decoded at once
            let is_skimmed = group.skims().count() == group.chunks().count();
            let is_even = group.skims().iter().all(|skim| skim.is_even());
            let is_told = is_skimmed && is_even && is_sorted(group.chunks(), Order(store));
            group.parts.whole.is_none() && is_told
        };
        // if all events are in windows, all samples may be too
        let outside = group.times().any(|time| time != i64::MIN && windows.at(time).is_none());
        // chunks of an index are always plain
        if !outside || group.known.is_none() && !is_plain() {
            return None;
        }
        let start = start_at(group.parts.heads.last()?.entry, store)?.0;
        let mut excerpt = Excerpt {
            group,
            contents: Contents::new(group.kept, store),
            store,
            windows,
            start,
            needed: BTreeSet::new(),
            in_force: BTreeSet::new(),
            looked_at: HashMap::default(),
            parents: Parents::default(),
            samples: 0,
            last: start,
            end: start,
            positions: [false; 2],
            source: None,
        };
        excerpt.pieces().try_for_each(|piece| excerpt.measure(piece))?;
        excerpt.in_force = excerpt.latest();
        // half of the samples usually need most of the nodes
        let some = excerpt.samples <= group.counts().0 / 2;
        (some && excerpt.needs_root()).then_some(excerpt)
    }

    fn pieces(&self) -> impl Iterator<Item = ExcerptChunk> + use<'c> {
        let both = self.group.chunks().iter().zip(self.group.skims().iter());
        let mut time = self.start;
        (0..).zip(both).map(move |(number, (entry, skim))| {
            let before = time;
            time = time.saturating_add(skim.duration());
            ExcerptChunk { number, entry, skim, before }
        })
    }

    fn backwards(&self) -> impl Iterator<Item = ExcerptChunk> + use<'c> {
        let (chunks, skims) = (self.group.chunks(), self.group.skims());
        let numbers = (0..chunks.count() as usize).rev();
        let both = chunks.iter().rev().zip(skims.iter().rev());
        let mut end = self.end;
        numbers.zip(both).map(move |(number, (entry, skim))| {
            end = end.saturating_sub(skim.duration());
            ExcerptChunk { number, entry, skim, before: end }
        })
    }

    /// Returns the chunks with the latest sample before each window.
    fn latest(&self) -> BTreeSet<(usize, usize)> {
        let mut before = InForce::new(self.windows);
        for piece in self.pieces() {
            // a chunk that overlaps a window's start is inside; of all other chunks, the latest
            // sample suffices
            if !piece.skim.is_other() && piece.skim.samples() > 0 {
                before.note(piece.times().1, (piece.number, 0));
            }
        }
        before.finish(i64::MAX).into_iter().flatten().collect()
    }

    /// Returns whether a chunk matches the index, if there is one.
    fn is_right(&self, piece: ExcerptChunk) -> bool {
        self.group.known.is_none_or(|known| known.check(piece.number, self.store))
    }

    /// Returns the contents of a chunk, or no contents if the chunk does not match the index.
    fn get(&mut self, piece: ExcerptChunk) -> ChunkRef<'_> {
        if self.is_right(piece) { self.contents.get(piece.entry) } else { self.contents.nothing() }
    }

    /// Returns whether a sample may be in a window.
    fn is_inside(&self, piece: ExcerptChunk) -> bool {
        let (low, high) = piece.times();
        piece.skim.is_other() || piece.skim.samples() > 0 && self.windows.touch(low, high)
    }

    /// Returns whether a sample of the chunk may be in force at the start of a window.
    fn is_in_force(&self, piece: ExcerptChunk) -> bool {
        // most chunks are before the first or after the last
        let ends = self.in_force.first().zip(self.in_force.last());
        ends.is_some_and(|(first, last)| (first.0..=last.0).contains(&piece.number))
            && self.in_force.range((piece.number, 0)..(piece.number + 1, 0)).next().is_some()
    }

    /// Notes times and sizes of a chunk; returns `None` if the chunk is unusual.
    fn measure(&mut self, piece: ExcerptChunk) -> Option<()> {
        self.end = piece.before.saturating_add(piece.skim.duration());
        let (low, high) = piece.times();
        let times = if piece.skim.samples() > 0 { [self.end, low, high] } else { [self.end; 3] };
        if is_far(self.start) || times.iter().any(|time| is_far(time.saturating_sub(self.start))) {
            return None;
        }
        if self.is_inside(piece) {
            self.samples += piece.skim.samples();
        }
        if !piece.skim.is_other() {
            if piece.skim.samples() > 0 {
                self.last = self.last.max(piece.times().1);
            }
            for (has, present) in self.positions.iter_mut().zip(piece.skim.positions) {
                *has |= present;
            }
            if piece.skim.is_internal {
                self.source = Some(ProfileSource::Internal);
            }
            return Some(());
        }
        let chunk = self.get(piece);
        if chunk.nodes.iter().any(|node| node.children.is_some()) {
            return None;
        }
        let (mut time, mut last) = (piece.before, i64::MIN);
        for delta in chunk.deltas {
            time = time.saturating_add(*delta);
            last = last.max(time);
        }
        let positions = [chunk.lines.is_some(), chunk.columns.is_some()];
        let (source, nodes) = (chunk.source, nodes_of(chunk.nodes));
        self.last = self.last.max(last);
        self.positions.iter_mut().zip(positions).for_each(|(has, position)| *has |= position);
        self.source = source.or(self.source);
        self.note_nodes(piece.number, &nodes);
        Some(())
    }

    /// Notes the ids and parents of a chunk's nodes.
    fn note_nodes(&mut self, number: usize, nodes: &[(u64, u64)]) {
        if !nodes.is_empty() && !self.looked_at.contains_key(&number) {
            self.looked_at.insert(number, nodes.iter().map(|(id, _)| *id).collect());
            nodes.iter().for_each(|&(id, parent)| self.parents.add(id, parent));
        }
    }

    /// Marks a node and its known ancestors as needed.
    fn need(&mut self, id: u64) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.needed.insert(id) {
                left.extend(self.parents.of(id));
            }
        }
    }

    /// Marks the first node as needed; returns false if that node cannot be a root.
    fn needs_root(&mut self) -> bool {
        let has_nodes = |piece: &ExcerptChunk| {
            piece.skim.has_nodes() || self.looked_at.contains_key(&piece.number)
        };
        let Some(first) = self.pieces().find(has_nodes) else { return true };
        let root = self.get(first).nodes.first().map(|root| (root.id, root.parent));
        let root = root.filter(|(_, parent)| *parent == NO_ID);
        self.needed.extend(root.map(|(id, _)| id));
        root.is_some()
    }

    fn find_needed(&mut self) {
        let mut in_force = InForce::new(self.windows);
        for piece in self.pieces() {
            if self.is_inside(piece) || self.is_in_force(piece) {
                self.take_needed(piece, &mut in_force);
            }
        }
        let (ids, places): (Vec<_>, BTreeSet<_>) =
            in_force.finish(self.last).into_iter().flatten().unzip();
        self.needed.extend(ids);
        self.samples += places.len() as u64;
        self.in_force = places;
        for id in std::mem::take(&mut self.needed) {
            self.need(id);
        }
        // usually one backward walk finds all ancestors, and a second one nothing
        while self.find_parents() {}
    }

    /// Marks the nodes of a chunk's samples in windows, and notes the samples in force.
    fn take_needed(
        &mut self,
        piece: ExcerptChunk,
        in_force: &mut InForce<'_, (u64, (usize, usize))>,
    ) {
        let windows = self.windows;
        let chunk = self.get(piece);
        let (mut time, mut needed) = (piece.before, Vec::new());
        for (at, (&id, delta)) in chunk.samples.iter().zip(chunk.deltas).enumerate() {
            time = time.saturating_add(*delta);
            in_force.note(time, (id, (piece.number, at)));
            if windows.at(time).is_some() {
                needed.push(id);
            }
        }
        needed.extend(chunk.trace_ids.iter().map(|entry| entry.node));
        let nodes = nodes_of(chunk.nodes);
        self.needed.extend(needed);
        self.note_nodes(piece.number, &nodes);
    }

    /// Reads the unread chunks that may define needed nodes, from the last chunk to the first.
    /// Returns whether new nodes were found.
    fn find_parents(&mut self) -> bool {
        let before = self.looked_at.len();
        for piece in self.backwards() {
            let is_new = !self.looked_at.contains_key(&piece.number);
            if !is_new || !self.may_define(piece) || !self.is_right(piece) {
                continue;
            }
            let nodes = nodes_of(self.contents.nodes(piece.entry));
            self.note_nodes(piece.number, &nodes);
            for &(id, parent) in nodes.iter().rev() {
                if parent != NO_ID && self.needed.contains(&id) {
                    self.need(parent);
                }
            }
        }
        self.looked_at.len() > before
    }

    fn may_define(&self, piece: ExcerptChunk) -> bool {
        piece.skim.has_nodes() && self.needed.range(piece.skim.ids()).next().is_some()
    }

    /// Calls `each` with the needed part and the offset of every chunk.
    fn cut_all(&self, mut each: impl FnMut(Chunk, u64) -> Result<(), Error>) -> Result<(), Error> {
        let mut pending = 0;
        self.pieces()
            .filter_map(|piece| self.cut(piece, &mut pending))
            .try_for_each(|(chunk, offset)| each(chunk, offset))
    }

    /// Decodes a chunk without samples, and keeps only the needed nodes.
    fn cut_nodes(&self, entry: Entry) -> Chunk {
        let mut chunk = Chunk::default();
        decode_nodes(entry, self.store, &mut chunk);
        chunk.nodes.retain(|node| self.needed.contains(&node.id));
        chunk.lines = self.positions[0].then(Vec::new);
        chunk.columns = self.positions[1].then(Vec::new);
        chunk
    }

    /// Returns the needed part of a chunk and the chunk's offset, if any.
    ///
    /// `pending` is the time since the last sample that was taken.
    fn cut(&self, piece: ExcerptChunk, pending: &mut i64) -> Option<(Chunk, u64)> {
        let entry = piece.entry;
        let offset = entry.place.offset();
        let mut nodes = self.looked_at.get(&piece.number).into_iter().flatten();
        let has_nodes = nodes.any(|id| self.needed.contains(id));
        if !self.is_inside(piece) && !self.is_in_force(piece) {
            *pending = pending.saturating_add(piece.skim.duration());
            return has_nodes.then(|| (self.cut_nodes(entry), offset));
        }
        let mut chunk = decode(entry, self.store);
        chunk.nodes.retain(|node| self.needed.contains(&node.id));
        let (samples, deltas) =
            (std::mem::take(&mut chunk.samples), std::mem::take(&mut chunk.deltas));
        let positions = [chunk.lines.take(), chunk.columns.take()];
        let mut kept = [Vec::new(), Vec::new()];
        for numbers in positions.iter().flatten() {
            if !numbers.is_empty() && numbers.len() != samples.len() {
                chunk.flaws.add(FlawKind::Lines, offset);
            }
        }
        let mut time = piece.before;
        for (at, (id, delta)) in samples.into_iter().zip(deltas).enumerate() {
            time = time.saturating_add(delta);
            *pending = pending.saturating_add(delta);
            if self.windows.at(time).is_none() && !self.in_force.contains(&(piece.number, at)) {
                continue;
            }
            chunk.samples.push(id);
            chunk.deltas.push(std::mem::take(pending));
            for (kept, numbers) in kept.iter_mut().zip(&positions) {
                let number = numbers.as_ref().and_then(|numbers| numbers.get(at));
                kept.push(number.copied().unwrap_or(0));
            }
        }
        let [lines, columns] = kept;
        chunk.lines = self.positions[0].then_some(lines);
        chunk.columns = self.positions[1].then_some(columns);
        Some((chunk, offset))
    }
}

/// Parents of nodes, by all definitions of each node.
#[derive(Default)]
struct Parents {
    /// Parent of each node in its first definition.
    first: HashMap<u64, u64>,
    /// Different parents of a node in later definitions.
    others: HashMap<u64, Vec<u64>>,
}

impl Parents {
    fn add(&mut self, id: u64, parent: u64) {
        if parent != NO_ID && *self.first.entry(id).or_insert(parent) != parent {
            self.others.entry(id).or_default().push(parent);
        }
    }

    fn of(&self, id: u64) -> impl Iterator<Item = u64> {
        let others = self.others.get(&id).into_iter().flatten();
        self.first.get(&id).into_iter().chain(others).copied()
    }
}

fn nodes_of(nodes: &[Node]) -> Box<[(u64, u64)]> {
    nodes.iter().map(|node| (node.id, node.parent)).collect()
}
