//! Plans the byte ranges of a trace to read for windows of time.
//!
//! ```text
//!             a − T        a            b                   T: look-back
//!   ────────────┼──────────┼────────────┼──────────────>
//!               └─ overlapping blocks ──┘                   events that begin in [a − T, b)
//!   SPANS ├──────────────────────────────────────┤          both ends of long slices that overlap
//!   PLACES  ·            ·                          ·       events that every window needs
//!   STREAMS   ─       ─    ─ ─ ─ ─ ─                        events of CPU profiles in windows
//! ```
//!
//! A CPU profile is skipped if no event or sample is in a window. Otherwise its `Profile` events,
//! chunks with samples in windows, and chunks defining their nodes are read, or the whole stream
//! (see `chunks`).
//!
//! SPANS has the slices that are longer than T. Slices in SPANS are paired by offset. All other
//! slices are paired among the events read from a − T on. These pairs equal those of the whole
//! trace if in the whole trace every end event closes the innermost begin event, or a begin event
//! with the same name. Several windows are read as one range. With `--edges keep` and `drop`, the
//! range ends T after the window.
//!
//! All bytes that are read must match the checksums of the index. Otherwise the trace is scanned.

use super::chunks;
use super::ranges::query_ranges;
use std::sync::Arc;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{Planned, Unused, WindowPlan};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::time::windows::{Edges, TimeWindow, Windows};

/// Plans the byte ranges of `sources` to read for windows, by the index of the only input.
///
/// # Errors
/// Returns [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if a named index does
/// not match the input.
pub(crate) fn window_plan(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    config: &Config,
) -> Result<Planned<WindowPlan>, Error> {
    query_ranges(sources, config, |input, lookup| {
        let bounds = input.windows.known_bounds()?;
        // the scan reports invalid windows
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
            let wanted = chunks::wanted(lookup, &windows, edges, &input.source, &config.limits)?;
            (streams, chunks) = (wanted.first, Some(Arc::new(wanted.known)));
            events.extend(wanted.events);
        }
        let mut read = input.small_plan(lookup, &times, events, &config.limits)?;
        read.report.span = Some((bounds.first, bounds.last));
        let only_by_name = input.windows.has_crossings;
        Ok(WindowPlan { read, bounds, windows, times, long_pairs, streams, chunks, only_by_name })
    })
}
