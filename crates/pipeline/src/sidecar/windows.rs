//! `slice` with an index: only what windows may need is read.
//!
//! ```text
//!             a − T        a            b                      T: look-back
//!   ────────────┼──────────┼────────────┼──────────────>
//!               └─ granules that touch ─┘                     all that began less than T before the window, or in it
//!   SPANS ├──────────────────────────────────────┤            the ends of what lasts longer and reaches in
//!   PLACES  ·            ·                          ·         what is kept wherever it stands
//!   STREAMS   ─       ─    ─ ─ ─ ─ ─                          of CPU profiles with samples in the window what these need
//! ```
//!
//! Of a CPU profile nothing is read if no event or sample of it lies in a window; else its heads, chunks with samples in windows, and those
//! that define the nodes of these, if the index tells chunks apart; else all of it (see `chunks`).
//!
//! Ends of intervals in SPANS are paired by their places, all others among those that were read from a − T on. Which B an E closes is
//! then what it is in the whole trace, if in that every end closes the innermost begin, or every end with a name one of its own
//! name: of what is open when a short interval ends, what was opened behind its begin is read too. Several windows are read as one
//! from the first to the last. Where pairs stay whole (`--edges keep` and `drop`) T is read behind the window as well.
//!
//! What was read must have the checksums of the index; else the trace is read as if there were none.

use super::chunks;
use super::plan::{Asked, Opened, are_too_many, pieces_of, run};
use crate::config::Config;
use crate::pieces::{Stop, Unused};
use crate::slice::narrowed::{BASE, Narrowed};
use crate::slice::{self, SliceReport, SliceRun};
use std::sync::Arc;
use tracemill_core::error::Error;
use tracemill_core::hash::{HashMap, HashSet};
use tracemill_core::losses::InputReport;
use tracemill_core::windows::{Edges, Windows};

/// See [`crate::slice()`]; for no viewer.
pub(crate) fn slice(job: SliceRun<'_>, config: &Config) -> Result<SliceReport, Error> {
    job.check(config)?;
    // of chunks of CPU profiles it shows while they are read which are needed
    let mut chunks = 0;
    let asked = run(
        job.sources,
        config,
        |opened| known(opened, &job, config),
        |source, known| {
            let known = Arc::new(known);
            let sliced = slice::slice_known(job, source, &known, config);
            chunks = known.chunks.as_ref().map_or(0, |chunks| chunks.bytes_read());
            sliced
        },
        || slice::slice(job, config),
    )?;
    let Asked { answer: mut report, used, unused, warning } = asked;
    report.index = used.map(|(index, bytes)| (index, bytes + chunks));
    report.index_unused = unused;
    report.written.run.warnings.extend(warning);
    Ok(report)
}

/// What is to be read, and its bytes of events.
fn known(
    Opened { lookup, of_windows, input }: Opened<'_, '_, '_>,
    job: &SliceRun<'_>,
    config: &Config,
) -> Result<(Narrowed, u64), Stop> {
    let bounds = of_windows.known_bounds()?;
    // who reads all of it tells what is wrong with them
    let windows = Windows::of(job.windows, bounds).map_err(|_| Unused::Most)?;
    if windows.hold(bounds) {
        return Err(Unused::Most.into());
    }
    let look = of_windows.look_back();
    let behind = if job.edges == Edges::Clip { 0 } else { look };
    let seen = windows.begin().saturating_sub(look)..windows.end().saturating_add(behind);
    let mut apart = HashMap::default();
    let mut events = lookup.spans(&seen, job.edges, &mut apart)?.ok_or(Unused::Tied)?;
    let (mut streams, mut chunks) = (HashSet::default(), None);
    if of_windows.has_profiles {
        let wanted = chunks::wanted(lookup, (&windows, job.edges), BASE, config)?;
        (streams, chunks) = (wanted.first, Some(Arc::new(wanted.known)));
        events.extend(wanted.events);
    }
    if are_too_many(events.len(), config) {
        return Err(Unused::NoRoom.into());
    }
    let granules = lookup.pieces(&seen, events)?;
    let report = InputReport { span: Some((bounds.first, bounds.last)), ..input };
    let only_by_name = of_windows.has_crossings;
    let (pieces, bytes) = pieces_of(lookup, granules, report)?;
    let narrowed = Narrowed { bounds, windows, pieces, seen, apart, streams, chunks, only_by_name };
    Ok((narrowed, bytes))
}
