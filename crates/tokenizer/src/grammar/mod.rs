//! Validates JSON completely: RFC 8259 grammar and UTF-8 of every byte.
//!
//! The scan of events only proves that brackets match, strings end, and nothing impossible is
//! outside strings. This module also checks numbers, words, commas, colons, escapes, control
//! characters and UTF-8. White space may separate any number of values, so NDJSON and concatenated
//! documents pass.
//!
//! Valid text is proved in blocks ([`crate::simd::grammar`]). The rest is read byte by byte, which
//! also finds the first error.

pub(crate) mod cursor;
pub(crate) mod mend;
pub(crate) mod value;

use crate::grammar::value::value_end;
use crate::simd::Tier;
use crate::simd::grammar::{Proof, Prove};
use crate::text::lapse::{Lapse, Strict};
pub use crate::text::reader::Defect;
use crate::text::reader::{Reader, scalar_len};
use crate::text::skip_space;
use std::ops::Range;

/// Checks that `bytes` are consecutive JSON values in UTF-8.
///
/// # Errors
/// Returns the first syntax error.
///
/// ```
/// use tracemill_tokenizer::validate;
///
/// assert!(validate(b"{\"a\":[1,2.5e3]}\n{}").is_ok());
/// let defect = validate(br#"{"a":tru}"#).expect_err("a misspelt word");
/// println!("{defect:?}");
/// ```
pub fn validate(bytes: &[u8]) -> Result<(), Defect> {
    Validator::default().check(bytes)
}

/// Checks that `bytes` are one JSON value, surrounded only by white space.
///
/// # Errors
/// Returns the first syntax error, or the first byte after the value.
///
/// ```
/// use tracemill_tokenizer::validate_value;
///
/// assert!(validate_value(b" [1] ").is_ok());
/// assert!(validate_value(b"1 2").is_err(), "two values");
/// ```
pub fn validate_value(bytes: &[u8]) -> Result<(), Defect> {
    Validator::default().check_value(bytes)
}

/// A JSON validator that reuses its buffer for many texts. The buffer holds open brackets.
///
/// ```
/// use tracemill_tokenizer::{Tier, Validator};
///
/// let mut validator = Validator::new(Tier::best());
/// let sound = [&b"{\"a\":1}"[..], b"[01]", b"[NaN]", b"\"\\u00e9\""].map(|value| validator.check(value).is_ok());
/// assert_eq!(sound, [true, false, false, true]);
/// ```
#[derive(Debug)]
pub struct Validator {
    prove: Prove,
    /// Open brackets, true for objects.
    objects: Vec<bool>,
}

impl Default for Validator {
    fn default() -> Self {
        Validator::new(Tier::best())
    }
}

impl Validator {
    /// Creates a validator that uses the instructions of `tier`. Results do not depend on the tier.
    pub fn new(tier: Tier) -> Self {
        Validator { prove: Prove::of(tier), objects: Vec::new() }
    }

    /// Checks that `bytes` are consecutive JSON values in UTF-8, like [`validate`].
    ///
    /// # Errors
    /// Returns the first syntax error.
    #[inline]
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        match self.prove.run(bytes) {
            Proof::Json => Ok(()),
            Proof::JsonIfUtf8 if is_utf8(bytes) => Ok(()),
            Proof::JsonIfUtf8 | Proof::Unknown => self.check_bytes(bytes),
        }
    }

    /// Checks that `bytes` are one JSON value, like [`validate_value`]. Cost: that of
    /// [`Validator::check`], and a second pass over an object or array.
    ///
    /// # Errors
    /// Returns the first syntax error, or the first byte after the value.
    pub fn check_value(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        self.check(bytes)?;
        let start = skip_space(bytes, 0);
        let end = match bytes.get(start) {
            None => return Err(Defect { offset: start as u64, expected: "a value" }),
            Some(b'"' | b'{' | b'[') => value_end(bytes, start),
            Some(_) => start + scalar_len(&bytes[start..]).unwrap_or(0),
        };
        match skip_space(bytes, end) {
            rest if rest == bytes.len() => Ok(()),
            rest => Err(Defect { offset: rest as u64, expected: "`,` or `}`" }),
        }
    }

    #[cold]
    fn check_bytes(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        // the fast check did not locate the error
        if let Err(error) = std::str::from_utf8(bytes) {
            let offset = error.valid_up_to() as u64;
            // the grammar may fail earlier, and the first error counts
            return self
                .values(&bytes[..error.valid_up_to()])
                .filter(|defect| defect.offset < offset)
                .map_or(Err(Defect { offset, expected: "UTF-8" }), Err);
        }
        self.values(bytes).map_or(Ok(()), Err)
    }

    fn values(&mut self, bytes: &[u8]) -> Option<Defect> {
        self.objects.clear();
        let objects = std::mem::take(&mut self.objects);
        let mut reader = Reader { bytes, at: 0, objects, forgive: Strict };
        let defect = reader.values();
        self.objects = reader.objects;
        defect
    }
}

/// Reads consecutive JSON values in `bytes`, tolerating every [`Lapse`]. Calls `each` with each
/// deviation and its range, in order.
///
/// Cost: one pass over the bytes; one byte of heap per nesting level.
///
/// # Errors
/// Returns the first byte whose intended meaning is unclear.
///
/// ```
/// use tracemill_tokenizer::{Lapse, lapses};
///
/// let mut found = Vec::new();
/// let read = lapses(b"[1,NaN,]", |lapse, place| found.push((lapse, place)));
/// assert!(read.is_ok());
/// assert_eq!(found, [(Lapse::Number, 3..6), (Lapse::Comma, 6..7)]);
/// assert!(lapses(b"[tru]", |_, _| ()).is_err(), "nobody can say what was meant");
/// ```
pub fn lapses(bytes: &[u8], each: impl FnMut(Lapse, Range<usize>)) -> Result<(), Defect> {
    let mut reader = Reader { bytes, at: 0, objects: Vec::new(), forgive: each };
    reader.values().map_or(Ok(()), Err)
}

/// Returns whether `bytes` are UTF-8. Does not use simdutf8 under Miri, because Miri rejects
/// prefetches past the end of the input.
pub(crate) fn is_utf8(bytes: &[u8]) -> bool {
    match cfg!(miri) {
        true => std::str::from_utf8(bytes).is_ok(),
        false => simdutf8::basic::from_utf8(bytes).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_json_is_accepted() {
        for text in [
            "",
            " ",
            "{}",
            "[]",
            "[1,2]",
            "{\"a\":[{}],\"b\":null}",
            "1 2",
            "{}\n{}\n",
            "-0.5e+10",
            "\"\\u12aF\\n\"",
            "[true,false,null]",
            "\"\u{7f}é\"",
            " [ { \"a\" : 1 } , 2 ] ",
            "\"123456789012345678\\\"901234567890\"",
        ] {
            assert_eq!(validate(text.as_bytes()), Ok(()), "{text}");
        }
    }

    #[test]
    fn several_values_are_not_one_value() {
        for text in ["1", " [1,{}] ", "\"a b\"", "true\n", "{\"a\":1}", "-0.5e1"] {
            assert_eq!(validate_value(text.as_bytes()), Ok(()), "{text}");
        }
        for (text, offset) in
            [("", 0), (" ", 1), ("1 2", 2), ("truefalse", 4), ("{}{}", 2), ("\"a\"1", 3), ("01", 1)]
        {
            let found = validate_value(text.as_bytes()).expect_err(text);
            assert_eq!(found.offset, offset, "{text}");
        }
    }

    #[test]
    fn invalid_json_is_rejected_at_the_first_error() {
        for (text, offset) in [
            ("[1,]", 3),
            ("{\"a\":1,}", 7),
            ("{a:1}", 1),
            ("[1 2]", 3),
            ("[", 1),
            ("{\"a\"}", 4),
            ("01", 2),
            ("[01]", 2),
            ("NaN", 0),
            ("[nul]", 1),
            ("\"a\nb\"", 2),
            ("\"\\x\"", 1),
            ("\"\\u12g4\"", 1),
            ("\"abc", 4),
            ("1.", 2),
            ("-", 1),
            ("1e", 2),
            ("}", 0),
            ("[}", 1),
            ("\"12345678\u{1}\"", 9),
            ("[1,,2]", 3),
            ("// a", 0),
        ] {
            let defect = validate(text.as_bytes());
            // `01` is two values at document level
            if text == "01" {
                assert_eq!(defect, Ok(()));
                continue;
            }
            assert_eq!(defect.map_err(|d| d.offset), Err(offset), "{text}");
        }
        assert_eq!(validate(b"[\"\xff\"]"), Err(Defect { offset: 2, expected: "UTF-8" }));
        assert_eq!(validate(b"[x\"\xff\"]").map_err(|d| d.offset), Err(1));
    }

    #[test]
    fn depth_needs_no_stack() {
        let depth = 1_000_000 / crate::EVERY;
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(validate(text.as_bytes()), Ok(()));
    }
}
