//! First and last time of a trace: those that DevTools takes, or those of all events.

use crate::value::clock::nanos_of;
use tracemill_join::input_set::InputPlace;
use tracemill_tokenizer::Event;
use tracemill_trace::time::bounds::Times;

/// A first and a last time, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// Nanoseconds that the first time is too coarse for.
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

    /// Returns the first nanosecond, if there is a time.
    fn first(&self) -> Option<i64> {
        self.min.is_finite().then(|| nanos_of(self.min).saturating_add(self.rest))
    }
}

/// Whether DevTools takes the bounds of a trace from an event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bounding {
    /// Yes, unless the event is at time 0.
    Drawn,
    /// A call that was written as an event: only if its samples are gone.
    Call,
    /// No: its phase or its name (`…::UMA`) is none of those.
    Other,
}

/// The time of an event.
#[derive(Clone, Copy)]
pub(crate) struct EventTime {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds.
    pub(crate) dur: f64,
    /// Nanoseconds that `ts` is too coarse for.
    pub(crate) rest: i64,
}

/// The times of the events of a chunk or an input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventTimes {
    drawn: Bounds,
    calls: Bounds,
    others: Bounds,
    /// Events at time 0.
    at_zero: Bounds,
    /// All of them; these decide whether the trace begins at time 0.
    all: Times,
}

impl EventTimes {
    /// Takes an event that is no metadata.
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

    /// Takes over the times of a later chunk.
    pub(crate) fn append(&mut self, later: EventTimes) {
        self.drawn.extend(later.drawn);
        self.calls.extend(later.calls);
        self.others.extend(later.others);
        self.at_zero.extend(later.at_zero);
        self.all = self.all.unite(later.all);
    }

    /// Returns whether DevTools finds a time.
    pub(crate) fn are_drawn(&self) -> bool {
        self.drawn.min.is_finite() || self.calls.min.is_finite()
    }

    /// Returns the bounds of events that are no calls, or those that DevTools takes.
    fn counted(&self, drawn_only: bool) -> Bounds {
        let mut counted = self.drawn;
        if !drawn_only {
            counted.extend(self.others);
            // 0 is no time where the clock began long before the trace
            if self.all.bounds().is_some_and(|all| all.start <= 0) {
                counted.extend(self.at_zero);
            }
        }
        counted
    }
}

/// The bounds of a trace, where its inputs are beside each other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TraceBounds {
    /// Of events that count.
    pub(crate) events: Bounds,
    /// Of calls that were written as events.
    pub(crate) calls: Bounds,
    /// The first nanosecond of events that count.
    pub(crate) first: Option<i64>,
    /// The nanosecond from which `slice` and `info` count times, where tables count by the rules of DevTools.
    pub(crate) start: Option<i64>,
    /// Whether the last time that counts may be that of an event that no thread has.
    pub(crate) is_last_unfiled: bool,
}

impl TraceBounds {
    /// Adds up the times of each input; with `drawn_only` those that DevTools takes.
    pub(crate) fn of<'p>(
        inputs: &[EventTimes],
        drawn_only: bool,
        place: impl Fn(usize) -> &'p InputPlace,
    ) -> Self {
        let mut all = TraceBounds::default();
        let (mut filed, mut whole) = (Bounds::default(), Times::NONE);
        for (number, times) in inputs.iter().enumerate() {
            let (own, place) = (times.counted(drawn_only), place(number));
            all.events.extend(own.moved(place));
            all.calls.extend(times.calls.moved(place));
            filed.extend(times.drawn.moved(place));
            let first = own.first().map(|first| first.saturating_add(place.offset()));
            all.first = all.first.into_iter().chain(first).min();
            whole = whole.unite(times.all.moved(place.offset()));
        }
        all.start = whole.bounds().map(|bounds| bounds.start).filter(|_| drawn_only);
        all.is_last_unfiled = all.events.max > filed.max;
        all
    }
}
