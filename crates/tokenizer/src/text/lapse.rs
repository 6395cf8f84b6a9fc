//! JSON deviations with a clear meaning, and their repair.
//!
//! Producers that write JSON by hand make these mistakes. Each has only one meaning, and the
//! surrounding text is read as usual. Any other invalid text, such as a missing colon, is an error.

use std::ops::Range;

/// A JSON deviation with one meaning. [`crate::lapses`] finds deviations, [`crate::mend()`] repairs
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lapse {
    /// `NaN` or `Infinity`, also with a minus sign, as Python and C write them. The repair is
    /// `null`, as in `JSON.stringify`.
    Number,
    /// A raw control character in a string. The repair is its escape.
    Control,
    /// Bytes in a string that are not UTF-8. The repair is U+FFFD, which browsers show.
    Utf8,
    /// A comma before a closing bracket. The repair removes the comma.
    Comma,
    /// A backslash that begins no escape, as in `C:\demo`. The repair is two backslashes.
    Escape,
}

impl Lapse {
    /// All deviations, in the order of reports.
    pub const ALL: [Lapse; 5] =
        [Lapse::Number, Lapse::Control, Lapse::Utf8, Lapse::Comma, Lapse::Escape];

    /// Returns the name used in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lapse::Number => "nan",
            Lapse::Control => "raw-control",
            Lapse::Utf8 => "utf8",
            Lapse::Comma => "trailing-comma",
            Lapse::Escape => "bad-escape",
        }
    }

    /// Returns a description for users.
    pub fn sentence(self) -> &'static str {
        match self {
            Lapse::Number => "NaN or Infinity, which JSON does not allow",
            Lapse::Control => "a raw control character in a string",
            Lapse::Utf8 => "text that is not UTF-8",
            Lapse::Comma => "a comma before a closing bracket",
            Lapse::Escape => "a backslash that starts no JSON escape",
        }
    }

    /// Appends the JSON that replaces the bytes of a deviation.
    ///
    /// ```
    /// use tracemill_tokenizer::Lapse;
    ///
    /// let mended = |lapse: Lapse, bytes: &[u8]| {
    ///     let mut out = Vec::new();
    ///     lapse.mended(bytes, &mut out);
    ///     out
    /// };
    /// assert_eq!(mended(Lapse::Number, b"-Infinity"), b"null");
    /// assert_eq!(mended(Lapse::Control, b"\t"), br"\u0009");
    /// assert_eq!(mended(Lapse::Escape, br"\"), br"\\");
    /// assert_eq!(mended(Lapse::Comma, b","), b"");
    /// ```
    pub fn mended(self, lapse: &[u8], out: &mut Vec<u8>) {
        match self {
            Lapse::Number => out.extend_from_slice(b"null"),
            Lapse::Control => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                for &byte in lapse {
                    let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                    out.extend_from_slice(b"\\u00");
                    out.extend_from_slice(&digits);
                }
            }
            Lapse::Utf8 => out.extend_from_slice("\u{fffd}".as_bytes()),
            Lapse::Comma => {}
            Lapse::Escape => out.extend_from_slice(br"\\"),
        }
    }
}

/// Returns the word for a number that JSON does not have, such as `NaN`, at the start of `text`.
pub(crate) fn word_of(text: &[u8]) -> Option<&'static [u8]> {
    const WORDS: [&[u8]; 4] = [b"NaN", b"Infinity", b"-Infinity", b"-NaN"];
    WORDS.into_iter().find(|word| text.starts_with(word))
}

/// A policy of JSON readers for deviations.
pub(crate) trait Forgive {
    /// Whether the reader tolerates deviations.
    const FORGIVES: bool;

    /// Receives a tolerated deviation and its range.
    fn forgive(&mut self, lapse: Lapse, at: Range<usize>);
}

/// The policy that tolerates nothing.
pub(crate) struct Strict;

impl Forgive for Strict {
    const FORGIVES: bool = false;

    fn forgive(&mut self, _: Lapse, _: Range<usize>) {}
}

impl<F: FnMut(Lapse, Range<usize>)> Forgive for F {
    const FORGIVES: bool = true;

    fn forgive(&mut self, lapse: Lapse, at: Range<usize>) {
        self(lapse, at);
    }
}
