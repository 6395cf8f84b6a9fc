//! Factors for the times of an input.

use std::fmt;
use std::str::FromStr;

/// An exact decimal factor above 0 with up to 18 digits.
///
/// ```
/// use tracemill_trace::time::factor::Factor;
///
/// let factor: Factor = "1.000012".parse().expect("a factor");
/// assert_eq!(factor.to_string(), "1.000012");
/// assert!("1.0".parse::<Factor>().is_ok_and(|one| one.is_one()));
/// assert!("0".parse::<Factor>().is_err() && "-1".parse::<Factor>().is_err() && "1e3".parse::<Factor>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Digits without the point; not divisible by 10 if there are decimals.
    digits: u64,
    decimals: u32,
}

impl Factor {
    const DIGITS: usize = 18;

    /// Returns whether the factor is 1.
    pub fn is_one(self) -> bool {
        self == Factor { digits: 1, decimals: 0 }
    }

    /// Multiplies and rounds down. Returns `None` if the product exceeds 128 bits.
    pub(crate) fn times(self, units: i128) -> Option<i128> {
        // 18 digits by 18 digits fit in 128 bits
        let (scale, digits) = (10i128.pow(self.decimals), i128::from(self.digits));
        let whole = units.div_euclid(scale).checked_mul(digits)?;
        whole.checked_add(units.rem_euclid(scale) * digits / scale)
    }
}

impl FromStr for Factor {
    type Err = String;

    /// Parses digits with at most one point, without sign or exponent. The error states the
    /// expected form.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected a factor above 0 such as 1000 or 1.000012: {text}");
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let decimals = decimals.trim_end_matches('0');
        let all = [whole.trim_start_matches('0'), decimals].concat();
        if !(whole.bytes().chain(decimals.bytes())).all(|b| b.is_ascii_digit()) || all.is_empty() {
            return Err(wrong());
        }
        if all.len() > Self::DIGITS {
            return Err(format!("expected a factor of at most {} digits: {text}", Self::DIGITS));
        }
        let digits = all.parse().map_err(|_| wrong())?;
        if digits == 0 {
            return Err(wrong());
        }
        Ok(Factor { digits, decimals: decimals.len() as u32 })
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = 10u64.pow(self.decimals);
        write!(f, "{}", self.digits / scale)?;
        match self.decimals {
            0 => Ok(()),
            width => write!(f, ".{:0width$}", self.digits % scale, width = width as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_decimals_above_zero() {
        for (given, shown) in [("1.500", "1.5"), ("007", "7"), (".25", "0.25"), ("1000", "1000")] {
            assert_eq!(given.parse::<Factor>().unwrap().to_string(), shown);
        }
        assert!("1.0".parse::<Factor>().unwrap().is_one());
        for wrong in ["", ".", "0", "0.0", "-1", "+1", "1e3", "1,5", "x", "1.2.3"] {
            assert!(wrong.parse::<Factor>().unwrap_err().contains("such as"), "{wrong}");
        }
        assert!("1".repeat(19).parse::<Factor>().unwrap_err().contains("18 digits"));
        assert!("0.0000000000000000001".parse::<Factor>().is_err());
    }

    #[test]
    fn products_are_rounded_down() {
        for (units, factor, product) in [
            (100_000, "1.00002", 100_002),
            (-5, "0.001", -1),
            (999, "0.001", 0),
            (10i128.pow(27) + 1, "1.00000000000000001", 10i128.pow(27) + 10i128.pow(10) + 1),
        ] {
            assert_eq!(factor.parse::<Factor>().unwrap().times(units), Some(product));
        }
        assert_eq!("1000".parse::<Factor>().unwrap().times(i128::MAX / 10), None);
    }
}
