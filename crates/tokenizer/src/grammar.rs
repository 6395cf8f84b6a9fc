//! Full JSON: RFC 8259 grammar and UTF-8 of every byte, for `--strict` and `check`.
//!
//! The scan of events proves only that brackets match, strings end and nothing stands outside strings that JSON has no
//! byte for. This proves the rest: numbers, words, commas and colons in their places, escapes, no control characters in
//! strings, UTF-8. White space may separate any number of values, so NDJSON and concatenated documents pass.
//!
//! Sound text is proved so in blocks ([`crate::simd::grammar`]); only what that does not prove is read byte by byte, which also
//! finds the first defect.

use crate::lapse::{Forgive, Lapse, Strict, word_of};
use crate::simd::Tier;
use crate::simd::grammar::{Proof, Prove};
use crate::text::{is_space, skip_space, value_end};
use std::ops::Range;

/// The first byte that is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Offset in the input.
    pub offset: u64,
    /// What should have stood there.
    pub expected: &'static str,
}

/// Checks that `bytes` are JSON values, one after the other, in UTF-8.
///
/// # Errors
/// The first byte that is not JSON.
pub fn validate(bytes: &[u8]) -> Result<(), Defect> {
    Validator::default().check(bytes)
}

/// Checks that `bytes` are one JSON value, with nothing but white space around it.
///
/// # Errors
/// The first byte that is not JSON, or behind the value.
pub fn validate_value(bytes: &[u8]) -> Result<(), Defect> {
    Validator::default().check_value(bytes)
}

/// [`validate`] for many pieces, one after the other: what it allocates (nothing, unless values nest) is used again.
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
    /// One that uses the instructions of `tier`: the answer is the same on all.
    pub fn new(tier: Tier) -> Self {
        Validator { prove: Prove::of(tier), objects: Vec::new() }
    }

    /// As [`validate`].
    ///
    /// # Errors
    /// The first byte that is not JSON.
    #[inline]
    pub fn check(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        match self.prove.run(bytes) {
            Proof::Json => Ok(()),
            Proof::JsonIfUtf8 if is_utf8(bytes) => Ok(()),
            Proof::JsonIfUtf8 | Proof::Unknown => self.check_bytes(bytes),
        }
    }

    /// As [`validate_value`]. Cost: that of [`Validator::check`] and a pass over what is in brackets.
    ///
    /// # Errors
    /// The first byte that is not JSON, or behind the value.
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

    /// Reads byte by byte.
    #[cold]
    fn check_bytes(&mut self, bytes: &[u8]) -> Result<(), Defect> {
        // the check above is the fast one, and does not say where
        if let Err(error) = std::str::from_utf8(bytes) {
            let offset = error.valid_up_to() as u64;
            // the grammar may fail earlier, and the first defect is the one to name
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

/// Reads `bytes`, JSON values one after the other, and forgives what is a [`Lapse`]: `each` gets its place, in order.
///
/// Cost: a pass byte by byte; a byte of heap a level of nesting.
///
/// # Errors
/// The first byte of which nobody can say what was meant.
pub fn lapses(bytes: &[u8], each: impl FnMut(Lapse, Range<usize>)) -> Result<(), Defect> {
    let mut reader = Reader { bytes, at: 0, objects: Vec::new(), forgive: each };
    reader.values().map_or(Ok(()), Err)
}

/// Miri does not let simdutf8 pass, which computes addresses behind its input, for prefetches only.
fn is_utf8(bytes: &[u8]) -> bool {
    match cfg!(miri) {
        true => std::str::from_utf8(bytes).is_ok(),
        false => simdutf8::basic::from_utf8(bytes).is_ok(),
    }
}

/// Bytes of the number or word that `bytes` begin with; `None` if it is none.
#[inline]
pub(crate) fn scalar_len(bytes: &[u8]) -> Option<usize> {
    let mut reader = Reader { bytes, at: 0, objects: Vec::new(), forgive: Strict };
    reader.bare().ok().map(|()| reader.at)
}

struct Reader<'a, F> {
    bytes: &'a [u8],
    at: usize,
    /// Open brackets, true for objects.
    objects: Vec<bool>,
    forgive: F,
}

impl<F: Forgive> Reader<'_, F> {
    fn values(&mut self) -> Option<Defect> {
        loop {
            self.at = skip_space(self.bytes, self.at);
            if self.at == self.bytes.len() {
                return None;
            }
            if let Err(expected) = self.value() {
                return Some(Defect { offset: self.at as u64, expected });
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        if self.peek().is_some_and(is_space) {
            self.at = skip_space(self.bytes, self.at);
        }
    }

    /// One value with all that is in it; no recursion, so that depth costs a byte a level.
    fn value(&mut self) -> Result<(), &'static str> {
        loop {
            self.space();
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b'}') {
                        self.at += 1;
                    } else {
                        self.objects.push(true);
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    } else {
                        self.objects.push(false);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            if self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Commas and closing brackets after a value; true once the outermost value is complete.
    fn after_value(&mut self) -> Result<bool, &'static str> {
        loop {
            let Some(&object) = self.objects.last() else { return Ok(true) };
            self.space();
            match (self.peek(), object) {
                (Some(b','), _) if self.forgives_comma(object) => {}
                (Some(b','), true) => {
                    self.at += 1;
                    self.space();
                    self.key()?;
                    return Ok(false);
                }
                (Some(b','), false) => {
                    self.at += 1;
                    return Ok(false);
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    self.at += 1;
                    self.objects.pop();
                }
                (_, true) => return Err("`,` or `}`"),
                (_, false) => return Err("`,` or `]`"),
            }
        }
    }

    /// Takes a comma before a closing bracket, if that is forgiven.
    #[inline]
    fn forgives_comma(&mut self, object: bool) -> bool {
        if !F::FORGIVES {
            return false;
        }
        let next = self.bytes.get(skip_space(self.bytes, self.at + 1));
        let closes = next == Some(if object { &b'}' } else { &b']' });
        closes && self.forgives(Lapse::Comma, 1)
    }

    /// Takes so many bytes as a lapse, if that is forgiven.
    #[inline]
    fn forgives(&mut self, lapse: Lapse, len: usize) -> bool {
        if F::FORGIVES {
            self.forgive.forgive(lapse, self.at..self.at + len);
            self.at += len;
        }
        F::FORGIVES
    }

    fn key(&mut self) -> Result<(), &'static str> {
        if self.peek() != Some(b'"') {
            return Err("a key in quotes");
        }
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return Err("`:`");
        }
        self.at += 1;
        Ok(())
    }

    fn scalar(&mut self) -> Result<(), &'static str> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => self.bare(),
        }
    }

    /// A number or a word.
    #[inline]
    fn bare(&mut self) -> Result<(), &'static str> {
        if F::FORGIVES
            && let Some(word) = word_of(&self.bytes[self.at..])
        {
            self.forgives(Lapse::Number, word.len());
            return Ok(());
        }
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word(b"true"),
            Some(b'f') => self.word(b"false"),
            Some(b'n') => self.word(b"null"),
            _ => Err("a value"),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), &'static str> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err("`true`, `false`, `null` or another value");
        }
        self.at += word.len();
        Ok(())
    }

    fn digits(&mut self) -> Result<(), &'static str> {
        let count = self.bytes[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err("a digit") } else { Ok(()) }
    }

    fn number(&mut self) -> Result<(), &'static str> {
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), &'static str> {
        self.at += 1;
        loop {
            let plain = plain_bytes(&self.bytes[self.at..]);
            if F::FORGIVES {
                self.forgive_utf8(plain);
            }
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(_) if self.forgives(Lapse::Control, 1) => {}
                Some(_) => return Err("no control character in a string"),
                None => return Err("`\"` at the end of the string"),
            }
        }
    }

    /// Forgives what is no UTF-8 among the next `len` bytes, which no ASCII byte of a string ends early.
    #[cold]
    fn forgive_utf8(&mut self, len: usize) {
        let mut at = self.at;
        for chunk in self.bytes[at..at + len].utf8_chunks() {
            at += chunk.valid().len();
            let invalid = chunk.invalid().len();
            if invalid > 0 {
                self.forgive.forgive(Lapse::Utf8, at..at + invalid);
            }
            at += invalid;
        }
    }

    fn escape(&mut self) -> Result<(), &'static str> {
        match self.bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') => {
                let digits = self.bytes[self.at + 2..].iter().take(4);
                if digits.filter(|b| b.is_ascii_hexdigit()).count() != 4 {
                    if self.forgives(Lapse::Escape, 1) {
                        return Ok(());
                    }
                    return Err("four hexadecimal digits after `\\u`");
                }
                self.at += 6;
            }
            Some(_) if self.forgives(Lapse::Escape, 1) => {}
            _ => return Err("an escape that JSON has"),
        }
        Ok(())
    }
}

/// How many bytes from the start need no look inside a string: not `"`, `\` or below 0x20. Eight at a time.
fn plain_bytes(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const TOPS: u64 = ONES << 7;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & TOPS;
    let is = |word: u64, byte: u8| zero(word ^ (ONES * u64::from(byte)));
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let control = word.wrapping_sub(ONES * 0x20) & !word & TOPS;
        let found = is(word, b'"') | is(word, b'\\') | control;
        if found != 0 {
            return i * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let plain = |&&b: &&u8| b != b'"' && b != b'\\' && b >= 0x20;
    bytes.len() - rest.len() + rest.iter().take_while(plain).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_has() {
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
    fn one_value_is_not_several() {
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
    fn what_json_has_not() {
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
    fn control_characters_are_found_at_every_place() {
        for at in 0..20 {
            for byte in [0, 0x1f, b'"', b'\\'] {
                let mut bytes = vec![b'x'; 24];
                bytes[at] = byte;
                assert_eq!(plain_bytes(&bytes), at);
            }
            assert_eq!(plain_bytes(&vec![0xC3; at]), at);
        }
    }

    #[test]
    fn depth_needs_no_stack() {
        let depth = 1_000_000 / crate::EVERY;
        let text = "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(validate(text.as_bytes()), Ok(()));
    }
}
