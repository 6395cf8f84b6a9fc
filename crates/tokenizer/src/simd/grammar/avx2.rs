//! AVX2: two 32-byte halves per block, one comparison per class.

use super::claims::Claim;
use super::masks::{Classes, SPACES};
use crate::simd::avx2::{Avx2, avx2, broadcast, load, prefix_xor};
use crate::simd::blocks::BLOCK;
use std::arch::x86_64::*;

avx2! {
    impl Avx2;

    fn prove<C: Claim>(claim: C) -> C::Proven {
        claim.prove(|block| classify(block), |bits| prefix_xor(bits))
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn classify(block: &[u8; BLOCK]) -> Classes {
    let halves = block.as_chunks::<32>().0;
    let (low, high) = (classify_half(&halves[0]), classify_half(&halves[1]));
    let join = |class: usize| u64::from(low[class]) | u64::from(high[class]) << 32;
    Classes {
        quote: join(0),
        backslash: join(1),
        control: join(2),
        non_ascii: join(3),
        open: join(4),
        close: join(5),
        curly: join(6),
        comma: join(7),
        colon: join(8),
        space: join(9),
        digit: join(10),
        zero: join(11),
    }
}

/// Returns the classes in the order of [`Classes`].
#[inline]
#[target_feature(enable = "avx2")]
fn classify_half(half: &[u8; 32]) -> [u32; 12] {
    let bytes = load(half);
    let all = |byte: u8| _mm256_set1_epi8(byte as i8);
    let mask = |vector: __m256i| _mm256_movemask_epi8(vector) as u32;
    let equal = |byte: u8| mask(_mm256_cmpeq_epi8(bytes, all(byte)));
    // unsigned comparison: a byte is at most another if it is the minimum of both
    let at_most = |a: __m256i, b: u8| mask(_mm256_cmpeq_epi8(_mm256_min_epu8(a, all(b)), a));
    // `[` and `{`, and `]` and `}`, differ in one bit
    let joined = _mm256_or_si256(bytes, all(0x20));
    let bracket = |byte: u8| mask(_mm256_cmpeq_epi8(joined, all(byte)));
    [
        equal(b'"'),
        equal(b'\\'),
        at_most(bytes, 0x1F),
        mask(bytes),
        bracket(b'{'),
        bracket(b'}'),
        // the bit that distinguishes the brackets, moved to the top of its byte
        mask(_mm256_slli_epi16::<2>(bytes)),
        equal(b','),
        equal(b':'),
        mask(_mm256_cmpeq_epi8(_mm256_shuffle_epi8(broadcast(&SPACES), bytes), bytes)),
        at_most(_mm256_sub_epi8(bytes, all(b'0')), 9),
        equal(b'0'),
    ]
}
