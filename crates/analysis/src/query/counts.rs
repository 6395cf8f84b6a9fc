//! Counts drawn entries while they are walked.

use crate::entries::ignored::Ignored;
use crate::entries::walk::{Counted, Visit};
use crate::names::groups::Ids;
use crate::query::picks::Drawn;
use crate::value::clock::TickRange;
use tracemill_trace::run::error::Error;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) drawn: u64,
    /// Number of calls among the drawn entries.
    pub(crate) calls: u64,
    /// Number of calls that DevTools would not draw, because of its ignore list.
    pub(crate) listed: u64,
    /// Number of entries that overlap their parent and are therefore dropped.
    pub(crate) dropped: u64,
    /// Numbers of entries that the query leaves out.
    pub(crate) left_out: LeftOut,
}

/// Numbers of drawable entries that a rule of the query leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Calls that are on the ignore list together with their callers.
    pub(crate) ignored: u64,
    /// Entries that the view stored with the trace hides.
    pub(crate) hidden: u64,
}

/// An iterator adapter that counts the entries within a time range.
pub(crate) struct Counting<'m, I> {
    drawn: I,
    /// Counted time range in ticks (time units of the trace's clock).
    within: TickRange,
    list: Option<Ignored<'m>>,
    counts: Counts,
}

impl<'m, I: Iterator<Item = Drawn>> Counting<'m, I> {
    /// Creates an adapter; `list` detects calls on the ignore list.
    pub(crate) fn new(drawn: I, within: TickRange, list: Option<Ignored<'m>>) -> Self {
        Counting { drawn, within, list, counts: Counts::default() }
    }

    /// Returns the counts. Cost: visits the remaining entries up to the end of the time range.
    pub(crate) fn finish(mut self) -> Counts {
        let end = self.within.to;
        while self
            .next()
            .is_some_and(|counted| counted.entry.ts <= end || counted.entry.ts.is_nan())
        {}
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

/// Sums the self time of calls to V8's `(idle)`.
pub(crate) struct IdleTime<'i, 't> {
    ids: &'i Ids<'t>,
    open: Vec<bool>,
    /// Sum in milliseconds, or exact nanoseconds.
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
