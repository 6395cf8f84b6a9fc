//! Converts bytes to words, from which vectors are built without pointers; the compiler merges them
//! into one load.

/// Converts bytes to the words of a vector.
#[inline(always)]
pub(super) fn words<const BYTES: usize, const WORDS: usize>(bytes: &[u8; BYTES]) -> [i64; WORDS] {
    const { assert!(BYTES == 8 * WORDS) };
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = i64::from_le_bytes(*bytes);
    }
    words
}
