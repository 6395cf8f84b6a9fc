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
//! Cost: a look at each chunk's times, twice that at its ids; decoding, twice, of the chunks needed.

use super::assemble::{Assembler, Keep};
use super::chunk::{Chunk, NO_ID, Node};
use super::collect::{Contents, Group, Whole, decode_again, start_at};
use super::flaws::FlawKind;
use super::order::ChunkOrder;
use super::router::{Found, Role};
use crate::config::Config;
use crate::error::Error;
use crate::order::{Entry, Order};
use crate::slice::Windows;
use crate::store::Store;
use std::collections::BTreeSet;

/// A chunk on its way into the excerpt.
struct Piece<'c> {
    found: &'c Found,
    /// Nanoseconds: the time of the last sample before it.
    before: i64,
    /// Whether a sample may lie in a window.
    inside: bool,
    /// Ids and parents of its nodes, once they were looked at.
    nodes: Option<Vec<(u64, u64)>>,
}

/// What windows need of a stream.
struct Excerpt<'c, 's, 'p> {
    contents: Contents<'c, 's, 'p>,
    pieces: Vec<Piece<'c>>,
    store: &'s Store<'p>,
    windows: &'c Windows,
    /// Ids of nodes.
    needed: BTreeSet<u64>,
    /// Samples in chunks that may lie in windows.
    samples: u64,
    /// The greatest time of a sample.
    last: i64,
    /// Whether there are lines, and columns.
    positions: [bool; 2],
}

/// Puts together what the windows need of a profile; `None` if all of it must be put together instead, since its chunks
/// are not in order, say odd things, or lie in the windows for the most part.
pub(super) fn excerpt<'s, 'p>(
    group: &Group<'_>,
    windows: &Windows,
    store: &'s Store<'p>,
    memory: u64,
    config: &Config,
) -> Result<Option<Whole<'s, 'p>>, Error> {
    let Some(mut excerpt) = Excerpt::of(group, windows, store) else { return Ok(None) };
    excerpt.find_needed();
    let counts = (excerpt.samples, excerpt.samples);
    let mut assembler = Assembler::new(store, counts, Keep::All { memory }, &config.tmp_dir);
    let mut pending = 0;
    for piece in &excerpt.pieces {
        if let Some(chunk) = excerpt.cut(piece, &mut pending) {
            assembler.add(chunk.view(), piece.found.entry.place.offset())?;
        }
    }
    let first = group.chunks.first().map(|found| found.entry);
    let mut whole = group.finish(assembler, ChunkOrder::Both, first.as_ref(), store)?;
    let end = whole.profile.end.map_or(excerpt.last, |end| end.max(excerpt.last));
    whole.bounds.end = end;
    Ok(Some(whole))
}

impl<'c, 's, 'p> Excerpt<'c, 's, 'p> {
    /// `None` if the stream is not such that parts of it can be told apart.
    fn of(group: &'c Group<'c>, windows: &'c Windows, store: &'s Store<'p>) -> Option<Self> {
        let chunks = &group.chunks;
        let plain = |found: &&Found| {
            found.role() == Role::Chunk && found.counts().samples == found.counts().deltas
        };
        let in_order = || chunks.windows(2).all(|pair| is_before(pair, Order(store)));
        // a stream that lies in windows with all its events may lie there with all its samples
        let mut events = group.heads.iter().chain(chunks).map(|found| found.entry.time);
        let outside = events.any(|time| time != i64::MIN && windows.at(time).is_none());
        if !outside || !chunks.iter().all(plain) || !in_order() {
            return None;
        }
        let mut time = start_at(group.heads.last()?.entry, store)?.0;
        let mut excerpt = Excerpt {
            contents: group.contents(store),
            pieces: Vec::with_capacity(chunks.len()),
            store,
            windows,
            needed: BTreeSet::new(),
            samples: 0,
            last: time,
            positions: [false; 2],
        };
        for &found in chunks {
            let piece = excerpt.piece(found, time)?;
            excerpt.pieces.push(piece);
            time = time.saturating_add(found.counts().duration);
        }
        let all: u64 = chunks.iter().map(|found| u64::from(found.counts().samples)).sum();
        // who needs half of a profile needs most of its nodes
        let some = excerpt.samples <= all / 2;
        (some && excerpt.needs_root()).then_some(excerpt)
    }

    fn piece(&mut self, found: &'c Found, before: i64) -> Option<Piece<'c>> {
        let Some(skim) = found.skim() else {
            let chunk = self.contents.of(found);
            if chunk.nodes.iter().any(|node| node.children.is_some()) {
                return None;
            }
            let mut time = before;
            for delta in chunk.deltas {
                time = time.saturating_add(*delta);
                self.last = self.last.max(time);
            }
            self.samples += chunk.samples.len() as u64;
            for (has, numbers) in self.positions.iter_mut().zip([chunk.lines, chunk.columns]) {
                *has |= numbers.is_some();
            }
            let nodes = Some(nodes_of(chunk.nodes));
            return Some(Piece { found, before, inside: true, nodes });
        };
        let (low, high) = (before.saturating_add(skim.low), before.saturating_add(skim.high));
        let inside = found.counts().samples > 0 && self.windows.touch(low, high);
        if found.counts().samples > 0 {
            self.last = self.last.max(high);
        }
        if inside {
            self.samples += u64::from(found.counts().samples);
        }
        for (own, has) in self.positions.iter_mut().zip(skim.positions) {
            *own |= has;
        }
        Some(Piece { found, before, inside, nodes: None })
    }

    /// Notes that the first node is needed, which the others are below; false if it is none that others can be below.
    fn needs_root(&mut self) -> bool {
        let has_nodes = |piece: &Piece<'_>| match (&piece.nodes, piece.found.skim()) {
            (Some(nodes), _) => !nodes.is_empty(),
            (None, skim) => skim.is_some_and(|skim| skim.has_nodes()),
        };
        let Some(at) = self.pieces.iter().position(has_nodes) else { return true };
        match self.contents.of(self.pieces[at].found).nodes.first() {
            Some(root) if root.parent == NO_ID => {
                self.needed.insert(root.id);
                true
            }
            _ => false,
        }
    }

    /// Finds the nodes that are needed, and the chunks that have them.
    fn find_needed(&mut self) {
        let mut needed = std::mem::take(&mut self.needed);
        for at in 0..self.pieces.len() {
            let piece = &self.pieces[at];
            if !piece.inside {
                continue;
            }
            let chunk = self.contents.of(piece.found);
            let mut time = piece.before;
            for (&id, delta) in chunk.samples.iter().zip(chunk.deltas) {
                time = time.saturating_add(*delta);
                if self.windows.at(time).is_some() {
                    needed.insert(id);
                }
            }
            needed.extend(chunk.trace_ids.iter().map(|entry| entry.node));
            let nodes = nodes_of(chunk.nodes);
            self.pieces[at].nodes = Some(nodes);
        }
        // parents mostly come before their children: from the end on, one walk finds them all, and another that it did
        loop {
            let before = needed.len();
            for at in (0..self.pieces.len()).rev() {
                let piece = &self.pieces[at];
                if piece.nodes.is_none()
                    && let Some(skim) = piece.found.skim()
                    && skim.has_nodes()
                    && needed.range(skim.ids()).next().is_some()
                {
                    let nodes = nodes_of(self.contents.of(piece.found).nodes);
                    self.pieces[at].nodes = Some(nodes);
                }
                for &(id, parent) in self.pieces[at].nodes.iter().flatten().rev() {
                    if parent != NO_ID && needed.contains(&id) {
                        needed.insert(parent);
                    }
                }
            }
            if needed.len() == before {
                break;
            }
        }
        self.needed = needed;
    }

    /// A chunk with what is needed of it; `None` if that is nothing. `pending` is the time of the last sample taken, as
    /// far as no sample has it.
    fn cut(&self, piece: &Piece<'_>, pending: &mut i64) -> Option<Chunk> {
        let mut nodes = piece.nodes.iter().flatten();
        let has_nodes = nodes.any(|(id, _)| self.needed.contains(id));
        if !piece.inside && !has_nodes {
            *pending = pending.saturating_add(piece.found.counts().duration);
            return None;
        }
        let mut chunk = decode_again(piece.found.entry, self.store);
        chunk.nodes.retain(|node| self.needed.contains(&node.id));
        let (samples, deltas) =
            (std::mem::take(&mut chunk.samples), std::mem::take(&mut chunk.deltas));
        let positions = [chunk.lines.take(), chunk.columns.take()];
        let mut kept = [Vec::new(), Vec::new()];
        for numbers in positions.iter().flatten() {
            if !numbers.is_empty() && numbers.len() != samples.len() {
                chunk.flaws.add(FlawKind::Lines, piece.found.entry.place.offset());
            }
        }
        let mut time = piece.before;
        for (at, (id, delta)) in samples.into_iter().zip(deltas).enumerate() {
            time = time.saturating_add(delta);
            *pending = pending.saturating_add(delta);
            if self.windows.at(time).is_none() {
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
        Some(chunk)
    }
}

fn nodes_of(nodes: &[Node]) -> Vec<(u64, u64)> {
    nodes.iter().map(|node| (node.id, node.parent)).collect()
}

/// Whether the first of two chunks comes before the second in time, too.
fn is_before(pair: &[&Found], order: Order<'_, '_>) -> bool {
    let entries: [Entry; 2] = [pair[0].entry, pair[1].entry];
    order.compare(&entries[0], &entries[1]).is_lt()
}
