//! Records of events: 48 bytes for a begin or end that is not paired yet, and 32 bytes for an
//! interval in a row.

use std::cmp::Reverse;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;

/// Offset of an interval that has no event.
pub(crate) const NO_PLACE: u64 = u64::MAX;
/// Offset of a call whose source location has name number 0; those of other calls follow.
const CALLS: u64 = 1 << 63;

/// Returns the offset of a call, which has no event, from the number of its source location.
pub(crate) fn place_of_call(location: u32) -> u64 {
    CALLS + u64::from(location)
}

/// Returns an offset as the page reads it. -1 is no event, and -2 − n for a call whose
/// location has name number n.
pub(crate) fn place_number(place: u64) -> f64 {
    match place {
        NO_PLACE => -1.0,
        CALLS.. => -2.0 - (place - CALLS) as f64,
        _ => place as f64,
    }
}

/// Returns the offset that the page reads as `number`.
pub(crate) fn place_of_number(number: i64) -> u64 {
    match u64::try_from(number) {
        Ok(place) => place,
        Err(_) => number.checked_add(2).map_or(NO_PLACE, |number| match number {
            1 => NO_PLACE,
            _ => CALLS.saturating_add(number.unsigned_abs()),
        }),
    }
}
/// Flag of an interval without an end, which is drawn to the end of the trace.
pub(crate) const OPEN: u16 = 1;
/// Flag of an interval in a row for intervals that overlap others without nesting.
pub(crate) const OVERFLOW: u16 = 4;

/// Returns the flags of an interval with a colour. The number of the colour follows three flags.
pub(crate) fn colored(color: u8) -> u16 {
    u16::from(color) << 3
}

record! {
    /// The begin or end event of an interval, before the two events are paired. Also a point of a
    /// flow.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Mark {
        /// The index of a lane (track), or a hash that identifies an async operation. Begin and end
        /// events with the same group are paired.
        pub(crate) group: u64,
        pub(crate) ts: i64,
        /// Offset of the event in the address space of all inputs. It orders marks with equal
        /// times.
        pub(crate) place: u64,
        /// Hash of the name; 0 if there is no name.
        pub(crate) pair: u64,
        pub(crate) lane: u32,
        pub(crate) name: u32,
        pub(crate) phase: u8,
        /// Number of the colour of a begin event; 0 if there is none.
        pub(crate) color: u8,
    }
}

record! {
    /// An interval, an instant (whose duration is zero), or a sample of a counter (whose `dur` has
    /// the bits of the value).
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Span {
        pub(crate) start: i64,
        pub(crate) dur: i64,
        /// Offset of the event, or of its begin event, in the address space of all inputs.
        pub(crate) place: u64,
        pub(crate) name: u32,
        pub(crate) row: u16,
        pub(crate) flags: u16,
    }
}

impl Span {
    /// Creates a sample of a counter.
    pub(crate) fn of_sample(start: i64, value: f64, place: u64) -> Self {
        Span { start, dur: value.to_bits() as i64, place, name: 0, row: 0, flags: 0 }
    }

    pub(crate) fn end(&self) -> i64 {
        self.start.saturating_add(self.dur)
    }

    /// Returns whether the interval is an event of an input, not a call.
    pub(crate) fn is_event(&self) -> bool {
        self.place < CALLS
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
        // calls that begin and end together stay in the order of their depth
        (self.0, self.1.start, Reverse(self.1.dur), self.1.place.min(CALLS))
    }
}
