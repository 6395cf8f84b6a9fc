//! Statistics of a soak, printed as one line.

use crate::inputs::Kind;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) rounds: u64,
    /// Number of processes.
    runs: u64,
    /// Bytes of the generated input files.
    bytes: u64,
    /// Events in the generated inputs.
    pub(crate) events: u64,
    /// Number of outputs compared with the naive reference.
    pub(crate) references: u64,
    /// Peak heap as share of the budget, in hundredths of a percent.
    heap: u64,
    slowest: Duration,
    /// Number of rounds with each kind of input.
    pub(crate) kinds: BTreeMap<Kind, u64>,
}

impl Figures {
    /// Starts the statistics of a round with inputs of `bytes` bytes.
    pub(crate) fn of(bytes: u64) -> Self {
        Figures { rounds: 1, bytes, ..Figures::default() }
    }

    pub(crate) fn ran(&mut self, time: Duration) {
        self.runs += 1;
        self.slowest = self.slowest.max(time);
    }

    pub(crate) fn heap(&mut self, kib: u64, budget_mib: u64) {
        self.heap = self.heap.max(kib * 10_000 / (budget_mib * 1024));
    }

    pub(crate) fn add(&mut self, other: Figures) {
        self.rounds += other.rounds;
        self.runs += other.runs;
        self.bytes += other.bytes;
        self.events += other.events;
        self.references += other.references;
        self.heap = self.heap.max(other.heap);
        self.slowest = self.slowest.max(other.slowest);
        for (kind, rounds) in other.kinds {
            *self.kinds.entry(kind).or_default() += rounds;
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures { rounds, runs, bytes, events, references, heap, slowest, kinds } = self;
        write!(
            f,
            "{rounds} rounds, {runs} runs, {:.1} MiB in, {events} events, {references} outputs as the naive reference has \
             them, heap at most {}.{:02} % of its budget, slowest run {:.1} s; rounds by kind:",
            *bytes as f64 / 1048576.0,
            heap / 100,
            heap % 100,
            slowest.as_secs_f64(),
        )?;
        kinds.iter().try_for_each(|(kind, rounds)| write!(f, " {kind:?} {rounds}"))
    }
}
