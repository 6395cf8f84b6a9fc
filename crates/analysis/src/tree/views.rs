//! Tree views that are filled by a walk: call tree, event log and bottom-up tree. Times are added
//! in DevTools' order.

use crate::entries::Entry;
use crate::entries::walk::{Counted, Visit};
use crate::tree::async_callers::AsyncCallers;
use crate::tree::{Key, NONE, Rows, added};
use crate::value::clock::{Clock, Window};
use crate::value::space::Space;
use std::collections::hash_map::Entry as Place;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;

/// Identifies the rows of entries.
pub trait Identify {
    /// Returns the id of the entry's row.
    fn id(&self, entry: &Entry) -> u32;
    /// Returns the number of the text of the entry's group. Returns 0 if the entry has no group.
    fn group(&self, entry: &Entry) -> u32;
    /// Returns the received bytes that the entry reports, if it is an event of a request.
    fn received(&self, entry: &Entry) -> Option<Received>;
    /// Returns the CPU time, in microseconds, of an entry that counts for `sum` milliseconds, or
    /// exact nanoseconds.
    fn cpu_time(&self, _counted: &Counted, _sum: f64) -> Option<f64> {
        None
    }
}

/// Received bytes reported by an event of a request.
#[derive(Clone, Copy)]
pub struct Received {
    pub(crate) bytes: f64,
    pub(crate) kind: ReceivedKind,
    pub(crate) is_cached: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReceivedKind {
    Data,
    Finish,
    Response,
}

/// Options for a [`TopDown`] tree.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopDownRules {
    /// Whether each event has a separate row, as in an event log.
    pub each: bool,
    /// Whether entries of different groups have different rows.
    pub grouped: bool,
    /// Reproduces DevTools, including its defects.
    pub as_devtools: bool,
}

/// Options for a [`BottomUp`] tree.
#[derive(Clone, Copy, Debug)]
pub struct BottomUpRules {
    /// Number of levels. The first level has no callers.
    pub levels: usize,
    /// Whether the group is part of a row's id, as in groups by third party.
    pub forced: bool,
    /// Reproduces DevTools, including its defects.
    pub as_devtools: bool,
    /// The clock of the entries.
    pub clock: Clock,
}

/// A call tree. With `each`, an event log with one row per event.
pub struct TopDown<'i, I> {
    pub(crate) rows: Rows,
    ids: &'i I,
    each: bool,
    grouped: bool,
    as_devtools: bool,
    /// Rows of the open events, and whether DevTools adds children to each of them.
    open: Vec<(u32, bool)>,
}

impl<'i, I: Identify> TopDown<'i, I> {
    /// Creates an empty tree. `ids` identifies the rows of entries.
    pub fn new(ids: &'i I, space: &Space, rules: TopDownRules) -> Self {
        let TopDownRules { each, grouped, as_devtools } = rules;
        let open = vec![(0, true)];
        TopDown { rows: Rows::new(space), ids, each, grouped, as_devtools, open }
    }

    fn enter(&mut self, counted: &Counted, ms: f64) {
        let Counted { written, entry } = counted;
        let (parent, matched) = self.open[self.open.len() - 1];
        if parent != NONE && parent != 0 {
            self.rows.update(parent, |row| {
                row.own -= ms;
                row.expandable = true;
            });
        }
        let row = if parent != NONE && matched {
            let group = if self.grouped { self.ids.group(entry) } else { 0 };
            let key = Key { id: self.ids.id(entry), group };
            match self.each {
                true => self.rows.add(parent, key, *written),
                false => self.rows.row(parent, key, *written).0,
            }
        } else {
            NONE
        };
        if row != NONE {
            let cpu = self.ids.cpu_time(counted, ms);
            self.rows.update(row, |row| {
                row.count += 1;
                row.own += ms;
                row.total += ms;
                row.cpu = added(row.cpu, cpu);
            });
        }
        // DevTools never closes an event that ends at 0, and finds no children of it.
        let matched = !self.as_devtools || entry.end() != 0.0 && !entry.end().is_nan();
        self.open.push((row, matched));
    }

    /// Returns the rows. The total time of the root is the window; its self time is the time that
    /// no row covers.
    pub fn finish(mut self, window: Window) -> Rows {
        let total = window.to - window.from;
        let children = self.rows.children(0).collect::<Vec<_>>().into_iter();
        let rest = children.fold(total, |rest, row| rest - self.rows.get(row).total);
        self.rows.update(0, |root| (root.total, root.own) = (total, rest));
        self.rows
    }
}

impl<I: Identify> Visit for TopDown<'_, I> {
    fn grown(&mut self) -> Result<u64, Error> {
        self.rows.check().map(|()| 0)
    }

    fn start(&mut self, counted: &Counted, ms: f64) {
        if self.each && counted.entry.dur < 0.0 && self.as_devtools {
            return self.open.push(self.open[self.open.len() - 1]);
        }
        self.enter(counted, ms);
    }

    fn end(&mut self, _own: &Counted, _ms: f64) {
        self.open.pop();
    }

    fn instant(&mut self, counted: &Counted) {
        if self.each || !self.as_devtools && counted.written.is_without_duration() {
            self.enter(counted, 0.0);
            self.open.pop();
        }
    }
}

struct Open {
    written: Entry,
    key: Key,
    caller: u32,
    own: f64,
    /// Whether no other entry of the same row is open. DevTools' own check leaves out events
    /// without a name.
    outermost: bool,
}

/// Callers of a thread's entries across asynchronous tasks.
#[derive(Clone, Copy)]
pub(crate) struct Continuation<'i> {
    pub(crate) callers: &'i AsyncCallers,
    /// Number of the thread.
    pub(crate) thread: u32,
    /// Whether the walk visits an entry.
    pub(crate) is_counted: &'i dyn Fn(&Entry) -> bool,
}

/// A bottom-up tree. Its number of levels is fixed from the start, since the sums depend on the
/// order of events.
pub struct BottomUp<'i, I> {
    pub(crate) rows: Rows,
    ids: &'i I,
    window: Window,
    levels: usize,
    /// Whether the group is part of a row's id, as in groups by third party.
    forced: bool,
    as_devtools: bool,
    clock: Clock,
    open: Vec<Open>,
    /// Self time so far of the window and of each open event.
    own: Vec<f64>,
    outermost: Vec<bool>,
    /// Durations of the outermost open entry of each row.
    totals: HashMap<Key, f64>,
    /// Whether each request was answered from a cache.
    cached: HashMap<Key, bool>,
    continuation: Option<Continuation<'i>>,
}

impl<'i, I: Identify> BottomUp<'i, I> {
    /// Creates an empty tree of `rules.levels` levels for a window in milliseconds, or exact
    /// nanoseconds.
    pub fn new(ids: &'i I, window: Window, rules: BottomUpRules, space: &Space) -> Self {
        let BottomUpRules { levels, forced, as_devtools, clock } = rules;
        BottomUp {
            rows: Rows::new(space),
            ids,
            window,
            levels,
            forced,
            as_devtools,
            clock,
            open: Vec::new(),
            own: vec![window.to - window.from],
            outermost: Vec::new(),
            totals: HashMap::default(),
            cached: HashMap::default(),
            continuation: None,
        }
    }

    /// Extends the callers of entries by those that scheduled them.
    pub(crate) fn continue_with(&mut self, continuation: Continuation<'i>) {
        self.continuation = Some(continuation);
    }

    /// Returns the callers that scheduled an entry, as many as the tree has levels for.
    fn schedulers(&self, entry: &Entry) -> Vec<Entry> {
        let Some(Continuation { callers, thread, is_counted }) = self.continuation else {
            return Vec::new();
        };
        let around = self.open.iter().rev().map(|open| &open.written);
        let all = callers.callers(thread, std::iter::once(entry).chain(around));
        let levels = self.levels.saturating_sub(1 + self.open.len());
        // One more shows that the last row has callers.
        all.filter(|entry| is_counted(entry)).take(levels + 1).collect()
    }

    fn key(&self, entry: &Entry) -> Key {
        // An empty group name is a group too.
        let group = if self.forced { 1 + self.ids.group(entry) } else { 0 };
        Key { id: self.ids.id(entry), group }
    }

    /// Notes whether a request was answered from a cache. All requests must be noted before the
    /// walk.
    pub fn note_cached(&mut self, entry: &Entry) {
        if let Some(received) = self.ids.received(entry)
            && received.kind == ReceivedKind::Response
        {
            self.cached.insert(self.key(entry), received.is_cached);
        }
    }

    /// Adds an event that has ended to the rows of its callers.
    fn add_callers(
        &mut self,
        mut row: u32,
        self_time: f64,
        Counted { entry, .. }: &Counted,
        end: f64,
        schedulers: &[Entry],
    ) {
        let start = self.clock.sum(entry.ts);
        let around = self.open.len();
        let above = around + schedulers.len();
        for k in 1..self.levels.min(above + 1) {
            let (caller, written) = match around.checked_sub(k) {
                Some(at) => (self.open[at].caller, self.open[at].written),
                None => {
                    let entry = schedulers[k - around - 1];
                    (self.ids.id(&entry), entry)
                }
            };
            let mut counted = self.window.from;
            self.rows.update(row, |record| {
                if !record.marker.is_nan() {
                    counted = record.marker;
                }
                record.marker = end;
            });
            let (next, is_new) = self.rows.row(row, Key::of(caller), written);
            row = next;
            self.rows.update(row, |row| {
                if is_new {
                    row.expandable = above > k;
                }
                row.count += 1;
                row.own += self_time;
                row.total += end - crate::entries::walk::js_max(start, counted);
            });
        }
    }

    /// Returns the rows. The total time of the root is the window.
    ///
    /// Removes rows without self time and bytes, except those of events without a duration. If the
    /// table will be merged with others (`shared`), removes only rows that have no time at all.
    pub fn finish(mut self, shared: bool) -> Rows {
        let (total, self_time) = (self.window.to - self.window.from, or_zero(self.own.pop()));
        self.rows.update(0, |root| (root.total, root.own) = (total, self_time));
        let as_devtools = self.as_devtools;
        if shared && as_devtools {
            return self.rows;
        }
        let top: Vec<u32> = self.rows.children(0).collect();
        for row in top {
            self.rows.update(row, |row| {
                let tells_nothing = row.own <= 0.0 && row.bytes <= 0.0;
                let has_time = row.own != 0.0 || row.total != 0.0;
                let has_duration = !row.entry.is_without_duration();
                let goes = match shared {
                    true => has_duration && !has_time,
                    false => has_duration || has_time || as_devtools,
                };
                row.is_gone = tells_nothing && goes;
            });
        }
        self.rows
    }
}

/// Returns the result of JavaScript's `x || 0`.
fn or_zero(number: Option<f64>) -> f64 {
    number.filter(|number| !number.is_nan()).unwrap_or(0.0)
}

impl<I: Identify> Visit for BottomUp<'_, I> {
    fn grown(&mut self) -> Result<u64, Error> {
        self.rows.check().map(|()| 0)
    }

    fn start(&mut self, Counted { written, entry }: &Counted, ms: f64) {
        if let Some(last) = self.own.last_mut() {
            *last -= ms;
        }
        self.own.push(ms);
        if let Some(parent) = self.open.last_mut() {
            parent.own -= ms;
        }
        let key = self.key(entry);
        let total = self.totals.entry(key);
        let outermost = matches!(total, Place::Vacant(_));
        total.or_insert(ms);
        self.outermost.push(outermost);
        let caller = if self.forced { self.ids.id(entry) } else { key.id };
        self.open.push(Open { written: *written, key, caller, own: ms, outermost });
    }

    fn end(&mut self, counted: &Counted, end: f64) {
        let written = &counted.written;
        let Some(Open { key, own: self_time, outermost, .. }) = self.open.pop() else { return };
        if self.as_devtools && key == Key::of(0) {
            return;
        }
        let (row, _) = self.rows.row(0, key, *written);
        let rest = or_zero(self.own.pop());
        let is_outermost = self.outermost.pop();
        let schedulers = self.schedulers(written);
        let has_caller = !self.open.is_empty() || !schedulers.is_empty();
        let counts = if self.as_devtools { is_outermost == Some(true) } else { outermost };
        let total = counts.then(|| or_zero(self.totals.remove(&key)));
        let cpu = total.and_then(|total| self.ids.cpu_time(counted, total));
        self.rows.update(row, |row| {
            row.count += 1;
            row.own += rest;
            row.cpu = added(row.cpu, cpu);
            row.expandable |= has_caller;
            row.total += total.unwrap_or(0.0);
        });
        // In DevTools, rows of forced groups have no callers, because its lookup ignores groups.
        if !self.forced || !self.as_devtools {
            self.add_callers(row, self_time, counted, end, &schedulers);
        }
    }

    fn instant(&mut self, counted: &Counted) {
        let Counted { written, entry } = counted;
        let Some(received) = self.ids.received(entry) else {
            if !self.as_devtools && written.is_without_duration() {
                self.start(counted, 0.0);
                self.end(counted, self.clock.sum(entry.ts));
            }
            return;
        };
        let key = self.key(entry);
        let (row, _) = self.rows.row(0, key, *written);
        let is_cached = self.cached.get(&key).copied().unwrap_or(false);
        self.rows.update(row, |row| {
            row.count += 1;
            match received.kind {
                ReceivedKind::Data if is_cached => row.bytes = 0.0,
                // DevTools adds missing bytes as NaN.
                ReceivedKind::Data if self.as_devtools || !received.bytes.is_nan() => {
                    row.bytes += received.bytes;
                }
                ReceivedKind::Finish if received.bytes == 0.0 && is_cached => row.bytes = 0.0,
                _ if received.bytes > 0.0 => row.bytes = received.bytes,
                _ => {}
            }
        });
    }
}
