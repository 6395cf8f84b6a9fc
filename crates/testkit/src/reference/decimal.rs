//! Exact decimal numbers of any length in JSON notation: parsing and total order.

use std::cmp::Ordering;

/// Limit to which exponents are clamped, so that arithmetic cannot overflow.
const EXPONENT_LIMIT: i64 = 1_000_000_000_000_000_000;

/// The exact value `± 0.d1d2d3… × 10^exponent` of a JSON number.
///
/// Equal values have equal representations: no leading or trailing zero digits. Zero is positive,
/// without digits, with exponent 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

impl Decimal {
    /// Returns zero, which is also the duration of an event without `dur`.
    #[must_use]
    pub fn zero() -> Self {
        Self { negative: false, digits: Vec::new(), exponent: 0 }
    }

    /// Parses `text` if it is exactly a JSON number, without surrounding space.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (whole, rest) = split_digits(rest);
        if whole.is_empty() || (whole.len() > 1 && whole[0] == b'0') {
            return None;
        }
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] => {
                let (fraction, rest) = split_digits(rest);
                if fraction.is_empty() {
                    return None;
                }
                (fraction, rest)
            }
            rest => (&rest[..0], rest),
        };
        let exponent = match rest {
            [] => 0,
            [b'e' | b'E', rest @ ..] => parse_exponent(rest)?,
            _ => return None,
        };
        Some(Self::normalised(negative, whole, fraction, exponent))
    }

    fn normalised(negative: bool, whole: &[u8], fraction: &[u8], exponent: i64) -> Self {
        let all = [whole, fraction].concat();
        let Some(first) = all.iter().position(|&d| d != b'0') else {
            return Self::zero();
        };
        let last = all.iter().rposition(|&d| d != b'0').expect("a first has a last");
        let shift = whole.len() as i64 - first as i64;
        Self {
            negative,
            digits: all[first..=last].to_vec(),
            exponent: exponent.saturating_add(shift),
        }
    }

    /// Converts microseconds to whole nanoseconds, rounded down and limited to ±(2^63 − 9).
    #[must_use]
    pub fn nanos_floor(&self) -> i64 {
        self.floor(3, i128::from(i64::MAX - 8)) as i64
    }

    /// Converts microseconds to whole attoseconds, rounded down and limited to ±2^123; times are
    /// compared in this unit.
    #[must_use]
    pub fn attos(&self) -> i128 {
        self.floor(12, 1 << 123)
    }

    /// Multiplies by 10^`decimals`, rounds down, and limits to ±`most`.
    #[must_use]
    pub fn floor(&self, decimals: i64, most: i128) -> i128 {
        let places = self.exponent.saturating_add(decimals);
        if places > 38 && !self.digits.is_empty() {
            return if self.negative { -most } else { most };
        }
        let places = places.max(0) as usize;
        let whole = (0..places).fold(0_i128, |sum, at| {
            sum * 10 + self.digits.get(at).map_or(0, |digit| i128::from(digit - b'0'))
        });
        let rest = i128::from(self.digits.len() > places);
        let floor = if self.negative { -whole - rest } else { whole };
        floor.clamp(-most, most)
    }

    fn cmp_magnitude(&self, other: &Self) -> Ordering {
        match (self.digits.is_empty(), other.digits.is_empty()) {
            (true, true) => return Ordering::Equal,
            (true, false) => return Ordering::Less,
            (false, true) => return Ordering::Greater,
            (false, false) => {}
        }
        // with equal exponents, digits compare as text: a proper prefix is smaller
        self.exponent.cmp(&other.exponent).then_with(|| self.digits.cmp(&other.digits))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.cmp_magnitude(other),
            (true, true) => other.cmp_magnitude(self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn split_digits(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let size = digits.iter().fold(0_i64, |sum, d| {
        sum.saturating_mul(10).saturating_add(i64::from(d - b'0')).min(EXPONENT_LIMIT)
    });
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn order_does_not_depend_on_notation() {
        let mut rng = Rng::new(1);
        let spell = |value: i128, rng: &mut Rng| match rng.below(5) {
            0 => format!("{value}"),
            1 => format!("{value}.000"),
            2 => format!("{value}e0"),
            3 if value != 0 => format!("{value}0000E-4"),
            _ => {
                // 1234 as 12.34e2
                let sign = if value < 0 { "-" } else { "" };
                let digits = format!("{:03}", value.unsigned_abs());
                let (head, tail) = digits.split_at(digits.len() - 2);
                let head = head.trim_start_matches('0');
                format!("{sign}{}.{tail}e+02", if head.is_empty() { "0" } else { head })
            }
        };
        for _ in 0..20_000 {
            let (wide_a, wide_b) = (rng.below(100), rng.below(100));
            let a = (i128::from(rng.bits()) * i128::from(rng.bits() >> 1)) >> wide_a;
            let a = if rng.chance(50) { -a } else { a };
            let b =
                if rng.chance(70) { a + 3 - i128::from(rng.below(7)) } else { a >> (wide_b % 30) };
            let (text_a, text_b) = (spell(a, &mut rng), spell(b, &mut rng));
            assert_eq!(decimal(&text_a).cmp(&decimal(&text_b)), a.cmp(&b), "{text_a} {text_b}");
            assert_eq!(decimal(&text_a) == decimal(&text_b), a == b, "{text_a} {text_b}");
        }
    }

    #[test]
    fn orders_unusual_notations() {
        let rising = [
            "-1e99999999999999999999",
            "-1e400",
            "-2",
            "-1.5",
            "-1.25",
            "-1e-99999999999999999999",
            "0",
            "1e-99999999999999999999",
            "9.9999999999999995e-07",
            "1e-6",
            "0.1",
            "0.10000000000000000000000000000000001",
            "9007199254740992",
            "9007199254740992.001",
            "9007199254740993",
            "1712195495533685.110e3",
            "1e400",
            "1e99999999999999999999",
        ];
        for pair in rising.windows(2) {
            assert!(decimal(pair[0]) < decimal(pair[1]), "{pair:?}");
        }
        for zero in ["-0", "0.000", "-0e5", "0e-99999999999999999999"] {
            assert_eq!(decimal(zero), Decimal::zero());
        }
    }

    #[test]
    fn accepts_only_the_json_grammar() {
        for bad in
            ["", "-", "+1", "01", "1.", ".5", "1e", "1e+", " 1", "1 ", "0x1", "NaN", "1e5.0", "--1"]
        {
            assert_eq!(Decimal::parse(bad.as_bytes()), None, "{bad}");
        }
    }
}
