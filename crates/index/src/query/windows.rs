//! Plans which byte ranges windows of time need.
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
use super::ranges::query_ranges;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{BASE, Planned, Unused, WindowPlan};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::time::windows::{Edges, TimeWindow, Windows};

/// Returns what windows need of `sources`, if that is one input whose index says so.
///
/// # Errors
/// [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if the user named an index that is not that of the
/// input.
pub(crate) fn window_plan(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    config: &Config,
) -> Result<Planned<WindowPlan>, Error> {
    query_ranges(sources, config, |input, lookup| {
        let bounds = input.windows.known_bounds()?;
        // the scan reports what is wrong with windows
        let windows = Windows::of(windows, bounds).map_err(|_| Unused::Most)?;
        if windows.hold(bounds) {
            return Err(Unused::Most.into());
        }
        let look = input.windows.look_back();
        let after = if edges == Edges::Clip { 0 } else { look };
        let times = windows.begin().saturating_sub(look)..windows.end().saturating_add(after);
        let mut long_pairs = HashMap::default();
        let mut events = lookup.spans(&times, edges, &mut long_pairs)?.ok_or(Unused::Tied)?;
        let (mut streams, mut chunks) = (HashSet::default(), None);
        if input.windows.has_profiles {
            let wanted = chunks::wanted(lookup, &windows, edges, BASE, &config.limits)?;
            (streams, chunks) = (wanted.first, Some(Arc::new(wanted.known)));
            events.extend(wanted.events);
        }
        let mut read = input.small_plan(lookup, &times, events, &config.limits)?;
        read.report.span = Some((bounds.first, bounds.last));
        let only_by_name = input.windows.has_crossings;
        Ok(WindowPlan { read, bounds, windows, times, long_pairs, streams, chunks, only_by_name })
    })
}
