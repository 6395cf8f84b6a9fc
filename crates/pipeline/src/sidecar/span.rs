//! An interval with the places of its ends.

use super::granules::level;
use std::cmp::{Ordering, Reverse};
use tracemill_core::order::{Keyed, Order};
use tracemill_core::spill::{Record, word};
use tracemill_index::spans;

/// The level of what never ends.
pub(super) const LEVEL_OPEN: u32 = 65;

/// The thread of an event that no row of LANES has.
pub(super) const NO_THREAD: u32 = u32::MAX;

/// Where an event stands, and its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SummedPlace {
    pub(super) place: u64,
    pub(super) sum: u32,
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// One of [`spans`].
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) thread: u32,
    /// Of an operation its track, among those that are no threads.
    pub(super) track: u32,
    /// The number of the name, or [`tracemill_index::bins::NO_NAME`].
    pub(super) name: u32,
    pub(super) start: i64,
    /// [`i64::MAX`] if it never ends.
    pub(super) end: i64,
    pub(super) begin: SummedPlace,
    /// What it begins with, where no event ends it.
    pub(super) last: SummedPlace,
}

impl Span {
    /// It is longer than T if this is more than that of T.
    #[inline]
    pub(super) fn level(&self) -> u32 {
        match self.flags & spans::OPEN == 0 {
            true => level(self.end.abs_diff(self.start)),
            false => LEVEL_OPEN,
        }
    }
}

impl Record for Span {
    const BYTES: usize = 56;

    fn encode(&self, bytes: &mut [u8]) {
        let Span { kind, flags, thread, track, name, start, end, begin, last } = *self;
        let own = u64::from(kind) | u64::from(flags) << 8 | u64::from(thread) << 32;
        let sums = u64::from(begin.sum) | u64::from(last.sum) << 32;
        let drawn = u64::from(track) | u64::from(name) << 32;
        let words = [own, start as u64, end as u64, begin.place, last.place, sums, drawn];
        for (chunk, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *chunk = word.to_le_bytes();
        }
    }

    fn decode(bytes: &[u8]) -> Self {
        let [own, start, end, begin, last, sums, drawn] =
            std::array::from_fn(|at| word(bytes, 8 * at));
        Span {
            kind: own as u8,
            flags: (own >> 8) as u8,
            thread: (own >> 32) as u32,
            track: drawn as u32,
            name: (drawn >> 32) as u32,
            start: start as i64,
            end: end as i64,
            begin: SummedPlace { place: begin, sum: sums as u32 },
            last: SummedPlace { place: last, sum: (sums >> 32) as u32 },
        }
    }
}

impl Keyed for Span {
    /// What encloses stands before what it encloses.
    type Key = (u32, i64, Reverse<i64>, u64);

    fn key(&self) -> Self::Key {
        (self.thread, self.start, Reverse(self.end), self.begin.place)
    }

    fn tie(&self, other: &Self, _: Order<'_, '_>) -> Ordering {
        self.kind.cmp(&other.kind)
    }
}
