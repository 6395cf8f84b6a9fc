//! Classes of bytes, for single bytes and for whole blocks.
//!
//! Nibble tables cannot represent every set, so `A F L` also count as letters of literals. No
//! relevant key contains them, and all tiers agree.

/// Tab, line feed and carriage return.
pub(super) const SPACE: u8 = 1 << 0;
/// Blank and comma.
pub(super) const SPACE_COMMA: u8 = 1 << 1;
/// `[ ] { }`.
pub(super) const BRACKET: u8 = 1 << 2;
/// `:`.
pub(super) const COLON: u8 = 1 << 3;
/// `+ - .`.
pub(super) const SIGN: u8 = 1 << 4;
/// `0` to `9`.
pub(super) const DIGIT: u8 = 1 << 5;
/// `a e f i l n` and their capitals.
pub(super) const LETTER_46: u8 = 1 << 6;
/// `r s t u y`.
pub(super) const LETTER_7: u8 = 1 << 7;

pub(super) const STRUCTURAL: u8 = BRACKET | COLON;
pub(super) const DELIMITER: u8 = STRUCTURAL | SPACE | SPACE_COMMA;

/// Class of every byte.
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

/// Returns whether a byte is structural, a comma or white space: the bytes allowed next to a quote.
pub(crate) fn is_delimiter(byte: u8) -> bool {
    CLASS[usize::from(byte)] & DELIMITER != 0
}

/// Returns whether a byte may occur outside strings.
pub(crate) fn is_known(byte: u8) -> bool {
    CLASS[usize::from(byte)] != 0
}
