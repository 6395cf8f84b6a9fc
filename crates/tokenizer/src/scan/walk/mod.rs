//! Walks over structural positions, and tracks depth, items and keys; the entry point is
//! [`State::walk`].
//!
//! A small hot loop handles items; all other code handles documents, top-level keys and damage.
//!
//! ```text
//!   level 0   between documents   { ──> an item: event, document around events, or plain object
//!                                 [ ──> level 1
//!             in an object        "traceEvents" : [ ──> level 2
//!   level 1, 2  between items     { ──> an item: an event        ] ──> level 0
//!   in an item (depth > level)    : at level + 1 ──> a key       { [ ──> deeper      } ] ──> back
//! ```
//!
//! Invariants: `nesting.depth` is at least `level`. The two are equal only between items; then all
//! bytes before `gap` are processed. `seen` and `values` describe the current item only.
//!
//! Cost: one step per bracket and colon. Memory is allocated only at every 64th level of nesting,
//! and for the keys of documents at level 0.

mod nesting;
mod recover;
mod sound;

use super::findings::{Damage, DamageKind, Fault, Form, Note, Sink, Status, Stop, Values, Window};
use super::members::{Members, is_events_key};
use crate::event::Event;
use crate::text::field::{Field, Key, key_before};
use crate::text::is_space;
use nesting::{Nesting, SPILLED};
pub(super) use sound::Sound;

/// The result of walking over one window.
pub(super) enum Walk {
    /// All positions are processed.
    Through,
    /// The scan stops with this status; the next scan begins at this offset.
    Stopped(Status, u64),
    /// An item in an array ended, and the caller reads the next one.
    Paused,
    /// A bracket does not fit; the search for the next event begins.
    Lost(Fault),
}

/// The bit that is set in `{` and `}`, and clear in `[` and `]`.
const OBJECT_BIT: u8 = 0x20;
/// The bit that is set in `}` and `]`, and clear in `{` and `[`.
pub(crate) const CLOSING_BIT: u8 = 0x04;

/// The result of walking inside an item, with positions in the window.
enum Inside {
    /// All positions are processed.
    Through,
    /// The item ended before this position.
    Ended(usize),
    /// A `[` in an object at level 0, perhaps that of `traceEvents`.
    Array(usize),
    Lost(DamageKind, usize),
}

/// The state of the scan between two windows, except that of the block scan.
#[derive(Clone)]
pub(super) struct State {
    /// Depth of the container of the events: 0, 1 or 2.
    level: u32,
    nesting: Nesting,
    /// Start of the current item, if `nesting.depth > level`.
    item: u64,
    /// End of the last item, or of the bracket that opened the level. Only separators may follow.
    gap: u64,
    /// Whether an item precedes the gap, so that a comma must follow.
    comma_due: bool,
    /// Whether the gap before the next item was checked.
    gap_checked: bool,
    /// Fields of the current item, one bit each.
    seen: u16,
    /// Per field in `seen`, the offset just after its colon; other elements are stale.
    values: Values,
    /// Whether the last item at level 0 was an event or the header of NDJSON.
    ndjson: bool,
    /// Whether [`Status::Events`] was reported.
    reported: bool,
    /// Keys of the document object around the current position.
    pub(super) members: Members,
}

impl State {
    pub(super) fn new(offset: u64) -> Self {
        State {
            level: 0,
            nesting: Nesting::default(),
            item: offset,
            gap: offset,
            comma_due: false,
            gap_checked: false,
            seen: 0,
            values: [0; Field::COUNT],
            ndjson: false,
            reported: false,
            members: Members::default(),
        }
    }

    /// Returns the state of a walk at the start of an item at `offset`, at the same level.
    pub(super) fn fork(&self, offset: u64) -> Self {
        State {
            level: self.level,
            nesting: Nesting::around(self.level),
            gap_checked: true,
            ndjson: self.ndjson,
            reported: true,
            members: Members::around_events(self.level == 2),
            ..State::new(offset)
        }
    }

    pub(super) fn event_level(&self) -> Option<u8> {
        let expected = self.nesting.depth == self.level && (self.level > 0 || self.ndjson);
        expected.then_some(self.level as u8)
    }

    /// Returns the offset of the first byte still needed: the start of the current item, of the
    /// unreported keys of its document, or of the gap.
    pub(super) fn retain_from(&self) -> u64 {
        match self.nesting.depth > self.level {
            true if self.level == 0 && self.members.has_events => self.members.floor,
            true => self.item,
            false => self.gap,
        }
    }

    /// Processes the structural bytes at the offsets `start + positions`. If `pauses`, stops at the
    /// end of an item in an array.
    pub(super) fn walk<S: Sink>(
        &mut self,
        window: Window<'_>,
        start: u64,
        positions: &[u16],
        pauses: bool,
        stop: Stop,
        sink: &mut S,
    ) -> Walk {
        let from = window.index(start);
        let mut rest = positions;
        loop {
            if self.nesting.depth > self.level {
                let inside = self.walk_inside(window, from, &mut rest);
                let step = match inside {
                    Inside::Through => return Walk::Through,
                    Inside::Lost(kind, at) => {
                        let noticed = window.base + at as u64;
                        return Walk::Lost(Fault { kind, noticed });
                    }
                    Inside::Ended(end) => match self.end_item(window, end, stop, sink) {
                        None if pauses && self.level > 0 => Some(Walk::Paused),
                        step => step,
                    },
                    Inside::Array(at) => self.open_array(window, at, stop, sink),
                };
                if let Some(walk) = step {
                    return walk;
                }
                continue;
            }
            let Some((&position, behind)) = rest.split_first() else { return Walk::Through };
            rest = behind;
            let at = from + usize::from(position);
            let step = match window.bytes[at] {
                b':' => continue,
                b'{' => self.begin_item(window, at, stop, sink),
                b'[' => self.open_array(window, at, stop, sink),
                b']' => self.close_array(window, at, sink),
                _ => return brackets(window, at),
            };
            if let Some(walk) = step {
                return walk;
            }
        }
    }

    /// Walks inside an item: the hot loop, kept small so that its variables stay in registers.
    #[inline(never)]
    fn walk_inside(&mut self, window: Window<'_>, from: usize, rest: &mut &[u16]) -> Inside {
        let bytes = window.bytes;
        let ahead = &bytes[from..];
        let level = self.level;
        let (mut depth, mut objects) = (self.nesting.depth, self.nesting.objects);
        let mut seen = self.seen;
        let mut outcome = Inside::Through;
        let mut positions = rest.iter();
        for &position in positions.by_ref() {
            let at = from + usize::from(position);
            let byte = ahead[usize::from(position)];
            if byte == b':' {
                if depth != level + 1 {
                    continue;
                }
                match key_before(bytes, at) {
                    Key::Field(field) => {
                        seen |= field.bit();
                        self.values[field as usize] = window.base + at as u64 + 1;
                    }
                    // the start of another document: the document before it has no end
                    Key::Other { may_be_events: true } if level > 0 && is_events_key(bytes, at) => {
                        outcome = Inside::Lost(DamageKind::Garbage, at);
                        break;
                    }
                    Key::Other { .. } => {}
                }
                if level == 0 {
                    self.members.colon(bytes, at, window.base + at as u64);
                }
                continue;
            }
            // bit arithmetic, because a jump table would be mispredicted at most brackets
            let object = byte & OBJECT_BIT != 0;
            if byte & CLOSING_BIT == 0 {
                if level == 0 && !object {
                    outcome = Inside::Array(at);
                    break;
                }
                if !value_may_stand(objects & 1 == 1, bytes, at) {
                    outcome = Inside::Lost(DamageKind::Brackets, at);
                    break;
                }
                if depth.is_multiple_of(64) {
                    self.nesting.spilled.push(objects);
                }
                objects = objects << 1 | u64::from(object);
                depth += 1;
                continue;
            }
            if (objects & 1 == 1) != object {
                outcome = Inside::Lost(DamageKind::Brackets, at);
                break;
            }
            depth -= 1;
            objects >>= 1;
            if depth.is_multiple_of(64) && depth > 0 {
                objects = self.nesting.spilled.pop().expect(SPILLED);
            }
            if depth == level {
                outcome = Inside::Ended(at + 1);
                break;
            }
        }
        *rest = positions.as_slice();
        (self.nesting.depth, self.nesting.objects, self.seen) = (depth, objects, seen);
        outcome
    }

    /// Begins the item at `at`, unless the border is at or before `at`.
    fn begin_item<S: Sink>(
        &mut self,
        window: Window<'_>,
        at: usize,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        let offset = window.base + at as u64;
        self.check_gap(window, offset, sink);
        if offset >= stop.border {
            self.gap = offset;
            self.gap_checked = true;
            return Some(Walk::Stopped(Status::Border(offset), offset));
        }
        self.item = offset;
        self.seen = 0;
        if self.level == 0 {
            self.members.begin(offset + 1);
        }
        self.nesting.push(true);
        None
    }

    /// Reports unexpected text and commas between `gap` and the item at `offset`.
    #[inline]
    fn check_gap<S: Sink>(&mut self, window: Window<'_>, offset: u64, sink: &mut S) {
        if std::mem::take(&mut self.gap_checked) {
            return;
        }
        let gap = window.slice(self.gap, offset);
        if self.comma_is_due() && (gap == b"," || gap == b",\n") {
            return;
        }
        self.check_odd_gap(gap, sink);
    }

    /// Reports text between two items as lost, without the separators around it. If there is no
    /// text, reports a wrong number of commas as a note.
    fn check_odd_gap<S: Sink>(&mut self, gap: &[u8], sink: &mut S) {
        let commas = gap.iter().filter(|&&b| b == b',').count();
        if let Some(first) = gap.iter().position(|&b| !is_space(b) && b != b',') {
            let end = gap.iter().rposition(|&b| !is_space(b) && b != b',').unwrap_or(first) + 1;
            let offset = self.gap + first as u64;
            let lost = &gap[first..end];
            sink.damage(Damage { kind: DamageKind::Garbage, offset, noticed: offset, lost });
        } else if commas != usize::from(self.comma_is_due()) {
            sink.note(Note::Separators, self.gap);
        }
    }

    /// Returns whether a comma must come next; never between documents or lines of NDJSON.
    fn comma_is_due(&self) -> bool {
        self.comma_due && self.level > 0
    }

    /// Ends the item whose closing brace is at `end - 1`.
    #[inline(always)]
    fn end_item<S: Sink>(
        &mut self,
        window: Window<'_>,
        end: usize,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        self.gap = window.base + end as u64;
        self.comma_due = true;
        if self.level == 0 {
            return self.end_document_object(window, stop, sink);
        }
        let bytes = &window.bytes[window.index(self.item)..end];
        sink.event(&Event::new(bytes, self.item, self.seen, &self.values));
        None
    }

    /// Ends an object at level 0: an event, a document around events, or another object.
    #[cold]
    #[inline(never)]
    fn end_document_object<S: Sink>(
        &mut self,
        window: Window<'_>,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        let was_ndjson = std::mem::take(&mut self.ndjson);
        if self.members.has_events {
            self.members.flush(window, self.gap - 1, sink);
            self.members.has_events = false;
            return None;
        }
        if self.members.is_header(window, self.gap - 1) {
            sink.document(Form::Ndjson);
            self.members.flush_header(window, self.gap - 1, sink);
            self.ndjson = true;
            return None;
        }
        if !was_ndjson && !self.looks_like_event() {
            sink.document(Form::Plain);
            self.members.flush(window, self.gap - 1, sink);
            return None;
        }
        if !was_ndjson {
            sink.document(Form::Ndjson);
        }
        self.ndjson = true;
        let bytes = window.slice(self.item, self.gap);
        sink.event(&Event::new(bytes, self.item, self.seen, &self.values));
        self.report_events(stop)
    }

    /// Stops at the first events, once per scanner, if `stop` requests it.
    fn report_events(&mut self, stop: Stop) -> Option<Walk> {
        let first = stop.at_events && !std::mem::replace(&mut self.reported, true);
        first.then_some(Walk::Stopped(Status::Events(self.gap), self.gap))
    }

    /// Returns whether the object at level 0 is an event: it has a phase, or a time and a process,
    /// thread or name, or is empty (some producers write `{}` to avoid a comma).
    fn looks_like_event(&self) -> bool {
        let has = |field: Field| self.seen & field.bit() != 0;
        has(Field::Ph)
            || self.members.is_empty()
            || (has(Field::Ts) && (has(Field::Pid) || has(Field::Tid) || has(Field::Name)))
    }

    /// Processes a `[`: a value in an item, the events of a document object, or a document in array
    /// form.
    fn open_array<S: Sink>(
        &mut self,
        window: Window<'_>,
        at: usize,
        stop: Stop,
        sink: &mut S,
    ) -> Option<Walk> {
        let offset = window.base + at as u64;
        if self.nesting.depth > self.level {
            if !value_may_stand(self.nesting.in_object(), window.bytes, at) {
                return Some(brackets(window, at));
            }
            if self.level == 0 && self.nesting.depth == 1 && self.members.expects_events(window, at)
            {
                self.members.enter_events(window, sink);
                return self.enter_events(2, offset, stop);
            }
            self.nesting.push(false);
            return None;
        }
        if self.level > 0 {
            // an array among the events may begin another document after one without an end
            let fault = Fault { kind: DamageKind::Garbage, noticed: offset };
            return Some(Walk::Lost(fault));
        }
        self.check_gap(window, offset, sink);
        self.ndjson = false;
        sink.document(Form::Array);
        self.enter_events(1, offset, stop)
    }

    fn enter_events(&mut self, level: u32, offset: u64, stop: Stop) -> Option<Walk> {
        self.nesting.push(false);
        self.level = level;
        self.gap = offset + 1;
        self.comma_due = false;
        self.report_events(stop)
    }

    /// Processes a `]` between items, which ends the events.
    fn close_array<S: Sink>(
        &mut self,
        window: Window<'_>,
        at: usize,
        sink: &mut S,
    ) -> Option<Walk> {
        if self.level == 0 {
            return Some(brackets(window, at));
        }
        let offset = window.base + at as u64;
        self.check_end_of_events(window, offset, sink);
        self.nesting.pop();
        self.level = 0;
        self.gap = offset + 1;
        self.comma_due = false;
        self.members.begin(offset + 1);
        None
    }

    /// Reports the text or commas before the `]` that ends the events.
    fn check_end_of_events<S: Sink>(&mut self, window: Window<'_>, offset: u64, sink: &mut S) {
        let gap = window.slice(self.gap, offset);
        let commas = gap.iter().filter(|&&b| b == b',').count();
        let clean = gap.iter().all(|&b| is_space(b) || b == b',');
        if !clean {
            self.check_odd_gap(gap, sink);
        } else if commas > 0 {
            sink.note(Note::Separators, self.gap);
        }
        self.gap_checked = false;
    }
}

/// Returns whether a value may begin at the opening bracket at `at` inside an item.
#[inline(always)]
fn value_may_stand(in_object: bool, bytes: &[u8], at: usize) -> bool {
    // `None` if the window begins after the events of a document, where no value may begin
    let before = bytes[..at].iter().rev().find(|&&b| !is_space(b));
    if in_object { before == Some(&b':') } else { matches!(before, Some(b',' | b'[')) }
}

#[cold]
fn brackets(window: Window<'_>, at: usize) -> Walk {
    Walk::Lost(Fault { kind: DamageKind::Brackets, noticed: window.base + at as u64 })
}
