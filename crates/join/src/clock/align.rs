//! Computes clock offsets from base times, markers or sync events, and how well they fit.
//!
//! The *reference* is the first input with the data that the method needs; its times stay. Every
//! other input with such data is shifted as follows:
//!
//! | method | point of the input | is moved to this point of the reference |
//! |---|---|---|
//! | `start` | first event except metadata | first event except metadata |
//! | `base-time` | base time, a top-level key | the same time since 1970 |
//! | `marker` | i-th event with the name, in time | i-th event with the name, in time |
//! | `clock-sync` | event with a sync id | event with the same sync id |
//!
//! If the input and the reference share no sync id, a third input may connect the two.
//!
//! With several pairs, the offset is the median of their distances (the lower of two middle
//! distances). The *residual* is the largest remaining distance. If the inputs have different
//! numbers of markers, the alignment of consecutive markers with the smallest spread wins; among
//! equal spreads, the earliest.

use super::base::StatedClock;
use super::markers::{ClockSamples, UncertainTime};
use crate::config::Align;
use crate::report::ClockMethod;
use crate::report::warning::Warning;
use std::collections::BTreeMap;

/// Times at or above this value, in nanoseconds, are times since 1970.
pub(super) const SINCE_1970: i64 = 1_000_000_000_000_000_000;

/// Clock of an input, scaled but not shifted.
#[derive(Debug, Default)]
pub(super) struct InputClockFacts {
    pub(super) name: String,
    pub(super) span: Option<(i64, i64)>,
    pub(super) stated: StatedClock,
    pub(super) samples: ClockSamples,
    /// The offset given by the user, instead of a computed one.
    pub(super) given: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Alignment {
    pub(super) method: Option<ClockMethod>,
    /// Offset in nanoseconds. All fields are in nanoseconds, except `matches` and `drift`.
    pub(super) offset: i64,
    pub(super) matches: u64,
    pub(super) residual: Option<i64>,
    pub(super) uncertainty: Option<i64>,
    /// By how many parts per billion the clock is slow, if measurable.
    pub(super) drift: Option<i64>,
}

impl Alignment {
    fn reference(method: &ClockMethod) -> Self {
        Alignment { method: Some(method.clone()), ..Alignment::default() }
    }
}

pub(super) fn align(
    align: &Align,
    inputs: &mut [InputClockFacts],
) -> (Vec<Alignment>, Vec<Warning>) {
    let mut warnings = Vec::new();
    let found = match align {
        Align::None => vec![Alignment::default(); inputs.len()],
        Align::Start => by_start(inputs),
        Align::BaseTime => by_base(inputs, true, &mut warnings),
        Align::Marker(name) => by_marker(inputs, name, &mut warnings),
        Align::ClockSync => by_sync(inputs, &mut warnings),
        Align::Auto => {
            let based = inputs.iter().filter(|input| input.stated.base.is_some()).count();
            match based {
                0 | 1 => by_sync(inputs, &mut Vec::new()),
                _ => by_base(inputs, false, &mut warnings),
            }
        }
    };
    (anchored(found, inputs), warnings)
}

/// Applies the offsets that the user gave. An offset of the reference also moves all inputs that
/// are aligned with it.
fn anchored(mut found: Vec<Alignment>, inputs: &[InputClockFacts]) -> Vec<Alignment> {
    let reference = found.iter().position(|found| found.method.is_some());
    let anchor = reference.and_then(|reference| inputs[reference].given).unwrap_or(0);
    for (found, input) in found.iter_mut().zip(inputs) {
        match input.given {
            Some(offset) => {
                *found =
                    Alignment { offset, method: Some(ClockMethod::Given), ..Alignment::default() };
            }
            None if found.method.is_some() => found.offset = found.offset.saturating_add(anchor),
            None => {}
        }
    }
    found
}

/// Computes offsets that move each input's point to the first input's point.
fn by_points(
    method: &ClockMethod,
    points: &[Option<i64>],
    toward: impl Fn(i64, i64) -> Option<i64>,
) -> Vec<Alignment> {
    let first = points.iter().copied().flatten().next();
    let offset =
        |&point: &Option<i64>| first.zip(point).and_then(|(first, time)| toward(first, time));
    let found = |offset| Alignment { offset, ..Alignment::reference(method) };
    points.iter().map(|point| offset(point).map(found).unwrap_or_default()).collect()
}

fn by_start(inputs: &[InputClockFacts]) -> Vec<Alignment> {
    let points: Vec<_> = inputs.iter().map(|input| input.span.map(|(first, _)| first)).collect();
    by_points(&ClockMethod::Start, &points, |first, time| first.checked_sub(time))
}

fn by_base(
    inputs: &[InputClockFacts],
    demanded: bool,
    warnings: &mut Vec<Warning>,
) -> Vec<Alignment> {
    let mut points = Vec::new();
    let mut unit = 1;
    for input in inputs {
        let absolute = input.span.is_some_and(|(first, _)| first >= SINCE_1970);
        let stated = input.stated.base;
        if input.stated.several {
            warnings.push(Warning::SeveralBaseTimes(input.name.clone()));
        }
        if stated.is_none() && demanded && absolute {
            warnings.push(Warning::TakenAsSince1970(input.name.clone()));
        } else if stated.is_none() && demanded && input.span.is_some() && input.given.is_none() {
            warnings.push(left(input, "states no base time"));
        }
        unit = unit.max(stated.map_or(1, |base| base.unit));
        points.push(stated.map(|base| base.time).or((demanded && absolute).then_some(0)));
    }
    let method = ClockMethod::BaseTime;
    let mut found = by_points(&method, &points, |first, time| time.checked_sub(first));
    for found in found.iter_mut().filter(|found| found.method.is_some()) {
        found.uncertainty = Some(unit);
    }
    found
}

fn left(input: &InputClockFacts, why: &str) -> Warning {
    Warning::NotAligned { input: input.name.clone(), why: why.to_owned() }
}

fn by_marker(
    inputs: &mut [InputClockFacts],
    name: &str,
    warnings: &mut Vec<Warning>,
) -> Vec<Alignment> {
    let method = ClockMethod::Marker(name.to_owned());
    let mut reference: Option<(String, Vec<i64>, u64)> = None;
    let mut all = Vec::new();
    for input in inputs.iter_mut() {
        let (seen, times) = (input.samples.seen, input.samples.markers().to_vec());
        let mut found = Alignment::default();
        match &reference {
            _ if times.is_empty() => {
                if input.span.is_some() && input.given.is_none() {
                    warnings.push(left(input, &format!("has no event named {name}")));
                }
            }
            None => {
                found = Alignment { matches: times.len() as u64, ..Alignment::reference(&method) };
                reference = Some((input.name.clone(), times, seen));
            }
            Some((first, markers, many)) => {
                found = Alignment { method: Some(method.clone()), ..fit(&row(markers, &times)) };
                if *many != seen {
                    warnings.push(Warning::MarkersDiffer {
                        marker: name.to_owned(),
                        reference: (first.clone(), *many),
                        input: (input.name.clone(), seen),
                        matches: found.matches,
                    });
                }
            }
        }
        all.push(found);
    }
    if reference.is_some() && all.iter().filter(|found| found.method.is_some()).count() == 1 {
        warnings.push(Warning::OneMarker(name.to_owned()));
    }
    all
}

/// Pairs two lists of times at the lag with the smallest spread. Returns each time of the second
/// list, and its distance to the paired time of the first list.
fn row(first: &[i64], second: &[i64]) -> Vec<(i64, i64)> {
    let len = first.len().min(second.len());
    let surplus = first.len().max(second.len()) - len;
    let pairs = |lag: usize| {
        let (a, b) = if first.len() > second.len() { (lag, 0) } else { (0, lag) };
        let both = first[a..a + len].iter().zip(&second[b..b + len]);
        both.map(|(&first, &second)| (second, first.saturating_sub(second)))
    };
    let spread = |lag: &usize| {
        let (low, high) = pairs(*lag).fold((i64::MAX, i64::MIN), |(low, high), (_, distance)| {
            (low.min(distance), high.max(distance))
        });
        high.saturating_sub(low)
    };
    let lag = (0..=surplus).min_by_key(spread).unwrap_or(0);
    pairs(lag).collect()
}

/// Computes an alignment from pairs of a time and its distance. Needs at least one pair.
fn fit(pairs: &[(i64, i64)]) -> Alignment {
    let mut distances: Vec<i64> = pairs.iter().map(|&(_, distance)| distance).collect();
    distances.sort_unstable();
    let offset = distances[(distances.len() - 1) / 2];
    let (low, high) = (distances[0], distances[distances.len() - 1]);
    let several = distances.len() > 1;
    let residual = high.saturating_sub(offset).max(offset.saturating_sub(low));
    let spread = high.saturating_sub(low);
    Alignment {
        method: None,
        offset,
        matches: distances.len() as u64,
        residual: several.then_some(residual),
        uncertainty: several.then_some(spread / 2 + spread % 2),
        drift: drift(pairs),
    }
}

/// Returns the drift in parts per billion, or `None` unless the distances mostly grow or mostly
/// shrink.
fn drift(pairs: &[(i64, i64)]) -> Option<i64> {
    let [first, .., last] = pairs else { return None };
    let steps = pairs.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1).signum());
    let sum: i64 = steps.sum();
    // requires three of four steps in one direction; a single step proves nothing
    if pairs.len() < 4 || sum.unsigned_abs() as usize * 2 < pairs.len() {
        return None;
    }
    let (time, grown) =
        (i128::from(last.0) - i128::from(first.0), i128::from(last.1) - i128::from(first.1));
    let parts = (grown * 1_000_000_000).checked_div(time)?;
    i64::try_from(parts).ok().filter(|&parts| parts != 0)
}

fn by_sync(inputs: &[InputClockFacts], warnings: &mut Vec<Warning>) -> Vec<Alignment> {
    let method = Some(ClockMethod::ClockSync);
    let mut all = vec![Alignment::default(); inputs.len()];
    let has_syncs = |input: &InputClockFacts| !input.samples.syncs.is_empty();
    let Some(first) = inputs.iter().position(has_syncs) else {
        warnings.push(Warning::NothingToAlignBy(
            "no input has clock-sync events (ph c with a sync_id)".to_owned(),
        ));
        return all;
    };
    // times on the clock of the reference by sync id, as far as inputs are aligned
    let mut placed: BTreeMap<&[u8], UncertainTime> = BTreeMap::new();
    let mut waiting: Vec<usize> =
        (first..inputs.len()).filter(|&i| has_syncs(&inputs[i])).collect();
    all[first].method = method.clone();
    let mut next = Some(0);
    while let Some(at) = next {
        let number = waiting.remove(at);
        let syncs = &inputs[number].samples.syncs;
        if number != first {
            all[number] = Alignment { method: method.clone(), ..sync(syncs, &placed) };
        }
        let found = &all[number];
        for (id, moment) in syncs {
            let uncertainty = moment.uncertainty.saturating_add(found.uncertainty.unwrap_or(0));
            let time = moment.time.saturating_add(found.offset);
            placed.entry(id).or_insert(UncertainTime { time, uncertainty });
        }
        let shares = |&number: &usize| {
            inputs[number].samples.syncs.keys().any(|id| placed.contains_key(&**id))
        };
        next = waiting.iter().position(shares);
    }
    for &number in &waiting {
        warnings.push(left(&inputs[number], "shares no sync_id with the inputs before it"));
    }
    for input in inputs {
        if !has_syncs(input) && input.span.is_some() && input.given.is_none() {
            warnings.push(left(input, "has no clock-sync events"));
        }
    }
    if all.iter().filter(|found| found.method.is_some()).count() == 1 {
        all[first] = Alignment::default();
    }
    all
}

fn sync(
    syncs: &BTreeMap<Vec<u8>, UncertainTime>,
    placed: &BTreeMap<&[u8], UncertainTime>,
) -> Alignment {
    let shared = syncs.iter().filter_map(|(id, moment)| Some((moment, placed.get(&**id)?)));
    let mut pairs: Vec<(i64, i64)> = Vec::new();
    let mut uncertainty = i64::MAX;
    for (moment, other) in shared {
        pairs.push((moment.time, other.time.saturating_sub(moment.time)));
        uncertainty = uncertainty.min(moment.uncertainty.saturating_add(other.uncertainty));
    }
    pairs.sort_unstable();
    let found = fit(&pairs);
    let uncertainty = uncertainty.max(found.uncertainty.unwrap_or(0));
    Alignment { method: None, uncertainty: Some(uncertainty), ..found }
}
