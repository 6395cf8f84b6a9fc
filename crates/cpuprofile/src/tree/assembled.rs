//! A profile that is put together: its tree, and its samples in columns.
//!
//! ```text
//!   tree      nodes, parents before children by `parents_first`
//!   samples   3 3 4 3 …      number of a node in the tree, 4 bytes     ┐
//!   deltas    0 125 130 …    nanoseconds since the sample before       ├ equally long, on disk beyond their share
//!   lines     7 7 9 7 …      where the trace has them                  ┘
//! ```
//!
//! Most profiles are *plain*: every sample names a node and has a step, and the columns can be read as they stand ([`Profile::columns`]).
//! Others hold numbers that mean no node, or one that came later than the sample: [`Profile::samples`] skips the first, whose time goes to the
//! next sample, and resolves the second.
//!
//! Cost: 12 bytes a sample, and 8 for a line or column, in memory or on disk; reading takes about 2 ns a sample either way.

use crate::chunk::Extra;
use crate::chunk::source::ProfileSource;
use crate::chunk::text::TextSpan;
use crate::tree::{NONE, Tree};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::spill::{SpillVec, SpilledIter, SpilledVec};
use tracemill_trace::store::Store;

/// Numbers from here on stand for ids that no node had so far.
pub(super) const LATER: u32 = 1 << 31;

/// The bytes of a text: in the input, or in `decoded_text`, which has what does not stand in the input as it is meant. Cost: a binary
/// search over the inputs.
///
/// # Panics
/// If the text is of another store, or of other decoded text.
pub fn text_of<'t>(text: TextSpan, store: &Store<'t>, decoded_text: &'t [u8]) -> &'t [u8] {
    match text.decoded_at() {
        Some(at) => &decoded_text[at],
        None => store.slice(text.offset, text.len),
    }
}

/// A profile, whole; or, of [`Assembly::Tree`](crate::Assembly::Tree), without samples, and what it says of them is not final. Times are
/// nanoseconds.
pub struct Profile<'s, 'p> {
    pub(super) store: &'s Store<'p>,
    pub(super) decoded_text: Vec<u8>,
    /// The call tree.
    pub tree: Tree,
    /// Samples of each node, by its number in the tree.
    pub counted: Vec<u32>,
    /// What the numbers from [`LATER`] on mean.
    pub(super) later: Vec<u32>,
    /// See [`Assembler`](crate::tree::assemble::Assembler): numbers of nodes, if the profile is plain.
    pub(super) samples: SpilledVec<u32>,
    /// Nanoseconds, one a sample.
    pub(super) deltas: SpilledVec<i64>,
    /// Lines and columns; none if no chunk has them.
    pub(super) positions: [Option<SpilledVec<i64>>; 2],
    /// Whether every sample names a node and has a step.
    pub(super) plain: bool,
    /// Samples that programs name: the id, and the number of the node.
    pub trace_ids: Vec<(TextSpan, u32)>,
    /// Members that mean nothing here and are kept.
    pub extras: Vec<Extra>,
    /// When it starts, as the chunks themselves say, in the clock of the events.
    pub start: Option<i64>,
    /// The end; see `start`.
    pub end: Option<i64>,
    /// What recorded it.
    pub source: Option<ProfileSource>,
    /// What is wrong with it, and was mended or left out.
    pub flaws: Flaws,
    /// How many samples there are, and how far they reach.
    pub extent: Extent,
}

impl Profile<'_, '_> {
    /// The bytes of a node's object, or of a key, as written in the input: not proven to be JSON. Cost: as [`text_of`].
    pub fn text(&self, text: TextSpan) -> &[u8] {
        text_of(text, self.store, &self.decoded_text)
    }

    /// The samples that name a node, in order, each with what is wanted of it. Cost: about 2 ns a sample, in memory or on disk.
    pub fn samples(&self, wanted: SampleColumn) -> Samples<'_> {
        let position = match wanted {
            SampleColumn::Position(which) => self.positions[which].as_ref().map(SpilledVec::iter),
            SampleColumn::Nodes | SampleColumn::Steps => None,
        };
        let deltas = (wanted == SampleColumn::Steps).then(|| self.deltas.iter());
        Samples { profile: self, samples: self.samples.iter(), deltas, position }
    }

    /// The columns as they are, if every sample names a node and has a step, as in all profiles that nobody damaged:
    /// then there is nothing to skip or to look up, and no need of [`Profile::samples`].
    pub fn columns(&self) -> Option<Columns<'_>> {
        let [lines, columns] = self.positions.each_ref().map(Option::as_ref);
        let all =
            Columns { nodes: &self.samples, steps: &self.deltas, positions: [lines, columns] };
        self.plain.then_some(all)
    }

    /// Whether it has lines, and columns: as columns of their own, of any length but 0.
    pub fn has_positions(&self) -> [bool; 2] {
        self.positions.each_ref().map(|p| p.as_ref().is_some_and(|column| !column.is_empty()))
    }

    /// Says what becomes of `count` samples without any times; the first chunk is that of the event at `offset`.
    pub(super) fn judge_untimed(&mut self, offset: u64, count: u64) {
        if self.start.is_some() && self.end.is_some() {
            self.flaws.add(FlawKind::Untimed, offset);
        } else {
            self.flaws.add_many(FlawKind::Unpaired, offset, count);
        }
    }

    /// Gives samples without any times the same distance from each other, as DevTools does; `steps` takes it. Without start or end there
    /// is no distance, and no sample stays.
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

    /// Counts what was not clear while the chunks came.
    pub(super) fn measure(&mut self) {
        let mut extent = Extent::default();
        self.samples(SampleColumn::Steps).for_each(|sample| extent.add(sample.delta));
        self.extent = extent;
    }
}

/// The columns of samples, equally long. See [`Profile::columns`].
pub struct Columns<'a> {
    /// Index of each sample's node in the call tree.
    pub nodes: &'a SpilledVec<u32>,
    /// Nanoseconds from the sample before, or from the start of the profile, to each.
    pub steps: &'a SpilledVec<i64>,
    /// Lines and columns of each sample, where the profile has them.
    pub positions: [Option<&'a SpilledVec<i64>>; 2],
}

/// How many samples there are, and how far they reach.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// Number of samples that name a node.
    pub samples: u64,
    /// That of the last one, in nanoseconds from the start on.
    pub(super) time: i64,
    /// The greatest time of a sample, in nanoseconds from the start on.
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

/// What is read beside the node of each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleColumn {
    /// Nothing more.
    Nodes,
    /// The time since the sample before.
    Steps,
    /// The line (0) or the column (1).
    Position(usize),
}

/// One sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Index of its node in the call tree.
    pub node: u32,
    /// Nanoseconds since the sample before, or the start; if wanted.
    pub delta: i64,
    /// Line or column, if wanted, as the trace has it.
    pub position: i64,
}

/// Reads samples in order.
pub struct Samples<'a> {
    pub(super) profile: &'a Profile<'a, 'a>,
    pub(super) samples: SpilledIter<'a, u32>,
    pub(super) deltas: Option<SpilledIter<'a, i64>>,
    pub(super) position: Option<SpilledIter<'a, i64>>,
}

impl Iterator for Samples<'_> {
    type Item = Sample;

    /// The next sample that names a node; the steps of those that do not are added to its own.
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
