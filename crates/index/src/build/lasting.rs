//! Collects slices in one chunk: complete events, and pair events (begin, step, end) to be paired
//! later.

use super::span::{IndexedSpan, SummedPlace};
use crate::drawing::{color_of, is_page_counters};
use crate::format::spans;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracemill_tokenizer::{Event, Nanos, Tier, Validator};
use tracemill_trace::event::{PairEvent, PairKind, PairStep, Phase};
use tracemill_trace::order::{Keyed, Order};
use tracemill_trace::record;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::Times;

record! {
    /// A begin, step or end event to be paired, with its thread and checksum.
    #[derive(Clone, Copy)]
    pub(super) struct LastingEvent {
        pub(super) part: PairEvent,
        /// Index of the thread: first in the chunk, later in the whole text.
        pub(super) thread: u32,
        pub(super) sum: u32,
        /// Indices of track and name as in [`IndexedSpan`]: first in the chunk, later in the whole
        /// text.
        pub(super) track: u32,
        pub(super) name: u32,
        /// Flags of a slice that the event begins, see [`IndexedSpan`].
        pub(super) flags: u8,
    }
}

impl LastingEvent {
    pub(super) fn place(&self) -> SummedPlace {
        SummedPlace { place: self.part.entry.place.offset(), sum: self.sum }
    }
}

impl Keyed for LastingEvent {
    type Key = (u128, i64);

    fn key(&self) -> (u128, i64) {
        self.part.key()
    }

    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        self.part.tie(&other.part, order)
    }
}

pub(super) struct LastingEvents {
    validator: Validator,
    /// Level up to which complete events are too short for the index; see `AllSpans`.
    floor: Arc<AtomicU32>,
    pub(super) parts: Vec<LastingEvent>,
    pub(super) complete: Vec<IndexedSpan>,
    pub(super) times: Times,
    pub(super) has_profiles: bool,
    /// Whether any event or top-level value is not strictly valid JSON.
    pub(super) has_lapses: bool,
}

/// An event with decoded fields, offset, thread and checksum.
pub(super) struct PlacedEvent {
    pub(super) letter: u8,
    pub(super) ts: Option<Nanos>,
    pub(super) dur: Option<Nanos>,
    /// End in nanoseconds, see [`end_of`](tracemill_trace::event::end_of).
    pub(super) end: i64,
    pub(super) place: u64,
    pub(super) thread: u32,
    pub(super) sum: u32,
    /// See [`IndexedSpan`].
    pub(super) track: u32,
    pub(super) name: u32,
    /// Whether every window needs the event, or the event belongs to a CPU profile.
    pub(super) is_special: bool,
}

impl LastingEvents {
    pub(super) fn new(tier: Tier, floor: Arc<AtomicU32>) -> Self {
        LastingEvents {
            validator: Validator::new(tier),
            floor,
            parts: Vec::new(),
            complete: Vec::new(),
            times: Times::NONE,
            has_profiles: false,
            has_lapses: false,
        }
    }

    /// Sets `has_lapses` if a top-level value is not strictly valid JSON.
    pub(super) fn note_value(&mut self, value: &[u8]) {
        self.has_lapses |= self.validator.check_value(value).is_err();
    }

    #[inline]
    pub(super) fn note(&mut self, event: &Event<'_>, known: &PlacedEvent) {
        self.has_lapses |= !event.is_proved() && self.validator.check(event.bytes).is_err();
        let len = event.bytes.len();
        let PlacedEvent { end, dur, .. } = *known;
        let phase = Phase::of_letter(known.letter);
        let Some(ts) = known.ts.filter(|_| phase != Phase::Metadata) else { return };
        self.times.note(event, ts, end);
        if known.is_special {
            return;
        }
        match phase {
            Phase::Complete => self.complete(event, ts, end, known),
            Phase::Part(kind, step) => {
                let place = Place::new(known.place, len, rank(ts, dur));
                let entry = Entry { time: ts.floor, place };
                let part = PairEvent::new(event, entry, kind, step);
                let PlacedEvent { thread, sum, track, name, .. } = *known;
                let color = if step == PairStep::Begin { color_of(event) } else { 0 };
                let flags = spans::colored(color);
                self.parts.push(LastingEvent { part, thread, sum, track, name, flags });
            }
            Phase::Instant if is_page_counters(event) => {
                let entry =
                    Entry { time: ts.floor, place: Place::new(known.place, len, rank(ts, dur)) };
                let part = PairEvent::new(event, entry, PairKind::Counter, PairStep::Middle);
                let PlacedEvent { thread, sum, track, name, .. } = *known;
                let flags = spans::PAGE;
                self.parts.push(LastingEvent { part, thread, sum, track, name, flags });
            }
            Phase::Metadata | Phase::Instant => {}
        }
    }

    #[inline]
    fn complete(&mut self, event: &Event<'_>, ts: Nanos, end: i64, known: &PlacedEvent) {
        let span = IndexedSpan {
            kind: spans::COMPLETE,
            flags: 0,
            thread: known.thread,
            track: 0,
            name: known.name,
            start: ts.floor,
            end,
            begin: SummedPlace { place: known.place, sum: known.sum },
            last: SummedPlace { place: known.place, sum: known.sum },
        };
        if span.level() > self.floor.load(Relaxed) {
            let flags = spans::colored(color_of(event));
            self.complete.push(IndexedSpan { flags, ..span });
        }
    }
}
