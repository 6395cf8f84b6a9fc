//! Computes the calls of a standalone CPU profile (DevTools: `forEachFrame`).

use crate::profile::made::{Begun, Calls, Made};
use crate::profile::model::{Model, NONE};
use crate::profile::samples::Sample;
use crate::value::clock::Clock;
use crate::value::space::Space;
use tracemill_trace::Error;

struct Walk<'m> {
    model: &'m Model,
    out: Made,
    open: Vec<u32>,
    /// Start of each open call, and total time of its callees. The first element is that of the
    /// root.
    starts: Vec<f64>,
    children: Vec<f64>,
    as_devtools: bool,
    clock: Clock,
}

impl Walk<'_> {
    fn open(&mut self, node: u32, sample: u32, ms: f64) {
        let depth = self.open.len() as u32;
        let row = self.model.node(node).row;
        self.open.push(self.out.begin(Begun { ts: self.clock.tick(ms), node, row, sample, depth }));
        self.starts.push(ms);
        self.children.push(0.0);
    }

    fn close(&mut self, ms: f64) {
        let (Some(start), Some(children)) = (self.starts.pop(), self.children.pop()) else {
            return;
        };
        let duration = ms - start;
        if let Some(parent) = self.children.last_mut() {
            *parent += duration;
        }
        if let Some(index) = self.open.pop() {
            // Subtracts times in ticks (time units of the trace's clock), so that a call ends
            // exactly where the next one begins.
            let exact = self.clock.tick(ms) - self.clock.tick(start);
            let dur = if self.as_devtools { self.clock.tick(duration) } else { exact };
            self.out.end(index, dur, self.clock.tick(duration - children));
        }
    }

    fn depth(&self, node: u32) -> i32 {
        self.model.node(node).depth
    }

    fn parent(&self, node: u32) -> Option<u32> {
        Some(self.model.node(node).parent).filter(|&parent| parent != NONE)
    }

    /// Closes the calls that leave the stack and opens the new ones. Returns the last visited node.
    fn change(&mut self, from: u32, to: Option<u32>, sample: u32, ms: f64) -> Option<u32> {
        let mut opened = Vec::new();
        let (mut node, mut before) = (to, Some(from));
        while let Some(number) = node
            && self.depth(number) > self.depth(from)
        {
            opened.push(number);
            node = self.parent(number);
        }
        while let Some(number) = before
            && before != node
        {
            self.close(ms);
            if let Some(other) = node
                && self.depth(other) == self.depth(number)
            {
                opened.push(other);
                node = self.parent(other);
            }
            before = self.parent(number);
        }
        while let Some(number) = opened.pop() {
            node = Some(number);
            self.open(number, sample, ms);
        }
        node
    }
}

/// Returns the calls in the order in which they begin. With `as_devtools`, rounding may make a call
/// end shortly after the start of the next one.
pub(crate) fn frames(
    model: &Model,
    samples: impl Iterator<Item = Sample>,
    space: &Space,
    as_devtools: bool,
    clock: Clock,
) -> Result<Calls, Error> {
    let (open, starts, children) = (Vec::new(), Vec::new(), vec![0.0]);
    let out = Made::new(space);
    let mut walk = Walk { model, out, open, starts, children, as_devtools, clock };
    let (mut before, mut below_gc, mut node) = (0u32, None, None);
    if model.span.count == 0 {
        return walk.out.finish();
    }
    for (sample, Sample { ms, node: current }) in (0..).zip(samples) {
        // DevTools' walk begins at 0, but times may be negative.
        if as_devtools && ms < 0.0 {
            continue;
        }
        // A sample without a node closes all calls. Later samples open no calls.
        if current == before || before == NONE {
            continue;
        }
        node = Some(current).filter(|&number| number != NONE);
        if model.gc.is_some() && node == model.gc {
            below_gc = Some(before);
            walk.open(current, sample, ms);
            before = current;
            continue;
        }
        let mut from = before;
        if model.gc == Some(before)
            && let Some(below) = below_gc.take()
        {
            walk.close(ms);
            from = below;
        }
        node = walk.change(from, node, sample, ms);
        before = current;
    }
    let end = model.span.end.filter(|&end| end != 0.0 && !end.is_nan()).unwrap_or(model.end);
    if node.is_some()
        && model.gc == Some(before)
        && let Some(below) = below_gc
    {
        walk.close(end);
        before = below;
    }
    let mut last = Some(before).filter(|&before| before != NONE);
    while let Some(number) = last
        && let Some(parent) = walk.parent(number)
    {
        walk.close(end);
        last = Some(parent);
    }
    // Calls without an end have no duration.
    while let Some(index) = walk.open.pop() {
        walk.out.end(index, 0.0, 0.0);
    }
    walk.out.finish()
}
