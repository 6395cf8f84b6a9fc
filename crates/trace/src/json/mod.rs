//! Reads single members and values of JSON text, writes numbers, and repairs text that is not JSON.
//!
//! Values are slices of the input; only requested values are decoded, and nothing is rebuilt.
//!
//! ```
//! use tracemill_trace::json::{elements, member, push_micros, push_sound};
//!
//! let event = br#"{"name":"a","args":{"ids":[1,2]}}"#;
//! let args = member(event, b"args").expect("it has args");
//! assert!(elements(member(args, b"ids").expect("a list")).eq([&b"1"[..], b"2"]));
//!
//! let mut out = Vec::new();
//! push_micros(1_500, &mut out); // nanoseconds, as exact microseconds
//! assert_eq!(out, b"1.5");
//! assert!(!push_sound(b",NaN", &mut out), "what is no JSON is changed, and that is said");
//! ```

pub mod patch;

use tracemill_tokenizer::{
    Cursor, members, number_text, string_is, to_text, unescape, validate_value,
};

/// Returns the value of the last member named `name`, as written. Returns `None` if `object` is not
/// an object or lacks the member.
///
/// Compares keys after resolving escapes. The last of equal keys counts, as in `JSON.parse`. Cost:
/// one pass over the object.
pub fn member<'o>(object: &'o [u8], name: &[u8]) -> Option<&'o [u8]> {
    if object.first() != Some(&b'{') {
        return None;
    }
    members(object).filter(|(key, _)| string_is(key, name)).last().map(|(_, value)| value)
}

/// Returns the content of a string, unescaped into `scratch` if necessary. Returns any other value
/// as written.
///
/// ```
/// use tracemill_trace::json::content;
///
/// let mut scratch = Vec::new();
/// assert_eq!(content(br#""a\u0062""#, &mut scratch), b"ab");
/// assert_eq!(content(b"1e2", &mut scratch), b"1e2");
/// ```
#[inline]
pub fn content<'v>(value: &'v [u8], scratch: &'v mut Vec<u8>) -> &'v [u8] {
    let [b'"', inside @ .., b'"'] = value else { return value };
    if !inside.contains(&b'\\') {
        return inside;
    }
    scratch.clear();
    unescape(inside, scratch);
    scratch
}

/// Returns the [`content`] of a value as text, with U+FFFD for invalid UTF-8.
///
/// ```
/// use tracemill_trace::json::printable;
///
/// assert_eq!(printable(br#""a\tb""#), "a\tb");
/// assert_eq!(printable(b"4711"), "4711"); // what is no string stays
/// ```
pub fn printable(value: &[u8]) -> String {
    to_text(content(value, &mut Vec::new()))
}

/// Returns the elements of an array as written. Returns no elements of any other value.
pub fn elements(array: &[u8]) -> impl Iterator<Item = &[u8]> {
    array_elements(array).into_iter().flatten()
}

/// Returns the elements of an array as written. Returns `None` if it is not an array.
pub fn array_elements(array: &[u8]) -> Option<Elements<'_>> {
    let mut cursor = Cursor::new(array);
    cursor.enter(b'[').then_some(Elements(Some(cursor)))
}

/// An iterator over the elements of an array, see [`elements`].
#[derive(Clone, Debug)]
pub struct Elements<'a>(Option<Cursor<'a>>);

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let cursor = self.0.as_mut()?;
        if !cursor.next_element() {
            // other values may follow the array
            self.0 = None;
            return None;
        }
        Some(cursor.value())
    }
}

/// Appends an integer in decimal.
#[inline]
pub fn push_integer(number: impl itoa::Integer, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Appends a number and a comma. Numbers below 10,000 need no loop or table.
///
/// ```
/// use tracemill_trace::json::push_element;
///
/// let mut out = Vec::new();
/// [0, 42, 9_999, 10_000].into_iter().for_each(|number| push_element(number, &mut out));
/// assert_eq!(out, b"0,42,9999,10000,");
/// ```
#[inline]
pub fn push_element(number: u64, out: &mut Vec<u8>) {
    if number >= 10_000 {
        push_integer(number, out);
        return out.push(b',');
    }
    let digits = four_digits(number as u32);
    // leading zeros are the low bytes; a single digit always remains
    let zeros = (digits | (1 << 24)).trailing_zeros() / 8;
    let text = u64::from(digits + 0x3030_3030) | (u64::from(b',') << 32);
    let end = out.len() + 5 - zeros as usize;
    out.extend_from_slice(&(text >> (8 * zeros)).to_le_bytes());
    out.truncate(end);
}

/// Returns the four digits of a number below 10,000, the first in the lowest byte.
#[inline(always)]
fn four_digits(number: u32) -> u32 {
    let pairs = (number / 100) | ((number % 100) << 16);
    // x / 10 for x < 100 is x × 103 / 1024
    let tens = ((pairs * 103) >> 10) & 0x000F_000F;
    tens | ((pairs - tens * 10) << 8)
}

/// Appends nanoseconds as exact microseconds, and a comma.
#[inline]
pub fn push_micros_element(ns: i64, out: &mut Vec<u8>) {
    match u64::try_from(ns) {
        Ok(ns) if ns.is_multiple_of(1000) => push_element(ns / 1000, out),
        _ => {
            push_micros(ns, out);
            out.push(b',');
        }
    }
}

/// Appends nanoseconds as exact microseconds, without trailing zeros.
#[inline]
pub fn push_micros(ns: i64, out: &mut Vec<u8>) {
    if ns % 1000 == 0 {
        return push_integer(ns / 1000, out);
    }
    if ns < 0 {
        out.push(b'-');
    }
    let ns = ns.unsigned_abs();
    push_integer(ns / 1000, out);
    let decimals = format!(".{:03}", ns % 1000);
    out.extend_from_slice(decimals.trim_end_matches('0').as_bytes());
}

/// Returns nanoseconds as exact microseconds.
pub fn micros(ns: i64) -> Vec<u8> {
    let mut text = Vec::new();
    push_micros(ns, &mut text);
    text
}

/// Appends text as a quoted JSON string, escaped where needed.
///
/// ```
/// use tracemill_trace::json::push_string;
///
/// let mut out = Vec::new();
/// push_string(r"C:\new", &mut out);
/// assert_eq!(out, br#""C:\\new""#);
/// ```
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    let is_odd = |byte: &u8| matches!(byte, 0..0x20 | b'"' | b'\\');
    out.push(b'"');
    let mut rest = text.as_bytes();
    // most texts need no escapes, which this loop checks many bytes at a time
    let has_odd = rest.iter().fold(false, |odd, byte| odd | is_odd(byte));
    while let Some(odd) = has_odd.then(|| rest.iter().position(is_odd)).flatten() {
        out.extend_from_slice(&rest[..odd]);
        push_byte(rest[odd], out);
        rest = &rest[odd + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends a byte of a string, escaped where needed.
fn push_byte(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
        0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        _ => out.push(byte),
    }
}

/// Appends a value as JSON. Returns `false` if it had to be repaired: odd bytes in strings are
/// escaped, unknown words become `null`. Cost: a pass to check it, another to repair it.
///
/// ```
/// use tracemill_trace::json::push_sound;
///
/// let mut out = Vec::new();
/// assert!(push_sound(b"[1, 2]", &mut out)); // to the byte
/// assert!(!push_sound(b"[NaN,\"a\nb\"]", &mut out));
/// assert_eq!(out, br#"[1, 2][null,"a\u000ab"]"#);
/// ```
pub fn push_sound(value: &[u8], out: &mut Vec<u8>) -> bool {
    if validate_value(value).is_ok() {
        out.extend_from_slice(value);
        return true;
    }
    let start = out.len();
    repair(value, out);
    if validate_value(&out[start..]).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
    false
}

/// Appends a key with its quotes, like [`push_sound`]; the result is always a string.
///
/// ```
/// use tracemill_trace::json::push_sound_key;
///
/// let mut out = Vec::new();
/// assert!(!push_sound_key(b"\"a\" \"b\"", &mut out)); // two strings in a row
/// assert_eq!(out, br#""a\" \"b""#);
/// ```
pub fn push_sound_key(key: &[u8], out: &mut Vec<u8>) -> bool {
    // may be several strings in a row, the last of which was taken as the key
    if key.starts_with(b"\"") && validate_value(key).is_ok() {
        out.extend_from_slice(key);
        return true;
    }
    let content = key.strip_prefix(b"\"").unwrap_or(key);
    out.push(b'"');
    push_escaped(content.strip_suffix(b"\"").unwrap_or(content), out);
    out.push(b'"');
    false
}

/// Repairs a value: escapes odd bytes in strings and replaces unknown words by null, keeping
/// brackets and commas.
fn repair(value: &[u8], out: &mut Vec<u8>) {
    let mut rest = value;
    while let Some(&byte) = rest.first() {
        match byte {
            b'"' => {
                let string = Cursor::new(rest).value();
                let content = &string[1..string.len().max(2) - 1];
                out.push(b'"');
                push_escaped(content, out);
                out.push(b'"');
                rest = &rest[string.len()..];
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' | b' ' | b'\n' | b'\r' | b'\t' => {
                out.push(byte);
                rest = &rest[1..];
            }
            _ => {
                let end = rest.iter().position(|b| b"{}[],: \n\r\t\"".contains(b));
                let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
                let sound = number_text(word, &mut Vec::new()).is_some()
                    || [&b"true"[..], b"false", b"null"].contains(&word);
                out.extend_from_slice(if sound { word } else { b"null" });
                rest = after;
            }
        }
    }
}

/// Appends the content of a string. Keeps valid escapes; escapes stray backslashes and control
/// bytes; replaces invalid UTF-8 by U+FFFD.
fn push_escaped(content: &[u8], out: &mut Vec<u8>) {
    for chunk in content.utf8_chunks() {
        let mut rest = chunk.valid().as_bytes();
        while let Some((&byte, after)) = rest.split_first() {
            let sound = match after {
                [b'u', hex @ ..] => {
                    hex.get(..4).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
                }
                [escaped, ..] => b"\"\\/bfnrt".contains(escaped),
                [] => false,
            };
            match byte {
                b'\\' if sound => {
                    out.extend_from_slice(&rest[..2]);
                    rest = &rest[2..];
                    continue;
                }
                byte => push_byte(byte, out),
            }
            rest = after;
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{FFFD}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        push(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn push_micros_is_exact() {
        for (ns, micros) in [
            (0, "0"),
            (5000, "5"),
            (-1, "-0.001"),
            (-1_500, "-1.5"),
            (i64::MAX, "9223372036854775.807"),
        ] {
            assert_eq!(text(|out| push_micros(ns, out)), micros);
        }
    }

    #[test]
    fn elements_end_with_their_array() {
        let of = |array: &'static str| elements(array.as_bytes()).collect::<Vec<_>>();
        assert_eq!(of(" [1, [2,3] ,{\"a\":[4]}] [5]"), [&b"1"[..], b"[2,3]", b"{\"a\":[4]}"]);
        assert_eq!(of("[]"), [b""; 0]);
        assert_eq!(of("{\"a\":[1]}"), [b""; 0]);
        assert!(array_elements(b"7").is_none() && array_elements(b"[]").is_some());
        let mut ended = array_elements(b"[1],2").unwrap();
        assert_eq!((ended.next(), ended.next(), ended.next()), (Some(&b"1"[..]), None, None));
    }

    #[test]
    fn push_element_appends_number_and_comma() {
        let edges = [9_999, 10_000, 10_001, 99_999, 100_000, u64::MAX];
        for number in (0..20_000).chain(edges) {
            assert_eq!(text(|out| push_element(number, out)), format!("{number},"));
        }
        for ns in [0, 1, 999, 1000, 1001, 125_000, 9_999_000, 10_000_000, -1000, -5] {
            let mut expected = micros(ns);
            expected.push(b',');
            assert_eq!(text(|out| push_micros_element(ns, out)).as_bytes(), expected);
        }
    }

    #[test]
    fn valid_values_stay_and_others_are_repaired() {
        for sound in [r#"{"a":[1.50,"\u00e9\n"]}"#, "1e5", "\"\u{e9}\""] {
            let mut out = Vec::new();
            assert!(push_sound(sound.as_bytes(), &mut out));
            assert_eq!(out, sound.as_bytes());
        }
        for (odd, repaired) in [
            (&b"{\"a\":NaN,\"b\":\"x\ny\xff\"}"[..], "{\"a\":null,\"b\":\"x\\u000ay\u{FFFD}\"}"),
            (b"\"c:\\dir\\\"", "\"c:\\\\dir\\\\\""),
            (b"\"c:\\dir\"", "\"c:\\\\dir\""),
            (b"[1 2]", "null"),
            (b"tru", "null"),
            (b"", "null"),
        ] {
            let mut out = Vec::new();
            assert!(!push_sound(odd, &mut out));
            assert_eq!(String::from_utf8(out).unwrap(), repaired, "{}", odd.escape_ascii());
        }
        assert_eq!(text(|out| assert!(!push_sound_key(b"\"a\"b\"", out))), r#""a\"b""#);
        assert_eq!(text(|out| assert!(push_sound_key(b"\"a\"", out))), r#""a""#);
    }

    #[test]
    fn strings_survive_writing_and_reading() {
        for plain in ["", "a\"b\u{1}", r"C:\new\u0041\\x\", "\n\t\u{7f}\u{2028}é😀", "\\\""] {
            let written = text(|out| push_string(plain, out));
            assert!(validate_value(written.as_bytes()).is_ok(), "{written}");
            let mut read = Vec::new();
            unescape(&written.as_bytes()[1..written.len() - 1], &mut read);
            assert_eq!(read, plain.as_bytes(), "{written}");
        }
    }
}
