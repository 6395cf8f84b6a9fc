//! The portable tier: a table look-up a byte. The twin that every other tier is tested against.

use super::{BLOCK, Carry, Masks, Positions, Suspect, class, emit_portable, flatten_with};

const CLASS: [u8; 256] = {
    let mut table = [0u8; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'\t' | b'\n' | b'\r' => class::SPACE,
            b' ' | b',' => class::SPACE_COMMA,
            b'{' | b'}' | b'[' | b']' => class::BRACKET,
            b':' => class::COLON,
            b'+' | b'-' | b'.' => class::SIGN,
            b'0'..=b'9' => class::DIGIT,
            b'a' | b'e' | b'f' | b'i' | b'l' | b'n' => class::LETTER_46,
            b'A' | b'E' | b'F' | b'I' | b'L' | b'N' => class::LETTER_46,
            b'r' | b's' | b't' | b'u' | b'y' => class::LETTER_7,
            _ => 0,
        };
        byte += 1;
    }
    table
};

pub(super) fn flatten(window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
    flatten_with(window, carry, out, classify, prefix_xor, emit_portable)
}

fn classify(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks { quote: 0, backslash: 0, structural: 0, delimiter: 0, known: 0 };
    for (i, &byte) in block.iter().enumerate() {
        let class = CLASS[usize::from(byte)];
        masks.quote |= u64::from(byte == b'"') << i;
        masks.backslash |= u64::from(byte == b'\\') << i;
        masks.structural |= u64::from(class & class::STRUCTURAL != 0) << i;
        masks.delimiter |= u64::from(class & class::DELIMITER != 0) << i;
        masks.known |= u64::from(class != 0) << i;
    }
    masks
}

/// Bit i of the answer is the exclusive or of bits 0 to i.
pub(super) fn prefix_xor(mut bits: u64) -> u64 {
    for shift in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << shift;
    }
    bits
}

/// The classes of single bytes, for code that reads a byte at a time.
pub(crate) mod byte {
    use super::{CLASS, class};

    /// Structural, comma or white space: what may stand beside a quote.
    pub(crate) fn is_delimiter(byte: u8) -> bool {
        CLASS[usize::from(byte)] & class::DELIMITER != 0
    }

    /// A byte that can stand outside strings.
    pub(crate) fn is_known(byte: u8) -> bool {
        CLASS[usize::from(byte)] != 0
    }
}
