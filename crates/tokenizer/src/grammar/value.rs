//! Finds the end of a value. Reads objects and arrays in blocks (`simd/nesting`), and short or
//! damaged values byte by byte.
//!
//! | value | ends |
//! |---|---|
//! | a string | after its closing quote |
//! | an object or array | after its closing bracket, ignoring brackets in strings; at the end of the bytes if there is none |
//! | anything else | before a comma, a closing bracket or white space |
//!
//! Reading in blocks and reading byte by byte give the same end, even for invalid JSON. So readers
//! continue at the same position.

use crate::simd::{BLOCK, Kernel};
use crate::text::swar::{digits, equal_bytes, first};
use crate::text::{is_space, skip_space, string_end};

/// Returns the raw value at an offset, which must not be that of white space.
///
/// ```
/// let event = br#"{"pid":7,"name":"a"}"#;
/// assert_eq!(tracemill_tokenizer::value_at(event, 7), b"7");
/// ```
#[inline]
pub fn value_at(bytes: &[u8], at: usize) -> &[u8] {
    &bytes[at..field_end(bytes, at)]
}

/// Returns the offset after the value at `at`, like [`value_end`]. Needs no loop for whole numbers
/// of up to seven digits, the most frequent values.
#[inline]
pub(crate) fn field_end(bytes: &[u8], at: usize) -> usize {
    if let Some(word) = bytes.get(at..).and_then(|value| value.first_chunk::<8>()) {
        let digits = first(digits(u64::from_le_bytes(*word)).1);
        if digits > 0 && matches!(word.get(digits), Some(b',' | b'}')) {
            return at + digits;
        }
    }
    value_end(bytes, at)
}

/// Returns the offset after the value at `at`, which must not be white space.
///
/// Brackets are counted, not matched; the block scan has matched them. Cost: one pass over the
/// value, in steps of 64 bytes for objects and arrays.
pub(crate) fn value_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest {
        [b'"', ..] => return string_end(bytes, at).unwrap_or(bytes.len()),
        [b'{', b'}', ..] | [b'[', b']', ..] => return at + 2,
        [b'{' | b'[', ..] if rest.len() >= BLOCK => {
            if let Some(len) = Kernel::best().container_len(rest) {
                return at + len;
            }
        }
        _ => {}
    }
    end_by_bytes(bytes, at)
}

/// Returns the same offset as [`value_end`], reading byte by byte.
fn end_by_bytes(bytes: &[u8], at: usize) -> usize {
    // numbers first, the most frequent values
    let digits =
        bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
    let mut i = at + digits.count();
    let mut depth = 0usize;
    while let Some(&byte) = bytes.get(i) {
        match byte {
            b'"' => i = string_end(bytes, i).unwrap_or(bytes.len()),
            b'{' | b'[' => {
                depth += 1;
                i += 1;
            }
            b'}' | b']' if depth == 0 => return i,
            b'}' | b']' => {
                depth -= 1;
                i += 1;
            }
            b',' if depth == 0 => return i,
            _ if depth == 0 && is_space(byte) => return i,
            // arrays of numbers are long
            _ if depth > 0 && byte.is_ascii_digit() => {
                i = next_mark(bytes, i + 1);
                continue;
            }
            _ => {
                i += 1;
                continue;
            }
        }
        if depth == 0 {
            return i;
        }
    }
    bytes.len()
}

/// Returns the offset of the next quote or bracket at or after `at`, or an offset before it in the
/// last seven bytes.
#[inline]
fn next_mark(bytes: &[u8], mut at: usize) -> usize {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        // brackets and braces differ in one bit
        let folded = word | 0x2020_2020_2020_2020;
        let brackets = equal_bytes(folded, b'{') | equal_bytes(folded, b'}');
        let found = equal_bytes(word, b'"') | brackets;
        if found != 0 {
            return at + first(found);
        }
        at += 8;
    }
    at
}

/// Returns the raw keys (with quotes) and values of an object, in order.
///
/// Ends early if the object is malformed; validate first to detect that ([`crate::validate`]).
/// Nothing is decoded; compare keys with [`crate::string_is`]. Cost: one pass over each value when
/// it is reached.
///
/// ```
/// let object = br#"{"a": 1, "b": [2, 3]}"#;
/// assert!(tracemill_tokenizer::members(object).eq([(&b"\"a\""[..], &b"1"[..]), (b"\"b\"", b"[2, 3]")]));
/// ```
pub fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut at = skip_space(object, 1);
    std::iter::from_fn(move || {
        if object.get(at) != Some(&b'"') {
            return None;
        }
        let key_end = string_end(object, at)?;
        let colon = skip_space(object, key_end);
        if object.get(colon) != Some(&b':') {
            return None;
        }
        let value = skip_space(object, colon + 1);
        let end = value_end(object, value);
        let found = (&object[at..key_end], &object[value..end]);
        let comma = skip_space(object, end);
        at = skip_space(object, comma + usize::from(object.get(comma) == Some(&b',')));
        Some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Tier;

    #[test]
    fn finds_the_end_of_every_kind_of_value() {
        for (text, value) in [
            ("12,", "12"),
            ("\"a\\\"]b\" ,", "\"a\\\"]b\""),
            ("{\"a\":[1,{\"}\":2}]},", "{\"a\":[1,{\"}\":2}]}"),
            ("[] ]", "[]"),
            ("null}", "null"),
            ("\"open", "\"open"),
        ] {
            assert_eq!(&text[..value_end(text.as_bytes(), 0)], value);
            assert_eq!(&text[..field_end(text.as_bytes(), 0)], value);
        }
    }

    /// Covers fields of every length, of digits and similar bytes, followed by any byte.
    #[test]
    fn field_end_equals_value_end() {
        let alphabet = b"0189,}]:/ .\"\x00\x80\xb0\xff";
        let mut state = 1u64;
        for round in 0..50_000 {
            let mut bytes = vec![b'5'; round % 9];
            for _ in 0..round % 5 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bytes.push(alphabet[(state >> 33) as usize % alphabet.len()]);
            }
            assert_eq!(field_end(&bytes, 0), value_end(&bytes, 0), "{bytes:?}");
        }
    }

    /// Compares arrays of numbers, of every length and with arbitrary bytes, with a byte-by-byte
    /// walk.
    #[test]
    fn number_arrays_end_at_their_closing_bracket() {
        fn naive(bytes: &[u8]) -> usize {
            let (mut depth, mut at, mut is_string) = (0, 0, false);
            while at < bytes.len() {
                match bytes[at] {
                    b'\\' if is_string => at += 1,
                    b'"' => is_string = !is_string,
                    b'[' | b'{' if !is_string => depth += 1,
                    b']' | b'}' if !is_string => depth -= 1,
                    _ => {}
                }
                at += 1;
                if depth == 0 {
                    return at;
                }
            }
            bytes.len()
        }
        let others = b"{}[]\",:- \\\x00\x02\x1b\x3b\x7a\x80\xa2\xdb\xfd\xff";
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for round in 0..50_000 {
            let mut bytes = vec![b'['];
            for _ in 0..round % 60 {
                let other = others[random(others.len())];
                bytes.push(if random(12) == 0 { other } else { b"0123456789,"[random(11)] });
            }
            bytes.extend(b"]]]  ");
            assert_eq!(value_end(&bytes, 0), naive(&bytes), "{}", bytes.escape_ascii());
        }
    }

    /// Checks every tier against a byte-by-byte walk, on objects and arrays of about a block with
    /// strings, escapes and brackets at any position, some of them truncated or damaged.
    #[test]
    fn block_and_byte_walks_agree_on_containers() {
        let parts: [&[u8]; 16] = [
            b"{", b"}", b"[", b"]", b"\"", b"\\\"", b"\\\\", b"\\", b"\"a\":", b"\"}\"", b"12,",
            b" ", b"\n", b"\xff", b"[[[", b"]}",
        ];
        let kernels: Vec<_> = Tier::ALL.iter().filter(|tier| tier.is_available()).collect();
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        let mut count = 0;
        for round in (0..60_000).step_by(crate::EVERY) {
            let mut bytes = vec![b"{["[round % 2]];
            // some are deep, so that they end blocks later
            bytes.extend(std::iter::repeat_n(b'[', random(4) * random(40)));
            for _ in 0..random(90) {
                let is_odd = random(6) == 0;
                bytes.extend(if is_odd {
                    parts[random(parts.len())]
                } else {
                    parts[8 + random(5)]
                });
            }
            bytes.extend(std::iter::repeat_n(b']', random(4) * random(60)));
            let expected = end_by_bytes(&bytes, 0);
            for tier in &kernels {
                let found = Kernel::of(**tier).container_len(&bytes);
                count += usize::from(found.is_some());
                let shown = bytes.escape_ascii();
                assert!(found.is_none_or(|found| found == expected), "{tier} {found:?}: {shown}");
            }
            assert_eq!(value_end(&bytes, 0), expected);
        }
        assert!(kernels.len() == 1 || count > 20_000 / crate::EVERY, "{count}");
    }

    #[test]
    fn members_returns_raw_keys_and_values() {
        let all = |text| members(text).map(|(k, v)| [k, v].concat()).collect::<Vec<_>>();
        assert_eq!(all(br#"{ "a" : [1,"]"] ,"b\"":{}}"#), [&b"\"a\"[1,\"]\"]"[..], b"\"b\\\"\"{}"]);
        assert_eq!(all(b"{}"), [b""; 0]);
        assert_eq!(all(b"{\"a\" 1}"), [b""; 0]);
    }
}
