//! One walk over a thread's events, with many visitors at once: `forEachEvent` (devtools-semantics §7.3).

use crate::entries::Entry;
use crate::kinds::flag;

/// The stretch of time that is looked at, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// What is told of each event within the window.
pub(crate) trait Visit {
    /// An event that lasts `ms` within the window begins; `at` is its place among the entries.
    fn start(&mut self, at: usize, entry: &Entry, ms: f64);
    /// The innermost event ends, at `ms` or with the window.
    fn end(&mut self, at: usize, entry: &Entry, ms: f64);
    /// An event that lasts no time.
    fn instant(&mut self, _at: usize, _entry: &Entry) {}
}

/// Which events count, and how far DevTools is followed.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'f> {
    pub(crate) flags: &'f [u16],
    /// Whether only events of types count that DevTools shows.
    pub(crate) shown_only: bool,
    /// Whether an event that ends at exactly 0 is never closed, as in DevTools.
    pub(crate) as_devtools: bool,
}

impl Filter<'_> {
    /// Flags of an entry.
    #[inline]
    pub(crate) fn flags(&self, entry: &Entry) -> u16 {
        if entry.is_call() { flag::SHOWN } else { self.flags[entry.kind as usize] }
    }

    #[inline]
    fn takes(&self, entry: &Entry) -> bool {
        let flags = self.flags(entry);
        flags & flag::RUN_TASK == 0 && (!self.shown_only || flags & flag::SHOWN != 0)
    }
}

/// Walks over the entries at `drawn`, in order, within the window. Cost: what lies in it, and what is open at its start.
pub(crate) fn walk(
    entries: &[Entry],
    drawn: &[u32],
    window: Window,
    filter: Filter<'_>,
    visits: &mut [&mut dyn Visit],
) {
    let (start, end) = (window.from * 1000.0, window.to * 1000.0);
    // DevTools takes an end of 0 for none
    let end = if end == 0.0 || end.is_nan() { f64::INFINITY } else { end };
    let clipped = |entry: &Entry| js_min(entry.end() / 1000.0, window.to);
    let mut open: Vec<usize> = Vec::new();
    let is_open = |entry: &Entry, time: f64| {
        let ends = entry.end();
        !(ends <= time && (ends != 0.0 || !filter.as_devtools))
    };
    for &at in &drawn[first(entries, drawn, start, filter)..] {
        let (at, entry) = (at as usize, &entries[at as usize]);
        if entry.end() < start {
            continue;
        }
        if entry.ts > end {
            break;
        }
        while let Some(&last) = open.last()
            && !is_open(&entries[last], entry.ts)
        {
            open.pop();
            visits.iter_mut().for_each(|v| v.end(last, &entries[last], clipped(&entries[last])));
        }
        if !filter.takes(entry) {
            continue;
        }
        if entry.dur == 0.0 || entry.dur.is_nan() {
            visits.iter_mut().for_each(|visit| visit.instant(at, entry));
            continue;
        }
        let ms = clipped(entry) - js_max(window.from, entry.ts / 1000.0);
        visits.iter_mut().for_each(|visit| visit.start(at, entry, ms));
        open.push(at);
    }
    while let Some(last) = open.pop() {
        visits.iter_mut().for_each(|v| v.end(last, &entries[last], clipped(&entries[last])));
    }
}

/// Where the walk begins: at the last entry that begins by then, and back to a `RunTask` of the timeline.
fn first(entries: &[Entry], drawn: &[u32], start: f64, filter: Filter<'_>) -> usize {
    let behind = drawn.partition_point(|&at| start - entries[at as usize].ts >= 0.0);
    let mut at = behind.saturating_sub(1);
    let is_top = |at: usize| filter.flags(&entries[drawn[at] as usize]) & flag::TOP_LEVEL != 0;
    while at > 0 && !is_top(at) {
        at -= 1;
    }
    at
}

/// `Math.min`
pub(crate) fn js_min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

/// `Math.max`
pub(crate) fn js_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
