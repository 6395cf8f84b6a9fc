//! Checks events in groups, in time order: whether begin and end events pair, and whether slices
//! nest.
//!
//! Times are whole nanoseconds, rounded down. The ends of the open X events of a thread are on a
//! stack. An event that begins inside the innermost open slice and ends after that slice overlaps.
//! Such an event is not pushed, as DevTools does not put it into the tree. B and E events pair as
//! in every command ([`tracemill_trace::event::pairing`]). A pair that crosses an X event overlaps
//! too. Async events pair by name within their id, with the latest begin first. A flow is open from
//! its `s` to its `f` or to the next `s`.
//!
//! Groups are independent, so each worker takes a range of buckets ([`RecordRuns`]) and checks the
//! groups that begin in that range. Cost: a sort of 32-byte records, and a few nanoseconds per
//! event. Memory: one bucket per worker, and the open events.

use super::records::{Grouped, RecordRuns};
use super::rules::Kind;
use super::tallies::Tallies;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tracemill_join::config::OPEN;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::order::overlap::{Ends, PairBegin};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::threads::on_threads;

/// Checks all groups on `threads` threads. First runs `task` for each number below `before`,
/// because these tasks are long. Returns the results of the tasks in order.
pub(super) fn walk<T: Send>(
    runs: &RecordRuns,
    threads: usize,
    quota: &Quota,
    before: usize,
    task: impl Fn(usize) -> T + Sync,
) -> Result<(Tallies, Vec<T>), Error> {
    // several ranges per worker balance groups of different sizes
    let range_len = runs.len().div_ceil(threads * 4).max(1);
    let tasks = before + runs.len().div_ceil(range_len);
    let next = AtomicUsize::new(0);
    let all = Mutex::new((Tallies::default(), Vec::new()));
    let failed = Mutex::new(None);
    let lock = || all.lock().unwrap_or_else(|e| e.into_inner());
    let work = || {
        let mut tallies = Tallies::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= tasks {
                break;
            }
            match number.checked_sub(before) {
                None => {
                    let answer = task(number);
                    lock().1.push((number, answer));
                }
                Some(at) => {
                    let places = at * range_len..(at + 1) * range_len;
                    if let Err(why) = walk_range(runs, places, &mut tallies, quota) {
                        failed.lock().unwrap_or_else(|e| e.into_inner()).get_or_insert(why);
                        next.store(tasks, Ordering::Relaxed);
                    }
                }
            }
        }
        lock().0.append(&tallies);
    };
    on_threads(threads, work);
    let (tallies, mut answers) = all.into_inner().unwrap_or_else(|e| e.into_inner());
    if let Some(why) = failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(why);
    }
    answers.sort_unstable_by_key(|&(number, _)| number);
    Ok((tallies, answers.into_iter().map(|(_, answer)| answer).collect()))
}

/// Checks each group that begins in the buckets `from..to`, up to the end of the group.
fn walk_range(
    runs: &RecordRuns,
    Range { start: from, end: to }: Range<usize>,
    tallies: &mut Tallies,
    quota: &Quota,
) -> Result<(), Error> {
    let mut bucket = Vec::new();
    let mut group = runs.group_before(from);
    let mut begun = false;
    let mut open = GroupState::default();
    let mut buckets = runs.buckets(from);
    for number in from..runs.len() {
        buckets.next(&mut bucket);
        for record in &bucket {
            if group != Some(record.group) {
                open.end(tallies);
                if number >= to {
                    return Ok(());
                }
                (group, begun) = (Some(record.group), true);
            }
            if begun {
                open.note(record, tallies);
                quota.check(open.heap(), OPEN)?;
            }
        }
        if number + 1 >= to && !begun {
            return Ok(());
        }
    }
    open.end(tallies);
    Ok(())
}

#[derive(Clone, Copy)]
struct WaitingBegin {
    name: u64,
    offset: u64,
    pair: PairBegin,
}

#[derive(Default)]
struct GroupState {
    ends: Ends,
    slices: Begins<WaitingBegin>,
    asyncs: Begins<u64>,
    /// Offset of the start of the open flow, and whether a step follows.
    flow: Option<(u64, bool)>,
    /// Hashes of the name and pid of the last begin event of an async operation or flow.
    last: Option<u64>,
}

impl GroupState {
    #[inline]
    fn heap(&self) -> u64 {
        self.slices.heap() + self.asyncs.heap()
    }

    #[inline]
    fn note(&mut self, record: &Grouped, tallies: &mut Tallies) {
        match record.phase() {
            b'X' => self.complete(record, tallies),
            b'B' => {
                let pair = self.ends.begin(record.time, record.is_exact());
                let begin = WaitingBegin { name: record.extra, offset: record.offset(), pair };
                self.slices.begin(record.extra, begin);
            }
            b'E' => self.end_slice(record, tallies),
            b's' | b't' | b'f' => self.flow(record, tallies),
            _ => self.asynchronous(record, tallies),
        }
    }

    #[inline]
    fn complete(&mut self, record: &Grouped, tallies: &mut Tallies) {
        let end = record.time.saturating_add_unsigned(record.extra);
        if self.ends.enter(record.time, end, record.is_exact()).is_some() {
            tallies.add(Kind::Overlap, record.offset());
        }
    }

    fn end_slice(&mut self, record: &Grouped, tallies: &mut Tallies) {
        let innermost = self.slices.innermost().map(|begin| begin.name);
        let Some(begin) = self.slices.end(record.extra) else {
            return tallies.add(Kind::EndWithoutBegin, record.offset());
        };
        if record.extra != 0 && innermost != Some(record.extra) {
            tallies.add(Kind::Crossing, record.offset());
        }
        let overlaps = self.ends.end(begin.pair, record.time, record.is_exact());
        (0..overlaps).for_each(|_| tallies.add(Kind::Overlap, begin.offset));
    }

    /// Returns whether the last begin event had the same name but another process.
    fn is_shared(&mut self, record: &Grouped) -> bool {
        let last = self.last.replace(record.extra);
        last.is_some_and(|last| last >> 32 == record.extra >> 32 && last != record.extra)
    }

    fn asynchronous(&mut self, record: &Grouped, tallies: &mut Tallies) {
        let offset = record.offset();
        match record.phase() {
            b'b' | b'S' => {
                if self.is_shared(record) {
                    tallies.add(Kind::SharedAsyncId, offset);
                }
                self.asyncs.begin(async_name(record), offset);
            }
            b'e' | b'F' => {
                let begin = self.asyncs.end_named(async_name(record));
                if begin.is_none() {
                    tallies.add(Kind::AsyncWithoutBegin, offset);
                }
            }
            _ if self.asyncs.is_empty() => tallies.add(Kind::AsyncOutside, offset),
            _ => {}
        }
    }

    fn flow(&mut self, record: &Grouped, tallies: &mut Tallies) {
        let offset = record.offset();
        match (record.phase(), &mut self.flow) {
            (b's', _) => {
                self.end_flow(tallies);
                self.flow = Some((offset, false));
                if self.is_shared(record) {
                    tallies.add(Kind::SharedFlowId, offset);
                }
            }
            (_, None) => tallies.add(Kind::FlowWithoutBegin, offset),
            (b'f', _) => self.flow = None,
            (_, Some((_, led))) => *led = true,
        }
    }

    fn end_flow(&mut self, tallies: &mut Tallies) {
        if let Some((offset, false)) = self.flow.take() {
            tallies.add(Kind::FlowWithoutEnd, offset);
        }
    }

    fn end(&mut self, tallies: &mut Tallies) {
        self.ends.clear();
        let unended = |begin: WaitingBegin| tallies.add(Kind::BeginWithoutEnd, begin.offset);
        self.slices.values().for_each(unended);
        let unended = |offset| tallies.add(Kind::AsyncWithoutEnd, offset);
        self.asyncs.values().for_each(unended);
        self.slices.clear();
        self.asyncs.clear();
        self.end_flow(tallies);
        self.last = None;
    }
}

/// Returns the hash of an async event's name. The hash is never 0, which would mean no name.
fn async_name(record: &Grouped) -> u64 {
    (record.extra >> 32) | 1 << 32
}
