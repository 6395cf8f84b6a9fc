//! Finds the closing bracket of a container by counting brackets outside strings, block by block.
//!
//! ```text
//!   { "a" : [ 1 , "}" ] , "b" : { …        64 bytes: 3 brackets open, 1 closes
//!   depth before the block > 1             the last bracket is not here: add 3 - 1, next block
//! ```

use super::blocks::{BLOCK, escaped, last_block};

/// Classes of the bytes in a block that determine nesting, one bit per byte, lowest bit first.
#[derive(Clone, Copy)]
pub(super) struct Brackets {
    /// `"`
    pub(super) quote: u64,
    /// `\`
    pub(super) backslash: u64,
    /// `{ [`
    pub(super) open: u64,
    /// `} ]`
    pub(super) close: u64,
}

impl Brackets {
    /// Returns the masks without the first `count` bytes.
    #[inline(always)]
    fn skip(self, count: u32) -> Brackets {
        let Brackets { quote, backslash, open, close } = self;
        Brackets {
            quote: quote >> count,
            backslash: backslash >> count,
            open: open >> count,
            close: close >> count,
        }
    }
}

/// Mask that maps each bracket to the brace of its side, which differs in one bit. No other byte
/// maps to a brace.
pub(super) const FOLD: u8 = b'{' ^ b'[';

/// The loop shared by all tiers, inlined into each tier's `#[target_feature]` function.
///
/// Returns `None` for a backslash outside strings, which the byte-by-byte walk must interpret.
#[inline(always)]
pub(super) fn container_len_with(
    bytes: &[u8],
    brackets: impl Fn(&[u8; BLOCK]) -> Brackets,
    prefix_xor: impl Fn(u64) -> u64,
) -> Option<usize> {
    let (mut in_string, mut is_escaped, mut depth) = (0u64, 0u64, 0usize);
    let (blocks, mut padded) = (bytes.as_chunks::<BLOCK>().0, [b' '; BLOCK]);
    let (last, skip) = last_block(bytes, &mut padded);
    for (index, block) in blocks.iter().chain(last).enumerate() {
        let mut masks = brackets(block);
        if index == blocks.len() {
            masks = masks.skip(skip);
        }
        let quotes = masks.quote & !escaped(masks.backslash, &mut is_escaped);
        let strings = prefix_xor(quotes) ^ in_string;
        in_string = ((strings as i64) >> 63) as u64;
        if masks.backslash & !strings != 0 {
            return None;
        }
        let (open, mut close) = (masks.open & !strings, masks.close & !strings);
        let (opens, closes) = (open.count_ones() as usize, close.count_ones() as usize);
        if depth <= closes {
            let mut closed = 0;
            while close != 0 {
                let at = close.trailing_zeros();
                closed += 1;
                if depth + (open & ((1 << at) - 1)).count_ones() as usize <= closed {
                    return Some(index * BLOCK + at as usize + 1);
                }
                close &= close - 1;
            }
        }
        depth = depth + opens - closes;
    }
    Some(bytes.len())
}
