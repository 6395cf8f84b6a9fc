//! CPU profiles for `check`: each put together, and what is wrong with it by reader.
//!
//! ```text
//!   Streams ─> Suspects ─ judge(0), judge(1), … ─> Judged, Judged, … ─ verdict ─> Verdict
//!              (finished)  on any threads            in their order                offsets to tell
//! ```
//!
//! Profiles are judged each by itself, so threads can share them out as they like; only whether two profiles are of one thread needs
//! all of them. A profile is put together without its samples ([`Assembly::Tree`]): they are looked at, and forgotten.

use crate::streams::order::ChunkOrder;
use crate::streams::router::OddChunks;
use crate::streams::{ProfileGroup, Streams};
use crate::tree::assemble::Assembly;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::run::limits::Limits;
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::spill::tally::Tally;
use tracemill_trace::store::Store;

/// Profiles that are to be judged.
///
/// ```
/// use tracemill_trace::run::memory::Share;
/// use tracemill_trace::{EventOrder, Limits, Source, Trace};
/// use tracemill_cpuprofile::{Router, Streams, Suspects};
///
/// // a chunk with one step too many, and no `Profile` event
/// let text = r#"[{"name":"ProfileChunk","ph":"P","pid":7,"id":1,"ts":2,"args":{"data":{"cpuProfile":{"nodes":[{"id":1}],
///   "samples":[1]},"timeDeltas":[5,7]}}}]"#;
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let trace = Trace::open(&[Source::bytes("a.json", text)], &limits)?;
/// let mut router = Router::default();
/// trace.events(EventOrder::Input).for_each(|event| router.note(&event.fields(), event.offset));
/// let mut streams = Streams::new(limits.lease("profiles", Share::of(1, 32)), &limits);
/// streams.append(router, 0)?;
/// streams.finish()?;
///
/// let suspects = Suspects::of(&streams);
/// let judged = (0..suspects.count()).map(|number| suspects.judge(number, &trace.store(), &limits));
/// let verdict = suspects.verdict(&judged.collect::<Result<Vec<_>, _>>()?);
/// assert_eq!((verdict.uneven.count, verdict.large.count), (1, 0));
/// assert_eq!(verdict.flaws.iter().next().map(|(kind, _)| kind.name()), Some("no-profile-event"));
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct Suspects<'c> {
    groups: Vec<ProfileGroup<'c>>,
    odd: OddChunks,
}

/// What one profile came to: a few numbers, and its flaws.
pub struct Judged {
    flaws: Flaws,
    /// How its chunks had to be read: [`ChunkOrder::Time`] alone is worth a word, since readers that go by the file fail on it.
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

    /// Puts profile `number` together, which is less than [`Suspects::count`]; any thread may.
    ///
    /// Cost: about 1 ns for each byte of its data, and the memory of its call tree.
    ///
    /// # Errors
    /// [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if the disk does not take what exceeds its share of the memory.
    pub fn judge(
        &self,
        number: usize,
        store: &Store<'_>,
        limits: &Limits,
    ) -> Result<Judged, Error> {
        let whole = self.groups[number].assemble(store, Assembly::Tree, limits)?;
        let tree = &whole.profile.tree;
        let by_parent = tree.by_parent.map(|node| tree.texts[node as usize].offset);
        Ok(Judged { by_parent, order: whole.order, flaws: whole.profile.flaws })
    }

    /// What all profiles came to; `judged` are those of [`Suspects::judge`], in their order, and one of each.
    ///
    /// A thread has more than one profile if two with nodes have its pid and tid, as written; profiles without a `Profile` event do not count,
    /// since nobody knows whose they are.
    pub fn verdict(&self, judged: &[Judged]) -> StreamVerdict {
        let OddChunks { large, uneven, unsigned } = self.odd;
        let mut verdict = StreamVerdict { large, uneven, unsigned, ..StreamVerdict::default() };
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

/// What is wrong with the profiles of a trace; offsets are among all inputs. Of each kind the count is exact, and the first few places are
/// kept.
#[derive(Default)]
pub struct StreamVerdict {
    /// What is wrong with all of them.
    pub flaws: Flaws,
    /// Profiles whose chunks do not stand in the order in which they must be read.
    pub reordered: Tally,
    /// Profiles with nodes that name their parent, while the first node names its children: DevTools goes by the lists then, and leaves
    /// such nodes out with all that is below them.
    pub by_parent: Tally,
    /// Profiles of threads that have one already, by their first chunk: DevTools shows one profile a thread.
    pub further: Tally,
    /// Chunks of more than 10,000 samples, nodes or steps: DevTools fails on much larger ones.
    pub large: Tally,
    /// Chunks with more samples than steps of time, or fewer.
    pub uneven: Tally,
    /// Chunks with a step of time that looks like a negative number written as an unsigned one of 32 bits.
    pub unsigned: Tally,
}
