//! Computes the trace start by the documented rules.

use super::decimal::Decimal;
use super::read::{Fields, is_string};
use super::time::time;

/// Facts about a timed event, except metadata, that determine the start.
pub(super) struct Known {
    at_zero: bool,
    ns: i64,
    is_moment: bool,
}

pub(super) fn known(ph: Option<&str>, ts: Option<&str>, dur: Option<&str>) -> Option<Known> {
    let is = |letter: &str| ph.is_some_and(|ph| is_string(ph, letter));
    let ts = ts.and_then(time).filter(|_| !is("M"))?;
    let lasts = dur.and_then(time).is_some_and(|dur| dur != Decimal::zero());
    Some(Known {
        at_zero: ts == Decimal::zero(),
        ns: ts.nanos_floor(),
        is_moment: ["I", "i", "R", "X"].iter().any(|letter| is(letter)) && !lasts,
    })
}

pub(super) fn start_of(events: &[Known]) -> Option<i64> {
    let least = events.iter().map(|event| event.ns).min()?;
    let others = || events.iter().filter(|event| !event.at_zero).map(|event| event.ns);
    let (Some(first), Some(last)) = (others().min(), others().max()) else { return Some(least) };
    let only_moments = events.iter().all(|event| !event.at_zero || event.is_moment);
    let a_second = 1_000_000_000;
    let is_far = first >= a_second && i128::from(first) > i128::from(last) - i128::from(first);
    Some(if only_moments && is_far { first } else { least })
}

/// Returns the trace start of parsed events, like [`start_of`].
pub(super) fn start_of_fields<'f>(events: impl Iterator<Item = &'f Fields<'f>>) -> Option<i64> {
    let known =
        events.filter_map(|event| known(event.get("ph"), event.get("ts"), event.get("dur")));
    start_of(&known.collect::<Vec<_>>())
}
