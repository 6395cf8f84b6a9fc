//! What an index that is asked where things lie is good for.

use super::chosen::{Candidate, unused_of_several};
use super::lookup::{Granules, Lookup};
use super::meta::WindowsMeta;
use super::packed;
use crate::config::Config;
use crate::pieces::Unused;
use crate::pieces::{PieceOutcome, Pieces};
use crate::warning::Warning;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::packed::{Stretch, Unpacking};
use tracemill_core::pieces::Chosen;
use tracemill_core::source::Source;

/// Bytes of heap for each event that is read by itself.
const EVENT: u64 = 64;
/// Bytes of heap that there are for those however small the budget is.
const LEAST: u64 = 8 << 20;

/// What is to be read, as far as an index says.
pub(super) enum Plan<T> {
    /// There is no index.
    None,
    /// It does not know enough, for this reason.
    Cannot(Unused),
    /// This, which has so many bytes of events.
    Known(T, u64),
}

impl<T> Plan<T> {
    /// The same with more beside it.
    pub(super) fn map<U>(self, more: impl FnOnce(T) -> U) -> Plan<U> {
        match self {
            Plan::None => Plan::None,
            Plan::Cannot(why) => Plan::Cannot(why),
            Plan::Known(known, bytes) => Plan::Known(more(known), bytes),
        }
    }
}

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

impl<T> Asked<T> {
    /// Of who read all of it.
    fn of_all(answer: T, unused: Option<Unused>) -> Self {
        Asked { answer, used: None, unused: unused.map(Unused::text), warning: None }
    }
}

/// A run over `sources` that reads what their index says is needed, or all of it.
///
/// # Errors
/// Those of a run; also if an index was named and is not that of the one input.
pub(super) fn run<P, T>(
    sources: &[Source],
    config: &Config,
    ask: impl FnOnce(Opened<'_, '_, '_>) -> Result<Plan<P>, String>,
    of_pieces: impl FnOnce(&Source, P) -> Result<PieceOutcome<T>, Error>,
    of_all: impl FnOnce() -> Result<T, Error>,
) -> Result<Asked<T>, Error> {
    let (Some(candidate), [source]) = (Candidate::of(sources, config)?, sources) else {
        return of_all().map(|answer| Asked::of_all(answer, unused_of_several(sources, config)));
    };
    let unused = |of_all: T, why| Ok(Asked::of_all(of_all, why));
    let problem = match plan(&candidate, config, ask) {
        Ok(Plan::None) => return unused(of_all()?, None),
        Ok(Plan::Cannot(why)) => return unused(of_all()?, Some(why)),
        Err(problem) => problem,
        Ok(Plan::Known(known, bytes)) => {
            let tried = of_pieces(source, known)?;
            if let PieceOutcome::Done(answer) = tried {
                let used = Some((candidate.index, bytes));
                return Ok(Asked { answer, used, unused: None, warning: None });
            }
            config.progress.bytes_scanned.store(0, Ordering::Relaxed);
            if let PieceOutcome::Cannot(why) = tried {
                return unused(of_all()?, Some(why));
            }
            "the trace holds something else than the index says".to_owned()
        }
    };
    if candidate.is_named {
        return Err(candidate.refused(problem));
    }
    let answer = of_all()?;
    let warning = Some(candidate.unused(problem));
    Ok(Asked { answer, used: None, unused: None, warning })
}

/// What an index says of a trace that may be read in pieces.
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
) -> Result<Plan<Pieces>, String> {
    if !granules.are_in_order() {
        return Err("its places are not in order".to_owned());
    }
    let Granules { pieces, read, bytes, .. } = granules;
    if bytes > report.bytes / 2 {
        return Ok(Plan::Cannot(Unused::Most));
    }
    let packed = lookup.packed.as_ref();
    let unpacked = packed.map(|packed| packed.unpacking(&pieces, report.bytes));
    if unpacked.as_ref().is_some_and(|own| text_of(own) > report.bytes / 2) {
        return Ok(Plan::Cannot(Unused::Most));
    }
    let chosen = Chosen { pieces, unpacked };
    Ok(Plan::Known(Pieces { chosen, read, report }, bytes))
}

/// Returns the number of bytes of text that are unpacked.
pub(super) fn text_of(unpacking: &Unpacking) -> u64 {
    unpacking.stretches.iter().map(Stretch::bytes).sum()
}

/// Asks an index what is to be read; an error says why it is none of the trace.
fn plan<T>(
    candidate: &Candidate,
    config: &Config,
    ask: impl FnOnce(Opened<'_, '_, '_>) -> Result<Plan<T>, String>,
) -> Result<Plan<T>, String> {
    if config.strict {
        candidate.check()?;
        let there = candidate.index.is_file();
        return Ok(if there { Plan::Cannot(Unused::Strict) } else { Plan::None });
    }
    let Some(bytes) = candidate.map()? else { return Ok(Plan::None) };
    let Some((index, meta)) = candidate.open(&bytes)? else {
        return Ok(Plan::Cannot(Unused::Copied));
    };
    let Some(input) = meta.input("") else { return Ok(Plan::None) };
    let restarts = packed::restarts(&index).map_err(|error| error.to_string())?;
    if input.encoding.is_some() && restarts.is_none() {
        return Ok(Plan::Cannot(Unused::Packed));
    }
    let Some(of_windows) = &meta.windows else {
        return Ok(Plan::Cannot(Unused::NoRoom));
    };
    if !of_windows.is_one_list {
        return Ok(Plan::Cannot(Unused::Tied));
    }
    if input.lost() > 0 || of_windows.has_lapses {
        return Ok(Plan::Cannot(Unused::Damaged));
    }
    let lookup = Lookup::new(&index, input.bytes, restarts).map_err(|error| error.to_string())?;
    let Some(lookup) = &lookup else { return Ok(Plan::Cannot(Unused::NoRoom)) };
    ask(Opened { lookup, of_windows, input })
}

/// Whether so many events are too many to be read by themselves.
pub(super) fn are_too_many(events: usize, config: &Config) -> bool {
    events as u64 * EVENT > (config.memory / 8).max(LEAST)
}
