//! Visitors of the walk for reports: busy time and gaps, and call trees of intervals.

use tracemill_analysis::Window;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::entries::walk::{Counted, Visit};
use tracemill_analysis::tree::Rows;
use tracemill_analysis::tree::views::{Identify, TopDown, TopDownRules};
use tracemill_analysis::value::clock::Clock;
use tracemill_analysis::value::space::Space;
use tracemill_trace::Error;

/// Measures the busy time of a thread, and the gaps between its entries.
pub(crate) struct Between<'i> {
    is_idle: &'i dyn Fn(&Entry) -> bool,
    /// The window. All times of this struct are milliseconds or exact nanoseconds.
    window: Window,
    clock: Clock,
    /// Number of open entries that count.
    depth: u32,
    /// End of the last outermost entry.
    until: f64,
    longest: Option<Window>,
    /// Start of the open outermost entry.
    since: f64,
    /// Sum of busy time.
    busy: f64,
    /// Start of the first entry and end of the last, also of idle ones.
    bounds: Option<(f64, f64)>,
    pub(crate) events: u64,
}

impl<'i> Between<'i> {
    /// Creates a visitor. `is_idle` recognises calls to V8's `(idle)`, which have no callees.
    pub(crate) fn new(window: Window, clock: Clock, is_idle: &'i dyn Fn(&Entry) -> bool) -> Self {
        let (until, since, longest) = (window.from, window.from, None);
        let (depth, busy, bounds, events) = (0, 0.0, None, 0);
        Between { is_idle, window, clock, depth, until, longest, since, busy, bounds, events }
    }

    fn gap(&mut self, to: f64) {
        let length = self.longest.map_or(0.0, |gap| gap.to - gap.from);
        if to - self.until > length {
            self.longest = Some(Window { from: self.until, to });
        }
    }

    /// Returns the busy time in milliseconds.
    pub(crate) fn busy(&self) -> f64 {
        self.clock.ms(self.busy)
    }

    /// Returns the time from the first entry to the last in milliseconds.
    pub(crate) fn time(&self) -> f64 {
        self.bounds.map_or(0.0, |(from, to)| self.clock.ms(to - from))
    }

    /// Returns the longest gap, in milliseconds. The times before the first and after the last
    /// entry are gaps too.
    pub(crate) fn finish(mut self) -> Option<Window> {
        self.gap(self.window.to);
        self.longest.map(|gap| self.clock.window(gap))
    }
}

impl Visit for Between<'_> {
    fn start(&mut self, Counted { entry, .. }: &Counted, _ms: f64) {
        let starts = self.clock.sum(entry.ts).max(self.window.from);
        self.bounds.get_or_insert((starts, starts));
        if (self.is_idle)(entry) {
            return;
        }
        self.events += 1;
        if self.depth == 0 {
            let starts = self.clock.sum(entry.ts);
            self.gap(starts);
            self.since = self.until.max(starts);
        }
        self.depth += 1;
    }

    fn instant(&mut self, Counted { entry, written }: &Counted) {
        self.events += u64::from(written.is_without_duration() && !(self.is_idle)(entry));
    }

    fn end(&mut self, Counted { entry, .. }: &Counted, ms: f64) {
        if let Some(bounds) = &mut self.bounds {
            bounds.1 = bounds.1.max(ms);
        }
        if (self.is_idle)(entry) {
            return;
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.busy += (ms - self.since).max(0.0);
            self.until = self.until.max(ms);
        }
    }

    fn grown(&mut self) -> Result<u64, Error> {
        Ok(0)
    }
}

/// Builds a call tree of each interval, from the entries that begin and end in the interval.
pub(crate) struct Within<'i, I> {
    /// Intervals in ticks (time units of the trace's clock), by start.
    ranges: Vec<(f64, f64)>,
    clock: Clock,
    trees: Vec<TopDown<'i, I>>,
    /// Index of the first interval in `ranges` that the walk has not reached.
    next: usize,
    /// Indices of the intervals that have begun and may not be over.
    active: Vec<usize>,
    /// Trees to which each open entry belongs, and the index in this list at which the trees of
    /// each entry begin.
    open: Vec<usize>,
    starts: Vec<usize>,
}

impl<'i, I: Identify> Within<'i, I> {
    pub(crate) fn new(ids: &'i I, ranges: Vec<(f64, f64)>, clock: Clock, space: &Space) -> Self {
        let space = space.divided(ranges.len());
        let tree = |_| TopDown::new(ids, &space, TopDownRules::default());
        let trees = ranges.iter().map(tree).collect();
        let (active, open, starts) = (Vec::new(), Vec::new(), Vec::new());
        Within { ranges, clock, trees, next: 0, active, open, starts }
    }

    pub(crate) fn finish(self) -> impl Iterator<Item = Rows> {
        let (windows, sum) = (self.ranges.into_iter(), move |tick| self.clock.sum(tick));
        let windows = windows.map(move |(from, to)| Window { from: sum(from), to: sum(to) });
        self.trees.into_iter().zip(windows).map(|(tree, window)| tree.finish(window))
    }
}

impl<I: Identify> Visit for Within<'_, I> {
    fn start(&mut self, counted: &Counted, ms: f64) {
        let entry = &counted.entry;
        while self.ranges.get(self.next).is_some_and(|(from, _)| *from <= entry.ts) {
            self.active.push(self.next);
            self.next += 1;
        }
        let ranges = &self.ranges;
        self.active.retain(|&at| ranges[at].1 > entry.ts);
        self.starts.push(self.open.len());
        for &at in &self.active {
            self.trees[at].start(counted, ms);
            self.open.push(at);
        }
    }

    fn end(&mut self, counted: &Counted, ms: f64) {
        let from = self.starts.pop().unwrap_or(0);
        for at in self.open.drain(from..) {
            self.trees[at].end(counted, ms);
        }
    }

    fn grown(&mut self) -> Result<u64, Error> {
        self.trees.iter_mut().map(Visit::grown).sum()
    }
}
