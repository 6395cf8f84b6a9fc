//! Evaluates the criteria of `filter` and returns the reason why an event is dropped.
//!
//! | kind | criteria | evaluated |
//! |---|---|---|
//! | event | pid, tid, ph, cat, name, args, presets by name and category | by the scan worker |
//! | thread | process, thread, presets by thread | after the last event |
//! | time | min-dur, max-dur, from, to | immediately for single events and absolute times; for pairs at their end |

use super::args::ArgsTests;
use super::listed::EventList;
use super::options::Filter;
use super::queries::{Queries, has_category};
use super::reason::{ARGS, FROM, INVERTED, MAX_DUR, MIN_DUR, PASSES, PRESET, Reason, TO};
use super::threads::ThreadIds;
use regex::bytes::Regex;
use std::sync::Arc;
use tracemill_join::config::pattern::{Case, Preset, any_glob, any_of, glob_text};
use tracemill_join::report::Unmatched;
use tracemill_join::report::warning::Warning;
use tracemill_tokenizer::{Event, Field};
use tracemill_trace::event::metadata::MetadataNames;
use tracemill_trace::json::content;
use tracemill_trace::run::error::Error;
use tracemill_trace::time::TimePoint;

/// A compiled preset.
#[derive(Clone)]
struct DropPreset {
    reason: Reason,
    name: Option<Regex>,
    cat: Option<Regex>,
    thread: Option<Regex>,
    process: Option<Regex>,
}

/// Data that the criteria require.
#[derive(Clone, Copy, Default)]
pub(super) struct CriteriaNeeds {
    /// Whether there are any criteria.
    pub(super) any: bool,
    /// Whether names of processes and threads are needed.
    pub(super) names: bool,
    /// Whether the threads of single events are needed.
    pub(super) threads: bool,
    /// Whether the times of single events are needed.
    pub(super) times: bool,
    /// Whether B and E must be paired.
    pub(super) pairs: bool,
    /// Whether single events are decided after the last event.
    pub(super) late: bool,
    /// Whether events are compared with a list.
    pub(super) listed: bool,
}

impl CriteriaNeeds {
    fn of(criteria: &Criteria) -> Self {
        let Criteria { filter, process, thread, drops, .. } = criteria;
        let Filter { pid, tid, min_dur, max_dur, from, to, shrink_to, events, .. } = filter;
        let relative = |point: &Option<_>| matches!(point, Some(TimePoint::Relative(_)));
        let of_thread = |drop: &DropPreset| drop.thread.is_some() || drop.process.is_some();
        let names = process.is_some() || thread.is_some() || drops.iter().any(of_thread);
        let times = min_dur.is_some() || max_dur.is_some() || from.is_some() || to.is_some();
        let times = times || shrink_to.is_some();
        let fields = criteria.name.is_some() || criteria.cat.is_some() || !filter.ph.is_empty();
        let fields = fields || !criteria.args.is_empty();
        let listed = events.is_some();
        let pairs = fields || !drops.is_empty() || times || listed;
        let threads = pid.is_some() || tid.is_some() || names;
        let late = names || relative(from) || relative(to) || shrink_to.is_some();
        let late = late || listed;
        CriteriaNeeds { any: threads || pairs, names, threads, times, pairs, late, listed }
    }
}

/// The compiled criteria. Cheap to clone; each worker should have its own copy.
#[derive(Clone)]
pub(crate) struct Criteria {
    pub(super) needs: CriteriaNeeds,
    filter: Filter,
    process: Option<Regex>,
    thread: Option<Regex>,
    cat: Option<Regex>,
    name: Option<Regex>,
    args: ArgsTests,
    drops: Vec<DropPreset>,
    /// The criteria as single queries, to find criteria that match nothing.
    pub(super) queries: Queries,
}

/// Buffers for decoded strings.
#[derive(Default)]
pub(super) struct DecodeScratch {
    name: Vec<u8>,
    cat: Vec<u8>,
}

impl Criteria {
    pub(crate) fn of(filter: &Filter) -> Result<Self, Error> {
        let case = if filter.ignore_case { Case::Ignored } else { Case::Matters };
        let mut criteria = Criteria {
            needs: CriteriaNeeds::default(),
            process: any_of(&filter.process, case)?,
            thread: any_of(&filter.thread, case)?,
            cat: any_glob(filter.cat.iter().map(glob_text), case)?,
            name: any_of(&filter.name, case)?,
            args: ArgsTests::of(&filter.args)?,
            queries: Queries::of(filter, case)?,
            drops: filter
                .drop
                .iter()
                .map(|&preset| DropPreset::of(preset))
                .collect::<Result<_, _>>()?,
            filter: filter.clone(),
        };
        criteria.needs = CriteriaNeeds::of(&criteria);
        Ok(criteria)
    }

    pub(super) fn unmatched(&self, threads: &[ThreadIds], names: &MetadataNames) -> Vec<Unmatched> {
        self.queries.unmatched(&self.filter, threads, names)
    }

    /// Returns the listed events, if there is a list.
    pub(super) fn list(&self) -> Option<&Arc<EventList>> {
        self.filter.events.as_ref()
    }

    pub(super) fn inverts(&self) -> bool {
        self.filter.invert
    }

    pub(super) fn shrinks(&self) -> bool {
        self.filter.shrink_to.is_some()
    }

    /// Returns the maximum size of the output, in bytes.
    pub(super) fn size(&self) -> Option<u64> {
        self.filter.shrink_to
    }

    /// Returns a warning if the output exceeds its maximum size.
    pub(super) fn warn_if_larger(&self, len: u64) -> Option<Warning> {
        let most = self.filter.shrink_to.filter(|&most| len > most)?;
        Some(Warning::DoesNotFit { bytes: len, most, viewer: None })
    }

    /// Returns the final reason to drop an event, after `--invert`.
    #[inline]
    pub(super) fn outcome(&self, judged: Reason) -> Reason {
        match (self.filter.invert, judged) {
            (false, reason) => reason,
            (true, PASSES) => INVERTED,
            (true, _) => PASSES,
        }
    }

    /// Returns the reason to drop events of a thread with these ids.
    pub(super) fn judge_ids(&self, pid: &[u8], tid: &[u8]) -> Reason {
        let outside = |set: &Option<tracemill_join::config::id_set::IdSet>, id| {
            set.as_ref().is_some_and(|set| !set.contains(id))
        };
        match () {
            () if outside(&self.filter.pid, pid) => 1,
            () if outside(&self.filter.tid, tid) => 2,
            () => PASSES,
        }
    }

    /// Returns the reason to drop events of a thread because of names or presets.
    pub(super) fn judge_names(&self, thread: &ThreadIds, names: &MetadataNames) -> Reason {
        let (mut buffer, mut other) = (Vec::new(), Vec::new());
        let process = names.process_value(&thread.pid).unwrap_or_default();
        let thread = names.thread_value(&thread.pid, &thread.tid).unwrap_or_default();
        let (process, thread) = (content(process, &mut buffer), content(thread, &mut other));
        let lacks = |regex: &Option<Regex>, name: &[u8]| {
            regex.as_ref().is_some_and(|regex| name.is_empty() || !regex.is_match(name))
        };
        let has = |regex: &Option<Regex>, name: &[u8]| {
            regex.as_ref().is_some_and(|regex| !name.is_empty() && regex.is_match(name))
        };
        if lacks(&self.process, process) {
            return 3;
        }
        if lacks(&self.thread, thread) {
            return 4;
        }
        let mut drops = self.drops.iter();
        let drop = drops.find(|drop| has(&drop.thread, thread) || has(&drop.process, process));
        drop.map_or(PASSES, |drop| drop.reason)
    }

    /// Returns the reason to drop an event because of its fields.
    #[inline]
    pub(super) fn judge(&self, event: &Event<'_>, scratch: &mut DecodeScratch) -> Reason {
        let phases = &self.filter.ph;
        if !phases.is_empty() && !phases.iter().any(|ph| event.is_string(Field::Ph, ph.as_bytes()))
        {
            return 5;
        }
        let DecodeScratch { name, cat } = scratch;
        if !self.args.is_empty() {
            let args = event.field(Field::Args).unwrap_or_default();
            if !self.args.are_met(args, name) {
                return ARGS;
            }
        }
        if self.cat.is_none() && self.name.is_none() && self.drops.is_empty() {
            return PASSES;
        }
        if let Some(regex) = &self.cat
            && !has_category(regex, text_of(event, Field::Cat, cat))
        {
            return 6;
        }
        if let Some(regex) = &self.name
            && !regex.is_match(text_of(event, Field::Name, name))
        {
            return 7;
        }
        for drop in &self.drops {
            let by_name = |regex: &Regex| regex.is_match(text_of(event, Field::Name, name));
            if drop.name.as_ref().is_some_and(by_name) {
                return drop.reason;
            }
            if let Some(regex) = &drop.cat
                && has_category(regex, text_of(event, Field::Cat, cat))
            {
                return drop.reason;
            }
        }
        PASSES
    }

    /// Returns the reason to drop an interval because of its time or duration, in nanoseconds.
    ///
    /// `dur` is [`i64::MAX`] for an interval without an end. Events without a time are in no
    /// window.
    #[inline]
    pub(super) fn judge_time(&self, time: Option<i64>, dur: i64, start: i64) -> Reason {
        let Filter { min_dur, max_dur, from, to, .. } = &self.filter;
        if min_dur.is_some_and(|least| dur < least.0) {
            return MIN_DUR;
        }
        if max_dur.is_some_and(|most| dur > most.0) {
            return MAX_DUR;
        }
        let at = |point: &TimePoint| absolute(point, start);
        if let Some(from) = from.as_ref().map(at) {
            let ends = |time: i64| time >= from || time.saturating_add(dur.max(0)) > from;
            if !time.is_some_and(ends) {
                return FROM;
            }
        }
        match to.as_ref().map(at) {
            Some(to) if time.is_none_or(|time| time >= to) => TO,
            _ => PASSES,
        }
    }
}

fn absolute(point: &TimePoint, start: i64) -> i64 {
    match *point {
        TimePoint::Absolute(time) => time,
        TimePoint::Relative(time) => start.saturating_add(time),
    }
}

impl DropPreset {
    fn of(preset: Preset) -> Result<Self, Error> {
        let [name, cat, thread, process] = preset.members();
        let any = |globs: &'static [&'static str]| any_glob(globs.iter().copied(), Case::Matters);
        let number = Preset::ALL.iter().position(|&other| other == preset).unwrap_or_default();
        Ok(DropPreset {
            reason: PRESET + number as u8,
            name: any(name)?,
            cat: any(cat)?,
            thread: any(thread)?,
            process: any(process)?,
        })
    }
}

/// Returns the content of a string field, or the text of any other value; empty if missing.
pub(super) fn text_of<'t>(event: &Event<'t>, field: Field, scratch: &'t mut Vec<u8>) -> &'t [u8] {
    content(event.field(field).unwrap_or_default(), scratch)
}
