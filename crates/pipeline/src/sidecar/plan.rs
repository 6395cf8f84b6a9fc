//! What an index that is asked where things lie is good for.

use super::chosen::Candidate;
use super::lookup::Lookup;
use super::meta::WindowsMeta;
use crate::config::Config;
use tracemill_core::losses::InputReport;

/// Bytes of heap for each event that is read by itself.
const EVENT: u64 = 64;
/// Bytes of heap that there are for those however small the budget is.
const LEAST: u64 = 8 << 20;

/// What is to be read, as far as an index says.
pub(super) enum Plan<T> {
    /// There is no index.
    None,
    /// It does not know enough, for this reason.
    Cannot(&'static str),
    /// This.
    Known(T),
}

/// What an index says of a trace that may be read in pieces.
pub(super) struct Opened<'l, 'i, 'b> {
    pub(super) lookup: &'l Lookup<'i, 'b>,
    pub(super) of_windows: &'l WindowsMeta,
    /// The report of the trace, as if all was read.
    pub(super) input: InputReport,
}

/// Asks an index what is to be read; an error says why it is none of the trace.
pub(super) fn plan<T>(
    candidate: &Candidate,
    config: &Config,
    ask: impl FnOnce(Opened<'_, '_, '_>) -> Result<Plan<T>, String>,
) -> Result<Plan<T>, String> {
    if config.strict {
        candidate.check()?;
        let there = candidate.index.is_file();
        return Ok(if there {
            Plan::Cannot("a strict run looks at every byte")
        } else {
            Plan::None
        });
    }
    let Some(bytes) = candidate.map()? else { return Ok(Plan::None) };
    let Some((index, meta)) = candidate.open(&bytes)? else {
        return Ok(Plan::Cannot("the trace was written to since, or is a copy"));
    };
    let Some(input) = meta.input("") else { return Ok(Plan::None) };
    let Some(of_windows) = &meta.windows else {
        return Ok(Plan::Cannot("its list of long events is missing"));
    };
    if input.lost() > 0 || of_windows.has_lapses {
        return Ok(Plan::Cannot("the trace is damaged, or not JSON to the letter"));
    }
    if input.encoding.is_some() {
        return Ok(Plan::Cannot("the trace is packed"));
    }
    let lookup = Lookup::new(&index, input.bytes).map_err(|error| error.to_string())?;
    let Some(lookup) = &lookup else {
        return Ok(Plan::Cannot("it does not say where the events begin and end"));
    };
    ask(Opened { lookup, of_windows, input })
}

/// Why so many events are not read by themselves.
pub(super) fn too_many(events: usize, config: &Config) -> Option<&'static str> {
    let room = (config.memory / 8).max(LEAST);
    (events as u64 * EVENT > room).then_some("what is read event by event has no room in memory")
}
