//! Computes the start and end of a trace.
//!
//! ```text
//!   0        first                        last    end
//!   ┊        X───────┤  i   B  E  X──────────────┤           times of events except metadata
//!   ┊        ^ start: origin of relative times
//!   X  an instant at 0, if the clock began long before the trace: not the start
//! ```
//!
//! Workers collect the times of their chunks; sums can be merged in any order. Cost: a few
//! comparisons per event.

use tracemill_tokenizer::{Event, Nanos};

/// The times of a trace in nanoseconds, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Trace start, to which relative times refer.
    pub start: i64,
    /// Least time; before `start` if events at 0 do not count, see [`Times::bounds`].
    pub first: i64,
    /// Greatest time.
    pub last: i64,
    /// Greatest end of an event.
    pub end: i64,
}

/// Extends the time range `times` so that it contains `least..=greatest`. `None` becomes exactly
/// that range.
///
/// ```
/// use tracemill_trace::time::bounds::widen;
///
/// let mut times = None;
/// for (least, greatest) in [(5, 7), (2, 3), (6, 6)] {
///     widen(&mut times, least, greatest);
/// }
/// assert_eq!(times, Some((2, 7)));
/// ```
#[inline]
pub fn widen(times: &mut Option<(i64, i64)>, least: i64, greatest: i64) {
    let (low, high) = times.unwrap_or((least, greatest));
    *times = Some((low.min(least), high.max(greatest)));
}

/// The kinds of events at exactly time 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AtZero {
    Nothing,
    /// Only instants and slices without a duration.
    Moments,
    Others,
}

/// The collected times of events other than metadata.
///
/// ```
/// use tracemill_trace::time::bounds::Times;
/// use tracemill_tokenizer::fields_of;
///
/// let note = |mut times: Times, event: &str| {
///     let spans = fields_of(event.as_bytes());
///     let event = spans.of(event.as_bytes());
///     let ts = event.ts().expect("a time");
///     times.note(&event, ts, ts.floor + event.dur().map_or(0, |dur| dur.floor));
///     times
/// };
/// let trace = [r#"{"ph":"X","ts":5000000,"dur":20}"#, r#"{"ph":"i","ts":5000007}"#].into_iter().fold(Times::NONE, note);
/// let bounds = trace.bounds().expect("there are events");
/// assert_eq!((bounds.start, bounds.last, bounds.end), (5_000_000_000, 5_000_007_000, 5_000_020_000)); // nanoseconds
///
/// // an instant at 0 does not set the start; a slice at 0 does
/// assert_eq!(note(trace, r#"{"ph":"i","ts":0}"#).bounds().map(|all| (all.start, all.first)), Some((5_000_000_000, 0)));
/// assert_eq!(note(trace, r#"{"ph":"X","ts":0,"dur":1}"#).bounds().map(|all| all.start), Some(0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Least nonzero time in nanoseconds.
    first: i64,
    last: i64,
    end: i64,
    /// Kinds of events at time 0, which may not count for the start.
    at_zero: AtZero,
}

impl Default for Times {
    fn default() -> Self {
        Times::NONE
    }
}

impl Times {
    /// The times of no events, to which events are added.
    pub const NONE: Times =
        Times { first: i64::MAX, last: i64::MIN, end: i64::MIN, at_zero: AtZero::Nothing };

    /// Minimum time, in nanoseconds, that indicates a clock started long before the trace.
    const FAR: i64 = 1_000_000_000;

    /// Adds an event other than metadata, with its time and end in nanoseconds. Without a duration,
    /// time and end are equal.
    #[inline(always)]
    pub fn note(&mut self, event: &Event<'_>, ts: Nanos, end: i64) {
        self.last = self.last.max(ts.floor);
        self.end = self.end.max(end);
        if is_zero(ts) {
            return self.note_zero(event);
        }
        self.first = self.first.min(ts.floor);
    }

    #[cold]
    fn note_zero(&mut self, event: &Event<'_>) {
        let takes_time = event.dur().is_some_and(|dur| !is_zero(dur));
        let is_moment = matches!(event.phase(), b'I' | b'i' | b'R' | b'X') && !takes_time;
        self.at_zero = self.at_zero.max(if is_moment { AtZero::Moments } else { AtZero::Others });
    }

    /// Merges the times of two sets of events.
    #[inline]
    #[must_use]
    pub fn unite(self, other: Times) -> Times {
        Times {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
            end: self.end.max(other.end),
            at_zero: self.at_zero.max(other.at_zero),
        }
    }

    /// Adds a clock offset in nanoseconds to all times. Events at 0 then count like all others.
    #[must_use]
    pub fn moved(self, by: i64) -> Times {
        if by == 0 || self.last == i64::MIN {
            return self;
        }
        let first = if self.at_zero == AtZero::Nothing { self.first } else { self.first.min(0) };
        let [first, last, end] = [first, self.last, self.end].map(|time| time.saturating_add(by));
        Times { first, last, end, at_zero: AtZero::Nothing }
    }

    /// Returns the bounds of the events. Returns `None` if there are none.
    ///
    /// The trace starts at the least time. But some producers write 0 for a missing time, although
    /// their clock began long before. So instants and empty slices at 0 do not count if all other
    /// events begin at least a second after 0, and farther from 0 than from the last event.
    /// DevTools never counts events at 0.
    pub fn bounds(self) -> Option<Bounds> {
        let Times { first, last, end, at_zero } = self;
        let least = if at_zero == AtZero::Nothing { first } else { first.min(0) };
        let is_far = (Times::FAR..i64::MAX).contains(&first) && first > last.saturating_sub(first);
        let start = if at_zero == AtZero::Moments && is_far { first } else { least };
        (least <= last).then_some(Bounds { start, first: least, last, end })
    }
}

/// Returns whether a time is exactly 0.
#[inline(always)]
pub fn is_zero(time: Nanos) -> bool {
    time.floor == 0 && time.exact
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    fn times(events: &[&str]) -> Times {
        let mut times = Times::NONE;
        for event in events {
            let fields = fields_of(event.as_bytes());
            let event = fields.of(event.as_bytes());
            let ts = event.ts().expect("a time");
            times.note(&event, ts, ts.floor + event.dur().map_or(0, |dur| dur.floor));
        }
        times
    }

    fn start(events: &[&str]) -> Option<i64> {
        times(events).bounds().map(|bounds| bounds.start)
    }

    const ZERO: &str = r#"{"ph":"I","ts":0}"#;
    const LATE: &str = r#"{"ph":"X","ts":5000000,"dur":4}"#;
    const LATER: &str = r#"{"ph":"X","ts":9000000,"dur":4}"#;

    #[test]
    fn instants_at_zero_far_before_other_events_do_not_count() {
        assert_eq!(start(&[]), None);
        assert_eq!(start(&[ZERO]), Some(0));
        assert_eq!(start(&[ZERO, LATE, LATER]), Some(5_000_000_000));
        assert_eq!(start(&[r#"{"ph":"X","dur":0.0,"ts":"0e3"}"#, ZERO, LATE]), Some(5_000_000_000));
        let bounds = times(&[LATE, ZERO]).bounds().expect("events");
        assert_eq!((bounds.first, bounds.last, bounds.end), (0, 5_000_000_000, 5_000_004_000));
    }

    #[test]
    fn slices_at_zero_count() {
        // has a duration, is not exactly 0, or is close to the other events
        for event in [
            r#"{"ph":"B","ts":0}"#,
            r#"{"ph":"b","ts":0}"#,
            r#"{"ph":"C","ts":0}"#,
            r#"{"ph":"X","ts":0,"dur":0.0001}"#,
            r#"{"ph":"I","ts":0.0001}"#,
        ] {
            assert_eq!(start(&[event, ZERO, LATE]), Some(0), "{event}");
        }
        let far = r#"{"ph":"I","ts":10000000}"#;
        assert_eq!(start(&[ZERO, LATE, far]), Some(0));
        assert_eq!(start(&[ZERO, r#"{"ph":"I","ts":999999}"#]), Some(0));
        assert_eq!(start(&[ZERO, r#"{"ph":"I","ts":-7}"#]), Some(-7000));
    }

    #[test]
    fn bounds_do_not_depend_on_merge_order() {
        let all = [ZERO, LATE, LATER, r#"{"ph":"B","ts":0}"#, r#"{"ph":"I","ts":-7}"#];
        for set in 0..1 << all.len() {
            let of = |from, to| {
                let events: Vec<&str> =
                    (from..to).filter(|n| set >> n & 1 == 1).map(|n| all[n]).collect();
                times(&events)
            };
            for cut in 0..=all.len() {
                let (a, b) = (of(0, cut), of(cut, all.len()));
                assert_eq!(a.unite(b).bounds(), of(0, all.len()).bounds());
                assert_eq!(b.unite(a).bounds(), of(0, all.len()).bounds());
            }
        }
    }
}
