//! The entries of a thread's flame chart: its events and calls as one ordered list, and their tree.

pub(crate) mod calls;
pub(crate) mod ignored;
pub(crate) mod sorting;
pub(crate) mod stretches;
pub mod walk;

use crate::profile::made::{Call, NO_SAMPLE};
use crate::value::clock::TickRange;
use crate::value::record::Record;
use std::cmp::Ordering;
use tracemill_trace::record;

record! {
    /// An event or a call.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Entry {
        /// Start in ticks (time units of the trace's clock).
        pub ts: f64,
        /// Duration in ticks.
        pub dur: f64,
        /// For an event, the number of its kind; for a call, the number of its node.
        pub kind: u32,
        /// For an event, the number of its details; for a call, the number of its sample.
        pub(crate) details: u32,
        /// The lowest byte is the phase. The bits above are the number of an event, or the function
        /// of a call's row. The highest bit is [`NO_PLACE`].
        number: u64,
    }
}

/// Phase byte of calls.
const CALL: u8 = b'P';
/// Flag of entries that overlap their parent.
const NO_PLACE: u64 = 1 << 63;

impl Entry {
    pub(crate) fn of_record(record: &Record) -> Self {
        let Record { ts, dur, kind, details, .. } = *record;
        Entry { ts, dur, kind, details, number: record.number() << 8 | u64::from(record.phase()) }
    }

    pub(crate) fn moved(&self, ts: f64, dur: f64) -> Self {
        Entry { ts, dur, ..*self }
    }

    pub(crate) fn of_call(call: &Call) -> Self {
        let Call { ts, dur, node: kind, sample: details, row, .. } = *call;
        Entry { ts, dur, kind, details, number: u64::from(row) << 8 | u64::from(CALL) }
    }

    /// Returns the end of the entry in ticks.
    #[inline]
    pub fn end(&self) -> f64 {
        self.ts + self.dur
    }

    /// Returns whether the entry overlaps or touches a time range.
    pub fn touches(&self, range: TickRange) -> bool {
        !(self.end() < range.from || self.ts > range.to)
    }

    /// Returns whether the entry is a call computed from samples.
    #[inline]
    pub fn is_call(&self) -> bool {
        self.number as u8 == CALL
    }

    /// Returns the number of the function that identifies the row of a call.
    #[inline]
    pub(crate) fn row(&self) -> u32 {
        (self.number >> 8) as u32
    }

    /// Returns whether the entry is in the tree, that is, does not overlap its parent.
    #[inline]
    pub(crate) fn has_place(&self) -> bool {
        self.number & NO_PLACE == 0
    }

    /// Returns the number of the sample in which a call begins. Returns `None` if an event made the
    /// call.
    pub fn sample(&self) -> Option<u32> {
        Some(self.details).filter(|&sample| sample != NO_SAMPLE)
    }

    pub(crate) fn is_instant(&self) -> bool {
        self.number as u8 == b'I'
    }

    /// Returns whether the entry is an event or call with duration 0, but not an instant.
    pub fn is_without_duration(&self) -> bool {
        self.dur == 0.0 && !self.is_instant()
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.number as u8, b'X' | b'B')
    }

    /// Returns the number of an event. Returns `None` for pairs of B and E events, and for calls.
    pub fn event_number(&self) -> Option<u64> {
        matches!(self.number as u8, b'X' | b'I').then_some(self.number())
    }

    /// Returns the number of an event; of a pair, that of its B.
    pub(crate) fn number(&self) -> u64 {
        (self.number & !NO_PLACE) >> 8
    }

    /// Compares two entries in the order of DevTools: by start, then longest first, then calls
    /// first.
    pub(crate) fn compare(&self, other: &Entry) -> Ordering {
        let by = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        by(self.ts, other.ts)
            .then_with(|| by(other.end(), self.end()))
            .then_with(|| other.is_call().cmp(&self.is_call()))
    }
}

/// Merges two sorted lists; of equal entries those of the first list come first.
pub(crate) fn merge(
    events: impl Iterator<Item = Placed>,
    calls: impl Iterator<Item = Placed>,
) -> impl Iterator<Item = Placed> {
    let (mut events, mut calls) = (events.peekable(), calls.peekable());
    std::iter::from_fn(move || match (events.peek(), calls.peek()) {
        (Some(event), Some(call)) if event.entry.compare(&call.entry) == Ordering::Greater => {
            calls.next()
        }
        (Some(_), _) => events.next(),
        (None, _) => calls.next(),
    })
}

/// An entry with its depth, the number of open entries around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// The entry.
    pub entry: Entry,
    /// Number of entries above it.
    pub depth: u32,
}

/// An iterator over a thread's entries as a tree, parents before children (DevTools: `treify`). It
/// drops entries that overlap their parent.
pub(crate) struct Nested<I> {
    entries: I,
    has_depths: bool,
    open: Vec<f64>,
    /// Time range, in ticks, in which dropped entries are counted.
    counted: TickRange,
    /// Whether dropped entries are returned too.
    keeps: bool,
    /// Number of entries dropped so far.
    pub(crate) dropped: u64,
}

impl<I: Iterator<Item = Placed>> Nested<I> {
    pub(crate) fn new(entries: I, has_depths: bool) -> Self {
        let counted = TickRange::ALL;
        Nested { entries, has_depths, open: Vec::new(), counted, keeps: false, dropped: 0 }
    }

    /// Counts only dropped entries that touch a time range.
    pub(crate) fn counting(self, counted: TickRange) -> Self {
        Nested { counted, ..self }
    }

    /// Makes the iterator return dropped entries too, with a mark.
    pub(crate) fn keeping(self) -> Self {
        Nested { keeps: true, ..self }
    }
}

impl<I: Iterator<Item = Placed>> Iterator for Nested<I> {
    type Item = Placed;

    #[inline]
    fn next(&mut self) -> Option<Placed> {
        loop {
            let placed = self.entries.next()?;
            if self.has_depths {
                return Some(placed);
            }
            let end = placed.entry.end();
            while self.open.last().is_some_and(|end| placed.entry.ts >= *end) {
                self.open.pop();
            }
            if self.open.last().is_some_and(|last| end > *last) {
                self.dropped += u64::from(placed.entry.touches(self.counted));
                if self.keeps {
                    let entry = Entry { number: placed.entry.number | NO_PLACE, ..placed.entry };
                    return Some(Placed { entry, depth: self.open.len() as u32 });
                }
                continue;
            }
            let depth = self.open.len() as u32;
            self.open.push(end);
            return Some(Placed { depth, ..placed });
        }
    }
}
