//! Walks over a thread's entries once for several visitors (DevTools: `forEachEvent`).

use crate::entries::Entry;
use crate::events::kinds::flag;
use crate::value::clock::{Clock, Window};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// An entry on two clocks: that of the flame chart, and one that runs only in counted time.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// The entry with its times in the flame chart.
    pub written: Entry,
    /// The entry on the clock that runs only in counted time.
    pub entry: Entry,
}

/// A visitor of the entries that lie in a window, in the order of their starts and ends.
pub trait Visit {
    /// Visits the start of an entry. `sum` is the duration of the entry within the window, in
    /// milliseconds, or exact nanoseconds.
    fn start(&mut self, counted: &Counted, sum: f64);
    /// Visits the end of the innermost open entry. `sum` is the time of the end, in milliseconds,
    /// or exact nanoseconds, limited to the end of the window.
    fn end(&mut self, counted: &Counted, sum: f64);
    /// Visits an entry without a duration.
    fn instant(&mut self, _own: &Counted) {}
    /// Returns the number of heap bytes allocated since the last call of this method.
    fn grown(&mut self) -> Result<u64, Error>;
}

#[derive(Clone, Copy)]
pub(crate) struct Filter<'f> {
    pub(crate) flags: &'f [u16],
    /// Whether only event types that DevTools shows are visited.
    pub(crate) shown_only: bool,
    pub(crate) with_tasks: bool,
    /// Whether an event that ends at exactly 0 is never closed, as in DevTools.
    pub(crate) as_devtools: bool,
    pub(crate) clock: Clock,
}

impl Filter<'_> {
    #[inline]
    pub(crate) fn flags(&self, entry: &Entry) -> u16 {
        if entry.is_call() { flag::SHOWN } else { self.flags[entry.kind as usize] }
    }

    /// Returns whether the walk visits an entry.
    #[inline]
    pub(crate) fn takes(&self, entry: &Entry) -> bool {
        let flags = self.flags(entry);
        (self.with_tasks || flags & flag::RUN_TASK == 0)
            && (!self.shown_only || flags & flag::SHOWN != 0)
    }
}

/// Heap bytes of one visitor for each open entry.
const OPEN: usize = 32;

/// Number of entries between memory checks.
const ASKED_EVERY: u32 = 1 << 12;

/// Passes the entries of the window to the visitors. `before` must iterate over the same entries as
/// `entries`.
///
/// Cost: visits each entry up to the end of the window once, and each entry before the start of the
/// window a second time.
///
/// # Errors
/// Returns [`tracemill_trace::ErrorKind::Exceeded`] if the visitors exceed the memory budget.
pub(crate) fn walk(
    before: impl Iterator<Item = Counted>,
    entries: impl Iterator<Item = Counted>,
    window: Window,
    filter: Filter<'_>,
    visits: &mut [&mut dyn Visit],
    room: &Quota,
) -> Result<(), Error> {
    let clock = filter.clock;
    let (start, end) = (clock.tick(window.from), clock.tick(window.to));
    // DevTools takes a window that ends at 0 for one without an end.
    let end =
        if end.is_nan() || end == 0.0 && clock.origin().is_none() { f64::INFINITY } else { end };
    let clipped = |entry: &Entry| js_min(clock.sum(entry.end()), window.to);
    let mut open: Vec<Counted> = Vec::new();
    let is_open = |entry: &Entry, time: f64| {
        let ends = entry.end();
        !(ends <= time && (ends != 0.0 || !filter.as_devtools))
    };
    let mut until_asked = ASKED_EVERY;
    for counted in entries.skip(first(before, start, filter)) {
        let entry = counted.entry;
        if entry.end() < start {
            continue;
        }
        if entry.ts > end {
            break;
        }
        while let Some(last) = open.pop_if(|last| !is_open(&last.entry, entry.ts)) {
            visits.iter_mut().for_each(|visit| visit.end(&last, clipped(&last.entry)));
        }
        if !filter.takes(&entry) {
            continue;
        }
        if entry.dur == 0.0 || entry.dur.is_nan() {
            visits.iter_mut().for_each(|visit| visit.instant(&counted));
            continue;
        }
        let sum = clipped(&entry) - js_max(window.from, clock.sum(entry.ts));
        visits.iter_mut().for_each(|visit| visit.start(&counted, sum));
        open.push(counted);
        until_asked -= 1;
        if until_asked == 0 {
            until_asked = ASKED_EVERY;
            let level = size_of::<Counted>() + OPEN * visits.len();
            room.check((open.len() * level) as u64, "events that lie in each other")?;
            ask(visits, room)?;
        }
    }
    while let Some(last) = open.pop() {
        visits.iter_mut().for_each(|visit| visit.end(&last, clipped(&last.entry)));
    }
    ask(visits, room)
}

fn ask(visits: &mut [&mut dyn Visit], room: &Quota) -> Result<(), Error> {
    visits.iter_mut().try_for_each(|visit| room.take(visit.grown()?, "the rows of trees"))
}

/// Returns the number of entries to skip: all before the last `RunTask` of the timeline that begins
/// at or before `start`.
fn first(entries: impl Iterator<Item = Counted>, start: f64, filter: Filter<'_>) -> usize {
    let before = entries.take_while(|counted| start - counted.entry.ts >= 0.0).enumerate();
    let is_top = |entry: &Entry| filter.flags(entry) & flag::TOP_LEVEL != 0;
    before.fold(0, |first, (at, counted)| if is_top(&counted.entry) { at } else { first })
}

pub(crate) fn js_min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

pub(crate) fn js_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
