//! The walk over structural positions: depth, items, keys.
//!
//! A hot loop of three cases, inside items. Everything rare (documents, keys beside the events, damage) leaves it.
//!
//! ```text
//!   level 0   between documents   { ──> an item: event, document around events, or plain object
//!                                 [ ──> level 1
//!             in an object        "traceEvents" : [ ──> level 2
//!   level 1, 2  between items     { ──> an item: an event        ] ──> level 0
//!   in an item (depth > level)    : at level + 1 ──> a key       { [ ──> deeper      } ] ──> back, at level: the event is there
//! ```
//!
//! Invariants: `nesting.depth` is at least `level`; it is `level` exactly between items, and then all bytes before `gap` are decided. `seen` and
//! `values` are of the item at hand alone.
//!
//! Cost: a step for each bracket and colon, whatever lies between them; no allocation but at every 64th level, and for the keys of documents at
//! level 0.

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

/// What the walk over one window came to.
pub(super) enum Walk {
    /// All positions are used up.
    Through,
    /// It was to stop here, or the caller asked to know: what to answer, and where the next scan goes on.
    Stopped(Status, u64),
    /// An item ended, and whoever walks wants to know.
    Paused,
    /// A bracket that cannot be: the search for the next event begins.
    Lost(Fault),
}

/// Set in `{` and `}`, clear in `[` and `]`.
const OBJECT_BIT: u8 = 0x20;
/// Set in `}` and `]`, clear in `{` and `[`.
pub(crate) const CLOSING_BIT: u8 = 0x04;

/// What the walk inside an item came to; places are indices of the window.
enum Inside {
    /// All positions are used up.
    Through,
    /// The item ended before here.
    Ended(usize),
    /// `[` in an object that may be a document around events.
    Array(usize),
    Lost(DamageKind, usize),
}

/// Everything the scan knows between two windows, beside the string state.
#[derive(Clone)]
pub(super) struct State {
    /// Depth of what holds the events: 0, 1 or 2.
    level: u32,
    nesting: Nesting,
    /// Start of the item at hand, where `nesting.depth > level`.
    item: u64,
    /// End of the last item (or of what opened the level): from here to the next item there are only separators.
    gap: u64,
    /// Whether an item stands before the gap, so that a comma is due.
    comma_due: bool,
    /// Whether the gap before the next item was looked at already.
    gap_checked: bool,
    /// Which fields the item at hand has, a bit each.
    seen: u16,
    /// Where those are; of others what an earlier item had.
    values: Values,
    /// Whether the last thing at level 0 was an event.
    ndjson: bool,
    /// Whether [`Status::Events`] was reported.
    reported: bool,
    /// The document object at hand, where the item at level 0 is one or the level is 2.
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

    /// As if the walk had come from here to `offset`, and an item began there: of the same level, with nothing seen.
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

    /// The first byte that a finding may still need: the item at hand, the keys of the document around it, or the gap before the next.
    pub(super) fn retain_from(&self) -> u64 {
        match self.nesting.depth > self.level {
            true if self.level == 0 && self.members.has_events => self.members.floor,
            true => self.item,
            false => self.gap,
        }
    }

    /// Takes the structural bytes at `start + positions` in turn; where it `pauses`, up to the end of the first item in an
    /// array.
    pub(super) fn walk<S: Sink>(
        &mut self,
        window: Window<'_>,
        (start, positions): (u64, &[u16]),
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

    /// The walk inside an item, the hot loop of the scan: apart from the rest and from the sink, so that what it needs
    /// stays in registers.
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
                    // the start of another document: what came before it was never closed
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
            // arithmetic on the codes: a jump table here is mispredicted at nearly every bracket
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

    /// An item begins at `at`, unless the border lies before it: then whoever scans behind the border has it.
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

    /// Reports what stands before an item at `offset` and should not.
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

    /// Tells what stands between two items: text that is none is lost, with the separators around it left out; another number of commas than one is noted.
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

    /// Documents, and so the lines of NDJSON, have no commas between them.
    fn comma_is_due(&self) -> bool {
        self.comma_due && self.level > 0
    }

    /// The item's closing brace was at `end - 1`.
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

    /// An object at document level ended: an event, the document around some, or neither.
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

    /// Stops at the first events, once a scanner, if that was asked for.
    fn report_events(&mut self, stop: Stop) -> Option<Walk> {
        let first = stop.at_events && !std::mem::replace(&mut self.reported, true);
        first.then_some(Walk::Stopped(Status::Events(self.gap), self.gap))
    }

    /// An object that no array holds is an event if it has a phase, or a time and a process, thread or name; or nothing at
    /// all: the stub with which some producers avoid a comma.
    fn looks_like_event(&self) -> bool {
        let has = |field: Field| self.seen & field.bit() != 0;
        has(Field::Ph)
            || self.members.is_empty()
            || (has(Field::Ts) && (has(Field::Pid) || has(Field::Tid) || has(Field::Name)))
    }

    /// `[`: in an item a value like any other, or the events of a document; between documents a document of its own.
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
            // an array among the events: perhaps another document after one that was never closed
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

    /// `]` between items: the end of the events. What follows is the rest of their document, or the next one.
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

    /// Before `]` a comma may stand, but nothing else.
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

/// Whether a bracket that opens at `at` inside an item stands where a value may stand.
#[inline(always)]
fn value_may_stand(in_object: bool, bytes: &[u8], at: usize) -> bool {
    // none before it: the window begins behind the events of a document, where no value may stand
    let before = bytes[..at].iter().rev().find(|&&b| !is_space(b));
    if in_object { before == Some(&b':') } else { matches!(before, Some(b',' | b'[')) }
}

#[cold]
fn brackets(window: Window<'_>, at: usize) -> Walk {
    Walk::Lost(Fault { kind: DamageKind::Brackets, noticed: window.base + at as u64 })
}
