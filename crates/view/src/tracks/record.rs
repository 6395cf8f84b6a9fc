//! Records of events: 48 bytes for an unpaired end, 32 bytes for an interval in a row.

use std::cmp::Reverse;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;

/// Offset of intervals without an event, such as calls.
pub(crate) const NO_PLACE: u64 = u64::MAX;
/// Flag of an open slice, which extends to the end of the trace.
pub(crate) const OPEN: u16 = 1;
/// Flag of an interval in a row of overlapping intervals.
pub(crate) const OVERFLOW: u16 = 4;

record! {
    /// One end of an interval, to be paired with the other.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Mark {
        /// Pairing group: a lane, or a hash that identifies an async operation.
        pub(crate) group: u64,
        pub(crate) ts: i64,
        /// Offset of the event in the address space, which orders marks of equal time.
        pub(crate) place: u64,
        /// Hash of the name; 0 without a name.
        pub(crate) pair: u64,
        pub(crate) lane: u32,
        pub(crate) name: u32,
        pub(crate) phase: u8,
    }
}

record! {
    /// An interval, an instant (zero duration), or a sample of a counter (`dur` holds the bits of
    /// its value).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Span {
        pub(crate) start: i64,
        pub(crate) dur: i64,
        /// Offset of the event, or of its begin event, in the address space.
        pub(crate) place: u64,
        pub(crate) name: u32,
        pub(crate) row: u16,
        pub(crate) flags: u16,
    }
}

impl Span {
    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add(self.dur)
    }

    pub(crate) fn value(&self) -> f64 {
        f64::from_bits(self.dur as u64)
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Timed(pub(crate) u32, pub(crate) Span);

record! { impl Timed { 0: u32, 1: Span } }

impl Keyed for Mark {
    type Key = (u64, i64, u64);

    fn key(&self) -> Self::Key {
        (self.group, self.ts, self.place)
    }
}

impl Keyed for Timed {
    type Key = (u32, i64, Reverse<i64>, u64);

    fn key(&self) -> Self::Key {
        (self.0, self.1.start, Reverse(self.1.dur), self.1.place)
    }
}
