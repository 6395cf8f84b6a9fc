//! Converts each event for drawing, on the worker that scans it. [`tracemill_index::drawing`]
//! determines lane (track) and name, as for indexes.
//!
//! | shape | becomes |
//! |---|---|
//! | complete, instant | an interval; an instant; `UpdateCounters` also samples |
//! | begin, end | marks of the thread, or of the async operation |
//! | samples | one sample per series of the counter |
//! | flow, and X with `bind_id` | points of flows, drawn as arrows |
//! | metadata | names and sort indexes of processes and threads |
//! | objects, profiles, all others | not drawn, but counted |

use crate::tracks::flows::NEXT;
use crate::tracks::notes::Notes;
use crate::tracks::record::{Mark, Span, Timed, colored};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use tracemill_index::drawing::{Labels, LaneKind, Shape, color_of, end_at};
use tracemill_tokenizer::{Event, Field, canonical, number_text};
use tracemill_trace::event::pairing::is_named;
use tracemill_trace::json::{content, member};
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::run::error::Error;
use tracemill_trace::time::bounds::Times;

pub(crate) struct Found {
    pub(crate) labels: Labels,
    pub(crate) spans: Vec<Timed>,
    pub(crate) marks: Vec<Mark>,
    /// Points of flows. `name` is [`NEXT`] for a point that belongs to the next event, else 0.
    pub(crate) flows: Vec<Mark>,
    pub(crate) notes: Notes,
    pub(crate) times: Times,
    pub(crate) events: u64,
    pub(crate) undrawn: u64,
    pub(crate) bytes: u64,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            labels: Labels::default(),
            spans: Vec::new(),
            marks: Vec::new(),
            flows: Vec::new(),
            notes: Notes::default(),
            times: Times::NONE,
            events: 0,
            undrawn: 0,
            bytes: 0,
        }
    }
}

/// Returns a hash that is equal on all machines.
fn hash(value: impl std::hash::Hash) -> u64 {
    FixedState::default().hash_one(value).max(1)
}

impl Found {
    /// Adds the begin or end of an interval. Begins and ends of an async operation have the same
    /// group, which depends on category, name and id.
    fn mark(&mut self, event: &Event<'_>, ts: i64, place: u64, kind: LaneKind) {
        let lane = self.labels.lane(event, kind);
        let (group, pair) = match kind {
            LaneKind::Async => match operation(event) {
                Some(operation) => (operation, 0),
                None => {
                    self.undrawn += 1;
                    return;
                }
            },
            _ => (u64::from(lane), if is_named(event) { hash_of_name(event) } else { 0 }),
        };
        let (name, phase) = (self.labels.name(event), event.phase());
        let color = if matches!(phase, b'B' | b'b' | b'S') { color_of(event) } else { 0 };
        self.marks.push(Mark { group, ts, place, pair, lane, name, phase, color });
    }

    /// Adds a point of a flow, from an event `s`, `t` or `f`. The flow is identified by category,
    /// name and id. Only an `f` without `bp` belongs to the next event.
    fn flow(&mut self, event: &Event<'_>, ts: i64, place: u64) {
        let lane = self.labels.lane(event, LaneKind::Thread);
        let group = operation(event).unwrap_or_else(|| hash(hash_of_name(event)) | 1 << 63);
        let (phase, in_it) = (event.phase(), member(event.bytes, b"bp") == Some(b"\"e\""));
        let name = if phase != b'f' || in_it { 0 } else { NEXT };
        self.flows.push(Mark { group, ts, place, pair: 0, lane, name, phase, color: 0 });
    }

    /// Adds a point of a flow, from an event with `bind_id`.
    fn bound(&mut self, event: &Event<'_>, lane: u32, ts: i64, place: u64) {
        let Some(id) = event.field(Field::BindId) else { return };
        let is = |key: &[u8]| member(event.bytes, key) == Some(b"true");
        let phase = match (is(b"flow_in"), is(b"flow_out")) {
            (true, true) => b't',
            (true, false) => b'f',
            (false, true) => b's',
            (false, false) => return,
        };
        let group = hash((b"bind_id", id_of(id))) | 1 << 63;
        self.flows.push(Mark { group, ts, place, pair: 0, lane, name: NEXT, phase, color: 0 });
    }

    fn span(&mut self, lane: u32, event: &Event<'_>, start: i64, end: i64, place: u64) {
        let (name, dur) = (self.labels.name(event), end.saturating_sub(start));
        let flags = colored(color_of(event));
        self.spans.push(Timed(lane, Span { start, dur, place, name, row: 0, flags }));
    }

    /// Adds a sample to each counter of a page.
    fn page_counters(&mut self, event: &Event<'_>, start: i64, place: u64) {
        let Found { labels, spans, .. } = self;
        labels.page_samples(event, |lane, value| {
            spans.push(Timed(lane, Span::of_sample(start, value, place)));
        });
    }

    fn counter(&mut self, event: &Event<'_>, start: i64, place: u64) {
        let Found { labels, spans, undrawn, .. } = self;
        let has_any = labels.samples(event, |lane, value| {
            spans.push(Timed(lane, Span::of_sample(start, value, place)));
        });
        *undrawn += u64::from(!has_any);
    }
}

/// Returns a hash of an event's name, which does not depend on its escapes.
fn hash_of_name(event: &Event<'_>) -> u64 {
    let mut scratch = Vec::new();
    hash(content(event.field(Field::Name).unwrap_or_default(), &mut scratch))
}

/// Returns an id in canonical form if it is a number. Returns other ids as written.
fn id_of(id: &[u8]) -> Vec<u8> {
    let (mut scratch, mut number) = (Vec::new(), Vec::new());
    match number_text(id, &mut scratch) {
        Some(text) if canonical(text, &mut number) => number,
        _ => id.to_vec(),
    }
}

/// Returns a hash that identifies an async operation or flow: of category, name, scope and id, and
/// of the process if the id is local. Returns `None` if there is no id.
fn operation(event: &Event<'_>) -> Option<u64> {
    let cat = event.field(Field::Cat).unwrap_or_default();
    let scope = event.field(Field::Scope).unwrap_or_default();
    let (id, owner) = match (event.field(Field::Id), event.field(Field::Id2)) {
        (Some(id), _) => (id, &b""[..]),
        (None, Some(id2)) => match (member(id2, b"global"), member(id2, b"local")) {
            (Some(id), _) => (id, &b""[..]),
            (None, Some(id)) => (id, event.field(Field::Pid).unwrap_or_default()),
            (None, None) => return None,
        },
        (None, None) => return None,
    };
    // the highest bit is not set in the groups of threads, which are below 2^32
    Some(hash((cat, hash_of_name(event), scope, id_of(id), owner)) | 1 << 63)
}

impl Look for Found {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.note(event, at.offset);
        true
    }
}

/// An observer that passes the result of each chunk, and the number of its input, to a function.
pub(crate) struct EachChunk<F>(pub(crate) F);

impl<F: FnMut(Found, usize) -> Result<(), Error>> Observer for EachChunk<F> {
    type Chunk = Found;

    fn starter(&self) -> Starter<Found> {
        Box::new(|_| Found::default())
    }

    fn merge(&mut self, found: Found, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        // an input that is left out has no report
        if chunk.stats.events == 0 { Ok(()) } else { (self.0)(found, chunk.input) }
    }
}

impl Found {
    fn note(&mut self, event: &Event<'_>, offset: u64) {
        self.events += 1;
        self.bytes += event.bytes.len() as u64;
        if event.is_metadata() {
            return self.notes.note(event);
        }
        let Some(ts) = event.ts() else {
            self.undrawn += 1;
            return;
        };
        let (at, end) = (ts.floor, end_at(event, ts));
        self.times.note(event, ts, end);
        match Shape::of(event.phase()) {
            Shape::Complete => {
                let lane = self.labels.lane(event, LaneKind::Thread);
                self.bound(event, lane, at, offset);
                self.span(lane, event, at, end, offset);
            }
            Shape::Moment(kind) => {
                let lane = self.labels.lane(event, kind);
                self.span(lane, event, at, at, offset);
                self.page_counters(event, at, offset);
            }
            Shape::Begin(kind) | Shape::End(kind) => self.mark(event, at, offset, kind),
            Shape::Flow => self.flow(event, at, offset),
            Shape::Samples => self.counter(event, at, offset),
            Shape::None => self.undrawn += 1,
        }
    }
}
