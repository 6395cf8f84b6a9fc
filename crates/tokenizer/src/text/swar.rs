//! Processes eight bytes at a time in a plain register. The first byte of the text is the lowest
//! byte of the word.
//!
//! Results are marks: the top bit of each matching byte. The lowest mark is correct; higher marks
//! may be wrong because of borrows and carries. So use only the lowest ([`first`]), or whether
//! there is any.
//!
//! Suited to short texts (names, numbers, strings), and available on every processor.
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

/// Word with a 1 in every byte.
const ONES: u64 = u64::MAX / 255;
/// Word with the top bit of every byte.
const TOPS: u64 = ONES << 7;

/// Marks the bytes that equal `byte`.
#[inline(always)]
pub fn equal_bytes(word: u64, byte: u8) -> u64 {
    let differences = word ^ (ONES * u64::from(byte));
    differences.wrapping_sub(ONES) & !differences & TOPS
}

/// Marks control characters (below 0x20).
#[inline(always)]
pub fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & TOPS
}

/// Returns the word with digits converted to 0 to 9, and marks for bytes that are not digits.
#[inline(always)]
pub fn digits(word: u64) -> (u64, u64) {
    // digits become 0 to 9, all else more; adding 128 − 10 sets the top bit of the latter
    let values = word ^ (ONES * u64::from(b'0'));
    (values, (values | values.wrapping_add(ONES * (128 - 10))) & TOPS)
}

/// Combines a word of eight digit values into a number; leading zeros are allowed.
#[inline(always)]
pub fn eight_digits(word: u64) -> u64 {
    // joins neighbors: digits to pairs, pairs to fours, fours to eight, in the upper half
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8);
    let every_other =
        |word: u64, factors: u64| (word & 0x0000_00FF_0000_00FF).wrapping_mul(factors);
    every_other(pairs, 100 + (1_000_000 << 32))
        .wrapping_add(every_other(pairs >> 16, 1 + (10_000 << 32)))
        >> 32
}

/// Returns the index of the first marked byte; 8 if none is marked.
#[inline(always)]
pub fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combines_eight_digits() {
        for number in (0..100_000_000).step_by(1_237).chain([9, 90, 99_999_999]) {
            let word =
                u64::from_le_bytes(format!("{number:08}").into_bytes().try_into().expect("8"));
            assert_eq!((digits(word).1, eight_digits(digits(word).0)), (0, number));
        }
    }

    /// Covers every byte at every index, between bytes that are likely to cause borrows and
    /// carries.
    #[test]
    fn lowest_mark_is_correct() {
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
