//! Finds the times of losses. Lost bytes have no time, but the nearest events have one.

use crate::tracks::record::NO_PLACE;
use serde_json::{Value, json};
use tracemill_tokenizer::DamageKind;
use tracemill_trace::run::losses::{Example, InputReport};

pub(crate) struct Damaged {
    kind: DamageKind,
    input: (usize, String),
    example: Example,
    /// Time of the last event before the loss in the same input. If there is none, time of the
    /// first event after the loss.
    at: Option<i64>,
}

pub(crate) type NearEvent = (u64, i64);

/// Returns the offsets of the losses in all inputs, in ascending order.
pub(crate) fn places(inputs: &[InputReport]) -> Vec<u64> {
    let losses = inputs.iter().flat_map(|report| report.losses.iter());
    let examples = losses.flat_map(|(_, tally)| &tally.examples);
    let mut all: Vec<u64> = examples.map(|example| example.offset).collect();
    all.sort_unstable();
    all
}

/// Returns examples of the losses of each kind in each input, with their times. `begins` has the
/// offset at which each input begins. `events` has the drawn events in any order. Cost: one pass
/// over `events` if there are losses.
pub(crate) fn find(
    inputs: &[InputReport],
    begins: &[Option<u64>],
    events: impl Iterator<Item = NearEvent>,
) -> Vec<Damaged> {
    let begin_of = |input: usize| begins.get(input).copied().flatten().unwrap_or(NO_PLACE);
    let mut all: Vec<(u64, Damaged)> = Vec::new();
    for (input, report) in inputs.iter().enumerate() {
        for (kind, tally) in report.losses.iter() {
            for example in tally.examples.iter().cloned() {
                let place = begin_of(input).saturating_add(example.offset);
                let damaged =
                    Damaged { kind, input: (input, report.name.clone()), example, at: None };
                all.push((place, damaged));
            }
        }
    }
    if all.is_empty() {
        return Vec::new();
    }
    all.sort_by_key(|(place, _)| *place);
    let places: Vec<u64> = all.iter().map(|(place, _)| *place).collect();
    let (before, behind) = around(&places, events);
    // for each input, the offset at which the next input with events begins
    let mut ends = vec![NO_PLACE; inputs.len()];
    for input in (1..inputs.len()).rev() {
        ends[input - 1] = ends[input].min(begin_of(input));
    }
    for (at, (_, damaged)) in all.iter_mut().enumerate() {
        let input = damaged.input.0;
        let before = before[at].filter(|event| event.0 >= begin_of(input));
        let behind = behind[at].filter(|event| event.0 < ends[input]);
        damaged.at = before.or(behind).map(|event| event.1);
    }
    all.into_iter().map(|(_, damaged)| damaged).collect()
}

/// Returns, for each of the ascending `places`, the last event before it and the first event after
/// it.
fn around(
    places: &[u64],
    events: impl Iterator<Item = NearEvent>,
) -> (Vec<Option<NearEvent>>, Vec<Option<NearEvent>>) {
    let (mut before, mut behind) = (vec![None; places.len()], vec![None; places.len()]);
    for event in events {
        let next = places.partition_point(|place| *place <= event.0);
        if let Some(last) = before.get_mut(next) {
            *last = (*last).max(Some(event));
        }
        if let Some(first) = next.checked_sub(1).map(|place| &mut behind[place]) {
            *first = first.map_or(Some(event), |first: NearEvent| Some(first.min(event)));
        }
    }
    for at in 1..places.len() {
        before[at] = before[at].or(before[at - 1]);
    }
    for at in (1..places.len()).rev() {
        behind[at - 1] = behind[at - 1].or(behind[at]);
    }
    (before, behind)
}

impl Damaged {
    pub(crate) fn json(&self, since_start: impl Fn(i64) -> f64) -> Value {
        let Example { offset, bytes, excerpt, .. } = &self.example;
        json!({
            "kind": self.kind.name(),
            "sentence": self.kind.sentence(),
            "input": self.input.1,
            "offset": offset,
            "bytes": bytes,
            "excerpt": excerpt,
            "at": self.at.map(since_start),
        })
    }
}
