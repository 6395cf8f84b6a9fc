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
//! Chunks that an index knows come in runs. A run is passed over as one chunk with the times and ids of all, unless a sample of it may lie in a
//! window, be in force where one begins, or name a node that is needed: then it is *opened*, and its chunks are gone through one by one. A stream
//! without an index is one open run.
//!
//! A parent stands before its children for the most part, so one walk from the end on finds all ancestors; it is done again as long as it
//! finds something, since a node may be defined again, below another one.
//!
//! Cost: a look at each chunk's times, twice that at its ids, or at each run's; decoding, twice, of the chunks needed, without the samples of those that are
//! needed for their nodes, and of runs that are opened. Heap: some 50 bytes for each
//! node in chunks that were looked at, 16 for each window, and some more for each that is needed.

use super::assemble::{Assembler, Assembly};
use super::chunk::{Chunk, NO_ID, Node};
use super::collect::{PlacedProfile, start_at};
use super::contents::{Contents, decode, decode_nodes};
use super::in_force::InForce;
use super::indexed::IndexedStreams;
use super::order::{ChunkOrder, is_sorted};
use super::pieces::{Located, Piece, Pieces};
use super::skim::is_far;
use super::source::ProfileSource;
use super::streams::Group;
use std::collections::BTreeSet;
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::flaws::FlawKind;
use tracemill_core::hash::HashMap;
use tracemill_core::limits::Limits;
use tracemill_core::order::Order;
use tracemill_core::store::Store;
use tracemill_core::windows::Windows;

/// What windows need of a stream: found by one walk over all chunks (`of`), one over those in windows (`find_needed`), and walks back for
/// ancestors (`find_parents`); then cut, chunk by chunk (`cut`).
struct Excerpt<'c, 's, 'p> {
    group: Group<'c>,
    pieces: Pieces<'c>,
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

/// Puts together what the windows need of a profile; `None` if all of it must be put together instead, since its chunks
/// are not in order, say odd things, or lie in the windows for the most part.
///
/// # Errors
/// [`Scratch`](tracemill_core::error::ErrorKind::Scratch) if the disk does not take the columns.
pub(crate) fn excerpt<'s, 'p>(
    group: Group<'_>,
    windows: &Windows,
    store: &'s Store<'p>,
    memory: u64,
    config: &Limits,
) -> Result<Option<PlacedProfile<'s, 'p>>, Error> {
    let Some(mut excerpt) = Excerpt::of(group, windows, store) else { return Ok(None) };
    excerpt.find_needed();
    if group.known.is_some_and(|known| known.all.is_in_vain()) {
        return Ok(None);
    }
    let counts = (excerpt.samples, excerpt.samples);
    let mut assembler = Assembler::new(store, counts, Assembly::All { memory }, &config.tmp_dir);
    excerpt.cut_all(|chunk, offset| assembler.add(chunk.view(), offset))?;
    let first = group.first_chunk();
    let mut whole = group.finish(assembler, ChunkOrder::Both, first, store)?;
    let end = whole.profile.end.map_or(excerpt.last, |end| end.max(excerpt.last));
    (whole.bounds.end, whole.last) = (end, excerpt.last);
    whole.profile.source = excerpt.source;
    Ok(Some(whole))
}

impl<'c, 's, 'p> Excerpt<'c, 's, 'p> {
    /// `None` if the stream is not such that parts of it can be told apart.
    fn of(group: Group<'c>, windows: &'c Windows, store: &'s Store<'p>) -> Option<Self> {
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
            pieces: Pieces::new(group, start),
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
        excerpt.measure_all()?;
        excerpt.find_in_force();
        // who needs half of a profile needs most of its nodes
        let some = excerpt.samples <= group.counts().0 / 2;
        (some && excerpt.needs_root()).then_some(excerpt)
    }

    /// Opens runs of which something may be needed.
    fn open_where(&mut self, is_needed: fn(&Self, Piece) -> bool) {
        for run in self.pieces.runs() {
            if self.pieces.unopened(run).is_some_and(|piece| is_needed(self, piece)) {
                self.pieces.open(run);
            }
        }
    }

    /// Goes over all chunks, and opens runs that reach into windows; `None` if one says odd things.
    fn measure_all(&mut self) -> Option<()> {
        self.open_where(Self::is_inside);
        self.pieces
            .runs()
            .try_for_each(|run| self.pieces.of(run).try_for_each(|piece| self.measure(piece)))
    }

    /// Finds chunks with samples in force where windows begin, and opens their runs.
    fn find_in_force(&mut self) {
        self.in_force = self.latest();
        // which of its chunks has the sample shows when the run is opened: no other one that is not has as late a sample
        self.open_where(Self::is_in_force);
        if self.group.known.is_some() {
            self.in_force = self.latest();
        }
    }

    /// Pieces with the latest samples before windows, by the greatest time of each.
    fn latest(&self) -> BTreeSet<(usize, usize)> {
        let mut before = InForce::new(self.windows);
        for piece in self.pieces.runs().flat_map(|run| self.pieces.of(run)) {
            // a chunk that reaches over a window's start lies inside, so of the others the latest sample is enough
            if !piece.skim.is_other() && piece.skim.samples() > 0 {
                before.note(piece.times().1, (piece.number, 0));
            }
        }
        before.finish(i64::MAX).into_iter().flatten().collect()
    }

    /// What is known of a chunk that may not have been read.
    fn known(&self, chunk: Located) -> Option<(&'c IndexedStreams, u32)> {
        Some((self.group.known?.all, chunk.sum?))
    }

    /// Whether a sample may lie in a window.
    fn is_inside(&self, piece: Piece) -> bool {
        let (low, high) = piece.times();
        piece.skim.is_other() || piece.skim.samples() > 0 && self.windows.touch(low, high)
    }

    /// Whether a sample in it may be in force where a window begins.
    fn is_in_force(&self, piece: Piece) -> bool {
        let end = piece.number + piece.chunks;
        // nearly all stand before the first, or behind the last
        let ends = (self.in_force.first(), self.in_force.last());
        let (Some(first), Some(last)) = ends else { return false };
        first.0 < end
            && piece.number <= last.0
            && self.in_force.range((piece.number, 0)..(end, 0)).next().is_some()
    }

    /// Notes what there is in a chunk; `None` if it says odd things.
    fn measure(&mut self, piece: Piece) -> Option<()> {
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
        let located = piece.chunk?;
        let known = self.known(located);
        let chunk = self.contents.get_checked(located.entry, known);
        if chunk.nodes.iter().any(|node| node.children.is_some()) {
            return None;
        }
        let mut time = piece.before;
        for delta in chunk.deltas {
            time = time.saturating_add(*delta);
            self.last = self.last.max(time);
        }
        for (has, numbers) in self.positions.iter_mut().zip([chunk.lines, chunk.columns]) {
            *has |= numbers.is_some();
        }
        self.source = chunk.source.or(self.source);
        let nodes = nodes_of(chunk.nodes);
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

    /// The first chunk with nodes, whose run is opened.
    fn first_with_nodes(&mut self) -> Option<Located> {
        for run in self.pieces.runs() {
            if self.pieces.unopened(run).is_some_and(|piece| piece.skim.has_nodes()) {
                self.pieces.open(run);
            }
            let has_nodes = |piece: &Piece| {
                piece.skim.has_nodes() || self.looked_at.contains_key(&piece.number)
            };
            if let Some(found) = self.pieces.of(run).find(has_nodes) {
                return found.chunk;
            }
        }
        None
    }

    /// Notes that the first node is needed, which the others are below; false if it is none that others can be below.
    fn needs_root(&mut self) -> bool {
        let Some(first) = self.first_with_nodes() else { return true };
        let known = self.known(first);
        match self.contents.get_checked(first.entry, known).nodes.first() {
            Some(root) if root.parent == NO_ID => {
                self.needed.insert(root.id);
                true
            }
            _ => false,
        }
    }

    /// Finds the nodes that are needed, and the chunks that have them.
    fn find_needed(&mut self) {
        let mut in_force = InForce::new(self.windows);
        for run in self.pieces.runs() {
            for piece in self.pieces.of(run) {
                if self.is_inside(piece) || self.is_in_force(piece) {
                    self.take_needed(piece, &mut in_force);
                }
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
    fn take_needed(&mut self, piece: Piece, in_force: &mut InForce<'_, (u64, (usize, usize))>) {
        let Some(located) = piece.chunk else { return };
        let known = self.known(located);
        let chunk = self.contents.get_checked(located.entry, known);
        let mut time = piece.before;
        for (at, (&id, delta)) in chunk.samples.iter().zip(chunk.deltas).enumerate() {
            time = time.saturating_add(*delta);
            in_force.note(time, (id, (piece.number, at)));
            if self.windows.at(time).is_some() {
                self.needed.insert(id);
            }
        }
        self.needed.extend(chunk.trace_ids.iter().map(|entry| entry.node));
        let nodes = nodes_of(chunk.nodes);
        self.note_nodes(piece.number, &nodes);
    }

    /// Walks from the end on over the chunks that were not looked at, and looks at those that may have nodes that are needed; whether there was one.
    fn find_parents(&mut self) -> bool {
        let known = self.looked_at.len();
        for run in self.pieces.runs().rev() {
            if self.pieces.unopened(run).is_some_and(|piece| self.may_define(piece)) {
                self.pieces.open(run);
            }
            for piece in self.pieces.backwards(run, self.end) {
                let Some(located) = piece.chunk else { continue };
                if !self.may_define(piece) || self.looked_at.contains_key(&piece.number) {
                    continue;
                }
                let known = self.known(located);
                let nodes = nodes_of(self.contents.nodes_checked(located.entry, known));
                self.note_nodes(piece.number, &nodes);
                for &(id, parent) in nodes.iter().rev() {
                    if parent != NO_ID && self.needed.contains(&id) {
                        self.need(parent);
                    }
                }
            }
        }
        self.looked_at.len() > known
    }

    /// Whether it may have nodes that are needed.
    fn may_define(&self, piece: Piece) -> bool {
        piece.skim.has_nodes() && self.needed.range(piece.skim.ids()).next().is_some()
    }

    /// Gives what is needed of each chunk, and where that stands.
    fn cut_all(&self, mut each: impl FnMut(Chunk, u64) -> Result<(), Error>) -> Result<(), Error> {
        let mut pending = 0;
        let pieces = self.pieces.runs().flat_map(|run| self.pieces.of(run));
        pieces
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
    fn cut(&self, piece: Piece, pending: &mut i64) -> Option<(Chunk, u64)> {
        let Some(Located { entry, .. }) = piece.chunk else {
            *pending = pending.saturating_add(piece.skim.duration());
            return None;
        };
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
