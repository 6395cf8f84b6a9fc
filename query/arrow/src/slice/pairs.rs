//! Pairs begin and end events.

use super::records::{Length, Operation, PairEvent, PairThreadTime, Slice, Step};
use crate::tracks::TrackKind;
use tracemill_join::config::OPEN;
use tracemill_trace::Error;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::order::{KeySorter, SortedByKey};
use tracemill_trace::run::limits::Quota;

/// Pairs the events of one operation after the other, and adds their slices.
pub(super) struct Pairing<'p> {
    pub(super) slices: &'p mut KeySorter<Slice>,
    /// CPU times of pairs, if they are requested.
    pub(super) thread_times: Option<&'p mut KeySorter<PairThreadTime>>,
    pub(super) quota: Quota,
}

/// The open events of one track or async id.
struct OpenPairs {
    operation: Operation,
    /// Id of the track; unknown until the first slice of an async id.
    track: Option<i64>,
    open: Begins<PairEvent>,
}

impl OpenPairs {
    /// Returns the id of the track, which an async id gets from its first slice.
    fn track(&mut self, first_slice: i64) -> i64 {
        let kind = match self.operation.is_local() {
            true => TrackKind::LocalAsync,
            false => TrackKind::Async,
        };
        *self.track.get_or_insert(first_slice + kind.offset())
    }
}

impl Pairing<'_> {
    /// Pairs events. They come by operation, then by time, then in file order.
    pub(super) fn run(&mut self, events: &SortedByKey<PairEvent>) -> Result<(), Error> {
        let operation = Operation::of_track(0);
        let mut pairs = OpenPairs { operation, track: operation.track(), open: Begins::default() };
        for event in events.iter() {
            if event.operation != pairs.operation {
                self.end(&mut pairs)?;
                (pairs.operation, pairs.track) = (event.operation, event.operation.track());
            }
            self.event(event, &mut pairs)?;
        }
        self.end(&mut pairs)
    }

    fn event(&mut self, event: PairEvent, pairs: &mut OpenPairs) -> Result<(), Error> {
        let is_async = pairs.operation.track().is_none();
        let begin = match event.step {
            Step::Instant => {
                let track = pairs.track(event.id);
                let length = Length::Known { nearest: 0, floor: 0 };
                return self.slices.push(Slice::new(track, event.time, length, event.id));
            }
            Step::Begin => {
                pairs.track(event.id);
                match is_async {
                    true => pairs.open.begin_apart(event.name, event),
                    false => pairs.open.begin(event.name, event),
                }
                return self.quota.check(pairs.open.heap(), OPEN);
            }
            Step::End if is_async => pairs.open.end_named(event.name),
            Step::End => pairs.open.end(event.name),
        };
        let Some(begin) = begin else { return Ok(()) };
        let length = Length::Known {
            nearest: event.time.nearest.abs_diff(begin.time.nearest),
            // a pair may end a fraction of a nanosecond before it begins
            floor: event.time.floor().saturating_sub(begin.time.floor()).max(0) as u64,
        };
        self.slices.push(Slice::new(pairs.track(begin.id), begin.time, length, begin.id))?;
        let has_times = begin.thread_ts != i64::MIN && event.thread_ts != i64::MIN;
        match &mut self.thread_times {
            Some(times) if has_times => {
                let ns = event.thread_ts.saturating_sub(begin.thread_ts);
                times.push(PairThreadTime { id: begin.id, ns })
            }
            _ => Ok(()),
        }
    }

    /// Adds the slices that nothing ends.
    fn end(&mut self, pairs: &mut OpenPairs) -> Result<(), Error> {
        while let Some(begin) = pairs.open.pop_outermost() {
            let track = pairs.track(begin.id);
            self.slices.push(Slice::new(track, begin.time, Length::Unended, begin.id))?;
        }
        pairs.open.clear();
        Ok(())
    }
}
