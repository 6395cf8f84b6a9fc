//! Checks single events, on the worker that scans their chunk.

use super::escapes::has_escaped_pair;
use super::order::{Orders, TimedEvent};
use super::records::{Grouped, sort};
use super::rules::Kind;
use super::tallies::Tallies;
use super::text::TextCheck;
use super::viewers::Browser;
use memchr::memmem::Finder;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tracemill_cpuprofile::Router;
use tracemill_join::report::reported_losses::reported_losses;
use tracemill_tokenizer::{
    Damage, Event, Field, Form, Member, Nanos, Note, Number, canonical, members, number_text,
    string_is,
};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::{hash_field, hash_short_integer, hash_value, name_key};
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::spill::hash::mix;
use tracemill_trace::time::bounds::Times;
use tracemill_viewers::ids::{is_big, is_flow_id};

/// Finds the end of the keys `"sf"` and `"esf"`, which refer to stack frames.
static FRAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"sf\""));
static ENHANCED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"enhancedTraceVersion"));

/// Checks the events of one chunk. `DEVTOOLS`: also applies the rules for DevTools alone. Rules
/// about several events receive 32-byte records, sorted by group and time.
pub(super) struct CheckLook<const DEVTOOLS: bool> {
    base: u64,
    /// Number of the recording. Equal ids in different recordings are unrelated.
    recording: u64,
    pub(super) tallies: Tallies,
    pub(super) text: TextCheck,
    pub(super) orders: Orders,
    pub(super) times: Times,
    pub(super) records: Vec<Grouped>,
    pub(super) profiles: Router,
    /// Referenced stack frames by hash: number of references, and offset of the first.
    pub(super) frames: BTreeMap<u64, (u64, u64)>,
    pub(super) browser: Browser,
}

impl<const DEVTOOLS: bool> CheckLook<DEVTOOLS> {
    pub(super) fn new(base: u64, recording: u64) -> Self {
        CheckLook {
            base,
            recording,
            tallies: Tallies::default(),
            text: TextCheck::default(),
            orders: Orders::default(),
            times: Times::NONE,
            records: Vec::new(),
            profiles: Router::default(),
            frames: BTreeMap::new(),
            browser: Browser::default(),
        }
    }

    fn add(&mut self, kind: Kind, offset: u64) {
        self.tallies.add(kind, offset);
    }

    fn check_presence(&mut self, event: &Event<'_>, phase: u8, offset: u64) {
        let name = event.field_and_rest(Field::Name);
        if name.is_none_or(|name| name[0] != b'"') {
            let kind = if phase == b'E' { Kind::NamelessEnd } else { Kind::MissingName };
            self.add(kind, offset);
        }
        if phase == b'M' {
            return;
        }
        if event.field_and_rest(Field::Cat).is_none() {
            self.add(Kind::MissingCat, offset);
        }
        if event.field_and_rest(Field::Args).is_none() {
            self.add(Kind::MissingArgs, offset);
        }
    }

    fn check_phase(&mut self, phase: u8, offset: u64) {
        match phase {
            0 => self.add(Kind::MissingPhase, offset),
            b'i' => self.add(Kind::LowerInstant, offset),
            b'N' | b'O' | b'D' | b'S' | b'F' | b'p' | b'v' | b'V' | b'c' | b'(' | b')' | b'=' => {
                self.add(Kind::IgnoredPhase, offset);
            }
            b'B' | b'E' | b'X' | b'I' | b'b' | b'n' | b'e' | b's' | b't' | b'f' | b'T' | b'P'
            | b'C' | b'R' | b'M' => {}
            _ => self.add(Kind::UnknownPhase, offset),
        }
    }

    fn check_time(&mut self, field: Field, event: &Event<'_>, time: Option<Nanos>, offset: u64) {
        let Some(text) = event.field_and_rest(field) else { return };
        let Some(time) = time else {
            if !text.starts_with(b"null") {
                self.add(Kind::BadNumber, offset);
            }
            return;
        };
        if text[0] == b'"' {
            self.add(Kind::StringTime, offset);
        }
        if is_rounded(time, field, event) {
            self.add(Kind::PrecisionTs, offset);
        }
        let negative = time.floor < 0;
        match field {
            Field::Ts if negative => self.add(Kind::NegativeTs, offset),
            Field::Dur if negative => self.add(Kind::NegativeDur, offset),
            _ => {}
        }
    }

    #[inline]
    fn of_recording(&self, hash: u64) -> u64 {
        if self.recording == 0 { hash } else { mix(hash, self.recording) }
    }

    /// Checks a pid or tid, and returns the hash of the id. Reports `missing` if the event has
    /// none.
    #[inline]
    fn id(&mut self, event: &Event<'_>, field: Field, missing: Option<Kind>, offset: u64) -> u64 {
        match event.field_and_rest(field).and_then(hash_short_integer) {
            Some(hash) => hash,
            None => self.longer_id(event.field(field), missing, offset),
        }
    }

    fn longer_id(&mut self, value: Option<&[u8]>, missing: Option<Kind>, offset: u64) -> u64 {
        match value {
            Some(digits) if digits.len() <= 9 && digits.iter().all(u8::is_ascii_digit) => {}
            None | Some(b"null") => {
                if let Some(kind) = missing {
                    self.add(kind, offset);
                }
            }
            Some(value) => self.check_odd_id(value, offset),
        }
        hash_value(value)
    }

    #[cold]
    fn check_odd_id(&mut self, value: &[u8], offset: u64) {
        let mut scratch = Vec::new();
        let Some(number) = number_text(value, &mut scratch) else {
            let kind = if value[0] == b'"' { Kind::StringId } else { Kind::OddId };
            return self.add(kind, offset);
        };
        let range = Number::parse(number).is_some_and(|number| !number.is_in_u32());
        match value[0] {
            b'"' => self.add(Kind::StringId, offset),
            _ if range => self.add(Kind::IdRange, offset),
            _ => {}
        }
        if is_big(value) {
            self.add(Kind::BigId, offset);
        }
    }

    #[inline]
    fn record(&mut self, timed: &TimedEvent<'_>) {
        let &TimedEvent { event, phase, offset, thread, process, ts, dur } = timed;
        let record = |group, extra| Grouped::new(group, ts.floor, extra, offset, phase);
        match phase {
            b'X' => {
                // zero-length slices overlap nothing
                if let Some(dur) = dur.filter(|dur| dur.floor > 0) {
                    let record = record(thread, dur.floor as u64);
                    let exact = ts.exact && dur.exact;
                    self.records.push(if exact { record } else { record.inexact() });
                }
            }
            b'B' | b'E' => {
                let record = record(thread, name_key(event));
                self.records.push(if ts.exact { record } else { record.inexact() });
            }
            _ => {
                if let Some(group) = self.group_of(event, phase, process, offset) {
                    let name = hash_field(event, Field::Name);
                    let extra = name >> 32 << 32 | process >> 32;
                    self.records.push(record(group, extra));
                }
            }
        }
    }

    /// Returns the group of an async event or flow event: a hash of id and scope. Returns `None`
    /// for all other events, and for events without an id.
    fn group_of(&mut self, event: &Event<'_>, phase: u8, process: u64, offset: u64) -> Option<u64> {
        let family = match phase {
            b'b' | b'n' | b'e' => b'b',
            b'S' | b'T' | b'p' | b'F' => b'S',
            b's' | b't' | b'f' => b's',
            _ => return None,
        };
        let (id, local) = match (event.field(Field::Id), event.field(Field::Id2)) {
            (Some(id), _) => (id, false),
            (None, Some(id2)) => {
                let member = |key: &[u8]| members(id2).find(|(name, _)| string_is(name, key));
                match (member(b"global"), member(b"local")) {
                    (Some((_, id)), _) => (id, false),
                    (None, Some((_, id))) => (id, true),
                    (None, None) => (id2, false),
                }
            }
            (None, None) => {
                self.add(Kind::MissingAsyncId, offset);
                return None;
            }
        };
        if is_big(id) {
            self.add(Kind::BigId, offset);
        }
        match family {
            b's' if !is_flow_id(id) => self.add(Kind::FlowId, offset),
            b'b' if id == b"0" || id == b"\"\"" => self.add(Kind::AsyncIdZero, offset),
            _ => {}
        }
        let key = mix(u64::from(family), hash_field(event, Field::Cat));
        let key = mix(key, self.of_recording(hash_value(Some(id))));
        Some(match family {
            b's' => mix(key, hash_field(event, Field::Name)),
            _ if local => mix(mix(key, 1), process),
            _ => mix(mix(key, 2), hash_field(event, Field::Scope)),
        })
    }

    fn note_frames(&mut self, event: &Event<'_>, offset: u64) {
        if FRAME.find(event.bytes).is_none() {
            return;
        }
        for (key, value) in members(event.bytes) {
            if key == b"\"sf\"" || key == b"\"esf\"" {
                let (count, first) = self.frames.entry(frame_id(value)).or_insert((0, offset));
                *count += 1;
                *first = offset.min(*first);
            }
        }
    }

    fn note_devtools(&mut self, event: &Event<'_>, phase: u8, process: u64, offset: u64) {
        if ENHANCED.find(event.bytes).is_some() {
            self.add(Kind::Enhanced, offset);
        }
        self.browser.note(event, phase, process, offset, &mut self.tallies);
    }
}

/// Returns the phase letter; 0 if the phase is missing, `?` if it is not a letter.
#[inline]
fn phase_of(event: &Event<'_>) -> u8 {
    match event.phase() {
        0 if !matches!(event.field(Field::Ph), None | Some(b"null")) => b'?',
        letter => letter,
    }
}

/// Returns whether viewers draw events of a phase on a thread. Counters, metadata, async events,
/// object events and memory dumps belong to a process or an id, and so do instants of a wider
/// scope.
#[inline]
fn is_of_thread(event: &Event<'_>, phase: u8) -> bool {
    match phase {
        b'C' | b'M' | b'N' | b'O' | b'D' | b'v' | b'V' => false,
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' => false,
        b'I' | b'i' if event.field_and_rest(Field::Tid).is_none() => {
            let scope = members(event.bytes).find(|(key, _)| string_is(key, b"s"));
            !scope.is_some_and(|(_, scope)| matches!(scope, b"\"g\"" | b"\"p\""))
        }
        _ => true,
    }
}

/// Returns whether a time loses digits when a reader converts it to a double in microseconds. A
/// time that is the exact text of a double loses none.
#[inline]
fn is_rounded(time: Nanos, field: Field, event: &Event<'_>) -> bool {
    const EXACT: u64 = 1 << 53;
    let ns = time.floor.unsigned_abs();
    if time.exact && (ns <= EXACT || ns.is_multiple_of(1000) && ns / 1000 <= EXACT) {
        return false;
    }
    /// Number of significant digits that are enough to distinguish all doubles.
    const DIGITS: usize = 17;
    let (mut scratch, mut form) = (Vec::new(), Vec::new());
    let text = event.field(field).and_then(|value| number_text(value, &mut scratch));
    let Some(text) = text.filter(|text| canonical(text, &mut form)) else { return false };
    let digits = form.iter().take_while(|&&b| b != b'e').filter(|b| b.is_ascii_digit()).count();
    (time.exact || digits > DIGITS) && !is_double(text, &form, digits)
}

/// Returns whether a number is the exact text of a double.
fn is_double(text: &[u8], form: &[u8], digits: usize) -> bool {
    const MOST: usize = 767;
    let double = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    let Some(double) = double.filter(|_| (1..=MOST).contains(&digits)) else { return false };
    let mut rounded = Vec::new();
    canonical(format!("{double:.*e}", digits - 1).as_bytes(), &mut rounded) && rounded == form
}

/// Returns the hash of a stack frame id. The ids 5 and "5" have the same hash, because the keys of
/// `stackFrames` are strings.
pub(super) fn frame_id(value: &[u8]) -> u64 {
    match value {
        [b'"', ..] => hash_value(Some(value)),
        _ => hash_value(Some(&[b"\"", value, b"\""].concat())),
    }
}

fn is_empty(event: &Event<'_>) -> bool {
    event.bytes[1..].trim_ascii_start().first() == Some(&b'}')
}

impl<const DEVTOOLS: bool> CheckLook<DEVTOOLS> {
    fn check(&mut self, event: &Event<'_>, offset: u64) {
        self.text.event(event, offset, &mut self.tallies);
        let phase = phase_of(event);
        let (ts, dur) = (event.ts(), event.dur());
        if phase == 0 && is_empty(event) {
            self.add(Kind::EmptyEvent, offset);
            return self.orders.note_untimed(offset, &mut self.tallies);
        }
        self.check_phase(phase, offset);
        if has_escaped_pair(event.bytes) {
            self.add(Kind::EscapedPair, offset);
        }
        self.check_presence(event, phase, offset);
        let process = self.id(event, Field::Pid, Some(Kind::MissingPid), offset);
        let missing = is_of_thread(event, phase).then_some(Kind::MissingTid);
        let thread = self.id(event, Field::Tid, missing, offset);
        self.check_time(Field::Ts, event, ts, offset);
        self.check_time(Field::Dur, event, dur, offset);
        self.note_frames(event, offset);
        if DEVTOOLS {
            self.note_devtools(event, phase, process, offset);
        }
        if phase == b'M' {
            return self.orders.note_metadata(offset, &mut self.tallies);
        }
        self.profiles.note(event, offset);
        if phase == b'X' && event.field_and_rest(Field::Dur).is_none_or(|d| d.starts_with(b"null"))
        {
            self.add(Kind::NoDur, offset);
        }
        let Some(ts) = ts else {
            if event.field_and_rest(Field::Ts).is_none_or(|ts| ts.starts_with(b"null")) {
                self.add(Kind::MissingTs, offset);
            }
            return self.orders.note_untimed(offset, &mut self.tallies);
        };
        self.times.note(event, ts, ts.floor);
        let process = self.of_recording(process);
        let thread = mix(process, thread);
        let timed = TimedEvent { event, phase, offset, thread, process, ts, dur };
        self.orders.note(&timed, &mut self.tallies);
        self.record(&timed);
    }
}

impl<const DEVTOOLS: bool> Look for CheckLook<DEVTOOLS> {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.check(event, at.offset);
        true
    }

    fn document(&mut self, _: Form) {
        self.text.interrupt();
    }

    fn member(&mut self, member: &Member<'_>) {
        let offset = self.base + member.value_offset;
        self.text.value(member.value, offset, &mut self.tallies);
        for loss in reported_losses(member.key, member.value) {
            self.add(Kind::ReportedLoss, offset + loss.offset);
        }
        if DEVTOOLS && ENHANCED.find(member.key).or(ENHANCED.find(member.value)).is_some() {
            self.add(Kind::Enhanced, offset);
        }
    }

    fn damage(&mut self, _: &Damage<'_>) {
        self.text.interrupt();
    }

    fn note(&mut self, note: Note, offset: u64) {
        let kind = match note {
            Note::Unclosed => Kind::Unclosed,
            Note::Separators => Kind::Separators,
        };
        self.add(kind, self.base + offset);
    }

    fn seal(&mut self, _: &mut ChunkStats) {
        sort(&mut self.records);
        self.records.shrink_to_fit();
    }
}
