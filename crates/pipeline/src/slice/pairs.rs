//! Pairs that stay whole (`--edges keep`) or go whole (`--edges drop`): all parts of the trace are walked once, key after
//! key, those of a key in the order of the output.
//!
//! `keep` keeps what touches a window: a pair from its begin to its end, a flow if a step of it lies inside. What has no
//! end is open to the end of the trace. `drop` keeps what has all its parts in one window. A part without a partner is
//! a moment. Pairing is that of all verbs ([`tracemill_trace::event::pairing`]).
//!
//! Heap: 64 bytes for each B or begin that is open at one time in one thread or id; of one flow 16 bytes a step, on disk
//! beyond their share.

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

/// Walks over the parts of pairs.
pub(super) struct PairWalk<'k, 'j, 'p> {
    store: &'j Store<'p>,
    windows: &'j Windows,
    edges: Edges,
    kept: &'k mut Gather<'j, 'p>,
    /// The key at hand, and what of it is open.
    owner: u128,
    open: Begins<Entry>,
    flow: Option<Flow>,
    /// Steps of the flow.
    steps: SpillVec<Entry>,
    /// See [`WindowPlan`](tracemill_join::read_plan::WindowPlan).
    only_by_name: bool,
    quota: Quota,
}

/// What decides on a flow.
struct Flow {
    /// The window that it begins in.
    window: Option<usize>,
    /// Whether a step lies in a window; whether all lie in that.
    inside: bool,
    one: bool,
}

impl<'k, 'j, 'p> PairWalk<'k, 'j, 'p> {
    /// What stays goes to `kept`; `steps` is empty.
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

    /// Takes the next part.
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

    /// A part without a partner.
    fn moment(&mut self, entry: Entry) -> Result<(), Error> {
        if self.windows.at(entry.time).is_some() { self.kept.push(entry) } else { Ok(()) }
    }

    /// A step of the flow at hand.
    fn step(&mut self, entry: Entry) -> Result<(), Error> {
        let window = self.windows.at(entry.time);
        if let Some(flow) = &mut self.flow {
            flow.inside |= window.is_some();
            flow.one &= window == flow.window;
        }
        self.steps.extend(&[entry])
    }

    /// Decides on the flow at hand.
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

    /// Decides on a pair.
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

    /// Whether a window has some of a pair in it. One that ends where the window begins has none there.
    fn touch(&self, begin: Entry, end: Entry) -> bool {
        if !self.windows.touch(begin.time, end.time) {
            return false;
        }
        self.windows.0.iter().any(|&TimeSpan { from, to }| {
            let later = || end.time > from || begin.time >= from || has_rest(end, self.store);
            begin.time < to && end.time >= from && later()
        })
    }

    /// All parts of the key at hand were taken; or all parts.
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
