//! Cuts pairs (`B`/`E`, `b`/`e`, `S`/`F`), flows and counters at the edges of windows.
//!
//! ```text
//!            from          to
//!   B ────────│──── E       │          re-opened at from: the B with ts = from
//!             │   B ────────│──── E    closed at to: a synthetic E
//!   B ────────│─────────────│──── E    both
//!   B ─── E   │             │          nothing: it ends before or at from
//! ```
//!
//! [`tracemill_trace::event::pairing`] decides which `B` an `E` closes; an async end closes the
//! latest open begin of its key. A begin without an end lasts to the end of the trace. Nothing is
//! closed at an edge after which there are no events.
//!
//! A flow is re-opened at `from` only if a step of it is inside, because viewers bind a flow to the
//! slice around its start. The last value of a counter before a window is repeated at `from`,
//! unless the counter has a new value at `from`.
//!
//! Visits all events of pairs before the end of the last window once, sorted by key and output
//! order. Memory: 104 bytes per open begin.

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

/// An open begin event, flow or counter.
#[derive(Clone, Copy)]
struct OpenPair {
    kind: PairKind,
    entry: Entry,
    /// Whether the event begins in the current window.
    begins_here: bool,
    /// The begin event, or the first inside step of a flow that is re-opened.
    number: Entry,
    /// Whether the slice is open in the output of the current window.
    shown: bool,
}

impl OpenPair {
    fn at_edge(&self, window: usize, turn: EdgeKind) -> EdgeEvent {
        let &OpenPair { kind, entry: begin, number, .. } = self;
        EdgeEvent { window: window as u32, turn, kind, begin, number }
    }
}

/// Walks over the events of all pairs and cuts pairs at edges.
pub(super) struct Clip<'k, 'j, 'p> {
    store: &'j Store<'p>,
    windows: &'j Windows,
    bounds: Bounds,
    kept: &'k mut Gather<'j, 'p>,
    edges: ExternalSorter<EdgeEvent>,
    /// The current key, and its open events.
    owner: u128,
    open: Begins<OpenPair>,
    /// The last value of the counter.
    counter: Option<OpenPair>,
    /// Index of the current window, and of the next window.
    current: Option<usize>,
    next: usize,
    /// Whether open events must still be re-opened in the current window.
    pending: bool,
    /// Whether pairs are found by name alone, see
    /// [`WindowPlan`](tracemill_join::read_plan::WindowPlan).
    only_by_name: bool,
    quota: Quota,
}

impl<'k, 'j, 'p> Clip<'k, 'j, 'p> {
    /// Creates the walk. Kept events go to `kept`, events to create to `edges`, which is empty.
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

    /// Keeps the next event if it is in a window, and updates the open events.
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

    /// Returns whether an event is exactly at the start of the current window.
    fn is_at_edge(&self, entry: Entry) -> bool {
        let at_edge = self.current.is_some_and(|window| self.windows.0[window].from == entry.time);
        at_edge && (entry.place.rank() != EXACT || !has_rest(entry, self.store))
    }

    /// Updates the open events. Returns false if the event is dropped although it is in a window.
    fn note(&mut self, part: &PairEvent) -> Result<bool, Error> {
        let shown = self.current.is_some();
        let &PairEvent { entry, kind, step, .. } = part;
        let new = OpenPair { kind, entry, begins_here: true, number: entry, shown };
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
                    // the pair ends at the start of the window, so no part of it is inside
                    return Ok(begin.shown || !shown);
                }
            }
        }
        Ok(true)
    }

    /// Re-opens the flow for a step in a window where it is not open yet.
    fn show_flow(&mut self, step: Entry) -> Result<(), Error> {
        let Some(window) = self.current else { return Ok(()) };
        let Some(flow) = self.open.innermost_mut().filter(|flow| !flow.shown) else {
            return Ok(());
        };
        (flow.shown, flow.begins_here, flow.number) = (true, false, step);
        self.edges.push(flow.at_edge(window, EdgeKind::Flow), Order(self.store))
    }

    /// Closes and opens the windows whose edges are at or before `time`.
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

    /// Returns whether windows without events of this key need synthetic events.
    fn lasts(&self) -> bool {
        self.counter.is_some()
            || self.open.innermost().is_some_and(|open| open.kind != PairKind::Flow)
    }

    /// Re-opens all events that are open at the start of the current window, and repeats the
    /// counter.
    fn reopen(&mut self) -> Result<(), Error> {
        self.pending = false;
        let Some(window) = self.current else { return Ok(()) };
        let Clip { store, edges, open, counter, .. } = self;
        let mut reopen = |open: &mut OpenPair| {
            if open.kind == PairKind::Flow || open.shown {
                return Ok(());
            }
            (open.shown, open.begins_here) = (true, false);
            edges.push(open.at_edge(window, EdgeKind::Reopened), Order(store))
        };
        open.each_mut(&mut reopen)?;
        counter.iter_mut().try_for_each(reopen)
    }

    /// Closes all events that are open at the end of the current window.
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
            let turn = if open.begins_here { EdgeKind::ClosedOwn } else { EdgeKind::Closed };
            edges.push(open.at_edge(window, turn), Order(store))
        })?;
        self.counter.iter_mut().for_each(|counter| counter.shown = false);
        Ok(())
    }

    /// Returns the synthetic events to create, after the last event.
    pub(super) fn finish(mut self) -> Result<ExternalSorter<EdgeEvent>, Error> {
        self.end_key()?;
        Ok(self.edges)
    }

    /// Ends the current key, with synthetic events for later windows.
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
