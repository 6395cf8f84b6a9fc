//! NEON: four 16-byte quarters per block, classes by two nibble lookups, strings by polynomial
//! multiply.
//!
//! NEON has no move-mask instruction, so four comparison results are weighted with the bit of their
//! lane and added pairwise until one bit per byte remains, as in simdjson.
#![expect(unsafe_code, reason = "vector loads")]

use super::blocks::{BLOCK, Carry, Masks, Positions, Suspect, emit_portable, flatten_with};
use super::marks::{TokenEnds, UsesMarks, mark_with};
use super::nesting::{Brackets, FOLD, container_len_with};
use super::tier::tier;
use super::{class, nibbles};
use std::arch::aarch64::*;

tier! {
    ["neon", "aes"]
    /// Proof that this processor has the features of this tier.
    struct Neon: is_aarch64_feature_detected;

    fn flatten(window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
        flatten_with(window, carry, out, |b| classify(b), |bits| prefix_xor(bits), emit_portable)
    }

    fn container_len(bytes: &[u8]) -> Option<usize> {
        container_len_with(bytes, |block| brackets(block), |bits| prefix_xor(bits))
    }

    fn with_marks<C: UsesMarks>(code: C) -> C::Output {
        code.run(|window, marks| mark_with(window, marks, |block| token_ends(block)))
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn token_ends(block: &[u8; BLOCK]) -> TokenEnds {
    let quarters = block.as_chunks::<16>().0;
    let bytes = [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])];
    let all = |byte: u8| vdupq_n_u8(byte);
    let odd = bytes.map(|v| {
        let quote = vorrq_u8(vceqq_u8(v, all(b'"')), vceqq_u8(v, all(b'\\')));
        // signed: controls are below the space, and so are bytes above 0x7F
        vorrq_u8(quote, vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(b' ' as i8)))
    });
    let no_digits = bytes.map(|v| vcgtq_u8(vsubq_u8(v, all(b'0')), all(9)));
    TokenEnds { string: movemask(odd), no_digits: movemask(no_digits) }
}

#[inline]
#[target_feature(enable = "neon")]
fn brackets(block: &[u8; BLOCK]) -> Brackets {
    let quarters = block.as_chunks::<16>().0;
    let bytes = [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])];
    let folded = bytes.map(|v| vorrq_u8(v, vdupq_n_u8(FOLD)));
    let equal =
        |bytes: [uint8x16_t; 4], byte: u8| movemask(bytes.map(|v| vceqq_u8(v, vdupq_n_u8(byte))));
    Brackets {
        quote: equal(bytes, b'"'),
        backslash: equal(bytes, b'\\'),
        open: equal(folded, b'{'),
        close: equal(folded, b'}'),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn classify(block: &[u8; BLOCK]) -> Masks {
    let (low, high) = (load(&nibbles::LOW), load(&nibbles::HIGH));
    let quarters = block.as_chunks::<16>().0;
    let bytes = [load(&quarters[0]), load(&quarters[1]), load(&quarters[2]), load(&quarters[3])];
    let class = bytes.map(|v| {
        let low_class = vqtbl1q_u8(low, vandq_u8(v, vdupq_n_u8(0x0F)));
        // a high nibble of 8 or more has no class in the table
        vandq_u8(low_class, vqtbl1q_u8(high, vshrq_n_u8::<4>(v)))
    });
    let any = |bits: u8| movemask(class.map(|c| vtstq_u8(c, vdupq_n_u8(bits))));
    let equal = |byte: u8| movemask(bytes.map(|v| vceqq_u8(v, vdupq_n_u8(byte))));
    Masks {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        structural: any(class::STRUCTURAL),
        delimiter: any(class::DELIMITER),
        known: any(0xFF),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn load(bytes: &[u8; 16]) -> uint8x16_t {
    // SAFETY: `bytes` is valid for reads of 16 bytes; the load has no alignment requirement.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Converts four vectors of all-ones or zero bytes to one bit per byte.
#[inline]
#[target_feature(enable = "neon")]
fn movemask(lanes: [uint8x16_t; 4]) -> u64 {
    const WEIGHTS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    let weights = load(&WEIGHTS);
    let [a, b, c, d] = lanes.map(|v| vandq_u8(v, weights));
    let pairs = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)))
}

/// Returns the prefix XOR: bit i of the result is the XOR of bits 0 to i. A carry-less
/// multiplication by all ones computes it.
#[inline]
#[target_feature(enable = "neon,aes")]
fn prefix_xor(bits: u64) -> u64 {
    vmull_p64(bits, u64::MAX) as u64
}
