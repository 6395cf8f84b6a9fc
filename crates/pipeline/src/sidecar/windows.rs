//! `slice` with an index: only what windows may need is read.
//!
//! ```text
//!             a − T        a            b                      T: look-back
//!   ────────────┼──────────┼────────────┼──────────────>
//!               └─ granules that touch ─┘                     all that began less than T before the window, or in it
//!   SPANS ├──────────────────────────────────────┤            the ends of what lasts longer and reaches in
//!   PLACES  ·            ·                          ·         what is kept wherever it stands
//! ```
//!
//! Ends of intervals in SPANS are paired by their places, all others among those that were read from a − T on. Which B an E closes is
//! then what it is in the whole trace, if in that every end closes the innermost begin, or every end with a name one of its own
//! name: of what is open when a short interval ends, what was opened behind its begin is read too. Several windows are read as one
//! from the first to the last. Where pairs stay whole (`--edges keep` and `drop`) T is read behind the window as well.
//!
//! What was read must have the checksums of the index; else the trace is read as if there were none.

use super::chosen::Candidate;
use super::lookup::{Granules, Lookup};
use super::meta::WindowsMeta;
use crate::config::Config;
use crate::slice::known::Known;
use crate::slice::{self, Job, SliceReport, Tried};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tracemill_core::bounds::Bounds;
use tracemill_core::error::Error;
use tracemill_core::losses::InputReport;
use tracemill_core::windows::{Edges, Windows};

/// See [`crate::slice()`]; for no viewer.
pub(crate) fn slice(job: Job<'_>, config: &Config) -> Result<SliceReport, Error> {
    job.check(config)?;
    let Some(candidate) = Candidate::of(job.sources, config) else {
        return slice::slice(job, config);
    };
    let problem = match plan(&candidate, &job, config) {
        Ok(Plan::None) => return slice::slice(job, config),
        Ok(Plan::Cannot(why)) => return slice_all(job, config, why),
        Ok(Plan::Known(known, bytes)) => {
            let tried = slice::slice_known(job, &Arc::new(*known), config)?;
            if let Tried::Written(mut report) = tried {
                report.index = Some((candidate.index, bytes));
                return Ok(*report);
            }
            config.progress.bytes_scanned.store(0, Ordering::Relaxed);
            if let Tried::Cannot(why) = tried {
                return slice_all(job, config, why);
            }
            "what it says of the trace is not what stands there".to_owned()
        }
        Err(problem) => problem,
    };
    if candidate.is_named {
        return Err(candidate.refused(problem));
    }
    let mut report = slice::slice(job, config)?;
    report.written.run.warnings.push(candidate.unused(problem));
    Ok(report)
}

/// Reads all; there is an index, but for this reason it is of no use.
fn slice_all(job: Job<'_>, config: &Config, why: &'static str) -> Result<SliceReport, Error> {
    let mut report = slice::slice(job, config)?;
    report.index_unused = Some(why);
    Ok(report)
}

/// What an index is good for.
enum Plan {
    /// There is none.
    None,
    /// It does not know enough, for this reason.
    Cannot(&'static str),
    /// So many bytes of granules are to be read.
    Known(Box<Known>, u64),
}

/// What is to be read; an error says why an index is none of the trace.
fn plan(candidate: &Candidate, job: &Job<'_>, config: &Config) -> Result<Plan, String> {
    if config.strict {
        let there = candidate.index.is_file();
        return Ok(if there { Plan::Cannot("--strict looks at every byte") } else { Plan::None });
    }
    let Some(bytes) = candidate.map()? else { return Ok(Plan::None) };
    let Some((index, meta)) = candidate.open(&bytes)? else {
        return Ok(Plan::Cannot("the trace was written to since, or is a copy"));
    };
    let Some(input) = meta.input("") else { return Ok(Plan::None) };
    let Some(of_windows) = &meta.windows else {
        return Ok(Plan::Cannot("it has no list of what lasts"));
    };
    if let Some(why) = refusal(of_windows, &input) {
        return Ok(Plan::Cannot(why));
    }
    let Some([start, first, last, end]) = of_windows.bounds else {
        return Ok(Plan::Cannot("the trace has no times"));
    };
    let bounds = Bounds { start, first, last, end };
    if first > last || last > end || start < first {
        return Err("it has bounds that no trace has".to_owned());
    }
    // who reads all of it tells what is wrong with them
    let Ok(windows) = Windows::of(job.windows, bounds) else {
        return Ok(Plan::Cannot("the windows are none"));
    };
    if windows.hold(bounds) {
        return Ok(Plan::Cannot("all of the trace is wanted"));
    }
    let lookup = Lookup::new(&index, input.bytes);
    let lookup = lookup.map_err(|error| error.to_string())?;
    let Some(lookup) = lookup else {
        return Ok(Plan::Cannot("it does not know where the events begin and end"));
    };
    let look = 1_i64.checked_shl(of_windows.level).filter(|look| *look > 0).unwrap_or(i64::MAX);
    let behind = if job.edges == Edges::Clip { 0 } else { look };
    let seen = windows.begin().saturating_sub(look)..windows.end().saturating_add(behind);
    let mut apart = HashMap::new();
    let events = lookup.spans(&seen, job.edges, &mut apart).map_err(|error| error.to_string())?;
    let Some(events) = events else {
        return Ok(Plan::Cannot("flows with several steps stay whole"));
    };
    let granules = lookup.pieces(&seen, events).map_err(|error| error.to_string())?;
    if !granules.are_in_order() {
        return Err("places that are not in order".to_owned());
    }
    let Granules { pieces, read, bytes, .. } = granules;
    if bytes > input.bytes / 2 {
        return Ok(Plan::Cannot("most of the trace is wanted"));
    }
    let report = InputReport { span: Some((first, last)), ..input };
    let only_by_name = of_windows.has_crossings;
    let known = Known { bounds, windows, pieces, read, report, seen, apart, only_by_name };
    Ok(Plan::Known(Box::new(known), bytes))
}

/// Why windows of a trace cannot be read by themselves.
fn refusal(windows: &WindowsMeta, input: &InputReport) -> Option<&'static str> {
    if input.lost() > 0 || windows.has_lapses {
        return Some("the trace is damaged, or not JSON to the letter");
    }
    if input.encoding.is_some() {
        return Some("the trace is packed");
    }
    if windows.has_profiles {
        return Some("the trace has CPU profiles");
    }
    if windows.has_crossings && windows.has_strangers {
        return Some("ends close begins of other names, around others that are open");
    }
    None
}
