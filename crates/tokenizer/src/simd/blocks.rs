//! The loop over blocks shared by all tiers, and its data.

use super::prefetch;

/// Number of bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// Number of bytes converted to positions at a time. Positions have 16 bits, and the window stays
/// in the L1 cache.
pub(crate) const WINDOW: usize = 16 * 1024;

/// Classes of the bytes in a block, one bit per byte, lowest bit first.
#[derive(Clone, Copy)]
pub(crate) struct Masks {
    /// Quotes: `"`.
    pub(super) quote: u64,
    /// Backslashes: `\`.
    pub(super) backslash: u64,
    /// Structural bytes: `{ } [ ] :`.
    pub(super) structural: u64,
    /// Structural bytes, commas and white space: the bytes allowed next to a quote.
    pub(super) delimiter: u64,
    /// Delimiters, and the bytes of numbers and of `true false null NaN Infinity`.
    pub(super) known: u64,
}

impl Masks {
    /// Returns the masks without the first `count` bytes, as if white space followed the block.
    #[inline(always)]
    pub(super) fn skip(self, count: u32) -> Masks {
        let behind = !(u64::MAX >> count);
        Masks {
            quote: self.quote >> count,
            backslash: self.backslash >> count,
            structural: self.structural >> count,
            delimiter: self.delimiter >> count | behind,
            known: self.known >> count | behind,
        }
    }
}

/// State carried from one block to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    /// All ones inside a string, else zero.
    pub(super) in_string: u64,
    /// 1 if the first byte of the next block is escaped.
    pub(super) escaped: u64,
    /// 1 if the last byte was a closing quote.
    pub(super) closed: u64,
    /// 1 if the last byte was a delimiter.
    pub(super) delimiter: u64,
}

impl Carry {
    /// State at a position outside strings.
    pub(crate) const OUTSIDE: Carry = Carry { in_string: 0, escaped: 0, closed: 0, delimiter: 1 };
}

/// Positions of structural bytes in a window.
pub(crate) struct Positions {
    // one block of slack, because every tier stores whole vectors
    pub(super) at: Box<[u16; WINDOW + BLOCK]>,
    pub(super) len: usize,
}

impl Positions {
    pub(crate) fn new() -> Self {
        let at = vec![0u16; WINDOW + BLOCK].into_boxed_slice();
        Positions { at: at.try_into().expect("the length is the array's"), len: 0 }
    }

    pub(crate) fn as_slice(&self) -> &[u16] {
        &self.at[..self.len]
    }
}

/// Position in the window of the first byte that cannot be JSON; `None` if there is no such byte.
pub(crate) type Suspect = Option<usize>;

/// The loop shared by all tiers, inlined into each tier's `#[target_feature]` function.
#[inline(always)]
pub(super) fn flatten_with(
    window: &[u8],
    carry: &mut Carry,
    out: &mut Positions,
    classify: impl Fn(&[u8; BLOCK]) -> Masks,
    prefix_xor: impl Fn(u64) -> u64,
    emit: impl Fn(u64, u16, &mut [u16; BLOCK]),
) -> Suspect {
    let mut state = *carry;
    let mut len = 0;
    let (blocks, mut padded) = (window.as_chunks::<BLOCK>().0, [b' '; BLOCK]);
    let (last, skip) = last_block(window, &mut padded);
    for (index, block) in blocks.iter().chain(last).enumerate() {
        let base = (index * BLOCK) as u16;
        prefetch::ahead_of(block);
        let mut masks = classify(block);
        if index == blocks.len() {
            masks = masks.skip(skip);
        }
        let (structural, suspect) = step(&mut state, masks, &prefix_xor);
        // a window has at most WINDOW structural bytes, and `at` has one block more
        let slot = out.at[len..].first_chunk_mut::<BLOCK>();
        let slot = slot.expect("positions before this block fill at most one place a byte");
        if suspect != 0 {
            let first = suspect.trailing_zeros();
            let before = structural & ((1u64 << first) - 1);
            emit(before, base, slot);
            out.len = len + before.count_ones() as usize;
            return Some(index * BLOCK + first as usize);
        }
        emit(structural, base, slot);
        len += structural.count_ones() as usize;
    }
    out.len = len;
    *carry = state;
    None
}

/// Returns the block with the last bytes of a window if they do not fill a block, and the number of
/// bytes to skip in it.
///
/// The block overlaps the previous one: copying the tail into a padded block, read right after the
/// write, would cost as much as all other blocks of a short event.
#[inline(always)]
pub(super) fn last_block<'w>(
    window: &'w [u8],
    padded: &'w mut [u8; BLOCK],
) -> (&'w [[u8; BLOCK]], u32) {
    let tail = window.as_chunks::<BLOCK>().1;
    match window.last_chunk::<BLOCK>() {
        _ if tail.is_empty() => (&[], 0),
        Some(last) => (std::slice::from_ref(last), (BLOCK - tail.len()) as u32),
        None => {
            padded[..tail.len()].copy_from_slice(tail);
            (std::slice::from_ref(padded), 0)
        }
    }
}

/// Processes one block: returns structural bytes outside strings, and suspect bytes.
#[inline(always)]
fn step(carry: &mut Carry, masks: Masks, prefix_xor: impl Fn(u64) -> u64) -> (u64, u64) {
    let quotes = masks.quote & !escaped(masks.backslash, &mut carry.escaped);
    // set from an opening quote up to, not including, its closing quote
    let in_string = prefix_xor(quotes) ^ carry.in_string;
    let opening = quotes & in_string;
    let closing = quotes & !in_string;
    let after_closing = (closing << 1) | carry.closed;
    let after_delimiter = (masks.delimiter << 1) | carry.delimiter;
    let suspect = (!in_string & !quotes & !masks.known)
        | (after_closing & !masks.delimiter)
        | (opening & !after_delimiter);
    carry.in_string = ((in_string as i64) >> 63) as u64;
    carry.closed = closing >> 63;
    carry.delimiter = masks.delimiter >> 63;
    (masks.structural & !in_string, suspect)
}

/// Returns the mask of the bytes that follow an odd number of backslashes. `next` carries the state
/// from block to block.
///
/// Uses the subtraction of simdjson's `json_escape_scanner`: subtracting the backslashes from odd
/// bits lets a borrow run through each series, which marks every other byte of it.
#[inline(always)]
pub(super) fn escaped(backslash: u64, next: &mut u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    if backslash == 0 {
        return std::mem::take(next);
    }
    let starts = backslash & !*next;
    let series = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = series ^ (backslash | *next);
    *next = (series & backslash) >> 63;
    escaped
}

/// Writes the positions of set bits, lowest first, eight at a time, so that the loop branch is
/// predictable.
#[inline(always)]
pub(super) fn emit_portable(mut mask: u64, base: u16, out: &mut [u16; BLOCK]) {
    let count = mask.count_ones() as usize;
    for slots in out.chunks_exact_mut(8).take(count.div_ceil(8)) {
        for slot in slots {
            *slot = base.wrapping_add(mask.trailing_zeros() as u16);
            mask &= mask.wrapping_sub(1);
        }
    }
}
