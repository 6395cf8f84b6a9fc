//! What stays of an event: 48 bytes until it is paired, 32 bytes as an interval of a row.

use std::cmp::Reverse;
use tracemill_core::order::Keyed;
use tracemill_core::spill::{Record, word};

/// The place of what no event stands for.
pub(crate) const NO_PLACE: u64 = u64::MAX;
/// An interval whose end was not found: it lasts to the end of the trace.
pub(crate) const OPEN: u16 = 1;
/// An interval that lies in a row for what overlaps without nesting.
pub(crate) const OVERFLOW: u16 = 4;

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

fn half(bytes: &[u8], offset: usize) -> u32 {
    u32::from_le_bytes(bytes[offset..].first_chunk().copied().unwrap_or_default())
}

impl Record for Mark {
    const BYTES: usize = 41;

    fn encode(&self, bytes: &mut [u8]) {
        let words = [self.group, self.ts as u64, self.place, self.pair];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes[32..36].copy_from_slice(&self.lane.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.name.to_le_bytes());
        bytes[40] = self.phase;
    }

    fn decode(bytes: &[u8]) -> Self {
        Mark {
            group: word(bytes, 0),
            ts: word(bytes, 8) as i64,
            place: word(bytes, 16),
            pair: word(bytes, 24),
            lane: half(bytes, 32),
            name: half(bytes, 36),
            phase: bytes[40],
        }
    }
}

impl Record for Span {
    const BYTES: usize = 32;

    fn encode(&self, bytes: &mut [u8]) {
        let words = [self.start as u64, self.dur as u64, self.place];
        for (to, word) in bytes.chunks_exact_mut(8).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes[24..28].copy_from_slice(&self.name.to_le_bytes());
        bytes[28..30].copy_from_slice(&self.row.to_le_bytes());
        bytes[30..32].copy_from_slice(&self.flags.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        let last = half(bytes, 28);
        Span {
            start: word(bytes, 0) as i64,
            dur: word(bytes, 8) as i64,
            place: word(bytes, 16),
            name: half(bytes, 24),
            row: last as u16,
            flags: (last >> 16) as u16,
        }
    }
}

impl Record for Timed {
    const BYTES: usize = Span::BYTES + 4;

    fn encode(&self, bytes: &mut [u8]) {
        let (own, of_lane) = bytes.split_at_mut(Span::BYTES);
        self.1.encode(own);
        of_lane.copy_from_slice(&self.0.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Self {
        Timed(half(bytes, Span::BYTES), Span::decode(bytes))
    }
}

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
