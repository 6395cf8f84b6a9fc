//! Records: 32 bytes per event.

use tracemill_trace::record;

record! {
    /// An event of a thread.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Record {
        /// Start in microseconds, or in ticks (time units of the trace's clock) after placing.
        pub ts: f64,
        /// Duration in the unit of `ts`; 0 if missing.
        pub dur: f64,
        /// Index of the event's kind.
        pub kind: u32,
        /// Index of the event's details; 0 for none.
        pub(crate) details: u32,
        /// The lowest byte is the phase. The next 16 bits are the nanoseconds that `ts` cannot
        /// represent. The bits above are the number of the event among all events.
        tagged: u64,
    }
}

/// Offset, in bits, of the nanoseconds in `tagged`.
const REST: u32 = 8;
/// Offset, in bits, of the event number in `tagged`.
const NUMBER: u32 = 24;

impl Record {
    pub(crate) fn new(ts: f64, dur: f64, kind: u32, details: u32, number: u64, phase: u8) -> Self {
        Record { ts, dur, kind, details, tagged: number << NUMBER | u64::from(phase) }
    }

    /// Sets the nanoseconds that `ts` cannot represent.
    pub(crate) fn with_rest(self, nanos: i64) -> Self {
        let rest = nanos.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as u16;
        let tagged = self.tagged & !(0xFFFF << REST) | u64::from(rest) << REST;
        Record { tagged, ..self }
    }

    /// Returns the nanoseconds that `ts` cannot represent.
    pub(crate) fn rest(&self) -> i64 {
        i64::from((self.tagged >> REST) as u16 as i16)
    }

    /// Returns the record of an event that follows `events` earlier ones, with new numbers of its
    /// kind and details.
    pub(crate) fn behind(self, events: u64, kind: u32, details: u32) -> Self {
        Record { kind, details, tagged: self.tagged + (events << NUMBER), ..self }
    }

    /// Returns the phase (`ph`) of the event.
    pub fn phase(&self) -> u8 {
        self.tagged as u8
    }

    /// Returns the number of the event among all events.
    pub fn number(&self) -> u64 {
        self.tagged >> NUMBER
    }
}

/// The position of a chunk among all inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChunkPosition {
    /// Index of the chunk's input.
    pub(crate) input: usize,
    /// Number of the chunk's first event among the events of all inputs.
    pub(crate) first: u64,
}
