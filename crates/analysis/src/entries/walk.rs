//! One walk over a thread's events, with many visitors at once: `forEachEvent` (devtools-semantics §7.3).

use crate::entries::Entry;
use crate::events::kinds::flag;
use crate::value::clock::{Clock, Window};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;

/// An entry that counts.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    /// As it stands in the flame chart.
    pub written: Entry,
    /// On the clock of the time that counts.
    pub entry: Entry,
}

/// What is told of each event within the window.
pub trait Visit {
    /// An event that lasts so long within the window begins.
    fn start(&mut self, own: &Counted, sum: f64);
    /// The innermost event ends, at a time or with the window.
    fn end(&mut self, own: &Counted, sum: f64);
    /// An event that lasts no time.
    fn instant(&mut self, _own: &Counted) {}
    /// Bytes of heap that it took since this was asked for last.
    ///
    /// # Errors
    /// What temporary files said.
    fn grown(&mut self) -> Result<u64, Error>;
}

/// Which events count, and how far DevTools is followed.
#[derive(Clone, Copy)]
pub(crate) struct Filter<'f> {
    pub(crate) flags: &'f [u16],
    /// Whether only events of types count that DevTools shows.
    pub(crate) shown_only: bool,
    /// Whether tasks count too.
    pub(crate) with_tasks: bool,
    /// Whether an event that ends at exactly 0 is never closed, as in DevTools.
    pub(crate) as_devtools: bool,
    pub(crate) clock: Clock,
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
        (self.with_tasks || flags & flag::RUN_TASK == 0)
            && (!self.shown_only || flags & flag::SHOWN != 0)
    }
}

/// Bytes of heap that a visitor has of an entry that is open.
const OPEN: usize = 32;

/// Entries after which visitors are asked what they take.
const ASKED_EVERY: u32 = 1 << 12;

/// Walks over entries, in order, within the window; `before` gives them a second time. Cost: one look at each up to
/// the end of the window, and a second one at those before its start. `room` is that of the visitors.
///
/// # Errors
/// [`tracemill_trace::ErrorKind::Exceeded`] if what visitors make is more than there is room for; what temporary files say.
pub(crate) fn walk(
    (before, entries): (impl Iterator<Item = Counted>, impl Iterator<Item = Counted>),
    window: Window,
    filter: Filter<'_>,
    visits: &mut [&mut dyn Visit],
    room: &Quota,
) -> Result<(), Error> {
    let clock = filter.clock;
    let (start, end) = (clock.tick(window.from), clock.tick(window.to));
    // DevTools takes an end of 0 for none
    let end =
        if end.is_nan() || end == 0.0 && clock.origin().is_none() { f64::INFINITY } else { end };
    let clipped = |entry: &Entry| js_min(clock.sum(entry.end()), window.to);
    let mut open: Vec<Counted> = Vec::new();
    let is_open = |entry: &Entry, time: f64| {
        let ends = entry.end();
        !(ends <= time && (ends != 0.0 || !filter.as_devtools))
    };
    let mut until_asked = ASKED_EVERY;
    for own in entries.skip(first(before, start, filter)) {
        let entry = own.entry;
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
            visits.iter_mut().for_each(|visit| visit.instant(&own));
            continue;
        }
        let sum = clipped(&entry) - js_max(window.from, clock.sum(entry.ts));
        visits.iter_mut().for_each(|visit| visit.start(&own, sum));
        open.push(own);
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

/// How many come before the walk begins: it does at the last entry that begins by then, and back to a `RunTask` of the timeline.
fn first(entries: impl Iterator<Item = Counted>, start: f64, filter: Filter<'_>) -> usize {
    let before = entries.take_while(|own| start - own.entry.ts >= 0.0).enumerate();
    let is_top = |entry: &Entry| filter.flags(entry) & flag::TOP_LEVEL != 0;
    before.fold(0, |first, (at, own)| if is_top(&own.entry) { at } else { first })
}

/// `Math.min`
pub(crate) fn js_min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

/// `Math.max`
pub(crate) fn js_max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}
