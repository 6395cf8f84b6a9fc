//! Of a CPU profile stream, what windows of time need: the samples inside, and the nodes that those need.
//!
//! ```text
//!   chunks       1      2      3      4 │    5    │ 6      7 …
//!   skimmed   times  times  times  times│  times  │times  times     (on the scan's workers)
//!   decoded     x             x         │    x    │                 samples of 5; nodes that they need, in 1 and 3
//! ```
//!
//! Times count from sample to sample over all chunks, so each chunk's sum of steps must be known; but samples and nodes
//! only of the few chunks that reach into a window, or define a node that is needed. Which those are their ids tell
//! (`skim`). Definitions of one id are all found, wherever they stand, and come in the order of the stream: so the
//! excerpt means what the whole does. What is wrong with parts that nobody needs is not looked for.
//!
//! Of chunks that an index knows (`known`) only those that are decoded are read at all.
//!
//! A parent stands before its children for the most part, so one walk from the end on finds all ancestors; it is done again as long as it
//! finds something, since a node may be defined again, below another one.
//!
//! Cost: a look at each chunk's times, twice that at its ids; decoding, twice, of the chunks needed, without the samples of those that are
//! needed for their nodes. Heap: some 50 bytes for each
//! node in chunks that were looked at, 16 for each window, and some more for each that is needed.

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

/// What windows need of a stream: found by one walk over all chunks (`of`), one over those in windows (`find_needed`), and walks back for
/// ancestors (`find_parents`); then cut, chunk by chunk (`cut`).
struct Excerpt<'c, 's, 'p> {
    group: ProfileGroup<'c>,
    contents: Contents<'c, 's, 'p>,
    store: &'s Store<'p>,
    windows: &'c Windows,
    /// Nanoseconds.
    start: i64,
    /// Ids of nodes.
    needed: BTreeSet<u64>,
    /// Samples before windows that are in force where those begin: numbers of their chunks, and in those; first, for chunks that
    /// were skimmed, of the chunks alone.
    in_force: BTreeSet<(usize, usize)>,
    /// Ids of the nodes of chunks that were looked at, where there are any, by the numbers of the chunks.
    looked_at: HashMap<usize, Box<[u64]>>,
    /// What the nodes of those say that they are below.
    parents: Parents,
    /// Samples in chunks that may lie in windows.
    samples: u64,
    /// The greatest time of a sample.
    last: i64,
    /// That of the last sample.
    end: i64,
    /// Whether there are lines, and columns.
    positions: [bool; 2],
    /// What the chunks say to be of, of which the last one counts.
    source: Option<ProfileSource>,
}

/// A chunk on its way into the excerpt: what is known without a look at its bytes.
#[derive(Clone, Copy)]
struct ExcerptChunk {
    /// Among the chunks of the stream.
    number: usize,
    entry: Entry,
    skim: Skim,
    /// Nanoseconds: the time of the last sample before it.
    before: i64,
}

impl ExcerptChunk {
    /// The least and the greatest time of a sample, if it was skimmed.
    fn times(&self) -> (i64, i64) {
        self.skim.times(self.before)
    }
}

/// Puts together what the windows need of a profile; `None` if all of it must be put together instead, since its chunks
/// are not in order, say odd things, or lie in the windows for the most part.
///
/// # Errors
/// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take the columns.
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
    /// `None` if the stream is not such that parts of it can be told apart.
    fn of(group: ProfileGroup<'c>, windows: &'c Windows, store: &'s Store<'p>) -> Option<Self> {
        let is_plain = || {
            // where all was decoded at once there are none
            let is_skimmed = group.skims().count() == group.chunks().count();
            let is_even = group.skims().iter().all(|skim| skim.is_even());
            let is_told = is_skimmed && is_even && is_sorted(group.chunks(), Order(store));
            group.own.whole.is_none() && is_told
        };
        // a stream that lies in windows with all its events may lie there with all its samples
        let outside = group.times().any(|time| time != i64::MIN && windows.at(time).is_none());
        // whoever knows chunks that were not read knows this of them
        if !outside || group.known.is_none() && !is_plain() {
            return None;
        }
        let start = start_at(group.own.heads.last()?.entry, store)?.0;
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
        // who needs half of a profile needs most of its nodes
        let some = excerpt.samples <= group.counts().0 / 2;
        (some && excerpt.needs_root()).then_some(excerpt)
    }

    /// Its chunks, in their order.
    fn pieces(&self) -> impl Iterator<Item = ExcerptChunk> + use<'c> {
        let both = self.group.chunks().iter().zip(self.group.skims().iter());
        let mut time = self.start;
        (0..).zip(both).map(move |(number, (entry, skim))| {
            let before = time;
            time = time.saturating_add(skim.duration());
            ExcerptChunk { number, entry, skim, before }
        })
    }

    /// As [`Excerpt::pieces`], from the last to the first.
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

    /// Chunks with the latest samples before windows, by the greatest time of each.
    fn latest(&self) -> BTreeSet<(usize, usize)> {
        let mut before = InForce::new(self.windows);
        for piece in self.pieces() {
            // a chunk that reaches over a window's start lies inside, so of the others the latest sample is enough
            if !piece.skim.is_other() && piece.skim.samples() > 0 {
                before.note(piece.times().1, (piece.number, 0));
            }
        }
        before.finish(i64::MAX).into_iter().flatten().collect()
    }

    /// Whether a chunk is what is known of it, if it may not have been read.
    fn is_right(&self, piece: ExcerptChunk) -> bool {
        self.group.known.is_none_or(|known| known.check(piece.number, self.store))
    }

    /// What a chunk holds; nothing if it is another one than is known.
    fn get(&mut self, piece: ExcerptChunk) -> ChunkRef<'_> {
        if self.is_right(piece) { self.contents.get(piece.entry) } else { self.contents.nothing() }
    }

    /// Whether a sample may lie in a window.
    fn is_inside(&self, piece: ExcerptChunk) -> bool {
        let (low, high) = piece.times();
        piece.skim.is_other() || piece.skim.samples() > 0 && self.windows.touch(low, high)
    }

    /// Whether a sample in it may be in force where a window begins.
    fn is_in_force(&self, piece: ExcerptChunk) -> bool {
        // nearly all stand before the first, or behind the last
        let ends = self.in_force.first().zip(self.in_force.last());
        ends.is_some_and(|(first, last)| (first.0..=last.0).contains(&piece.number))
            && self.in_force.range((piece.number, 0)..(piece.number + 1, 0)).next().is_some()
    }

    /// Notes what there is in a chunk; `None` if it says odd things.
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
            for (has, own) in self.positions.iter_mut().zip(piece.skim.positions) {
                *has |= own;
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

    /// Notes what nodes a chunk has: ids and parents.
    fn note_nodes(&mut self, number: usize, nodes: &[(u64, u64)]) {
        if !nodes.is_empty() && !self.looked_at.contains_key(&number) {
            self.looked_at.insert(number, nodes.iter().map(|(id, _)| *id).collect());
            nodes.iter().for_each(|&(id, parent)| self.parents.add(id, parent));
        }
    }

    /// Notes that a node is needed, and all that it is known to be below.
    fn need(&mut self, id: u64) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if self.needed.insert(id) {
                left.extend(self.parents.of(id));
            }
        }
    }

    /// Notes that the first node is needed, which the others are below; false if it is none that others can be below.
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

    /// Finds the nodes that are needed, and the chunks that have them.
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
        // parents mostly come before their children: from the end on, one walk finds them all, and another that it did
        while self.find_parents() {}
    }

    /// Notes what the samples of a chunk need that lie in windows, and which are in force.
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

    /// Walks from the end on over the chunks that were not looked at, and looks at those that may have nodes that are needed; whether there was one.
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

    /// Whether it may have nodes that are needed.
    fn may_define(&self, piece: ExcerptChunk) -> bool {
        piece.skim.has_nodes() && self.needed.range(piece.skim.ids()).next().is_some()
    }

    /// Gives what is needed of each chunk, and where that stands.
    fn cut_all(&self, mut each: impl FnMut(Chunk, u64) -> Result<(), Error>) -> Result<(), Error> {
        let mut pending = 0;
        self.pieces()
            .filter_map(|piece| self.cut(piece, &mut pending))
            .try_for_each(|(chunk, offset)| each(chunk, offset))
    }

    /// A chunk without samples that are needed, with its nodes that are.
    fn cut_nodes(&self, entry: Entry) -> Chunk {
        let mut chunk = Chunk::default();
        decode_nodes(entry, self.store, &mut chunk);
        chunk.nodes.retain(|node| self.needed.contains(&node.id));
        chunk.lines = self.positions[0].then(Vec::new);
        chunk.columns = self.positions[1].then(Vec::new);
        chunk
    }

    /// A chunk with what is needed of it, and where it stands; `None` if that is nothing. `pending` is the time of the last sample taken, as
    /// far as no sample has it.
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

/// What nodes are below: each definition of one counts.
#[derive(Default)]
struct Parents {
    /// By the first definition of each.
    first: HashMap<u64, u64>,
    /// Of nodes that were defined again, below others.
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
