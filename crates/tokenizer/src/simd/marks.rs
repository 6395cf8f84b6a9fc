//! Structural bytes as bit masks: for readers that need few of them.

use super::{BLOCK, Carry, Masks, WINDOW, last_block, step};

/// Structural bytes of a window, a word a block.
pub(crate) struct Marks {
    /// All of them, and the colons alone.
    words: Box<[(u64, u64); WINDOW / BLOCK]>,
    len: usize,
}

impl Marks {
    pub(crate) fn new() -> Self {
        let words = vec![(0, 0); WINDOW / BLOCK].into_boxed_slice();
        Marks { words: words.try_into().expect("the length is the array's"), len: 0 }
    }

    /// Of each block, the brackets and the colons outside strings.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.words[..self.len].iter().map(|&(structural, colons)| (structural & !colons, colons))
    }
}

/// The loop that all tiers share, as [`super::flatten_with`].
#[inline(always)]
pub(super) fn mark_with(
    window: &[u8],
    carry: &mut Carry,
    out: &mut Marks,
    classify: impl Fn(&[u8; BLOCK]) -> Masks,
    prefix_xor: impl Fn(u64) -> u64,
) -> bool {
    let mut state = *carry;
    let (blocks, mut padded) = (window.as_chunks::<BLOCK>().0, [b' '; BLOCK]);
    let (last, skip) = last_block(window, &mut padded);
    let all = blocks.iter().chain(last).zip(out.words.iter_mut());
    for (index, (block, word)) in all.enumerate() {
        let mut masks = classify(block);
        if index == blocks.len() {
            masks = masks.skip(skip);
        }
        let colon = masks.colon;
        let (structural, suspect) = step(&mut state, masks, &prefix_xor);
        if suspect != 0 {
            return false;
        }
        *word = (structural, structural & colon);
    }
    out.len = blocks.len() + last.len();
    *carry = state;
    true
}
