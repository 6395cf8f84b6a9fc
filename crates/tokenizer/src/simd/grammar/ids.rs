//! Finds the keys of ids in a scanned event.
//!
//! In such an event, brackets and strings are valid, so a quote and colon after, say, `pid` close a
//! key. Only quotes after the last letter of such a key are examined, and their depth is counted
//! from masks.
//!
//! This search is for changing ids in proved events, which needs no other field. Cost: the masks of
//! each block, and a check of the keys with those letters.

use super::claims::Claim;
use super::masks::Classes;
use crate::simd::blocks::{BLOCK, last_block};
use crate::text::field::{Field, Key, key_before};

/// Fields to find, whose keys end in the letters of [`Classes::id_end`].
const FIELDS: u16 =
    Field::Ph.bit() | Field::Pid.bit() | Field::Id.bit() | Field::Id2.bit() | Field::BindId.bit();

/// The claim that the positions of `ph` and of the envelope's ids are known. The proof fails if the
/// event has an escape, white space outside strings, or a key that ends in `unless`. `unless`
/// includes the closing quote.
pub(super) struct Ids<'b> {
    pub(super) event: &'b [u8],
    pub(super) unless: &'b [u8],
    /// Fields that were found, and the offset after the colon of each field.
    pub(super) seen: &'b mut u16,
    pub(super) values: &'b mut [u64; Field::COUNT],
}

impl Claim for Ids<'_> {
    type Proven = bool;

    #[inline(always)]
    fn prove(
        self,
        classify: impl Fn(&[u8; BLOCK]) -> Classes,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> bool {
        let Ids { event, unless, seen, values } = self;
        // `inside`: all ones inside a string; `letter`: 1 if the last byte was such a letter;
        // `end`: 1 if it was the quote after one; `open`: brackets open before the block
        let (mut inside, mut letter, mut end, mut open) = (0, 0, 0, 0u32);
        let (blocks, mut padded) = (event.as_chunks::<BLOCK>().0, [b' '; BLOCK]);
        let (last, skip) = last_block(event, &mut padded);
        for (index, block) in blocks.iter().chain(last).enumerate() {
            let mut class = classify(block);
            if index == blocks.len() {
                class = class.skip(skip);
            }
            let in_string = prefix_xor(class.quote) ^ inside;
            inside = ((in_string as i64) >> 63) as u64;
            if class.backslash | (class.space & !in_string) != 0 {
                return false;
            }
            let (opening, closing) = (class.open & !in_string, class.close & !in_string);
            // after the letter and the quote
            let ends = class.quote & (class.id_end << 1 | letter);
            let mut colons = class.colon & (ends << 1 | end);
            (letter, end) = (class.id_end >> 63, ends >> 63);
            while colons != 0 {
                let bit = colons & colons.wrapping_neg();
                colons ^= bit;
                let colon = index * BLOCK + bit.trailing_zeros() as usize;
                match key_before(event, colon) {
                    Key::Field(field) if FIELDS & field.bit() != 0 => {
                        let before = |mask: u64| (mask & (bit - 1)).count_ones();
                        if open.wrapping_add(before(opening)).wrapping_sub(before(closing)) == 1 {
                            *seen |= field.bit();
                            values[field as usize] = colon as u64 + 1;
                        }
                    }
                    Key::Field(_) => {}
                    Key::Other { .. } if event[..colon].ends_with(unless) => return false,
                    Key::Other { .. } => {}
                }
            }
            open = open.wrapping_add(opening.count_ones()).wrapping_sub(closing.count_ones());
        }
        true
    }
}
