//! The one way in which words are mixed to hashes: by hand, so that no answer depends on a library or differs from run to run.

/// Mixes two words: the halves of their product.
#[inline(always)]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9E37_79B9_7F4A_7C15) * u128::from(b ^ 0xD6E8_FEB8_6659_FD93);
    (product as u64) ^ (product >> 64) as u64
}

/// A hash of 128 bits for what events have in common. It has no seed.
#[derive(Clone, Copy)]
pub(crate) struct KeyHash(pub(crate) [u64; 2]);

impl KeyHash {
    pub(crate) fn new(tag: u8) -> Self {
        KeyHash([u64::from(tag), u64::from(tag) << 32])
    }

    #[inline(always)]
    pub(crate) fn word(&mut self, word: u64) {
        let [a, b] = self.0;
        // the halves are independent: the second sees the words turned round
        self.0 = [mix(a, word), mix(b, !word.rotate_left(32))];
    }

    /// Takes bytes with a tag; the last word is there even if it holds none.
    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8], tag: u8) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
        self.word((bytes.len() as u64) << 8 | u64::from(tag));
    }
}
