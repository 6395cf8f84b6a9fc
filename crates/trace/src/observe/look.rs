//! What looks at the events of one chunk, on the worker that scans it.

use crate::event::envelope::ChunkStats;
use crate::store::entry::{Entry, rank};
use crate::store::place::Place;
use tracemill_tokenizer::{Damage, Event, Form, Member, Nanos, Note};

/// The position of an event, and the times that the index has read of it.
#[derive(Clone, Copy, Debug)]
pub struct EventRef {
    /// Its number within the chunk, from 0.
    pub number: u64,
    /// Offset in the address space of all inputs.
    pub offset: u64,
    /// Length in bytes.
    pub len: usize,
    /// Its ts and dur, times the factor of the input; `None` if it has no ts, or if the
    /// [`Keep`](super::Keep) reads no times.
    pub times: Option<(Nanos, Option<Nanos>)>,
    /// Whether it is a metadata event; `false` if the [`Keep`](super::Keep) does not read it.
    pub is_metadata: bool,
}

impl EventRef {
    /// Returns its ts in nanoseconds, rounded down, unless it is a metadata event.
    #[inline(always)]
    pub fn time(&self) -> Option<i64> {
        self.times.filter(|_| !self.is_metadata).map(|(ts, _)| ts.floor)
    }

    /// Returns its place, ranked by its duration if its times are known.
    #[inline(always)]
    pub fn place(&self) -> Place {
        let rank = match self.times {
            Some((ts, dur)) if !self.is_metadata => rank(ts, dur),
            _ => 0,
        };
        Place::new(self.offset, self.len, rank)
    }

    /// Returns its entry; an event without a time has [`i64::MIN`].
    #[inline(always)]
    pub fn entry(&self) -> Entry {
        Entry { time: self.time().unwrap_or(i64::MIN), place: self.place() }
    }
}

/// Looks at the events of one chunk, on the worker that scans it.
///
/// A worker may scan from a wrong guess of where events begin; what its looks found is then dropped
/// unseen. So a look must change nothing but itself.
pub trait Look: Send {
    /// Looks at an event. Returns whether the index keeps it; it does if every look returns `true`.
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool;

    /// Looks at the start of a document.
    #[inline]
    fn document(&mut self, _form: Form) {}

    /// Looks at a top-level key beside the events, with its value.
    #[inline]
    fn member(&mut self, _member: &Member<'_>) {}

    /// Looks at bytes that were lost.
    #[inline]
    fn damage(&mut self, _damage: &Damage<'_>) {}

    /// Looks at a deviation that the format allows, such as a missing `]`. The offset is one in the
    /// input.
    #[inline]
    fn note(&mut self, _note: Note, _offset: u64) {}

    /// Ends the chunk: does on the worker whatever needs no other chunk, such as sorting.
    #[inline]
    fn seal(&mut self, _stats: &mut ChunkStats) {}
}
