//! Stores calls that are computed from samples. A call is stored when it begins, and its duration
//! is added when it ends.

use crate::value::space::Space;
use tracemill_trace::order::{KeySorter, Keyed, SortedByKey};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// Sample number of a call that begins with an event instead of a sample.
pub(crate) const NO_SAMPLE: u32 = u32::MAX;

record! {
    /// A call computed from samples.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Call {
        /// Start in ticks (time units of the trace's clock).
        pub(crate) ts: f64,
        /// Duration in ticks.
        pub(crate) dur: f64,
        /// Self time in ticks; 0 unless the samples alone determine it.
        pub(crate) own: f64,
        pub(crate) node: u32,
        /// Index of the function that identifies the call's row.
        pub(crate) row: u32,
        /// Index of the sample, by time; [`NO_SAMPLE`] if the call begins with an event.
        pub(crate) sample: u32,
        /// Number of open calls at the start of the call; 0 unless the samples alone determine it.
        pub(crate) depth: u32,
    }
}

pub(crate) struct Begun {
    /// Start in ticks.
    pub(crate) ts: f64,
    pub(crate) node: u32,
    pub(crate) row: u32,
    pub(crate) sample: u32,
    pub(crate) depth: u32,
}

record! {
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Lasting {
        pub(crate) number: u32,
        /// Duration in ticks.
        pub(crate) dur: f64,
        /// Self time in ticks.
        pub(crate) own: f64,
    }
}

impl Keyed for Lasting {
    type Key = u32;

    fn key(&self) -> u32 {
        self.number
    }
}

/// A writer of calls.
pub(crate) struct Made {
    calls: SpillVec<Call>,
    /// Durations of calls that are already on disk when they end. Such calls are few.
    late: KeySorter<Lasting>,
    count: u32,
    failed: Option<Error>,
}

impl Made {
    pub(crate) fn new(space: &Space) -> Self {
        Made { calls: space.spool(2), late: space.sorter(4), count: 0, failed: None }
    }

    /// Begins a call and returns its number. If the call cannot be stored, [`Made::finish`] returns
    /// the error.
    pub(crate) fn begin(&mut self, begun: Begun) -> u32 {
        let Begun { ts, node, row, sample, depth } = begun;
        if self.failed.is_none() {
            let call = Call { ts, dur: 0.0, own: 0.0, node, row, sample, depth };
            self.failed = self.calls.push(call).err();
        }
        self.count += 1;
        self.count - 1
    }

    /// Sets the duration and self time of a call. Must be called at most once per call.
    pub(crate) fn end(&mut self, number: u32, dur: f64, self_time: f64) {
        if let Some(call) = self.calls.in_memory(number as usize) {
            (call.dur, call.own) = (dur, self_time);
        } else if self.failed.is_none() {
            self.failed = self.late.push(Lasting { number, dur, own: self_time }).err();
        }
    }

    /// Returns all calls.
    pub(crate) fn finish(mut self) -> Result<Calls, Error> {
        match self.failed.take() {
            Some(failed) => Err(failed),
            None => Ok(Calls { all: self.calls.take()?, late: self.late.finish()? }),
        }
    }
}

/// Calls in the order in which they begin.
pub(crate) struct Calls {
    all: SpilledVec<Call>,
    late: SortedByKey<Lasting>,
}

impl Calls {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Call> + '_ {
        let mut late = self.late.iter().peekable();
        (0..).zip(self.all.iter()).map(move |(number, call)| {
            match late.next_if(|ended| ended.number == number) {
                Some(Lasting { dur, own: self_time, .. }) => Call { dur, own: self_time, ..call },
                None => call,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    #[test]
    fn durations_of_calls_do_not_depend_on_memory() {
        let mut rng = Rng::new(3);
        for bytes in [0, 500, 5_000, 1 << 20] {
            let mut builder = Made::new(&Space::alone(bytes));
            let (mut expected, mut open): (Vec<Call>, Vec<u32>) = Default::default();
            for time in 0..2_000 {
                let ts = f64::from(time);
                if rng.below(100) < 55 {
                    let (node, depth) = (rng.below(9) as u32, open.len() as u32);
                    let row = node / 2;
                    open.push(builder.begin(Begun { ts, node, row, sample: time, depth }));
                    let call = Call { ts, dur: 0.0, own: 0.0, node, row, sample: time, depth };
                    expected.push(call);
                } else if let Some(number) = open.pop() {
                    let call = &mut expected[number as usize];
                    (call.dur, call.own) = (ts - call.ts, ts / 2.0);
                    builder.end(number, call.dur, call.own);
                }
            }
            let calls = builder.finish().expect("room on disk");
            assert_eq!(calls.all.spilled_bytes() > 0, bytes < 1 << 20);
            for _ in 0..2 {
                assert_eq!(calls.iter().collect::<Vec<_>>(), expected, "{bytes}");
            }
        }
    }
}
