//! Answers about all events of an input, and plans to read the events of a time range.

use super::index_file::{check_named, map_index, open_index};
use super::ranges::{query, query_ranges};
use std::ops::RangeInclusive;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{IndexFile, Planned, ReadPlan, Stop, Unused};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;

/// Facts about all events of an input.
#[derive(Clone, Debug)]
pub struct IndexedEvents {
    /// The report on the input, with its number of events.
    pub input: InputReport,
    /// Least and greatest `ts` of all events in nanoseconds, rounded down. `None` if no event has
    /// a `ts`, or an older index does not have the times.
    pub times: Option<(i64, i64)>,
    /// The index. [`IndexFile::check_unchanged`] must follow the use of the facts.
    pub file: IndexFile,
}

/// Returns facts about the events of the only source by its index.
///
/// # Errors
/// Returns [`NotATrace`](tracemill_trace::ErrorKind::NotATrace) if a named index does not match
/// the input.
pub fn indexed_events(
    sources: &[Source],
    config: &Config,
) -> Result<Planned<IndexedEvents>, Error> {
    query(sources, config, |file| {
        if config.limits.strict {
            return check_named(file).and(Err(Unused::Strict.into()));
        }
        let bytes = map_index(file)?;
        let (_, meta) = open_index(file, &bytes)?;
        let input = meta.input(&sources[0].to_string()).ok_or(Stop::Missing)?;
        let times = meta.times.map(|[least, greatest]| (least, greatest));
        match times.is_some_and(|(least, greatest)| least > greatest) {
            true => Err("its times are impossible".into()),
            false => Ok(IndexedEvents { input, times, file: file.clone() }),
        }
    })
}

/// Plans the byte ranges of the only source that contain all events whose `ts` is in a range of
/// nanoseconds. They also contain other events.
///
/// # Errors
/// Returns the errors of [`indexed_events`].
pub fn events_plan(
    sources: &[Source],
    times: &RangeInclusive<i64>,
    config: &Config,
) -> Result<Planned<ReadPlan>, Error> {
    query_ranges(sources, config, |input, lookup| {
        let seen = *times.start()..times.end().saturating_add(1);
        // blocks have the times of no metadata and no CPU profiles; PLACES lists metadata
        let profiles = match input.windows.has_profiles {
            true => lookup.profiles()?.ok_or(Unused::NoRoom)?,
            false => Vec::new(),
        };
        input.small_plan(lookup, &seen, profiles, &config.limits)
    })
}
