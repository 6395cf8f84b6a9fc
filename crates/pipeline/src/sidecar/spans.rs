//! Intervals that are longer than T: those that a window cannot find by looking back for T.
//!
//! Of what lasts (X, pairs of B and E, b and e, S and F, flows, values of counters) all that is longer than T is listed with the places
//! of its parts, and so is what never ends. All else that is open at a moment began less than T before it.
//!
//! T is the least power of two above which there are at most so many intervals as [`EACH`] of the text. Which those are is known when
//! all is read; until then those above a bound are kept that grows with what was seen, and that T reaches in any case.
//!
//! Pairs are those of all verbs, of parts sorted by what they belong to: see the module `slice`. Heap: what is open at one time on one thread, within a quota. Tables pair B and E as DevTools does,
//! by name and categories: where that makes other pairs, those are listed beside. They do not count for T, for windows that are cut would read
//! more than they need; but have one of their own that is no less, and their own room.

use super::drawn::AllDrawn;
use super::lasting::LastingEvent;
use super::span::{LEVEL_OPEN, NO_THREAD, Span, SummedPlace};
use crate::config::OPEN;
use crate::slice::kinds::{Kind, Step};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracemill_core::error::Error;
use tracemill_core::limits::{Limits, Quota};
use tracemill_core::order::{ExternalSorter, Order, SortedRecords};
use tracemill_core::pairing::{Begins, DevtoolsBegins};
use tracemill_core::spill::SpillVec;
use tracemill_index::spans;

/// Bytes of text to an interval at least, taken over the whole text.
const EACH: u64 = 16 << 10;
/// So many intervals have room in any case.
const LEAST: u64 = 1024;
/// All intervals, as they come.
pub(super) struct AllSpans {
    done: SpillVec<Span>,
    /// By level; those below the bound are not all there.
    counts: [u64; LEVEL_OPEN as usize + 1],
    most: u64,
    /// Pairs for tables alone that are longer than the floor was when they came.
    of_tables: SpillVec<Span>,
    /// T is no less than 2 to the power of it.
    floor: Arc<AtomicU32>,
    /// Parts that have yet to be paired.
    parts: ExternalSorter<LastingEvent>,
    limits: Limits,
    share: u64,
    quota: Quota,
}

impl AllSpans {
    /// None yet, of a file of so many bytes; those beyond `share` bytes, twice, go to disk. `quota` has room for what is open at one
    /// time.
    pub(super) fn new(file_bytes: u64, share: u64, limits: &Limits, quota: Quota) -> Self {
        AllSpans {
            done: SpillVec::new(&limits.tmp_dir, share),
            counts: [0; _],
            of_tables: SpillVec::new(&limits.tmp_dir, share),
            most: (file_bytes / EACH).max(LEAST),
            floor: Arc::default(),
            parts: ExternalSorter::new(&limits.tmp_dir, share, limits.threads),
            limits: limits.clone(),
            share,
            quota,
        }
    }

    /// What workers look at.
    pub(super) fn floor(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.floor)
    }

    /// Takes intervals.
    pub(super) fn extend(&mut self, spans: &[Span]) -> Result<(), Error> {
        spans.iter().try_for_each(|span| self.push(*span))
    }

    fn push(&mut self, span: Span) -> Result<(), Error> {
        let (own, mut floor) = (span.level(), self.floor.load(Relaxed));
        if own <= floor {
            return Ok(());
        }
        self.counts[own as usize] += 1;
        while floor < LEVEL_OPEN - 1 && self.above(floor) > self.most {
            floor += 1;
        }
        self.floor.store(floor, Relaxed);
        if own > floor { self.done.extend(&[span]) } else { Ok(()) }
    }

    fn above(&self, level: u32) -> u64 {
        self.counts[level as usize + 1..].iter().sum()
    }

    /// Takes parts.
    pub(super) fn extend_parts(&mut self, parts: &[LastingEvent]) {
        self.parts.extend(parts);
    }

    /// Whether parts must go to disk.
    pub(super) fn is_full(&self) -> bool {
        self.parts.is_full()
    }

    /// Puts parts on disk.
    pub(super) fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.parts.spill(order)
    }

    /// Pairs all parts, and shows pairs to `drawn`; `order` is over all that was read.
    pub(super) fn finish(
        mut self,
        order: Order<'_, '_>,
        drawn: Option<&mut AllDrawn>,
    ) -> Result<Spans, Error> {
        let empty = ExternalSorter::new(&self.limits.tmp_dir, self.share, self.limits.threads);
        let parts = std::mem::replace(&mut self.parts, empty).finish(order)?;
        let mut walk = Walk::new(&mut self, drawn);
        parts.sorted(order).try_for_each(|part| walk.take(&part))?;
        walk.end_key()?;
        let (has_crossings, has_strangers) = (walk.has_crossings, walk.has_strangers);
        let pairs = walk.pairs;
        drop(parts);
        let floor = self.floor.load(Relaxed);
        let mut sorter = ExternalSorter::new(&self.limits.tmp_dir, self.share, self.limits.threads);
        for span in self.done.take()?.iter().filter(|span| span.level() > floor) {
            sorter.push(span, Order::none())?;
        }
        let of_tables = self.of_tables.take()?;
        let table_level = level_of(of_tables.iter(), floor, self.most);
        of_tables
            .iter()
            .filter(|span| span.level() > table_level)
            .try_for_each(|span| sorter.push(span, Order::none()))?;
        let all = sorter.finish(Order::none())?;
        let is_complete = self.above(floor) <= self.most;
        let level = floor;
        Ok(Spans { all, level, table_level, is_complete, has_crossings, has_strangers, pairs })
    }
}

/// The least level, not below `floor`, above which there are at most so many.
fn level_of(all: impl Iterator<Item = Span>, floor: u32, most: u64) -> u32 {
    let mut counts = [0_u64; LEVEL_OPEN as usize + 1];
    all.for_each(|span| counts[span.level() as usize] += 1);
    let above = |level: u32| counts[level as usize + 1..].iter().sum::<u64>();
    (floor..LEVEL_OPEN).find(|&level| above(level) <= most).unwrap_or(LEVEL_OPEN)
}

/// Intervals longer than T, by thread and start.
pub(super) struct Spans {
    all: SortedRecords<Span>,
    /// T is 2 to the power of it.
    pub(super) level: u32,
    /// The same of pairs for tables alone.
    table_level: u32,
    /// Whether all that never ends has room.
    pub(super) is_complete: bool,
    /// Whether an end closes a begin around others that are open.
    pub(super) has_crossings: bool,
    /// Whether an end closes a begin of another name.
    pub(super) has_strangers: bool,
    pub(super) pairs: PairCounts,
}

/// What became of B and E, as DevTools pairs them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairCounts {
    /// B without an E.
    pub(super) unended: u64,
    /// E without a B.
    pub(super) lone_ends: u64,
    /// Whether there are B and E of no thread.
    pub(super) has_strays: bool,
}

impl Spans {
    /// The level of pairs for tables alone, where that of all others is this.
    pub(super) fn table_level(&self, level: u32) -> u32 {
        self.table_level + level.saturating_sub(self.level)
    }

    /// Gives those longer than 2 to the power of a level to `visit`.
    pub(super) fn each<E>(
        &self,
        level: u32,
        mut visit: impl FnMut(Span) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = self.all.sorted(Order::none());
        all.filter(|span| self.is_listed(span, level)).try_for_each(&mut visit)
    }

    /// How many of those each of so many threads has.
    pub(super) fn by_thread(&self, level: u32, threads: usize) -> Vec<u64> {
        let mut counts = vec![0; threads];
        let listed = |span: &Span| self.is_listed(span, level) && span.thread != NO_THREAD;
        for span in self.all.unsorted().filter(listed) {
            if let Some(count) = counts.get_mut(span.thread as usize) {
                *count += 1;
            }
        }
        counts
    }

    fn is_listed(&self, span: &Span, level: u32) -> bool {
        let for_tables = span.kind == spans::TABLE_PAIR;
        span.level() > if for_tables { self.table_level(level) } else { level }
    }
}

/// A part that waits for another.
#[derive(Clone, Copy)]
struct Waiting {
    kind: u8,
    thread: u32,
    track: u32,
    /// The number of the name.
    label: u32,
    time: i64,
    name: u64,
    cat: u32,
    held: SummedPlace,
}

/// Steps of a flow from its begin.
struct Chain {
    begin: Waiting,
    last: Waiting,
    steps: u64,
}

/// Puts parts together, those of an owner in the order of the output.
struct Walk<'a> {
    to: &'a mut AllSpans,
    drawn: Option<&'a mut AllDrawn>,
    owner: u128,
    open: Begins<Waiting>,
    /// Of B and E, as DevTools has it.
    of_tables: DevtoolsBegins<Waiting>,
    flow: Option<Chain>,
    counter: Option<Waiting>,
    has_crossings: bool,
    has_strangers: bool,
    pairs: PairCounts,
}

impl<'a> Walk<'a> {
    fn new(to: &'a mut AllSpans, drawn: Option<&'a mut AllDrawn>) -> Self {
        Walk {
            to,
            drawn,
            owner: 0,
            open: Begins::default(),
            of_tables: DevtoolsBegins::default(),
            flow: None,
            counter: None,
            has_crossings: false,
            has_strangers: false,
            pairs: PairCounts::default(),
        }
    }

    fn take(&mut self, own: &LastingEvent) -> Result<(), Error> {
        let LastingEvent { part, thread, sum, track, name, cat } = own;
        if part.owner() != self.owner {
            self.end_key()?;
            self.owner = part.owner();
        }
        if self.owner == 0 {
            self.pairs.has_strays |= part.kind == Kind::Slice;
            return Ok(());
        }
        let own = Waiting {
            kind: number_of(part.kind),
            thread: *thread,
            track: *track,
            label: *name,
            time: part.entry.time,
            name: part.name,
            cat: *cat,
            held: SummedPlace { place: part.entry.place.offset(), sum: *sum },
        };
        match (part.kind, part.step) {
            (Kind::Counter, _) => match self.counter.replace(own) {
                Some(before) => self.to.push(between(&before, (own.time, before.held), 0)),
                None => Ok(()),
            },
            (Kind::Flow, Step::Begin) => {
                self.end_flow()?;
                self.flow = Some(Chain { begin: own, last: own, steps: 1 });
                Ok(())
            }
            (Kind::Flow, step) => {
                if let Some(flow) = &mut self.flow {
                    flow.last = own;
                    flow.steps += 1;
                }
                if step == Step::End { self.end_flow() } else { Ok(()) }
            }
            (_, Step::Begin) => {
                self.open.begin(own.name, own);
                if part.kind == Kind::Slice {
                    self.pairs.unended += 1;
                    // what has no category fits no end that has one
                    self.of_tables.begin(own.name, u64::from(own.cat) + 2, own);
                }
                self.to.quota.check(self.open.heap() + self.of_tables.heap(), OPEN)
            }
            (_, Step::Middle) => Ok(()),
            (_, Step::End) => self.end(&own),
        }
    }

    fn end(&mut self, own: &Waiting) -> Result<(), Error> {
        let innermost = self.open.innermost().map(|open| open.held.place);
        let begin = self.open.end(own.name);
        let is_same = own.kind != spans::PAIR || self.end_of_tables(own, begin)?;
        let Some(begin) = begin else { return Ok(()) };
        self.has_crossings |= innermost != Some(begin.held.place);
        self.has_strangers |= own.name != 0 && begin.name != own.name;
        let flags = if is_same { 0 } else { spans::NO_TABLES };
        let span = between(&begin, (own.time, own.held), flags);
        self.drawn.iter_mut().for_each(|drawn| drawn.pair(&span));
        self.to.push(span)
    }

    /// Ends a pair for tables; false if that is another one than that of the other verbs, which begins with `begin`.
    fn end_of_tables(&mut self, own: &Waiting, begin: Option<Waiting>) -> Result<bool, Error> {
        let name = (own.name != 0).then_some(own.name);
        let cat = (own.cat != 0).then_some(u64::from(own.cat) + 2);
        let Some(of_tables) = self.of_tables.end(name, cat) else {
            self.pairs.lone_ends += 1;
            return Ok(begin.is_none());
        };
        self.pairs.unended -= 1;
        if begin.is_some_and(|begin| begin.held.place == of_tables.held.place) {
            return Ok(true);
        }
        let begin = Waiting { kind: spans::TABLE_PAIR, ..of_tables };
        let span = between(&begin, (own.time, own.held), 0);
        if span.level() > self.to.floor.load(Relaxed) {
            self.to.of_tables.extend(&[span])?;
        }
        Ok(false)
    }

    fn end_flow(&mut self) -> Result<(), Error> {
        let Some(Chain { begin, last, steps }) = self.flow.take() else { return Ok(()) };
        let flags = if steps > 2 { spans::STEPS } else { 0 };
        self.to.push(between(&begin, (last.time, last.held), flags))
    }

    /// What is open here never ends.
    fn end_key(&mut self) -> Result<(), Error> {
        self.end_flow()?;
        self.of_tables = DevtoolsBegins::default();
        let open = std::mem::take(&mut self.open);
        for begin in open.values().chain(self.counter.take()) {
            self.to.push(between(&begin, (i64::MAX, begin.held), spans::OPEN))?;
        }
        Ok(())
    }
}

fn between(begin: &Waiting, (end, last): (i64, SummedPlace), flags: u8) -> Span {
    let &Waiting { kind, thread, track, label: name, time: start, held, .. } = begin;
    // all others stand in the track of their thread
    let track = if matches!(kind, spans::ASYNC | spans::LEGACY) { track } else { 0 };
    Span { kind, flags, thread, track, name, start, end, begin: held, last }
}

fn number_of(kind: Kind) -> u8 {
    match kind {
        Kind::Slice => spans::PAIR,
        Kind::Async => spans::ASYNC,
        Kind::Legacy => spans::LEGACY,
        Kind::Flow => spans::FLOW,
        Kind::Counter => spans::COUNTER,
    }
}
