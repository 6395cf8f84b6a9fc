//! Text of a profile, stored as a range of the input.
//!
//! Call frames and unknown keys are most of a profile's bytes, but only writing a profile needs
//! them. So they stay in the input. For nested nodes of the old format, decoding builds the text:
//!
//! ```text
//!   offset   0 ───────────────────── 2⁶³ ─────────────────────
//!            bytes of all inputs      bytes of decoded text
//! ```

use std::ops::Range;

/// A range of text: in the inputs or, with the top bit of `offset`, in text that decoding built.
/// Decoding builds keys and frames that the input does not contain in the required form.
/// [`text_of`](crate::text_of) returns the bytes.
///
/// ```
/// use tracemill_cpuprofile::TextSpan;
///
/// assert_eq!(TextSpan::decoded(3..8).decoded_at(), Some(3..8));
/// assert_eq!(TextSpan { offset: 3, len: 5 }.decoded_at(), None); // in the inputs
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSpan {
    /// Offset in the concatenated inputs; with [`TextSpan::DECODED`], in decoded text.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl TextSpan {
    /// Bit of an offset that marks decoded text.
    pub const DECODED: u64 = 1 << 63;

    /// Returns the text at a range of the decoded text.
    pub fn decoded(range: Range<usize>) -> Self {
        TextSpan { offset: range.start as u64 | Self::DECODED, len: range.len() as u64 }
    }

    /// Returns the range in the decoded text. Returns `None` for text in the inputs.
    pub fn decoded_at(self) -> Option<Range<usize>> {
        let start = (self.offset & !Self::DECODED) as usize;
        (self.offset & Self::DECODED != 0).then_some(start..start + self.len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_text_may_exceed_four_gibibytes() {
        let long = 7..(5 << 30);
        assert_eq!(TextSpan::decoded(long.clone()).decoded_at(), Some(long));
        assert_eq!(size_of::<TextSpan>(), 16, "a tree has one a node");
    }
}
