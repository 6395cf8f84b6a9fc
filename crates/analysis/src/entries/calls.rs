//! Computes the calls of a thread from the samples of its profile and its events (DevTools:
//! `SamplesIntegrator`).
//!
//! DevTools updates all open calls whenever the stack changes. This module computes the duration of
//! a call once, when the call leaves the stack. The cost is the number of pushed frames.

use crate::entries::Entry;
use crate::events::kinds::flag;
use crate::profile::made::{Begun, Calls, Made, NO_SAMPLE};
use crate::profile::model::{Model, NONE, Node};
use crate::profile::samples::Sample;
use crate::value::clock::Clock;
use crate::value::space::Space;
use std::cmp::Ordering;
use tracemill_trace::Error;

/// A sample of the profile, on the clock of the events.
#[derive(Clone, Copy)]
struct Stacked {
    ts: f64,
    node: u32,
    index: u32,
    /// Node of the previous sample, on whose stack a GC sample is put.
    below: u32,
}

/// A call on the stack.
struct Open {
    index: u32,
    ts: f64,
    node: Above,
    /// Position of the call's node in the sampled stack, counted from the bottom.
    level: u32,
    /// Number of stack changes before the call began.
    cuts: u64,
}

struct Integrator<'m> {
    model: &'m Model,
    flags: &'m [u16],
    out: Made,
    js: Vec<Open>,
    locked: Vec<usize>,
    fake: bool,
    cuts: u64,
    last: f64,
    /// The new stack, except for its lowest `shared` nodes, which are open calls already.
    stack: Vec<Above>,
    shared: usize,
}

/// The data of a stack node from which a call is made.
#[derive(Clone, Copy)]
struct Above {
    node: u32,
    class: u32,
    depth: i32,
    row: u32,
}

/// The profile and the options from which calls are computed.
pub(crate) struct CallRules<'m> {
    pub(crate) model: &'m Model,
    /// Flags of each kind of event.
    pub(crate) flags: &'m [u16],
    pub(crate) clock: Clock,
    /// Time in ticks (time units of the trace's clock); samples after this time are needed only
    /// while events follow.
    pub(crate) until: f64,
}

/// Computes the calls of a thread, in the order in which they begin.
///
/// `trace_id` returns the node of an event's sample. The computation stops at the first sample
/// after `until`, if all events have ended by then.
///
/// Cost: visits each event and sample once, and each frame that is pushed on the stack.
pub(crate) fn integrate(
    entries: impl Iterator<Item = Entry>,
    samples: impl Iterator<Item = Sample>,
    rules: CallRules<'_>,
    trace_id: impl Fn(&Entry) -> Option<Option<u32>>,
    space: &Space,
) -> Result<Calls, Error> {
    let CallRules { model, flags, clock, until } = rules;
    let mut this = Integrator {
        model,
        flags,
        out: Made::new(space),
        js: Vec::new(),
        locked: Vec::new(),
        fake: false,
        cuts: 0,
        last: 0.0,
        stack: Vec::new(),
        shared: 0,
    };
    let mut open: Vec<Entry> = Vec::new();
    let mut samples = stacked(samples, model, clock).peekable();
    let mut events = entries.peekable();
    loop {
        let sample_first = match (events.peek(), samples.peek()) {
            (None, None) => break,
            (Some(_), None) => false,
            (None, Some(_)) => true,
            (Some(event), Some(sample)) => is_after(event, sample.ts),
        };
        if sample_first {
            let Some(sample) = samples.next() else { break };
            this.end_before(&mut open, sample.ts);
            this.sample(sample, open.last());
            if sample.ts > until && events.peek().is_none() && open.is_empty() {
                break;
            }
            continue;
        }
        let Some(event) = events.next() else { break };
        let traced = trace_id(&event);
        if event.is_instant() && traced.is_none() {
            continue;
        }
        this.end_before(&mut open, event.ts);
        this.start(&event, open.last(), traced);
        open.push(event);
    }
    while let Some(event) = open.pop() {
        this.end(&event);
    }
    this.finish()
}

/// Returns whether an event sorts after a sample, in the order of DevTools.
///
/// An event at the time of the sample sorts after the sample if its duration is not positive.
fn is_after(event: &Entry, time: f64) -> bool {
    match event.ts.partial_cmp(&time) {
        Some(Ordering::Greater) => true,
        Some(Ordering::Equal) => event.end() <= time,
        _ => false,
    }
}

/// Iterates over the samples that name a node.
fn stacked(
    samples: impl Iterator<Item = Sample>,
    Model { gc, .. }: &Model,
    clock: Clock,
) -> impl Iterator<Item = Stacked> {
    let (mut before, gc) = (NONE, *gc);
    let all = (0..).zip(samples).filter(|(_, sample)| sample.node != NONE);
    all.map(move |(index, Sample { ms, node })| {
        let below = before;
        // A GC sample without an earlier sample is a stack of its own.
        if Some(node) != gc || before == NONE {
            before = node;
        }
        Stacked { ts: clock.tick(ms), node, index, below }
    })
}

impl Integrator<'_> {
    fn flags(&self, event: &Entry) -> u16 {
        self.flags[event.kind as usize]
    }

    fn is_js(&self, event: Option<&Entry>) -> bool {
        event.is_some_and(|event| self.flags(event) & flag::JS_INVOCATION != 0)
    }

    /// Ends open events that end at or before `time`.
    fn end_before(&mut self, open: &mut Vec<Entry>, time: f64) {
        while let Some(event) = open.last()
            && time >= event.end()
        {
            self.end(event);
            open.pop();
        }
    }

    fn end(&mut self, event: &Entry) {
        let depth = self.locked.pop().unwrap_or(0);
        self.cut(depth, event.end());
    }

    fn start(&mut self, event: &Entry, parent: Option<&Entry>, traced: Option<Option<u32>>) {
        if self.flags(event) & flag::EMPTIES_STACK != 0 {
            self.locked.clear();
            self.cut(0, event.ts);
            self.fake = false;
        }
        if self.fake {
            let depth = self.locked.pop().unwrap_or(0);
            self.cut(depth, event.ts);
            self.fake = false;
        }
        match traced {
            Some(Some(node)) => {
                match Some(node) == self.model.gc {
                    true => self.put_in(NONE),
                    false => self.put_in(node),
                }
                self.extract(event.ts, NO_SAMPLE);
            }
            // The stack does not change. Calls end, unless a lock protects them.
            Some(None) | None => self.cut(self.js.len(), event.ts),
        }
        if traced.is_some() && !self.is_js(parent) {
            self.fake = true;
        }
        self.locked.push(self.js.len());
    }

    fn sample(&mut self, sample: Stacked, parent: Option<&Entry>) {
        let starts = !(self.is_js(parent) || self.fake);
        if starts && !self.js.is_empty() {
            return;
        }
        if starts {
            self.fake = true;
        }
        if Some(sample.node) == self.model.gc {
            self.put_in(sample.below);
            if sample.below != NONE {
                self.stack.push(self.above(sample.node).0);
            }
        } else {
            self.put_in(sample.node);
        }
        self.extract(sample.ts, sample.index);
        if starts {
            self.locked.push(0);
        }
    }

    /// Returns the data of a node, and the number of its next ancestor that is a call.
    #[inline]
    fn above(&self, number: u32) -> (Above, u32) {
        let Node { above, class, depth, row, .. } = self.model.node(number);
        (Above { node: number, class, depth, row }, above)
    }

    /// Sets the new stack to a node and its ancestors, without native frames. Stops at an ancestor
    /// that is an open call.
    fn put_in(&mut self, mut node: u32) {
        self.stack.clear();
        self.shared = 0;
        let lock = self.locked.last().copied().unwrap_or(0);
        let mut open = self.js.len();
        let mut is_leaf = true;
        while node != 0 && node != NONE {
            let (frame, above) = self.above(node);
            node = above;
            if std::mem::take(&mut is_leaf) && frame.class == NONE {
                continue;
            }
            while open > lock && self.js[open - 1].node.depth > frame.depth {
                open -= 1;
            }
            if open > lock
                && let call = &self.js[open - 1]
                && (call.node.node, call.level as usize) == (frame.node, open - 1)
            {
                self.shared = open;
                break;
            }
            self.stack.push(frame);
        }
        self.stack.reverse();
    }

    /// Replaces the current stack by the new one. Calls of equal classes stay open; other calls end
    /// at `time`.
    fn extract(&mut self, time: f64, sample: u32) {
        let Integrator { shared, .. } = *self;
        let lock = self.locked.last().copied().unwrap_or(0);
        let mut same = lock.max(shared);
        let both = self.stack.iter().skip(same - shared).zip(self.js.iter().skip(same));
        same += both.take_while(|(frame, open)| frame.class == open.node.class).count();
        self.cut(same, time);
        for level in same..shared + self.stack.len() {
            let above = self.stack[level - shared];
            let Above { node, row, .. } = above;
            if self.model.is_no_call(node) {
                continue;
            }
            let index = self.out.begin(Begun { ts: time, node, row, sample, depth: 0 });
            let (level, cuts) = (level as u32, self.cuts);
            self.js.push(Open { index, ts: time, node: above, level, cuts });
        }
    }

    /// Ends the calls at `depth` and deeper at `time`, except for calls that a lock protects.
    fn cut(&mut self, mut depth: usize, time: f64) {
        if let Some(&lock) = self.locked.last()
            && lock != 0
            && depth < lock
        {
            depth = lock;
        }
        depth = depth.min(self.js.len());
        self.cuts += 1;
        self.last = time;
        for call in self.js.drain(depth..) {
            self.out.end(call.index, (time - call.ts).max(0.0), 0.0);
        }
    }

    /// Ends the open calls at the time of the last change of the stack.
    fn finish(mut self) -> Result<Calls, Error> {
        for call in self.js.drain(..) {
            let was_cut = call.cuts < self.cuts;
            let dur = if was_cut { (self.last - call.ts).max(0.0) } else { 0.0 };
            self.out.end(call.index, dur, 0.0);
        }
        self.out.finish()
    }
}
