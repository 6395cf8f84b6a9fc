//! Checks CPU profiles for `check`: assembles each profile and collects its defects.
//!
//! ```text
//!   Streams ─> Suspects ─ judge(0), judge(1), … ─> Judged, Judged, … ─ verdict ─> Verdict
//!              (finished)  on any threads            in order                    offsets to report
//! ```
//!
//! Profiles are judged independently, on any threads; only finding threads with two profiles needs
//! all results. Samples are checked but not stored ([`Assembly::Tree`]).

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

/// The CPU profiles of a trace that are to be checked.
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

/// Result of checking one profile.
pub struct Judged {
    flaws: Flaws,
    /// Order of the chunks. Only [`ChunkOrder::Time`] is reported, because readers that keep file
    /// order fail on such chunks.
    order: ChunkOrder,
    /// Offset of the first node that only its `parent` places, although the first node of the
    /// profile has `children`.
    by_parent: Option<u64>,
}

impl<'c> Suspects<'c> {
    /// Collects all profiles of the streams.
    pub fn of(streams: &'c Streams) -> Self {
        Suspects { groups: streams.groups(), odd: streams.odd }
    }

    /// Returns the number of profiles.
    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// Checks the profile at index `number`, on any thread.
    ///
    /// Cost: about 1 ns for each byte of its data, and the memory of its call tree.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::run::error::ErrorKind::Scratch) if a temporary file
    /// cannot be written.
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

    /// Combines the results of [`Suspects::judge`], one per profile in order.
    ///
    /// A thread has more than one profile if two profiles with nodes have the same pid and tid as
    /// written. Profiles without a `Profile` event do not count, since their thread is unknown.
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
            if !no_profile && group.parts.sums.nodes > 0 && !threads.insert(owner) {
                first.into_iter().for_each(|first| verdict.further.add(first));
            }
        }
        verdict
    }
}

/// Defects of all profiles of a trace: exact counts, and the first few offsets.
#[derive(Default)]
pub struct StreamVerdict {
    /// Defects of all profiles, by kind.
    pub flaws: Flaws,
    /// Profiles whose chunks are not in the order in which they must be read.
    pub reordered: Tally,
    /// Profiles with nodes that only their `parent` places, although the first node has `children`.
    ///
    /// DevTools drops such nodes with their subtrees.
    pub by_parent: Tally,
    /// Profiles whose thread already has a profile, located by their first chunk. DevTools shows
    /// one profile per thread.
    pub further: Tally,
    /// Chunks with more than 10,000 samples, nodes or time deltas. DevTools fails on much larger
    /// chunks.
    pub large: Tally,
    /// Chunks with different numbers of samples and time deltas.
    pub uneven: Tally,
    /// Chunks with a time delta that looks like a negative 32-bit number written as unsigned.
    pub unsigned: Tally,
}
