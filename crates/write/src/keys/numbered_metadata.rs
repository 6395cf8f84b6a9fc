//! Metadata events with a sort key.

use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::store::place::Place;

record! {
    /// A metadata event with its sort key and its number in the list.
    #[derive(Clone, Copy)]
    pub struct NumberedMetadata {
        /// The sort key.
        pub key: u64,
        /// The number in the list, which breaks ties.
        pub number: u64,
        /// The location of the event.
        pub place: Place,
    }
}

impl Keyed for NumberedMetadata {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (self.key, self.number)
    }
}
