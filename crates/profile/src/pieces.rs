//! The chunks of a stream in the order of its times: one by one, or a run of those that an index knows as one.
//!
//! ```text
//!   stream without an index     c c c c c c c c c c c c c c c      one open run
//!   of an index                 ├───────┤c c c c c├───────┤├───     the second was opened
//! ```

use super::indexed::Run;
use super::skim::Skim;
use super::streams::Group;
use std::ops::Range;
use tracemill_core::entry::Entry;
use tracemill_core::hash::HashSet;

/// A chunk on its way into the excerpt, or several that are passed over as one: what is known without a look at their bytes.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// The number of the first among the chunks of the stream, and how many they are.
    pub(super) number: usize,
    pub(super) chunks: usize,
    /// What is known of them.
    pub(super) skim: Skim,
    /// Nanoseconds: the time of the last sample before it.
    pub(super) before: i64,
    /// Where it stands, of one chunk.
    pub(super) chunk: Option<Located>,
}

impl Piece {
    /// The least and the greatest time of a sample in chunks that were skimmed.
    pub(super) fn times(&self) -> (i64, i64) {
        self.skim.times(self.before)
    }
}

/// Where a chunk stands.
#[derive(Clone, Copy)]
pub(super) struct Located {
    pub(super) entry: Entry,
    /// Its checksum, if it may not have been read.
    pub(super) sum: Option<u32>,
}

/// The chunks of a stream.
pub(super) struct Pieces<'c> {
    group: Group<'c>,
    /// Nanoseconds.
    start: i64,
    runs: usize,
    opened: HashSet<usize>,
}

impl<'c> Pieces<'c> {
    /// Of a stream that starts at this time.
    pub(super) fn new(group: Group<'c>, start: i64) -> Self {
        let runs = group.known.map_or(1, |known| known.runs().count() as usize);
        Pieces { group, start, runs, opened: HashSet::default() }
    }

    /// Numbers of all runs.
    pub(super) fn runs(&self) -> Range<usize> {
        0..self.runs
    }

    /// A run as one, if an index knows it and it was not opened.
    pub(super) fn unopened(&self, run: usize) -> Option<Piece> {
        let own = self.group.known.filter(|_| !self.opened.contains(&run))?.runs().get(run)?;
        let (number, chunks) = (own.number as usize, own.chunks as usize);
        Some(Piece { number, chunks, skim: own.skim, before: self.before(own), chunk: None })
    }

    fn before(&self, run: Run) -> i64 {
        self.start.saturating_add(run.elapsed)
    }

    /// From now on it is gone through chunk by chunk.
    pub(super) fn open(&mut self, run: usize) {
        self.opened.insert(run);
    }

    /// The chunks of a run, in order, if it was opened; else all as one.
    pub(super) fn of(&self, run: usize) -> Box<dyn Iterator<Item = Piece> + 'c> {
        let Some(known) = self.group.known else {
            let both = self.group.chunks().iter().zip(self.group.skims().iter());
            let chunks = both.map(|(entry, skim)| (Located { entry, sum: None }, skim));
            return Box::new(placed(chunks, 0, self.start));
        };
        if let Some(piece) = self.unopened(run) {
            return Box::new(std::iter::once(piece));
        }
        let Some(own) = known.runs().get(run) else { return Box::new(std::iter::empty()) };
        let chunks = known.chunks(own).iter();
        let chunks = chunks.map(|(entry, skim, sum)| (Located { entry, sum: Some(sum) }, skim));
        Box::new(placed(chunks, own.number as usize, self.before(own)))
    }

    /// As [`Pieces::of`], from the last to the first; the last sample of all has the time `end`.
    pub(super) fn backwards(
        &self,
        run: usize,
        mut end: i64,
    ) -> Box<dyn Iterator<Item = Piece> + 'c> {
        if self.group.known.is_some() {
            return Box::new(self.of(run).collect::<Vec<_>>().into_iter().rev());
        }
        let (chunks, skims) = (self.group.chunks(), self.group.skims());
        let numbers = (0..chunks.count() as usize).rev();
        let both = chunks.iter().rev().zip(skims.iter().rev());
        Box::new(numbers.zip(both).map(move |(number, (entry, skim))| {
            end = end.saturating_sub(skim.duration());
            let chunk = Some(Located { entry, sum: None });
            Piece { number, chunks: 1, skim, before: end, chunk }
        }))
    }
}

/// Chunks one behind the other, from one of this number on, behind a sample of this time.
fn placed(
    chunks: impl Iterator<Item = (Located, Skim)>,
    number: usize,
    mut time: i64,
) -> impl Iterator<Item = Piece> {
    (number..).zip(chunks).map(move |(number, (chunk, skim))| {
        let before = time;
        time = time.saturating_add(skim.duration());
        Piece { number, chunks: 1, skim, before, chunk: Some(chunk) }
    })
}
