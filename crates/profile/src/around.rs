//! Of a stream that an index knows, the samples around a stretch of time, and the nodes that these need.
//!
//! ```text
//!   chunks    ├─ c1 ─┤├─ c2 ─┤  ├──── c3 ────┤    ├─ c5 ─┤ ├─ c6 ─┤
//!                             ├── c4 ──┤ │
//!   stretch                        ├─────┤                              from … to
//!   samples             ├───────────────────────────────┤               of all chunks, those of these times
//! ```
//!
//! What is taken reaches so far that two samples stand on either side of the stretch; it is all samples of a stretch of time, wherever their chunks
//! stand. So neighbours among them are neighbours among all.

use super::collect::start_at;
use super::contents::Contents;
use super::decoded_chunks::ChunkRef;
use super::excerpt::Excerpt;
use super::pieces::{Piece, Pieces};
use super::streams::Group;
use std::collections::VecDeque;
use tracemill_core::bounds::widen;
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
    /// The least time of one.
    pub first: i64,
    /// The greatest.
    pub last: i64,
    /// How many come before those that are read, in the order of their times.
    pub before: u64,
}

/// Looks for the times to be taken, among pieces in the order of the stream.
struct Around {
    from: i64,
    to: i64,
    /// Of pieces before the stretch the last ones, as few as are enough: the least time of each, and its samples.
    before: VecDeque<(i64, u64)>,
    held: u64,
    /// The least and the greatest time of what reaches into the stretch, or stands behind it and is taken.
    found: Option<(i64, i64)>,
    /// Samples that are taken behind the stretch.
    behind: u64,
    /// Of all.
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
        let (low, high) = piece.times();
        self.count += samples;
        widen(&mut self.ends, (low, high));
        if high < self.from {
            self.before.push_back((low, samples));
            self.held += samples;
            while let Some((_, first)) = self.before.front()
                && self.held - first >= BESIDE
            {
                self.held -= first;
                self.before.pop_front();
            }
        } else if low <= self.to {
            widen(&mut self.found, (low, high));
        } else if self.behind < BESIDE {
            self.behind += samples;
            widen(&mut self.found, (low, high));
        }
    }

    /// The first and the last time to be taken; `None` without samples.
    fn finish(&self) -> Option<(i64, i64)> {
        let (least, greatest) = self.ends?;
        let before = self.before.iter().map(|own| own.0).min();
        // where nothing is behind the stretch all up to the end is taken
        let last = self.found.filter(|_| self.behind >= BESIDE).map_or(greatest, |found| found.1);
        Some((before.unwrap_or(least), last))
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
        if let Some((first, last)) = of_runs.finish() {
            for run in pieces.runs() {
                let reaches = |piece: Piece| {
                    let (low, high) = piece.times();
                    low <= last && high >= first
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
        let Some((taken, (first, last))) = around.finish().zip(around.ends) else {
            return Ok(None);
        };
        let count = around.count;
        let windows = Windows(vec![(taken.0, taken.1.saturating_add(1))]);
        let Some(mut excerpt) = Excerpt::of(self, &windows, store) else {
            if let Some(all) = known.load(store, limits)? {
                let mut contents = Contents::new(self.kept, store);
                all.entries().iter().for_each(|entry| each(contents.get(entry)));
            }
            return Ok(Some(SampleSpan { count, first, last, before: 0 }));
        };
        excerpt.find_needed();
        if known.all.is_wrong() {
            return Ok(None);
        }
        excerpt.cut_all(|mut chunk, _| {
            chunk.source = excerpt.source();
            each(chunk.view());
            Ok(())
        })?;
        let before = excerpt.samples_before(taken.0);
        Ok(Some(SampleSpan { count, first, last, before }))
    }
}
