//! Nibble tables: the class of a byte is `LOW[low nibble] & HIGH[high nibble]`; bits as in
//! [`class`](super::class).
//!
//! ```text
//!   `{` = 0x7B    HIGH[7] = BRACKET | LETTER_7     classes of bytes 0x7_
//!                 LOW[B]  = SIGN | BRACKET         classes of bytes 0x_B
//!                 both    = BRACKET
//! ```
//!
//! A shuffle looks up 16 to 64 bytes at once, so two shuffles and an AND classify a whole block.
//! Only sets that are products of nibbles can be represented; `class` chooses its sets accordingly.

use super::class::{BRACKET, COLON, DIGIT, LETTER_7, LETTER_46, SIGN, SPACE, SPACE_COMMA};

pub(super) const HIGH: [u8; 16] = {
    let mut table = [0; 16];
    table[0x0] = SPACE;
    table[0x2] = SPACE_COMMA | SIGN;
    table[0x3] = COLON | DIGIT;
    table[0x4] = LETTER_46;
    table[0x5] = BRACKET;
    table[0x6] = LETTER_46;
    table[0x7] = BRACKET | LETTER_7;
    table
};
pub(super) const LOW: [u8; 16] = {
    let mut table = [0; 16];
    let rows: [(u8, &[usize]); 8] = [
        (SPACE, &[0x9, 0xA, 0xD]),
        (SPACE_COMMA, &[0x0, 0xC]),
        (SIGN, &[0xB, 0xD, 0xE]),
        (COLON, &[0xA]),
        (DIGIT, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (LETTER_46, &[0x1, 0x5, 0x6, 0x9, 0xC, 0xE]),
        (BRACKET, &[0xB, 0xD]),
        (LETTER_7, &[0x2, 0x3, 0x4, 0x5, 0x9]),
    ];
    let mut row = 0;
    while row < rows.len() {
        let mut i = 0;
        while i < rows[row].1.len() {
            table[rows[row].1[i]] |= rows[row].0;
            i += 1;
        }
        row += 1;
    }
    table
};
