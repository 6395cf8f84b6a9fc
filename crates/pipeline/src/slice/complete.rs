//! Decides whether complete events (`X`) and instants are inside, outside or across an edge.
//!
//! For nearly all events 16 bytes are enough, because the rank in a place bounds the duration. All
//! other events are read again.

use tracemill_tokenizer::{Event, Field, fields_of};
use tracemill_trace::event::Phase;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::json::push_micros;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::{EXACT, Entry, longest};
use tracemill_trace::time::attos::Attos;
use tracemill_trace::time::windows::{Edges, TimeSpan, Windows};

/// The decision on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Kept,
    /// Keeps the parts inside the windows.
    Cut,
    Dropped,
}

/// Keeps an instant if it is in a window.
fn moment(entry: Entry, windows: &Windows) -> Verdict {
    if windows.at(entry.time).is_some() { Verdict::Kept } else { Verdict::Dropped }
}

/// Decides whether to keep, cut or drop an event that is not part of a pair.
#[inline]
pub(super) fn verdict(entry: Entry, windows: &Windows, edges: Edges, store: &Store<'_>) -> Verdict {
    let Some(longest) = longest(entry.place.rank()) else {
        return verdict_of_event(entry, windows, edges, store);
    };
    let last = entry.time.saturating_add(longest);
    match windows.at(entry.time) {
        Some(window) if last <= windows.0[window].to => Verdict::Kept,
        None if !windows.touch(entry.time, last) => Verdict::Dropped,
        _ => verdict_of_event(entry, windows, edges, store),
    }
}

#[cold]
fn verdict_of_event(entry: Entry, windows: &Windows, edges: Edges, store: &Store<'_>) -> Verdict {
    let bytes = store.event(entry.place);
    let Some(interval) = ExactInterval::of(&fields_of(bytes).of(bytes)) else {
        return moment(entry, windows);
    };
    let inside =
        windows.at(entry.time).is_some_and(|window| !interval.ends_behind(windows.0[window].to));
    match edges {
        _ if inside => Verdict::Kept,
        Edges::Drop => Verdict::Dropped,
        _ if !windows.0.iter().any(|&window| interval.touches(window)) => Verdict::Dropped,
        Edges::Keep => Verdict::Kept,
        Edges::Clip => Verdict::Cut,
    }
}

/// Returns the parts of an event inside the windows, one per window.
pub(super) fn pieces(entry: Entry, windows: &Windows, store: &Store<'_>) -> Vec<Vec<u8>> {
    let bytes = store.event(entry.place);
    let spans = fields_of(bytes);
    let event = spans.of(bytes);
    let Some(interval) = ExactInterval::of(&event) else { return Vec::new() };
    let touched = windows.0.iter().filter(|&&window| interval.touches(window));
    touched.map(|&window| interval.piece(&event, window)).collect()
}

/// The time range of an event.
struct ExactInterval {
    ts: Attos,
    /// `None` if the end is out of range.
    end: Option<Attos>,
}

impl ExactInterval {
    /// Returns the range of a complete event, or `None` if it has no duration.
    fn of(event: &Event<'_>) -> Option<Self> {
        let dur = event.dur().filter(|_| Phase::of(event) == Phase::Complete)?;
        if dur.floor < 0 || (dur.floor == 0 && dur.exact) {
            return None;
        }
        let ts = Attos::of(event.field(Field::Ts)?)?;
        let end = Attos::of(event.field(Field::Dur)?).map(|dur| ts + dur);
        Some(ExactInterval { ts, end })
    }

    fn ends_behind(&self, edge: i64) -> bool {
        edge != i64::MAX && self.end.is_none_or(|end| end > Attos::from_nanos(edge))
    }

    fn touches(&self, window: TimeSpan) -> bool {
        self.ts < Attos::from_nanos(window.to) && self.ends_behind(window.from)
    }

    /// Returns the part inside a window that the range touches.
    fn piece(&self, event: &Event<'_>, window: TimeSpan) -> Vec<u8> {
        let TimeSpan { from, to } = window;
        let (moved, cut) = (self.ts < Attos::from_nanos(from), self.ends_behind(to));
        let mut patches = Patches::default();
        let mut text = Vec::new();
        if moved {
            push_micros(from, &mut text);
            patches.field(event, Field::Ts, &text);
        }
        let dur = match (moved, cut) {
            (false, false) => return event.bytes.to_vec(),
            // neither the event nor the window has an end
            (true, false) if self.end.is_none() => return patches.apply(event.bytes),
            (true, true) => None,
            (true, false) => self.end.map(|end| end - Attos::from_nanos(from)),
            (false, true) => Some(Attos::from_nanos(to) - self.ts),
        };
        text.clear();
        match dur {
            Some(dur) => dur.push(&mut text),
            None => push_micros(to.saturating_sub(from), &mut text),
        }
        patches.field(event, Field::Dur, &text);
        patches.apply(event.bytes)
    }
}

/// Returns whether the time of an event has digits below a nanosecond.
pub(super) fn has_rest(entry: Entry, store: &Store<'_>) -> bool {
    let bytes = store.event(entry.place);
    entry.place.rank() == EXACT && fields_of(bytes).of(bytes).ts().is_some_and(|ts| !ts.exact)
}
