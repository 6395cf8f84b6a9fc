//! What an index that is asked where things lie is good for.

use super::chosen::{Candidate, unused_of_several};
use super::lookup::{Granules, Lookup};
use super::meta::{DrawnMeta, WindowsMeta};
use super::packed::restarts;
use crate::config::Config;
use crate::pieces::{Pieces, Stop, Unused};
use crate::warning::Warning;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::packed::{Restart, Stretch, Unpacking};
use tracemill_core::pieces::Chosen;
use tracemill_core::source::Source;
use tracemill_index::Index;

/// Bytes of heap for each event that is read by itself.
const EVENT: u64 = 64;
/// Bytes of heap that there are for those however small the budget is.
const LEAST: u64 = 8 << 20;

/// The answer of a run, and what an index had to do with it.
pub(crate) struct Asked<T> {
    pub(crate) answer: T,
    /// The index that said what to read, and how many bytes of events it said.
    pub(crate) used: Option<(PathBuf, u64)>,
    /// Why an index there is could not say that.
    pub(crate) unused: Option<&'static str>,
    /// What is wrong with it.
    pub(crate) warning: Option<Warning>,
}

/// A run over `sources` that reads what their index says is needed, or all of it.
///
/// # Errors
/// Those of a run; also if an index was named and is not that of the one input.
pub(super) fn run<P, T>(
    sources: &[Source],
    config: &Config,
    ask: impl FnOnce(Opened<'_, '_, '_>) -> Result<(P, u64), Stop>,
    of_pieces: impl FnOnce(&Source, P) -> Result<Result<T, Stop>, Error>,
    of_all: impl FnOnce() -> Result<T, Error>,
) -> Result<Asked<T>, Error> {
    let asked = |unused: Option<Unused>, warning| {
        config.progress.bytes_scanned.store(0, Ordering::Relaxed);
        let unused = unused.map(Unused::text);
        Ok(Asked { answer: of_all()?, used: None, unused, warning })
    };
    let (Some(candidate), [source]) = (Candidate::of(sources, config)?, sources) else {
        return asked(unused_of_several(sources, config), None);
    };
    let tried = match plan(&candidate, config, ask) {
        Ok((known, bytes)) => of_pieces(source, known)?.map(|answer| (answer, bytes)),
        Err(stop) => Err(stop),
    };
    match tried {
        Ok((answer, bytes)) => {
            let used = Some((candidate.index, bytes));
            Ok(Asked { answer, used, unused: None, warning: None })
        }
        Err(Stop::Missing) => asked(None, None),
        Err(Stop::Cannot(why)) => asked(Some(why), None),
        Err(Stop::Wrong(problem)) if candidate.is_named => Err(candidate.refused(problem)),
        Err(Stop::Wrong(problem)) => asked(None, Some(candidate.unused(problem))),
    }
}

/// What an index says of a trace.
pub(super) struct Known<'b> {
    pub(super) index: Index<'b>,
    pub(super) windows: WindowsMeta,
    pub(super) drawn: Option<DrawnMeta>,
    /// The report of the trace, as if all was read.
    pub(super) input: InputReport,
    /// Where unpacking may begin, if the trace is packed.
    pub(super) restarts: Option<Arc<[Restart]>>,
}

impl<'b> Known<'b> {
    /// That of a candidate with these bytes, if pieces of the trace can be read.
    pub(super) fn of(candidate: &Candidate, bytes: &'b [u8]) -> Result<Self, Stop> {
        let (index, meta) = candidate.open(bytes)?;
        let input = meta.input("").ok_or(Stop::Missing)?;
        let restarts = restarts(&index)?;
        if input.encoding.is_some() && restarts.is_none() {
            return Err(Unused::Packed.into());
        }
        let windows = meta.windows.ok_or(Unused::NoRoom)?;
        if !windows.is_one_list {
            return Err(Unused::Tied.into());
        }
        Ok(Known { index, windows, drawn: meta.drawn, input, restarts })
    }
}

/// What is asked of a trace that may be read in pieces.
pub(super) struct Opened<'l, 'i, 'b> {
    pub(super) lookup: &'l Lookup<'i, 'b>,
    pub(super) of_windows: &'l WindowsMeta,
    /// The report of the trace, as if all was read.
    pub(super) input: InputReport,
}

/// What is read of an input, and its bytes of events, unless that is most of it.
pub(super) fn pieces_of(
    lookup: &Lookup<'_, '_>,
    granules: Granules,
    report: InputReport,
) -> Result<(Pieces, u64), Stop> {
    if !granules.are_in_order() {
        return Err("its places are not in order".into());
    }
    let Granules { pieces, read, bytes, .. } = granules;
    let packed = lookup.packed.as_ref();
    let unpacked = packed.map(|packed| packed.unpacking(&pieces, report.bytes));
    if bytes.max(unpacked.as_ref().map_or(0, text_of)) > report.bytes / 2 {
        return Err(Unused::Most.into());
    }
    let chosen = Chosen { pieces, unpacked };
    Ok((Pieces { chosen, read, report }, bytes))
}

/// Returns the number of bytes of text that are unpacked.
pub(super) fn text_of(unpacking: &Unpacking) -> u64 {
    unpacking.stretches.iter().map(Stretch::bytes).sum()
}

/// Asks an index what is to be read.
fn plan<T>(
    candidate: &Candidate,
    config: &Config,
    ask: impl FnOnce(Opened<'_, '_, '_>) -> Result<(T, u64), Stop>,
) -> Result<(T, u64), Stop> {
    if config.strict {
        candidate.check()?;
        let is_there = candidate.index.is_file();
        return Err(if is_there { Unused::Strict.into() } else { Stop::Missing });
    }
    let bytes = candidate.map()?;
    let Known { index, windows, input, restarts, .. } = Known::of(candidate, &bytes)?;
    if input.lost() > 0 || windows.has_lapses {
        return Err(Unused::Damaged.into());
    }
    let lookup = Lookup::new(&index, input.bytes, restarts)?.ok_or(Unused::NoRoom)?;
    ask(Opened { lookup: &lookup, of_windows: &windows, input })
}

/// Whether so many events are too many to be read by themselves.
pub(super) fn are_too_many(events: usize, config: &Config) -> bool {
    events as u64 * EVENT > (config.memory / 8).max(LEAST)
}
