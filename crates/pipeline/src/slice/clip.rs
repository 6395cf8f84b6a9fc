//! What lasts, cut at the edges of windows: pairs of `B`/`E`, `b`/`e`, `S`/`F`, flows and counters.
//!
//! ```text
//!            from          to
//!   B ────────│──── E       │          re-opened at from: the B with ts = from
//!             │   B ────────│──── E    closed at to: an E made of the B
//!   B ────────│─────────────│──── E    both
//!   B ─── E   │             │          nothing: it ended before, or at from
//! ```
//!
//! Which `B` an `E` closes [`tracemill_trace::event::pairing`] says; an async end closes the latest open begin of its key. What is never closed is open to the end of the trace. An edge behind which the trace has nothing
//! closes nothing.
//!
//! A flow is re-opened at `from` only where a step of it lies inside: viewers bind it to what encloses its start, and
//! that is cut there too. A counter's last value before a window is repeated at `from` unless there is a new one.
//!
//! All parts before the end of the last window are walked once: key after key, those of a key in the order of the
//! output. What is to be made is noted, and made in the order of all when the walk is over (`edge`). Heap: 104 bytes for
//! each B or begin that is open at one time in one thread or id.

use super::complete::has_rest;
use super::edge::{EdgeEvent, EdgeKind};
use tracemill_join::config::OPEN;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::event::{PairEvent, PairKind, PairStep};
use tracemill_trace::order::{ExternalSorter, Gather, Order};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::{EXACT, Entry};
use tracemill_trace::time::bounds::Bounds;
use tracemill_trace::time::windows::Windows;

/// Something that has begun.
#[derive(Clone, Copy)]
struct OpenPair {
    kind: PairKind,
    entry: Entry,
    /// Whether it begins in the window at hand; what does not comes before what does.
    own: bool,
    /// Its begin, or of flows that are re-opened the first step inside.
    number: Entry,
    /// Whether it stands in the window at hand.
    shown: bool,
}

impl OpenPair {
    fn at_edge(&self, window: usize, turn: EdgeKind) -> EdgeEvent {
        let &OpenPair { kind, entry: begin, number, .. } = self;
        EdgeEvent { window: window as u32, turn, kind, begin, number }
    }
}

/// Walks over the parts of pairs.
pub(super) struct Clip<'k, 'j, 'p> {
    store: &'j Store<'p>,
    windows: &'j Windows,
    bounds: Bounds,
    kept: &'k mut Gather<'j, 'p>,
    edges: ExternalSorter<EdgeEvent>,
    /// The key at hand, and what of it is open.
    owner: u128,
    open: Begins<OpenPair>,
    /// The last value of a counter.
    counter: Option<OpenPair>,
    /// The window at hand, and the one that comes next.
    current: Option<usize>,
    next: usize,
    /// Whether what is open has yet to be re-opened in the window at hand.
    pending: bool,
    /// See [`WindowPlan`](tracemill_join::read_plan::WindowPlan).
    only_by_name: bool,
    quota: Quota,
}

impl<'k, 'j, 'p> Clip<'k, 'j, 'p> {
    /// What stays goes to `kept`, what is to be made to `edges`, which is empty.
    pub(super) fn new(
        store: &'j Store<'p>,
        windows: &'j Windows,
        bounds: Bounds,
        kept: &'k mut Gather<'j, 'p>,
        edges: ExternalSorter<EdgeEvent>,
        only_by_name: bool,
        quota: Quota,
    ) -> Self {
        Clip {
            store,
            windows,
            bounds,
            kept,
            edges,
            owner: 0,
            open: Begins::default(),
            counter: None,
            current: None,
            next: 0,
            pending: false,
            only_by_name,
            quota,
        }
    }

    /// Takes the next part.
    pub(super) fn take(&mut self, part: &PairEvent) -> Result<(), Error> {
        if part.owner() != self.owner {
            self.end_key()?;
            self.owner = part.owner();
        }
        self.pass_edges(part.entry.time)?;
        if self.pending && !self.is_at_edge(part.entry) {
            self.reopen()?;
        }
        let stays = self.owner == 0 || self.note(part)?;
        if stays && self.current.is_some() { self.kept.push(part.entry) } else { Ok(()) }
    }

    /// Whether an event stands exactly where the window at hand begins.
    fn is_at_edge(&self, entry: Entry) -> bool {
        let at_edge = self.current.is_some_and(|window| self.windows.0[window].from == entry.time);
        at_edge && (entry.place.rank() != EXACT || !has_rest(entry, self.store))
    }

    /// Notes a part; false if it goes though it stands in a window.
    fn note(&mut self, part: &PairEvent) -> Result<bool, Error> {
        let shown = self.current.is_some();
        let &PairEvent { entry, kind, step, .. } = part;
        let new = OpenPair { kind, entry, own: true, number: entry, shown };
        match (kind, step) {
            (PairKind::Counter, _) => self.counter = Some(new),
            (PairKind::Flow, PairStep::Begin) => {
                self.open.clear();
                self.open.begin(0, new);
            }
            (PairKind::Flow, _) => {
                self.show_flow(entry)?;
                if step == PairStep::End {
                    self.open.clear();
                }
            }
            (_, PairStep::Begin) => {
                part.open_in(&mut self.open, new);
                self.quota.check(self.open.heap(), OPEN)?;
            }
            (_, PairStep::Middle) => {}
            (_, PairStep::End) => {
                if let Some(begin) = part.close_in(&mut self.open, self.only_by_name) {
                    // it ends where the window begins: none of it lies inside
                    return Ok(begin.shown || !shown);
                }
            }
        }
        Ok(true)
    }

    /// Re-opens the flow for a step of it, if that stands in a window where it is not open yet.
    fn show_flow(&mut self, step: Entry) -> Result<(), Error> {
        let Some(window) = self.current else { return Ok(()) };
        let Some(flow) = self.open.innermost_mut().filter(|flow| !flow.shown) else {
            return Ok(());
        };
        (flow.shown, flow.own, flow.number) = (true, false, step);
        self.edges.push(flow.at_edge(window, EdgeKind::Flow), Order(self.store))
    }

    /// Ends and begins the windows whose edges come before `time`, or at it.
    fn pass_edges(&mut self, time: i64) -> Result<(), Error> {
        let windows = &self.windows.0;
        loop {
            if let Some(window) = self.current {
                if time < windows[window].to {
                    return Ok(());
                }
                self.close(window)?;
            }
            if !self.lasts() {
                self.next += windows[self.next..].partition_point(|window| window.to <= time);
            }
            match windows.get(self.next) {
                Some(window) if time >= window.from => {
                    self.current = Some(self.next);
                    self.next += 1;
                    self.pending = true;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Whether anything is to be made in windows without parts.
    fn lasts(&self) -> bool {
        self.counter.is_some()
            || self.open.innermost().is_some_and(|open| open.kind != PairKind::Flow)
    }

    /// Re-opens what is open, and repeats the counter, where the window at hand begins.
    fn reopen(&mut self) -> Result<(), Error> {
        self.pending = false;
        let Some(window) = self.current else { return Ok(()) };
        let Clip { store, edges, open, counter, .. } = self;
        let mut reopen = |open: &mut OpenPair| {
            if open.kind == PairKind::Flow || open.shown {
                return Ok(());
            }
            (open.shown, open.own) = (true, false);
            edges.push(open.at_edge(window, EdgeKind::Reopened), Order(store))
        };
        open.each_mut(&mut reopen)?;
        counter.iter_mut().try_for_each(reopen)
    }

    /// Closes what is open at the end of the window at hand.
    fn close(&mut self, window: usize) -> Result<(), Error> {
        if self.pending {
            self.reopen()?;
        }
        self.current = None;
        let to = self.windows.0[window].to;
        let goes_on = self.bounds.last >= to || self.bounds.end > to;
        let Clip { store, edges, open, .. } = self;
        open.each_mut(|open| {
            if !std::mem::take(&mut open.shown) || !goes_on {
                return Ok(());
            }
            let turn = if open.own { EdgeKind::ClosedOwn } else { EdgeKind::Closed };
            edges.push(open.at_edge(window, turn), Order(store))
        })?;
        self.counter.iter_mut().for_each(|counter| counter.shown = false);
        Ok(())
    }

    /// All parts were taken; returns what is to be made.
    pub(super) fn finish(mut self) -> Result<ExternalSorter<EdgeEvent>, Error> {
        self.end_key()?;
        Ok(self.edges)
    }

    /// All parts of the key at hand were taken: the trace may go on in windows without any.
    fn end_key(&mut self) -> Result<(), Error> {
        self.pass_edges(self.bounds.last.max(self.bounds.end.saturating_sub(1)))?;
        if let Some(window) = self.current {
            self.close(window)?;
        }
        self.open.clear();
        (self.counter, self.next, self.pending) = (None, 0, false);
        Ok(())
    }
}
