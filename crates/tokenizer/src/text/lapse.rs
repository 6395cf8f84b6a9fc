//! What is not JSON though everybody can say what was meant, and the JSON for it.
//!
//! Producers that write JSON by hand make these mistakes, and each has one meaning only: the text around it is read as if
//! it were not there. Everything else that is no JSON (a colon that is missing, a misspelt word) is a defect.

use std::ops::Range;

/// A mistake with one meaning: [`crate::lapses`] finds them, [`crate::mend()`] writes JSON in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lapse {
    /// `NaN`, `Infinity` or `-Infinity`, as Python and C write them. As JSON: `null`, which is what `JSON.stringify` makes of it.
    Number,
    /// A raw control character in a string. As JSON: its escape.
    Control,
    /// Bytes in a string that are not UTF-8. As JSON: U+FFFD, which is what browsers show.
    Utf8,
    /// A comma before a closing bracket. As JSON: nothing.
    Comma,
    /// A backslash that begins no escape, as in `C:\demo`. As JSON: two.
    Escape,
}

impl Lapse {
    /// All of them, in the order in which reports list them.
    pub const ALL: [Lapse; 5] =
        [Lapse::Number, Lapse::Control, Lapse::Utf8, Lapse::Comma, Lapse::Escape];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Lapse::Number => "nan",
            Lapse::Control => "raw-control",
            Lapse::Utf8 => "utf8",
            Lapse::Comma => "trailing-comma",
            Lapse::Escape => "bad-escape",
        }
    }

    /// What is wrong, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Lapse::Number => "NaN or Infinity, which JSON does not allow",
            Lapse::Control => "a raw control character in a string",
            Lapse::Utf8 => "text that is not UTF-8",
            Lapse::Comma => "a comma before a closing bracket",
            Lapse::Escape => "a backslash that starts no JSON escape",
        }
    }

    /// Appends the JSON for `lapse`, the bytes that it takes.
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

/// The word for a number that JSON has not, if `text` begins with one.
pub(crate) fn word_of(text: &[u8]) -> Option<&'static [u8]> {
    const WORDS: [&[u8]; 4] = [b"NaN", b"Infinity", b"-Infinity", b"-NaN"];
    WORDS.into_iter().find(|word| text.starts_with(word))
}

/// What a reader of JSON does about lapses.
pub(crate) trait Forgive {
    /// Whether it goes on behind them.
    const FORGIVES: bool;

    /// Goes on behind one.
    fn forgive(&mut self, lapse: Lapse, at: Range<usize>);
}

/// Forgives nothing.
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
