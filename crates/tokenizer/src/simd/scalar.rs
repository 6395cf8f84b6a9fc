//! The portable tier: one table lookup per byte. All other tiers are tested against it.
//!
//! It shares the loop over blocks and differs only in computing masks, so comparing tiers tests
//! only the vector code. It also runs under Miri.

use super::blocks::{BLOCK, Carry, Masks, Positions, Suspect, emit_portable, flatten_with};
use super::class::{self, CLASS};
use super::marks::{TokenEnds, UsesMarks, mark_with};

pub(super) fn flatten(window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
    flatten_with(window, carry, out, classify, prefix_xor, emit_portable)
}

pub(super) fn with_marks<C: UsesMarks>(code: C) -> C::Output {
    code.run(|window, marks| mark_with(window, marks, token_ends))
}

fn token_ends(block: &[u8; BLOCK]) -> TokenEnds {
    let mut ends = TokenEnds { string: 0, no_digits: 0 };
    for (i, &byte) in block.iter().enumerate() {
        let is_plain = matches!(byte, 0x20..=0x7F) && byte != b'"' && byte != b'\\';
        ends.string |= u64::from(!is_plain) << i;
        ends.no_digits |= u64::from(!byte.is_ascii_digit()) << i;
    }
    ends
}

fn classify(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks { quote: 0, backslash: 0, structural: 0, delimiter: 0, known: 0 };
    for (i, &byte) in block.iter().enumerate() {
        let class = CLASS[usize::from(byte)];
        masks.quote |= u64::from(byte == b'"') << i;
        masks.backslash |= u64::from(byte == b'\\') << i;
        masks.structural |= u64::from(class & class::STRUCTURAL != 0) << i;
        masks.delimiter |= u64::from(class & class::DELIMITER != 0) << i;
        masks.known |= u64::from(class != 0) << i;
    }
    masks
}

/// Returns the prefix XOR: bit i is the XOR of bits 0 to i.
pub(super) fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
