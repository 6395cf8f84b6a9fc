//! Samples of a profile, sorted by time, each with its node. Samples beyond the memory budget are
//! on disk.

use crate::profile::model::{Model, NONE, Span, Weights};
use crate::value::clock::Clock;
use crate::value::space::{Space, rank};
use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};

record! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Sample {
        /// Time in milliseconds, or exact nanoseconds.
        pub ms: f64,
        /// Node of the sample; [`NONE`] if it names none.
        pub node: u32,
    }
}

record! {
    /// A sample before sorting.
    #[derive(Clone, Copy)]
    struct Timed {
        /// Time in ticks (time units of the trace's clock).
        time: f64,
        number: u64,
        /// Id of the sample's node, if it names one.
        id: Option<u64>,
    }
}

impl Keyed for Timed {
    type Key = (u64, u64);

    fn key(&self) -> (u64, u64) {
        (rank(self.time), self.number)
    }
}

/// Samples and time steps (`timeDeltas`) in the order of the file.
pub(crate) struct Raw {
    ids: SpillVec<u64>,
    /// Time steps in microseconds.
    steps: SpillVec<f64>,
    counts: [u64; 2],
    space: Space,
}

impl Raw {
    pub(crate) fn new(space: &Space) -> Self {
        let (ids, steps) = (space.spool(4), space.spool(4));
        Raw { ids, steps, counts: [0, 0], space: space.clone() }
    }

    /// Adds ids of nodes, and time steps in microseconds.
    pub(crate) fn add(
        &mut self,
        ids: &[u64],
        steps: impl ExactSizeIterator<Item = f64>,
    ) -> Result<(), Error> {
        self.counts[0] += ids.len() as u64;
        self.counts[1] += steps.len() as u64;
        self.ids.extend(ids)?;
        steps.into_iter().try_for_each(|step| self.steps.push(step))
    }

    /// Returns whether each sample has a time.
    pub(crate) fn are_complete(&self) -> bool {
        self.counts[0] == self.counts[1]
    }

    /// Writes the sorted samples to `all`. Time steps without a sample become samples without a
    /// node; samples without a time step are dropped.
    ///
    /// `start` is the start of the profile in ticks. `node` returns the node with an id.
    pub(crate) fn finish(
        mut self,
        start: f64,
        weights: Weights,
        clock: Clock,
        node: impl Fn(u64) -> Option<u32>,
        model: &Model,
        all: &mut Samples,
    ) -> Result<Span, Error> {
        let (ids, steps) = (self.ids.take()?, self.steps.take()?);
        if ids.is_empty() || steps.is_empty() {
            return Ok(Span::default());
        }
        let count = steps.len();
        let timed = || {
            let mut times = clock.times(start);
            let mut ids = ids.iter();
            (0..).zip(steps.iter()).map(move |(number, step)| {
                let time = times.after(step);
                Timed { time, number, id: ids.next() }
            })
        };
        let rules = Rules { start: clock.sum(start), weights, clock, count, model, node };
        // Most samples are in order and need no sorting.
        if let Some(ends) = sorted_ends(timed().map(|sample| sample.time)) {
            return rules.write(timed(), ends.0, ends.1, all);
        }
        let mut sorter: KeySorter<Timed> = self.space.sorter(4);
        timed().try_for_each(|sample| sorter.push(sample))?;
        let sorted = sorter.finish()?;
        let ends = sorted.iter().fold(None, |ends: Option<(f64, f64)>, sample| {
            Some((ends.map_or(sample.time, |ends| ends.0), sample.time))
        });
        let (first, last) = ends.unwrap_or_default();
        rules.write(sorted.iter(), first, last, all)
    }
}

/// The samples of all profiles, one profile after the other.
pub(crate) struct Samples {
    all: SpillVec<Sample>,
    count: usize,
}

impl Samples {
    pub(crate) fn new(space: &Space) -> Self {
        Samples { all: space.spool(2), count: 0 }
    }

    fn push(&mut self, sample: Sample) -> Result<(), Error> {
        self.count += 1;
        self.all.push(sample)
    }

    pub(crate) fn finish(mut self) -> Result<SpilledVec<Sample>, Error> {
        self.all.take()
    }
}

/// Returns the first and last time, if there are any and each is at least the one before.
fn sorted_ends(mut times: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let first = times.next()?;
    let last = times.try_fold(first, |before, time| (before <= time).then_some(time))?;
    Some((first, last))
}

/// The inputs from which sorted samples are computed.
struct Rules<'m, F> {
    /// Start of the profile in milliseconds, or exact nanoseconds.
    start: f64,
    weights: Weights,
    clock: Clock,
    count: usize,
    model: &'m Model,
    node: F,
}

impl<F: Fn(u64) -> Option<u32>> Rules<'_, F> {
    fn write(
        &self,
        sorted: impl Iterator<Item = Timed>,
        first: f64,
        last: f64,
        all: &mut Samples,
    ) -> Result<Span, Error> {
        let first_number = all.count;
        let (first, last) = (self.clock.sum(first), self.clock.sum(last));
        let average = self.clock.whole((last - first) / (self.count - 1) as f64);
        let step = (last - self.start).max(0.0) / self.count as f64;
        let (mut unknown, mut before) = (0, f64::NAN);
        let mut bridge = Bridge::new(self.model, self.count);
        for (at, sample) in sorted.enumerate() {
            let ms = self.clock.sum(sample.time);
            let ms = match self.weights {
                Weights::Next => ms,
                Weights::Delta if at == 0 => {
                    before = ms;
                    self.start.min(ms)
                }
                Weights::Delta => std::mem::replace(&mut before, ms),
                Weights::Hits => self.clock.whole(self.start + at as f64 * step),
            };
            let node = sample.id.and_then(&self.node).unwrap_or(NONE);
            unknown += u64::from(node == NONE);
            if let Some(done) = bridge.next(Sample { ms, node }) {
                all.push(done)?;
            }
        }
        if let Some(done) = bridge.held {
            all.push(done)?;
        }
        let end = match self.weights {
            Weights::Next => last + average,
            Weights::Delta => last,
            Weights::Hits => self.clock.whole(self.start + self.count as f64 * step),
        };
        let range = first_number..all.count;
        Ok(Span { range, count: self.count as u64, end: Some(end), unknown })
    }
}

/// Replaces a single `(program)` sample between two samples of the same stack by the sample before
/// the `(program)` sample, as DevTools does.
struct Bridge<'m> {
    model: &'m Model,
    /// The node of `(program)`; `None` if the profile has fewer than three samples.
    program: Option<u32>,
    held: Option<Sample>,
    /// Number of samples so far, and the nodes of the last two samples. Samples without a node do
    /// not change them.
    count: usize,
    before: u32,
    own: u32,
}

impl<'m> Bridge<'m> {
    fn new(model: &'m Model, count: usize) -> Self {
        let program = model.program.filter(|_| count >= 3);
        Bridge { model, program, held: None, count: 0, before: NONE, own: NONE }
    }

    /// Adds the next sample and returns the one before it.
    fn next(&mut self, sample: Sample) -> Option<Sample> {
        let next = sample.node;
        let mut held = self.held.replace(sample);
        self.count += 1;
        match self.count {
            1 => self.before = next,
            2 => self.own = next,
            _ if self.before != NONE && next != NONE => {
                if let Some(held) = &mut held
                    && self.bridges(next)
                {
                    held.node = self.before;
                }
                (self.before, self.own) = (self.own, next);
            }
            _ => {}
        }
        held
    }

    fn bridges(&self, next: u32) -> bool {
        let Model { gc, idle, .. } = *self.model;
        let Some(program) = self.program.filter(|program| *program == self.own) else {
            return false;
        };
        let is_system = |node: u32| node == program || Some(node) == gc || Some(node) == idle;
        !is_system(self.before)
            && !is_system(next)
            && self.model.bottom(self.before) == self.model.bottom(next)
    }
}
