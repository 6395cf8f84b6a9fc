//! Finds complete events that overlap without nesting. Viewers cannot draw such events.
//!
//! ```text
//!   a  ├──────────┤
//!   b     ├────┤            nests in a
//!   c           ├──────┤    begins in a and ends after it: overlaps
//! ```
//!
//! ```
//! use tracemill_trace::order::overlap::Ends;
//!
//! let mut open = Ends::default(); // of one thread, in the order of the output
//! assert_eq!(open.enter(0, 10, true), None);
//! assert_eq!(open.enter(3, 8, true), None);
//! assert_eq!(open.enter(9, 16, true), Some(10), "it should have ended there");
//! assert_eq!(open.enter(10, 20, true), None, "what begins where another ends does not overlap");
//!
//! // a pair of B and E, whose end is not known at its B
//! let pair = open.begin(12, true);
//! assert_eq!(open.enter(14, 18, true), None);
//! assert_eq!(open.end(pair, 16, true), 1, "the event from 14 to 18 begins inside the pair and ends after it");
//! let pair = open.begin(17, true);
//! assert_eq!(open.end(pair, 25, true), 1, "the pair begins inside the event from 10 to 20 and ends after it");
//! ```
//!
//! If the ends of pairs are known, an [`OverlapTrack`] takes pairs and complete events:
//!
//! ```
//! use tracemill_trace::order::overlap::{Interval, SliceKind::{Complete, Pair}, OverlapTrack};
//!
//! let mut track = OverlapTrack::default();
//! let interval = |start, end| Interval { start, end, exact: true };
//! assert_eq!(track.enter(Complete, interval(0, 10)), None);
//! assert_eq!(track.enter(Pair, interval(0, 12)), None, "they begin at one time");
//! assert_eq!(track.enter(Complete, interval(2, 5)), None);
//! assert_eq!(track.enter(Pair, interval(3, 7)), Some(5), "it begins in the event from 2 to 5");
//! assert_eq!(track.enter(Complete, interval(11, 15)), Some(12), "it begins in the pair");
//! ```
//!
//! Cost: amortized constant time per event, and a binary search for each pair and for each slice of
//! a track. Heap: 24 bytes per open event.

/// The start and end of a slice, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Start of the slice.
    pub start: i64,
    /// End of the slice.
    pub end: i64,
    /// Whether start and end are exact: whole nanoseconds.
    pub exact: bool,
}

impl Interval {
    /// Returns whether this slice ends before `end`. If `end` or this slice is rounded (not
    /// `exact`), the difference must exceed one nanosecond.
    fn ends_before(&self, end: i64, exact: bool) -> bool {
        end.saturating_sub(self.end) > i64::from(!(exact && self.exact))
    }
}

/// The open complete events of one thread, innermost last. An event overlaps another event if it
/// begins inside the other event and ends after its end.
///
/// Times are nanoseconds, rounded down. `ts` and `dur` may both be rounded down, so an end may be
/// two nanoseconds early. Rounded times are therefore compared with a tolerance of one nanosecond.
#[derive(Clone, Default)]
pub struct Ends(Vec<Interval>);

/// The begin of a B/E pair, with the state that [`Ends::end`] needs.
#[derive(Clone, Copy)]
pub struct PairBegin {
    start: i64,
    exact: bool,
    /// Innermost complete event that began before the pair.
    around: Option<Interval>,
}

impl Ends {
    /// Opens `start..end` if it nests in the open events. Otherwise returns the end of the event
    /// that it overlaps. `exact` states that both times are whole nanoseconds.
    #[inline]
    pub fn enter(&mut self, start: i64, end: i64, exact: bool) -> Option<i64> {
        let crossed = self.crossed(start, end, exact);
        if crossed.is_none() {
            self.0.push(Interval { start, end, exact });
        }
        crossed
    }

    /// Returns the end of the innermost event that is open at `start`, if that event ends before
    /// `end`.
    #[inline]
    fn crossed(&mut self, start: i64, end: i64, exact: bool) -> Option<i64> {
        self.close(start);
        self.0.last().filter(|open| open.ends_before(end, exact)).map(|open| open.end)
    }

    /// Begins a pair at `start`.
    pub fn begin(&mut self, start: i64, exact: bool) -> PairBegin {
        PairBegin { start, exact, around: self.around(start) }
    }

    /// Returns the innermost event that is open at `start` and began before `start`.
    #[inline]
    fn around(&mut self, start: i64) -> Option<Interval> {
        self.close(start);
        let before = self.0.partition_point(|open| open.start < start);
        self.0[..before].last().copied()
    }

    /// Ends a pair at `end` and returns the number of its overlaps. The number is 1 if the pair
    /// begins inside a complete event and ends after that event. Otherwise the number counts the
    /// complete events that begin inside the pair and end after the pair; these events are closed.
    pub fn end(&mut self, pair: PairBegin, end: i64, exact: bool) -> usize {
        self.close(end);
        let exact = exact && pair.exact;
        if end == pair.start {
            return 0;
        }
        if pair.around.is_some_and(|open| open.ends_before(end, exact)) {
            return 1;
        }
        let within = Interval { start: pair.start, end, exact };
        let began = self.0.iter().rev().take_while(|open| open.start > pair.start).count();
        let first = self.0.len() - began;
        let crosses =
            |open: &mut Interval| open.start < end && within.ends_before(open.end, open.exact);
        self.0.extract_if(first.., crosses).count()
    }

    /// Closes events that end at or before `time`.
    #[inline]
    fn close(&mut self, time: i64) {
        while self.0.last().is_some_and(|open| open.end <= time) {
            self.0.pop();
        }
    }

    /// Closes all events.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The kind of events that form a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// One event with a duration.
    Complete,
    /// A begin and an end event.
    Pair,
}

/// The open slices of one track, without overlaps. A pair and a complete event that begin at the
/// same time nest in either order.
#[derive(Clone, Default)]
pub struct OverlapTrack {
    complete: Ends,
    pairs: Ends,
}

impl OverlapTrack {
    /// Opens a slice if it nests in the open slices. Otherwise returns the earliest end of the open
    /// slices that the new slice overlaps. Times of pairs are compared as whole nanoseconds.
    pub fn enter(&mut self, kind: SliceKind, slice: Interval) -> Option<i64> {
        let (ends, other, exact) = match kind {
            SliceKind::Complete => (&mut self.complete, &mut self.pairs, slice.exact),
            SliceKind::Pair => (&mut self.pairs, &mut self.complete, true),
        };
        let Interval { start, end, .. } = slice;
        let around = other.around(start).filter(|open| open.ends_before(end, exact));
        match around.map(|open| open.end) {
            None => ends.enter(start, end, exact),
            Some(least) => {
                Some(ends.crossed(start, end, exact).map_or(least, |end| end.min(least)))
            }
        }
    }
}
