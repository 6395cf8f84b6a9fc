//! The byte-by-byte JSON reader, which decides whether text is valid and finds the first error.
//!
//! It reads the little text that the proof in blocks ([`crate::simd::grammar`]) leaves unknown.
//! One reader serves two purposes with the same grammar: finding the first error ([`Strict`]), and
//! collecting the deviations before the first error (any other [`Forgive`]).
//!
//! ```text
//!   value ─ { ─ key : value ── after_value ─┬─ , ─ key …      open brackets: one byte per level
//!         ─ [ ─ value ──────── after_value ─┼─ , ─ value …    in a Vec, without recursion
//!         ─ string, number, word ───────────┴─ } or ] ─ after_value, until the outermost closes
//! ```
//!
//! Errors name the expected token; the reader's position locates them. White space may separate
//! top-level values, so NDJSON passes.

use crate::text::lapse::{Forgive, Lapse, Strict, word_of};
use crate::text::swar::{controls, equal_bytes, first};
use crate::text::{is_space, skip_space};

/// The first syntax error of a text.
///
/// ```
/// use tracemill_tokenizer::{Defect, validate};
///
/// assert_eq!(validate(br#"{"a" 1}"#), Err(Defect { offset: 5, expected: "`:`" }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Defect {
    /// Offset of the error in the input.
    pub offset: u64,
    /// The expected token, as a noun to follow "expected".
    pub expected: &'static str,
}

/// Returns the length of the number or word at the start of `bytes`. Returns `None` if there is
/// none.
#[inline]
pub(crate) fn scalar_len(bytes: &[u8]) -> Option<usize> {
    let mut reader = Reader { bytes, at: 0, objects: Vec::new(), forgive: Strict };
    reader.bare().ok().map(|()| reader.at)
}

/// A position in a text, with a policy for deviations.
pub(crate) struct Reader<'a, F> {
    pub(crate) bytes: &'a [u8],
    /// Current position; after an error, the position of the error.
    pub(crate) at: usize,
    /// Open brackets, true for objects.
    pub(crate) objects: Vec<bool>,
    pub(crate) forgive: F,
}

impl<F: Forgive> Reader<'_, F> {
    /// Reads all values to the end of the text; returns the first error, if any.
    pub(crate) fn values(&mut self) -> Option<Defect> {
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

    /// Reads one value with everything inside it. Does not recurse: each level of nesting costs one
    /// byte.
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

    /// Reads commas and closing brackets after a value; returns true when the outermost value is
    /// complete.
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

    /// Takes a comma before a closing bracket, if the policy tolerates it.
    #[inline]
    fn forgives_comma(&mut self, object: bool) -> bool {
        if !F::FORGIVES {
            return false;
        }
        let next = self.bytes.get(skip_space(self.bytes, self.at + 1));
        let closes = next == Some(if object { &b'}' } else { &b']' });
        closes && self.forgives(Lapse::Comma, 1)
    }

    /// Takes `len` bytes as a deviation, if the policy tolerates deviations; returns whether it
    /// does.
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

    /// Reads a number or a word.
    #[inline]
    pub(crate) fn bare(&mut self) -> Result<(), &'static str> {
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

    /// Reports invalid UTF-8 in the next `len` bytes; no ASCII byte among them ends the string.
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

/// Returns the number of leading bytes that need no check in a string: not `"`, `\` or below 0x20.
/// Processes eight bytes per step.
fn plain_bytes(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = equal_bytes(word, b'"') | equal_bytes(word, b'\\') | controls(word);
        if found != 0 {
            return i * 8 + first(found);
        }
    }
    let plain = |&&b: &&u8| b != b'"' && b != b'\\' && b >= 0x20;
    bytes.len() - rest.len() + rest.iter().take_while(plain).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_control_characters_at_every_offset() {
        for at in 0..20 {
            for byte in [0, 0x1f, b'"', b'\\'] {
                let mut bytes = vec![b'x'; 24];
                bytes[at] = byte;
                assert_eq!(plain_bytes(&bytes), at);
            }
            assert_eq!(plain_bytes(&vec![0xC3; at]), at);
        }
    }
}
