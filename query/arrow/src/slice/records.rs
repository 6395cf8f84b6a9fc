//! Records that are sorted: begin and end events, slices, and slices with their parents.

use tracemill_trace::order::Keyed;
use tracemill_trace::record;

/// The role of an event in its pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Step {
    Begin,
    End,
    /// A slice without length, such as an `n` event.
    Instant,
}

record! { enum Step { Begin, End, Instant } }

record! {
    /// An event that begins or ends a slice, or an instant among async slices.
    #[derive(Clone, Copy)]
    pub(super) struct PairEvent {
        /// The track of a thread, or the hash of an async id, see [`Operation`].
        pub(super) operation: Operation,
        pub(super) time: RoundedTime,
        /// Id of the event.
        pub(super) id: i64,
        /// Hash of the name; 0 if pairing ignores the name.
        pub(super) name: u64,
        /// CPU time of the thread; [`i64::MIN`] if it is unknown.
        pub(super) thread_ts: i64,
        pub(super) step: Step,
    }
}

impl Keyed for PairEvent {
    type Key = (Operation, i64, i64);

    #[inline]
    fn key(&self) -> Self::Key {
        (self.operation, self.time.nearest, self.id)
    }
}

/// Key of events that may be pairs: the id of a track of B and E events, or the hash of an async id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operation {
    high: u64,
    low: u64,
}

record! { impl Operation { high: u64, low: u64 } }

const IS_ASYNC: u64 = 1 << 63;
const IS_LOCAL: u64 = 1 << 62;

impl Operation {
    /// Creates the key of the B and E events of a track.
    pub(super) fn of_track(track: i64) -> Self {
        Operation { high: track as u64, low: 0 }
    }

    /// Creates the key of an async id by its hash.
    pub(super) fn of_id([high, low]: [u64; 2], is_local: bool) -> Self {
        let local = if is_local { IS_LOCAL } else { 0 };
        Operation { high: high & !IS_LOCAL | IS_ASYNC | local, low }
    }

    /// Makes the key of an async id unique over all inputs.
    pub(super) fn of_input(self, input: usize) -> Self {
        Operation { low: self.low ^ (input as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15), ..self }
    }

    /// Returns the id of the track, or `None` if the operation is async.
    pub(super) fn track(self) -> Option<i64> {
        (self.high & IS_ASYNC == 0).then_some(self.high as i64)
    }

    /// Returns whether the async id is local to a process.
    pub(super) fn is_local(self) -> bool {
        self.high & IS_LOCAL != 0
    }
}

record! {
    /// A time in nanoseconds.
    #[derive(Clone, Copy)]
    pub(super) struct RoundedTime {
        /// The nearest number of nanoseconds.
        pub(super) nearest: i64,
        /// Whether the time is less than `nearest`.
        pub(super) is_less: bool,
    }
}

impl RoundedTime {
    /// Returns the time rounded down.
    pub(super) fn floor(self) -> i64 {
        self.nearest.saturating_sub(i64::from(self.is_less))
    }
}

/// The duration of a slice in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Known {
        /// Difference of the nearest numbers of nanoseconds.
        nearest: u64,
        /// Duration rounded down: at most 1 ns more or less.
        floor: u64,
    },
    /// Nothing ends the slice. It lasts as long as its parent.
    Unended,
    /// An X event without a duration. It contains no other slices.
    Missing,
}

record! {
    /// A slice of a track, to be sorted by time, longer slices first.
    #[derive(Clone, Copy)]
    pub(crate) struct Slice {
        pub(crate) track: i64,
        /// The nearest number of nanoseconds.
        pub(crate) ts: i64,
        /// All bits of the duration inverted, so that longer slices are smaller.
        inverted: u64,
        /// Id of the begin event, above 4 bits.
        ///
        /// ```text
        ///   0     the duration is unknown
        ///   1     the time is less than `ts`
        ///   2, 3  1 plus the duration rounded down minus the duration
        /// ```
        bits: u64,
    }
}

impl Keyed for Slice {
    type Key = (i64, i64, u64, u64);

    #[inline]
    fn key(&self) -> Self::Key {
        (self.track, self.ts, self.inverted, self.bits)
    }
}

const IS_UNKNOWN: u64 = 1;
const IS_LESS: u64 = 1 << 1;
const FLOOR: u32 = 2;
const ID: u32 = 4;

impl Slice {
    #[inline]
    pub(super) fn new(track: i64, time: RoundedTime, length: Length, id: i64) -> Self {
        let (length, bits) = match length {
            Length::Known { nearest, floor } => {
                (nearest, floor.wrapping_sub(nearest).wrapping_add(1) << FLOOR)
            }
            Length::Unended => (u64::MAX, IS_UNKNOWN),
            Length::Missing => (0, IS_UNKNOWN),
        };
        let is_less = if time.is_less { IS_LESS } else { 0 };
        let bits = (id as u64) << ID | bits | is_less;
        Slice { track, ts: time.nearest, inverted: !length, bits }
    }

    /// Returns the id of the begin event.
    pub(crate) fn id(&self) -> i64 {
        (self.bits >> ID) as i64
    }

    /// Returns the time.
    pub(super) fn time(&self) -> RoundedTime {
        RoundedTime { nearest: self.ts, is_less: self.bits & IS_LESS != 0 }
    }

    /// Returns the duration.
    pub(crate) fn length(&self) -> Length {
        match (self.bits & IS_UNKNOWN != 0, !self.inverted) {
            (true, 0) => Length::Missing,
            (true, _) => Length::Unended,
            (false, nearest) => {
                let more = self.bits >> FLOOR & 3;
                Length::Known { nearest, floor: nearest.saturating_add(more).saturating_sub(1) }
            }
        }
    }
}

record! {
    /// A slice with its place among the slices of its track.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct NestedSlice {
        pub(super) id: i64,
        pub(super) ts: i64,
        /// Duration in nanoseconds; -1 if it is unknown.
        pub(super) dur: i64,
        pub(super) track: i64,
        /// Id of the parent; -1 if there is none.
        pub(super) parent: i64,
        /// Time outside children in nanoseconds; -1 if the duration is unknown.
        pub(super) self_dur: i64,
        pub(super) depth: u32,
    }
}

impl Keyed for NestedSlice {
    type Key = i64;

    #[inline]
    fn key(&self) -> i64 {
        self.id
    }
}

record! {
    /// The CPU time of the thread between a begin and an end event.
    #[derive(Clone, Copy)]
    pub(super) struct PairThreadTime {
        pub(super) id: i64,
        pub(super) ns: i64,
    }
}

impl Keyed for PairThreadTime {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id
    }
}
