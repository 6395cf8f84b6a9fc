//! An assembled profile: its tree, and its samples in columns.
//!
//! ```text
//!   tree      nodes, parents before children by `parents_first`
//!   samples   3 3 4 3 …      node indices in the tree, 4 bytes        ┐ equally long,
//!   deltas    0 125 130 …    nanoseconds since the previous sample    ├ on disk beyond
//!   lines     7 7 9 7 …      if the trace has them                    ┘ their lease
//! ```
//!
//! Most profiles are *plain*: every sample has a node and a step, and [`Profile::columns`] returns
//! the columns directly. In all other profiles, [`Profile::samples`] resolves placeholders for
//! later nodes, and adds the time of samples without a node to the next sample.
//!
//! Cost: 12 bytes per sample, and 8 per line or column, in memory or on disk; reading takes about 2
//! ns per sample.

use crate::chunk::Extra;
use crate::chunk::source::ProfileSource;
use crate::chunk::text::TextSpan;
use crate::tree::{NONE, Tree};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::spill::{SpillVec, SpilledIter, SpilledVec};
use tracemill_trace::store::Store;

/// First placeholder for an id that no node had yet.
pub(super) const LATER: u32 = 1 << 31;

/// Returns the bytes of a text, from the input or from `decoded_text`.
///
/// Cost: a binary search over the inputs.
///
/// # Panics
/// Panics if the text belongs to another store or other decoded text.
pub fn text_of<'t>(text: TextSpan, store: &Store<'t>, decoded_text: &'t [u8]) -> &'t [u8] {
    match text.decoded_at() {
        Some(at) => &decoded_text[at],
        None => store.slice(text.offset, text.len),
    }
}

/// An assembled profile; times are nanoseconds.
///
/// With [`Assembly::Tree`](crate::Assembly::Tree) it has no samples, and its sample counts are not
/// final.
pub struct Profile<'s, 'p> {
    pub(super) store: &'s Store<'p>,
    pub(super) decoded_text: Vec<u8>,
    /// The call tree of the profile.
    pub tree: Tree,
    /// Number of samples of each node.
    pub counted: Vec<u32>,
    /// Node of each placeholder, in order from [`LATER`] on.
    pub(super) later: Vec<u32>,
    /// Node indices and, unless the profile is plain, placeholders.
    pub(super) samples: SpilledVec<u32>,
    /// The time steps in nanoseconds, one per sample.
    pub(super) deltas: SpilledVec<i64>,
    /// Lines and columns; `None` if no chunk has them.
    pub(super) positions: [Option<SpilledVec<i64>>; 2],
    /// Whether every sample has a node and a step.
    pub(super) plain: bool,
    /// The samples that programs name: the id and the node index of each sample.
    pub trace_ids: Vec<(TextSpan, u32)>,
    /// Unknown keys, which are kept.
    pub extras: Vec<Extra>,
    /// Start according to the chunks, in the clock of the events.
    pub start: Option<i64>,
    /// End according to the chunks, in the clock of the events.
    pub end: Option<i64>,
    /// API that recorded the profile, if known.
    pub source: Option<ProfileSource>,
    /// Defects that were repaired or left out.
    pub flaws: Flaws,
    /// Number of samples and their time range.
    pub extent: Extent,
}

impl Profile<'_, '_> {
    /// Returns the bytes of a node's object or of a key, as written and not validated; see
    /// [`text_of`].
    pub fn text(&self, text: TextSpan) -> &[u8] {
        text_of(text, self.store, &self.decoded_text)
    }

    /// Returns the samples that have a node, in order, with the wanted value.
    ///
    /// Cost: about 2 ns per sample, in memory or on disk.
    pub fn samples(&self, wanted: SampleColumn) -> Samples<'_> {
        let position = match wanted {
            SampleColumn::Position(which) => self.positions[which].as_ref().map(SpilledVec::iter),
            SampleColumn::Nodes | SampleColumn::Steps => None,
        };
        let deltas = (wanted == SampleColumn::Steps).then(|| self.deltas.iter());
        Samples { profile: self, samples: self.samples.iter(), deltas, position }
    }

    /// Returns the columns if every sample has a node and a step, as in undamaged profiles.
    ///
    /// Otherwise use [`Profile::samples`].
    pub fn columns(&self) -> Option<Columns<'_>> {
        let [lines, columns] = self.positions.each_ref().map(Option::as_ref);
        let all =
            Columns { nodes: &self.samples, steps: &self.deltas, positions: [lines, columns] };
        self.plain.then_some(all)
    }

    /// Returns whether the profile has lines of samples, and whether it has columns.
    pub fn has_positions(&self) -> [bool; 2] {
        self.positions.each_ref().map(|p| p.as_ref().is_some_and(|column| !column.is_empty()))
    }

    /// Counts samples without times, as [`FlawKind::Untimed`] if start and end are known, otherwise
    /// as [`FlawKind::Unpaired`].
    pub(super) fn judge_untimed(&mut self, offset: u64, count: u64) {
        if self.start.is_some() && self.end.is_some() {
            self.flaws.add(FlawKind::Untimed, offset);
        } else {
            self.flaws.add_many(FlawKind::Unpaired, offset, count);
        }
    }

    /// Spaces samples without times evenly, as DevTools does. Drops the samples if the start or the
    /// end is unknown.
    pub(super) fn spread(&mut self, mut steps: SpillVec<i64>) -> Result<(), Error> {
        let count = self.samples.len() as i128;
        let (Some(start), Some(end)) = (self.start, self.end) else {
            self.samples = SpilledVec::default();
            self.positions = [None, None];
            self.counted.fill(0);
            return Ok(());
        };
        let duration = i128::from(end.saturating_sub(start).max(0));
        let time = |sample: i128| (duration * sample / count) as i64;
        (0..count).try_for_each(|i| steps.push(time(i) - time((i - 1).max(0))))?;
        self.deltas = steps.finish()?;
        Ok(())
    }

    /// Recomputes the extent, once all samples are resolved.
    pub(super) fn measure(&mut self) {
        let mut extent = Extent::default();
        self.samples(SampleColumn::Steps).for_each(|sample| extent.add(sample.delta));
        self.extent = extent;
    }
}

/// Columns of equal length, one value per sample; see [`Profile::columns`].
pub struct Columns<'a> {
    /// Index of each sample's node in the call tree.
    pub nodes: &'a SpilledVec<u32>,
    /// Nanoseconds to each sample from the previous sample, or from the start of the profile.
    pub steps: &'a SpilledVec<i64>,
    /// Lines and columns of the samples.
    pub positions: [Option<&'a SpilledVec<i64>>; 2],
}

/// Number of samples and their time range.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Number of samples that have a node.
    pub samples: u64,
    /// Time of the last sample, in nanoseconds from the start.
    pub(super) time: i64,
    /// Greatest time of a sample, in nanoseconds from the start.
    pub last: i64,
}

impl Extent {
    #[inline]
    pub(super) fn add(&mut self, delta: i64) {
        self.samples += 1;
        self.time = self.time.saturating_add(delta);
        self.last = self.last.max(self.time);
    }
}

/// Value to read in addition to the node of each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleColumn {
    /// Only the node of each sample.
    Nodes,
    /// The nanoseconds since the previous sample.
    Steps,
    /// The line (0) or the column (1) of each sample.
    Position(usize),
}

/// A sample of a profile.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Index of the sample's node in the call tree.
    pub node: u32,
    /// Nanoseconds since the previous sample or the start, if wanted.
    pub delta: i64,
    /// Line or column as written, if wanted.
    pub position: i64,
}

/// Iterator over the samples of a profile that have a node.
pub struct Samples<'a> {
    pub(super) profile: &'a Profile<'a, 'a>,
    pub(super) samples: SpilledIter<'a, u32>,
    pub(super) deltas: Option<SpilledIter<'a, i64>>,
    pub(super) position: Option<SpilledIter<'a, i64>>,
}

impl Iterator for Samples<'_> {
    type Item = Sample;

    /// Returns the next sample with a node. Adds the steps of skipped samples to its step.
    #[inline]
    fn next(&mut self) -> Option<Sample> {
        let mut delta = 0i64;
        for number in self.samples.by_ref() {
            if let Some(deltas) = &mut self.deltas {
                delta = delta.saturating_add(deltas.next().unwrap_or(0));
            }
            let position = self.position.as_mut().and_then(Iterator::next).unwrap_or(0);
            let node = match number {
                NONE => NONE,
                LATER.. => self.profile.later[(number - LATER) as usize],
                node => node,
            };
            if node != NONE {
                return Some(Sample { node, delta, position });
            }
        }
        None
    }
}
