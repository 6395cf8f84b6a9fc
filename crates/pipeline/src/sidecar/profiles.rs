//! CPU profiles by an index: only their events are read.
//!
//! ```text
//!   STREAMS, STREAM_EVENTS ─ all events of all CPU profiles ──┐
//!   PLACES ─ metadata, which has names ───────────────────────┼─> profile list, profile extract
//!   head and tail ─ keys beside the events (when recorded) ───┘
//! ```
//!
//! What was read must have the checksums of the index; else the trace is read as if there were none.

use super::plan::{Asked, Opened, are_too_many, pieces_of, run};
use crate::config::Config;
use crate::inputs::scan;
use crate::pieces::{Pieces, Stop, Unused};
use tracemill_core::error::Error;
use tracemill_core::observe::{Nothing, Scanned};
use tracemill_core::source::Source;
use tracemill_profile::Collector;

/// Reads the CPU profiles of `sources`.
pub(crate) fn profiles(
    sources: &[Source],
    config: &Config,
) -> Result<Asked<Scanned<Nothing, Collector>>, Error> {
    run(
        sources,
        config,
        |opened| pieces(opened, config),
        |source, pieces| {
            let read = pieces.read(source, Nothing, Collector::new(config), config)?;
            Ok(read.ok_or_else(Stop::changed))
        },
        || scan(sources, config, Nothing, Collector::new(config)),
    )
}

/// What is to be read, and its bytes of events.
fn pieces(
    Opened { lookup, of_windows, input }: Opened<'_, '_, '_>,
    config: &Config,
) -> Result<(Pieces, u64), Stop> {
    let mut events = Vec::new();
    if of_windows.has_profiles {
        events = lookup.profiles()?.ok_or(Unused::NoRoom)?;
    }
    if are_too_many(events.len(), config) {
        return Err(Unused::NoRoom.into());
    }
    // no granule: events of profiles and names stand by themselves
    let nothing = i64::MIN..i64::MIN;
    pieces_of(lookup, lookup.pieces(&nothing, events)?, input)
}
