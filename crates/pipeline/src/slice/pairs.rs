//! Keeps pairs whole (`--edges keep`) or drops them whole (`--edges drop`), in one walk sorted by
//! key and output order.
//!
//! `keep` keeps pairs that touch a window, and flows with a step inside a window. A begin without
//! an end lasts to the end of the trace. `drop` keeps pairs and flows that are completely inside
//! one window. An event without a partner counts as an instant. [`tracemill_trace::event::pairing`]
//! decides the pairs.
//!
//! Memory: 64 bytes per open begin, and 16 bytes per step of one flow, which spill to disk.

use super::complete::has_rest;
use tracemill_join::config::OPEN;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::event::{PairEvent, PairKind, PairStep};
use tracemill_trace::order::Gather;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::windows::{Edges, TimeSpan, Windows};

/// Walks over the events of all pairs, and keeps or drops whole pairs.
pub(super) struct PairWalk<'k, 'j, 'p> {
    store: &'j Store<'p>,
    windows: &'j Windows,
    edges: Edges,
    kept: &'k mut Gather<'j, 'p>,
    /// The current key, and its open begins.
    owner: u128,
    open: Begins<Entry>,
    flow: Option<Flow>,
    steps: SpillVec<Entry>,
    /// Whether pairs are found by name alone, see
    /// [`WindowPlan`](tracemill_join::read_plan::WindowPlan).
    only_by_name: bool,
    quota: Quota,
}

struct Flow {
    /// The window in which the flow begins.
    window: Option<usize>,
    /// Whether any step is in a window, and whether all steps are in `window`.
    inside: bool,
    one: bool,
}

impl<'k, 'j, 'p> PairWalk<'k, 'j, 'p> {
    /// Creates the walk. Kept events go to `kept`; `steps` is empty.
    pub(super) fn new(
        store: &'j Store<'p>,
        windows: &'j Windows,
        edges: Edges,
        kept: &'k mut Gather<'j, 'p>,
        steps: SpillVec<Entry>,
        only_by_name: bool,
        quota: Quota,
    ) -> Self {
        PairWalk {
            store,
            windows,
            edges,
            kept,
            owner: 0,
            open: Begins::default(),
            flow: None,
            steps,
            only_by_name,
            quota,
        }
    }

    /// Processes the next event of a pair or flow.
    pub(super) fn take(&mut self, part: &PairEvent) -> Result<(), Error> {
        let &PairEvent { entry, kind, step, .. } = part;
        if part.owner() != self.owner {
            self.end_key()?;
            self.owner = part.owner();
        }
        match (kind, step) {
            _ if self.owner == 0 => self.moment(entry),
            (PairKind::Flow, PairStep::Begin) => {
                self.end_flow()?;
                let window = self.windows.at(entry.time);
                self.flow = Some(Flow { window, inside: false, one: window.is_some() });
                self.step(entry)
            }
            (PairKind::Flow, _) if self.flow.is_none() => self.moment(entry),
            (PairKind::Flow, _) => {
                self.step(entry)?;
                if step == PairStep::End { self.end_flow() } else { Ok(()) }
            }
            (_, PairStep::Begin) => {
                part.open_in(&mut self.open, entry);
                self.quota.check(self.open.heap(), OPEN)
            }
            (_, PairStep::Middle) => Ok(()),
            (_, PairStep::End) => match part.close_in(&mut self.open, self.only_by_name) {
                None => self.moment(entry),
                Some(begin) => self.pair(begin, entry),
            },
        }
    }

    /// Keeps an event without a partner if it is in a window.
    fn moment(&mut self, entry: Entry) -> Result<(), Error> {
        if self.windows.at(entry.time).is_some() { self.kept.push(entry) } else { Ok(()) }
    }

    fn step(&mut self, entry: Entry) -> Result<(), Error> {
        let window = self.windows.at(entry.time);
        if let Some(flow) = &mut self.flow {
            flow.inside |= window.is_some();
            flow.one &= window == flow.window;
        }
        self.steps.extend(&[entry])
    }

    /// Keeps or drops the current flow.
    fn end_flow(&mut self) -> Result<(), Error> {
        let stays = self.flow.take().is_some_and(|flow| match self.edges {
            Edges::Drop => flow.one,
            _ => flow.inside,
        });
        if stays {
            return self.steps.drain(|step| self.kept.push(step));
        }
        self.steps.clear();
        Ok(())
    }

    /// Keeps or drops a pair.
    fn pair(&mut self, begin: Entry, end: Entry) -> Result<(), Error> {
        let stays = match self.edges {
            Edges::Drop => {
                let window = self.windows.at(begin.time);
                window.is_some() && self.windows.at(end.time) == window
            }
            _ => self.touch(begin, end),
        };
        if stays {
            self.kept.push(begin)?;
            self.kept.push(end)?;
        }
        Ok(())
    }

    /// Returns whether any part of a pair is in a window. A pair that ends where a window begins is
    /// not.
    fn touch(&self, begin: Entry, end: Entry) -> bool {
        if !self.windows.touch(begin.time, end.time) {
            return false;
        }
        self.windows.0.iter().any(|&TimeSpan { from, to }| {
            let later = || end.time > from || begin.time >= from || has_rest(end, self.store);
            begin.time < to && end.time >= from && later()
        })
    }

    /// Ends the current key: keeps or drops its flow and its open begins.
    pub(super) fn end_key(&mut self) -> Result<(), Error> {
        self.end_flow()?;
        for begin in std::mem::take(&mut self.open).values() {
            match self.edges {
                Edges::Drop => self.moment(begin)?,
                _ if begin.time < self.windows.end() => self.kept.push(begin)?,
                _ => {}
            }
        }
        Ok(())
    }
}
