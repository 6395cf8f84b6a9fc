//! Ids and names as 64-bit hashes: equal values of one type have one hash, however they are spelled.
//!
//! Types are strict (`5` is not `"5"`), as in DevTools. Hashes instead of texts keep memory bounded by the number of
//! threads; two of a million ids collide with a probability of 10⁻⁷. The hash has no seed, so that answers do not differ
//! from run to run (contract C4).

use tracemill_tokenizer::{canonical, unescape};

/// Mixes two words: the halves of their product.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}

#[inline]
pub(super) fn hash_bytes(bytes: &[u8], tag: u64) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut hash = mix(tag, bytes.len() as u64);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    mix(hash, u64::from_le_bytes(last))
}

/// The hash of a JSON value; a missing one is a value too.
#[inline]
pub(super) fn hash_value(value: Option<&[u8]>) -> u64 {
    match value {
        Some(digits) if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) => {
            hash_bytes(digits, 1)
        }
        Some([b'"', content @ .., b'"']) if !content.contains(&b'\\') => hash_bytes(content, 2),
        value => hash_slowly(value),
    }
}

#[cold]
fn hash_slowly(value: Option<&[u8]>) -> u64 {
    let mut plain = Vec::new();
    match value {
        None => 0,
        Some([b'"', content @ .., b'"']) => {
            unescape(content, &mut plain);
            hash_bytes(&plain, 2)
        }
        Some(value) if canonical(value, &mut plain) => match whole(&plain) {
            Some(digits) => hash_bytes(&digits, 1),
            None => hash_bytes(&plain, 3),
        },
        Some(value) => hash_bytes(value, 4),
    }
}

/// The digits of a canonical number (`12e3` is 120: digits, then how many stand before the point) if it is a whole one,
/// not negative and not huge.
pub(crate) fn whole(canonical: &[u8]) -> Option<Vec<u8>> {
    const MOST: usize = 400;
    if canonical == b"0" {
        return Some(b"0".to_vec());
    }
    let at = canonical.iter().position(|&b| b == b'e')?;
    let (digits, magnitude) = (&canonical[..at], &canonical[at + 1..]);
    let magnitude: usize = std::str::from_utf8(magnitude).ok()?.parse().ok()?;
    let fits = digits[0] != b'-' && magnitude >= digits.len() && magnitude <= MOST;
    fits.then(|| {
        let mut digits = digits.to_vec();
        digits.resize(magnitude, b'0');
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_of_one_type_have_one_hash() {
        let hash = |text: &str| hash_value(Some(text.as_bytes()));
        for (a, b) in [("100", "1e2"), ("0", "-0.0"), ("-5", "-5.0"), ("1.5", "15e-1")] {
            assert_eq!(hash(a), hash(b), "{a} {b}");
        }
        assert_eq!(hash("\"a\""), hash("\"\\u0061\""));
        let all =
            ["1", "\"1\"", "10", "-1", "0.1", "null", "\"\"", "\"a\"", "123456789", "12345678"];
        for (i, a) in all.iter().enumerate() {
            assert_ne!(hash(a), hash_value(None));
            assert!(all[..i].iter().all(|b| hash(a) != hash(b)), "{a}");
        }
    }
}
