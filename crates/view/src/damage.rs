//! Where inputs are damaged or cut off, as times of the trace: bytes that were lost have none, but the events around them do.

use crate::model::{Model, NO_PLACE};
use serde_json::{Value, json};
use tracemill_core::losses::Example;
use tracemill_tokenizer::DamageKind;

/// A place where something was lost.
pub(crate) struct Damaged {
    kind: DamageKind,
    /// The number of its input, and the name of that.
    input: (usize, String),
    example: Example,
    /// The time of the last event before it in its input, else of the first behind it; nothing if its input has none.
    at: Option<i64>,
}

/// An event by its place, with its time.
type Event = Option<(u64, i64)>;

/// The first few places of each kind in each input, in the order of the inputs. Cost: a look at each event, if there is damage.
pub(crate) fn find(model: &Model) -> Vec<Damaged> {
    let begins = model.begins();
    let mut all: Vec<(u64, Damaged)> = Vec::new();
    for (input, report) in model.inputs().iter().enumerate() {
        let begin = begins.get(input).copied().flatten();
        for (kind, tally) in report.losses.iter() {
            for example in tally.examples.iter().cloned() {
                let place = begin.unwrap_or(NO_PLACE).saturating_add(example.offset);
                let damaged =
                    Damaged { kind, input: (input, report.name.clone()), example, at: None };
                all.push((place, damaged));
            }
        }
    }
    all.sort_by_key(|(place, _)| *place);
    let places: Vec<u64> = all.iter().map(|(place, _)| *place).collect();
    // between two places the first and the last event
    let mut between: Vec<(Event, Event)> = vec![(None, None); places.len() + 1];
    let lanes = model.lanes.iter().filter(|_| !places.is_empty());
    for track in lanes.flat_map(|lane| &lane.tracks) {
        for span in model.tracks.of(track.spans.clone()).filter(|span| span.place != NO_PLACE) {
            let own = (span.place, span.start);
            let (first, last) = &mut between[places.partition_point(|place| *place <= own.0)];
            *first = first.map_or(Some(own), |first| Some(first.min(own)));
            *last = (*last).max(Some(own));
        }
    }
    let begin_of = |input: usize| begins.get(input).copied().flatten().unwrap_or(NO_PLACE);
    for (at, (_, damaged)) in all.iter_mut().enumerate() {
        let begin = begin_of(damaged.input.0);
        // where the next input begins
        let end = begins[damaged.input.0 + 1..].iter().flatten().min().copied().unwrap_or(NO_PLACE);
        let before = between[..=at].iter().rev().find_map(|own| own.1);
        let behind = between[at + 1..].iter().find_map(|own| own.0);
        let before = before.filter(|own| own.0 >= begin);
        damaged.at = before.or(behind.filter(|own| own.0 < end)).map(|own| own.1);
    }
    all.into_iter().map(|(_, damaged)| damaged).collect()
}

impl Damaged {
    /// As the page takes it.
    pub(crate) fn json(&self, model: &Model) -> Value {
        let Example { offset, bytes, excerpt, .. } = &self.example;
        json!({
            "kind": self.kind.name(),
            "sentence": self.kind.sentence(),
            "input": self.input.1,
            "offset": offset,
            "bytes": bytes,
            "excerpt": excerpt,
            "at": self.at.map(|at| model.since_start(at)),
        })
    }
}
