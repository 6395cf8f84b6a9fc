//! AVX-512: one load, one table permutation and one compress per block.
#![expect(unsafe_code, reason = "a vector store")]

use super::blocks::{BLOCK, Carry, Masks, Positions, Suspect, flatten_with};
use super::marks::{TokenEnds, UsesMarks, mark_with};
use super::nesting::{Brackets, FOLD, container_len_with};
use super::words::words;
use super::{class, nibbles};
use std::arch::x86_64::*;

/// Passes the features of this tier to [`tier!`](super::tier::tier).
macro_rules! avx512 {
    ($($item:tt)*) => {
        $crate::simd::tier::tier! {
            [
                "avx512f", "avx512bw", "avx512vbmi", "avx512vbmi2", "pclmulqdq", "bmi1", "bmi2",
                "lzcnt", "popcnt",
            ]
            $($item)*
        }
    };
}
pub(super) use avx512;

avx512! {
    /// Proof that this processor has the features of this tier.
    struct Avx512: is_x86_feature_detected;

    fn flatten(window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
        flatten_with(
            window,
            carry,
            out,
            |block| classify(block),
            |bits| prefix_xor(bits),
            |mask, base, slot| emit(mask, base, slot),
        )
    }

    fn container_len(bytes: &[u8]) -> Option<usize> {
        container_len_with(bytes, |block| brackets(block), |bits| prefix_xor(bits))
    }

    fn with_marks<C: UsesMarks>(code: C) -> C::Output {
        code.run(|window, marks| mark_with(window, marks, |block| token_ends(block)))
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn token_ends(block: &[u8; BLOCK]) -> TokenEnds {
    let bytes = load(block);
    let all = |byte: u8| _mm512_set1_epi8(byte as i8);
    // signed: controls are below the space, and so are bytes above 0x7F
    let odd = _mm512_cmplt_epi8_mask(bytes, all(b' '))
        | _mm512_cmpeq_epi8_mask(bytes, all(b'"'))
        | _mm512_cmpeq_epi8_mask(bytes, all(b'\\'));
    let value = _mm512_sub_epi8(bytes, all(b'0'));
    TokenEnds { string: odd, no_digits: _mm512_cmpgt_epu8_mask(value, all(9)) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn brackets(block: &[u8; BLOCK]) -> Brackets {
    let bytes = load(block);
    let folded = _mm512_or_si512(bytes, _mm512_set1_epi8(FOLD as i8));
    let equal = |bytes, byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    Brackets {
        quote: equal(bytes, b'"'),
        backslash: equal(bytes, b'\\'),
        open: equal(folded, b'{'),
        close: equal(folded, b'}'),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn classify(block: &[u8; BLOCK]) -> Masks {
    let bytes = load(block);
    let low = _mm512_broadcast_i32x4(table(&nibbles::LOW));
    let high = _mm512_broadcast_i32x4(table(&nibbles::HIGH));
    let high_nibble = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(0x0F));
    // a shuffle index with its top bit set gives 0, so bytes above 0x7F have no class
    let class =
        _mm512_and_si512(_mm512_shuffle_epi8(low, bytes), _mm512_shuffle_epi8(high, high_nibble));
    let any = |bits: u8| _mm512_test_epi8_mask(class, _mm512_set1_epi8(bits as i8));
    let equal = |byte: u8| _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte as i8));
    Masks {
        quote: equal(b'"'),
        backslash: equal(b'\\'),
        structural: any(class::STRUCTURAL),
        delimiter: any(class::DELIMITER),
        known: any(0xFF),
    }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(super) fn table(nibbles: &[u8; 16]) -> __m128i {
    let value = u128::from_le_bytes(*nibbles);
    _mm_set_epi64x((value >> 64) as i64, value as i64)
}

/// Returns the prefix XOR: bit i of the result is the XOR of bits 0 to i. A carry-less
/// multiplication by all ones computes it.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn prefix_xor(bits: u64) -> u64 {
    let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits as i64), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product) as u64
}

/// Writes the positions of the set bits, plus `base`. Compresses the numbers 0 to 63 by the mask
/// and widens them to 16 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
fn emit(mask: u64, base: u16, out: &mut [u16; BLOCK]) {
    const NUMBERS: [u8; BLOCK] = {
        let mut numbers = [0; BLOCK];
        let mut i = 0;
        while i < BLOCK {
            numbers[i] = i as u8;
            i += 1;
        }
        numbers
    };
    let packed = _mm512_maskz_compress_epi8(mask, load(&NUMBERS));
    let base = _mm512_set1_epi16(base as i16);
    let first = _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed)), base);
    let halves = out.as_chunks_mut::<32>().0;
    store(&mut halves[0], first);
    if mask.count_ones() > 32 {
        let rest = _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64::<1>(packed));
        let rest = _mm512_add_epi16(rest, base);
        store(&mut halves[1], rest);
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn load(block: &[u8; BLOCK]) -> __m512i {
    // the compiler merges these into one load; the intrinsic, which takes a pointer, gives the same
    // code
    let [a, b, c, d, e, f, g, h] = words(block);
    _mm512_setr_epi64(a, b, c, d, e, f, g, h)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(half: &mut [u16; 32], numbers: __m512i) {
    // SAFETY: `half` is valid for writes of 32 × 2 bytes; the store has no alignment requirement.
    unsafe { _mm512_storeu_si512(half.as_mut_ptr().cast(), numbers) }
}
