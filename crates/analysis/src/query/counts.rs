//! What is counted of what is drawn, while it is walked over.

use crate::entries::ignored::Ignored;
use crate::entries::walk::{Counted, Visit};
use crate::names::groups::Ids;
use crate::query::picks::Drawn;
use tracemill_trace::run::error::Error;

/// What is counted of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) drawn: u64,
    /// Calls among them.
    pub(crate) calls: u64,
    /// Calls that DevTools would not draw.
    pub(crate) listed: u64,
    /// Entries that have no place.
    pub(crate) dropped: u64,
    /// Those that are not drawn for another reason than what they are.
    pub(crate) left_out: LeftOut,
}

/// Entries that would be drawn if nobody had chosen what is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Calls on the ignore list below others of these.
    pub(crate) ignored: u64,
    /// Entries that were hidden when the trace was stored.
    pub(crate) hidden: u64,
}

/// Hands entries on and counts those that touch a stretch of time.
pub(crate) struct Counting<'m, I> {
    drawn: I,
    /// In microseconds.
    within: (f64, f64),
    list: Option<Ignored<'m>>,
    counts: Counts,
}

impl<'m, I: Iterator<Item = Drawn>> Counting<'m, I> {
    /// `list` finds calls that are listed.
    pub(crate) fn new(drawn: I, within: (f64, f64), list: Option<Ignored<'m>>) -> Self {
        Counting { drawn, within, list, counts: Counts::default() }
    }

    /// The counts of what is drawn. Cost: a look at each entry that was not taken, up to the end of the stretch.
    pub(crate) fn finish(mut self) -> Counts {
        let end = self.within.1;
        while self.next().is_some_and(|own| own.entry.ts <= end || own.entry.ts.is_nan()) {}
        self.counts
    }
}

impl<I: Iterator<Item = Drawn>> Iterator for Counting<'_, I> {
    type Item = Drawn;

    #[inline]
    fn next(&mut self) -> Option<Drawn> {
        let drawn = self.drawn.next()?;
        let counts = drawn.entry.touches(self.within);
        self.counts.drawn += u64::from(counts);
        self.counts.calls += u64::from(counts && drawn.entry.is_call());
        if let Some(list) = &mut self.list {
            let is_listed = list.leaves_out(&drawn.entry, drawn.depth);
            self.counts.listed += u64::from(counts && is_listed);
        }
        Some(drawn)
    }
}

/// Adds up the self time of calls that stand for a CPU that does nothing.
pub(crate) struct IdleTime<'i, 't> {
    ids: &'i Ids<'t>,
    /// Whether each open entry is such a call.
    open: Vec<bool>,
    /// In the sums of the clock.
    pub(crate) sum: f64,
}

impl<'i, 't> IdleTime<'i, 't> {
    pub(crate) fn new(ids: &'i Ids<'t>) -> Self {
        IdleTime { ids, open: Vec::new(), sum: 0.0 }
    }
}

impl Visit for IdleTime<'_, '_> {
    fn start(&mut self, counted: &Counted, sum: f64) {
        let is_idle = self.ids.is_idle(&counted.entry);
        self.sum += match (self.open.last() == Some(&true), is_idle) {
            (false, true) => sum,
            (true, false) => -sum,
            _ => 0.0,
        };
        self.open.push(is_idle);
    }

    fn end(&mut self, _own: &Counted, _sum: f64) {
        self.open.pop();
    }

    fn grown(&mut self) -> Result<u64, Error> {
        Ok(0)
    }
}
