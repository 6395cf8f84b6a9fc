//! The one way in which words are mixed to hashes: by hand, so that no answer depends on a library or differs from run to run.

/// Mixes two words: the halves of their product.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}
