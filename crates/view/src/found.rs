//! The scan: what each event is for the view, on the worker that finds it.
//!
//! | phase | becomes |
//! |---|---|
//! | X; i, I, R, n | an interval; a moment |
//! | B, E | marks of their thread |
//! | b, e, S, F | marks of their operation: category and id, and the process where the id is local to it |
//! | C | a sample of each series of the counter |
//! | s, t, f, and X with `bind_id` | points of flows: arrows between what is drawn |
//! | M | names and places of processes and threads |
//! | objects, profiles, all others | not drawn, but counted |

use crate::flows::NEXT;
use crate::lanes::{LaneKind, LaneTable, Notes};
use crate::record::{Mark, Span, Timed};
use crate::text::{NAME_MOST, content, cut};
use foldhash::fast::FixedState;
use std::hash::BuildHasher;
use tracemill_analysis::Names;
use tracemill_core::bounds::Times;
use tracemill_core::json::member;
use tracemill_pipeline::Findings;
use tracemill_tokenizer::{Event, Field, canonical, members, number_text, parse};

/// Series of a counter that are drawn.
const SERIES_MOST: usize = 16;

/// What is found in a stretch.
pub(crate) struct Found {
    pub(crate) names: Names,
    pub(crate) lanes: LaneTable,
    pub(crate) spans: Vec<Timed>,
    pub(crate) marks: Vec<Mark>,
    /// Points of flows; `name` says how each finds its event.
    pub(crate) flows: Vec<Mark>,
    pub(crate) notes: Notes,
    pub(crate) times: Times,
    pub(crate) events: u64,
    /// Events that are drawn nowhere.
    pub(crate) undrawn: u64,
    pub(crate) bytes: u64,
    scratch: Vec<u8>,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            names: Names::default(),
            lanes: LaneTable::default(),
            spans: Vec::new(),
            marks: Vec::new(),
            flows: Vec::new(),
            notes: Notes::default(),
            times: Times::NONE,
            events: 0,
            undrawn: 0,
            bytes: 0,
            scratch: Vec::new(),
        }
    }
}

/// The same for equal bytes on every machine.
fn hash(value: impl std::hash::Hash) -> u64 {
    FixedState::default().hash_one(value).max(1)
}

impl Found {
    /// The number of a name, and its hash.
    fn name(&mut self, value: Option<&[u8]>) -> (u32, u64) {
        let Some(value) = value.filter(|value| *value != b"null") else { return (0, 0) };
        let text = content(value, &mut self.scratch);
        let pair = if text.is_empty() { 0 } else { hash(text) };
        if text.len() <= NAME_MOST {
            return (self.names.number(text), pair);
        }
        let mut short = cut(text).to_vec();
        short.extend_from_slice("…".as_bytes());
        (self.names.number(&short), pair)
    }

    fn lane(&mut self, event: &Event<'_>, kind: LaneKind) -> u32 {
        let pid = event.field(Field::Pid).unwrap_or_default();
        let own = match kind {
            LaneKind::Async => event.field(Field::Cat).unwrap_or_default(),
            _ => event.field(Field::Tid).unwrap_or_default(),
        };
        self.lanes.number(kind, pid, own)
    }

    fn mark(&mut self, event: &Event<'_>, (ts, place): (i64, u64), (lane, group): (u32, u64)) {
        let (name, pair) = self.name(event.field(Field::Name));
        let phase = event.phase();
        self.marks.push(Mark { group, ts, place, pair, lane, name, phase });
    }

    /// A point of a flow: s, t, f by category, name and id.
    fn flow(&mut self, event: &Event<'_>, ts: i64, place: u64) {
        let lane = self.lane(event, LaneKind::Thread);
        let name = event.field(Field::Name).unwrap_or_default();
        let group = hash((self.operation(event), name)) | 1 << 63;
        let (phase, in_it) = (event.phase(), member(event.bytes, b"bp") == Some(b"\"e\""));
        let name = if phase == b's' || in_it { 0 } else { NEXT };
        self.flows.push(Mark { group, ts, place, pair: 0, lane, name, phase });
    }

    /// An event that is a point of a flow itself, by `bind_id`.
    fn bound(&mut self, event: &Event<'_>, lane: u32, ts: i64, place: u64) {
        let Some(id) = event.field(Field::BindId) else { return };
        let is = |key: &[u8]| member(event.bytes, key) == Some(b"true");
        let phase = match (is(b"flow_in"), is(b"flow_out")) {
            (true, true) => b't',
            (true, false) => b'f',
            (false, true) => b's',
            (false, false) => return,
        };
        let mut scratch = Vec::new();
        let mut number = Vec::new();
        let own = match number_text(id, &mut scratch) {
            Some(text) if canonical(text, &mut number) => &*number,
            _ => id,
        };
        let group = hash((b"bind_id", own)) | 1 << 63;
        self.flows.push(Mark { group, ts, place, pair: 0, lane, name: NEXT, phase });
    }

    /// What names an operation: its category and its id, with the process if the id is local.
    fn operation(&self, event: &Event<'_>) -> u64 {
        let cat = event.field(Field::Cat).unwrap_or_default();
        let pid = event.field(Field::Pid).unwrap_or_default();
        let scope = event.field(Field::Scope).unwrap_or_default();
        let (id, owner) = match event.field(Field::Id2) {
            Some(id2) => match member(id2, b"global") {
                Some(id) => (id, &b""[..]),
                None => (member(id2, b"local").unwrap_or(id2), pid),
            },
            None => (event.field(Field::Id).unwrap_or_default(), &b""[..]),
        };
        let mut scratch = Vec::new();
        let mut number = Vec::new();
        let own = match number_text(id, &mut scratch) {
            Some(text) if canonical(text, &mut number) => &*number,
            _ => id,
        };
        // threads have groups below 2^32
        hash((cat, scope, own, owner)) | 1 << 63
    }

    fn span(&mut self, lane: u32, event: &Event<'_>, (start, dur): (i64, i64), place: u64) {
        let (name, _) = self.name(event.field(Field::Name));
        self.spans.push(Timed(lane, Span { start, dur, place, name, row: 0, flags: 0 }));
    }

    /// A sample of each series.
    fn counter(&mut self, event: &Event<'_>, start: i64, place: u64) {
        let args = event.field(Field::Args).unwrap_or_default();
        let pid = event.field(Field::Pid).unwrap_or_default();
        if args.first() != Some(&b'{') {
            self.undrawn += 1;
            return;
        }
        let mut scratch = Vec::new();
        let name = content(event.field(Field::Name).unwrap_or_default(), &mut scratch);
        let mut own = cut(name).to_vec();
        if let Some(id) = event.field(Field::Id) {
            own.push(b' ');
            own.extend_from_slice(id);
        }
        let end = own.len();
        for (key, value) in members(args).take(SERIES_MOST) {
            let mut scratch = Vec::new();
            let Some(value) = number_text(value, &mut scratch).and_then(parse::<f64>) else {
                continue;
            };
            own.truncate(end);
            own.push(0xFF);
            own.extend_from_slice(cut(key));
            let lane = self.lanes.number(LaneKind::Counter, pid, &own);
            let dur = value.to_bits() as i64;
            self.spans.push(Timed(lane, Span { start, dur, place, name: 0, row: 0, flags: 0 }));
        }
    }
}

impl Findings for Found {
    fn event(&mut self, event: &Event<'_>, _number: u64, offset: u64) {
        self.events += 1;
        self.bytes += event.bytes.len() as u64;
        if event.is_metadata() {
            return self.notes.note(event);
        }
        let Some(ts) = event.ts() else {
            self.undrawn += 1;
            return;
        };
        let at = ts.floor;
        let dur = event.dur().map_or(0, |dur| dur.floor.max(0));
        let phase = event.phase();
        let end = if phase == b'X' { at.saturating_add(dur) } else { at };
        self.times.note(event, ts, end);
        match phase {
            b'X' => {
                let lane = self.lane(event, LaneKind::Thread);
                self.bound(event, lane, at, offset);
                self.span(lane, event, (at, dur), offset);
            }
            b'i' | b'I' | b'R' => {
                let lane = self.lane(event, LaneKind::Thread);
                self.span(lane, event, (at, 0), offset);
            }
            b'B' | b'E' => {
                let lane = self.lane(event, LaneKind::Thread);
                self.mark(event, (at, offset), (lane, u64::from(lane)));
            }
            b'n' => {
                let lane = self.lane(event, LaneKind::Async);
                self.span(lane, event, (at, 0), offset);
            }
            b'b' | b'e' | b'S' | b'F' => {
                let (lane, group) = (self.lane(event, LaneKind::Async), self.operation(event));
                self.mark(event, (at, offset), (lane, group));
            }
            b's' | b't' | b'f' => self.flow(event, at, offset),
            b'C' => self.counter(event, at, offset),
            _ => self.undrawn += 1,
        }
    }
}
