//! The window that DevTools' panel shows first: the window stored in the trace, or the busy part of
//! the first track (`calculateWindow`).

use crate::entries::Entry;
use crate::entries::walk::{js_max, js_min};
use crate::names::groups::{GroupBy, Ids};
use crate::trace::choose::ThreadChoice;
use crate::trace::{Thread, Trace};
use crate::value::clock::Window;
use tracemill_trace::spill::SpilledVec;
use tracemill_trace::{Error, record};

record! {
    /// Start and duration of an entry in ticks (time units of the trace's clock).
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Taken {
        ts: f64,
        dur: f64,
    }
}

impl Taken {
    fn middle(&self) -> f64 {
        (self.ts + (self.ts + self.dur)) / 2.0
    }
}

/// Minimum length of a displayed window in microseconds.
const SHORTEST: f64 = 1000.0;

impl Trace {
    /// Returns the window that DevTools' panel shows first, in milliseconds on the trace's clock.
    /// The trace must be read with [`crate::ReadRules::as_stored`].
    ///
    /// The method computes the flame chart of the first track. Memory: 16 bytes per entry, on disk
    /// beyond the budget.
    ///
    /// # Errors
    /// Returns an I/O error if a temporary file fails.
    pub fn opening_window(&self) -> Result<Window, Error> {
        let bounds = self.ticks();
        let (mut minimap, mut visible) = (bounds, bounds);
        let breadcrumb = self.modifications.breadcrumb;
        if let Some(window) = breadcrumb.filter(|window| window.range >= SHORTEST) {
            minimap = (self.clock.of_written(window.min), self.clock.of_written(window.max));
            visible = minimap;
        }
        let choice = ThreadChoice { as_panel: true, ..ThreadChoice::default() };
        if breadcrumb.is_none_or(|window| window.is_first)
            && let Some(&first) = self.choose(&choice).first()
        {
            let busy = self.busy_window(&self.threads[first])?;
            let is_short = self.clock.micros(busy.1 - busy.0) < SHORTEST;
            if !is_short {
                visible = (js_max(minimap.0, busy.0), js_min(minimap.1, busy.1));
            }
        }
        Ok(self.clock.window_of(visible.0, visible.1))
    }

    /// Returns the busy part of a thread in ticks (DevTools: `calculateWindow`).
    fn busy_window(&self, thread: &Thread) -> Result<(f64, f64), Error> {
        let taken = self.taken(thread)?;
        if taken.is_empty() {
            return Ok(self.ticks());
        }
        let right = quiet_up_to(&taken, taken.len() - 1, 0);
        let left = quiet_up_to(&taken, 0, right);
        let event_at = |at: usize| taken.get(at).unwrap_or(Taken { ts: f64::NAN, dur: f64::NAN });
        let (from, to) = (event_at(left).ts, event_at(right).ts + event_at(right).dur);
        let (first, last) = self.ticks();
        let span = to - from;
        if span < (last - first) * 0.1 {
            return Ok(self.ticks());
        }
        Ok((js_max(from - 0.05 * span, first), js_min(to + 0.05 * span, last)))
    }

    /// Returns the entries of a thread in order, without V8's `(idle)`, `(program)` and `(root)`.
    fn taken(&self, thread: &Thread) -> Result<SpilledVec<Taken>, Error> {
        let track = self.track(thread)?;
        let ids = Ids::new(self, thread, GroupBy::None, true);
        let is_idle = |entry: &Entry| {
            let function = ids.frame(entry).map(|frame| self.names.bytes_of(frame.function));
            matches!(function, Some(b"(program)" | b"(idle)" | b"(root)" | b""))
        };
        let mut taken = self.space().spool(2);
        for event in track.merged().filter(|event| !is_idle(&event.entry)) {
            taken.extend(&[Taken { ts: event.entry.ts, dur: event.entry.dur }])?;
        }
        taken.take()
    }
}

/// Returns the last entry, on the way from `start` to `stop`, up to which the thread is mostly
/// idle.
fn quiet_up_to(all: &SpilledVec<Taken>, start: usize, stop: usize) -> usize {
    const LITTLE: f64 = 0.1;
    let event_at = |at: usize| all.get(at).unwrap_or(Taken { ts: f64::NAN, dur: f64::NAN });
    let (mut cut, mut cut_time, mut used) = (start, event_at(start).middle(), 0.0);
    let mut at = start;
    while at != stop {
        let entry = event_at(at);
        let time = entry.middle();
        if used < LITTLE * (cut_time - time).abs() {
            (cut, cut_time, used) = (at, time, 0.0);
        }
        used += entry.dur;
        at = if stop > start { at + 1 } else { at - 1 };
    }
    cut
}
