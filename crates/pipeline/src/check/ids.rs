//! Ids and names as 64-bit hashes: equal values of one type have one hash, however they are spelled.
//!
//! Types are strict (`5` is not `"5"`), as in DevTools. Hashes instead of texts keep memory bounded by the number of
//! threads; two of a million ids collide with a probability of 10⁻⁷. The hash has no seed, so that answers do not differ
//! from run to run.

use crate::key_hash::mix;
use tracemill_tokenizer::swar::{digits, equal_bytes, first};
use tracemill_tokenizer::{Event, Field, canonical, unescape};

/// Types of values, where their hashes begin.
const WHOLE: u64 = 1;
const STRING: u64 = 2;
const NUMBER: u64 = 3;
const OTHER: u64 = 4;

/// Eight bytes at a time, the last ones filled up with zeros, and how many they are.
#[inline]
pub(super) fn hash_bytes(bytes: &[u8], tag: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = tag;
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    end_hash(hash, u64::from_le_bytes(last), bytes.len())
}

#[inline(always)]
fn end_hash(hash: u64, last: u64, len: usize) -> u64 {
    mix(mix(hash, last), len as u64)
}

/// The lowest `count` bytes of a word, fewer than eight.
#[inline(always)]
fn low_bytes(word: u64, count: usize) -> u64 {
    word & ((1 << (8 * count)) - 1)
}

/// The hash of a field, as [`hash_value`] has it.
#[inline]
pub(super) fn hash_field(event: &Event<'_>, field: Field) -> u64 {
    match event.field_and_rest(field) {
        Some(text @ [b'"', ..]) => hash_string(text),
        Some(text) => hash_short(text),
        None => None,
    }
    .unwrap_or_else(|| hash_value(event.field(field)))
}

/// The hash of the whole number that `text` begins with, if it has at most seven digits: most pids and tids.
#[inline]
pub(super) fn hash_short(text: &[u8]) -> Option<u64> {
    let word = u64::from_le_bytes(*text.first_chunk::<8>()?);
    let len = first(digits(word).1);
    let ends = (1..8).contains(&len) && matches!((word >> (8 * len)) as u8, b',' | b'}');
    ends.then(|| end_hash(WHOLE, low_bytes(word, len), len))
}

/// The hash of the string that `text` begins with, if it has no escapes and does not end with the text.
#[inline]
fn hash_string(text: &[u8]) -> Option<u64> {
    let mut hash = STRING;
    for (number, word) in text[1..].as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
        if found != 0 {
            let len = first(found);
            let plain = (word >> (8 * len)) as u8 == b'"';
            return plain.then(|| end_hash(hash, low_bytes(word, len), 8 * number + len));
        }
        hash = mix(hash, word);
    }
    None
}

/// The hash of a JSON value; a missing one is a value too.
#[inline]
pub(crate) fn hash_value(value: Option<&[u8]>) -> u64 {
    match value {
        Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            hash_bytes(digits, WHOLE)
        }
        Some([b'"', content @ .., b'"']) if !content.contains(&b'\\') => {
            hash_bytes(content, STRING)
        }
        value => hash_slowly(value),
    }
}

#[cold]
fn hash_slowly(value: Option<&[u8]>) -> u64 {
    let mut plain = Vec::new();
    match value {
        None => 0,
        Some([b'"', content @ .., b'"']) => {
            unescape(content, &mut plain);
            hash_bytes(&plain, STRING)
        }
        Some(value) if canonical(value, &mut plain) => match whole(&plain) {
            Some(digits) => hash_bytes(&digits, WHOLE),
            None => hash_bytes(&plain, NUMBER),
        },
        Some(value) => hash_bytes(value, OTHER),
    }
}

/// The digits of a canonical number (`12e3` is 120: digits, then how many stand before the point) if it is a whole one,
/// not negative and not huge.
pub(crate) fn whole(canonical: &[u8]) -> Option<Vec<u8>> {
    const MOST: usize = 400;
    if canonical == b"0" {
        return Some(b"0".to_vec());
    }
    let at = canonical.iter().position(|&b| b == b'e')?;
    let (digits, magnitude) = (&canonical[..at], &canonical[at + 1..]);
    let magnitude: usize = std::str::from_utf8(magnitude).ok()?.parse().ok()?;
    let fits = digits[0] != b'-' && magnitude >= digits.len() && magnitude <= MOST;
    fits.then(|| {
        let mut digits = digits.to_vec();
        digits.resize(magnitude, b'0');
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_of_one_type_have_one_hash() {
        let hash = |text: &str| hash_value(Some(text.as_bytes()));
        for (a, b) in [("100", "1e2"), ("0", "-0.0"), ("-5", "-5.0"), ("1.5", "15e-1")] {
            assert_eq!(hash(a), hash(b), "{a} {b}");
        }
        assert_eq!(hash("\"a\""), hash("\"\\u0061\""));
        let all =
            ["1", "\"1\"", "10", "-1", "0.1", "null", "\"\"", "\"a\"", "123456789", "12345678"];
        for (i, a) in all.iter().enumerate() {
            assert_ne!(hash(a), hash_value(None));
            assert!(all[..i].iter().all(|b| hash(a) != hash(b)), "{a}");
        }
    }

    /// Fields of all lengths and spellings, at the end of an event and before more of it.
    #[test]
    fn a_field_has_the_hash_of_its_value() {
        let digits = "12345678901234567890";
        let numbers = (1..digits.len()).map(|len| digits[..len].to_owned());
        let strings = (0..20).map(|len| format!("\"{}\"", &"abcdefgh".repeat(3)[..len]));
        let escaped =
            (0..20).map(|len| format!("\"{}\\n{}\"", "é".repeat(len / 2), "x".repeat(len)));
        let odd = ["null", "-1", "0", "007", "1e2", "1.5", "{\"a\":1}", "[]", "true", "\"\\\"\""];
        let odd = odd.into_iter().map(str::to_owned);
        for value in numbers.chain(strings).chain(escaped).chain(odd) {
            for rest in ["", " ", ",\"x\":1", " , \"some other key\":1"] {
                let event = format!("{{\"pid\":{value}{rest}}}");
                let spans = tracemill_tokenizer::fields_of(event.as_bytes());
                let found = hash_field(&spans.of(event.as_bytes()), Field::Pid);
                assert_eq!(found, hash_value(Some(value.as_bytes())), "{event}");
            }
        }
        let none = tracemill_tokenizer::fields_of(b"{}");
        assert_eq!(hash_field(&none.of(b"{}"), Field::Pid), hash_value(None));
    }
}
