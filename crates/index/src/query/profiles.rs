//! Plans which events to read for CPU profiles.
//!
//! ```text
//!   STREAMS, STREAM_EVENTS ─ all events of all CPU profiles ──┐
//!   PLACES ─ metadata events, for names ──────────────────────┼─> profile list, profile extract
//!   head and tail ─ top-level keys (when recorded) ───────────┘
//! ```
//!
//! All bytes that are read must match the checksums of the index. Otherwise the trace is scanned.

use super::ranges::query_ranges;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{Planned, ReadPlan, Unused};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;

/// Plans the byte ranges of `sources` to read for CPU profiles, by the index of the only input.
///
/// # Errors
/// Returns [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if a named index does
/// not match the input.
pub(crate) fn profile_plan(
    sources: &[Source],
    config: &Config,
) -> Result<Planned<ReadPlan>, Error> {
    query_ranges(sources, config, |input, lookup| {
        let events = match input.windows.has_profiles {
            true => lookup.profiles()?.ok_or(Unused::NoRoom)?,
            false => Vec::new(),
        };
        // an empty time range: no blocks, only single events
        input.small_plan(lookup, &(i64::MIN..i64::MIN), events, &config.limits)
    })
}
