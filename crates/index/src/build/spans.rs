//! Collects the slices longer than the look-back T. A reader of a window reads the text only from T
//! before the window on, so it cannot find the start of such slices.
//!
//! The list has X events, pairs (B and E, b and e, S and F), flows and values of counters that are
//! longer than T or never end. Every other slice that is open at a time began at most T before that
//! time.
//!
//! T is the least power of two above which there is at most one slice per [`EACH`] bytes of text. T
//! is known only at the end; until then, slices above a growing lower bound are kept.
//!
//! Pair events are sorted by owner (a thread, or an id of async events) and paired as in all
//! commands. Heap: the open slices of one owner, within a quota.

use super::drawn::AllDrawn;
use super::lasting::LastingEvent;
use super::span::{IndexedSpan, LEVEL_OPEN};
use crate::format::spans;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracemill_join::config::OPEN;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::event::{PairKind, PairStep};
use tracemill_trace::order::{ExternalSorter, Order, SortedRecords};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Lease;
use tracemill_trace::spill::SpillVec;

/// Bytes of text for which one slice may be listed.
const EACH: u64 = 16 << 10;
/// Number of slices that may be listed for any length of the text.
const LEAST: u64 = 1024;
/// Collects slices longer than a growing bound.
pub(super) struct AllSpans {
    done: SpillVec<IndexedSpan>,
    /// Number of slices by level; incomplete below the lower bound of the look-back T.
    counts: [u64; LEVEL_OPEN as usize + 1],
    most: u64,
    /// Lower bound of log2 of the look-back T, in nanoseconds.
    floor: Arc<AtomicU32>,
    parts: ExternalSorter<LastingEvent>,
    lease: Lease,
    threads: usize,
    quota: Quota,
}

impl AllSpans {
    /// Creates an empty list. Each of three lists may use the whole `lease`; open slices may use
    /// `quota`.
    pub(super) fn new(file_bytes: u64, lease: &Lease, threads: usize, quota: Quota) -> Self {
        AllSpans {
            done: SpillVec::new(lease.clone()),
            counts: [0; _],
            most: (file_bytes / EACH).max(LEAST),
            floor: Arc::default(),
            parts: ExternalSorter::new(lease.clone(), threads),
            lease: lease.clone(),
            threads,
            quota,
        }
    }

    /// Returns the lower bound of log2 of the look-back T, shared with workers.
    pub(super) fn floor(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.floor)
    }

    pub(super) fn extend(&mut self, spans: &[IndexedSpan]) -> Result<(), Error> {
        spans.iter().try_for_each(|span| self.push(*span))
    }

    fn push(&mut self, span: IndexedSpan) -> Result<(), Error> {
        let (level, mut floor) = (span.level(), self.floor.load(Relaxed));
        if level <= floor {
            return Ok(());
        }
        self.counts[level as usize] += 1;
        while floor < LEVEL_OPEN - 1 && self.above(floor) > self.most {
            floor += 1;
        }
        self.floor.store(floor, Relaxed);
        if level > floor { self.done.extend(&[span]) } else { Ok(()) }
    }

    fn above(&self, level: u32) -> u64 {
        self.counts[level as usize + 1..].iter().sum()
    }

    pub(super) fn extend_parts(&mut self, parts: &[LastingEvent]) {
        self.parts.extend(parts);
    }

    pub(super) fn is_full(&self) -> bool {
        self.parts.is_full()
    }

    pub(super) fn spill(&mut self, order: Order<'_, '_>) -> Result<(), Error> {
        self.parts.spill(order)
    }

    /// Pairs all events and passes the slices to `drawn`; `order` compares events of the whole
    /// input.
    pub(super) fn finish(
        mut self,
        order: Order<'_, '_>,
        drawn: Option<&mut AllDrawn>,
    ) -> Result<Spans, Error> {
        let empty = ExternalSorter::new(self.lease.clone(), self.threads);
        let parts = std::mem::replace(&mut self.parts, empty).finish(order)?;
        let mut walk = SpanWalk::new(&mut self, drawn);
        parts.sorted(order).try_for_each(|part| walk.take(&part))?;
        walk.end_key()?;
        let (has_crossings, has_strangers) = (walk.has_crossings, walk.has_strangers);
        drop(parts);
        let floor = self.floor.load(Relaxed);
        let mut sorter = ExternalSorter::new(self.lease.clone(), self.threads);
        for span in self.done.take()?.iter().filter(|span| span.level() > floor) {
            sorter.push(span, Order::none())?;
        }
        let all = sorter.finish(Order::none())?;
        let is_complete = self.above(floor) <= self.most;
        Ok(Spans { all, level: floor, is_complete, has_crossings, has_strangers })
    }
}

/// Slices longer than the look-back T, by thread and start.
pub(super) struct Spans {
    all: SortedRecords<IndexedSpan>,
    /// log2 of the look-back T, in nanoseconds.
    pub(super) level: u32,
    /// Whether there is room for all slices without an end.
    pub(super) is_complete: bool,
    pub(super) has_crossings: bool,
    pub(super) has_strangers: bool,
}

impl Spans {
    /// Passes slices longer than 2^`level` ns to `visit`.
    pub(super) fn each<E>(
        &self,
        level: u32,
        mut visit: impl FnMut(IndexedSpan) -> Result<(), E>,
    ) -> Result<(), E> {
        let all = self.all.sorted(Order::none());
        all.filter(|span| span.level() > level).try_for_each(&mut visit)
    }
}

/// The first and the last event of a flow, and the number of all its events so far.
struct Chain {
    begin: LastingEvent,
    last: LastingEvent,
    steps: u64,
}

/// Pairs the events of each owner, in output order.
struct SpanWalk<'a> {
    to: &'a mut AllSpans,
    drawn: Option<&'a mut AllDrawn>,
    owner: u128,
    open: Begins<LastingEvent>,
    flow: Option<Chain>,
    counter: Option<LastingEvent>,
    /// The last event with counters of a page.
    page: Option<LastingEvent>,
    has_crossings: bool,
    has_strangers: bool,
}

impl<'a> SpanWalk<'a> {
    fn new(to: &'a mut AllSpans, drawn: Option<&'a mut AllDrawn>) -> Self {
        SpanWalk {
            to,
            drawn,
            owner: 0,
            open: Begins::default(),
            flow: None,
            counter: None,
            page: None,
            has_crossings: false,
            has_strangers: false,
        }
    }

    fn take(&mut self, lasting_event: &LastingEvent) -> Result<(), Error> {
        let part = lasting_event.part;
        if part.owner() != self.owner {
            self.end_key()?;
            self.owner = part.owner();
        }
        if self.owner == 0 {
            return Ok(());
        }
        match (part.kind, part.step) {
            (PairKind::Counter, _) => {
                let is_page = lasting_event.flags & spans::PAGE != 0;
                let last = if is_page { &mut self.page } else { &mut self.counter };
                match last.replace(*lasting_event) {
                    Some(before) => {
                        self.to.push(IndexedSpan { end: part.entry.time, ..begun(&before) })
                    }
                    None => Ok(()),
                }
            }
            (PairKind::Flow, PairStep::Begin) => {
                self.end_flow()?;
                self.flow = Some(Chain { begin: *lasting_event, last: *lasting_event, steps: 1 });
                Ok(())
            }
            (PairKind::Flow, step) => {
                if let Some(flow) = &mut self.flow {
                    flow.last = *lasting_event;
                    flow.steps += 1;
                }
                if step == PairStep::End { self.end_flow() } else { Ok(()) }
            }
            (_, PairStep::Begin) => {
                self.open.begin(part.name, *lasting_event);
                self.to.quota.check(self.open.heap(), OPEN)
            }
            (_, PairStep::Middle) => Ok(()),
            (_, PairStep::End) => self.end(lasting_event),
        }
    }

    fn end(&mut self, lasting_event: &LastingEvent) -> Result<(), Error> {
        let innermost = self.open.innermost().map(|open| open.part.entry.place);
        let begin = self.open.end(lasting_event.part.name);
        let Some(begin) = begin else { return Ok(()) };
        self.has_crossings |= innermost != Some(begin.part.entry.place);
        self.has_strangers |=
            lasting_event.part.name != 0 && begin.part.name != lasting_event.part.name;
        let span = between(&begin, lasting_event);
        self.drawn.iter_mut().for_each(|drawn| drawn.pair(&span));
        self.to.push(span)
    }

    fn end_flow(&mut self) -> Result<(), Error> {
        let Some(Chain { begin, last, steps }) = self.flow.take() else { return Ok(()) };
        let flags = if steps > 2 { spans::STEPS } else { 0 };
        self.to.push(IndexedSpan { flags, ..between(&begin, &last) })
    }

    /// Adds the open slices of an owner as slices without an end.
    fn end_key(&mut self) -> Result<(), Error> {
        self.end_flow()?;
        let open = std::mem::take(&mut self.open);
        for begin in open.values().chain(self.counter.take()).chain(self.page.take()) {
            let span = begun(&begin);
            self.to.push(IndexedSpan { flags: span.flags | spans::OPEN, ..span })?;
        }
        Ok(())
    }
}

/// Returns the slice that an event begins, without an end.
fn begun(lasting_event: &LastingEvent) -> IndexedSpan {
    let LastingEvent { part, thread, track, name, flags, .. } = *lasting_event;
    // kinds have the same order as in `spans`, after `COMPLETE`
    let (kind, begin) = (part.kind as u8 + spans::PAIR, lasting_event.place());
    // slices of all other kinds are on the track of their thread
    let track = if matches!(kind, spans::ASYNC | spans::LEGACY) { track } else { 0 };
    let start = part.entry.time;
    IndexedSpan { kind, flags, thread, track, name, start, end: i64::MAX, begin, last: begin }
}

fn between(begin: &LastingEvent, last: &LastingEvent) -> IndexedSpan {
    IndexedSpan { end: last.part.entry.time, last: last.place(), ..begun(begin) }
}
