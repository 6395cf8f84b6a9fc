//! What a thread's flame chart is made of: its events and calls as one list in order, and the tree of them.

use crate::facts::Record;
use std::cmp::Ordering;

/// A call that was made of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds.
    pub(crate) dur: f64,
    pub(crate) node: u32,
    /// Number among the sorted samples; `u32::MAX` if it was made for an event.
    pub(crate) sample: u32,
}

/// An event or a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds.
    pub(crate) dur: f64,
    /// The kind of an event, the node of a call.
    pub(crate) kind: u32,
    /// The details of an event, the sample of a call.
    pub(crate) details: u32,
    /// The number of an event.
    number: u64,
}

/// What the lowest byte of a number says of calls.
const CALL: u8 = b'P';

impl Entry {
    pub(crate) fn of_record(record: &Record) -> Self {
        let Record { ts, dur, kind, details, .. } = *record;
        Entry { ts, dur, kind, details, number: record.number() << 8 | u64::from(record.phase()) }
    }

    /// The same at another time.
    pub(crate) fn moved(&self, ts: f64, dur: f64) -> Self {
        Entry { ts, dur, ..*self }
    }

    pub(crate) fn of_call(call: &Call) -> Self {
        let Call { ts, dur, node: kind, sample: details } = *call;
        Entry { ts, dur, kind, details, number: u64::from(CALL) }
    }

    /// Microseconds.
    #[inline]
    pub(crate) fn end(&self) -> f64 {
        self.ts + self.dur
    }

    #[inline]
    pub(crate) fn is_call(&self) -> bool {
        self.number as u8 == CALL
    }

    pub(crate) fn is_instant(&self) -> bool {
        self.number as u8 == b'I'
    }

    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.number as u8, b'X' | b'B')
    }

    /// The number of an event, unless it was made of a B and an E.
    pub(crate) fn event_number(&self) -> Option<u64> {
        matches!(self.number as u8, b'X' | b'I').then_some(self.number >> 8)
    }

    /// The order of DevTools (§2.2): by time, then longest first, then calls first.
    pub(crate) fn compare(&self, other: &Entry) -> Ordering {
        let by = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        by(self.ts, other.ts)
            .then_with(|| by(other.end(), self.end()))
            .then_with(|| other.is_call().cmp(&self.is_call()))
    }
}

/// Two sorted lists as one; of equal ones the first list's come first.
pub(crate) fn merge(events: Vec<Entry>, calls: &[Call]) -> Vec<Entry> {
    if calls.is_empty() {
        return events;
    }
    let mut all = Vec::with_capacity(events.len() + calls.len());
    let mut calls = calls.iter().map(Entry::of_call).peekable();
    for event in events {
        while let Some(call) = calls.next_if(|call| event.compare(call) == Ordering::Greater) {
            all.push(call);
        }
        all.push(event);
    }
    all.extend(calls);
    all
}

/// The tree of a thread's entries, in pre-order.
#[derive(Default)]
pub(crate) struct Nested {
    pub(crate) entries: Vec<Entry>,
    /// Of each entry how many stand above it.
    pub(crate) depths: Vec<u32>,
    /// Microseconds that no child has.
    pub(crate) own: Vec<f64>,
    /// Entries that begin in one but end behind it, and so have no place.
    pub(crate) dropped: u64,
}

/// `treify` (§7.1).
pub(crate) fn nest(entries: Vec<Entry>) -> Nested {
    let mut nested = Nested::default();
    nested.entries.reserve(entries.len());
    let mut open: Vec<usize> = Vec::new();
    for entry in entries {
        while let Some(&parent) = open.last()
            && entry.ts >= nested.entries[parent].end()
        {
            open.pop();
        }
        if let Some(&parent) = open.last() {
            if entry.end() > nested.entries[parent].end() {
                nested.dropped += 1;
                continue;
            }
            nested.own[parent] -= entry.dur;
        }
        let number = nested.entries.len();
        nested.depths.push(open.len() as u32);
        nested.own.push(entry.dur);
        nested.entries.push(entry);
        open.push(number);
    }
    nested
}
