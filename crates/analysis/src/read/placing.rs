//! Converts the times of records to the clock of the trace. Adds the clock offset of each input.

use crate::entries::sorting::Sorting;
use crate::events::bounds::{Bounds, TraceBounds};
use crate::events::causes::{CauseEvent, ids_of, thread_text};
use crate::events::meta::Meta;
use crate::read::facts::Facts;
use crate::value::clock::{Clock, FAR, Times, nanos_of, written};
use crate::value::record::Record;
use crate::value::space::Space;
use tracemill_join::input_set::{InputPlace, InputSet};
use tracemill_trace::event::names::Names;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// Returns the clock of the trace. If its times are exact, they begin with the first event or
/// profile.
pub(crate) fn clock_of(facts: &Facts, meta: &Meta, inputs: &InputSet, times: Times) -> Clock {
    let profiles = inputs.profiles();
    let is_exact = match times {
        Times::Devtools => false,
        Times::Exact => true,
        Times::Auto => !facts.is_web && profiles.iter().all(|profile| profile.is_of_stacks),
    };
    if !is_exact {
        return Clock::default();
    }
    let wholes = profiles.iter().filter(|profile| profile.input.is_some());
    let starts = wholes.filter_map(|profile| profile.start.as_deref().and_then(written));
    let first = facts.bounds.first.into_iter().chain(starts).min();
    let started = meta.started.filter(|&started| started >= 0.0).map(nanos_of);
    Clock::exact(started.or(first).unwrap_or(0))
}

/// Returns whether the pids and times of all tracks stay as written.
fn is_as_written<'p>(
    moved: &[(u32, usize)],
    clock: Clock,
    place: impl Fn(usize) -> &'p InputPlace,
) -> bool {
    clock.origin().is_none() && moved.iter().all(|(_, input)| place(*input).is_as_written())
}

/// Sets the final thread and time of each event that may cause others.
///
/// Cost: copies the events, unless nothing changes.
pub(crate) fn causes_on_clock<'p>(
    mut events: SpillVec<CauseEvent>,
    names: &mut Names,
    moved: &[(u32, usize)],
    clock: Clock,
    place: impl Fn(usize) -> &'p InputPlace,
    space: &Space,
) -> Result<SpilledVec<CauseEvent>, Error> {
    if is_as_written(moved, clock, &place) {
        return events.finish();
    }
    let mut threads: HashMap<(u32, u32), u32> = HashMap::default();
    let mut to = space.spool(8);
    events.drain(|event| {
        let place = place(event.input as usize);
        let thread = *threads.entry((event.input, event.thread)).or_insert_with(|| {
            let (pid, tid) = ids_of(names.bytes_of(event.thread));
            names.number(&thread_text(place.pid(pid), tid))
        });
        to.push(CauseEvent { thread, ..event.placed(clock, place) })
    })?;
    to.finish()
}

/// Sets the final track and time of each record. `moved` holds the new track and the input of each
/// old track.
///
/// Returns the records, and the first and last microsecond of all events.
///
/// Cost: a sort, unless nothing changes.
pub(crate) fn on_clock<'p>(
    sorting: Sorting,
    facts: &mut Facts,
    moved: &[(u32, usize)],
    clock: Clock,
    place: impl Fn(usize) -> &'p InputPlace,
    space: &Space,
) -> Result<(Sorting, Bounds), Error> {
    let Some(origin) = clock.origin() else {
        if is_as_written(moved, clock, &place)
            && (0u32..).zip(moved).all(|(number, (lane, _))| number == *lane)
        {
            return Ok((sorting, facts.bounds.events));
        }
        let sorting = sorting.moved(space, |filed| {
            let (lane, input) = moved[filed.lane as usize];
            filed.lane = lane;
            filed.record.ts = place(input).moved(filed.record.ts);
        })?;
        return Ok((sorting, facts.bounds.events));
    };
    let (bounding, mut last) = (facts.bounding(), f64::NEG_INFINITY);
    let sorting = sorting.moved(space, |filed| {
        let (lane, input) = moved[filed.lane as usize];
        filed.lane = lane;
        let Record { ts, kind, .. } = filed.record;
        clock.place(&mut filed.record, place(input).offset());
        if ts != 0.0 && bounding[kind as usize] {
            last = last.max(filed.record.ts + filed.record.dur);
        }
    })?;
    let TraceBounds { events, first, is_last_unfiled, .. } = facts.bounds;
    let max = match events.max.abs() >= FAR && !is_last_unfiled {
        // The times of records are exact, even where a double of microseconds is not.
        true => clock.micros(last),
        false => clock.placed_micros(events.max),
    };
    let first = first.map(|first| first.saturating_sub(origin) as f64);
    let min = first.map_or(events.min, |first| clock.micros(first));
    Ok((sorting, Bounds::between(min, max)))
}
