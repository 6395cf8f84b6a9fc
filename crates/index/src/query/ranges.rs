//! Queries the index of the only input of a run; returns a plan, or the reason to scan.

use super::index_file::{check_named, index_file_of, map_index, open_index, unused_of_several};
use super::lookup::{GranulesToRead, Lookup, Single};
use crate::format::{Index, IndexError};
use crate::meta::{DrawnMeta, WindowsMeta};
use crate::packed::restarts;
use std::ops::Range;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{IndexFile, IndexOutcome, Planned, ReadPlan, Stop, Unused};
use tracemill_trace::Limits;
use tracemill_trace::input::packed::Restart;
use tracemill_trace::input::source::Source;
use tracemill_trace::read::pieces::ChosenPieces;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::losses::InputReport;
use tracemill_trace::run::memory::Share;

/// Bytes of heap for each event that is read individually.
const EVENT: u64 = 64;
/// Bytes of heap that are always allowed for individually read events.
const LEAST: u64 = 8 << 20;

/// Queries the index of the only input of a run, if there is one and it may be used.
///
/// # Errors
/// Returns [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if a named index does
/// not match the input.
pub(super) fn query<T>(
    sources: &[Source],
    config: &Config,
    ask: impl FnOnce(&IndexFile) -> Result<T, Stop>,
) -> Result<Planned<T>, Error> {
    let Some(file) = index_file_of(sources, config)? else {
        let reason = unused_of_several(sources, config).map(IndexOutcome::from);
        return Ok(Planned::Scan(reason.unwrap_or_default()));
    };
    match ask(&file) {
        Ok(plan) => Ok(Planned::Plan(plan)),
        Err(stop) => file.reject(stop).map(Planned::Scan),
    }
}

/// Queries the index for byte ranges to read. A damaged input is scanned instead.
///
/// # Errors
/// Returns the errors of [`query`].
pub(super) fn query_ranges<T>(
    sources: &[Source],
    config: &Config,
    plan: impl FnOnce(&IndexedInput, &Lookup<'_, '_>) -> Result<T, Stop>,
) -> Result<Planned<T>, Error> {
    query(sources, config, |file| {
        if config.limits.strict {
            check_named(file)?;
            return Err(if file.index.is_file() { Unused::Strict.into() } else { Stop::Missing });
        }
        let bytes = map_index(file)?;
        let (index, input) = IndexedInput::open(&sources[0], file, &bytes)?;
        if input.report.lost() > 0 || input.windows.has_lapses {
            return Err(Unused::Damaged.into());
        }
        let lookup = input.lookup(&index)?.ok_or(Unused::NoRoom)?;
        plan(&input, &lookup)
    })
}

/// An input whose index locates its events.
pub(super) struct IndexedInput {
    pub(super) source: Source,
    pub(super) file: IndexFile,
    pub(super) windows: WindowsMeta,
    pub(super) drawn: Option<DrawnMeta>,
    /// The report on the input, as if it was read as a whole.
    pub(super) report: InputReport,
    /// Offsets where unpacking can begin, if the input is packed.
    pub(super) restarts: Option<Arc<[Restart]>>,
}

impl IndexedInput {
    /// Opens the mapped index. Returns a reason to scan if ranges of the input cannot be read.
    pub(super) fn open<'b>(
        source: &Source,
        file: &IndexFile,
        bytes: &'b [u8],
    ) -> Result<(Index<'b>, Self), Stop> {
        let (index, meta) = open_index(file, bytes)?;
        let report = meta.input(&source.to_string()).ok_or(Stop::Missing)?;
        let restarts = restarts(&index)?;
        if report.encoding.is_some() && restarts.is_none() {
            return Err(Unused::Packed.into());
        }
        let windows = meta.windows.ok_or(Unused::NoRoom)?;
        if !windows.is_one_list {
            return Err(Unused::Tied.into());
        }
        let (source, file, drawn) = (source.clone(), file.clone(), meta.drawn);
        Ok((index, IndexedInput { source, file, windows, drawn, report, restarts }))
    }

    /// Returns the sections that locate events, or `None` if a section is missing.
    pub(super) fn lookup<'i, 'b>(
        &self,
        index: &'i Index<'b>,
    ) -> Result<Option<Lookup<'i, 'b>>, IndexError> {
        Lookup::new(index, self.report.bytes, self.restarts.clone())
    }

    pub(super) fn plan(
        &self,
        lookup: &Lookup<'_, '_>,
        blocks: GranulesToRead,
    ) -> Result<ReadPlan, &'static str> {
        if !blocks.are_in_order() {
            return Err("its places are not in order");
        }
        let GranulesToRead { pieces, sum, bytes, .. } = blocks;
        let packed = lookup.packed.as_ref();
        let unpacked = packed.map(|packed| packed.unpacking(&pieces, lookup.text));
        let (index, source) = (self.file.clone(), self.source.clone());
        let (ranges, report) = (ChosenPieces { pieces, unpacked }, self.report.clone());
        Ok(ReadPlan { index, source, ranges, sum, bytes, report })
    }

    /// Plans to read the blocks that overlap `times`, and `events`.
    ///
    /// Returns a reason to scan if that takes too much memory or is more than half of the input.
    pub(super) fn small_plan(
        &self,
        lookup: &Lookup<'_, '_>,
        times: &Range<i64>,
        events: Vec<Single>,
        limits: &Limits,
    ) -> Result<ReadPlan, Stop> {
        if events.len() as u64 * EVENT > limits.bytes(Share::of(1, 8)).max(LEAST) {
            return Err(Unused::NoRoom.into());
        }
        let plan = self.plan(lookup, lookup.pieces(times, events)?)?;
        match plan.bytes.max(plan.unpacked()) > self.report.bytes / 2 {
            true => Err(Unused::Most.into()),
            false => Ok(plan),
        }
    }
}
