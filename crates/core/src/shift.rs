//! What is done to the times of one input: time × factor + offset.
//!
//! ```
//! use tracemill_core::shift::{Kind, Shift};
//!
//! let shift = Shift::new(1_500, Some(&"2".parse().expect("a factor"))).expect("it changes times"); // nanoseconds, factor
//! let moved = |value: &str, kind| {
//!     let mut out = Vec::new();
//!     shift.write(value.as_bytes(), kind, &mut out).then(|| String::from_utf8(out).expect("digits"))
//! };
//! assert_eq!(moved("10", Kind::Micros).as_deref(), Some("21.5"));
//! assert_eq!(moved(r#""10.00""#, Kind::Micros).as_deref(), Some(r#""21.50""#)); // a string stays one, and its decimals
//! assert_eq!(moved("10", Kind::Length).as_deref(), Some("20")); // a duration has no offset
//! assert_eq!(moved("null", Kind::Micros), None);
//! assert!(Shift::new(0, None).is_none());
//! ```
//!
//! Digits are calculated with as they are written ([`Decimal`]), so nothing is lost below a nanosecond or above 2⁵³. Plain numbers of up to
//! 15 digits and 3 decimals, to which only an offset is added, are nearly all: they take no heap and no [`Decimal`].

use crate::decimal::{Decimal, Factor};
use crate::exact::Exact;
use crate::json::push_integer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracemill_tokenizer::{Event, Field, Nanos, nanos, number_text};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A point in time, in microseconds.
    Micros,
    /// A point in time, in seconds.
    Seconds,
    /// A length of time in any unit: only factors change it.
    Length,
}

impl Kind {
    /// What the value of `ts`, or else of `dur`, is.
    pub fn of(field: Field) -> Self {
        if field == Field::Ts { Kind::Micros } else { Kind::Length }
    }
}

/// How the times of an input change. Offsets are whole nanoseconds.
#[derive(Debug, Default)]
pub struct Shift {
    /// Nanoseconds.
    offset: i64,
    /// None if lengths stay.
    factor: Option<Factor>,
    /// In units of 10^-decimals microseconds, for 0 to 3 decimals: what is added to short numbers.
    short: [Option<i64>; 4],
    /// Whether there was a time of more digits than can be calculated with: it stayed as it was.
    stuck: AtomicBool,
}

impl Shift {
    /// `None` if nothing changes.
    pub fn new(offset: i64, factor: Option<&Factor>) -> Option<Self> {
        let factor = factor.filter(|factor| !factor.is_one()).cloned();
        let whole = |unit: i64| (offset % unit == 0).then_some(offset / unit);
        let short = [whole(1000), whole(100), whole(10), Some(offset)];
        let changes = offset != 0 || factor.is_some();
        changes.then(|| Shift { offset, factor, short, stuck: AtomicBool::new(false) })
    }

    /// Nanoseconds that are added.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Whether lengths change too.
    pub fn scales(&self) -> bool {
        self.factor.is_some()
    }

    /// Whether a time had to stay, since it has more digits than are calculated with: the caller tells the user.
    pub fn is_stuck(&self) -> bool {
        self.stuck.load(Ordering::Relaxed)
    }

    /// A point in time, in microseconds, where it is moved to; as it is if that is beyond the range.
    pub fn exact(&self, time: Exact) -> Exact {
        self.exact_of(time, Kind::Micros)
    }

    /// A length of time, in microseconds, as it is in the clock of the output.
    pub fn exact_length(&self, length: Exact) -> Exact {
        self.exact_of(length, Kind::Length)
    }

    fn exact_of(&self, time: Exact, kind: Kind) -> Exact {
        let (mut text, mut moved) = (Vec::new(), Vec::new());
        time.push(&mut text);
        self.write(&text, kind, &mut moved);
        Exact::of(&moved).unwrap_or(time)
    }

    /// Appends what takes the place of a JSON value: a number becomes a number, a string a string; false, and nothing is
    /// appended, if it stays, since it is no number or does not change.
    pub fn write(&self, value: &[u8], kind: Kind, out: &mut Vec<u8>) -> bool {
        if kind == Kind::Length && self.factor.is_none() {
            return false;
        }
        if kind == Kind::Micros && self.factor.is_none() && self.write_short(value, out) {
            return true;
        }
        let mut scratch = Vec::new();
        let Some(text) = number_text(value, &mut scratch) else { return false };
        let quote: &[u8] = if value.starts_with(b"\"") { b"\"" } else { b"" };
        out.extend_from_slice(quote);
        if !self.write_text(text, kind, out) {
            out.truncate(out.len() - quote.len());
            return false;
        }
        out.extend_from_slice(quote);
        true
    }

    /// As [`Shift::write`], of the text of a number.
    fn write_text(&self, text: &[u8], kind: Kind, out: &mut Vec<u8>) -> bool {
        let Some(mut number) = Decimal::parse(text) else {
            self.stuck.store(true, Ordering::Relaxed);
            return false;
        };
        if let Some(factor) = &self.factor {
            number = number.times(&factor.0);
        }
        let decimals = match kind {
            Kind::Length => None,
            Kind::Micros => Some(3),
            Kind::Seconds => Some(9),
        };
        if let Some(decimals) = decimals {
            number = number.plus(&Decimal::of(self.offset, decimals));
        }
        number.push(out);
        true
    }

    /// Plain numbers of up to 15 digits and 3 decimals, which nearly all are.
    fn write_short(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let digits = value.strip_prefix(b"-").unwrap_or(value);
        let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        let decimals = match &digits[whole..] {
            [] => 0,
            [b'.', rest @ ..]
                if matches!(rest.len(), 1..=3) && rest.iter().all(u8::is_ascii_digit) =>
            {
                rest.len()
            }
            _ => return false,
        };
        if whole == 0 || whole > 15 || whole > 1 && digits[0] == b'0' {
            return false;
        }
        let read = digits.iter().filter(|&&b| b != b'.');
        let mut number = read.fold(0i64, |sum, b| sum * 10 + i64::from(b & 15));
        let mut decimals = decimals;
        let offset = loop {
            match self.short[decimals] {
                Some(offset) => break offset,
                None => (number, decimals) = (number * 10, decimals + 1),
            }
        };
        number = if value.len() > digits.len() { -number } else { number };
        let Some(sum) = number.checked_add(offset) else { return false };
        push_units(sum, decimals, out);
        true
    }

    /// The time stamp and the duration that an event has then.
    pub fn times(&self, event: &Event<'_>) -> Option<(Nanos, Option<Nanos>)> {
        let ts = self.nanos(event.field(Field::Ts)?, Kind::Micros)?;
        Some((ts, event.field(Field::Dur).and_then(|dur| self.nanos(dur, Kind::Length))))
    }

    /// A value as it is then; one that stays is as it was.
    fn nanos(&self, value: &[u8], kind: Kind) -> Option<Nanos> {
        let mut new = Vec::new();
        let value = if self.write(value, kind, &mut new) { &new } else { value };
        nanos(number_text(value, &mut Vec::new())?)
    }

    /// A time in nanoseconds, to which only the offset is due.
    pub fn moved(&self, time: i64) -> i64 {
        time.saturating_add(self.offset)
    }
}

/// What is done to the times of each input, by place.
#[derive(Clone, Debug, Default)]
pub struct Shifts {
    /// By the places from which on they count, ascending.
    by_place: Vec<(u64, Option<Arc<Shift>>)>,
}

impl Shifts {
    /// `by_place` has the places from which on each counts, ascending.
    pub fn new(by_place: Vec<(u64, Option<Arc<Shift>>)>) -> Self {
        Shifts { by_place }
    }

    /// What is done to the times of what stands at a place; `None` if they stay.
    pub fn at(&self, offset: u64) -> Option<&Arc<Shift>> {
        let after = self.by_place.partition_point(|(base, _)| *base <= offset);
        self.by_place[after.checked_sub(1)?].1.as_ref()
    }
}

/// Appends ±`units` of 10^-`decimals`.
fn push_units(units: i64, decimals: usize, out: &mut Vec<u8>) {
    if decimals == 0 {
        return push_integer(units, out);
    }
    let (scale, magnitude) = (10u64.pow(decimals as u32), units.unsigned_abs());
    out.extend_from_slice(if units < 0 { b"-" } else { b"" });
    push_integer(magnitude / scale, out);
    out.push(b'.');
    let rest = magnitude % scale;
    (0..decimals).rev().for_each(|at| out.push((rest / 10u64.pow(at as u32) % 10) as u8 | b'0'));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shift: &Shift, value: &str, kind: Kind) -> Option<String> {
        let mut out = b"before ".to_vec();
        let changed = shift.write(value.as_bytes(), kind, &mut out);
        let text = String::from_utf8(out).unwrap();
        assert_eq!(changed, text.len() > 7, "{text}");
        changed.then(|| text[7..].to_owned())
    }

    #[test]
    fn values_keep_their_type_and_their_decimals() {
        let shift = Shift::new(1_500, None).unwrap();
        for (value, new) in [
            ("5", Some("6.5")),
            ("5.000", Some("6.500")),
            ("-1.5", Some("0.0")),
            ("-2", Some("-0.5")),
            ("\"123.5\"", Some("\"125.0\"")),
            ("\"\\u0031\"", Some("\"2.5\"")),
            ("1712195495533685.110", Some("1712195495533686.610")),
            ("9.9999999999999995e-07", Some("1.50000099999999999999995")),
            ("123456789012345678901", Some("123456789012345678902.5")),
            ("null", None),
            ("\"12 ms\"", None),
            ("{}", None),
        ] {
            assert_eq!(written(&shift, value, Kind::Micros).as_deref(), new, "{value}");
        }
        assert_eq!(written(&shift, "7", Kind::Length), None);
        assert_eq!(written(&shift, "1388.731836", Kind::Seconds).as_deref(), Some("1388.7318375"));
        assert!(!shift.is_stuck());
        assert_eq!(written(&shift, "1e99999", Kind::Micros), None);
        assert!(shift.is_stuck());
    }

    #[test]
    fn factors_come_before_offsets() {
        let factor: Factor = "1.5".parse().unwrap();
        let shift = Shift::new(-1_000, Some(&factor)).unwrap();
        assert_eq!(written(&shift, "5", Kind::Micros).as_deref(), Some("6.5"));
        assert_eq!(written(&shift, "\"5.00\"", Kind::Length).as_deref(), Some("\"7.50\""));
        let one: Factor = "1.00".parse().unwrap();
        assert!(Shift::new(0, Some(&one)).is_none());
    }

    #[test]
    fn the_short_way_is_the_long_one() {
        for offset in [1, -1, 10, 999, 1000, -1500, 123_456_789, i64::MAX - 5, i64::MIN + 1] {
            let shift = Shift::new(offset, None).unwrap();
            for value in ["0", "7", "-7", "999999999999999", "1.5", "-1.25", "0.125", "99.990"] {
                let (mut short, mut long) = (Vec::new(), Vec::new());
                if shift.write_short(value.as_bytes(), &mut short) {
                    assert!(shift.write_text(value.as_bytes(), Kind::Micros, &mut long));
                    assert_eq!(short, long, "{value} {offset}");
                }
            }
        }
    }
}
