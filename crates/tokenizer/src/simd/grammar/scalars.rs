//! Checks tokens that masks cannot prove: numbers with a sign, fraction or exponent, words,
//! escapes.
//!
//! They are few, so the byte-by-byte reader checks them with its own code. Each number or word is
//! read once, even if it spans blocks.

use crate::text::reader::scalar_len;

/// Returns the offset after the number or word at `start`, if it is valid and properly delimited.
#[inline]
pub(super) fn scalar_end(bytes: &[u8], start: usize) -> Option<usize> {
    let end = start + scalar_len(&bytes[start..])?;
    let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
    bytes.get(end).is_none_or(ends).then_some(end)
}

/// Returns whether the escaped bytes of a block, given as bits, form valid JSON escapes.
pub(super) fn are_escapes(bytes: &[u8], base: usize, mut escaped: u64) -> bool {
    while escaped != 0 {
        let at = base + escaped.trailing_zeros() as usize;
        escaped &= escaped - 1;
        let sound = match bytes.get(at) {
            Some(b'/' | b'b' | b'f' | b'n' | b'r' | b't') => true,
            Some(b'u') => {
                let digits = bytes[at + 1..].first_chunk::<4>();
                digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            }
            _ => false,
        };
        if !sound {
            return false;
        }
    }
    true
}
