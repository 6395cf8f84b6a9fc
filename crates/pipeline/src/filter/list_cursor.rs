//! Compares the events of chunks with a list.
//!
//! ```text
//!   EventLister ─ sorted, spilled ─> EventList ─┐
//!   scan workers ─ undecided events, in order ──┴─ ListCursor: a merge of both ─> reasons
//! ```
//!
//! Workers do not know how many events precede their chunk, so the events of a chunk are compared
//! with the list when the chunk is merged.

use super::listed::{EventList, ListedBy, ListedEvent};
use super::look::Findings;
use super::reason::{PASSES, UNLISTED};
use super::undecided::Undecided;
use std::sync::Arc;
use tracemill_trace::observe::{InputStart, SealedChunk};
use tracemill_trace::store::place::Place;

/// The position in a list up to which events were read.
pub(super) struct ListCursor {
    list: Arc<EventList>,
    /// Index of the first listed event that no chunk had so far.
    at: usize,
    input: u32,
    /// Number of events of the input in earlier chunks.
    events: u64,
    /// Number of listed events that were read.
    found: u64,
}

impl ListCursor {
    pub(super) fn new(list: &Arc<EventList>) -> Self {
        ListCursor { list: Arc::clone(list), at: 0, input: 0, events: 0, found: 0 }
    }

    /// Starts an input. Synthetic events continue the numbers of their input.
    pub(super) fn begin(&mut self, input: &InputStart<'_>) {
        let number = input.number as u32;
        if !input.synthetic || self.input != number {
            (self.input, self.events) = (number, 0);
        }
    }

    /// Returns the number of listed events that the inputs do not have, if any, after the last chunk.
    pub(super) fn missing(&self) -> Option<u64> {
        let missing = self.list.len() as u64 - self.found;
        (missing > 0).then_some(missing)
    }

    /// Sets the reasons of the undecided events of a chunk that are not in the list.
    pub(super) fn judge(&mut self, found: &mut Findings, chunk: &SealedChunk<'_>) {
        let Findings { late, bound, late_numbers, bound_numbers, .. } = found;
        let late = self.mark(late, late_numbers, chunk.base);
        let bound = self.mark(bound, bound_numbers, chunk.base);
        match self.list.by {
            ListedBy::Number => {
                let end =
                    ListedEvent { input: self.input, value: self.events + chunk.stats.events };
                let first = self.at;
                self.at = self.after(first, end);
                self.found += (self.at - first) as u64;
            }
            ListedBy::Offset => {
                let kept = self.count(chunk.kept, chunk.base);
                self.found += late.found + bound.found + kept.found;
                self.at = late.at.max(bound.at).max(kept.at);
            }
        }
        self.events += chunk.stats.events;
    }

    /// Sets the reasons of records that are not in the list. Records are in input order.
    fn mark(&self, records: &mut [Undecided], numbers: &[u32], base: u64) -> Walk {
        let mut walk = Walk { at: self.at, found: 0 };
        for (record, number) in records.iter_mut().zip(numbers) {
            let value = match self.list.by {
                ListedBy::Number => self.events + u64::from(*number),
                ListedBy::Offset => record.entry.place.offset() - base,
            };
            if !self.step(&mut walk, value) && record.reason == PASSES {
                record.reason = UNLISTED;
            }
        }
        walk
    }

    /// Counts the places that are in the list.
    fn count(&self, places: &[Place], base: u64) -> Walk {
        let mut walk = Walk { at: self.at, found: 0 };
        for place in places {
            self.step(&mut walk, place.offset() - base);
        }
        walk
    }

    /// Returns whether the next event of a walk is in the list.
    #[inline]
    fn step(&self, walk: &mut Walk, value: u64) -> bool {
        let event = ListedEvent { input: self.input, value };
        walk.at = self.after(walk.at, event);
        let is_listed = self.list.events.get(walk.at) == Some(event);
        walk.found += u64::from(is_listed);
        is_listed
    }

    /// Returns the index of the first listed event from `at` on that is not before `event`.
    #[inline]
    fn after(&self, mut at: usize, event: ListedEvent) -> usize {
        while self.list.events.get(at).is_some_and(|listed| listed < event) {
            at += 1;
        }
        at
    }
}

/// The progress of a walk through the events of a chunk and the list.
struct Walk {
    at: usize,
    found: u64,
}
