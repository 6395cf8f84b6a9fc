//! Hashes of ids, names, threads and groups: equal values have equal hashes, in every verb.
//!
//! Values are compared as JSON: types are strict (`5` is not `"5"`), as in DevTools; escapes and
//! number formats are resolved (`1e2` is `100`). A missing value is a value too. Hashes instead of
//! texts bound the memory by the number of threads and groups. They have no seed and come from no
//! library, so no answer differs from run to run or with a dependency.
//!
//! Two of a million values share a 64-bit hash with a probability of 10⁻⁷; a 128-bit hash, practically never.

use crate::event::pairing::is_named;
use crate::json::member;
use crate::spill::hash::mix;
use tracemill_tokenizer::swar::{digits, equal_bytes, first};
use tracemill_tokenizer::{Event, Field, canonical, unescape};

/// What some bytes of a key are.
#[derive(Clone, Copy)]
enum Type {
    Missing = 1,
    Text,
    /// Not negative.
    Integer,
    Number,
    Other,
    /// The id of a process.
    Local,
}

/// A hash of `64 · WORDS` bits, one or two words, of values added one after the other.
#[derive(Clone, Copy)]
pub struct KeyHash<const WORDS: usize>([u64; WORDS]);

/// A hash of a key that is one field or value.
pub type ValueHash = KeyHash<1>;

impl<const WORDS: usize> KeyHash<WORDS> {
    /// Creates the hash of no values. Keys of different classes have different hashes.
    pub fn new(class: u8) -> Self {
        KeyHash(std::array::from_fn(|half| u64::from(class) << (32 * half)))
    }

    /// Returns the hash, whose words are independent of each other.
    #[inline(always)]
    pub fn finish(self) -> [u64; WORDS] {
        self.0
    }

    #[inline(always)]
    fn word(&mut self, word: u64) {
        for (half, hash) in self.0.iter_mut().enumerate() {
            // the second half sees the words turned round
            *hash = mix(*hash, if half == 0 { word } else { !word.rotate_left(32) });
        }
    }

    #[inline(always)]
    fn end(&mut self, last: u64, len: usize, tag: Type) {
        self.word(last);
        self.word((len as u64) << 8 | tag as u64);
    }

    /// Eight bytes at a time, the last ones filled up with zeros, and how many they are.
    #[inline]
    fn bytes(&mut self, bytes: &[u8], tag: Type) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.end(u64::from_le_bytes(last), bytes.len(), tag);
    }

    /// Adds bytes that are equal only to the same bytes, such as a finished key.
    pub fn opaque(&mut self, bytes: &[u8]) {
        self.bytes(bytes, Type::Other);
    }

    /// Adds a field.
    #[inline]
    pub fn field(&mut self, event: &Event<'_>, field: Field) {
        let hashed = match event.field_and_rest(field) {
            None => return self.end(0, 0, Type::Missing),
            Some([b'"', content @ ..]) => self.string(content),
            Some(text) => self.short_integer(text),
        };
        match hashed {
            Some(hash) => *self = hash,
            None => self.value(event.field(field)),
        }
    }

    /// As [`KeyHash::bytes`] of the content of a string, up to its end; `None` if that is not plain to see.
    #[inline]
    fn string(mut self, content: &[u8]) -> Option<Self> {
        for (number, bytes) in content.as_chunks::<8>().0.iter().enumerate() {
            let word = u64::from_le_bytes(*bytes);
            let end = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
            if end != 0 {
                let rest = first(end);
                self.end(low_bytes(word, rest), 8 * number + rest, Type::Text);
                return (bytes[rest] == b'"').then_some(self);
            }
            self.word(word);
        }
        None
    }

    /// As [`KeyHash::bytes`] of the whole number that `text` begins with, if it has at most seven digits: most pids and tids.
    #[inline]
    fn short_integer(mut self, text: &[u8]) -> Option<Self> {
        let word = u64::from_le_bytes(*text.first_chunk::<8>()?);
        let len = first(digits(word).1);
        let ends = (1..8).contains(&len) && matches!((word >> (8 * len)) as u8, b',' | b'}');
        ends.then(|| {
            self.end(low_bytes(word, len), len, Type::Integer);
            self
        })
    }

    /// Adds a JSON value, like [`KeyHash::field`].
    #[inline]
    pub fn value(&mut self, value: Option<&[u8]>) {
        match value {
            Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
                self.bytes(digits, Type::Integer);
            }
            Some([b'"', content @ .., b'"']) if !content.contains(&b'\\') => {
                self.bytes(content, Type::Text);
            }
            value => self.respelled(value),
        }
    }

    #[cold]
    fn respelled(&mut self, value: Option<&[u8]>) {
        let mut plain = Vec::new();
        match value {
            None => self.end(0, 0, Type::Missing),
            Some([b'"', content @ .., b'"']) => {
                unescape(content, &mut plain);
                self.bytes(&plain, Type::Text);
            }
            Some(value) if canonical(value, &mut plain) => match whole(&plain) {
                Some(digits) => self.bytes(&digits, Type::Integer),
                None => self.bytes(&plain, Type::Number),
            },
            Some(value) => self.bytes(value, Type::Other),
        }
    }

    /// Adds the id of an async event, flow or counter: `id`, else `id2.global`, else `id2.local` and
    /// the process. Returns false if there is none.
    ///
    /// Ids without a process are shared by all processes, as in DevTools and Perfetto.
    #[inline]
    pub fn id(&mut self, event: &Event<'_>) -> bool {
        if event.field_and_rest(Field::Id).is_some() {
            self.field(event, Field::Id);
            return true;
        }
        let Some(id2) = event.field(Field::Id2) else { return false };
        if let Some(global) = member(id2, b"global") {
            self.value(Some(global));
            return true;
        }
        let Some(local) = member(id2, b"local") else { return false };
        self.end(0, 0, Type::Local);
        self.value(Some(local));
        self.field(event, Field::Pid);
        true
    }
}

/// The lowest `count` bytes of a word, fewer than eight.
#[inline(always)]
fn low_bytes(word: u64, count: usize) -> u64 {
    word & ((1 << (8 * count)) - 1)
}

/// The digits of a canonical number (`12e3` is 120: digits, then how many stand before the point) if it is a whole one,
/// not negative and not huge.
fn whole(canonical: &[u8]) -> Option<Vec<u8>> {
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

/// Returns the hash of a JSON value.
#[inline]
pub fn hash_value(value: Option<&[u8]>) -> u64 {
    let mut hash = ValueHash::new(0);
    hash.value(value);
    hash.0[0]
}

/// Returns the hash of a field, equal to [`hash_value`] of its value.
#[inline]
pub fn hash_field(event: &Event<'_>, field: Field) -> u64 {
    let mut hash = ValueHash::new(0);
    hash.field(event, field);
    hash.0[0]
}

/// Returns the hash of the integer that `text` begins with, equal to that of [`hash_value`]; `None` if
/// it has more than seven digits.
#[inline]
pub fn hash_short_integer(text: &[u8]) -> Option<u64> {
    ValueHash::new(0).short_integer(text).map(|hash| hash.0[0])
}

/// Returns the name hash of a begin or end event for pairing; 0 if pairing ignores its name.
#[inline]
pub fn name_key(event: &Event<'_>) -> u64 {
    if is_named(event) { hash_field(event, Field::Name).max(1) } else { 0 }
}

/// Returns a 128-bit hash of a list of texts.
///
/// ```
/// use tracemill_trace::event::hash_texts;
///
/// assert_eq!(hash_texts([&b"ab"[..], b"c"]), hash_texts([&b"ab"[..], b"c"]));
/// assert_ne!(hash_texts([&b"ab"[..], b"c"]), hash_texts([&b"a"[..], b"bc"]));
/// ```
pub fn hash_texts<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> [u64; 2] {
    let mut hash = KeyHash::<2>::new(0);
    texts.into_iter().for_each(|text| hash.opaque(text));
    hash.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_of_one_type_have_one_hash() {
        let hash = |text: &str| {
            let mut hash = KeyHash::<2>::new(0);
            hash.value(Some(text.as_bytes()));
            assert_eq!(hash.finish()[0], hash_value(Some(text.as_bytes())), "{text}");
            hash.finish()
        };
        for (a, b) in [
            ("100", "1e2"),
            ("0", "-0.0"),
            ("-5", "-5.0"),
            ("1.5", "15e-1"),
            ("12345678901234567890", "1234567890123456789e1"),
            ("123456789012345678901", "12345678901234567890.1e1"),
            (r#""a""#, r#""\u0061""#),
            (r#""01234567""#, r#""\u00301234567""#),
        ] {
            assert_eq!(hash(a), hash(b), "{a} {b}");
        }
        let long = format!("\"{}\"", "a".repeat(64));
        let all = [
            "1",
            "\"1\"",
            "10",
            "-1",
            "0.1",
            "null",
            "\"\"",
            "\"a\"",
            "\"a\\u0000\"",
            "123456789",
            "12345678",
            "123456789012345678901",
            "true",
            &long,
            "\"aaaaaaaa\"",
            "\"aaaaaaaaa\"",
        ];
        for (i, a) in all.iter().enumerate() {
            assert_ne!(hash(a)[0], hash_value(None));
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
