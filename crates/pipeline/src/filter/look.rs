//! Decides which events of a chunk to keep, on the scan worker, as far as possible.

use super::criteria::{Criteria, DecodeScratch};
use super::membership::{key_of, role_of};
use super::reason::{DropTallies, PASSES};
use super::thread_numbers::ThreadNumbers;
use super::threads::plain_id;
use super::undecided::{PairRole, Undecided};
use tracemill_tokenizer::Event;
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::event::name_key;
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::Times;

/// Decides which events of one chunk to keep. The index contains the events that certainly stay.
pub(super) struct FilterLook {
    criteria: Criteria,
    pub(super) found: Findings,
}

/// The undecided events, counts and threads of one chunk.
#[derive(Default)]
pub(super) struct Findings {
    /// Number of metadata events.
    pub(super) metadata: u64,
    /// Single events that are decided after the last event, in input order.
    pub(super) late: Vec<Undecided>,
    /// Events of pairs, groups and streams.
    pub(super) bound: Vec<Undecided>,
    /// With a list: the indices within the chunk of the events in `late` and in `bound`.
    pub(super) late_numbers: Vec<u32>,
    pub(super) bound_numbers: Vec<u32>,
    pub(super) tallies: DropTallies,
    /// The earliest time of an event other than metadata.
    pub(super) times: Times,
    pub(super) threads: ThreadNumbers,
    pub(super) names: MetadataNames,
    scratch: DecodeScratch,
    /// Queries without a match so far, see [`super::queries`].
    open: Vec<usize>,
    key: Vec<u8>,
}

impl FilterLook {
    pub(super) fn new(criteria: Criteria) -> Self {
        let found = Findings { open: criteria.queries.of_events(), ..Findings::default() };
        FilterLook { criteria, found }
    }
}

impl Look for FilterLook {
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.found.event(event, at, &self.criteria)
    }
}

impl Findings {
    /// Keeps, drops or records an event. Returns whether it certainly stays.
    #[inline]
    fn event(&mut self, event: &Event<'_>, at: &EventRef, criteria: &Criteria) -> bool {
        let len = event.bytes.len();
        if !self.open.is_empty() {
            criteria.queries.note(event, &mut self.open, &mut self.key);
        }
        if event.is_metadata() {
            if criteria.needs.names {
                self.names.note_by(event, plain_id);
            }
            // threads that only have metadata events count too
            if criteria.needs.threads {
                self.threads.number(event, criteria);
            }
            self.metadata += 1;
            return true;
        }
        let needs = criteria.needs;
        let role = if needs.any { role_of(event, needs.pairs) } else { PairRole::Single };
        let (mut time, mut dur, mut place) = (i64::MIN, 0, Place::new(at.offset, len, 0));
        if needs.times || role != PairRole::Single {
            let (ts, lasts) = (event.ts(), event.dur());
            time = ts.map_or(i64::MIN, |ts| ts.floor);
            dur = lasts.map_or(0, |dur| dur.floor).max(0);
            if let Some(ts) = ts {
                self.times.note(event, ts, ts.floor);
                // for single events only offset and length matter
                let rank = if role == PairRole::Single { 0 } else { rank(ts, lasts) };
                place = Place::new(at.offset, len, rank);
            }
        }
        let entry = Entry { time, place };
        let has_thread = needs.threads || matches!(role, PairRole::Begin | PairRole::End);
        let thread = if has_thread { self.threads.number(event, criteria) } else { 0 };
        let by_ids = if has_thread { self.threads.by_ids(thread) } else { PASSES };
        let reason = match by_ids {
            PASSES => criteria.judge(event, &mut self.scratch),
            reason => reason,
        };
        let key = match role {
            PairRole::Single => dur as u64,
            _ => key_of(event, role),
        };
        let name = match role {
            PairRole::Begin | PairRole::End => name_key(event),
            // an end event closes only a begin event of the same name, so a missing name is a name
            // too
            PairRole::Start | PairRole::Finish => name_key(event).max(1),
            _ => 0,
        };
        let record = Undecided { key, entry, name, thread, reason, role };
        if role == PairRole::Single {
            return self.single(record, at, criteria);
        }
        if needs.listed {
            self.bound_numbers.push(at.number as u32);
        }
        self.bound.push(record);
        false
    }

    /// Keeps, drops or records a single event. Returns whether it certainly stays.
    #[inline]
    fn single(&mut self, record: Undecided, at: &EventRef, criteria: &Criteria) -> bool {
        let late = criteria.needs.late;
        let reason = match record.reason {
            PASSES if !late => criteria.judge_time(record.time(), record.key as i64, 0),
            reason => reason,
        };
        // with a maximum size, kept events may still be dropped
        if late && (reason == PASSES || criteria.inverts() && criteria.shrinks()) {
            if criteria.needs.listed {
                self.late_numbers.push(at.number as u32);
            }
            self.late.push(record);
            return false;
        }
        let reason = criteria.outcome(reason);
        if reason != PASSES {
            self.tallies.add(reason, at.len as u64);
        }
        reason == PASSES
    }
}
