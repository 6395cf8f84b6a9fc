//! Metadata events with a number to sort them by.

use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::store::place::Place;

record! {
    /// A metadata event: what it is sorted by, and its number in the list.
    #[derive(Clone, Copy)]
    pub struct NumberedMetadata {
        /// What it is sorted by.
        pub key: u64,
        /// Its number in the list.
        pub number: u64,
        /// Where it is.
        pub place: Place,
    }
}

impl Keyed for NumberedMetadata {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.key, self.number)
    }
}
