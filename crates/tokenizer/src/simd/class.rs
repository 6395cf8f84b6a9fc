//! Classes of bytes, for single bytes and for whole blocks.
//!
//! A table by nibbles cannot name every set, so `A F L` count as letters of literals too: they are letters of no key
//! that matters, and all tiers agree on it.

/// tab, line feed, carriage return
pub(super) const SPACE: u8 = 1 << 0;
/// space and comma
pub(super) const SPACE_COMMA: u8 = 1 << 1;
/// `[ ] { }`
pub(super) const BRACKET: u8 = 1 << 2;
/// `:`
pub(super) const COLON: u8 = 1 << 3;
/// `+ - .`
pub(super) const SIGN: u8 = 1 << 4;
/// `0`–`9`
pub(super) const DIGIT: u8 = 1 << 5;
/// `a e f i l n` and their capitals
pub(super) const LETTER_46: u8 = 1 << 6;
/// `r s t u y`
pub(super) const LETTER_7: u8 = 1 << 7;

pub(super) const STRUCTURAL: u8 = BRACKET | COLON;
pub(super) const DELIMITER: u8 = STRUCTURAL | SPACE | SPACE_COMMA;

/// The class of every byte.
pub(super) const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\t' | b'\n' | b'\r' => SPACE,
            b' ' | b',' => SPACE_COMMA,
            b'{' | b'}' | b'[' | b']' => BRACKET,
            b':' => COLON,
            b'+' | b'-' | b'.' => SIGN,
            b'0'..=b'9' => DIGIT,
            b'a' | b'e' | b'f' | b'i' | b'l' | b'n' => LETTER_46,
            b'A' | b'E' | b'F' | b'I' | b'L' | b'N' => LETTER_46,
            b'r' | b's' | b't' | b'u' | b'y' => LETTER_7,
            _ => 0,
        };
        byte += 1;
    }
    table
};

/// Structural, comma or white space: what may stand beside a quote.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    CLASS[usize::from(byte)] & DELIMITER != 0
}

/// A byte that can stand outside strings.
pub(crate) fn is_known(byte: u8) -> bool {
    CLASS[usize::from(byte)] != 0
}
