//! Times to be calculated with: whole nanoseconds and the digits below them, exact to the last one.
//!
//! ```
//! use tracemill_core::exact::Exact;
//!
//! let start = Exact::of(b"1712195495533685.11").expect("a number of microseconds");
//! let end = start.plus(&Exact::of(b"\"0.0000004\"").expect("or a string with one")).expect("in range");
//! let mut out = Vec::new();
//! end.push(&mut out);
//! assert_eq!(out, b"1712195495533685.1100004");
//! assert!(start < end && start.floor == end.floor);
//! ```
//!
//! Edges of windows are whole nanoseconds, so all there is to do is: an end (`ts + dur`), how far it is behind an edge,
//! and how far an edge is behind a time. Sixteen decimals of a microsecond, which exist, are one digit vector of 13.
//!
//! Text is microseconds, as in traces; edges and `floor` are nanoseconds. Range: 64 bits of nanoseconds, 292 years. Cost: as that of integers for times
//! of at most three decimals, which nearly all are; a short vector for others.

use crate::json::push_micros;
use std::cmp::Ordering;
use tracemill_tokenizer::{Number, nanos, number_text};

/// Digits below a nanosecond beyond which a number is not calculated with: nothing real comes near.
const DIGITS: usize = 1000;

/// `floor` nanoseconds and 0.`rest` of one; `rest` has no zero at its end.
///
/// Ordered as the numbers are: of two rests the one that begins the other is less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exact {
    /// Whole nanoseconds, rounded down.
    pub floor: i64,
    /// Digits 0 to 9.
    rest: Vec<u8>,
}

impl Exact {
    /// No time at all.
    pub const ZERO: Exact = Exact { floor: 0, rest: Vec::new() };

    /// Of a JSON value: a number, or a string that holds one. `None` if it is none, or too long or large.
    pub fn of(value: &[u8]) -> Option<Self> {
        let mut scratch = Vec::new();
        let text = number_text(value, &mut scratch)?;
        let time = nanos(text)?;
        if time.exact {
            return Some(Exact { floor: time.floor, rest: Vec::new() });
        }
        let (negative, rest) = digits_below(text)?;
        // digits were cut off if any are left; otherwise the number is out of range
        match (rest.is_empty(), negative) {
            (true, _) => None,
            (false, false) => Some(Exact { floor: time.floor, rest }),
            (false, true) => Some(Exact { floor: time.floor, rest: complement(&rest) }),
        }
    }

    /// The sum of two; `None` beyond the range.
    pub fn plus(&self, other: &Exact) -> Option<Exact> {
        let len = self.rest.len().max(other.rest.len());
        let digit = |rest: &[u8], at: usize| rest.get(at).copied().unwrap_or(0);
        let (mut rest, mut carry) = (vec![0; len], 0);
        for at in (0..len).rev() {
            let sum = digit(&self.rest, at) + digit(&other.rest, at) + carry;
            rest[at] = sum % 10;
            carry = sum / 10;
        }
        trim(&mut rest);
        let floor = self.floor.checked_add(other.floor)?.checked_add(i64::from(carry))?;
        Some(Exact { floor, rest })
    }

    /// How long it is after another; `None` beyond the range.
    pub fn minus(&self, other: &Exact) -> Option<Exact> {
        let negated = match other.rest.is_empty() {
            true => Exact { floor: other.floor.checked_neg()?, rest: Vec::new() },
            // -(f + r) = (-f - 1) + (1 - r)
            false => {
                let floor = other.floor.checked_neg()?.checked_sub(1)?;
                Exact { floor, rest: complement(&other.rest) }
            }
        };
        self.plus(&negated)
    }

    /// How long after `edge`, in nanoseconds, it is; `None` beyond the range.
    pub fn since(&self, edge: i64) -> Option<Exact> {
        Some(Exact { floor: self.floor.checked_sub(edge)?, rest: self.rest.clone() })
    }

    /// How long before `edge`, in nanoseconds, it is; `None` beyond the range.
    ///
    /// ```
    /// use tracemill_core::exact::Exact;
    ///
    /// let mut out = Vec::new();
    /// let begin = Exact::of(b"1.2345").expect("a time");
    /// begin.until(2_000).expect("in range").push(&mut out); // a slice that is cut at 2 µs lasts
    /// assert_eq!(out, b"0.7655");
    /// ```
    pub fn until(&self, edge: i64) -> Option<Exact> {
        let whole = edge.checked_sub(self.floor)?;
        if self.rest.is_empty() {
            return Some(Exact { floor: whole, rest: Vec::new() });
        }
        Some(Exact { floor: whole.checked_sub(1)?, rest: complement(&self.rest) })
    }

    /// Compares with an edge, in nanoseconds: a time that is finer lies behind its whole nanosecond.
    pub fn compare(&self, edge: i64) -> Ordering {
        let fraction = if self.rest.is_empty() { Ordering::Equal } else { Ordering::Greater };
        self.floor.cmp(&edge).then(fraction)
    }

    /// Appends it as microseconds, without zeros at the end of the decimals: [`Exact::of`] reads the same back.
    pub fn push(&self, out: &mut Vec<u8>) {
        if self.rest.is_empty() {
            return push_micros(self.floor, out);
        }
        let (whole, rest) = match u64::try_from(self.floor) {
            Ok(whole) => (whole, self.rest.clone()),
            Err(_) => {
                out.push(b'-');
                ((self.floor + 1).unsigned_abs(), complement(&self.rest))
            }
        };
        out.extend_from_slice(format!("{}.{:03}", whole / 1000, whole % 1000).as_bytes());
        out.extend(rest.iter().map(|digit| digit + b'0'));
    }
}

fn trim(rest: &mut Vec<u8>) {
    while rest.last() == Some(&0) {
        rest.pop();
    }
}

/// 1 − 0.`rest`; `rest` is not empty and does not end with a zero.
fn complement(rest: &[u8]) -> Vec<u8> {
    let mut digits: Vec<u8> = rest.iter().map(|digit| 9 - digit).collect();
    if let Some(last) = digits.last_mut() {
        *last += 1;
    }
    digits
}

/// The sign of a number of microseconds, and its digits below a nanosecond.
fn digits_below(text: &[u8]) -> Option<(bool, Vec<u8>)> {
    let number = Number::parse(text)?;
    // so many digits stand before the nanosecond's end
    let point = (number.whole.len() as i64).checked_add(number.exponent)?.checked_add(3)?;
    let (zeros, skipped) = match usize::try_from(point) {
        Ok(point) => (0, point),
        Err(_) => (usize::try_from(point.unsigned_abs()).ok().filter(|&n| n <= DIGITS)?, 0),
    };
    let mut rest = vec![0; zeros];
    rest.extend(number.digits().skip(skipped));
    trim(&mut rest);
    (rest.len() <= DIGITS).then_some((number.negative, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> Exact {
        Exact::of(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"))
    }

    fn text(value: &Exact) -> String {
        let mut out = Vec::new();
        value.push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_of_any_length() {
        for (written, plain) in [
            ("5", "5"),
            ("\"5.250\"", "5.25"),
            ("0.0000001", "0.0000001"),
            ("9.9999999999999995e-07", "0.00000099999999999999995"),
            ("1712195495533685.1101234567890123", "1712195495533685.1101234567890123"),
            ("12345678e-3", "12345.678"),
            ("1.5e3", "1500"),
            ("100.0010", "100.001"),
        ] {
            assert_eq!(text(&exact(written)), plain);
        }
        for none in ["null", "\"x\"", "1e400", "-1e400", "1e-99999999999999999999", "1e-5000"] {
            assert_eq!(Exact::of(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn sums_and_distances_are_exact() {
        let end = exact("1.00000049").plus(&exact("2.00000052")).unwrap();
        assert_eq!(text(&end), "3.00000101");
        assert_eq!(text(&end.since(3000).unwrap()), "0.00000101");
        assert_eq!(text(&exact("1.00000049").until(3000).unwrap()), "1.99999951");
        assert_eq!(text(&exact("-1.00000049").until(3000).unwrap()), "4.00000049");
        assert_eq!(text(&exact("-0.0000001").plus(&exact("1.0000001")).unwrap()), "1");
        assert_eq!(text(&exact("2").until(3000).unwrap()), "1");
        assert_eq!(text(&exact("3.00000101").minus(&exact("1.00000049")).unwrap()), "2.00000052");
        assert_eq!(text(&exact("-1.5").minus(&exact("1")).unwrap()), "-2.5");
        assert!(exact("1.00000049") < exact("1.0000005") && exact("1") < exact("1.0000001"));
        for (a, b, difference) in [
            ("3.0000001", "1.0000002", "1.9999999"),
            ("1712195495533685.1101234567890123", "1712195495533685", "0.1101234567890123"),
            ("1", "1.0000000001", "-0.0000000001"),
            ("5", "-2.5", "7.5"),
        ] {
            assert_eq!(text(&exact(a).minus(&exact(b)).unwrap()), difference);
        }
        for number in ["-0.0000001", "-1.00000049", "-123.4560000001"] {
            assert_eq!(text(&exact(number)), number);
        }
    }

    #[test]
    fn comparison_sees_the_last_digit() {
        for (value, edge, order) in [
            ("1", 1000, Ordering::Equal),
            ("1.0000000000000001", 1000, Ordering::Greater),
            ("0.9999999999999999", 1000, Ordering::Less),
            ("-1.0000000000000001", -1000, Ordering::Less),
            ("-0.9999999999999999", -1000, Ordering::Greater),
        ] {
            assert_eq!(exact(value).compare(edge), order, "{value}");
        }
    }
}
