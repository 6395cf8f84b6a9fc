//! Inspects the events of one chunk.

use crate::event::envelope::ChunkStats;
use crate::store::entry::{Entry, rank};
use crate::store::place::Place;
use tracemill_tokenizer::{Damage, Event, Form, Member, Nanos, Note};

/// The position of an event, and its times if the index reads times.
#[derive(Clone, Copy, Debug)]
pub struct EventRef {
    /// Index of the event within the chunk, from 0.
    pub number: u64,
    /// Offset of the event in the address space.
    pub offset: u64,
    /// Length of the event in bytes.
    pub len: usize,
    /// `ts` and `dur`, multiplied by the factor of the input. `None` if the event has no `ts` or
    /// the [`Keep`](super::Keep) reads no times.
    pub times: Option<(Nanos, Option<Nanos>)>,
    /// Whether the event is a metadata event; `false` if the [`Keep`](super::Keep) does not read
    /// the phase.
    pub is_metadata: bool,
}

impl EventRef {
    /// Returns `ts` in nanoseconds, rounded down. Returns `None` for metadata and events without
    /// `ts`.
    #[inline(always)]
    pub fn time(&self) -> Option<i64> {
        self.times.filter(|_| !self.is_metadata).map(|(ts, _)| ts.floor)
    }

    /// Returns the place of the event, with the rank of its duration if its times are known.
    #[inline(always)]
    pub fn place(&self) -> Place {
        let rank = match self.times {
            Some((ts, dur)) if !self.is_metadata => rank(ts, dur),
            _ => 0,
        };
        Place::new(self.offset, self.len, rank)
    }

    /// Returns the entry of the event. The time is [`i64::MIN`] if the event has no time.
    #[inline(always)]
    pub fn entry(&self) -> Entry {
        Entry { time: self.time().unwrap_or(i64::MIN), place: self.place() }
    }
}

/// Inspects the events of one chunk on the worker that scans it.
///
/// A worker may start from a wrongly guessed event start. The look of such a chunk is discarded, so
/// a look must change nothing but itself.
pub trait Look: Send {
    /// Inspects an event. Returns whether the index may keep it; all looks must agree.
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool;

    /// Inspects the start of a document.
    #[inline]
    fn document(&mut self, _form: Form) {}

    /// Inspects a top-level key and its value.
    #[inline]
    fn member(&mut self, _member: &Member<'_>) {}

    /// Inspects bytes that were lost to damage.
    #[inline]
    fn damage(&mut self, _damage: &Damage<'_>) {}

    /// Inspects a deviation that the format allows, such as a missing `]`. `offset` is relative to
    /// the input.
    #[inline]
    fn note(&mut self, _note: Note, _offset: u64) {}

    /// Finishes the chunk: does the work that needs no other chunk, such as sorting.
    #[inline]
    fn seal(&mut self, _stats: &mut ChunkStats) {}
}
