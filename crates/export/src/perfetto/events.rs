//! Converts events to packets, in the order of their times.
//!
//! An event with a duration becomes a begin packet and an end packet. The end packet waits in a
//! heap until a later event begins.
//!
//! If several X events begin at the same time, the longest comes first. So an X event may precede
//! the E event that ends an earlier B event at this time. On a thread with open B events, X events
//! are therefore held until the time changes.

use super::annotations::{self, Number, number};
use super::counts::Perfetto;
use super::open::{Room, Slices};
use super::packets::{EVENTS, Packets, TextKind, Texts, content, packet, plain};
use super::profiles::Profiles;
use super::tracks::{Tracks, hash};
use crate::proto::Message;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use tracemill_cpuprofile::Role;
use tracemill_tokenizer::{Damage, Event, Field, Member, Sink, fields_of, members, parse};
use tracemill_trace::event::pairing::is_named;
use tracemill_trace::json::{member, printable};
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// Field numbers of `TrackEvent`.
mod field {
    pub(super) const CATEGORY: u32 = 3;
    pub(super) const LEGACY: u32 = 6;
    pub(super) const TYPE: u32 = 9;
    pub(super) const NAME: u32 = 10;
    pub(super) const TRACK: u32 = 11;
    pub(super) const COUNTER: u32 = 30;
    pub(super) const DOUBLE_COUNTER: u32 = 44;
    pub(super) const FLOW: u32 = 47;
    pub(super) const LAST_OF_FLOW: u32 = 48;
}

/// Values of `TrackEvent.Type`.
#[derive(Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// Maximum number of held events. If more events have the same time, some may be written inside an
/// earlier B event that ends at this time.
const HELD: usize = 1024;

/// Heap bytes of an open begin event.
const BEGIN: u64 = 160;
/// Heap bytes of an open async operation.
const OPERATION: u64 = 500;
/// Heap bytes for each byte of an event that becomes a packet.
const MADE: u64 = 8;

/// The open slices of an async operation, and their track.
struct Operation {
    track: u64,
    open: Slices,
}

/// The byte range and thread of an event that is held until the time changes.
struct Held {
    place: Range<usize>,
    thread: usize,
    /// Hash of the event's name, if the event is a B event.
    begins: Option<u64>,
}

/// An end packet that waits: its time, the number of its slice (inner slices first) and its thread.
type Ending = Reverse<(i64, Reverse<u64>, usize)>;

/// Writes the events of a trace, which must come in the order of their times.
pub(super) struct Writer<'o> {
    pub(super) out: Packets<'o>,
    pub(super) written: Perfetto,
    tracks: Tracks,
    texts: Texts,
    profiles: Profiles,
    endings: BinaryHeap<Ending>,
    bytes: &'o [u8],
    held: Vec<Held>,
    /// Time of the previous event.
    now: i64,
    operations: HashMap<u64, Operation>,
    begun: u64,
    pub(super) room: Room,
    /// Nanoseconds to add to all times, so that no time is negative.
    shift: Option<i64>,
    event: Message,
    one: Message,
}

impl Sink for Writer<'_> {
    fn event(&mut self, event: &Event<'_>) {
        let size = event.bytes.len() as u64 * MADE;
        if self.out.failed.is_none() && self.room.has(size, "the packets of an event") {
            self.take(event);
        }
    }

    fn member(&mut self, member: Member<'_>) {
        self.written.keys.push(printable(member.key));
    }

    fn damage(&mut self, _: Damage<'_>) {
        self.written.other += 1;
    }
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: Packets<'o>, bytes: &'o [u8], room: Quota) -> Self {
        Writer {
            out,
            written: Perfetto::default(),
            tracks: Tracks::default(),
            texts: Texts::new(),
            profiles: Profiles::default(),
            endings: BinaryHeap::new(),
            bytes,
            held: Vec::new(),
            now: i64::MIN,
            operations: HashMap::default(),
            begun: 0,
            room: Room::new(room),
            shift: None,
            event: Message::default(),
            one: Message::default(),
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        if event.is_metadata() {
            let is_known = self.tracks.note(event);
            self.written.other += u64::from(!is_known);
            return;
        }
        let Some(ts) = event.ts() else {
            self.written.other += 1;
            return;
        };
        let shift = match self.shift {
            Some(shift) => shift,
            None => {
                // Metadata events come first, so the first other event has the earliest time.
                self.tracks.tell_all(&mut self.out);
                *self.shift.insert(ts.floor.min(0).saturating_neg())
            }
        };
        let ts = ts.floor.saturating_add(shift);
        if ts > self.now {
            self.finish_moment();
            self.now = ts;
            self.end_until(ts - 1);
        }
        if self.holds(event) {
            if self.held.len() > HELD {
                self.finish_moment();
            }
            return;
        }
        self.place(event, ts);
    }

    /// Writes an event with the time `ts`.
    fn place(&mut self, event: &Event<'_>, ts: i64) {
        if let Some(role) = Role::of(event) {
            let thread = self.tracks.thread(event);
            let (pid, tid) = self.tracks.ids(thread);
            self.tracks.of_thread(thread, &mut self.out);
            self.profiles.take(event, role, ts, pid, tid, &mut self.out);
            return;
        }
        match event.phase() {
            b'X' => self.complete(event, ts),
            b'B' => self.begin(event, ts, None),
            b'E' => self.end(event, ts),
            b'b' | b'S' => self.begin_operation(event, ts),
            b'e' | b'F' => self.end_operation(event, ts),
            b'n' | b'T' | b'p' => self.instant_of_operation(event, ts),
            b'i' | b'I' | b'R' => self.instant(event, ts),
            b'C' => self.counter(event, ts),
            b's' | b't' | b'f' => self.flow(event, ts),
            _ => self.written.other += 1,
        }
    }

    /// Stores an event that must be held until the time changes, and returns whether it did so.
    fn holds(&mut self, event: &Event<'_>) -> bool {
        let phase = event.phase();
        if !matches!(phase, b'X' | b'B' | b'E' | b'i' | b'I' | b'R' | b's' | b't' | b'f') {
            return false;
        }
        let thread = self.tracks.thread(event);
        let mut before = self.held.iter().filter(|slice| slice.thread == thread);
        let waits = match phase {
            b'X' => self.tracks.threads[thread].open.has_begins(),
            b'E' => before.any(|slice| slice.begins == Some(name_of(event))),
            _ => before.next().is_some(),
        };
        if waits {
            let start = event.offset as usize;
            let begins = (phase == b'B').then(|| name_of(event));
            let place = start..start + event.bytes.len();
            self.held.push(Held { place, thread, begins });
        }
        waits
    }

    /// Writes all ends at the current time, then the held events.
    fn finish_moment(&mut self) {
        self.end_until(self.now);
        let bytes = self.bytes;
        for Held { place, .. } in std::mem::take(&mut self.held) {
            let text = &bytes[place];
            self.place(&fields_of(text).of(text), self.now);
        }
    }

    pub(super) fn finish(&mut self) {
        self.finish_moment();
        self.end_until(i64::MAX);
        self.tracks.tell_all(&mut self.out);
        let threads = self.tracks.threads.iter().map(|thread| thread.open.len());
        let operations = self.operations.len();
        self.written.shift = self.shift.unwrap_or(0);
        self.written.unended = (threads.sum::<usize>() + operations) as u64;
        self.written.samples = self.profiles.samples;
        self.written.lost_samples = self.profiles.lost;
    }

    fn complete(&mut self, event: &Event<'_>, ts: i64) {
        let dur = event.dur().map_or(0, |dur| dur.floor.max(0));
        self.begin(event, ts, Some(ts.saturating_add(dur)));
    }

    fn begin(&mut self, event: &Event<'_>, ts: i64, end: Option<i64>) {
        let thread = self.tracks.thread(event);
        let track = self.tracks.of_thread(thread, &mut self.out);
        self.begun += 1;
        self.room.open(BEGIN);
        self.end_of_thread(thread, ts);
        let open = &mut self.tracks.threads[thread].open;
        // If a slice ends after its parent, its end is moved, since a track cannot represent it.
        let over = open.until().zip(end).map_or(0, |(around, end)| end.saturating_sub(around));
        // A difference of one nanosecond is a rounding error and does not count.
        self.written.cut += u64::from(over > 1);
        let end = end.map(|end| end - over.max(0));
        match end {
            None => open.begin(self.begun, name_of(event)),
            Some(end) => {
                open.enter(self.begun, end);
                self.endings.push(Reverse((end, Reverse(self.begun), thread)));
            }
        }
        self.written.slices += 1;
        self.described(event, track, Type::Begin);
        self.push(ts);
    }

    fn end(&mut self, event: &Event<'_>, ts: i64) {
        let thread = self.tracks.thread(event);
        let Some(at) = self.tracks.threads[thread].open.end(name_of(event)) else {
            self.written.lone_ends += 1;
            return;
        };
        self.close(thread, at, ts);
    }

    /// Closes slices of a thread whose end is known and at or before `ts`, innermost first. Stops
    /// at a B event.
    fn end_of_thread(&mut self, thread: usize, ts: i64) {
        while let Some((at, end)) = self.tracks.threads[thread].open.innermost_end()
            && end <= ts
        {
            self.close(thread, at, end);
        }
    }

    /// Closes the slices of all threads whose end is known and at or before `ts`.
    fn end_until(&mut self, ts: i64) {
        while let Some(&Reverse((end, Reverse(begun), thread))) = self.endings.peek()
            && end <= ts
        {
            self.endings.pop();
            if let Some(at) = self.tracks.threads[thread].open.place_of(begun) {
                self.close(thread, at, end);
            }
        }
    }

    /// Closes a slice of a thread, and all slices that are open inside this slice.
    fn close(&mut self, thread: usize, at: usize, ts: i64) {
        let track = self.tracks.of_thread(thread, &mut self.out);
        let (within, early) = self.tracks.threads[thread].open.close(at, ts);
        self.written.cut += early as u64;
        self.room.close(within as u64 * BEGIN);
        (0..within).for_each(|_| self.push_end(track, ts));
    }

    fn push_end(&mut self, track: u64, ts: i64) {
        self.event.clear();
        self.event.number(field::TYPE, Type::End as u64);
        self.event.number(field::TRACK, track);
        self.push(ts);
    }

    fn begin_operation(&mut self, event: &Event<'_>, ts: i64) {
        let (key, track) = self.operation(event);
        self.begun += 1;
        let new = Operation { track, open: Slices::default() };
        self.room.open(OPERATION);
        let operation = self.operations.entry(key).or_insert(new);
        operation.open.begin(self.begun, name_of(event));
        let track = operation.track;
        self.written.slices += 1;
        self.described(event, track, Type::Begin);
        self.push(ts);
    }

    fn end_operation(&mut self, event: &Event<'_>, ts: i64) {
        let key = operation_key(event);
        let name = name_of(event);
        let found = self.operations.get_mut(&key);
        let Some((operation, at)) =
            found.and_then(|operation| operation.open.end(name).map(|at| (operation, at)))
        else {
            self.written.lone_ends += 1;
            return;
        };
        let (track, (within, _)) = (operation.track, operation.open.close(at, ts));
        if operation.open.is_empty() {
            self.operations.remove(&key);
        }
        self.room.close(within as u64 * OPERATION);
        self.written.cut += within as u64 - 1;
        (0..within).for_each(|_| self.push_end(track, ts));
    }

    fn instant_of_operation(&mut self, event: &Event<'_>, ts: i64) {
        let (_, track) = self.operation(event);
        self.written.instants += 1;
        self.described(event, track, Type::Instant);
        self.push(ts);
    }

    /// Returns the key and the track of an event's operation. If the operation is open, its track
    /// is that of its begin event.
    fn operation(&mut self, event: &Event<'_>) -> (u64, u64) {
        let key = operation_key(event);
        if let Some(open) = self.operations.get(&key) {
            return (key, open.track);
        }
        let process = self.tracks.process(event);
        let name = printable(event.field(Field::Name).unwrap_or_default());
        let bytes = key.to_le_bytes();
        (key, self.tracks.other(Some(process), &bytes, &name, false, &mut self.out))
    }

    fn instant(&mut self, event: &Event<'_>, ts: i64) {
        let track = match member(event.bytes, b"s").map(content) {
            Some(b"g") => self.tracks.other(None, b"global", "Global", false, &mut self.out),
            Some(b"p") => {
                let process = self.tracks.process(event);
                self.tracks.of_process(process, &mut self.out)
            }
            _ => {
                let thread = self.tracks.thread(event);
                self.tracks.of_thread(thread, &mut self.out)
            }
        };
        self.written.instants += 1;
        self.described(event, track, Type::Instant);
        self.push(ts);
    }

    /// Writes each number in the `args` of a counter event as a counter value.
    fn counter(&mut self, event: &Event<'_>, ts: i64) {
        let args = event.field(Field::Args).unwrap_or_default();
        let id = content(event.field(Field::Id).unwrap_or_default());
        let counter = content(event.field(Field::Name).unwrap_or_default());
        let process = self.tracks.process(event);
        let before = self.written.counters;
        for (key, value) in members(args).filter(|(_, value)| !value.starts_with(b"{")) {
            let Some(value) = number(content(value)) else { continue };
            let key = content(key);
            let whole = [counter, b"\0", id, b"\0", key].concat();
            let with_id = if id.is_empty() { String::new() } else { format!(" id: {}", plain(id)) };
            let name = format!("{}{with_id} {}", plain(counter), plain(key));
            let track = self.tracks.other(Some(process), &whole, &name, true, &mut self.out);
            self.written.counters += 1;
            self.event.clear();
            self.event.number(field::TYPE, Type::Counter as u64);
            self.event.number(field::TRACK, track);
            match value {
                Number::Integer(value) => self.event.number(field::COUNTER, value as u64),
                Number::Large(value) => {
                    self.event.fixed(field::DOUBLE_COUNTER, (value as f64).to_bits());
                }
                Number::Double(value) => self.event.fixed(field::DOUBLE_COUNTER, value.to_bits()),
            }
            self.push(ts);
        }
        self.written.other += u64::from(self.written.counters == before);
    }

    /// Writes a flow event. Perfetto connects it with the open slice of the thread, or with the
    /// next slice.
    fn flow(&mut self, event: &Event<'_>, ts: i64) {
        let thread = self.tracks.thread(event);
        let track = self.tracks.of_thread(thread, &mut self.out);
        self.written.flows += 1;
        self.texts.begin();
        self.one.clear();
        self.one.number(2, u64::from(event.phase()));
        self.one.number(6, id_number(event.field(Field::Id).unwrap_or_default()));
        let binds = member(event.bytes, b"bp").map(content) == Some(b"e");
        if binds {
            self.one.number(12, 1);
        }
        self.event.clear();
        self.named(event);
        self.event.number(field::TRACK, track);
        self.event.field(field::LEGACY, self.one.bytes());
        self.push(ts);
    }

    /// Builds the packet of an event, with its name, flow and args.
    fn described(&mut self, event: &Event<'_>, track: u64, kind: Type) {
        self.texts.begin();
        self.event.clear();
        self.event.number(field::TYPE, kind as u64);
        self.event.number(field::TRACK, track);
        self.named(event);
        if let Some(id) = event.field(Field::BindId) {
            let goes_on = member(event.bytes, b"flow_out") == Some(b"true");
            let field = if goes_on { field::FLOW } else { field::LAST_OF_FLOW };
            self.event.fixed(field, id_number(id));
        }
        if let Some(args) = event.field(Field::Args) {
            annotations::add(args, &mut self.texts, &mut self.one, &mut self.event);
        }
    }

    fn named(&mut self, event: &Event<'_>) {
        for (of, kind, number) in [
            (Field::Cat, TextKind::Category, field::CATEGORY),
            (Field::Name, TextKind::Name, field::NAME),
        ] {
            if let Some(text) = event.field(of).map(content).filter(|text| !text.is_empty()) {
                self.event.number(number, self.texts.number(kind, text));
            }
        }
    }

    /// Writes the built packet.
    fn push(&mut self, ts: i64) {
        let (texts, event) = (&mut self.texts, &self.event);
        self.out.push(|packet| {
            packet.number(packet::TIMESTAMP, ts as u64);
            packet.number(packet::SEQUENCE, EVENTS);
            texts.tell(packet);
            packet.field(packet::TRACK_EVENT, event.bytes());
        });
    }
}

/// Returns a hash of an event's name, by which begin and end events are paired. Returns 0 if there
/// is no name.
fn name_of(event: &Event<'_>) -> u64 {
    if is_named(event) { hash(event.field(Field::Name).unwrap_or_default()) } else { 0 }
}

/// Returns the key of an async operation: a hash of category and id, and for local ids also of the
/// process.
fn operation_key(event: &Event<'_>) -> u64 {
    let [cat, id2, scope] =
        [Field::Cat, Field::Id2, Field::Scope].map(|of| event.field(of).unwrap_or_default());
    let local = member(id2, b"local");
    let id = event.field(Field::Id).or(local).or_else(|| member(id2, b"global"));
    let pid = local.and(event.field(Field::Pid)).unwrap_or_default();
    hash(&[content(cat), scope, content(id.unwrap_or_default()), pid].join(&0))
}

/// Converts an id to a number. Ids that are neither decimal nor hexadecimal become a hash.
fn id_number(id: &[u8]) -> u64 {
    let text = content(id);
    let hexadecimal = || {
        let digits = std::str::from_utf8(text).ok()?;
        u64::from_str_radix(digits.strip_prefix("0x").unwrap_or(digits), 16).ok()
    };
    let number = if text.len() == id.len() { parse(text) } else { hexadecimal() };
    number.unwrap_or_else(|| hash(id))
}
