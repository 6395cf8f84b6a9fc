//! What an excerpt of a trace reads of its CPU profiles.

use super::chunks::{self, Need, WantedStreams};
use super::lookup::Single;
use super::plan::Opened;
use crate::config::Config;
use crate::pieces::KnownSamples;
use std::sync::Arc;
use tracemill_index::IndexError;

/// What is read of CPU profiles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Profiles {
    /// Their first events, if any must be read as a whole.
    Probe,
    /// What is needed of each.
    Needed,
    /// All of each.
    Whole,
}

/// What an excerpt reads of CPU profiles.
#[derive(Default)]
pub(super) struct OfProfiles {
    pub(super) is_probe: bool,
    /// Their events that are read wherever they stand.
    pub(super) events: Vec<Single>,
    pub(super) chunks: Option<KnownSamples>,
}

/// What is read of them for samples `around` some nanoseconds. `None` if the index has no list of them.
pub(super) fn of_profiles(
    Opened { lookup, bytes, of_windows, .. }: &Opened<'_, '_, '_>,
    profiles: Profiles,
    around: (i64, i64),
    config: &Config,
) -> Result<Option<OfProfiles>, String> {
    if !of_windows.has_profiles {
        return Ok(Some(OfProfiles::default()));
    }
    let events = |events: Result<Option<Vec<Single>>, IndexError>| {
        let events = events.map_err(|error| error.to_string())?;
        Ok::<_, String>(events.map(|events| OfProfiles { events, ..OfProfiles::default() }))
    };
    if profiles == Profiles::Whole {
        return events(lookup.profiles(|_, _| true));
    }
    let wanted = chunks::wanted((lookup, bytes), Need::Samples, 0, config)?;
    let Some(WantedStreams { events: own, known, has_whole, .. }) = wanted else {
        return Ok(None);
    };
    if has_whole && profiles == Profiles::Probe {
        let begins = events(lookup.begins_of_profiles())?;
        return Ok(begins.map(|own| OfProfiles { is_probe: true, ..own }));
    }
    let chunks = KnownSamples { chunks: Arc::new(known), around };
    Ok(Some(OfProfiles { is_probe: false, events: own, chunks: Some(chunks) }))
}

/// First and last nanosecond around which samples are wanted for a window: where all events before it, or behind it, are read, so are all samples.
pub(super) fn samples_of(
    (a, b): (i64, i64),
    (reach, ahead): (i64, i64),
    (least, greatest): (i64, i64),
) -> (i64, i64) {
    let (from, to) = (a.saturating_sub(reach), b.saturating_add(ahead));
    (if from <= least { i64::MIN } else { from }, if to >= greatest { i64::MAX } else { to })
}
