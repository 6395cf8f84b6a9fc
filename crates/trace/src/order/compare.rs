//! The comparator of the order of the output, on the digits in the files where 16 bytes do not tell.
//!
//! ```text
//!   time differs?            ─ yes ─> by time                                   16 bytes
//!   rank EXACT on a side?    ─ yes ─> by ts and dur to the attosecond           both events are read
//!   rank differs?            ─ yes ─> the higher rank first                     16 bytes
//!   rank says the duration?  ─ yes ─> by offset                                 16 bytes
//!                            ─ no ──> by ts and dur to the attosecond           both events are read
//!   still equal              ───────> by offset, so no two are equal
//! ```
//!
//! Source of the rule: the comparator with which DevTools sorts the events of a thread (`ts`, then the longer `dur`), and input order where that says
//! nothing. Here times are compared as whole attoseconds, never as doubles.

use crate::order::Stamp;
use crate::store::Store;
use crate::store::entry::{EXACT, Entry, rank, says_all};
use crate::store::place::Place;
use std::cmp::Ordering;
use tracemill_tokenizer::{Cursor, fields_of};

/// The comparator over a store, which has the bytes of all events in question. Copies cost nothing.
#[derive(Clone, Copy)]
pub struct Order<'s, 'p>(pub &'s Store<'p>);

impl Order<'static, 'static> {
    /// Over no events: for records whose keys say all there is to say.
    pub fn none() -> Self {
        static NONE: Store<'static> = Store::none();
        Order(&NONE)
    }
}

impl Order<'_, '_> {
    /// By time, at one time the longer first, then as they were read. Total: no two entries are equal.
    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        a.time.cmp(&b.time).then_with(|| self.compare_at_one_time(a.place, b.place))
    }

    /// What stands in the index for the event at an offset. Where these are not in lists, [`i64::MIN`] is the time of
    /// metadata, and one more that of events without one.
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

    /// Two events of one nanosecond: by their ranks, as far as those tell; else by the times of both, which reads them.
    fn compare_at_one_time(self, a: Place, b: Place) -> Ordering {
        let by_offset = a.offset().cmp(&b.offset());
        match (a.rank(), b.rank()) {
            (x, y) if x != EXACT && y != EXACT && x != y => y.cmp(&x),
            (x, y) if x == y && says_all(x) => by_offset,
            _ => self.stamp(a).cmp(&self.stamp(b)).then(by_offset),
        }
    }

    /// The times of an event to the attosecond, as they will be written: moved, where those of its input are.
    #[cold]
    fn stamp(self, place: Place) -> Stamp {
        let bytes = self.0.event(place);
        Stamp::moved(&fields_of(bytes).of(bytes), self.0.shift_of(place))
    }

    /// Puts entries that are sorted by their 16 bytes, or are in exact order already, into exact order.
    ///
    /// Cost: a comparison of neighbours; of events of one time that 16 bytes do not tell apart each is read, up to 32,768 of them once, more of
    /// them once a comparison. No entry leaves its time, so stretches of time can be done by any threads.
    pub fn resolve_ties(self, entries: &mut [Entry]) {
        for same_time in entries.chunk_by_mut(|a, b| a.time == b.time) {
            if same_time.len() == 1 {
                continue;
            }
            // in exact order they may stand anywhere among the others
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

    /// Entries of one time and one rank: by duration, read once each.
    fn resolve_durations(self, entries: &mut [Entry]) {
        /// Beyond this many, durations are read anew for each comparison, so that memory stays bounded.
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
