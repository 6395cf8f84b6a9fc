//! What the scan's workers find: events decided at once, and those that must wait.

use super::criteria::{Criteria, Scratch, text_of};
use super::reason::{PASSES, Tallies};
use super::thread_numbers::ThreadNumbers;
use super::threads::{Names, plain};
use super::undecided::{Role, Undecided};
use tracemill_core::bounds::Times;
use tracemill_core::entry::{Entry, rank};
use tracemill_core::envelope::Envelope;
use tracemill_core::pairing::is_named;
use tracemill_core::place::{Long, Place};
use tracemill_core::scan::Collect;
use tracemill_profile::{self as profile, stream_key};
use tracemill_tokenizer::{Event, Field, members, string_is};

/// The findings of one chunk of an input.
#[derive(Default)]
pub(super) struct ChunkFindings {
    criteria: Option<Criteria>,
    pub(super) found: Findings,
}

/// What is found, apart from what it is measured by.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) envelope: Envelope,
    /// Events that stay, in input order.
    pub(super) kept: Vec<Place>,
    /// Bytes of those.
    pub(super) bytes: u64,
    /// Metadata events among those.
    pub(super) metadata: u64,
    /// Single events that are decided when all is read, in input order.
    pub(super) late: Vec<Undecided>,
    /// Events of pairs, groups and streams.
    pub(super) bound: Vec<Undecided>,
    pub(super) long: Vec<Long>,
    pub(super) tallies: Tallies,
    /// Least time of an event that is no metadata.
    pub(super) times: Times,
    pub(super) threads: ThreadNumbers,
    pub(super) names: Names,
    scratch: Scratch,
    /// What was asked for and not found yet: see [`super::asked`].
    open: Vec<usize>,
    /// What keys are decoded into.
    key: Vec<u8>,
}

impl ChunkFindings {
    pub(super) fn new(base: u64) -> Self {
        ChunkFindings {
            criteria: None,
            found: Findings { envelope: Envelope::at(base), ..Findings::default() },
        }
    }

    /// Gives it what it measures by.
    pub(super) fn prepare(&mut self, criteria: &Criteria) {
        self.found.open = criteria.asked.of_events();
        self.criteria = Some(criteria.clone());
    }
}

impl Collect for ChunkFindings {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.found.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        match &self.criteria {
            Some(criteria) => self.found.event(event, criteria),
            None => debug_assert!(false, "parts are prepared before they are used"),
        }
    }

    fn seal(&mut self) {
        self.found.kept.shrink_to_fit();
    }
}

impl Findings {
    #[inline]
    fn event(&mut self, event: &Event<'_>, criteria: &Criteria) {
        let (offset, len) = (self.envelope.event(event), event.bytes.len());
        if Place::is_long(len) {
            self.long.push((offset, len as u64));
        }
        if !self.open.is_empty() {
            criteria.asked.note(event, &mut self.open, &mut self.key);
        }
        if event.is_metadata() {
            if criteria.needs.names {
                self.names.note(event);
            }
            self.metadata += 1;
            return self.keep(Place::new(offset, len, 0));
        }
        let needs = criteria.needs;
        let role = if needs.any { role_of(event, needs.pairs) } else { Role::Single };
        let (mut time, mut dur, mut place) = (i64::MIN, 0, Place::new(offset, len, 0));
        if needs.times || role != Role::Single {
            let (ts, lasts) = (event.ts(), event.dur());
            time = ts.map_or(i64::MIN, |ts| ts.floor);
            dur = lasts.map_or(0, |dur| dur.floor).max(0);
            if let Some(ts) = ts {
                self.times.note(event, ts, ts.floor);
                // of single events only offset and length count
                let rank = if role == Role::Single { 0 } else { rank(ts, lasts) };
                place = Place::new(offset, len, rank);
            }
        }
        let entry = Entry { time, place };
        let has_thread = needs.threads || matches!(role, Role::Begin | Role::End);
        let thread = if has_thread { self.threads.number(event, criteria) } else { 0 };
        let by_ids = if has_thread { self.threads.all[thread as usize].by_ids } else { PASSES };
        let reason = match by_ids {
            PASSES => criteria.judge(event, &mut self.scratch),
            reason => reason,
        };
        let key = match role {
            Role::Single => dur as u64,
            _ => key_of(event, role, &mut self.key),
        };
        let name = match role {
            Role::Begin | Role::End if is_named(event) => name_of(event, &mut self.key),
            _ => 0,
        };
        let record = Undecided { key, entry, name, thread, reason, role };
        match role {
            Role::Single => self.single(record, criteria),
            _ => self.bound.push(record),
        }
    }

    /// A single event, as far as it is judged.
    #[inline]
    fn single(&mut self, record: Undecided, criteria: &Criteria) {
        let late = criteria.needs.late;
        let reason = match record.reason {
            PASSES if !late => criteria.judge_time(record.time(), record.key as i64, 0),
            reason => reason,
        };
        // with a size to fit, whatever stays may still go
        if late && (reason == PASSES || criteria.inverts() && criteria.shrinks()) {
            return self.late.push(record);
        }
        match criteria.outcome(reason) {
            PASSES => self.keep(record.entry.place),
            reason => self.tallies.add(reason, len_of(record.entry.place, &self.long)),
        }
    }

    fn keep(&mut self, place: Place) {
        self.bytes += len_of(place, &self.long);
        self.kept.push(place);
    }
}

/// Length of the event found last.
#[inline]
fn len_of(place: Place, long: &[Long]) -> u64 {
    place.short_len().unwrap_or_else(|| long.last().map_or(0, |&(_, len)| len))
}

/// What an event is to others.
#[inline]
fn role_of(event: &Event<'_>, pairs: bool) -> Role {
    match profile::Role::of(event) {
        Some(profile::Role::Head) => return Role::Head,
        Some(profile::Role::Chunk) => return Role::Chunk,
        _ => {}
    }
    match event.phase() {
        b'B' | b'E' if !pairs => Role::Single,
        b'B' => Role::Begin,
        b'E' => Role::End,
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' | b's' | b't' | b'f' | b'N' | b'O'
        | b'D'
            if event.field_and_rest(Field::Id).or(event.field_and_rest(Field::Id2)).is_some() =>
        {
            Role::Member
        }
        _ => Role::Single,
    }
}

/// A number for what the events of a pair's thread, a group or a stream have in common.
///
/// 64 bits of a hash: of ten million groups some two are taken for one with a probability of 1 in 100,000, and then they
/// stay or go together.
fn key_of(event: &Event<'_>, role: Role, scratch: &mut Vec<u8>) -> u64 {
    let mut hash = Hash::new();
    match role {
        Role::Head | Role::Chunk => {
            hash.piece(b"P");
            hash.piece(&stream_key(event));
        }
        Role::Begin | Role::End => {
            hash.piece(b"B");
            hash.piece(text_of(event, Field::Pid, scratch));
            hash.piece(text_of(event, Field::Tid, scratch));
        }
        Role::Single | Role::Member => {
            let class = match event.phase() {
                b's' | b't' | b'f' => b"s",
                b'N' | b'O' | b'D' => b"N",
                _ => b"b",
            };
            hash.piece(class);
            hash.piece(text_of(event, Field::Cat, scratch));
            hash.piece(text_of(event, Field::Scope, scratch));
            if class == b"s" {
                hash.piece(text_of(event, Field::Name, scratch));
            }
            match event.field(Field::Id) {
                Some(id) => hash.piece(plain(id, scratch)),
                None => hash_id2(event, &mut hash, scratch),
            }
        }
    }
    hash.finish()
}

/// A number for the name of a `B` or `E`, not 0.
fn name_of(event: &Event<'_>, scratch: &mut Vec<u8>) -> u64 {
    let mut hash = Hash::new();
    hash.piece(text_of(event, Field::Name, scratch));
    hash.finish().max(1)
}

/// `id2`: a local id is one of its process.
fn hash_id2(event: &Event<'_>, hash: &mut Hash, scratch: &mut Vec<u8>) {
    let id2 = event.field(Field::Id2).unwrap_or_default();
    let find = |name: &[u8]| members(id2).find(|(key, _)| string_is(key, name));
    if let Some((_, local)) = find(b"local") {
        hash.piece(plain(local, scratch));
        hash.piece(b"local");
        hash.piece(text_of(event, Field::Pid, scratch));
    } else {
        let global = find(b"global").map_or(id2, |(_, id)| id);
        hash.piece(plain(global, scratch));
    }
}

/// FNV-1a with the lengths of the pieces in between, mixed at the end.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Hash(0xCBF2_9CE4_8422_2325)
    }

    fn piece(&mut self, bytes: &[u8]) {
        let len = (bytes.len() as u32).to_le_bytes();
        for &byte in bytes.iter().chain(&len) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    fn finish(self) -> u64 {
        let mixed = (self.0 ^ self.0 >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed ^ mixed >> 33
    }
}
