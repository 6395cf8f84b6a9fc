//! Parses times and durations written by users: `1500`, `1.5ms`, `@522975000000`.
//!
//! ```text
//!   time = ["-" | "+"] part {" " part}      part = digits ["." digits] [" "] [unit]
//!   unit: ns us µs ms s m min h d; µs if missing, which only a time with one part allows
//! ```
//!
//! ```
//! use tracemill_trace::time::{TimePoint, parse_time};
//!
//! assert_eq!(parse_time("1.5 ms"), Ok(1_500_000)); // nanoseconds
//! assert_eq!(parse_time("+820.00 ms"), parse_time("820ms")); // as tables print it
//! assert_eq!(parse_time("1 min 5 s"), parse_time("65s"));
//! assert_eq!("@522975000000".parse(), Ok(TimePoint::Absolute(522_975_000_000_000)));
//! assert!(parse_time("1 fortnight").is_err());
//! ```
//!
//! Parsing is exact: no floats, no rounding. A leading `@` marks a time stamp of the trace's own
//! clock.

pub mod attos;
pub mod bounds;
pub mod factor;
pub mod shift;
pub mod windows;

use std::str::FromStr;

const UNITS: [(&str, i128); 10] = [
    ("", 1000),
    ("ns", 1),
    ("us", 1000),
    ("µs", 1000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// A point in time, relative to the trace start or absolute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// Nanoseconds after the trace start, see [`Times`](crate::time::bounds::Times).
    Relative(i64),
    /// Nanoseconds of the trace's own clock.
    Absolute(i64),
}

impl FromStr for TimePoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            Some(time) => parse_time(time).map(TimePoint::Absolute),
            None => parse_time(text).map(TimePoint::Relative),
        }
    }
}

/// A nonnegative duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duration(pub i64);

impl FromStr for Duration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse_time(text)? {
            ns if ns < 0 => Err(format!("expected a duration that is not negative: {text}")),
            ns => Ok(Duration(ns)),
        }
    }
}

/// Parses a time without `@` into nanoseconds.
///
/// # Errors
/// A message with the expected form, if the text is malformed, finer than a nanosecond, or beyond
/// 292 years.
pub fn parse_time(text: &str) -> Result<i64, String> {
    let plain = text.trim();
    let (sign, mut rest) = match plain.strip_prefix(['-', '\u{2212}']) {
        Some(rest) => (-1, rest),
        None => (1, plain.strip_prefix('+').unwrap_or(plain)),
    };
    let mut sum = 0;
    loop {
        let (nanos, unit, behind) = part(rest, text)?;
        sum += nanos;
        match behind.strip_prefix(' ') {
            Some(next) if !unit.is_empty() => rest = next,
            _ if behind.is_empty() => break,
            _ => return Err(wrong(text)),
        }
    }
    i64::try_from(sign * sum).map_err(|_| too_far(text))
}

fn wrong(text: &str) -> String {
    format!("expected a time such as 1500 (µs), 250ns, 1.5ms, 2s, 3m or 1h: {text}")
}

fn too_far(text: &str) -> String {
    format!("expected a time within 292 years: {text}")
}

/// Parses a number and its unit. Returns nanoseconds, the unit, and the text after the unit. `text`
/// is the whole time, for messages.
fn part<'t>(rest: &'t str, text: &str) -> Result<(i128, &'t str, &'t str), String> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let (number, rest) = rest.split_at(rest.find(|c| !is_digit(c)).unwrap_or(rest.len()));
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let (unit, behind) = rest.split_at(rest.find(' ').unwrap_or(rest.len()));
    let (_, scale) =
        UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(|| wrong(text))?;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() + decimals.len() == 0 || decimals.contains('.') {
        return Err(wrong(text));
    }
    let too_fine = || format!("expected whole nanoseconds, without finer digits: {text}");
    let decimals = decimals.trim_end_matches('0');
    // a day has 14 digits of nanoseconds
    let parts = if decimals.len() <= 14 { 10_i128.pow(decimals.len() as u32) } else { 0 };
    if parts == 0 {
        return Err(too_fine());
    }
    let whole = whole.trim_start_matches('0');
    if whole.len() > 19 {
        return Err(too_far(text));
    }
    // at most 19 + 14 digits
    let digits = format!("0{whole}{decimals}").parse::<i128>().map_err(|_| wrong(text))?;
    let scaled = digits.checked_mul(scale).ok_or_else(|| too_far(text))?;
    if scaled % parts != 0 {
        return Err(too_fine());
    }
    Ok((scaled / parts, unit, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_decimals_are_exact() {
        for (text, ns) in [
            ("0", 0),
            ("5", 5000),
            ("1500", 1_500_000),
            ("1.5", 1500),
            ("1.", 1000),
            (".5", 500),
            ("0.001", 1),
            ("0.0010000000000000000000000", 1),
            ("0000000000000000000000000007ns", 7),
            ("2us", 2000),
            ("2µs", 2000),
            ("3ms", 3_000_000),
            ("0.000001ms", 1),
            ("3 s", 3_000_000_000),
            ("1.123456789s", 1_123_456_789),
            ("2m", 120_000_000_000),
            ("0.5min", 30_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0.0025h", 9_000_000_000),
            ("-1ms", -1_000_000),
            ("+820.00 ms", 820_000_000),
            ("\u{2212}1.5 µs", -1500),
            (" 5s ", 5_000_000_000),
            ("1 min 1 s", 61_000_000_000),
            ("-2 h 3 min", -7_380_000_000_000),
            ("1 d 1 h", 90_000_000_000_000),
            ("-0.0001ms", -100),
            ("1712195495533685.110", 1_712_195_495_533_685_110),
            ("9223372036854775807ns", i64::MAX),
        ] {
            assert_eq!(parse_time(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn errors_name_malformed_too_fine_and_too_large_times() {
        for text in [
            "", "-", "+", ".", "s", "x", "1.2.3", "1,5s", "1e3", "--1", "+-1", "@5", "5w", "5  s",
            "1 2s",
        ] {
            let error = parse_time(text).expect_err(text);
            assert!(error.contains("such as 1500") && error.ends_with(text), "{error}");
        }
        for text in ["0.0001us", "1.5ns", "0.0001", "0.00000000000001h"] {
            assert!(parse_time(text).expect_err(text).contains("whole nanoseconds"), "{text}");
        }
        for text in ["9223372036854775808ns", "99999999999999m", "99999999999999999999999999h"] {
            assert!(parse_time(text).expect_err(text).contains("292 years"), "{text}");
        }
    }

    #[test]
    fn points_have_a_clock_and_durations_are_not_negative() {
        assert_eq!("-1ms".parse(), Ok(TimePoint::Relative(-1_000_000)));
        assert_eq!("@1s".parse(), Ok(TimePoint::Absolute(1_000_000_000)));
        assert!("@".parse::<TimePoint>().is_err() && "@@1".parse::<TimePoint>().is_err());
        assert_eq!("2ms".parse(), Ok(Duration(2_000_000)));
        assert!("-2ms".parse::<Duration>().is_err());
    }
}
