//! What stays of an event: 48 bytes until it is paired, 32 bytes as an interval of a row.

use std::cmp::Reverse;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;

/// The place of what no event stands for.
pub(crate) const NO_PLACE: u64 = u64::MAX;
/// An interval whose end was not found: it lasts to the end of the trace.
pub(crate) const OPEN: u16 = 1;
/// An interval that lies in a row for what overlaps without nesting.
pub(crate) const OVERFLOW: u16 = 4;

record! {
    /// One end of an interval, to be paired with the other.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Mark {
        /// Marks of other groups are never paired: a lane, or a hash of what names an async operation.
        pub(crate) group: u64,
        pub(crate) ts: i64,
        /// Offset of the event among all inputs, which orders marks of one time.
        pub(crate) place: u64,
        /// Hash of the name; 0 if there is none.
        pub(crate) pair: u64,
        pub(crate) lane: u32,
        pub(crate) name: u32,
        pub(crate) phase: u8,
    }
}

record! {
    /// An interval, a moment (no duration), or a sample of a counter (its duration is the bits of its value).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Span {
        pub(crate) start: i64,
        pub(crate) dur: i64,
        /// Offset of its event, or of that which begins it, among all inputs.
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

    /// The value of a counter's sample.
    pub(crate) fn value(&self) -> f64 {
        f64::from_bits(self.dur as u64)
    }
}

/// A span of a lane, by time.
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
