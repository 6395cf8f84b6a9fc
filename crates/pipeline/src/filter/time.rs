//! Times and durations as users write them: `1500`, `1.5ms`, `@522975000000`.

use std::str::FromStr;

/// A point in time: relative to the start of the trace, or as time stamps have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// Nanoseconds behind the least time stamp of an event that is no metadata.
    Relative(i64),
    /// Nanoseconds on the trace's own clock.
    Absolute(i64),
}

impl FromStr for TimePoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(time) => parse_ns(time).map(TimePoint::Absolute),
            None => parse_ns(text).map(TimePoint::Relative),
        }
    }
}

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duration(pub i64);

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse_ns(text)? {
            ns if ns < 0 => Err(format!("expected a duration that is not negative: {text}")),
            ns => Ok(Duration(ns)),
        }
    }
}

/// A decimal number and its unit (`ns us µs ms s m`; microseconds if there is none), in nanoseconds. No float.
fn parse_ns(text: &str) -> Result<i64, String> {
    let wrong = || format!("expected a time such as 1500 (microseconds), 1.5ms, 2s: {text}");
    let (negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let (number, unit) = rest.split_at(end);
    let unit: i128 = match unit.trim_start() {
        "ns" => 1,
        "" | "us" | "µs" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        _ => return Err(wrong()),
    };
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, decimals].concat();
    if digits.is_empty() || digits.contains('.') || digits.len() > 25 {
        return Err(wrong());
    }
    let value = digits.parse::<i128>().map_err(|_| wrong())? * unit;
    let parts = 10_i128.pow(decimals.len() as u32);
    if value % parts != 0 {
        return Err(format!("expected no more digits than a nanosecond has: {text}"));
    }
    let ns = if negative { -value / parts } else { value / parts };
    i64::try_from(ns).map_err(|_| format!("expected a time within 292 years: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_clocks() {
        let point = |text: &str| text.parse::<TimePoint>();
        for (text, ns) in [
            ("0", 0),
            ("1500", 1_500_000),
            ("1.5", 1500),
            ("7ns", 7),
            ("2us", 2000),
            ("2µs", 2000),
            ("0.25ms", 250_000),
            ("3 s", 3_000_000_000),
            ("2m", 120_000_000_000),
            ("-1ms", -1_000_000),
        ] {
            assert_eq!(point(text), Ok(TimePoint::Relative(ns)), "{text}");
            assert_eq!(point(&format!("@{text}")), Ok(TimePoint::Absolute(ns)), "{text}");
        }
        for text in ["", "@", "x", "1.2.3", "1h", "1e3", "--1", "0.0001us", "99999999999999s", "."]
        {
            assert!(point(text).is_err(), "{text}");
        }
        assert_eq!("2ms".parse(), Ok(Duration(2_000_000)));
        assert!("-2ms".parse::<Duration>().is_err());
    }
}
