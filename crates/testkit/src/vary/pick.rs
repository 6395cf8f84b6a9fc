//! Chooses the event to change.

use crate::Rng;
use serde_json::Value;

/// Returns the index of a random event for which `fits` is true, if there is such an event.
pub(super) fn one_of(
    rng: &mut Rng,
    events: &[Value],
    fits: impl Fn(&Value) -> bool,
) -> Option<usize> {
    let all: Vec<usize> = (0..events.len()).filter(|&at| fits(&events[at])).collect();
    (!all.is_empty()).then(|| all[rng.index(all.len())])
}
