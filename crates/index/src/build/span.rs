//! A slice with the locations of its begin and end events.
//!
//! Slices that are longer than the *look-back* T are listed in the section SPANS (see `spans`).

use crate::format::spans;
use crate::meta::level;
use std::cmp::{Ordering, Reverse};
use tracemill_trace::order::{Keyed, Order};
use tracemill_trace::record;

/// Level of slices without an end; greater than the level of any duration.
pub(super) const LEVEL_OPEN: u32 = 65;

/// Marks a thread without a row in the section LANES.
pub(super) const NO_THREAD: u32 = u32::MAX;

record! {
    /// Offset and checksum of an event.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct SummedPlace {
        pub(super) place: u64,
        pub(super) sum: u32,
    }
}

record! {
    /// A slice, a flow, or the time between two values of a counter.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct IndexedSpan {
        /// Kind, one of [`spans`].
        pub(super) kind: u8,
        pub(super) flags: u8,
        pub(super) thread: u32,
        /// Index of an async operation's track among the tracks that are not threads.
        pub(super) track: u32,
        /// Index of the name, or [`crate::format::bins::NO_NAME`].
        pub(super) name: u32,
        pub(super) start: i64,
        /// End in nanoseconds; [`i64::MAX`] if the slice has no end.
        pub(super) end: i64,
        pub(super) begin: SummedPlace,
        /// The end event, or the begin event if there is no end event.
        pub(super) last: SummedPlace,
    }
}

impl IndexedSpan {
    /// Returns the level of the duration. Slices above the level of the look-back T are listed in
    /// SPANS.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        match self.flags & spans::OPEN == 0 {
            true => level(self.end.abs_diff(self.start)),
            false => LEVEL_OPEN,
        }
    }
}

impl Keyed for IndexedSpan {
    /// Sort key that puts enclosing slices before enclosed slices.
    type Key = (u32, i64, Reverse<i64>, u64);

    fn key(&self) -> Self::Key {
        (self.thread, self.start, Reverse(self.end), self.begin.place)
    }

    fn tie(&self, other: &Self, _: Order<'_, '_>) -> Ordering {
        self.kind.cmp(&other.kind)
    }
}
