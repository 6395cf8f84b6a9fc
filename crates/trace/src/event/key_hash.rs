//! Hashes ids, names, threads and groups. Equal values have equal hashes in every command.
//!
//! Values are compared as JSON. A number never equals a string (`5` and `"5"` differ), as in
//! DevTools. Escapes and number formats do not matter (`1e2` equals `100`). All missing values have
//! the same hash. Hashes have no seed, so results are reproducible.
//!
//! Among a million values, 64-bit hashes collide with a probability of 10⁻⁷, 128-bit hashes
//! practically never.

use crate::event::pairing::is_named;
use crate::json::member;
use crate::spill::hash::mix;
use tracemill_tokenizer::swar::{digits, equal_bytes, first};
use tracemill_tokenizer::{Event, Field, canonical, unescape};

#[derive(Clone, Copy)]
enum Type {
    Missing = 1,
    Text,
    /// Nonnegative integer.
    Integer,
    Number,
    Other,
    /// Id that is local to a process.
    Local,
}

/// A hash of `64 · WORDS` bits over a sequence of values; one or two words.
#[derive(Clone, Copy)]
pub struct KeyHash<const WORDS: usize>([u64; WORDS]);

/// A hash of a single field or value.
pub type ValueHash = KeyHash<1>;

impl<const WORDS: usize> KeyHash<WORDS> {
    /// Creates the hash of an empty sequence. Equal sequences of different classes have different
    /// hashes.
    pub fn new(class: u8) -> Self {
        KeyHash(std::array::from_fn(|half| u64::from(class) << (32 * half)))
    }

    /// Returns the hash. Its words are independent of each other.
    #[inline(always)]
    pub fn finish(self) -> [u64; WORDS] {
        self.0
    }

    #[inline(always)]
    fn word(&mut self, word: u64) {
        for (half, hash) in self.0.iter_mut().enumerate() {
            // rotated, so that the second half is independent
            *hash = mix(*hash, if half == 0 { word } else { !word.rotate_left(32) });
        }
    }

    #[inline(always)]
    fn end(&mut self, last: u64, len: usize, tag: Type) {
        self.word(last);
        self.word((len as u64) << 8 | tag as u64);
    }

    /// Adds eight bytes at a time, the last word zero-filled, and then the length.
    #[inline]
    fn bytes(&mut self, bytes: &[u8], tag: Type) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.end(u64::from_le_bytes(last), bytes.len(), tag);
    }

    /// Adds bytes that equal only identical bytes, such as a finished key.
    pub fn opaque(&mut self, bytes: &[u8]) {
        self.bytes(bytes, Type::Other);
    }

    /// Adds the value of a field.
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

    /// Adds the content of a string like [`KeyHash::bytes`], up to its closing quote. Returns
    /// `None` on an escape or when fewer than eight bytes are left.
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

    /// Adds the integer at the start of `text`, like [`KeyHash::bytes`]. Returns `None` unless the
    /// integer has one to seven digits.
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

    /// Adds the id of an async event, flow or counter: `id`, else `id2.global`, else `id2.local`
    /// and the process. Returns `false` if the event has no id.
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

/// Returns the lowest `count` bytes of a word, fewer than eight.
#[inline(always)]
fn low_bytes(word: u64, count: usize) -> u64 {
    word & ((1 << (8 * count)) - 1)
}

/// Returns the digits of a canonical number if it is a nonnegative integer of at most 400 digits.
/// The canonical form of 120 is `12e3`: digits, then the number of digits before the point.
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

/// Returns the hash of the integer at the start of `text`, equal to its [`hash_value`]. Returns
/// `None` unless the integer has one to seven digits.
#[inline]
pub fn hash_short_integer(text: &[u8]) -> Option<u64> {
    ValueHash::new(0).short_integer(text).map(|hash| hash.0[0])
}

/// Returns the name hash of a begin or end event for pairing; 0 if pairing ignores the name.
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
    fn equal_values_of_one_type_hash_alike() {
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

    /// Covers fields of all lengths and notations, at the end of an event and before other fields.
    #[test]
    fn field_and_value_hash_alike() {
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
