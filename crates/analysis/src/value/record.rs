//! Of an event stay 32 bytes.

use tracemill_trace::record;

record! {
    /// An event of a thread.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Record {
        /// Microseconds.
        pub ts: f64,
        /// Microseconds; 0 if missing.
        pub dur: f64,
        /// The number of its kind.
        pub kind: u32,
        /// Number of its details; 0 for none.
        pub(crate) details: u32,
        /// Number among all events; 16 bits of nanoseconds that `ts` is too coarse for; its phase in the lowest byte.
        tagged: u64,
    }
}

/// From which bit on the rest of its time stands, and its number.
const REST: u32 = 8;
const NUMBER: u32 = 24;

impl Record {
    /// Of an event of this number and phase.
    pub(crate) fn new(ts: f64, dur: f64, kind: u32, details: u32, number: u64, phase: u8) -> Self {
        Record { ts, dur, kind, details, tagged: number << NUMBER | u64::from(phase) }
    }

    /// The same with nanoseconds that its time is too coarse for.
    pub(crate) fn with_rest(self, nanos: i64) -> Self {
        let rest = nanos.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as u16;
        let tagged = self.tagged & !(0xFFFF << REST) | u64::from(rest) << REST;
        Record { tagged, ..self }
    }

    /// Nanoseconds that its time is too coarse for.
    pub(crate) fn rest(&self) -> i64 {
        i64::from((self.tagged >> REST) as u16 as i16)
    }

    /// The same behind so many events, with other numbers of kind and details.
    pub(crate) fn behind(self, events: u64, kind: u32, details: u32) -> Self {
        Record { kind, details, tagged: self.tagged + (events << NUMBER), ..self }
    }

    /// Returns its `ph`.
    pub fn phase(&self) -> u8 {
        self.tagged as u8
    }

    /// Returns its number among all events.
    pub fn number(&self) -> u64 {
        self.tagged >> NUMBER
    }
}

/// The position of a chunk among all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkPosition {
    /// The number of its input.
    pub(crate) input: usize,
    /// The number of its first event among those of all inputs.
    pub(crate) first: u64,
}
