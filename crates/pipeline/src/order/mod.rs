//! The order of the output (contract C3) and how it is reached.
//!
//! Metadata events first, then events without a time, both in input order: lists of places, sorted as they come. Then
//! the timed events: 16 bytes each ([`Entry`]: time in nanoseconds, [`Place`]), ascending; at equal times the longer
//! duration first, then input order.
//!
//! A place begins with a *rank* that orders durations coarsely ([`rank`]: exactly for whole microseconds up to 384), so nearly all ties
//! are settled by comparing 16 bytes. What the bytes cannot settle, two durations of one rank or numbers finer than a
//! nanosecond ([`EXACT`]), is settled on the digits in the file ([`Order::settle`]): those events are read once more.
//!
//! ```text
//!   part = one scanned chunk, sorted by its worker         (already sorted: one comparison an event)
//!   bucket = a stretch of time with some 16,000 events     (cut from every part by binary search)
//!   writer: copy a bucket's slices, sort in cache, settle, gather
//! ```
//!
//! No entry is copied but into its bucket, so the heap stays at 16 bytes an event. Tried and slower: one big
//! sort (page faults of the copy cost more than the scan), a loser tree over natural runs (three times the time).
//! Where even 16 bytes are too many, sorted runs go to disk ([`spill`]) and a loser tree merges them.

mod keyed;
mod lanes;
mod loser_tree;
mod runs;
mod sorted;
mod sorter;
mod spill;
mod spool;
mod stamp;

pub(crate) use keyed::{Keyed, KeyedRuns, KeyedSorter};
pub(crate) use lanes::{LaneRun, LaneRuns, LaneSpill, Run, Sequence};
pub(crate) use loser_tree::LoserTree;
pub(crate) use runs::Buckets;
pub(crate) use sorted::Sorted;
pub(crate) use sorter::{Gather, Runs, Sorter, Timed};
pub(crate) use spill::{Lists, MergedRuns, Scratch, Spill, SpilledRuns, decode, encode};
pub(crate) use spool::{Record, Spool, Spooled, word};
pub(crate) use stamp::Stamp;

use crate::clock::Kind;
use crate::store::{Place, Store};
use std::cmp::Ordering;
use tracemill_tokenizer::{Cursor, Field, Nanos, compare, fields_of, number_text};

/// Lists that need no sorting: metadata events and events without a time.
pub(crate) const METADATA: usize = 0;
pub(crate) const UNTIMED: usize = 1;

/// A timed event in the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Nanoseconds, rounded down.
    pub(crate) time: i64,
    pub(crate) place: Place,
}

impl Entry {
    /// The entry as one number in the same order: comparing that takes no branch.
    #[inline(always)]
    fn key(self) -> u128 {
        let time = self.time as u64 ^ 1 << 63;
        u128::from(time) << 64 | u128::from(self.place.0)
    }
}

impl PartialOrd for Entry {
    #[inline(always)]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline(always)]
    fn lt(&self, other: &Self) -> bool {
        self.key() < other.key()
    }
}

impl Ord for Entry {
    #[inline(always)]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

const _: () = assert!(size_of::<Entry>() == 16);

/// The rank of events whose order 16 bytes cannot hold: a time finer than a nanosecond, a negative duration.
pub(crate) const EXACT: u16 = Place::RANK_MAX;

/// Up to this many microseconds whole durations have a rank of their own: most events are that short, and so most ties
/// need no look at the file.
const LINEAR: u64 = 384;

/// Ranks durations: 0 for none, longer durations never lower; [`EXACT`] where the time itself must be compared.
///
/// | duration | rank |
/// |---|---|
/// | k µs, k < 384 | 2 k |
/// | between k and k + 1 µs | 2 k + 1 |
/// | above | 768 and on, by a quarter of an octave |
pub(crate) fn rank(time: Nanos, dur: Option<Nanos>) -> u16 {
    let dur = match dur {
        _ if !time.exact => return EXACT,
        None => return 0,
        Some(dur) if dur.floor < 0 => return EXACT,
        Some(dur) => dur,
    };
    let micros = dur.floor as u64 / 1000;
    if micros < LINEAR {
        let whole = dur.exact && dur.floor % 1000 == 0;
        return (2 * micros + u64::from(!whole)) as u16;
    }
    let octave = micros.ilog2();
    // the two bits below the highest
    let quarter = micros >> (octave - 2) & 3;
    (2 * LINEAR + 4 * u64::from(octave - LINEAR.ilog2()) + quarter) as u16
}

/// A duration in nanoseconds that events of this rank never exceed; `None` for [`EXACT`].
pub(crate) fn longest(rank: u16) -> Option<i64> {
    if rank == EXACT {
        return None;
    }
    let rank = u64::from(rank);
    let micros = match rank.checked_sub(2 * LINEAR) {
        None => rank.div_ceil(2),
        Some(above) => {
            let octave = above / 4 + u64::from(LINEAR.ilog2());
            (above % 4 + 5) << (octave - 2)
        }
    };
    Some(i64::try_from(micros.saturating_mul(1000)).unwrap_or(i64::MAX))
}

/// Whether events of one time and this rank have the same duration.
fn says_all(rank: u16) -> bool {
    u64::from(rank) < 2 * LINEAR && rank.is_multiple_of(2)
}

/// The comparator over a store.
#[derive(Clone, Copy)]
pub(crate) struct Order<'s, 'p>(pub(crate) &'s Store<'p>);

impl Order<'_, '_> {
    /// Exactly as contract C3 has it. Total: no two entries are equal.
    pub(crate) fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        a.time.cmp(&b.time).then_with(|| self.compare_at_one_time(a.place, b.place))
    }

    /// What stands in the index for the event at an offset. Where these are not in lists, [`i64::MIN`] is the time of
    /// metadata, and one more that of events without one.
    pub(crate) fn entry_at(self, offset: u64) -> Entry {
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

    fn compare_at_one_time(self, a: Place, b: Place) -> Ordering {
        let by_offset = a.offset().cmp(&b.offset());
        match (a.rank(), b.rank()) {
            (EXACT, _) | (_, EXACT) => {
                let by_ts = self.compare_field(Field::Ts, a, b);
                by_ts.then_with(|| self.compare_field(Field::Dur, b, a)).then(by_offset)
            }
            (x, y) if x != y => y.cmp(&x),
            (x, _) if says_all(x) => by_offset,
            _ => self.compare_field(Field::Dur, b, a).then(by_offset),
        }
    }

    /// Compares a number of two events by its digits; what is no number counts as 0.
    #[cold]
    fn compare_field(self, field: Field, a: Place, b: Place) -> Ordering {
        let (mut first, mut second) = (Vec::new(), Vec::new());
        let a = self.number(field, a, &mut first);
        let b = self.number(field, b, &mut second);
        compare(a, b)
    }

    fn number<'n>(self, field: Field, place: Place, scratch: &'n mut Vec<u8>) -> &'n [u8]
    where
        Self: 'n,
    {
        let event = self.0.event(place);
        let value = fields_of(event).field(event, field);
        if let (Some(shift), Some(value)) = (self.0.shift_of(place), value)
            && shift.write(value, Kind::of(field), scratch)
        {
            let quoted = scratch.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
            return quoted.unwrap_or(scratch);
        }
        // the input may have changed under the map since it was scanned, so that there is no number any more
        value.and_then(|value| number_text(value, scratch)).unwrap_or(b"0")
    }

    /// Puts entries that are sorted by their 16 bytes, or are in exact order already, into exact order.
    pub(crate) fn settle(self, entries: &mut [Entry]) {
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
                    self.settle_durations(same_rank);
                }
            }
        }
    }

    /// Entries of one time and one rank: by duration, read once each.
    fn settle_durations(self, entries: &mut [Entry]) {
        /// Beyond this many, durations are read anew for each comparison, so that memory stays bounded.
        const CACHED: usize = 1 << 16;
        if entries.len() <= CACHED {
            let mut keyed: Vec<(i64, Entry)> = Vec::with_capacity(entries.len());
            for &entry in entries.iter() {
                let event = self.0.event(entry.place);
                let spans = fields_of(event);
                let dur = match self.0.shift_of(entry.place) {
                    None => spans.of(event).dur(),
                    Some(shift) => shift.times(&spans.of(event)).and_then(|(_, dur)| dur),
                };
                match dur {
                    Some(Nanos { floor, exact: true }) => keyed.push((floor, entry)),
                    _ => break,
                }
            }
            if keyed.len() == entries.len() {
                // places of one rank compare by offset
                keyed.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.place.cmp(&b.1.place)));
                entries.iter_mut().zip(keyed).for_each(|(entry, keyed)| *entry = keyed.1);
                return;
            }
        }
        entries.sort_unstable_by(|a, b| self.compare(a, b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_never_fall_with_the_duration() {
        let exact = |floor| Nanos { floor, exact: true };
        let mut last = 0;
        let durations = (0..500_000).step_by(7).chain((19..63).flat_map(|bit| {
            let one = 1i64 << bit;
            [one - 1, one, one + one / 4, one + one / 2, one + one / 4 * 3]
        }));
        for nanos in durations {
            let now = rank(exact(0), Some(exact(nanos)));
            assert!(now >= last && now < EXACT, "{nanos}");
            assert!(longest(now).is_some_and(|longest| nanos <= longest), "{nanos}");
            last = now;
        }
        assert_eq!(rank(exact(0), None), 0);
        assert_eq!(rank(exact(0), Some(Nanos { floor: 0, exact: false })), 1);
        assert!(
            says_all(rank(exact(0), Some(exact(5000))))
                && !says_all(rank(exact(0), Some(exact(5001))))
        );
        assert_eq!(rank(exact(0), Some(exact(-1))), EXACT);
        assert_eq!(rank(Nanos { floor: 0, exact: false }, None), EXACT);
    }
}
