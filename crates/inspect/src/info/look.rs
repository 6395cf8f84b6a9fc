//! Counts the events of a chunk, on the worker that scans it.

use super::args::note_args;
use super::profiles::ProfileCounts;
use super::rank::{Class, Rank, Ranks};
use super::report::Usage;
use super::slices::{Slice, sort};
use super::table::UsageTable;
use super::timeline::Timeline;
use super::window::WindowTimes;
use memchr::memchr2;
use tracemill_cpuprofile::Role;
use tracemill_join::input_set::InputPlace;
use tracemill_join::report::reported_losses::reported_losses;
use tracemill_tokenizer::{Event, Field, Member, Nanos, to_text, unescape};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::event::pairing::is_named;
use tracemill_trace::event::thread_table::{ids_of_key, write_key};
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::time::bounds::{Times, is_zero};
use tracemill_viewers::required_args::page_data;

/// Number of ASCII codes. Phases of a single letter are counted by the code of the letter.
pub(super) const LETTERS: usize = 128;

/// Counts the events of one chunk by thread, name and category list. Cost: one lookup per table and
/// event.
pub struct InfoLook {
    wanted: InfoNeeds,
    place: InputPlace,
    pub(super) bytes: u64,
    pub(super) metadata: u64,
    pub(super) untimed: u64,
    /// Number of events without a name. `uncategorised` counts events without categories, except
    /// metadata.
    pub(super) nameless: u64,
    pub(super) uncategorised: u64,
    pub(super) bare_starts: u64,
    pub(super) reported_losses: Vec<String>,
    pub(super) times: Times,
    pub(super) window: WindowTimes,
    /// Events at time 0. The end of the scan decides whether they are real events.
    pub(super) at_zero: AtZero,
    pub(super) ranks: Ranks,
    pub(super) timeline: Timeline,
    /// The earliest and the latest event, except those at time 0.
    pub(super) moments: Option<[CountedEvent; 2]>,
    /// Event counts of phases that are a single letter. `odd_phases` has all other phases (see
    /// [`key_of`]).
    pub(super) letters: [u64; LETTERS],
    pub(super) odd_phases: UsageTable,
    /// Totals by thread.
    pub threads: UsageTable,
    /// The last event; the next event usually has the same thread.
    pub last: Option<LastEvent>,
    /// Totals by name. `cats` has totals by category list. `key_of` creates the keys of `names` and
    /// `cats`.
    pub names: UsageTable,
    pub(super) cats: UsageTable,
    pub(super) args: UsageTable,
    pub(super) slices: Vec<Slice>,
    pub(super) titles: MetadataNames,
    pub(super) profiles: ProfileCounts,
    scratch: Vec<u8>,
}

/// Requested results that cost more than counting.
#[derive(Clone, Copy, Default)]
pub(crate) struct InfoNeeds {
    /// Maximum bytes of the keys of args in a chunk; `None` if args are not counted.
    pub(super) args: Option<u64>,
    pub(super) nesting: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct AtZero {
    pub(super) events: u64,
    pub(super) end: i64,
    /// The first and last event in input order.
    pub(super) moments: Option<[CountedEvent; 2]>,
}

#[derive(Clone, Copy)]
pub(super) struct CountedEvent {
    pub(super) ts: i64,
    pub(super) offset: u64,
    pub(super) thread: usize,
    pub(super) name: usize,
    /// ASCII code of the phase, or `LETTERS` plus a row of the odd phases.
    pub(super) phase: usize,
}

/// Parsed fields and table rows of the last event, for other observers.
#[derive(Clone, Copy)]
pub struct LastEvent {
    /// The phase; 0 if it is not an ASCII letter.
    pub letter: u8,
    /// Parsed `ts`.
    pub ts: Option<Nanos>,
    /// Parsed `dur`.
    pub dur: Option<Nanos>,
    /// Row in the table of threads.
    pub thread: usize,
    /// Row in the table of names.
    pub name: usize,
}

impl AtZero {
    #[cold]
    fn note(&mut self, end: i64, moment: CountedEvent) {
        self.events += 1;
        self.end = self.end.max(end);
        let first = self.moments.map_or(moment, |[first, _]| first);
        self.moments = Some([first, moment]);
    }
}

impl InfoLook {
    pub(super) fn new(wanted: InfoNeeds, place: InputPlace) -> Self {
        InfoLook {
            wanted,
            place,
            bytes: 0,
            metadata: 0,
            untimed: 0,
            nameless: 0,
            uncategorised: 0,
            bare_starts: 0,
            reported_losses: Vec::new(),
            times: Times::NONE,
            window: WindowTimes::default(),
            at_zero: AtZero::default(),
            ranks: Ranks::default(),
            timeline: Timeline::default(),
            moments: None,
            letters: [0; LETTERS],
            odd_phases: UsageTable::default(),
            threads: UsageTable::default(),
            last: None,
            names: UsageTable::default(),
            cats: UsageTable::default(),
            args: UsageTable::default(),
            slices: Vec::new(),
            titles: MetadataNames::default(),
            profiles: ProfileCounts::default(),
            scratch: Vec::new(),
        }
    }

    fn phase(&mut self, event: &Event<'_>) -> usize {
        let letter = usize::from(event.phase());
        if letter == 0 || letter >= LETTERS {
            return self.odd_phase(event);
        }
        self.letters[letter] += 1;
        letter
    }

    #[cold]
    fn odd_phase(&mut self, event: &Event<'_>) -> usize {
        let row = self.odd_phases.row(key_of(event, Field::Ph, &mut self.scratch));
        self.odd_phases.add(row, &Usage { events: 1, ..Usage::default() });
        LETTERS + row
    }

    fn thread(&mut self, event: &Event<'_>) -> usize {
        let pid = self.place.pid(event.field(Field::Pid).unwrap_or_default());
        let tid = event.field(Field::Tid).unwrap_or_default();
        if let Some(LastEvent { thread, .. }) = self.last
            && ids_of_key(self.threads.key(thread)) == (pid, tid)
        {
            return thread;
        }
        write_key(pid, tid, &mut self.scratch);
        self.threads.row(&self.scratch)
    }

    #[inline]
    fn timed(&mut self, event: &Event<'_>, ts: Nanos, dur: u64, moment: CountedEvent) {
        let start = ts.floor;
        let end = start.saturating_add_unsigned(dur);
        self.times.note(event, ts, end);
        if is_zero(ts) {
            return self.at_zero.note(end, moment);
        }
        self.window.note(event, start, end);
        self.timeline.note(start, end);
        match &mut self.moments {
            Some([first, last]) => {
                if start < first.ts {
                    *first = moment;
                } else if start >= last.ts {
                    *last = moment;
                }
            }
            None => self.moments = Some([moment; 2]),
        }
    }

    fn slice(&mut self, event: &Event<'_>, ts: i64, dur: u64, at: &CountedEvent) {
        let &CountedEvent { thread, name, offset, phase, .. } = at;
        let phase = phase as u8;
        // zero-length slices have no self time
        if phase == b'X' && dur > 0 || matches!(phase, b'B' | b'E') {
            let thread = self.threads.entry(thread).hash;
            let ends_any = phase == b'E' && !is_named(event);
            let name = if ends_any { 0 } else { self.names.entry(name).hash };
            let dur = if phase == b'X' { dur } else { 0 };
            self.slices.push(Slice::new(thread, ts, dur, name, offset, phase));
        }
    }
}

/// Returns the row of a field's value in `table`. [`key_of`] defines the key.
#[inline]
fn row_of(event: &Event<'_>, field: Field, table: &mut UsageTable, scratch: &mut Vec<u8>) -> usize {
    let rest = event.field_and_rest(field).unwrap_or_default();
    if let Some(row) = table.recent(rest) {
        return row;
    }
    match plain_key(rest) {
        Some(key) => table.row_of_string(key, rest),
        None => table.row(key_slowly(event, field, scratch)),
    }
}

/// Returns the table key of a field's value: a string without escapes but with quotes, so that it
/// differs from a number; any other value as written; empty if missing.
#[inline]
fn key_of<'k>(event: &Event<'k>, field: Field, scratch: &'k mut Vec<u8>) -> &'k [u8] {
    let rest = event.field_and_rest(field).unwrap_or_default();
    plain_key(rest).unwrap_or_else(|| key_slowly(event, field, scratch))
}

/// Returns the key that [`key_of`] defines if the value at the start of `rest` is missing or a
/// string without escapes, otherwise `None`.
#[inline]
fn plain_key(rest: &[u8]) -> Option<&[u8]> {
    if rest.is_empty() {
        return Some(rest);
    }
    let content = rest.strip_prefix(b"\"")?;
    let end = memchr2(b'"', b'\\', content).filter(|&end| content[end] == b'"')?;
    Some(&rest[..end + 2])
}

#[cold]
fn key_slowly<'k>(event: &Event<'k>, field: Field, scratch: &'k mut Vec<u8>) -> &'k [u8] {
    match event.field(field) {
        Some([b'"', content @ .., b'"']) => {
            scratch.clear();
            scratch.push(b'"');
            unescape(content, scratch);
            scratch.push(b'"');
            scratch
        }
        value => value.unwrap_or_default(),
    }
}

/// Converts a key of [`key_of`] to text. Returns `None` if the value is missing.
pub(super) fn text_of_key(key: &[u8]) -> Option<String> {
    let text = match key {
        [] => return None,
        [b'"', content @ .., b'"'] => content,
        value => value,
    };
    Some(to_text(text))
}

impl Look for InfoLook {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        let bytes = event.bytes.len() as u64;
        self.bytes += bytes;
        let phase = self.phase(event);
        let ts = event.ts().map(|ts| self.place.moved_nanos(ts));
        let dur = event.dur();
        let class = match ts {
            _ if phase == usize::from(b'M') => Class::Metadata,
            None => Class::Untimed,
            Some(_) => Class::Timed,
        };
        let time_ns = match dur {
            Some(dur) if class != Class::Metadata => dur.floor.max(0) as u64,
            _ => 0,
        };
        let usage = Usage { events: 1, bytes, time_ns, self_ns: 0 };
        let thread = self.thread(event);
        self.threads.add(thread, &usage);
        let name = row_of(event, Field::Name, &mut self.names, &mut self.scratch);
        self.names.add(name, &usage);
        let key = self.names.key(name);
        self.nameless += u64::from(key.is_empty());
        let is_start = key == b"\"TracingStartedInBrowser\"" && page_data(event).is_none();
        self.bare_starts += u64::from(is_start);
        let letter = if phase < LETTERS { phase as u8 } else { 0 };
        self.last = Some(LastEvent { letter, ts, dur, thread, name });
        let cat = row_of(event, Field::Cat, &mut self.cats, &mut self.scratch);
        self.cats.add(cat, &usage);
        let has_cat = !self.cats.key(cat).is_empty();
        self.uncategorised += u64::from(!has_cat && class != Class::Metadata);
        match (class, ts) {
            (Class::Metadata, _) => {
                self.metadata += 1;
                self.titles.note(event);
            }
            (Class::Timed, Some(ts)) => {
                let moment = CountedEvent { ts: ts.floor, offset: at.offset, thread, name, phase };
                self.timed(event, ts, time_ns, moment);
                if self.wanted.nesting {
                    self.slice(event, ts.floor, time_ns, &moment);
                }
            }
            _ => self.untimed += 1,
        }
        if let Some(role) = Role::of(event)
            && class != Class::Metadata
        {
            self.profiles.note(event, role);
        }
        if let Some(most) = self.wanted.args
            && let Some(args) = event.field_and_rest(Field::Args)
        {
            note_args(args, time_ns, &mut self.args, most, &mut self.scratch);
        }
        self.ranks.note(Rank::of(event, class, ts, dur));
        true
    }

    fn member(&mut self, member: &Member<'_>) {
        self.window.member(member);
        let losses = reported_losses(member.key, member.value).into_iter();
        self.reported_losses.extend(losses.map(|loss| loss.text));
    }

    fn seal(&mut self, _: &mut ChunkStats) {
        sort(&mut self.slices);
    }
}
