//! CPU profiles for `check`: each put together, and what is wrong with it by reader.

use super::assemble::Keep;
use super::order::ChunkOrder;
use super::router::OddLengths;
use super::streams::{Group, Streams};
use tracemill_core::error::Error;
use tracemill_core::flaws::{FlawKind, Flaws};
use tracemill_core::hash::HashSet;
use tracemill_core::limits::Limits;
use tracemill_core::store::Store;
use tracemill_core::tally::Tally;

/// Profiles that are to be judged.
pub struct Suspects<'c> {
    groups: Vec<Group<'c>>,
    odd: OddLengths,
}

/// What one profile came to.
pub struct Judged {
    flaws: Flaws,
    order: ChunkOrder,
    /// Where a node stands that has its place by its `parent` alone, though the first node has children.
    by_parent: Option<u64>,
}

impl<'c> Suspects<'c> {
    /// All of them, to be put together each by itself.
    pub fn of(streams: &'c Streams) -> Self {
        Suspects { groups: streams.groups(), odd: streams.odd }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// Puts profile `number` together.
    ///
    /// Cost: about 1 ns for each byte of its data, and the memory of its call tree.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_core::error::ErrorKind::Scratch) if the disk does not take what exceeds its share of the memory.
    pub fn judge(
        &self,
        number: usize,
        store: &Store<'_>,
        config: &Limits,
    ) -> Result<Judged, Error> {
        let whole = self.groups[number].assemble(store, Keep::Tree, config)?;
        let tree = &whole.profile.tree;
        let by_parent = tree.by_parent.map(|node| tree.texts[node as usize].offset);
        Ok(Judged { by_parent, order: whole.order, flaws: whole.profile.flaws })
    }

    /// What all profiles came to; `judged` are those of [`Suspects::judge`], in their order.
    pub fn verdict(&self, judged: &[Judged]) -> Verdict {
        let OddLengths { large, uneven } = self.odd;
        let mut verdict = Verdict { large, uneven, ..Verdict::default() };
        let mut threads = HashSet::default();
        for (group, judged) in self.groups.iter().zip(judged) {
            verdict.flaws.append(&judged.flaws);
            let first = group.chunks().first().map(|chunk| chunk.place.offset());
            if let Some(first) = first
                && judged.order == ChunkOrder::Time
            {
                verdict.reordered.add(first);
            }
            judged.by_parent.into_iter().for_each(|node| verdict.by_parent.add(node));
            let no_profile = judged.flaws.iter().any(|(kind, _)| kind == FlawKind::NoProfile);
            let owner = (group.owner.pid.clone(), Box::<[u8]>::from(group.tid()));
            if !no_profile && group.own.sums.nodes > 0 && !threads.insert(owner) {
                first.into_iter().for_each(|first| verdict.further.add(first));
            }
        }
        verdict
    }
}

/// What is wrong with the profiles of a trace; offsets are among all inputs.
#[derive(Default)]
pub struct Verdict {
    /// What is wrong with all of them.
    pub flaws: Flaws,
    /// Profiles whose chunks do not stand in the order in which they must be read.
    pub reordered: Tally,
    /// Profiles with nodes that name their parent, while the first node names its children.
    pub by_parent: Tally,
    /// Profiles of threads that have one already.
    pub further: Tally,
    /// Chunks of more samples, nodes or steps than is safe.
    pub large: Tally,
    /// Chunks of as many samples as steps they have not.
    pub uneven: Tally,
}
