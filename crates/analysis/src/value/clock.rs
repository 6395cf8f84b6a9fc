//! Units of time: DevTools' microseconds and milliseconds with its rounding, or exact nanoseconds
//! since the first event.
//!
//! Entries have times in *ticks*: microseconds, or exact nanoseconds. Windows and totals are
//! *sums*: milliseconds, or exact nanoseconds.

use crate::value::record::Record;
use std::cmp::Ordering;
use tracemill_tokenizer::{nanos as exact_nanos, number_text};

/// Unit and rounding of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Doubles of microseconds and milliseconds, rounded as in DevTools.
    #[default]
    Devtools,
    /// Whole nanoseconds since the first event. Sums of up to 104 days are exact in any order.
    Exact,
    /// DevTools' times for Chrome recordings and V8's CPU profiles, otherwise exact times.
    Auto,
}

/// A time range in milliseconds. Within this crate, often a range in sums of the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Start of the range.
    pub from: f64,
    /// End of the range.
    pub to: f64,
}

/// A time range in ticks, which includes its start and end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickRange {
    /// The first tick.
    pub from: f64,
    /// The last tick.
    pub to: f64,
}

impl TickRange {
    /// All ticks.
    pub(crate) const ALL: TickRange = TickRange { from: f64::NEG_INFINITY, to: f64::INFINITY };
}

/// Compares two times by value. NaN comes after all numbers, which makes the order total.
pub fn by_time(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.total_cmp(&b))
}

/// Converts between ticks, sums and times as written in the trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Number of ticks per unit of sums.
    per_sum: f64,
    /// Origin of exact times in nanoseconds.
    origin: Option<i64>,
}

impl Default for Clock {
    fn default() -> Self {
        Clock { per_sum: 1000.0, origin: None }
    }
}

impl Clock {
    /// Creates a clock whose times are nanoseconds since `origin`.
    pub(crate) fn exact(origin: i64) -> Self {
        Clock { per_sum: 1.0, origin: Some(origin) }
    }

    /// Returns the written nanosecond that is time 0 of exact times. Returns `None` if the clock
    /// has DevTools' times.
    pub fn origin(self) -> Option<i64> {
        self.origin
    }

    /// Converts ticks to sums.
    #[inline]
    pub fn sum(self, tick: f64) -> f64 {
        tick / self.per_sum
    }

    /// Converts sums to ticks.
    #[inline]
    pub fn tick(self, sum: f64) -> f64 {
        sum * self.per_sum
    }

    /// Rounds a time to whole nanoseconds if times are exact.
    pub(crate) fn whole(self, time: f64) -> f64 {
        if self.origin.is_some() { time.round() } else { time }
    }

    /// Converts ticks to microseconds.
    pub fn micros(self, tick: f64) -> f64 {
        if self.origin.is_some() { tick / 1000.0 } else { tick }
    }

    /// Converts microseconds to ticks.
    pub fn of_micros(self, micros: f64) -> f64 {
        if self.origin.is_some() { self.whole(micros * 1000.0) } else { micros }
    }

    /// Converts microseconds as written in the trace to ticks.
    pub(crate) fn of_written(self, micros: f64) -> f64 {
        match self.origin {
            Some(origin) if micros.is_finite() => nanos_of(micros).saturating_sub(origin) as f64,
            _ => micros,
        }
    }

    /// Converts microseconds as written in the trace to microseconds on this clock.
    pub(crate) fn placed_micros(self, micros: f64) -> f64 {
        self.micros(self.of_written(micros))
    }

    /// Converts ticks to microseconds as written in the trace, rounded to a double.
    pub(crate) fn written_micros(self, tick: f64) -> f64 {
        match self.origin {
            Some(origin) if tick.is_finite() => (i128::from(origin) + tick as i128) as f64 / 1000.0,
            _ => tick,
        }
    }

    /// Converts ticks to nanoseconds as written in the trace. Returns `None` if the result exceeds
    /// 64 bits.
    pub fn written_nanos(self, tick: f64) -> Option<i64> {
        let nanos = (if self.origin.is_some() { tick } else { tick * 1000.0 }).round();
        let nanos = (nanos.abs() < i64::MAX as f64).then_some(nanos as i64)?;
        Some(nanos.saturating_add(self.origin.unwrap_or(0)))
    }

    /// Converts sums to milliseconds.
    pub fn ms(self, sum: f64) -> f64 {
        if self.origin.is_some() { sum / 1e6 } else { sum }
    }

    /// Converts ticks to milliseconds.
    pub fn ms_of(self, tick: f64) -> f64 {
        self.ms(self.sum(tick))
    }

    /// Converts milliseconds to ticks.
    pub fn ticks_of(self, ms: f64) -> f64 {
        self.tick(self.sums(Window { from: ms, to: ms }).from)
    }

    /// Converts a window from milliseconds to sums.
    pub fn sums(self, window: Window) -> Window {
        let of = |ms: f64| if self.origin.is_some() { (ms * 1e6).round() } else { ms };
        Window { from: of(window.from), to: of(window.to) }
    }

    /// Converts a window from sums to milliseconds.
    pub fn window(self, sums: Window) -> Window {
        Window { from: self.ms(sums.from), to: self.ms(sums.to) }
    }

    /// Converts a window from ticks to milliseconds.
    pub fn window_of(self, from: f64, to: f64) -> Window {
        self.window(Window { from: self.sum(from), to: self.sum(to) })
    }

    /// Returns a running time for samples, which starts at a tick.
    pub(crate) fn times(self, start: f64) -> RunningTime {
        RunningTime { clock: self, time: start, start, picos: 0 }
    }

    /// Converts the times of a record from written times to this clock, after adding an offset in
    /// nanoseconds.
    pub(crate) fn place(self, record: &mut Record, offset: i64) {
        let Some(origin) = self.origin else { return };
        let Record { ts, dur, .. } = *record;
        if !ts.is_finite() {
            return;
        }
        let start = nanos_of(ts).saturating_add(record.rest());
        if dur.is_finite() {
            // Start and end are rounded, instead of the duration, which preserves nesting.
            let end = match ts.abs() < FAR {
                true => nearest(picos(ts) + picos(dur)),
                false => start.saturating_add(nanos_of(dur)),
            };
            record.dur = end.saturating_sub(start) as f64;
        }
        record.ts = start.saturating_add(offset).saturating_sub(origin) as f64;
    }
}

/// Computes the times of samples from the time steps between them.
pub(crate) struct RunningTime {
    clock: Clock,
    time: f64,
    start: f64,
    /// Picoseconds since the start; used only if times are exact.
    picos: i128,
}

impl RunningTime {
    /// Advances by microseconds and returns the tick.
    #[inline]
    pub(crate) fn after(&mut self, micros: f64) -> f64 {
        if self.clock.origin.is_none() {
            self.time += micros;
            return self.time;
        }
        self.picos += picos(micros);
        self.start + nearest(self.picos) as f64
    }
}

/// Microseconds above which a double may not represent three decimals of a time, or of the sum of
/// two such times.
pub(crate) const FAR: f64 = (1u64 << 41) as f64;

fn picos(micros: f64) -> i128 {
    /// Limit in microseconds. Such times exceed 64 bits of nanoseconds by far.
    const MOST: f64 = 1e19;
    let micros = micros.clamp(-MOST, MOST);
    let whole = micros.trunc();
    whole as i128 * 1_000_000 + ((micros - whole) * 1e6).round() as i128
}

fn nearest(picos: i128) -> i64 {
    let nanos = (picos + 500).div_euclid(1000);
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

/// Rounds microseconds to whole nanoseconds.
pub(crate) fn nanos_of(micros: f64) -> i64 {
    nearest(picos(micros))
}

/// Parses written microseconds to nanoseconds. Keeps digits that a double would lose.
pub(crate) fn written(value: &[u8]) -> Option<i64> {
    let micros = crate::value::number(value)?;
    if micros.abs() < FAR {
        return Some(nanos_of(micros));
    }
    let exact = exact_nanos(number_text(value, &mut Vec::new())?)?;
    Some(exact.floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    fn placed(ts: &str, dur: &str, origin: i64) -> (f64, f64) {
        let time = |text: &str| text.parse::<f64>().expect("a number");
        let rest = written(ts.as_bytes()).expect("a time") - nanos_of(time(ts));
        let mut record = Record::new(time(ts), time(dur), 0, 0, 0, b'X').with_rest(rest);
        Clock::exact(origin).place(&mut record, 0);
        (record.ts, record.dur)
    }

    #[test]
    fn nan_sorts_last() {
        let mut times = [f64::NAN, 2.0, f64::INFINITY, f64::NAN, -0.0, 0.0, 1.0];
        times.sort_by(|&a, &b| by_time(a, b));
        assert_eq!(times[..5], [0.0, 0.0, 1.0, 2.0, f64::INFINITY]);
        assert_eq!(by_time(-0.0, 0.0), Ordering::Equal);
    }

    #[test]
    fn exact_times_equal_written_digits_on_any_clock() {
        let mut rng = Rng::new(7);
        for size in [1, 1_000, 1 << 41, 1 << 42, 1_700_000_000_000_000i64] {
            for _ in 0..2_000 {
                let [ts, dur] = [size * 1000, 5_000_000].map(|most| rng.below(most as u64) as i64);
                let text = |nanos: i64| format!("{}.{:03}", nanos / 1000, nanos % 1000);
                let times = placed(&text(ts), &text(dur), ts - 77);
                assert_eq!(times, (77.0, dur as f64), "{} {}", text(ts), text(dur));
            }
        }
    }

    #[test]
    fn rounding_preserves_nesting() {
        let outer = placed("10.0009", "1.0006", 0);
        let inner = placed("10.0011", "1.0004", 0);
        assert!(
            outer.0 <= inner.0 && inner.0 + inner.1 <= outer.0 + outer.1,
            "{outer:?} {inner:?}"
        );
        assert_eq!(outer.0 + outer.1, inner.0 + inner.1);
    }

    #[test]
    fn windows_survive_conversion() {
        let clock = Clock::exact(1_700_000_000_000_000_123);
        let window = Window { from: 0.25, to: 86_400_000.000_001 };
        assert_eq!(clock.sums(window), Window { from: 250_000.0, to: 86_400_000_000_001.0 });
        assert_eq!(clock.window(clock.sums(window)), window);
        assert_eq!(clock.written_nanos(877.0), Some(1_700_000_000_000_001_000));
        let devtools = Clock::default();
        assert_eq!(devtools.sums(window), window);
        assert_eq!((devtools.sum(1500.0), devtools.tick(1.5)), (1.5, 1500.0));
    }
}
