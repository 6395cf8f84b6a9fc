//! Computes the output order. Chunks of CPU profile streams are delayed so that they follow their
//! predecessors.

use std::cmp::Reverse;

use super::decimal::Decimal;
use super::profile::{self, Chunk};
use super::read::{Fields, is_string};
use super::time;

/// Sort key: metadata, then untimed events, then by time, longer events first. The sort is stable,
/// so input order breaks ties.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SortKey {
    Metadata,
    Timeless,
    /// Timed event; both values in attoseconds.
    At {
        ts: i128,
        dur: Reverse<i128>,
    },
}

impl SortKey {
    pub(super) fn of(event: &Fields<'_>) -> Self {
        if event.get("ph").is_some_and(|ph| is_string(ph, "M")) {
            return Self::Metadata;
        }
        let Some(ts) = event.get("ts").and_then(time) else {
            return Self::Timeless;
        };
        let dur = event.get("dur").and_then(time).unwrap_or_else(Decimal::zero);
        Self::At { ts: ts.attos(), dur: Reverse(dur.attos()) }
    }
}

pub(super) struct OutputOrder {
    pub(super) events: Vec<usize>,
    pub(super) inconsistent_profiles: usize,
    pub(super) delayed_chunks: usize,
}

/// Returns the output order of `events`, which are given in input order.
pub(super) fn output_order(events: &[&str]) -> OutputOrder {
    let fields: Vec<Fields<'_>> =
        events.iter().map(|event| Fields::parse(event).unwrap_or_default()).collect();
    let keys: Vec<SortKey> = fields.iter().map(SortKey::of).collect();
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by(|&a, &b| keys[a].cmp(&keys[b]));
    let mut rank = vec![0; events.len()];
    for (place, &event) in order.iter().enumerate() {
        rank[event] = place;
    }

    let mut follows: Vec<Vec<usize>> = vec![Vec::new(); events.len()];
    let mut delayed = vec![false; events.len()];
    let mut inconsistent = 0;
    for stream in profile::streams(&fields) {
        match decide(&stream, &rank) {
            OrderDecision::Sorted => {}
            OrderDecision::SortedAnyway => inconsistent += 1,
            OrderDecision::Input => {
                // the latest chunk so far, in sort order: a chunk that sorts earlier is written
                // after this chunk
                let mut anchor = stream[0].event;
                for chunk in &stream {
                    if rank[chunk.event] < rank[anchor] {
                        delayed[chunk.event] = true;
                        follows[anchor].push(chunk.event);
                    } else {
                        anchor = chunk.event;
                    }
                }
            }
        }
    }

    let mut output = Vec::with_capacity(events.len());
    for event in order.into_iter().filter(|&event| !delayed[event]) {
        output.push(event);
        output.append(&mut follows[event]);
    }
    let delayed_chunks = delayed.into_iter().filter(|&delayed| delayed).count();
    OutputOrder { events: output, inconsistent_profiles: inconsistent, delayed_chunks }
}

pub(super) enum OrderDecision {
    Sorted,
    Input,
    SortedAnyway,
}

pub(super) fn decide(stream: &[Chunk], rank: &[usize]) -> OrderDecision {
    let mut sorted: Vec<&Chunk> = stream.iter().collect();
    sorted.sort_by_key(|chunk| rank[chunk.event]);
    if sorted.iter().zip(stream).all(|(a, b)| a.event == b.event) || profile::is_consistent(sorted)
    {
        OrderDecision::Sorted
    } else if profile::is_consistent(stream) {
        OrderDecision::Input
    } else {
        OrderDecision::SortedAnyway
    }
}
