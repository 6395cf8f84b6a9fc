//! Ends of strings and digits in a window, for `scan::shapes`.
//!
//! ```text
//!   "ts":125,"name":"a b"},⏎{"ph":       bytes of a window
//!   1  1    1    1 1   1   1 1  1        ends of plain strings: one bit per byte
//!   11111   111111111111111111111        bytes other than digits
//! ```
//!
//! A plain string ends at a quote. Backslashes, controls and bytes above 0x7F end a plain string
//! too: a caller that does not find the expected quote there knows that the string is not plain.

use super::blocks::BLOCK;
use super::prefetch;

/// Size of a window in bytes, small enough for the L1 cache.
pub(crate) const MARKED: usize = 8 * 1024;
/// Size of a bitmap in bytes: one bit per byte of the window, and eight bytes more, so that a whole
/// word can be read at its last byte.
const BITMAP: usize = MARKED / 8 + 8;
/// Minimum number of bits that [`word`] returns.
const BITS: usize = 57;

/// One bit per byte of a window.
type Bitmap = [u8; BITMAP];

/// Masks of a block, one bit per byte, lowest bit first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenEnds {
    /// Bytes that end a plain string.
    pub(super) string: u64,
    /// Bytes other than digits.
    pub(super) no_digits: u64,
}

/// The ends of tokens in a window.
pub(crate) struct Marks {
    string_ends: Box<Bitmap>,
    no_digits: Box<Bitmap>,
}

/// Portable code that marks windows; inlined into each tier's `#[target_feature]` function.
pub(crate) trait UsesMarks {
    /// Result of the code.
    type Output;

    /// Runs the code. `mark` marks a window of at most [`MARKED`] bytes; a last part that is shorter
    /// than a block stays unmarked.
    fn run(self, mark: impl Fn(&[u8], &mut Marks)) -> Self::Output;
}

impl Marks {
    pub(crate) fn new() -> Self {
        let empty = || Box::new([0; BITMAP]);
        Marks { string_ends: empty(), no_digits: empty() }
    }

    /// Returns the end of the plain part of a string whose content begins at `at`. Returns `None`
    /// if the marks end before it.
    #[inline(always)]
    pub(crate) fn string_end(&self, mut at: usize) -> Option<usize> {
        loop {
            let len = word(&self.string_ends, at)?.trailing_zeros() as usize;
            if len < BITS {
                return Some(at + len);
            }
            at += BITS;
        }
    }

    /// Returns the end of the digits that begin at `at`. Returns `None` if `at` has no digit, or if
    /// there are [`BITS`] digits or more.
    #[inline(always)]
    pub(crate) fn digits_end(&self, at: usize) -> Option<usize> {
        let len = word(&self.no_digits, at)?.trailing_zeros() as usize;
        (len.wrapping_sub(1) < BITS - 1).then_some(at + len)
    }
}

/// Returns the bits of the bytes from `at` on: at least [`BITS`] bits, lowest first.
#[inline(always)]
fn word(bitmap: &Bitmap, at: usize) -> Option<u64> {
    let word = bitmap.get(at / 8..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*word) >> (at % 8))
}

/// Marks a window. `ends` returns the masks of a block.
#[inline(always)]
pub(super) fn mark_with(
    window: &[u8],
    marks: &mut Marks,
    ends: impl Fn(&[u8; BLOCK]) -> TokenEnds,
) {
    let strings = marks.string_ends.as_chunks_mut::<8>().0;
    let digits = marks.no_digits.as_chunks_mut::<8>().0;
    let words = strings.iter_mut().zip(digits);
    for (block, (string, no_digit)) in window.as_chunks::<BLOCK>().0.iter().zip(words) {
        prefetch::ahead_of(block);
        let ends = ends(block);
        *string = ends.string.to_le_bytes();
        *no_digit = ends.no_digits.to_le_bytes();
    }
}
