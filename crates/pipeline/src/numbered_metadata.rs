//! Metadata events with a number to sort them by.

use tracemill_core::order::Keyed;
use tracemill_core::place::Place;
use tracemill_core::spill::{Record, word};

/// A metadata event: what it is sorted by, and its number in the list.
#[derive(Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) key: u64,
    pub(crate) number: u64,
    pub(crate) place: Place,
}

impl Record for Listed {
    const BYTES: usize = 24;

    fn encode(&self, bytes: &mut [u8]) {
        let words = [self.key, self.number, self.place.0];
        for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
    }

    fn decode(bytes: &[u8]) -> Self {
        Listed { key: word(bytes, 0), number: word(bytes, 8), place: Place(word(bytes, 16)) }
    }
}

impl Keyed for Listed {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.key, self.number)
    }
}
