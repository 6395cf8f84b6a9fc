//! A filter that skips most events that no table refers to.

use tracemill_trace::spill::hash::mix;

/// A Bloom filter of keys: it may have keys that were not inserted.
pub(crate) struct BloomFilter(Vec<u64>);

/// Words of the filter: 1 MiB.
const WORDS: usize = 1 << 17;

impl Default for BloomFilter {
    fn default() -> Self {
        BloomFilter(vec![0; WORDS])
    }
}

impl BloomFilter {
    fn slot<const N: usize>(key: [u64; N]) -> (usize, u64) {
        let hash = key.into_iter().reduce(mix).unwrap_or(0);
        ((hash >> 6) as usize % WORDS, 1 << (hash & 63))
    }

    pub(crate) fn insert<const N: usize>(&mut self, key: [u64; N]) {
        let (word, bit) = BloomFilter::slot(key);
        self.0[word] |= bit;
    }

    pub(crate) fn has<const N: usize>(&self, key: [u64; N]) -> bool {
        let (word, bit) = BloomFilter::slot(key);
        self.0[word] & bit != 0
    }
}
