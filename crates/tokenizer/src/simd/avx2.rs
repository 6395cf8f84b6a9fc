//! AVX2: two 32-byte halves per block, classes by two nibble shuffles, strings by carry-less
//! multiply.

use super::blocks::{BLOCK, Carry, Masks, Positions, Suspect, emit_portable, flatten_with};
use super::marks::{TokenEnds, UsesMarks, mark_with};
use super::nesting::{Brackets, FOLD, container_len_with};
use super::words::words;
use super::{class, nibbles};
use std::arch::x86_64::*;

/// Passes the features of this tier to [`tier!`](super::tier::tier).
macro_rules! avx2 {
    ($($item:tt)*) => {
        $crate::simd::tier::tier! {
            ["avx2", "pclmulqdq", "bmi1", "bmi2", "lzcnt", "popcnt"]
            $($item)*
        }
    };
}
pub(super) use avx2;

avx2! {
    /// Proof that this processor has the features of this tier.
    struct Avx2: is_x86_feature_detected;

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
#[target_feature(enable = "avx2")]
fn token_ends(block: &[u8; BLOCK]) -> TokenEnds {
    let all = |byte: u8| _mm256_set1_epi8(byte as i8);
    let [low, high] = [0, 1].map(|half| {
        let bytes = load(&block.as_chunks::<32>().0[half]);
        // signed: controls are below the space, and so are bytes above 0x7F
        let odd = _mm256_or_si256(
            _mm256_cmpgt_epi8(all(b' '), bytes),
            _mm256_or_si256(
                _mm256_cmpeq_epi8(bytes, all(b'"')),
                _mm256_cmpeq_epi8(bytes, all(b'\\')),
            ),
        );
        let value = _mm256_sub_epi8(bytes, all(b'0'));
        let digit = _mm256_cmpeq_epi8(_mm256_min_epu8(value, all(9)), value);
        [_mm256_movemask_epi8(odd) as u32, !_mm256_movemask_epi8(digit) as u32]
    });
    let join = |at: usize| u64::from(low[at]) | u64::from(high[at]) << 32;
    TokenEnds { string: join(0), no_digits: join(1) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn brackets(block: &[u8; BLOCK]) -> Brackets {
    let halves = block.as_chunks::<32>().0;
    let halves = [load(&halves[0]), load(&halves[1])];
    let equal = |halves: [__m256i; 2], byte: u8| {
        let [low, high] = halves.map(|half| {
            _mm256_movemask_epi8(_mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8))) as u32
        });
        u64::from(low) | u64::from(high) << 32
    };
    let folded = halves.map(|half| _mm256_or_si256(half, _mm256_set1_epi8(FOLD as i8)));
    Brackets {
        quote: equal(halves, b'"'),
        backslash: equal(halves, b'\\'),
        open: equal(folded, b'{'),
        close: equal(folded, b'}'),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn classify(block: &[u8; BLOCK]) -> Masks {
    let halves = block.as_chunks::<32>().0;
    let (low, high) = (classify_half(&halves[0]), classify_half(&halves[1]));
    let join = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    Masks {
        quote: join(low[0], high[0]),
        backslash: join(low[1], high[1]),
        structural: join(low[2], high[2]),
        delimiter: join(low[3], high[3]),
        known: join(low[4], high[4]),
    }
}

/// Returns quotes, backslashes, structural bytes, delimiters and known bytes of half a block.
/// Quotes and backslashes are compared; the larger sets use classes (`nibbles`).
#[inline]
#[target_feature(enable = "avx2")]
fn classify_half(half: &[u8; 32]) -> [u32; 5] {
    let bytes = load(half);
    let low = broadcast(&nibbles::LOW);
    let high = broadcast(&nibbles::HIGH);
    let high_nibble = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), _mm256_set1_epi8(0x0F));
    // a shuffle index with its top bit set gives 0, so bytes above 0x7F have no class
    let class =
        _mm256_and_si256(_mm256_shuffle_epi8(low, bytes), _mm256_shuffle_epi8(high, high_nibble));
    let zero = _mm256_setzero_si256();
    let any = |bits: u8| {
        let hit = _mm256_and_si256(class, _mm256_set1_epi8(bits as i8));
        !_mm256_movemask_epi8(_mm256_cmpeq_epi8(hit, zero)) as u32
    };
    let equal = |byte: u8| {
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte as i8))) as u32
    };
    [equal(b'"'), equal(b'\\'), any(class::STRUCTURAL), any(class::DELIMITER), any(0xFF)]
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load(half: &[u8; 32]) -> __m256i {
    // the compiler merges these into one load; the intrinsic, which takes a pointer, gives the same
    // code
    let [a, b, c, d] = words(half);
    _mm256_setr_epi64x(a, b, c, d)
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn broadcast(table: &[u8; 16]) -> __m256i {
    let value = u128::from_le_bytes(*table);
    let (low, high) = (value as i64, (value >> 64) as i64);
    _mm256_setr_epi64x(low, high, low, high)
}

/// Returns the prefix XOR: bit i of the result is the XOR of bits 0 to i. A carry-less
/// multiplication by all ones computes it.
#[inline]
#[target_feature(enable = "pclmulqdq")]
pub(super) fn prefix_xor(bits: u64) -> u64 {
    let product = _mm_clmulepi64_si128::<0>(_mm_set_epi64x(0, bits as i64), _mm_set1_epi8(-1));
    _mm_cvtsi128_si64(product) as u64
}
