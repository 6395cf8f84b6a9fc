//! Counters of page processes over time: the heap of JavaScript, nodes, listeners and documents
//! (`UpdateCounters`).

use std::collections::VecDeque;
use tracemill_analysis::events::tracks::{TrackEvent, TrackKind};
use tracemill_analysis::value::space::rank;
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;

/// How a counter changes over time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CounterChange {
    /// The first value.
    pub first: f64,
    /// The last value.
    pub last: f64,
    /// The smallest value.
    pub least: f64,
    /// The greatest value.
    pub most: f64,
    /// Sum of all increases.
    pub rise: f64,
    /// Sum of all decreases.
    pub fall: f64,
    /// Number of values.
    pub count: u64,
}

impl CounterChange {
    fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        if self.count == 0 {
            *self = CounterChange { first: value, last: value, least: value, most: value, ..*self };
        }
        let change = value - self.last;
        self.rise += change.max(0.0);
        self.fall += (-change).max(0.0);
        self.last = value;
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.count += 1;
    }
}

/// Counters of a page process.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMemory {
    /// The pid as written.
    pub pid: Box<[u8]>,
    /// URL of the page; empty if unknown.
    pub url: String,
    /// Bytes of JavaScript's heap.
    pub heap: CounterChange,
    /// Number of DOM nodes.
    pub nodes: CounterChange,
    /// Number of event listeners.
    pub listeners: CounterChange,
    /// Number of documents.
    pub documents: CounterChange,
    /// Bytes by which the heap grows in the second in which it grows most, between two events.
    pub worst_rise: f64,
    /// Start of that second: the microsecond of the smallest heap in it.
    pub worst_ts: f64,
}

/// An event with counters. The lane is the number of its process.
#[derive(Clone, Copy)]
struct OfProcess(TrackEvent);

record! { impl OfProcess { 0: TrackEvent } }

impl Keyed for OfProcess {
    type Key = (u32, u64, u64);

    fn key(&self) -> Self::Key {
        (self.0.lane, rank(self.0.ts), self.0.number)
    }
}

/// Returns the counters of each process within the window, in the order of the processes.
///
/// Cost: a sort of the events with counters.
pub(crate) fn memory(trace: &Trace, window: Option<Window>) -> Result<Vec<PageMemory>, Error> {
    let mut pids: Vec<&[u8]> = Vec::new();
    let mut numbers: HashMap<&[u8], u32> = HashMap::default();
    let mut processes: HashMap<u32, u32> = HashMap::default();
    for thread in &trace.threads {
        let Some(lane) = thread.lane() else { continue };
        let number = *numbers.entry(&thread.pid).or_insert_with(|| {
            pids.push(&thread.pid);
            pids.len() as u32 - 1
        });
        processes.insert(lane, number);
    }
    let mut sorter = trace.space().sorter(4);
    for event in trace.track_events().filter(|event| event.kind == TrackKind::Counters) {
        let is_in = window.is_none_or(|span| (span.from..=span.to).contains(&(event.ts / 1000.0)));
        if let Some(&lane) = processes.get(&event.lane).filter(|_| is_in) {
            sorter.push(OfProcess(TrackEvent { lane, ..event }))?;
        }
    }
    let room = trace.limits().open_quota();
    let mut all: Vec<PageMemory> = Vec::new();
    let (mut last, mut second) = (None, Second::default());
    for event in sorter.finish()?.iter() {
        let event = event.0;
        if last.replace(event.lane) != Some(event.lane) {
            all.push(PageMemory::of(trace, pids[event.lane as usize]));
            second = Second::default();
        }
        if let Some(process) = all.last_mut() {
            process.add(&event, &mut second);
        }
        room.check(second.heap(), "heap sizes of a second")?;
    }
    Ok(all)
}

impl PageMemory {
    fn of(trace: &Trace, pid: &[u8]) -> Self {
        let url = trace.meta().page(pid).and_then(|page| page.url.as_deref()).unwrap_or_default();
        let none = CounterChange::default();
        PageMemory {
            pid: pid.into(),
            url: String::from_utf8_lossy(url).into_owned(),
            heap: none,
            nodes: none,
            listeners: none,
            documents: none,
            worst_rise: 0.0,
            worst_ts: 0.0,
        }
    }

    fn add(&mut self, event: &TrackEvent, second: &mut Second) {
        let [heap, nodes, listeners, documents] = event.values;
        self.heap.add(heap);
        self.nodes.add(nodes);
        self.listeners.add(listeners);
        self.documents.add(documents);
        if heap.is_nan() {
            return;
        }
        let (ts, least) = second.add(event.ts, heap);
        if heap - least > self.worst_rise {
            (self.worst_rise, self.worst_ts) = (heap - least, ts);
        }
    }
}

/// The values of the last second that are smaller than each later value. The first is the smallest.
#[derive(Default)]
struct Second(VecDeque<(f64, f64)>);

impl Second {
    /// Adds a value at a microsecond. Returns the smallest value of the second up to it, and the
    /// value's time.
    fn add(&mut self, ts: f64, value: f64) -> (f64, f64) {
        const SECOND: f64 = 1_000_000.0;
        while self.0.back().is_some_and(|(_, last)| *last >= value) {
            self.0.pop_back();
        }
        self.0.push_back((ts, value));
        while self.0.front().is_some_and(|(first, _)| ts - first > SECOND) {
            self.0.pop_front();
        }
        self.0.front().copied().unwrap_or((ts, value))
    }

    fn heap(&self) -> u64 {
        (self.0.capacity() * size_of::<(f64, f64)>()) as u64
    }
}
