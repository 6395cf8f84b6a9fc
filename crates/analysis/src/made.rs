//! Calls as they are made of samples: when one begins is known before what it calls, how long it lasts only later. So both stand in
//! lists of their own, and are put together when all is known.

use crate::space::{Sorted, Sorter, Space, double, half, put};
use std::cmp::Ordering;
use tracemill_core::error::Error;
use tracemill_core::order::{Keyed, Order, Record, Spool, Spooled};

/// A call that was made of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Call {
    /// Microseconds.
    pub(crate) ts: f64,
    /// Microseconds.
    pub(crate) dur: f64,
    /// Microseconds that no call below it has, where that is known from the samples.
    pub(crate) own: f64,
    pub(crate) node: u32,
    /// Number among the sorted samples; `u32::MAX` if it was made for an event.
    pub(crate) sample: u32,
    /// Calls that were open when it began, where that is known from the samples.
    pub(crate) depth: u32,
}

/// A call that begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Begun {
    /// Microseconds.
    pub(crate) ts: f64,
    pub(crate) node: u32,
    pub(crate) sample: u32,
    pub(crate) depth: u32,
}

impl Record for Begun {
    const BYTES: usize = 20;

    fn encode(&self, bytes: &mut [u8]) {
        put(bytes, &[self.ts.to_bits()], &[self.node, self.sample, self.depth]);
    }

    fn decode(bytes: &[u8]) -> Self {
        let [node, sample, depth] = [8, 12, 16].map(|at| half(bytes, at));
        Begun { ts: double(bytes, 0), node, sample, depth }
    }
}

/// How long the call of a number lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Lasting {
    pub(crate) number: u32,
    /// Microseconds.
    pub(crate) dur: f64,
    /// Microseconds.
    pub(crate) own: f64,
}

impl Record for Lasting {
    const BYTES: usize = 20;

    fn encode(&self, bytes: &mut [u8]) {
        put(bytes, &[self.dur.to_bits(), self.own.to_bits()], &[self.number]);
    }

    fn decode(bytes: &[u8]) -> Self {
        Lasting { number: half(bytes, 16), dur: double(bytes, 0), own: double(bytes, 8) }
    }
}

impl Keyed for Lasting {
    type Key = u32;

    fn key(&self) -> u32 {
        self.number
    }

    fn compare(&self, _other: &Self, _order: Order<'_, '_>) -> Ordering {
        Ordering::Equal
    }
}

/// Takes calls as they begin and end.
pub(crate) struct Made {
    begun: Spool<Begun>,
    ends: Sorter<Lasting>,
    count: u32,
    failed: Option<Error>,
}

impl Made {
    pub(crate) fn new(space: &Space) -> Self {
        Made { begun: space.spool(4), ends: space.sorter(4), count: 0, failed: None }
    }

    /// The number of a call that begins. What fails is told at the end.
    pub(crate) fn begin(&mut self, begun: Begun) -> u32 {
        if self.failed.is_none() {
            self.failed = self.begun.extend(&[begun]).err();
        }
        self.count += 1;
        self.count - 1
    }

    /// The call of a number ends; each does once.
    pub(crate) fn end(&mut self, number: u32, dur: f64, own: f64) {
        if self.failed.is_none() {
            self.failed = self.ends.push(Lasting { number, dur, own }).err();
        }
    }

    /// All of them.
    ///
    /// # Errors
    /// What temporary files said.
    pub(crate) fn finish(mut self) -> Result<Calls, Error> {
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => Ok(Calls { begun: self.begun.take()?, ends: self.ends.finish()? }),
        }
    }
}

/// Calls in the order in which they begin.
pub(crate) struct Calls {
    begun: Spooled<Begun>,
    ends: Sorted<Lasting>,
}

impl Calls {
    pub(crate) fn iter(&self) -> impl Iterator<Item = Call> + '_ {
        self.begun.iter().zip(self.ends.iter()).map(|(begun, lasting)| {
            let (Begun { ts, node, sample, depth }, Lasting { dur, own, .. }) = (begun, lasting);
            Call { ts, dur, own, node, sample, depth }
        })
    }
}
