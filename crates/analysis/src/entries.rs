//! What a thread's flame chart is made of: its events and calls as one list in order, and the tree of them.

use crate::made::Call;
use crate::record::Record;
use crate::space::{double, half, put};
use std::cmp::Ordering;
use tracemill_core::order::{Record as Fixed, Spool, Spooled, word};
use tracemill_pipeline::Error;

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
        let Call { ts, dur, node: kind, sample: details, .. } = *call;
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
pub(crate) fn merge(
    events: impl Iterator<Item = Entry>,
    calls: impl Iterator<Item = Entry>,
) -> impl Iterator<Item = Entry> {
    let (mut events, mut calls) = (events.peekable(), calls.peekable());
    std::iter::from_fn(move || match (events.peek(), calls.peek()) {
        (Some(event), Some(call)) if event.compare(call) == Ordering::Greater => calls.next(),
        (Some(_), _) => events.next(),
        (None, _) => calls.next(),
    })
}

/// An entry with how many stand above it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) entry: Entry,
    pub(crate) depth: u32,
}

impl Fixed for Placed {
    const BYTES: usize = 36;

    fn encode(&self, bytes: &mut [u8]) {
        let Entry { ts, dur, kind, details, number } = self.entry;
        put(bytes, &[ts.to_bits(), dur.to_bits(), number], &[kind, details, self.depth]);
    }

    fn decode(bytes: &[u8]) -> Self {
        let (ts, dur, number) = (double(bytes, 0), double(bytes, 8), word(bytes, 16));
        let (kind, details) = (half(bytes, 24), half(bytes, 28));
        Placed { entry: Entry { ts, dur, kind, details, number }, depth: half(bytes, 32) }
    }
}

/// The tree of a thread's entries, in pre-order.
pub(crate) struct Nested {
    all: Spooled<Placed>,
    /// Entries that begin in one but end behind it, and so have no place.
    pub(crate) dropped: u64,
}

impl Nested {
    pub(crate) fn new(all: Spooled<Placed>) -> Self {
        Nested { all, dropped: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Placed> + '_ {
        self.all.iter()
    }

    /// The entry of a number.
    pub(crate) fn get(&self, number: u32) -> Option<Entry> {
        self.all.get(number as usize).map(|own| own.entry)
    }
}

/// `treify` (§7.1).
///
/// # Errors
/// What temporary files say.
pub(crate) fn nest(
    entries: impl Iterator<Item = Entry>,
    mut all: Spool<Placed>,
) -> Result<Nested, Error> {
    let mut dropped = 0;
    // when each open one ends
    let mut open: Vec<f64> = Vec::new();
    for entry in entries {
        while open.last().is_some_and(|end| entry.ts >= *end) {
            open.pop();
        }
        if open.last().is_some_and(|end| entry.end() > *end) {
            dropped += 1;
            continue;
        }
        all.extend(&[Placed { entry, depth: open.len() as u32 }])?;
        open.push(entry.end());
    }
    Ok(Nested { all: all.take()?, dropped })
}
