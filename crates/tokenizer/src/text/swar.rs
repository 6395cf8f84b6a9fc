//! Eight bytes at a time in a plain register, little-endian: the first byte of the text is the lowest of the word.
//!
//! What is asked for is marked by the top bit of its byte. The lowest mark is right; above it a byte may be marked that is none,
//! since a borrow or carry went into it. So only the lowest counts ([`first`]), or whether there is any.
//!
//! For short things (names, numbers, strings), for which vectors are too wide, and on every processor: it needs no instruction that one may lack.
//!
//! ```
//! use tracemill_tokenizer::swar::{digits, equal_bytes, first};
//!
//! let word = u64::from_le_bytes(*b"125,a\"x\"");
//! assert_eq!(first(equal_bytes(word, b'"')), 5);
//! assert_eq!(first(digits(word).1), 3); // so three digits stand in front
//! assert_eq!(digits(word).0.to_le_bytes()[..3], [1, 2, 5]);
//! assert_eq!(first(equal_bytes(word, b'?')), 8);
//! ```

/// A 1 in every byte of a word.
const ONES: u64 = u64::MAX / 255;
/// The top bit of every byte of a word.
const TOPS: u64 = ONES << 7;

/// Marks the bytes that are `byte`.
#[inline(always)]
pub fn equal_bytes(word: u64, byte: u8) -> u64 {
    let differences = word ^ (ONES * u64::from(byte));
    differences.wrapping_sub(ONES) & !differences & TOPS
}

/// Marks control characters: the bytes below 0x20.
#[inline(always)]
pub fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & TOPS
}

/// The word with 0 to 9 for digits, and the marks of the bytes that are none.
#[inline(always)]
pub fn digits(word: u64) -> (u64, u64) {
    // digits become 0 to 9, everything else more: with what is missing to 128 the top bit tells
    let values = word ^ (ONES * u64::from(b'0'));
    (values, (values | values.wrapping_add(ONES * (128 - 10))) & TOPS)
}

/// The number that a word of eight digits, 0 to 9 each, says; zeros may stand before it.
#[inline(always)]
pub fn eight_digits(word: u64) -> u64 {
    // neighbours are joined: digits to pairs, and these to fours and to all, in the upper half
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let every_other =
        |word: u64, factors: u64| (word & 0x0000_00FF_0000_00FF).wrapping_mul(factors);
    every_other(pairs, 100 + (1_000_000 << 32))
        .wrapping_add(every_other(pairs >> 16, 1 + (10_000 << 32)))
        >> 32
}

/// The place of the first byte that is marked; 8 if none is.
#[inline(always)]
pub fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_digits_are_a_number() {
        for number in (0..100_000_000).step_by(1_237).chain([9, 90, 99_999_999]) {
            let word =
                u64::from_le_bytes(format!("{number:08}").into_bytes().try_into().expect("8"));
            assert_eq!((digits(word).1, eight_digits(digits(word).0)), (0, number));
        }
    }

    /// Every byte at every place, between bytes that are likely to borrow and carry.
    #[test]
    fn the_lowest_mark_is_right() {
        for byte in 0..=u8::MAX {
            for around in [0, 1, b'0', b'9', b'"', b'x', 0x7F, 0x80, 0xFF] {
                for at in 0..8 {
                    let mut bytes = [around; 8];
                    bytes[at] = byte;
                    let word = u64::from_le_bytes(bytes);
                    let place = |is: &dyn Fn(u8) -> bool| {
                        bytes.iter().position(|&byte| is(byte)).unwrap_or(8)
                    };
                    assert_eq!(first(equal_bytes(word, b'"')), place(&|byte| byte == b'"'));
                    assert_eq!(first(controls(word)), place(&|byte| byte < 0x20), "{bytes:?}");
                    let others = digits(word).1;
                    assert_eq!(first(others), place(&|byte| !byte.is_ascii_digit()), "{bytes:?}");
                }
            }
        }
    }
}
