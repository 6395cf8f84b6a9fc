//! Changes the times of one input: time × factor + offset.
//!
//! ```
//! use tracemill_trace::time::shift::{TimeKind, Shift};
//!
//! let shift = Shift::new(1_500, Some(&"2".parse().expect("a factor"))).expect("it changes times"); // nanoseconds, factor
//! let moved = |value: &str, kind| {
//!     let mut out = Vec::new();
//!     shift.write(value.as_bytes(), kind, &mut out).then(|| String::from_utf8(out).expect("digits"))
//! };
//! assert_eq!(moved("10", TimeKind::Micros).as_deref(), Some("21.5"));
//! assert_eq!(moved(r#""10.00""#, TimeKind::Micros).as_deref(), Some(r#""21.50""#)); // a string stays one, and its decimals
//! assert_eq!(moved("10", TimeKind::Length).as_deref(), Some("20")); // a duration has no offset
//! assert_eq!(moved("null", TimeKind::Micros), None);
//! assert!(Shift::new(0, None).is_none());
//! ```
//!
//! Times are calculated as whole attoseconds (10⁻¹⁸ s, [`Attos`]). A new time has as many decimals
//! as the old time, or more if a nonzero digit needs more: 5.10 + 0.9 gives 6.00, and 5 + 1.5 gives
//! 6.5. It has no exponent.
//!
//! Digits below an attosecond stay if only an offset is added to a time above zero. Otherwise they
//! are cut off. Times beyond the range stay unchanged. [`Shift::is_inexact`] reports cut digits and
//! unchanged times, so that callers can warn.

use crate::time::attos::{Attos, NANO, OF_MICROS, push_units};
use crate::time::factor::Factor;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracemill_tokenizer::{Event, Field, Nanos, Number, nanos, number_text};

/// The kind of a time value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// Point in time in microseconds.
    Micros,
    /// Point in time in seconds.
    Seconds,
    /// Duration in any unit; only factors change it.
    Length,
}

impl TimeKind {
    /// Returns the number of decimals of 10⁻¹⁸ s in the unit; durations count as microseconds.
    fn decimals(self) -> u32 {
        if self == TimeKind::Seconds { OF_MICROS + 6 } else { OF_MICROS }
    }
}

/// A factor and an offset for the times of an input. Offsets are whole nanoseconds.
#[derive(Debug, Default)]
pub struct Shift {
    offset: i64,
    factor: Option<Factor>,
    /// Whether a time could not be changed exactly.
    inexact: AtomicBool,
}

impl Shift {
    /// Creates a shift. Returns `None` if the shift would change nothing.
    pub fn new(offset: i64, factor: Option<&Factor>) -> Option<Self> {
        let factor = factor.filter(|factor| !factor.is_one()).copied();
        let changes = offset != 0 || factor.is_some();
        changes.then(|| Shift { offset, factor, inexact: AtomicBool::new(false) })
    }

    /// Returns the offset in nanoseconds.
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// Returns whether durations change too.
    pub fn scales(&self) -> bool {
        self.factor.is_some()
    }

    /// Returns whether a time was truncated below 10⁻¹⁸ s, or stayed unchanged beyond the range.
    /// Callers warn the user.
    pub fn is_inexact(&self) -> bool {
        self.inexact.load(Ordering::Relaxed)
    }

    /// Returns the changed point in time. The factor is skipped if the product exceeds the range.
    pub fn point(&self, time: Attos) -> Attos {
        self.length(time) + Attos::from_nanos(self.offset)
    }

    /// Returns the changed duration, or the same duration if the product exceeds the range.
    pub fn length(&self, length: Attos) -> Attos {
        let scaled = self.factor.and_then(|factor| factor.times(length.units()));
        scaled.and_then(Attos::from_units).unwrap_or(length)
    }

    /// Appends the changed JSON value, as a number or string like the original. Returns `false` and
    /// appends nothing if the value is not a number or does not change.
    pub fn write(&self, value: &[u8], kind: TimeKind, out: &mut Vec<u8>) -> bool {
        if kind == TimeKind::Length && self.factor.is_none() {
            return false;
        }
        if kind == TimeKind::Micros && self.factor.is_none() && self.write_nanos(value, out) {
            return true;
        }
        let mut scratch = Vec::new();
        let Some(text) = number_text(value, &mut scratch) else { return false };
        let start = out.len();
        let quote: &[u8] = if value.starts_with(b"\"") { b"\"" } else { b"" };
        out.extend_from_slice(quote);
        if self.write_number(text, kind, out).is_none() {
            self.inexact.store(true, Ordering::Relaxed);
            out.truncate(start);
            return false;
        }
        out.extend_from_slice(quote);
        true
    }

    /// Appends the changed value if it is a plain number with at most 3 decimals; the common case.
    /// Only an offset is added. Returns whether a value was appended.
    fn write_nanos(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(Nanos { floor, exact: true }) = nanos(value) else { return false };
        let digits = value.strip_prefix(b"-").unwrap_or(value);
        let whole = digits.iter().take_while(|b| b.is_ascii_digit()).count();
        let decimals = match &digits[whole..] {
            [] => 0,
            [b'.', decimals @ ..] if decimals.iter().all(u8::is_ascii_digit) => decimals.len(),
            _ => return false,
        };
        if decimals <= 3 {
            let moved = i128::from(floor) + i128::from(self.offset);
            push_units(moved, 3, decimals as u32, out);
        }
        decimals <= 3
    }

    /// Appends the changed text of a number, like [`Shift::write`]. Returns `None` beyond the
    /// range.
    fn write_number(&self, text: &[u8], kind: TimeKind, out: &mut Vec<u8>) -> Option<()> {
        let (number, decimals) = (Number::parse(text)?, kind.decimals());
        let given = (number.decimals.len() as i64).saturating_sub(number.exponent);
        let least = given.clamp(0, i64::from(decimals)) as u32;
        let (units, whole) = number.scaled(decimals)?;
        let scaled = self.factor.map_or(Some(units), |factor| factor.times(units))?;
        let offset = if kind == TimeKind::Length { 0 } else { i128::from(self.offset) * NANO };
        let moved = scaled.checked_add(offset)?;
        push_units(moved, decimals, least, out);
        // finer digits do not change if only an offset is added and both values are positive
        let below = number.decimals.get(decimals as usize..).unwrap_or_default();
        if self.factor.is_none() && number.exponent == 0 && units.min(moved) >= 0 {
            out.extend_from_slice(below);
        } else if !whole {
            self.inexact.store(true, Ordering::Relaxed);
        }
        Some(())
    }

    /// Returns the changed `ts` and `dur` of an event.
    pub fn times(&self, event: &Event<'_>) -> Option<(Nanos, Option<Nanos>)> {
        let ts = self.nanos(event.field(Field::Ts)?, TimeKind::Micros)?;
        Some((ts, event.field(Field::Dur).and_then(|dur| self.nanos(dur, TimeKind::Length))))
    }

    /// Returns a changed value in nanoseconds, or the original value if it does not change.
    fn nanos(&self, value: &[u8], kind: TimeKind) -> Option<Nanos> {
        let mut new = Vec::new();
        let value = if self.write(value, kind, &mut new) { &new } else { value };
        nanos(number_text(value, &mut Vec::new())?)
    }

    /// Adds the offset to a time in nanoseconds.
    pub fn moved(&self, time: i64) -> i64 {
        time.saturating_add(self.offset)
    }
}

/// The shifts of all inputs, by address range.
#[derive(Clone, Debug, Default)]
pub struct Shifts {
    /// Start offsets of address ranges, ascending, with their shifts.
    by_place: Vec<(u64, Option<Arc<Shift>>)>,
}

impl Shifts {
    /// Creates the shifts from ascending start offsets of address ranges.
    pub fn new(by_place: Vec<(u64, Option<Arc<Shift>>)>) -> Self {
        Shifts { by_place }
    }

    /// Returns the shift at an offset of the address space. Returns `None` if times there do not
    /// change.
    pub fn at(&self, offset: u64) -> Option<&Arc<Shift>> {
        let after = self.by_place.partition_point(|(base, _)| *base <= offset);
        self.by_place[after.checked_sub(1)?].1.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(shift: &Shift, value: &str, kind: TimeKind) -> Option<String> {
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
            ("9.99e-07", Some("1.500000999")),
            ("123456789012345678901", Some("123456789012345678902.5")),
            ("null", None),
            ("\"12 ms\"", None),
            ("{}", None),
        ] {
            assert_eq!(written(&shift, value, TimeKind::Micros).as_deref(), new, "{value}");
        }
        assert_eq!(written(&shift, "7", TimeKind::Length), None);
        assert_eq!(
            written(&shift, "1388.731836", TimeKind::Seconds).as_deref(),
            Some("1388.7318375")
        );
        assert!(!shift.is_inexact());
        assert_eq!(written(&shift, "1e99999", TimeKind::Micros), None);
        assert!(shift.is_inexact());
        let shift = Shift::new(1_500, None).unwrap();
        for (value, new, is_inexact) in [
            ("0.30000000000000004", "1.80000000000000004", false),
            ("-0.30000000000000004", "1.199999999999", true),
        ] {
            assert_eq!(written(&shift, value, TimeKind::Micros).as_deref(), Some(new));
            assert_eq!(shift.is_inexact(), is_inexact);
        }
    }

    #[test]
    fn fast_path_equals_the_general_path() {
        for offset in [1, -1, 10, 999, 1000, -1500, 123_456_789, i64::MAX - 5, i64::MIN + 1] {
            let shift = Shift::new(offset, None).unwrap();
            for value in ["0", "-0", "7", "-7", "999999999999999", "1.5", "-1.25", "99.990"] {
                let (mut short, mut long) = (Vec::new(), Vec::new());
                assert!(shift.write_nanos(value.as_bytes(), &mut short));
                assert!(
                    shift.write_number(value.as_bytes(), TimeKind::Micros, &mut long).is_some()
                );
                assert_eq!(short, long, "{value} {offset}");
            }
            for value in ["1.5e3", "1.1000", "\"1\"", "null", "1.00001"] {
                assert!(!shift.write_nanos(value.as_bytes(), &mut Vec::new()), "{value}");
            }
        }
    }

    #[test]
    fn factors_come_before_offsets() {
        let factor: Factor = "1.5".parse().unwrap();
        let shift = Shift::new(-1_000, Some(&factor)).unwrap();
        assert_eq!(written(&shift, "5", TimeKind::Micros).as_deref(), Some("6.5"));
        assert_eq!(written(&shift, "\"5.00\"", TimeKind::Length).as_deref(), Some("\"7.50\""));
        let one: Factor = "1.00".parse().unwrap();
        assert!(Shift::new(0, Some(&one)).is_none());
    }
}
