//! Plans which byte ranges CPU profiles need: only their events.
//!
//! ```text
//!   STREAMS, STREAM_EVENTS ─ all events of all CPU profiles ──┐
//!   PLACES ─ metadata, which has names ───────────────────────┼─> profile list, profile extract
//!   head and tail ─ keys beside the events (when recorded) ───┘
//! ```
//!
//! What was read must have the checksums of the index; else the trace is read as if there were none.

use super::ranges::query_ranges;
use tracemill_join::config::Config;
use tracemill_join::read_plan::{Planned, ReadPlan, Unused};
use tracemill_trace::input::source::Source;
use tracemill_trace::run::error::Error;

/// Returns what CPU profiles need of `sources`, if that is one input whose index says so.
///
/// # Errors
/// [`NotATrace`](tracemill_trace::run::error::ErrorKind::NotATrace) if the user named an index that is not that of the
/// input.
pub(crate) fn profile_plan(
    sources: &[Source],
    config: &Config,
) -> Result<Planned<ReadPlan>, Error> {
    query_ranges(sources, config, |input, lookup| {
        let events = match input.windows.has_profiles {
            true => lookup.profiles()?.ok_or(Unused::NoRoom)?,
            false => Vec::new(),
        };
        // no block: events of profiles and names are read one by one
        input.small_plan(lookup, &(i64::MIN..i64::MIN), events, &config.limits)
    })
}
