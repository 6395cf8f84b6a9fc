//! Exact times: whole attoseconds (10⁻¹⁸ s) in 128 bits.
//!
//! ```
//! use tracemill_trace::time::attos::Attos;
//!
//! let start = Attos::of(b"1712195495533685.11").expect("a number of microseconds");
//! let end = start + Attos::of(b"\"0.0000004\"").expect("or a string with one");
//! let mut out = Vec::new();
//! end.push(&mut out);
//! assert_eq!(out, b"1712195495533685.1100004");
//! assert!(start < end && start.floor() == end.floor());
//! ```
//!
//! Doubles have too few digits for 1712195495533685.11 µs. Nanoseconds are too coarse for quotients
//! such as `0.30000000000000004`.
//!
//! Text is in microseconds; edges of windows are in nanoseconds. Digits below an attosecond are
//! truncated towards minus infinity. Unchanged events keep these digits.

use crate::json::{push_integer, push_micros};
use std::ops::{Add, Sub};
use tracemill_tokenizer::{Nanos, Number, nanos, number_text};

/// Attoseconds per nanosecond.
pub(crate) const NANO: i128 = 1_000_000_000;

/// Number of decimals of an attosecond in microseconds.
pub(crate) const OF_MICROS: u32 = 12;

/// A point in time or a duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attos(i128);

impl Attos {
    /// The time zero.
    pub const ZERO: Attos = Attos(0);

    /// Largest magnitude that can be read: 3 × 10¹¹ years. Sums of a few such times do not
    /// overflow.
    pub const MAX: i128 = 1 << 123;

    /// Converts whole nanoseconds to attoseconds.
    pub const fn from_nanos(ns: i64) -> Attos {
        Attos(ns as i128 * NANO)
    }

    /// Parses a JSON value in microseconds: a number, or a string with one. Returns `None` for
    /// other values, and beyond ±[`Attos::MAX`].
    pub fn of(value: &[u8]) -> Option<Attos> {
        Self::of_text(number_text(value, &mut Vec::new())?)
    }

    /// Parses the text of a JSON number, like [`Attos::of`].
    pub fn of_text(text: &[u8]) -> Option<Attos> {
        if let Some(Nanos { floor, exact: true }) = nanos(text) {
            return Some(Self::from_nanos(floor));
        }
        Self::from_units(Number::parse(text)?.scaled(OF_MICROS)?.0)
    }

    /// Parses the value of a field for comparisons. Values that are not numbers are 0; the range is
    /// saturated.
    pub(crate) fn saturated(value: Option<&[u8]>) -> Attos {
        let mut scratch = Vec::new();
        let Some(text) = value.and_then(|value| number_text(value, &mut scratch)) else {
            return Attos::ZERO;
        };
        let beyond = if text.starts_with(b"-") { -Self::MAX } else { Self::MAX };
        Self::of_text(text).unwrap_or(Attos(beyond))
    }

    /// Creates a time from attoseconds. Returns `None` beyond ±[`Attos::MAX`].
    pub(crate) fn from_units(units: i128) -> Option<Attos> {
        (units.abs() <= Self::MAX).then_some(Attos(units))
    }

    /// Returns the number of attoseconds.
    pub(crate) const fn units(self) -> i128 {
        self.0
    }

    /// Returns whole nanoseconds, rounded down; ±[`Nanos::MAX`] beyond that range.
    pub fn floor(self) -> i64 {
        let limit = i128::from(Nanos::MAX);
        self.0.div_euclid(NANO).clamp(-limit, limit) as i64
    }

    /// Appends the time in microseconds without trailing zeros. [`Attos::of`] reads the same value.
    pub fn push(self, out: &mut Vec<u8>) {
        match i64::try_from(self.0 / NANO) {
            Ok(ns) if self.0 % NANO == 0 => push_micros(ns, out),
            _ => push_units(self.0, OF_MICROS, 0, out),
        }
    }
}

impl Add for Attos {
    type Output = Attos;

    fn add(self, other: Attos) -> Attos {
        Attos(self.0 + other.0)
    }
}

impl Sub for Attos {
    type Output = Attos;

    fn sub(self, other: Attos) -> Attos {
        Attos(self.0 - other.0)
    }
}

/// Appends `units` × 10^-`decimals` with up to 18 decimals: as many as needed, and at least
/// `least`.
pub(crate) fn push_units(units: i128, decimals: u32, least: u32, out: &mut Vec<u8>) {
    let (magnitude, scale) = (units.unsigned_abs(), 10u64.pow(decimals));
    let (whole, mut rest) = match u64::try_from(magnitude) {
        Ok(small) => (u128::from(small / scale), small % scale),
        Err(_) => (magnitude / u128::from(scale), (magnitude % u128::from(scale)) as u64),
    };
    out.extend_from_slice(if units < 0 { b"-" } else { b"" });
    match u64::try_from(whole) {
        Ok(whole) => push_integer(whole, out),
        Err(_) => out.extend_from_slice(whole.to_string().as_bytes()),
    }
    let mut digits = [b'0'; 18];
    for digit in digits[..decimals as usize].iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    let needed = digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
    let needed = needed.max(least as usize);
    if needed > 0 {
        out.push(b'.');
        out.extend_from_slice(&digits[..needed]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attos(text: &str) -> Attos {
        Attos::of(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"))
    }

    fn text(value: Attos) -> String {
        let mut out = Vec::new();
        value.push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_read_to_the_attosecond() {
        for (written, plain) in [
            ("5", "5"),
            ("\"5.250\"", "5.25"),
            ("0.0000001", "0.0000001"),
            ("9.9999999999999995e-07", "0.000000999999"),
            ("-9.9999999999999995e-07", "-0.000001"),
            ("1712195495533685.1101234567890123", "1712195495533685.110123456789"),
            ("12345678e-3", "12345.678"),
            ("1.5e3", "1500"),
            ("-0.00", "0"),
            ("100.0010", "100.001"),
            ("9223372036854775.808", "9223372036854775.808"),
            ("123456789012345678901234", "123456789012345678901234"),
        ] {
            assert_eq!(text(attos(written)), plain);
        }
        for none in ["null", "\"x\"", "1e400", "-1e400", "1e26"] {
            assert_eq!(Attos::of(none.as_bytes()), None, "{none}");
        }
        assert_eq!(attos("1e-99999999999999999999"), Attos::ZERO);
    }

    #[test]
    fn sums_and_differences_are_exact() {
        for (a, b, sum, difference) in [
            ("1.00000049", "2.00000052", "3.00000101", "-1.00000003"),
            ("-0.0000001", "1.0000001", "1", "-1.0000002"),
            ("5", "-2.5", "2.5", "7.5"),
            (
                "1712195495533685.110123456789",
                "1712195495533685",
                "3424390991067370.110123456789",
                "0.110123456789",
            ),
        ] {
            assert_eq!(text(attos(a) + attos(b)), sum);
            assert_eq!(text(attos(a) - attos(b)), difference);
        }
    }

    #[test]
    fn whole_nanoseconds_are_rounded_down() {
        for (time, ns) in
            [("1", 1000), ("1.0000001", 1000), ("-1.0000001", -1001), ("1e20", Nanos::MAX)]
        {
            assert_eq!(attos(time).floor(), ns, "{time}");
        }
        assert!(attos("0.9999999999") < Attos::from_nanos(1000));
        assert!(attos("-0.9999999999") > Attos::from_nanos(-1000));
    }
}
