//! Compares events in the order of the output. Reads the events if 16-byte entries do not suffice.
//!
//! ```text
//!   time differs?              ─ yes ─> by time                               16 bytes
//!   rank EXACT on a side?      ─ yes ─> by ts and dur, to the attosecond      both events are read
//!   rank differs?              ─ yes ─> the higher rank first                 16 bytes
//!   rank gives the duration?   ─ yes ─> by offset                             16 bytes
//!                              ─ no ──> by ts and dur, to the attosecond      both events are read
//!   still equal                ───────> by offset, so no two are equal
//! ```
//!
//! Source of the rule: DevTools' comparator for events of a thread (`ts`, then the longer `dur`),
//! with input order for ties. Times are compared as whole attoseconds, never as doubles.

use crate::order::Stamp;
use crate::store::Store;
use crate::store::entry::{EXACT, Entry, rank, says_all};
use crate::store::place::Place;
use std::cmp::Ordering;
use tracemill_tokenizer::{Cursor, fields_of};

/// A comparator of entries over the store with their events. Copies are free.
#[derive(Clone, Copy)]
pub struct Order<'s, 'p>(pub &'s Store<'p>);

impl Order<'static, 'static> {
    /// Creates a comparator without events, for records whose keys suffice.
    pub fn none() -> Self {
        static NONE: Store<'static> = Store::none();
        Order(&NONE)
    }
}

impl Order<'_, '_> {
    /// Compares by time, then the longer duration first, then by offset. Distinct entries are never
    /// equal.
    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        a.time.cmp(&b.time).then_with(|| self.compare_at_one_time(a.place, b.place))
    }

    /// Returns the entry of the event at an offset. The time is [`i64::MIN`] for metadata events,
    /// and `i64::MIN + 1` for other events without a time, for commands without
    /// [`Lists`](super::Lists).
    pub fn entry_at(self, offset: u64) -> Entry {
        let event = Cursor::new(self.0.from(offset)).value();
        let spans = fields_of(event);
        let event = spans.of(event);
        match event.ts().filter(|_| !event.is_metadata()) {
            Some(ts) => {
                let place = Place::new(offset, event.bytes.len(), rank(ts, event.dur()));
                Entry { time: ts.floor, place }
            }
            None => {
                let time = i64::MIN + i64::from(!event.is_metadata());
                Entry { time, place: Place::new(offset, event.bytes.len(), 0) }
            }
        }
    }

    /// Compares events at the same nanosecond by rank. Reads both events if ranks do not suffice.
    fn compare_at_one_time(self, a: Place, b: Place) -> Ordering {
        let by_offset = a.offset().cmp(&b.offset());
        match (a.rank(), b.rank()) {
            (x, y) if x != EXACT && y != EXACT && x != y => y.cmp(&x),
            (x, y) if x == y && says_all(x) => by_offset,
            _ => self.stamp(a).cmp(&self.stamp(b)).then(by_offset),
        }
    }

    /// Returns the times of an event to the attosecond, as they will be written.
    #[cold]
    fn stamp(self, place: Place) -> Stamp {
        let bytes = self.0.event(place);
        Stamp::moved(&fields_of(bytes).of(bytes), self.0.shift_of(place))
    }

    /// Puts entries into exact order. They must be sorted by their 16 bytes or already in exact
    /// order.
    ///
    /// Cost: one comparison per pair of neighbours. If 16 bytes do not settle a tie, reads its
    /// events: each event once, or both events per comparison if more than 32,768 events tie.
    pub fn resolve_ties(self, entries: &mut [Entry]) {
        for same_time in entries.chunk_by_mut(|a, b| a.time == b.time) {
            if same_time.len() == 1 {
                continue;
            }
            // EXACT entries may belong anywhere among the other entries
            if same_time.iter().any(|entry| entry.place.rank() == EXACT) {
                same_time.sort_unstable_by(|a, b| self.compare(a, b));
                continue;
            }
            for same_rank in same_time.chunk_by_mut(|a, b| a.place.rank() == b.place.rank()) {
                if same_rank.len() > 1 && !says_all(same_rank[0].place.rank()) {
                    self.resolve_durations(same_rank);
                }
            }
        }
    }

    /// Sorts entries of equal time and rank by duration, reading each event once.
    fn resolve_durations(self, entries: &mut [Entry]) {
        /// Maximum number of cached durations, to bound the memory.
        const CACHED: usize = 1 << 15;
        if entries.len() > CACHED {
            return entries.sort_unstable_by(|a, b| self.compare(a, b));
        }
        let stamped = entries.iter().map(|&entry| (self.stamp(entry.place), entry));
        let mut stamped: Vec<(Stamp, Entry)> = stamped.collect();
        // places of one rank compare by offset
        stamped.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.place.cmp(&b.1.place)));
        entries.iter_mut().zip(stamped).for_each(|(entry, stamped)| *entry = stamped.1);
    }
}
