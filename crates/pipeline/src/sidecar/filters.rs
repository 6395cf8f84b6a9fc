//! `filter` with an index: only what may stay is read, with whatever that belongs to; what goes is counted by the index.
//!
//! | asked for | read | the rest goes because |
//! |---|---|---|
//! | ids of processes or threads, and whatever else | granules with events of these threads; groups of several threads | its thread has other ids |
//! | times alone, and a size | granules within T of them; intervals, groups and CPU profiles that last longer and reach in | it lies before or behind |
//! | anything else | all | |
//!
//! Ids are asked before all else, so whatever else is asked for, what is not read goes because of them. Of begins and ends those
//! that are listed are paired by their places, as in [`super::windows`].
//!
//! What was read must have the checksums of the index; else the trace is read as if there were none.

use super::chunks::NO_PROFILES;
use super::granules::length_of;
use super::lookup::{Lookup, Row, Single};
use super::members::Member;
use super::plan::{Asked, Opened, Plan, pieces_of, run, too_many};
use super::threads::{IndexedThreads, threads};
use crate::config::Config;
use crate::filter::narrowed::{By, Counts, Narrowed, Side, ThreadTotal, Times};
use crate::filter::{self, Criteria, FilterRun};
use crate::report::FilterReport;
use std::iter::Peekable;
use std::ops::Range;
use tracemill_core::error::Error;
use tracemill_core::hash::HashMap;
use tracemill_core::losses::InputReport;
use tracemill_index::{IndexError, groups, spans, streams};

/// See [`crate::filter()`]; for no viewer.
pub(crate) fn filter(job: FilterRun<'_>, config: &Config) -> Result<FilterReport, Error> {
    job.check(config)?;
    let criteria = Criteria::of(job.filter)?;
    let asked = run(
        job.sources,
        config,
        |opened| known(&opened, &criteria, config),
        |source, known| filter::filter_known(job, source, known, config),
        || filter::filter(job, config),
    )?;
    let Asked { answer: mut report, used, unused, warning } = asked;
    (report.index, report.index_unused) = (used, unused);
    report.run.warnings.extend(warning);
    Ok(report)
}

/// What is to be read; an error says why the index is none of the trace.
fn known(
    opened: &Opened<'_, '_, '_>,
    criteria: &Criteria,
    config: &Config,
) -> Result<Plan<Narrowed>, String> {
    let Some([start, ..]) = opened.of_windows.bounds else {
        return Ok(Plan::Cannot("the trace has no times"));
    };
    let asked = match (criteria.has_ids(), criteria.only_times(start)) {
        (true, _) => by_threads(opened, criteria, start, config),
        (false, Some(times)) => by_times(opened, times, start, config),
        (false, None) => Ok(Ok(Plan::Cannot("only ids and times say where events lie"))),
    };
    asked.map_err(|error| error.to_string())?
}

/// An index that is damaged, or none of the trace, or what it says.
type Planned = Result<Result<Plan<Narrowed>, String>, IndexError>;

/// Says that all must be read.
fn cannot(why: &'static str) -> Planned {
    Ok(Ok(Plan::Cannot(why)))
}

const NO_GROUPS: &str = "it has no list of the events that share ids";

fn by_threads(
    Opened { lookup, of_windows, input, .. }: &Opened<'_, '_, '_>,
    criteria: &Criteria,
    start: i64,
    config: &Config,
) -> Planned {
    if criteria.inverts() {
        return cannot("what does not match is wanted");
    }
    let Some(IndexedThreads { all, .. }) = threads(lookup.index)? else {
        return cannot("it does not have all threads");
    };
    let wanted: Vec<bool> =
        all.iter().map(|own| criteria.takes_thread(&own.pid, &own.tid)).collect();
    let of_wanted = all.iter().zip(&wanted).filter(|(_, wanted)| **wanted);
    let bytes = of_wanted.fold(0_u64, |sum, (own, _)| sum.saturating_add(own.all.bytes));
    if bytes > input.bytes / 2 {
        return cannot("most of the trace is wanted");
    }
    let Some(granules) = super::threads::granules_of(lookup.index, &wanted)? else {
        return cannot("it does not say which threads are where");
    };
    if !of_windows.has_crossing {
        return cannot(NO_GROUPS);
    }
    let crosses = |flags: u64, _| flags & groups::CROSSING != 0;
    let Some(mut events) = lookup.groups(crosses)? else { return cannot(NO_GROUPS) };
    if of_windows.has_profiles {
        let Some(profiles) = lookup.profiles(|_, _| true)? else { return cannot(NO_PROFILES) };
        events.extend(profiles);
    }
    if let Some(why) = too_many(events.len(), config) {
        return cannot(why);
    }
    let is_wanted = |number| granules.binary_search(&number).is_ok();
    let pieces = lookup.pieces_of(None, |row| is_wanted(row.number), events, |_, _| ())?;
    if !are_within(&all, input) {
        return Ok(Err("its threads have more events than the trace".to_owned()));
    }
    let known = |pieces| Narrowed { start, pieces, by: By::Threads(all) };
    Ok(pieces_of(lookup, pieces, input.clone(), config).map(|plan| plan.map(known)))
}

fn are_within(all: &[ThreadTotal], input: &InputReport) -> bool {
    let mut sum = Counts::default();
    all.iter().for_each(|own| sum.add(own.all));
    sum.events <= input.events && sum.bytes <= input.bytes
}

fn by_times(
    Opened { lookup, of_windows, input, .. }: &Opened<'_, '_, '_>,
    wanted: Range<i64>,
    start: i64,
    config: &Config,
) -> Planned {
    if wanted.is_empty() {
        return cannot("no time is wanted");
    }
    if of_windows.has_other_durs || of_windows.has_other_names {
        return cannot("some events have durations or names where none belong");
    }
    if of_windows.has_crossings && of_windows.has_strangers {
        return cannot("some E events end B events of other names");
    }
    if !threads(lookup.index)?.is_some_and(|threads| threads.is_plain) {
        return cannot("its threads have ids that are spelled in several ways");
    }
    let Some(bound) = of_windows.group_level.map(|level| level.max(of_windows.level)) else {
        return cannot(NO_GROUPS);
    };
    let look = length_of(bound);
    let seen = wanted.start.saturating_sub(look)..wanted.end.saturating_add(look);
    let reaches = |times: &Range<i64>| times.start < seen.end && times.end >= seen.start;
    let is_wanted = |flags: u64, times| flags & groups::LONG != 0 && reaches(&times);
    let Some(mut events) = lookup.groups(is_wanted)? else { return cannot(NO_GROUPS) };
    let mut apart = HashMap::default();
    events.extend(lookup.lasting(&seen, &mut apart)?);
    let mut unread = None;
    if of_windows.has_profiles {
        let Some(profiles) = lookup.profiles(|least, greatest| reaches(&(least..greatest)))? else {
            return cannot(NO_PROFILES);
        };
        events.extend(profiles);
        unread = UnreadProfiles::of(lookup, &seen)?;
    }
    if let Some(why) = too_many(events.len(), config) {
        return cannot(why);
    }
    let (mut rest, mut beside) = ([Counts::default(); 2], HashMap::default());
    let pieces = lookup.pieces_of(
        None,
        |row| row.touches(&seen),
        events,
        |row, own| {
            let side = if row.least < seen.start { Side::Before } else { Side::Behind };
            rest[side as usize].add(Counts { events: row.events, bytes: row.bytes });
            beside.extend(own.iter().map(|event| (event.place, side)));
            unread.iter_mut().for_each(|unread| unread.count((row, own), side, &mut rest));
        },
    )?;
    if let Some(unread) = unread {
        unread.said?;
    }
    let times = Times { seen, apart, only_by_name: of_windows.has_crossings, rest, beside };
    let all = rest[0].events.saturating_add(rest[1].events);
    let bytes = rest[0].bytes.saturating_add(rest[1].bytes);
    if all > input.events || bytes > input.bytes {
        return Ok(Err("its granules have more events than the trace".to_owned()));
    }
    let known = |pieces| Narrowed { start, pieces, by: By::Times(times) };
    Ok(pieces_of(lookup, pieces, input.clone(), config).map(|plan| plan.map(known)))
}

/// Events of CPU profiles that lie before or behind what is seen, wherever the granules lie in which they stand.
struct UnreadProfiles<'l> {
    /// By stream; `None` of those that are read.
    sides: Vec<Option<Side>>,
    members: Peekable<Box<dyn Iterator<Item = Result<Member, IndexError>> + 'l>>,
    said: Result<(), IndexError>,
}

impl<'l> UnreadProfiles<'l> {
    /// `None` if the index has no list of them.
    fn of(lookup: &'l Lookup<'_, '_>, seen: &Range<i64>) -> Result<Option<Self>, IndexError> {
        let Some((streams, members)) = lookup.streams() else { return Ok(None) };
        let mut sides = Vec::new();
        lookup.owners((streams, [2, 3, 4]), |known, times| {
            let is_behind = times.start >= seen.end;
            let is_elsewhere = known & streams::TIMES != 0 && (is_behind || times.end < seen.start);
            let side = if is_behind { Side::Behind } else { Side::Before };
            sides.push(is_elsewhere.then_some(side));
        })?;
        let is_any = sides.iter().any(Option::is_some);
        let pages = if is_any { &members.pages[..] } else { &[] };
        let members: Box<dyn Iterator<Item = _>> = Box::new(lookup.members_of_text(pages));
        Ok(Some(UnreadProfiles { sides, members: members.peekable(), said: Ok(()) }))
    }

    /// Those of a granule of which these events are read, and which was counted on this side, are counted on theirs. Granules come in the order of the text.
    fn count(&mut self, (row, read): (&Row, &[Single]), side: Side, rest: &mut [Counts; 2]) {
        let is_before_end = |member: &Result<Member, _>| {
            member.as_ref().map_or(true, |member| member.single.place < row.end())
        };
        while let Some(member) = self.members.next_if(is_before_end) {
            let Member { single: Single { place, bytes, .. }, owner } = match member {
                Ok(member) => member,
                Err(error) => return self.said = Err(error),
            };
            let is_counted = place >= row.place
                && read.binary_search_by_key(&place, |event| event.place).is_err();
            let own = self.sides.get(owner).copied().flatten().filter(|own| *own != side);
            let (Some(own), true) = (own, is_counted) else { continue };
            let counts = Counts { events: 1, bytes };
            // an index that has more of them than events is wrong, and what is read will not have its sums
            if let Some(left) = rest[side as usize].less(counts) {
                rest[side as usize] = left;
                rest[own as usize].add(counts);
            }
        }
    }
}

impl Lookup<'_, '_> {
    /// Single events of complete events and pairs longer than T that reach into `seen`; parts of pairs come to `apart`.
    fn lasting(
        &self,
        seen: &Range<i64>,
        apart: &mut HashMap<u64, u64>,
    ) -> Result<Vec<Single>, IndexError> {
        let mut events = Vec::new();
        self.each_span(seen, |span| {
            if !matches!(span.kind, spans::COMPLETE | spans::PAIR) {
                return;
            }
            events.push(span.begin);
            if span.kind == spans::PAIR {
                apart.insert(span.begin.place, !span.begin.place);
            }
            if span.last.place != span.begin.place {
                events.push(span.last);
                apart.insert(span.last.place, !span.begin.place);
            }
        })?;
        Ok(events)
    }
}
