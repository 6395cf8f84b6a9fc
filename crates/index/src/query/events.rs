//! Answers about all events of an input, and plans to read the events of a time range.

use super::index_file::{check_named, map_index, open_index};
use super::lookup::{Lookup, Single};
use super::ranges::{query, query_ranges};
use crate::chunk_rows::Expected;
use crate::format::streams;
use std::ops::{Range, RangeInclusive};
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
            true => profile_events(lookup, &seen)?,
            false => Vec::new(),
        };
        input.small_plan(lookup, &seen, profiles, &config.limits)
    })
}

/// The times of a stream's events that an index has.
#[derive(Clone, Copy)]
enum StreamTimes {
    /// None, so the stream may have events at any time.
    Unknown,
    /// The least and the greatest time.
    Range(i64, i64),
    /// The time of each event.
    Each,
}

/// Returns the events of CPU profiles whose times may be in `seen`.
fn profile_events(lookup: &Lookup<'_, '_>, seen: &Range<i64>) -> Result<Vec<Single>, Stop> {
    let (streams, events) = lookup.streams().ok_or(Unused::NoRoom)?;
    let mut times = Vec::new();
    for entry in &streams.pages {
        let [known, _, _, leasts, widths] = lookup.index.page(entry)?.columns()?;
        times.extend(known.iter().zip(leasts.iter().zip(&widths)).map(
            |(known, (least, width))| {
                let least = *least as i64;
                match known & (streams::TIMES | streams::CHUNKS) {
                    both if both == streams::TIMES | streams::CHUNKS => StreamTimes::Each,
                    streams::TIMES => {
                        StreamTimes::Range(least, least.saturating_add_unsigned(*width))
                    }
                    _ => StreamTimes::Unknown,
                }
            },
        ));
    }
    let (mut expected, mut found) = (Expected::default(), Vec::new());
    for entry in &events.pages {
        let page = lookup.index.page(entry)?;
        let columns = page.columns::<12>()?;
        for row in 0..page.rows() {
            let [place, bytes, stream, sum, known @ ..] =
                columns.each_ref().map(|column| column[row]);
            let stream_times = usize::try_from(stream).ok().and_then(|stream| times.get(stream));
            let is_seen = match stream_times.ok_or("its streams are incomplete")? {
                StreamTimes::Unknown => true,
                StreamTimes::Range(least, greatest) => *least < seen.end && *greatest >= seen.start,
                StreamTimes::Each => {
                    let known = expected.decode(stream, known);
                    seen.contains(&known.ok_or("it has impossible chunks of CPU profiles")?.0)
                }
            };
            if is_seen {
                found.push(Single { place, sum: sum as u32, bytes });
            }
        }
    }
    Ok(found)
}
