//! When a trace begins and ends.
//!
//! ```text
//!   0        first                        last    end
//!   ┊        X───────┤  i   B  E  X──────────────┤           times of events that are no metadata
//!   ┊        ^ start: what times relative to the start count from
//!   X  a moment at 0 of a clock that began long before the trace: no start
//! ```
//!
//! Workers add up the times of their stretches, and sums are united in any order: the result is the same. Cost: a few comparisons an event.

use tracemill_tokenizer::{Event, Nanos};

/// What is known of the times of a trace: nanoseconds, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Where the trace begins: what times relative to the start count from.
    pub start: i64,
    /// The least time; less than `start` if events at 0 do not count, see [`Times::bounds`].
    pub first: i64,
    /// The greatest time.
    pub last: i64,
    /// The greatest end of an event.
    pub end: i64,
}

/// Makes a stretch of time, if there is one already, reach as far as another: the least and the greatest time, both in it.
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

/// What stands at time 0, to the last digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AtZero {
    Nothing,
    /// Only events that take no time and open nothing.
    Moments,
    Others,
}

/// Times of events that are no metadata, added up.
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
/// // a moment without a time of its own is no start; a slice at 0 is one
/// assert_eq!(note(trace, r#"{"ph":"i","ts":0}"#).bounds().map(|all| (all.start, all.first)), Some((5_000_000_000, 0)));
/// assert_eq!(note(trace, r#"{"ph":"X","ts":0,"dur":1}"#).bounds().map(|all| all.start), Some(0));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Nanoseconds; the least of those that are not 0.
    first: i64,
    last: i64,
    end: i64,
    /// What there is at 0 that may not count.
    at_zero: AtZero,
}

impl Default for Times {
    fn default() -> Self {
        Times::NONE
    }
}

impl Times {
    /// The times of no events: what others are added to.
    pub const NONE: Times =
        Times { first: i64::MAX, last: i64::MIN, end: i64::MIN, at_zero: AtZero::Nothing };

    /// What lies further from 0 than this, in nanoseconds, is told by a clock that began long before the trace.
    const FAR: i64 = 1_000_000_000;

    /// Adds an event that is no metadata, with its time and its end in nanoseconds, which is its time if it takes none.
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

    /// The times of both.
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

    /// The same after all of them moved by so many nanoseconds; what stood at 0 stands somewhere else then, like any other.
    #[must_use]
    pub fn moved(self, by: i64) -> Times {
        if by == 0 || self.last == i64::MIN {
            return self;
        }
        let first = if self.at_zero == AtZero::Nothing { self.first } else { self.first.min(0) };
        let [first, last, end] = [first, self.last, self.end].map(|time| time.saturating_add(by));
        Times { first, last, end, at_zero: AtZero::Nothing }
    }

    /// The bounds of all these events; `None` if there are none.
    ///
    /// A trace starts at the least time of its events. Producers whose clock began long before the trace write 0 for a time that
    /// they do not have: events at 0 do not count for the start if they take no time, and all others begin a second or more
    /// behind 0, and further from it than from the last of them. (DevTools never counts what stands at 0, which would cut what
    /// begins there from traces that count from their own start.)
    pub fn bounds(self) -> Option<Bounds> {
        let Times { first, last, end, at_zero } = self;
        let least = if at_zero == AtZero::Nothing { first } else { first.min(0) };
        let is_far = (Times::FAR..i64::MAX).contains(&first) && first > last.saturating_sub(first);
        let start = if at_zero == AtZero::Moments && is_far { first } else { least };
        (least <= last).then_some(Bounds { start, first: least, last, end })
    }
}

/// Whether this is 0 to the last digit.
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
    fn moments_at_zero_far_before_all_others_do_not_count() {
        assert_eq!(start(&[]), None);
        assert_eq!(start(&[ZERO]), Some(0));
        assert_eq!(start(&[ZERO, LATE, LATER]), Some(5_000_000_000));
        assert_eq!(start(&[r#"{"ph":"X","dur":0.0,"ts":"0e3"}"#, ZERO, LATE]), Some(5_000_000_000));
        let bounds = times(&[LATE, ZERO]).bounds().expect("events");
        assert_eq!((bounds.first, bounds.last, bounds.end), (0, 5_000_000_000, 5_000_004_000));
    }

    #[test]
    fn what_begins_at_zero_counts() {
        // it lasts, is not quite 0, or is not far from all others
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
    fn parts_add_up_in_any_order() {
        let all = [ZERO, LATE, LATER, r#"{"ph":"B","ts":0}"#, r#"{"ph":"I","ts":-7}"#];
        for set in 0..1 << all.len() {
            let of = |from, to| {
                let own: Vec<&str> =
                    (from..to).filter(|n| set >> n & 1 == 1).map(|n| all[n]).collect();
                times(&own)
            };
            for cut in 0..=all.len() {
                let (a, b) = (of(0, cut), of(cut, all.len()));
                assert_eq!(a.unite(b).bounds(), of(0, all.len()).bounds());
                assert_eq!(b.unite(a).bounds(), of(0, all.len()).bounds());
            }
        }
    }
}
