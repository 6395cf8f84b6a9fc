//! A small cache of recent lookups with short keys, since most events come from a few threads.
//!
//! ```text
//!   pid 4711, tid 12  ─ two words ─ hash ─> slot 0 … 63 ─ same words? ─> number
//!                       7 bytes, length                 └ no ─> lookup in the full table, then put
//! ```
//!
//! The cache forgets keys, so a full table must back it. Cost of a hit: a multiplication and a
//! comparison.
//!
//! ```
//! use tracemill_trace::store::direct_mapped::{DirectMappedCache, SmallKey};
//!
//! let mut recent = DirectMappedCache::default();
//! let key = SmallKey::of(b"4711", b"12").expect("both are short");
//! assert_eq!(recent.get(key), None);
//! recent.put(key, 3);
//! assert_eq!(recent.get(key), Some(3));
//! assert_ne!(SmallKey::of(b"1", b"12"), SmallKey::of(b"11", b"2"));
//! assert_eq!(SmallKey::of(b"12345678", b"1"), None); // these go to the table
//! ```

use crate::spill::hash::mix;

const SLOTS: usize = 64;

/// Two values of up to seven bytes with their lengths, or one value and a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallKey(u64, u64);

impl SmallKey {
    /// Creates a key from two values. Returns `None` if a value has more than seven bytes.
    #[inline(always)]
    pub fn of(first: &[u8], second: &[u8]) -> Option<Self> {
        Some(SmallKey(word(first)?, word(second)?))
    }

    /// Creates a key from a value and a number. Returns `None` if the value has more than seven
    /// bytes.
    #[inline(always)]
    pub fn numbered(value: &[u8], number: usize) -> Option<Self> {
        Some(SmallKey(word(value)?, number as u64))
    }

    #[inline(always)]
    fn slot(self) -> usize {
        mix(self.0 ^ self.1.rotate_left(32), 0) as usize % SLOTS
    }
}

/// The numbers of recent keys. A key replaces another key in the same slot.
pub struct DirectMappedCache([(SmallKey, usize); SLOTS]);

impl Default for DirectMappedCache {
    fn default() -> Self {
        // no key has these words
        DirectMappedCache([(SmallKey(u64::MAX, u64::MAX), 0); SLOTS])
    }
}

impl DirectMappedCache {
    /// Returns the number of a key, if it is cached.
    #[inline(always)]
    pub fn get(&self, words: SmallKey) -> Option<usize> {
        let slot = self.0[words.slot()];
        (slot.0 == words).then_some(slot.1)
    }

    /// Caches the number of a key.
    pub fn put(&mut self, words: SmallKey, number: usize) {
        self.0[words.slot()] = (words, number);
    }
}

/// Packs up to seven bytes and their length into a word.
#[inline(always)]
fn word(bytes: &[u8]) -> Option<u64> {
    let len = bytes.len();
    if len > 7 {
        return None;
    }
    let text = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        // the first four and the last four bytes overlap
        (Some(&first), Some(&last)) => {
            let [first, last] = [first, last].map(|word| u64::from(u32::from_le_bytes(word)));
            first | last << (8 * (len - 4))
        }
        _ => bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    Some(text | (len as u64) << 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cache_returns_the_last_number_put() {
        let values = ["", "0", "00", "1234567", "\"a\"", "12345678"].map(str::as_bytes);
        let pairs = || values.iter().flat_map(|a| values.map(|b| (*a, b)));
        let mut recent = DirectMappedCache::default();
        for (number, (a, b)) in pairs().enumerate() {
            let words = SmallKey::of(a, b);
            assert_eq!(words.is_some(), a.len() < 8 && b.len() < 8, "{a:?} {b:?}");
            let Some(words) = words else { continue };
            assert_eq!(recent.get(words), None);
            recent.put(words, number);
            assert_eq!(recent.get(words), Some(number));
        }
        let kept = pairs().enumerate().filter(|&(number, (a, b))| {
            let found = SmallKey::of(a, b).and_then(|words| recent.get(words));
            found.inspect(|&found| assert_eq!(found, number)).is_some()
        });
        assert!(kept.count() > 10);
    }
}
