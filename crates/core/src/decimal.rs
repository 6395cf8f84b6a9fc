//! Sums and products of decimal numbers, spelled as the number was that they are made of: exact, of any length that a
//! trace can mean.
//!
//! ```
//! use tracemill_core::decimal::{Decimal, Factor};
//!
//! let text = |number: Decimal| {
//!     let mut out = Vec::new();
//!     number.push(&mut out);
//!     String::from_utf8(out).expect("digits")
//! };
//! let number = Decimal::parse(b"5.10").expect("a number");
//! assert_eq!(text(number.plus(&Decimal::of(900, 3))), "6.00");
//! let factor: Factor = "1.5".parse().expect("a factor");
//! assert_eq!(text(number.times(&factor.0)), "7.65");
//! ```
//!
//! A result has as many decimals as the number had, and more only where a digit that is not zero needs them: 5.10 and
//! 0.9 make 6.00, 5 and 1.5 make 6.5. A number with an exponent is written without.
//!
//! Why not floats: 1712195495533685.11 µs has more digits than a double keeps, and moved by a microsecond it must still end in .11. Why not
//! [`Exact`](crate::exact::Exact): that knows nanoseconds and what is below them, but not how a number was spelled.
//!
//! Cost: a byte of heap a digit; sums are linear in digits, products in those of one number times those of the other.

use std::fmt;
use std::str::FromStr;
use tracemill_tokenizer::Number;

/// Digits beyond which a number is not calculated with: nothing that is a time comes near.
const MOST: usize = 4096;

/// ±`digits` × 10^-`decimals`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    /// 0 to 9 each, the first of the number first.
    digits: Vec<u8>,
    /// How many of the digits stand behind the point; more than there are if zeros stand before them.
    decimals: usize,
}

impl Decimal {
    /// Reads the text of a JSON number; `None` for one that has more than 4096 digits when written out.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let number = Number::parse(text)?;
        let (negative, given) = (number.negative, number.decimals.len());
        let mut digits: Vec<u8> = number.digits().collect();
        if digits.iter().all(|&digit| digit == 0) {
            return Some(Decimal { negative: false, digits, decimals: given });
        }
        let decimals = (given as i64).checked_sub(number.exponent)?;
        if decimals < 0 {
            let zeros = usize::try_from(decimals.unsigned_abs()).ok().filter(|&n| n <= MOST)?;
            digits.resize(digits.len() + zeros, 0);
        }
        let decimals = usize::try_from(decimals.max(0)).ok()?;
        (digits.len().max(decimals) <= MOST).then_some(Decimal { negative, digits, decimals })
    }

    /// `units` × 10^-`decimals`, without zeros at the end of the decimals.
    pub fn of(units: i64, decimals: usize) -> Self {
        let digits = units.unsigned_abs().to_string().bytes().map(|b| b & 15).collect();
        let mut this = Decimal { negative: units < 0, digits, decimals };
        this.trim(0);
        this
    }

    /// Its whole part, cut off towards zero; `None` beyond 64 bits.
    pub fn whole(&self) -> Option<i64> {
        let end = self.digits.len().checked_sub(self.decimals);
        let digits = &self.digits[..end.unwrap_or(0)];
        let value = digits
            .iter()
            .try_fold(0i64, |sum, &digit| sum.checked_mul(10)?.checked_add(i64::from(digit)))?;
        Some(if self.negative { -value } else { value })
    }

    /// Takes zeros off the end of the decimals, down to `least` of them.
    fn trim(&mut self, least: usize) {
        while self.decimals > least && matches!(self.digits[..], [] | [.., 0]) {
            if self.digits.len() > 1 {
                self.digits.pop();
            }
            self.decimals -= 1;
        }
        if self.digits.is_empty() {
            self.digits.push(0);
        }
    }

    /// With `decimals` of them, at least as many as it has, and `whole` digits before the point, at least as many.
    fn padded(&self, whole: usize, decimals: usize) -> Vec<u8> {
        let own = self.digits.len().saturating_sub(self.decimals);
        let missing = self.decimals.saturating_sub(self.digits.len());
        let mut digits = vec![0; whole - own + missing];
        digits.extend_from_slice(&self.digits);
        digits.resize(whole + decimals, 0);
        digits
    }

    /// The sum, of at least as many decimals as either has.
    pub fn plus(&self, other: &Decimal) -> Decimal {
        let decimals = self.decimals.max(other.decimals);
        let whole = |n: &Decimal| n.digits.len().saturating_sub(n.decimals);
        // one more for the carry
        let len = whole(self).max(whole(other)) + 1;
        let (a, b) = (self.padded(len, decimals), other.padded(len, decimals));
        let (negative, digits) = match (self.negative == other.negative, a >= b) {
            (true, _) => (self.negative, sum(&a, &b)),
            (false, true) => (self.negative, difference(&a, &b)),
            (false, false) => (other.negative, difference(&b, &a)),
        };
        Decimal { negative, digits, decimals }
    }

    /// The product, of as many decimals as it needs and at least as many as it had.
    pub fn times(&self, factor: &Decimal) -> Decimal {
        let mut cells = vec![0u32; self.digits.len() + factor.digits.len()];
        for (i, &a) in self.digits.iter().enumerate() {
            for (j, &b) in factor.digits.iter().enumerate() {
                cells[i + j + 1] += u32::from(a) * u32::from(b);
            }
        }
        let mut carry = 0;
        for cell in cells.iter_mut().rev() {
            let value = *cell + carry;
            (*cell, carry) = (value % 10, value / 10);
        }
        let digits = cells.into_iter().map(|cell| cell as u8).collect();
        let decimals = self.decimals + factor.decimals;
        let mut product = Decimal { negative: self.negative, digits, decimals };
        product.trim(self.decimals);
        product
    }

    /// Appends it as JSON has numbers.
    pub fn push(&self, out: &mut Vec<u8>) {
        let first = self.digits.iter().position(|&digit| digit != 0);
        if self.negative && first.is_some() {
            out.push(b'-');
        }
        let whole = self.digits.len().saturating_sub(self.decimals);
        let start = first.unwrap_or(whole).min(whole.saturating_sub(1)).min(whole);
        if start == whole {
            out.push(b'0');
        }
        let text = |digits: &[u8], out: &mut Vec<u8>| out.extend(digits.iter().map(|d| d | b'0'));
        text(&self.digits[start..whole], out);
        if self.decimals > 0 {
            out.push(b'.');
            out.resize(out.len() + self.decimals.saturating_sub(self.digits.len()), b'0');
            text(&self.digits[whole..], out);
        }
    }
}

/// Of two of the same length; the first digits leave room for the carry.
fn sum(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (mut out, mut carry) = (vec![0; a.len()], 0);
    for at in (0..a.len()).rev() {
        let sum = a[at] + b[at] + carry;
        (out[at], carry) = (sum % 10, sum / 10);
    }
    out
}

/// Of two of the same length, the first at least the second.
fn difference(a: &[u8], b: &[u8]) -> Vec<u8> {
    let (mut out, mut borrow) = (vec![0; a.len()], 0);
    for at in (0..a.len()).rev() {
        let below = b[at] + borrow;
        (out[at], borrow) =
            if a[at] >= below { (a[at] - below, 0) } else { (a[at] + 10 - below, 1) };
    }
    out
}

/// What the times of an input are multiplied by: a decimal above 0, kept to its last digit.
///
/// ```
/// use tracemill_core::decimal::Factor;
///
/// let factor: Factor = "1.000012".parse().expect("a factor");
/// assert_eq!(factor.to_string(), "1.000012");
/// assert!("1.0".parse::<Factor>().is_ok_and(|one| one.is_one()));
/// assert!("0".parse::<Factor>().is_err() && "-1".parse::<Factor>().is_err() && "1e3".parse::<Factor>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor(pub Decimal);

impl Factor {
    /// Digits that one may have.
    const DIGITS: usize = 40;

    /// Whether it changes nothing.
    pub fn is_one(&self) -> bool {
        self.0.digits == [1] && self.0.decimals == 0
    }
}

impl FromStr for Factor {
    type Err = String;

    /// Reads digits with at most one point among them, up to 40 of them, and no sign or exponent; anything else is an error that says what
    /// was expected.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected a factor above 0 such as 1000 or 1.000012: {text}");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = [whole, decimals].concat();
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(wrong());
        }
        if digits.len() > Self::DIGITS {
            return Err(format!("expected a factor of at most {} digits: {text}", Self::DIGITS));
        }
        let digits: Vec<u8> = digits.bytes().map(|b| b & 15).collect();
        let zeros = digits.iter().take_while(|&&digit| digit == 0).count();
        let mut factor =
            Decimal { negative: false, digits: digits[zeros..].to_vec(), decimals: decimals.len() };
        factor.trim(0);
        if factor.digits == [0] {
            return Err(wrong());
        }
        Ok(Factor(factor))
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = Vec::new();
        self.0.push(&mut text);
        f.write_str(&String::from_utf8_lossy(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(number: &Decimal) -> String {
        let mut out = Vec::new();
        number.push(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn parse(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn numbers_are_written_as_they_were_but_for_exponents() {
        for (number, plain) in [
            ("0", "0"),
            ("-0", "0"),
            ("0.00", "0.00"),
            ("-1.50", "-1.50"),
            ("1712195495533685.110", "1712195495533685.110"),
            ("9.9999999999999995e-07", "0.00000099999999999999995"),
            ("1.5e3", "1500"),
            ("1.5E+1", "15"),
            ("12345e-3", "12.345"),
            ("0e99999999999999999999", "0"),
        ] {
            assert_eq!(text(&parse(number)), plain);
        }
        for none in ["1e99999", "1e-99999", "1e99999999999999999999", "1e-99999999999999999999"] {
            assert_eq!(Decimal::parse(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn sums_keep_decimals_and_add_only_what_is_needed() {
        for (number, ns, result) in [
            ("5", 1000, "6"),
            ("5", 1500, "6.5"),
            ("5.10", 900, "6.00"),
            ("5.10", 1, "5.101"),
            ("5", -6000, "-1"),
            ("5.5", -5500, "0.0"),
            ("-5.25", 10_000, "4.75"),
            ("-5.25", 250, "-5.00"),
            ("999999999999999999999.999", 1, "1000000000000000000000.000"),
            ("0.0000001", -1000, "-0.9999999"),
            ("1e3", 1, "1000.001"),
            ("0", i64::MIN, "-9223372036854775.808"),
        ] {
            assert_eq!(text(&parse(number).plus(&Decimal::of(ns, 3))), result, "{number} {ns}");
        }
    }

    #[test]
    fn products_are_exact() {
        for (number, factor, result) in [
            ("100", "1.00002", "100.002"),
            ("100000", "1.00002", "100002"),
            ("5.10", "2", "10.20"),
            ("-5", "0.001", "-0.005"),
            ("0", "7.5", "0"),
            ("18446744073709551615", "1000", "18446744073709551615000"),
            ("0.5", "0.00000000000000000000000000000000000001", &format!("0.{}5", "0".repeat(38))),
        ] {
            let factor: Factor = factor.parse().unwrap();
            assert_eq!(text(&parse(number).times(&factor.0)), result, "{number} {factor}");
        }
    }

    #[test]
    fn factors_are_decimals_above_zero() {
        for (given, shown) in [("1.500", "1.5"), ("007", "7"), (".25", "0.25"), ("1000", "1000")] {
            assert_eq!(given.parse::<Factor>().unwrap().to_string(), shown);
        }
        assert!("1.0".parse::<Factor>().unwrap().is_one());
        for wrong in ["", ".", "0", "0.0", "-1", "+1", "1e3", "1,5", "x", "1.2.3"] {
            assert!(wrong.parse::<Factor>().unwrap_err().contains("such as"), "{wrong}");
        }
        assert!("1".repeat(41).parse::<Factor>().unwrap_err().contains("40 digits"));
    }

    #[test]
    fn whole_parts() {
        for (number, whole) in [
            ("1.9", Some(1)),
            ("-7", Some(-7)),
            ("1.7e18", Some(1_700_000_000_000_000_000)),
            ("0.001", Some(0)),
            ("1e30", None),
        ] {
            assert_eq!(parse(number).whole(), whole, "{number}");
        }
    }
}
