//! Computes the index that an event will have in the output: the number of events written before
//! it.
//!
//! ```text
//!   lists (in their order) ─┬─> row without ─┬─> - delayed chunks and dropped events before it
//!   timed: by binary search ┘   delays       └─> + chunks inserted before it
//!           in every run
//! ```
//!
//! Reads only the requested events and their neighbours with the same time.

use crate::emit::OrderedEvents;
use crate::reordering::Reordering;
use std::collections::BTreeMap;
use tracemill_trace::order::Order;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::store::entry::Entry;

/// Returns the output index of each `wanted` event that will be written, by offset.
///
/// Cost: a pass over the events that are not sorted by time, and a binary search in each run per
/// event.
pub(super) fn indices(emit: &OrderedEvents<'_, '_, '_>, wanted: &[Entry]) -> HashMap<u64, u64> {
    let delays = &emit.delays;
    if delays.is_empty() {
        return rows(emit, wanted.iter().copied());
    }
    let moved = DelayedEvents::of(delays, emit.order);
    let rows = rows(emit, wanted.iter().chain(&moved.all).copied());
    let row = |offset: u64| rows.get(&offset).copied();
    let mut gone: Vec<u64> = delays.gone().filter_map(row).collect();
    gone.sort_unstable();
    let mut put: Vec<u64> = delays.after().filter_map(|(offset, _)| row(offset)).collect();
    put.sort_unstable();
    let index = |row: u64| {
        let more = put.partition_point(|&put| put < row) as u64;
        row + more - gone.partition_point(|&gone| gone < row) as u64
    };
    let mut indices = HashMap::default();
    for entry in wanted {
        let offset = entry.place.offset();
        if let Some(&(before, number)) = moved.waits.get(&offset) {
            indices.extend(row(before).map(|row| (offset, index(row) + 1 + number)));
        } else if !delays.is_gone(offset) {
            indices.extend(row(offset).map(|row| (offset, index(row))));
        }
    }
    indices
}

/// Events that are delayed, left out, or followed by a delayed chunk.
struct DelayedEvents {
    all: Vec<Entry>,
    /// For each delayed chunk: the offset of the event that the chunk follows, and the index of the
    /// chunk among all chunks that follow this event.
    waits: HashMap<u64, (u64, u64)>,
}

impl DelayedEvents {
    fn of(delays: &Reordering, order: Order<'_, '_>) -> Self {
        let (mut waits, mut last) = (HashMap::default(), (u64::MAX, 0));
        for (offset, place) in delays.after() {
            let number = if last.0 == offset { last.1 + 1 } else { 0 };
            last = (offset, number);
            waits.insert(place.offset(), last);
        }
        let offsets = delays.gone().chain(delays.after().map(|(offset, _)| offset));
        DelayedEvents { all: offsets.map(|offset| order.entry_at(offset)).collect(), waits }
    }
}

/// Returns the index that each event would have if no event were delayed or left out.
fn rows(
    emit: &OrderedEvents<'_, '_, '_>,
    wanted: impl Iterator<Item = Entry>,
) -> HashMap<u64, u64> {
    let mut by_time: BTreeMap<i64, Vec<Entry>> = BTreeMap::new();
    let mut offsets = Vec::new();
    for entry in wanted {
        offsets.push(entry.place.offset());
        by_time.entry(entry.time).or_default().push(entry);
    }
    offsets.sort_unstable();
    let (mut rows, listed) = in_lists(emit, &offsets);
    let runs = emit.timed.runs();
    for (time, wanted) in by_time {
        let before: usize = runs.iter().map(|run| run.before(time)).sum();
        let mut same: Vec<Entry> = runs.iter().flat_map(|run| run.at_time(time)).collect();
        same.sort_unstable();
        emit.order.resolve_ties(&mut same);
        let numbers = (listed + before as u64..).zip(&same);
        let numbers: HashMap<u64, u64> =
            numbers.map(|(number, entry)| (entry.place.offset(), number)).collect();
        let found = wanted.iter().map(|entry| entry.place.offset());
        rows.extend(found.filter_map(|offset| Some((offset, *numbers.get(&offset)?))));
    }
    rows
}

/// Returns the indices of those `offsets` (sorted) that are in the lists, and the length of the
/// lists.
fn in_lists(emit: &OrderedEvents<'_, '_, '_>, offsets: &[u64]) -> (HashMap<u64, u64>, u64) {
    let (mut rows, mut len, mut next, mut last) = (HashMap::default(), 0, 0, 0);
    for place in emit.lists.iter() {
        let offset = place.offset();
        // the second list begins here
        next = if offset < last { 0 } else { next };
        last = offset;
        while offsets.get(next).is_some_and(|&wanted| wanted < offset) {
            next += 1;
        }
        if offsets.get(next) == Some(&offset) {
            rows.insert(offset, len);
        }
        len += 1;
    }
    (rows, len)
}
