//! AVX-512: one comparison per class, straight into a mask.

use super::claims::Claim;
use super::masks::{Classes, SPACES};
use crate::simd::avx512::{Avx512, avx512, load, prefix_xor, table};
use crate::simd::blocks::BLOCK;
use std::arch::x86_64::*;

avx512! {
    impl Avx512;

    fn prove<C: Claim>(claim: C) -> C::Proven {
        claim.prove(|block| classify(block), |bits| prefix_xor(bits))
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn classify(block: &[u8; BLOCK]) -> Classes {
    let bytes = load(block);
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, all(byte));
    // `[` and `{`, and `]` and `}`, differ in one bit
    let joined = _mm512_or_si512(bytes, all(0x20));
    let bracket = |byte: u8| _mm512_cmpeq_epi8_mask(joined, all(byte));
    let digits = _mm512_sub_epi8(bytes, all(b'0'));
    let spaces = _mm512_broadcast_i32x4(table(&SPACES));
    Classes {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        control: _mm512_cmplt_epu8_mask(bytes, all(0x20)),
        non_ascii: _mm512_movepi8_mask(bytes),
        open: bracket(b'{'),
        close: bracket(b'}'),
        curly: _mm512_test_epi8_mask(bytes, all(0x20)),
        comma: equal(b','),
        colon: equal(b':'),
        space: _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(spaces, bytes), bytes),
        digit: _mm512_cmplt_epu8_mask(digits, all(10)),
        zero: equal(b'0'),
    }
}
