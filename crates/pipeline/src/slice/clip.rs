//! What lasts, cut at the edges of windows: pairs of `B`/`E`, `b`/`e`, `S`/`F`, flows and counters.
//!
//! ```text
//!            from          to
//!   B ────────│──── E       │          re-opened at from: the B with ts = from
//!             │   B ────────│──── E    closed at to: an E made of the B
//!   B ────────│─────────────│──── E    both
//!   B ─── E   │             │          nothing: it ended before, or at from
//! ```
//!
//! All parts before the end of the last window are walked once in the order of the output. An `E` closes the latest
//! open `B` of its thread, of the same name if it has one; an async end closes the latest open begin of its key. What
//! is never closed is open to the end of the trace. An edge behind which the trace has nothing closes nothing.
//!
//! A flow is re-opened at `from` only where a step of it lies inside: viewers bind it to what encloses its start, and
//! that is cut there too. A counter's last value before a window is repeated at `from` unless there is a new one.
//!
//! Heap: about 150 bytes for each pair that is open at one time and each counter.

use super::keys::{KeyMap, Part, has_rest};
use super::kinds::{Kind, Step};
use super::made::Made;
use super::windows::{Bounds, Windows};
use crate::error::Error;
use crate::json::push_micros;
use crate::order::Gather;
use crate::order::{EXACT, Entry};
use crate::splice::Splice;
use crate::store::Store;
use tracemill_tokenizer::{Field, fields_of};

/// Something that has begun.
struct Open {
    kind: Kind,
    entry: Entry,
    /// See [`Part`].
    name: u64,
    /// Whether it begins in the window at hand; what does not comes before what does.
    own: bool,
    /// Counts what begins, or of flows that are re-opened the first step inside.
    number: u64,
    /// Whether it stands in the window at hand.
    shown: bool,
}

/// What was made at edges.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) opened: u64,
    pub(super) closed: u64,
    pub(super) counters: u64,
}

/// Walks over the parts of pairs.
pub(super) struct Clip<'a, 'p> {
    store: &'a Store<'p>,
    windows: &'a Windows,
    bounds: Bounds,
    open: KeyMap<Vec<Open>>,
    counters: KeyMap<Open>,
    begun: u64,
    /// The window at hand, and the one that comes next.
    current: Option<usize>,
    next: usize,
    /// Whether what is open has yet to be re-opened in the window at hand.
    pending: bool,
    /// Begins of flows to be re-opened behind that: viewers bind them to what encloses them.
    flows: Vec<Entry>,
    pub(super) counts: Counts,
}

impl<'a, 'p> Clip<'a, 'p> {
    pub(super) fn new(store: &'a Store<'p>, windows: &'a Windows, bounds: Bounds) -> Self {
        Clip {
            store,
            windows,
            bounds,
            open: KeyMap::default(),
            counters: KeyMap::default(),
            begun: 0,
            current: None,
            next: 0,
            pending: false,
            flows: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Takes the next part in order.
    pub(super) fn take(
        &mut self,
        part: &Part,
        made: &mut Made,
        kept: &mut Gather<'_, '_>,
    ) -> Result<(), Error> {
        self.pass_edges(part.entry.time, made)?;
        if self.pending && !self.is_at_edge(part.entry) {
            self.reopen(made)?;
        }
        let stays = match part.key() {
            None => true,
            Some(key) => self.note(key, part, made)?,
        };
        if stays && self.current.is_some() { kept.push(part.entry) } else { Ok(()) }
    }

    /// Whether an event stands exactly where the window at hand begins.
    fn is_at_edge(&self, entry: Entry) -> bool {
        let at_edge = self.current.is_some_and(|window| self.windows.0[window].0 == entry.time);
        at_edge && (entry.place.rank() != EXACT || !has_rest(entry, self.store))
    }

    /// Notes a part; false if it goes though it stands in a window.
    fn note(&mut self, key: u128, part: &Part, made: &mut Made) -> Result<bool, Error> {
        let shown = self.current.is_some();
        self.begun += 1;
        let &Part { entry, name, kind, step, .. } = part;
        let new = Open { kind, entry, name, own: true, number: self.begun, shown };
        if kind == Kind::Counter {
            self.counters.insert(key, new);
            return Ok(true);
        }
        let open = self.open.entry(key).or_default();
        let mut stays = true;
        match step {
            Step::Begin => {
                if kind == Kind::Flow {
                    open.clear();
                }
                open.push(new);
            }
            Step::Middle | Step::End if kind == Kind::Flow => {
                if let Some(flow) = open.last_mut().filter(|flow| shown && !flow.shown)
                    && let Some(window) = self.current
                {
                    (flow.shown, flow.own, flow.number) = (true, false, self.begun);
                    let begin = flow.entry;
                    self.counts.opened += 1;
                    if self.pending {
                        self.flows.push(begin);
                    } else {
                        made.event_of(begin, &at(self.store, begin, self.windows.0[window].0))?;
                    }
                }
                if step == Step::End || open.is_empty() {
                    self.open.remove(&key);
                }
                return Ok(true);
            }
            Step::Middle => {}
            Step::End => {
                let of_name = |own: &Open| name == 0 || own.name == name;
                if let Some(at) = open.iter().rposition(of_name) {
                    // it ends where the window begins: none of it lies inside
                    stays = open.remove(at).shown || !shown;
                }
            }
        }
        if open.is_empty() {
            self.open.remove(&key);
        }
        Ok(stays)
    }

    /// Ends and begins the windows whose edges come before `time`, or at it.
    fn pass_edges(&mut self, time: i64, made: &mut Made) -> Result<(), Error> {
        loop {
            match self.current {
                Some(window) if time < self.windows.0[window].1 => return Ok(()),
                Some(window) => self.close(window, made)?,
                None => match self.windows.0.get(self.next) {
                    Some(window) if time >= window.0 => {
                        self.current = Some(self.next);
                        self.next += 1;
                        self.pending = true;
                    }
                    _ => return Ok(()),
                },
            }
        }
    }

    /// Re-opens what is open, and repeats counters, where the window at hand begins.
    fn reopen(&mut self, made: &mut Made) -> Result<(), Error> {
        self.pending = false;
        let Some(window) = self.current else { return Ok(()) };
        let from = self.windows.0[window].0;
        let slices = self.open.values_mut().flatten().filter(|open| open.kind != Kind::Flow);
        let waiting = slices.chain(self.counters.values_mut()).filter(|open| !open.shown);
        let mut waiting: Vec<&mut Open> = waiting.collect();
        waiting.sort_unstable_by_key(|open| open.number);
        for open in waiting {
            (open.shown, open.own) = (true, false);
            match open.kind {
                Kind::Counter => self.counts.counters += 1,
                _ => self.counts.opened += 1,
            }
            made.event_of(open.entry, &at(self.store, open.entry, from))?;
        }
        let flows = std::mem::take(&mut self.flows);
        flows.iter().try_for_each(|&begin| made.event_of(begin, &at(self.store, begin, from)))
    }

    /// Closes what is open at the end of the window at hand, the latest first.
    fn close(&mut self, window: usize, made: &mut Made) -> Result<(), Error> {
        if self.pending {
            self.reopen(made)?;
        }
        self.current = None;
        let to = self.windows.0[window].1;
        let goes_on = self.bounds.last >= to || self.bounds.end > to;
        let mut shown: Vec<&mut Open> =
            self.open.values_mut().flatten().filter(|open| open.shown).collect();
        shown.sort_unstable_by_key(|open| std::cmp::Reverse((open.own, open.number)));
        for open in shown {
            open.shown = false;
            if goes_on {
                self.counts.closed += 1;
                made.event(&end_of(self.store, open, to))?;
            }
        }
        self.counters.values_mut().for_each(|counter| counter.shown = false);
        Ok(())
    }

    /// All parts were taken: the trace may go on in windows without any.
    pub(super) fn finish(&mut self, made: &mut Made) -> Result<(), Error> {
        self.pass_edges(self.bounds.last.max(self.bounds.end.saturating_sub(1)), made)?;
        match self.current {
            Some(window) => self.close(window, made),
            None => Ok(()),
        }
    }
}

/// An event at another time.
pub(super) fn at(store: &Store<'_>, entry: Entry, time: i64) -> Vec<u8> {
    let bytes = store.event(entry.place);
    let spans = fields_of(bytes);
    let mut text = Vec::new();
    push_micros(time, &mut text);
    let mut splice = Splice::default();
    splice.field(&spans.of(bytes), Field::Ts, &text);
    splice.apply(bytes)
}

/// The end of something open, made of its begin.
fn end_of(store: &Store<'_>, open: &Open, time: i64) -> Vec<u8> {
    const FIELDS: [Field; 9] = [
        Field::Cat,
        Field::Id,
        Field::Id2,
        Field::Name,
        Field::Ph,
        Field::Pid,
        Field::Scope,
        Field::Tid,
        Field::Ts,
    ];
    let bytes = store.event(open.entry.place);
    let spans = fields_of(bytes);
    let mut out = b"{\"args\":{}".to_vec();
    for field in FIELDS {
        let Some(value) = spans.field(bytes, field) else { continue };
        out.extend_from_slice(format!(",\"{}\":", field.key()).as_bytes());
        match field {
            Field::Ph => out.extend_from_slice(format!("\"{}\"", open.kind.end()).as_bytes()),
            Field::Ts => {
                let quote: &[u8] = if value.starts_with(b"\"") { b"\"" } else { b"" };
                out.extend_from_slice(quote);
                push_micros(time, &mut out);
                out.extend_from_slice(quote);
            }
            _ => out.extend_from_slice(value),
        }
    }
    out.push(b'}');
    out
}
