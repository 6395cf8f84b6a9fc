//! Which event a change is of.

use crate::Rng;
use serde_json::Value;

/// One of the events that fit, if any does.
pub(super) fn one_of(
    rng: &mut Rng,
    events: &[Value],
    fits: impl Fn(&Value) -> bool,
) -> Option<usize> {
    let all: Vec<usize> = (0..events.len()).filter(|&at| fits(&events[at])).collect();
    (!all.is_empty()).then(|| all[rng.index(all.len())])
}
