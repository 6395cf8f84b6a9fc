//! CPU profiles for `check`: each put together, and what is wrong with it by reader.

use super::assemble::Keep;
use super::collect::{Group, groups};
use super::flaws::{FlawKind, Flaws};
use super::order::ChunkOrder;
use super::router::{Role, Streams};
use crate::config::Config;
use crate::error::Error;
use crate::store::Store;
use std::collections::HashSet;
use tracemill_tokenizer::{Event, Field};

/// Samples, nodes or steps that DevTools takes in one chunk without risk (`devtools-semantics.md` §1.12).
const SAMPLES: u32 = 10_000;

/// The profile events of a stretch of the input.
#[derive(Default)]
pub(crate) struct ProfileParts(Streams);

impl ProfileParts {
    /// Looks at an event that is no metadata; `offset` is its place among all inputs.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, offset: u64) {
        // names of profile events begin with P or C, unless they are escaped
        if let Some([b'"', b'P' | b'C' | b'\\', ..]) = event.field_and_rest(Field::Name) {
            self.0.note(event, offset);
        }
    }

    /// Takes over what a later part of the input that begins at `input` has; keeps at most `most` bytes decoded.
    pub(crate) fn append(&mut self, later: ProfileParts, input: u64, most: usize) {
        self.0.append(later.0, input, most);
    }

    /// Long events, for the store.
    pub(crate) fn take_long(&mut self) -> Vec<crate::store::Long> {
        std::mem::take(&mut self.0.long)
    }

    /// The profiles, to be put together each by itself.
    pub(crate) fn suspects(&self) -> Suspects<'_> {
        Suspects(groups(&self.0))
    }
}

/// Profiles that are to be judged.
pub(crate) struct Suspects<'c>(Vec<Group<'c>>);

/// What one profile came to.
pub(crate) struct Judged {
    flaws: Flaws,
    order: ChunkOrder,
}

impl Suspects<'_> {
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Puts profile `number` together.
    ///
    /// Cost: about 1 ns for each byte of its data, and the memory of its call tree.
    pub(crate) fn judge(
        &self,
        number: usize,
        store: &Store<'_>,
        config: &Config,
    ) -> Result<Judged, Error> {
        let whole = self.0[number].assemble(store, Keep::Tree, config)?;
        Ok(Judged { flaws: whole.profile.flaws, order: whole.order })
    }

    /// What all profiles came to; `judged` are those of [`Suspects::judge`], in their order.
    pub(crate) fn verdict(&self, judged: &[Judged]) -> Verdict {
        let mut verdict = Verdict::default();
        let mut threads = HashSet::new();
        for (group, judged) in self.0.iter().zip(judged) {
            verdict.flaws.append(&judged.flaws);
            let first = group.chunks.first().map(|found| found.entry.place.offset());
            if let Some(first) = first
                && judged.order == ChunkOrder::Time
            {
                verdict.reordered.push(first);
            }
            verdict.note_chunks(group);
            let no_profile = judged.flaws.iter().any(|(kind, _)| kind == FlawKind::NoProfile);
            let owner = (group.stream.pid.clone(), Box::<[u8]>::from(group.tid()));
            if !no_profile && group.nodes() > 0 && !threads.insert(owner) {
                verdict.further.extend(first);
            }
        }
        verdict
    }
}

/// What is wrong with the profiles of a trace; offsets are among all inputs.
#[derive(Default)]
pub(crate) struct Verdict {
    pub(crate) flaws: Flaws,
    /// Profiles whose chunks do not stand in the order in which they must be read.
    pub(crate) reordered: Vec<u64>,
    /// Profiles of threads that have one already.
    pub(crate) further: Vec<u64>,
    /// Chunks of more samples, nodes or steps than is safe.
    pub(crate) large: Vec<u64>,
    /// Chunks of as many samples as steps they have not.
    pub(crate) uneven: Vec<u64>,
}

impl Verdict {
    fn note_chunks(&mut self, group: &Group<'_>) {
        for found in group.chunks.iter().filter(|found| found.role() == Role::Chunk) {
            let counts = found.counts();
            if counts.samples.max(counts.nodes).max(counts.deltas) > SAMPLES {
                self.large.push(found.entry.place.offset());
            }
            if counts.samples != counts.deltas {
                self.uneven.push(found.entry.place.offset());
            }
        }
    }
}
