//! The portable tier: a table look-up a byte. The twin that every other tier is tested against.
//!
//! It shares the loop over blocks and differs in how masks come about, so that a test that compares tiers tests the vectors and nothing else. It
//! runs where no other does, and under Miri.

use super::blocks::{BLOCK, Carry, Masks, Positions, Suspect, emit_portable, flatten_with};
use super::class::{self, CLASS};

pub(super) fn flatten(window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
    flatten_with(window, carry, out, classify, prefix_xor, emit_portable)
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

/// Bit i of the answer is the exclusive or of bits 0 to i.
pub(super) fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}
