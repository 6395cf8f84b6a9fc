//! Passes on the long intervals that an index lists, by lane (track) and time. Only intervals of
//! async operations must be sorted.

use crate::build::{SPANS, Take, sorter};
use crate::tracks::record::{OPEN, Span, Timed, colored};
use tracemill_index::drawing::{LaneKey, LaneKind};
use tracemill_index::{DrawnIndex, DrawnSpan};
use tracemill_join::config::Config;
use tracemill_trace::Error;
use tracemill_trace::order::Keyed;
use tracemill_trace::time::bounds::Bounds;

/// Maximum number of intervals with equal start and end that are reordered. Only a forged index has
/// more, and then the order of the index is kept.
const HELD: usize = 1 << 13;

/// Passes all long intervals to `take` by lane and time. Returns the number of intervals without an
/// end. Cost: a pass over the index, and a sort of the intervals of async operations.
pub(crate) fn long(
    index: &DrawnIndex,
    lanes: &[LaneKey],
    unnamed: u32,
    bounds: Bounds,
    config: &Config,
    take: &mut Take<'_>,
) -> Result<u64, Error> {
    let (mut unended, mut held) = (0, Held(Vec::new()));
    // the index lists async operations among the events of threads, but their lanes come after
    // those of all threads
    let mut others = sorter(config, "spans by lane", SPANS);
    index.spans(None, |span| {
        unended += u64::from(span.dur.is_none());
        let lane_span = timed(&span, unnamed, bounds);
        match lanes.get(span.lane as usize).map(|lane| lane.kind) {
            Some(LaneKind::Thread) => held.take(lane_span, take),
            Some(_) => others.push(lane_span),
            // only a forged index names a lane that does not exist
            None => Ok(()),
        }
    })?;
    held.hand_on(take)?;
    others.finish()?.iter().try_for_each(take)?;
    Ok(unended)
}

/// Intervals with equal start and end, which are reordered. The index lists open intervals before
/// those that end with the trace.
struct Held(Vec<Timed>);

impl Held {
    #[inline]
    fn take(&mut self, span: Timed, take: &mut Take<'_>) -> Result<(), Error> {
        let extent = |timed: &Timed| (timed.0, timed.1.start, timed.1.dur);
        let is_other = self.0.last().is_some_and(|last| extent(last) != extent(&span));
        if is_other || self.0.len() == HELD {
            self.hand_on(take)?;
        }
        self.0.push(span);
        Ok(())
    }

    fn hand_on(&mut self, take: &mut Take<'_>) -> Result<(), Error> {
        self.0.sort_unstable_by_key(Timed::key);
        self.0.drain(..).try_for_each(take)
    }
}

pub(crate) fn end_of(span: &DrawnSpan, bounds: Bounds) -> i64 {
    span.dur.map_or(bounds.end, |dur| span.start.saturating_add(dur))
}

pub(crate) fn timed(span: &DrawnSpan, unnamed: u32, bounds: Bounds) -> Timed {
    let &DrawnSpan { lane, name, start, place, dur, color, .. } = span;
    let flags = colored(color) | if dur.is_none() { OPEN } else { 0 };
    let dur = end_of(span, bounds).saturating_sub(start).max(0);
    Timed(lane, Span { start, dur, place, name: name.unwrap_or(unnamed), row: 0, flags })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_intervals_are_ordered_by_offset_even_if_open() {
        let span = |lane, start, dur, place| {
            let flags = if place % 2 == 0 { OPEN } else { 0 };
            Timed(lane, Span { start, dur, place, name: 0, row: 0, flags })
        };
        let listed = [(0, 5, 9, 8), (0, 5, 9, 3), (0, 5, 4, 1), (0, 6, 4, 0), (1, 6, 4, 6)];
        let (mut held, mut order) = (Held(Vec::new()), Vec::new());
        let mut take = |timed: Timed| {
            order.push(timed.1.place);
            Ok(())
        };
        for (lane, start, dur, place) in listed {
            assert!(held.take(span(lane, start, dur, place), &mut take).is_ok());
        }
        assert!(held.hand_on(&mut take).is_ok());
        assert_eq!(order, [3, 8, 1, 0, 6]);
    }
}
