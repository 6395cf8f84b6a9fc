//! Reads JSON values as JavaScript does: numbers as doubles, strings without escapes, members by
//! name.

pub(crate) mod args;
pub mod clock;
pub(crate) mod matcher;
pub mod record;
pub mod space;
pub mod typed;
pub mod urls;

use memchr::memchr;
use std::borrow::Cow;
use tracemill_tokenizer::{
    Event, Field, Nanos, Number, members, number_text, parse, string_is, unescape, unescaped_text,
};
pub(crate) use tracemill_trace::json::{elements, member};

/// Parses a number, or a string that contains one, like JavaScript.
pub fn number(value: &[u8]) -> Option<f64> {
    quick(value).or_else(|| parse(number_text(value, &mut Vec::new())?))
}

/// Returns a `ts` or `dur` in microseconds, parsed like [`number`].
#[inline]
pub(crate) fn micros(event: &Event<'_>, field: Field) -> Option<f64> {
    let time = if field == Field::Ts { event.ts() } else { event.dur() };
    let quick = time.and_then(|time| micros_of(time, event.field_and_rest(field)?));
    quick.or_else(|| event.field(field).and_then(number))
}

/// Converts a parsed time to microseconds. Returns `None` if parsing the written number as a double
/// may give a different result.
#[inline]
fn micros_of(time: Nanos, written: &[u8]) -> Option<f64> {
    // `-0` is another double than `0`.
    let is_told = time.floor != 0 || written[0].is_ascii_digit();
    if is_told { exact_micros(time) } else { None }
}

/// Returns a time in microseconds as a double. Returns `None` if the double may differ from the
/// nearest one of the written number.
#[inline]
fn exact_micros(Nanos { floor, exact }: Nanos) -> Option<f64> {
    /// Below this magnitude doubles of microseconds distinguish nanoseconds.
    const FINE: u64 = (1 << 43) * 1000;
    /// Below this magnitude doubles of microseconds distinguish whole microseconds.
    const WHOLE: u64 = (1 << 53) * 1000;
    let size = floor.unsigned_abs();
    match exact {
        true if size < FINE => Some(floor as f64 / 1000.0),
        true if floor % 1000 == 0 && size < WHOLE => Some((floor / 1000) as f64),
        _ => None,
    }
}

/// Parses up to 15 digits. Both parts are then exact doubles, so one division rounds correctly.
#[inline]
fn quick(value: &[u8]) -> Option<f64> {
    const TENS: [f64; 16] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, digits) = match value {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, value),
    };
    if digits.len() > 16 || !digits.first()?.is_ascii_digit() || !digits.last()?.is_ascii_digit() {
        return None;
    }
    let (mut whole, mut decimals, mut count) = (0u64, None, 0);
    for (at, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                whole = whole * 10 + u64::from(byte - b'0');
                count += 1;
            }
            b'.' if decimals.is_none() => decimals = Some(digits.len() - at - 1),
            _ => return None,
        }
    }
    if count > 15 || (digits.len() > 1 && digits[0] == b'0' && digits[1] != b'.') {
        return None;
    }
    let value = whole as f64 / TENS[decimals.unwrap_or(0)];
    Some(if negative { -value } else { value })
}

/// A JSON value, as JavaScript converts it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// A missing member.
    #[default]
    Missing,
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string, unescaped as by [`string`].
    Text(Vec<u8>),
    /// An object, an array, or invalid JSON.
    Other,
}

impl Value {
    /// Returns the value as a number, like [`number`].
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Text(text) => Number::parse(text).and_then(|_| parse(text)),
            _ => None,
        }
    }

    /// Returns the content of a string.
    pub fn text(&self) -> Option<&[u8]> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the content of a string as UTF-8.
    pub fn printable(&self) -> Option<String> {
        self.text().map(unescaped_text)
    }

    /// Returns whether JavaScript treats the value as true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Missing | Value::Null => false,
            Value::Bool(is_true) => *is_true,
            Value::Number(number) => *number != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Other => true,
        }
    }

    /// Returns the value if JavaScript treats it as true.
    pub fn truthy(&self) -> Option<&Self> {
        Some(self).filter(|value| value.is_true())
    }

    /// Returns the value, or `other` if it is missing or null (`self ?? other`).
    pub(crate) fn or<'v>(&'v self, other: &'v Self) -> &'v Self {
        if matches!(self, Value::Missing | Value::Null) { other } else { self }
    }

    /// Returns the value as written in ids of events; strings keep their quotes.
    pub fn written(&self) -> Vec<u8> {
        match self {
            Value::Missing => Vec::new(),
            Value::Text(text) => [b"\"", &**text, b"\""].concat(),
            other => other.template().into_owned(),
        }
    }

    /// Converts the value as a JavaScript template does.
    pub fn template(&self) -> Cow<'_, [u8]> {
        match self {
            Value::Missing => b"undefined".into(),
            Value::Null => b"null".into(),
            Value::Bool(flag) => flag.to_string().into_bytes().into(),
            Value::Number(number) => shortest(*number).into_bytes().into(),
            Value::Text(text) => text.into(),
            Value::Other => b"[object Object]".into(),
        }
    }
}

/// Returns the last member of an object for each of these names.
pub fn named<'v, const N: usize>(object: &'v [u8], names: [&[u8]; N]) -> [Option<&'v [u8]>; N] {
    let mut found = [None; N];
    for (key, value) in members(object) {
        if let Some(at) = names.iter().position(|name| string_is(key, name)) {
            found[at] = Some(value);
        }
    }
    found
}

/// Returns the value at a path of member names.
pub(crate) fn at<'v>(object: &'v [u8], path: &[&[u8]]) -> Option<&'v [u8]> {
    path.iter().try_fold(object, |object, name| member(object, name))
}

/// Returns the content of a string.
pub fn string(value: &[u8]) -> Option<Vec<u8>> {
    content(value).map(Cow::into_owned)
}

/// Returns the content of a string, borrowed if it has no escapes.
pub(crate) fn content(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    let [b'"', content @ .., b'"'] = value else { return None };
    if memchr(b'\\', content).is_none() {
        return Some(content.into());
    }
    let mut text = Vec::with_capacity(content.len());
    unescape(content, &mut text);
    Some(text.into())
}

/// Converts a value as JavaScript does in a template: strings without quotes, numbers in shortest
/// form.
pub(crate) fn template(value: Option<&[u8]>) -> Cow<'_, [u8]> {
    let Some(value) = value else { return b"undefined".into() };
    if is_shortest(value) {
        return value.into();
    }
    content(value).unwrap_or_else(|| match number(value) {
        Some(number) => shortest(number).into_bytes().into(),
        None => value.into(),
    })
}

/// Returns whether a number is written as JavaScript writes it, and is an integer with at most 15
/// digits.
pub(crate) fn is_shortest(value: &[u8]) -> bool {
    match value {
        [b'0'] => true,
        [b'1'..=b'9', rest @ ..] => rest.len() < 15 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Formats a double as JavaScript does. Correct for the magnitudes of ids and line numbers.
pub(crate) fn shortest(number: f64) -> String {
    if number == 0.0 { "0".to_owned() } else { number.to_string() }
}

/// Returns whether JavaScript treats a value as true.
pub(crate) fn is_true(value: Option<&[u8]>) -> bool {
    let Some(value) = value else { return false };
    match value {
        b"" | b"null" | b"false" | b"\"\"" => false,
        [b'"' | b'{' | b'[', ..] => true,
        _ => number(value) != Some(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times converted from nanoseconds have the same bits as those parsed from digits.
    #[test]
    fn fast_times_equal_parsed_times() {
        let mut state = 7u64;
        let mut quick = 0;
        for round in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
            let digits = (state >> 7).to_string();
            let whole = &digits[..1 + (state >> 60) as usize % digits.len()];
            let number_written = match round % 8 {
                0..=2 => whole.to_owned(),
                3 | 4 => format!("{whole}.{}", &digits[..1 + round % 4]),
                5 => format!("-{whole}.5"),
                6 => format!("\"{whole}\""),
                _ => ["-0", "0", "0.0", "\"-0\"", "1e3", "null", "\"x\"", "9007199254740993"]
                    [round / 8 % 8]
                    .to_owned(),
            };
            for field in [Field::Ts, Field::Dur] {
                let text =
                    format!(r#"{{"{}":{number_written},"x":"some more text"}}"#, field.key());
                let spans = tracemill_tokenizer::fields_of(text.as_bytes());
                let event = spans.of(text.as_bytes());
                let slow = event.field(field).and_then(number);
                let of_time = micros(&event, field);
                assert_eq!(of_time.map(f64::to_bits), slow.map(f64::to_bits), "{text}");
                let time = if field == Field::Ts { event.ts() } else { event.dur() };
                let written = number_written.as_bytes();
                quick += usize::from(time.and_then(|time| micros_of(time, written)).is_some());
            }
        }
        assert!(quick > 20_000, "{quick}");
    }

    #[test]
    fn fast_numbers_equal_parsed_numbers() {
        let mut state = 1u64;
        for _ in 0..20_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = state >> 33;
            let text =
                format!("{}{}.{:03}", ["", "-"][(state >> 20) as usize % 2], digits, state >> 54);
            let slow: f64 = text.parse().expect("a number");
            assert_eq!(number(text.as_bytes()).map(f64::to_bits), Some(slow.to_bits()), "{text}");
        }
        for odd in ["1e3", "\"12.5\"", "123456789012345678", "-0", "0.1"] {
            let slow: f64 = odd.trim_matches('"').parse().expect("a number");
            assert_eq!(number(odd.as_bytes()).map(f64::to_bits), Some(slow.to_bits()), "{odd}");
        }
        for none in ["", "-", "NaN", "01", "1.", ".5", "null", "\"1 ms\""] {
            assert_eq!(number(none.as_bytes()), None, "{none}");
        }
    }

    #[test]
    fn values_convert_like_javascript() {
        let args = br#"{"data":{"url":"a\/b","n":12,"url":"c"}}"#;
        assert_eq!(at(args, &[b"data", b"url"]), Some(&b"\"c\""[..]));
        for (value, text) in
            [("12.0", "12"), ("0", "0"), ("-0", "0"), ("01", "01"), ("7e3", "7000"), ("-3", "-3")]
        {
            assert_eq!(*template(Some(value.as_bytes())), *text.as_bytes(), "{value}");
        }
        assert_eq!(*template(Some(br#""a\/b""#)), *b"a/b");
        assert_eq!(*template(None), *b"undefined");
        assert!(is_true(Some(b"1")) && !is_true(Some(b"0.0")) && !is_true(Some(b"\"\"")));
    }
}
