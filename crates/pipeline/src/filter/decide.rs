//! Decides on the undecided events: those that wait for names, for the trace start, or for their
//! pair or group.
//!
//! ```text
//!   late  ─ in input order ───────────────────> single events ─────┐
//!   bound ─ by key, then time ─┬─ a thread: pairs of B and E ──────┼─> (events, duration, reason)
//!                              ├─ a group: matches if one does; ───┤      ─> stays or goes
//!                              │  async pairs have their own times │
//!                              └─ a stream: as its Profile event ──┘
//! ```
//!
//! With a maximum size the decisions are made twice. The first pass sums bytes by duration, which
//! gives the minimum duration to keep. Intervals without an end count as longest.

use super::criteria::Criteria;
use super::overlapped::Overlapped;
use super::reason::{DropTallies, PASSES, Reason, SHRUNK};
use super::threads::ThreadIds;
use super::undecided::{PairRole, Undecided};
use super::{CertainEvents, Selection};
use tracemill_join::config::OPEN;
use tracemill_join::report::warning::Warning;
use tracemill_trace::Limits;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::order::{ExternalSorter, Lists, Order, SortedRecords};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::{SpillVec, SpilledVec};
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_write::trace_writer::EventCount;

/// The events that are kept.
pub(super) struct FilterDecision {
    pub(super) lists: Lists,
    pub(super) events: u64,
    pub(super) bytes: u64,
    pub(super) tallies: DropTallies,
    pub(super) threshold: Option<i64>,
    pub(super) spilled: u64,
    pub(super) warning: Option<Warning>,
    /// Whether the events written during the scan are the first events of the result.
    pub(super) is_as_written: bool,
}

/// Events whose place in the output is decided after the scan, with the data to decide it.
struct UndecidedEvents<'w, 's, 'p> {
    criteria: &'w Criteria,
    /// The reason to drop events of each thread, by its names.
    threads: Vec<Reason>,
    start: i64,
    late: SpilledVec<Undecided>,
    bound: SortedRecords<Undecided>,
    order: Order<'s, 'p>,
    /// Memory for the events of one group.
    lease: Lease,
    quota: Quota,
}

/// Receives a decided event, the duration of its interval, and the reason.
type Visit<'v> = dyn FnMut(&Undecided, i64, Reason) -> Result<(), Error> + 'v;

impl Selection<'_> {
    /// Decides which events to keep. `len` returns the length of an output with that many events
    /// and bytes.
    pub(super) fn decide(
        self,
        kept: CertainEvents,
        order: Order<'_, '_>,
        limits: &Limits,
        written: Option<&Overlapped>,
        len: impl Fn(u64, u64) -> u64,
    ) -> Result<FilterDecision, Error> {
        let CertainEvents { places: kept, count: EventCount { events, bytes } } = kept;
        let start = self.times.bounds().map_or(0, |bounds| bounds.start);
        let Selection { criteria, tallies, mut late, bound, .. } = self;
        let (kept, late, bound) = (kept.finish()?, late.take()?, bound.finish(order)?);
        let lease = limits.lease("events that stay", Share::of_index(3, 4)).divided(3);
        let mut spilled = kept.spilled_bytes() + late.spilled_bytes() + bound.spilled_bytes();
        let waiting = UndecidedEvents {
            threads: match criteria.needs.names {
                true => {
                    let judge = |thread: ThreadIds| criteria.judge_names(&thread, &self.names);
                    self.threads.all().map(judge).collect()
                }
                false => Vec::new(),
            },
            criteria: &criteria,
            start,
            late,
            bound,
            order,
            lease: lease.clone(),
            quota: limits.open_quota(),
        };
        if waiting.late.is_empty() && waiting.bound.is_empty() {
            let threshold = criteria.shrinks().then_some(0);
            let warning = criteria.warn_if_larger(len(events, bytes));
            return Ok(FilterDecision {
                lists: kept.into(),
                events,
                bytes,
                tallies,
                threshold,
                spilled,
                warning,
                is_as_written: true,
            });
        }
        let threshold = waiting.threshold(events, bytes, &len)?;
        let mut count = Count { events, bytes, tallies, threshold };
        let mut is_as_written = true;
        let mut staying = ExternalSorter::new(lease.clone(), limits.threads);
        waiting.each_bound(&mut |record, dur, reason| {
            let place = record.entry.place;
            let stays = count.stays(place, order.0.len(place), dur, reason);
            is_as_written &= written.is_none_or(|written| written.agrees(record, stays));
            match stays {
                true => staying.push(by_place(place), order),
                false => Ok(()),
            }
        })?;
        let staying = staying.finish(order)?;
        spilled += staying.spilled_bytes();
        let all = SpillVec::new(lease);
        let all = waiting.merge(&kept, &staying, &mut count, all)?.finish()?;
        spilled += all.spilled_bytes();
        let Count { events, bytes, tallies, .. } = count;
        let warning = criteria.warn_if_larger(len(events, bytes));
        let threshold = threshold.map(|least| i64::try_from(least).unwrap_or(i64::MAX));
        let lists = all.into();
        Ok(FilterDecision {
            lists,
            events,
            bytes,
            tallies,
            threshold,
            spilled,
            warning,
            is_as_written,
        })
    }
}

/// The counts of kept and dropped events.
struct Count {
    events: u64,
    bytes: u64,
    tallies: DropTallies,
    /// Minimum duration in nanoseconds; exceeds all durations if no event fits.
    threshold: Option<u64>,
}

impl Count {
    /// Counts an event as kept or dropped, and returns whether it is kept.
    fn stays(&mut self, place: Place, len: u64, dur: i64, reason: Reason) -> bool {
        debug_assert!(place.short_len().is_none_or(|short| short == len));
        let reason = match (reason, self.threshold) {
            (PASSES, Some(least)) if (dur.max(0) as u64) < least => SHRUNK,
            _ => reason,
        };
        if reason == PASSES {
            self.events += 1;
            self.bytes += len;
        } else {
            self.tallies.add(reason, len);
        }
        reason == PASSES
    }
}

/// Returns a record that sorts by its place.
fn by_place(place: Place) -> Undecided {
    // the rank only matters among events of one time
    let place = place.without_rank();
    let entry = Entry { time: i64::MIN, place };
    let (key, role) = (place.offset(), PairRole::Single);
    Undecided { key, entry, name: 0, thread: 0, reason: PASSES, role }
}

/// Merges places that were kept immediately with places decided later.
struct Merger<I: Iterator<Item = Place>> {
    direct: std::iter::Peekable<I>,
    all: SpillVec<Place>,
}

impl<I: Iterator<Item = Place>> Merger<I> {
    fn push(&mut self, place: Place) -> Result<(), Error> {
        while let Some(earlier) = self.direct.next_if(|next| next.offset() < place.offset()) {
            self.all.push(earlier)?;
        }
        self.all.push(place)
    }

    fn finish(mut self) -> Result<SpillVec<Place>, Error> {
        self.direct.try_for_each(|place| self.all.push(place))?;
        Ok(self.all)
    }
}

/// Events that share an id or a stream and are kept or dropped together.
struct UndecidedGroup {
    events: SpillVec<Undecided>,
    /// The lowest reason to drop any of the events. In streams the reason of the `Profile` event,
    /// `head`, takes precedence.
    any: Option<Reason>,
    head: Option<Reason>,
    times: Option<(i64, i64)>,
    open: Begins<Undecided>,
    /// The duration of the longest async pair.
    longest: Option<i64>,
}

impl UndecidedGroup {
    fn new(events: SpillVec<Undecided>) -> Self {
        UndecidedGroup {
            events,
            any: None,
            head: None,
            times: None,
            open: Begins::default(),
            longest: None,
        }
    }

    fn push(&mut self, event: Undecided, judged: Reason) -> Result<(), Error> {
        let least = |of: Option<Reason>| Some(of.map_or(judged, |other| other.min(judged)));
        self.any = least(self.any);
        if event.role == PairRole::Head {
            self.head = least(self.head);
        }
        if let Some(time) = event.time() {
            let (from, to) = self.times.unwrap_or((time, time));
            self.times = Some((from.min(time), to.max(time)));
        }
        match event.role {
            PairRole::Start => self.open.begin(event.name, event),
            PairRole::Finish => {
                let begin = self.open.end_named(event.name);
                self.longest = self.longest.max(Some(duration(&begin.unwrap_or(event), &event)));
            }
            _ => {}
        }
        self.events.push(event)
    }

    /// Returns the start and duration of the group's events that are not async pairs.
    ///
    /// The duration is that of the longest async pair, or else the time from the first to the last
    /// event.
    fn span(&self) -> (Option<i64>, i64) {
        let dur = match self.longest {
            _ if !self.open.is_empty() => i64::MAX,
            Some(longest) => longest,
            None => self.times.map_or(0, |(from, to)| to.saturating_sub(from)),
        };
        (self.times.map(|(from, _)| from), dur)
    }
}

fn duration(begin: &Undecided, end: &Undecided) -> i64 {
    match (begin.time(), end.time()) {
        (Some(from), Some(to)) => to.saturating_sub(from),
        _ => 0,
    }
}

impl UndecidedEvents<'_, '_, '_> {
    /// Returns the reason to drop an event because of its fields or thread.
    fn judge_event(&self, record: &Undecided) -> Reason {
        match record.reason {
            PASSES => self.threads.get(record.thread as usize).copied().unwrap_or(PASSES),
            reason => reason,
        }
    }

    /// Combines the reason from the fields with time and duration.
    fn judge(&self, fields: Reason, time: Option<i64>, dur: i64) -> Reason {
        let judged = match fields {
            PASSES => self.criteria.judge_time(time, dur, self.start),
            reason => reason,
        };
        self.criteria.outcome(judged)
    }

    fn judge_single(&self, record: &Undecided) -> (Place, i64, Reason) {
        let dur = record.key as i64;
        let reason = self.judge(self.judge_event(record), record.time(), dur);
        (record.entry.place, dur, reason)
    }

    /// Decides which waiting single events to keep, and merges all kept events in input order.
    fn merge(
        &self,
        direct: &SpilledVec<Place>,
        staying: &SortedRecords<Undecided>,
        count: &mut Count,
        all: SpillVec<Place>,
    ) -> Result<SpillVec<Place>, Error> {
        let mut merger = Merger { direct: direct.iter().peekable(), all };
        let mut late = self.late.iter().peekable();
        let mut singles = |before: u64, merger: &mut Merger<_>| -> Result<(), Error> {
            while let Some(record) = late.next_if(|record| record.entry.place.offset() < before) {
                let (place, dur, reason) = self.judge_single(&record);
                if count.stays(place, self.order.0.len(place), dur, reason) {
                    merger.push(place)?;
                }
            }
            Ok(())
        };
        staying.sorted(self.order).try_for_each(|record| {
            singles(record.entry.place.offset(), &mut merger)?;
            merger.push(record.entry.place)
        })?;
        singles(u64::MAX, &mut merger)?;
        merger.finish()
    }

    /// Decides which pairs, groups and streams to keep, key by key.
    fn each_bound(&self, visit: &mut Visit<'_>) -> Result<(), Error> {
        let mut group = UndecidedGroup::new(SpillVec::new(self.lease.clone()));
        let mut open = Begins::default();
        let mut key = None;
        for record in self.bound.sorted(self.order) {
            if key.replace(record.key).is_some_and(|key| key != record.key) {
                self.end_key(&mut group, &mut open, visit)?;
            }
            match record.role {
                PairRole::Begin => {
                    open.begin(record.name, record);
                    self.quota.check(open.heap(), OPEN)?;
                }
                PairRole::End => {
                    let begin = open.end(record.name);
                    let fields = self.judge_event(begin.as_ref().unwrap_or(&record));
                    self.end(begin, record, fields, visit)?;
                }
                _ => {
                    group.push(record, self.judge_event(&record))?;
                    self.quota.check(group.open.heap(), OPEN)?;
                }
            }
        }
        self.end_key(&mut group, &mut open, visit)
    }

    /// Decides whether to keep an end event and the begin event that it closes, if any.
    fn end(
        &self,
        begin: Option<Undecided>,
        end: Undecided,
        fields: Reason,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        let first = begin.unwrap_or(end);
        let dur = duration(&first, &end);
        let reason = self.judge(fields, first.time(), dur);
        if let Some(begin) = &begin {
            visit(begin, dur, reason)?;
        }
        visit(&end, dur, reason)
    }

    /// Decides whether to keep the open B events and the group of a key, after its last record.
    fn end_key(
        &self,
        group: &mut UndecidedGroup,
        open: &mut Begins<Undecided>,
        visit: &mut Visit<'_>,
    ) -> Result<(), Error> {
        for begin in open.values() {
            let reason = self.judge(self.judge_event(&begin), begin.time(), i64::MAX);
            visit(&begin, i64::MAX, reason)?;
        }
        open.clear();
        let fields = group.head.or(group.any).unwrap_or(PASSES);
        let (from, dur) = group.span();
        let reason = self.judge(fields, from, dur);
        let UndecidedGroup { events, open, .. } = &mut *group;
        open.clear();
        events.drain(|record| match record.role {
            PairRole::Start => {
                open.begin(record.name, record);
                Ok(())
            }
            PairRole::Finish => self.end(open.end_named(record.name), record, fields, visit),
            _ => visit(&record, dur, reason),
        })?;
        for begin in open.values() {
            visit(&begin, i64::MAX, self.judge(fields, begin.time(), i64::MAX))?;
        }
        open.clear();
        (group.any, group.head, group.times, group.longest) = (None, None, None, None);
        Ok(())
    }

    /// Returns the minimum duration to keep, or `None` if the output has no maximum size.
    fn threshold(
        &self,
        events: u64,
        bytes: u64,
        len: &impl Fn(u64, u64) -> u64,
    ) -> Result<Option<u64>, Error> {
        let Some(most) = self.criteria.size() else { return Ok(None) };
        let mut steps = vec![(0u64, 0u64); STEPS];
        let mut count = |place: Place, dur: i64, reason| {
            if reason == PASSES {
                let step = &mut steps[step_of(dur)];
                *step = (step.0 + 1, step.1 + self.order.0.len(place));
            }
            Ok(())
        };
        self.each_bound(&mut |record, dur, reason| count(record.entry.place, dur, reason))?;
        for record in self.late.iter() {
            let (place, dur, reason) = self.judge_single(&record);
            count(place, dur, reason)?;
        }
        let mut sum = (events, bytes);
        let mut least = STEPS;
        for (number, step) in steps.iter().enumerate().rev() {
            sum = (sum.0 + step.0, sum.1 + step.1);
            if len(sum.0, sum.1) > most {
                break;
            }
            least = number;
        }
        Ok(Some(start_of(least)))
    }
}

/// Number of steps into which durations are divided. There are 64 steps per octave, so the
/// threshold is at most 1.6 % too high.
const STEPS: usize = 64 * 64;

fn step_of(dur: i64) -> usize {
    let dur = dur.max(0) as u64;
    if dur < 64 {
        return dur as usize;
    }
    let octave = dur.ilog2() - 6;
    (octave as usize + 1) * 64 + (dur >> octave) as usize - 64
}

fn start_of(step: usize) -> u64 {
    if step < 64 {
        return step as u64;
    }
    let octave = step / 64 - 1;
    u64::try_from((step as u128 % 64 + 64) << octave).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_of_and_start_of_are_inverse() {
        let mut last = None;
        for step in 0..step_of(i64::MAX) {
            let start = start_of(step);
            assert!(last.is_none_or(|last| start > last), "{step}");
            let step_at = |dur: u64| step_of(i64::try_from(dur).expect("a duration"));
            assert_eq!(step_at(start), step);
            assert_eq!(step_at(start_of(step + 1) - 1), step);
            last = Some(start);
        }
    }
}
