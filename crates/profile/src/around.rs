//! Of a stream that an index knows, the samples around a stretch of time, and the nodes that these need.
//!
//! ```text
//!   chunks    c1   c2   c3 │ c4   c5 │ c6   c7        those that reach into the stretch, and on either side as many
//!   read           x    x    x    x    x    x         as have two samples
//! ```
//!
//! Its chunks come in order of time, none beginning before the one before it ends: so the samples of neighbours are neighbours among all samples.

use super::collect::start_at;
use super::contents::Contents;
use super::decoded_chunks::ChunkRef;
use super::excerpt::Excerpt;
use super::pieces::{Piece, Pieces};
use super::streams::Group;
use std::collections::VecDeque;
use tracemill_core::error::Error;
use tracemill_core::limits::Limits;
use tracemill_core::store::Store;
use tracemill_core::windows::Windows;

/// Samples on either side of a stretch: whether a sample stands between two of one stack is seen by these.
const BESIDE: u64 = 2;

/// All samples of a stream, of which some are read. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSpan {
    /// How many there are.
    pub count: u64,
    /// The time of the first.
    pub first: i64,
    /// The time of the last.
    pub last: i64,
    /// How many stand before those that are read.
    pub before: u64,
}

/// Neighbouring pieces.
#[derive(Clone, Copy)]
struct Stretch {
    /// The time of the first sample, and of the last.
    low: i64,
    high: i64,
    samples: u64,
    /// Samples before them.
    before: u64,
}

/// Looks for the pieces to be read, among pieces in order.
struct Around {
    from: i64,
    to: i64,
    /// Those before the stretch, as few of the last as are enough.
    before: VecDeque<Stretch>,
    held: u64,
    found: Option<Stretch>,
    /// Samples behind the stretch.
    behind: u64,
    count: u64,
    ends: Option<(i64, i64)>,
}

impl Around {
    fn new((from, to): (i64, i64)) -> Self {
        let (before, found, ends) = (VecDeque::new(), None, None);
        Around { from, to, before, held: 0, found, behind: 0, count: 0, ends }
    }

    fn note(&mut self, piece: Piece) {
        let samples = piece.skim.samples();
        if samples == 0 {
            return;
        }
        let at = |time| piece.before.saturating_add(time);
        let (low, high) = (at(piece.skim.low), at(piece.skim.high));
        let own = Stretch { low, high, samples, before: self.count };
        self.count += samples;
        self.ends = Some((self.ends.map_or(low, |ends| ends.0), high));
        if high < self.from {
            self.before.push_back(own);
            self.held += samples;
            self.drop_first();
            return;
        }
        // what has the time of the last one taken comes with it
        let is_tied = self.found.is_some_and(|found| found.high == low);
        if self.behind >= BESIDE && !is_tied {
            return;
        }
        self.behind += if low > self.to { samples } else { 0 };
        let first = self.found.or_else(|| self.before.front().copied()).unwrap_or(own);
        self.found = Some(Stretch { high, ..first });
    }

    /// Leaves out the first ones before the stretch that are not needed.
    fn drop_first(&mut self) {
        while let (Some(first), Some(second)) = (self.before.front(), self.before.get(1))
            && self.held - first.samples >= BESIDE
            && first.high < second.low
        {
            self.held -= first.samples;
            self.before.pop_front();
        }
    }

    /// From the first to the last; `None` without samples.
    fn finish(&self) -> Option<Stretch> {
        let all_before = self.before.front().zip(self.before.back());
        self.found.or(all_before.map(|(first, last)| Stretch { high: last.high, ..*first }))
    }
}

impl Group<'_> {
    /// Whether an index knows its chunks.
    pub fn is_known(self) -> bool {
        self.known.is_some()
    }

    fn around(self, times: (i64, i64), store: &Store<'_>) -> Option<Around> {
        self.known?;
        let start = start_at(self.own.heads.last()?.entry, store)?.0;
        let mut pieces = Pieces::new(self, start);
        let mut of_runs = Around::new(times);
        pieces.runs().flat_map(|run| pieces.of(run)).for_each(|piece| of_runs.note(piece));
        if let Some(own) = of_runs.finish() {
            for run in pieces.runs() {
                let reaches = |piece: Piece| {
                    let at = |time| piece.before.saturating_add(time);
                    at(piece.skim.low) <= own.high && at(piece.skim.high) >= own.low
                };
                if pieces.unopened(run).is_some_and(reaches) {
                    pieces.open(run);
                }
            }
        }
        let mut of_chunks = Around::new(times);
        pieces.runs().flat_map(|run| pieces.of(run)).for_each(|piece| of_chunks.note(piece));
        Some(of_chunks)
    }

    /// Gives the chunks of a stream that an index knows: those with samples around `times` (first and last, in nanoseconds) and the nodes that these need, or all if that
    /// is most; and says which samples there are. Nothing of that counts if a chunk proved to be another one
    /// ([`IndexedStreams::is_wrong`](crate::IndexedStreams::is_wrong)). Of another stream it gives nothing.
    ///
    /// Cost: a look at all runs, at the chunks of those that reach there, and what is given is decoded.
    ///
    /// # Errors
    /// What temporary files say.
    pub fn each_around(
        self,
        times: (i64, i64),
        store: &Store<'_>,
        limits: &Limits,
        mut each: impl FnMut(ChunkRef<'_>),
    ) -> Result<Option<SampleSpan>, Error> {
        let Some(known) = self.known else { return Ok(None) };
        let Some(around) = self.around(times, store) else { return Ok(None) };
        let Some((stretch, (first, last))) = around.finish().zip(around.ends) else {
            return Ok(None);
        };
        let count = around.count;
        let windows = Windows(vec![(stretch.low, stretch.high.saturating_add(1))]);
        let Some(mut excerpt) = Excerpt::of(self, &windows, store) else {
            if let Some(all) = known.load(store, limits)? {
                let mut contents = Contents::new(self.kept, store);
                all.entries().iter().for_each(|entry| each(contents.get(entry)));
            }
            return Ok(Some(SampleSpan { count, first, last, before: 0 }));
        };
        excerpt.find_needed();
        if !known.all.is_wrong() {
            excerpt.cut_all(|mut chunk, _| {
                chunk.source = excerpt.source();
                each(chunk.view());
                Ok(())
            })?;
        }
        Ok(Some(SampleSpan { count, first, last, before: stretch.before }))
    }
}
