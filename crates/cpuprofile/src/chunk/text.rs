//! Text of a profile, by its place.
//!
//! Call frames and unknown members are most of a profile's bytes, and nobody needs them before the profile is written. So they stay in the
//! input: 16 bytes say where. Where the input does not say them as they are meant (nodes inside nodes of the old form), decoding makes their
//! text and keeps it beside the columns.
//!
//! ```text
//!   offset   0 ───────────────────── 2⁶³ ─────────────────────
//!            bytes of all inputs      bytes of decoded text
//! ```

use std::ops::Range;

/// A stretch of text: in the inputs, or (with the top bit) in text that decoding made: keys and frames whose input does not say them as they are
/// meant. [`text_of`](crate::text_of) gets its bytes.
///
/// ```
/// use tracemill_cpuprofile::TextSpan;
///
/// assert_eq!(TextSpan::decoded(3..8).decoded_at(), Some(3..8));
/// assert_eq!(TextSpan { offset: 3, len: 5 }.decoded_at(), None); // in the inputs
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextSpan {
    /// Where it stands among all inputs; with [`TextSpan::DECODED`], in decoded text.
    pub offset: u64,
    /// Bytes of it.
    pub len: u64,
}

impl TextSpan {
    /// The bit of an offset that says: in decoded text.
    pub const DECODED: u64 = 1 << 63;

    /// The text at a range of the decoded text.
    pub fn decoded(range: Range<usize>) -> Self {
        TextSpan { offset: range.start as u64 | Self::DECODED, len: range.len() as u64 }
    }

    /// Its range in the decoded text, if it is there.
    pub fn decoded_at(self) -> Option<Range<usize>> {
        let start = (self.offset & !Self::DECODED) as usize;
        (self.offset & Self::DECODED != 0).then_some(start..start + self.len as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_as_long_as_it_is() {
        let long = 7..(5 << 30);
        assert_eq!(TextSpan::decoded(long.clone()).decoded_at(), Some(long));
        assert_eq!(size_of::<TextSpan>(), 16, "a tree has one a node");
    }
}
