//! Text of a profile, by its place.

use std::ops::Range;

/// A stretch of text: in the inputs, or (with the top bit) in the text that was made while decoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Where it stands among all inputs; with [`Text::MADE`], in made text.
    pub offset: u64,
    /// Bytes of it.
    pub len: u64,
}

impl Text {
    /// The bit of an offset that says: in made text.
    pub const MADE: u64 = 1 << 63;

    /// The text at a range of what was made while decoding.
    pub fn made(range: Range<usize>) -> Self {
        Text { offset: range.start as u64 | Self::MADE, len: range.len() as u64 }
    }

    /// Where in the made text, if it is there.
    pub fn made_at(self) -> Option<Range<usize>> {
        let start = (self.offset & !Self::MADE) as usize;
        (self.offset & Self::MADE != 0).then_some(start..start + self.len as usize)
    }
}
