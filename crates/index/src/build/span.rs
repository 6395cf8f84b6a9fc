//! An interval with the places of its ends.

use crate::format::spans;
use crate::meta::level;
use std::cmp::{Ordering, Reverse};
use tracemill_trace::order::{Keyed, Order};
use tracemill_trace::record;

/// The level of what never ends.
pub(super) const LEVEL_OPEN: u32 = 65;

/// The thread of an event that no row of LANES has.
pub(super) const NO_THREAD: u32 = u32::MAX;

record! {
    /// Where an event stands, and its checksum.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct SummedPlace {
        pub(super) place: u64,
        pub(super) sum: u32,
    }
}

record! {
    /// An interval.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct IndexedSpan {
        /// One of [`spans`].
        pub(super) kind: u8,
        pub(super) flags: u8,
        pub(super) thread: u32,
        /// Of an operation its track, among those that are no threads.
        pub(super) track: u32,
        /// The number of the name, or [`crate::format::bins::NO_NAME`].
        pub(super) name: u32,
        pub(super) start: i64,
        /// [`i64::MAX`] if it never ends.
        pub(super) end: i64,
        pub(super) begin: SummedPlace,
        /// What it begins with, where no event ends it.
        pub(super) last: SummedPlace,
    }
}

impl IndexedSpan {
    /// It is longer than T if this is more than that of T.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        match self.flags & spans::OPEN == 0 {
            true => level(self.end.abs_diff(self.start)),
            false => LEVEL_OPEN,
        }
    }
}

impl Keyed for IndexedSpan {
    /// What encloses stands before what it encloses.
    type Key = (u32, i64, Reverse<i64>, u64);

    fn key(&self) -> Self::Key {
        (self.thread, self.start, Reverse(self.end), self.begin.place)
    }

    fn tie(&self, other: &Self, _: Order<'_, '_>) -> Ordering {
        self.kind.cmp(&other.kind)
    }
}
