//! Of an event stay 32 bytes.

use crate::space::{double, half, put};
use tracemill_core::spill::{Record as Fixed, word};

/// An event of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Record {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds; 0 if missing.
    pub(crate) dur: f64,
    pub(crate) kind: u32,
    /// Number of its details; 0 for none.
    pub(crate) details: u32,
    /// Number among all events, and its phase in the lowest byte.
    tagged: u64,
}

impl Record {
    /// Of an event of this number and phase.
    pub(crate) fn new(
        (ts, dur): (f64, f64),
        kind: u32,
        details: u32,
        (number, phase): (u64, u8),
    ) -> Self {
        Record { ts, dur, kind, details, tagged: number << 8 | u64::from(phase) }
    }

    /// The same behind so many events, with other numbers of kind and details.
    pub(crate) fn behind(self, events: u64, kind: u32, details: u32) -> Self {
        Record { kind, details, tagged: self.tagged + (events << 8), ..self }
    }

    pub(crate) fn phase(&self) -> u8 {
        self.tagged as u8
    }

    pub(crate) fn number(&self) -> u64 {
        self.tagged >> 8
    }
}

impl Fixed for Record {
    const BYTES: usize = 32;

    fn encode(&self, bytes: &mut [u8]) {
        let words = [self.ts.to_bits(), self.dur.to_bits(), self.tagged];
        put(bytes, &words, &[self.kind, self.details]);
    }

    fn decode(bytes: &[u8]) -> Self {
        Record {
            ts: double(bytes, 0),
            dur: double(bytes, 8),
            tagged: word(bytes, 16),
            kind: half(bytes, 24),
            details: half(bytes, 28),
        }
    }
}
