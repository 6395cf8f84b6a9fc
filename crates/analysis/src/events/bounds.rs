//! The first and last time of a trace, computed from all events or from those that DevTools uses.

use crate::value::clock::nanos_of;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::Event;
use tracemill_trace::time::bounds::Times;

/// A first and a last time, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Nanoseconds that are lost when the time `min` is rounded to a double.
    rest: i64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds { min: f64::INFINITY, max: f64::NEG_INFINITY, rest: 0 }
    }
}

impl Bounds {
    pub(crate) fn between(min: f64, max: f64) -> Self {
        Bounds { min, max, rest: 0 }
    }

    pub(crate) fn add(&mut self, min: f64, max: f64) {
        self.extend(Bounds { min, max, rest: 0 });
    }

    fn extend(&mut self, Bounds { min, max, rest }: Bounds) {
        if min < self.min || min == self.min && rest < self.rest {
            (self.min, self.rest) = (min, rest);
        }
        self.max = self.max.max(max);
    }

    fn moved(self, place: &InputPlace) -> Self {
        Bounds { min: place.moved(self.min), max: place.moved(self.max), ..self }
    }

    fn first(&self) -> Option<i64> {
        self.min.is_finite().then(|| nanos_of(self.min).saturating_add(self.rest))
    }
}

/// How an event extends the bounds of a trace in DevTools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounding {
    /// An event that extends the bounds, unless it is at time 0.
    Drawn,
    /// A stored call, that is, a call written as an event. It extends the bounds only if its thread
    /// has no samples.
    Call,
    /// An event whose phase or name (`…::UMA`) keeps it from extending the bounds.
    Other,
}

#[derive(Clone, Copy)]
pub(crate) struct EventTime {
    /// Start in microseconds.
    pub(crate) ts: f64,
    /// Duration in microseconds.
    pub(crate) dur: f64,
    /// Nanoseconds that are lost when the time `ts` is rounded to a double.
    pub(crate) rest: i64,
}

/// The times of the events of a chunk or an input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventTimes {
    drawn: Bounds,
    calls: Bounds,
    others: Bounds,
    /// Bounds of the events whose time is 0.
    at_zero: Bounds,
    /// Times of all events, from which follows whether time 0 is a real time of this trace.
    all: Times,
}

impl EventTimes {
    /// Adds an event that is not a metadata event.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, time: EventTime, bounding: Bounding) {
        let EventTime { ts, dur, rest } = time;
        if let Some(exact) = event.ts() {
            self.all.note(event, exact, exact.floor);
        }
        let of = match bounding {
            _ if ts == 0.0 => &mut self.at_zero,
            Bounding::Drawn => &mut self.drawn,
            Bounding::Call => &mut self.calls,
            Bounding::Other => &mut self.others,
        };
        of.extend(Bounds { min: ts, max: ts + dur, rest });
    }

    pub(crate) fn append(&mut self, later: EventTimes) {
        self.drawn.extend(later.drawn);
        self.calls.extend(later.calls);
        self.others.extend(later.others);
        self.at_zero.extend(later.at_zero);
        self.all = self.all.unite(later.all);
    }

    /// Returns whether any event has a time that DevTools uses.
    pub(crate) fn are_drawn(&self) -> bool {
        self.drawn.min.is_finite() || self.calls.min.is_finite()
    }

    /// Returns the bounds of the events, without stored calls. With `drawn_only`, returns the
    /// bounds of the events that DevTools uses.
    fn counted(&self, drawn_only: bool) -> Bounds {
        let mut counted = self.drawn;
        if !drawn_only {
            counted.extend(self.others);
            // If the clock began long before the trace, a time of 0 means a missing time.
            if self.all.bounds().is_some_and(|all| all.start <= 0) {
                counted.extend(self.at_zero);
            }
        }
        counted
    }
}

/// The bounds of a trace, on the common clock of its inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TraceBounds {
    pub(crate) events: Bounds,
    /// Bounds of calls stored as events.
    pub(crate) calls: Bounds,
    /// First nanosecond of the events that extend the bounds.
    pub(crate) first: Option<i64>,
    /// The nanosecond that `slice` and `info` use as time 0. Set if DevTools' rules apply to
    /// tables.
    pub(crate) start: Option<i64>,
    /// Whether the last time may belong to an event that is on no thread.
    pub(crate) is_last_unfiled: bool,
}

impl TraceBounds {
    /// Combines the times of all inputs; `drawn_only` selects the events that DevTools uses.
    pub(crate) fn of<'p>(
        inputs: &[EventTimes],
        drawn_only: bool,
        place: impl Fn(usize) -> &'p InputPlace,
    ) -> Self {
        let mut all = TraceBounds::default();
        let (mut filed, mut whole) = (Bounds::default(), Times::NONE);
        for (number, times) in inputs.iter().enumerate() {
            let (counted, place) = (times.counted(drawn_only), place(number));
            all.events.extend(counted.moved(place));
            all.calls.extend(times.calls.moved(place));
            filed.extend(times.drawn.moved(place));
            let first = counted.first().map(|first| first.saturating_add(place.offset()));
            all.first = all.first.into_iter().chain(first).min();
            whole = whole.unite(times.all.moved(place.offset()));
        }
        all.start = whole.bounds().map(|bounds| bounds.start).filter(|_| drawn_only);
        all.is_last_unfiled = all.events.max > filed.max;
        all
    }
}
