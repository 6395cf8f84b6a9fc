//! Searches events by name: the next one, and where all of them are.

use crate::model::Model;
use crate::tile::around::event;
use crate::tracks::flows::InLane;
use crate::tracks::record::Span;
use crate::tracks::{Grid, Track, Tracks};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tracemill_index::drawing::LaneKind;

/// Maximum number of intervals that are visited to number the matches.
const MOST: u64 = 8 << 20;

/// The order of events in searches: by start, offset, lane and row.
type Place = (i64, u64, usize, u16);

/// Start and direction of a search for the next event with a name.
#[derive(Clone, Copy)]
pub(crate) struct SearchStart {
    /// The time at which the search starts.
    pub(crate) at: i64,
    pub(crate) forwards: bool,
    /// The event after which the search starts, if several begin at this time.
    pub(crate) after: Option<AfterEvent>,
}

/// Offset, lane and row of an event.
#[derive(Clone, Copy)]
pub(crate) struct AfterEvent {
    pub(crate) place: u64,
    pub(crate) lane: usize,
    pub(crate) row: u16,
}

impl SearchStart {
    fn place(self) -> Option<Place> {
        self.after.map(|after| (self.at, after.place, after.lane, after.row))
    }

    /// Returns whether a search in this direction can find an event.
    pub(crate) fn precedes(self, place: Place) -> bool {
        match (self.place(), self.forwards) {
            (Some(after), true) => place > after,
            (Some(after), false) => place < after,
            (None, true) => place.0 >= self.at,
            (None, false) => place.0 <= self.at,
        }
    }

    /// Returns whether the search finds the first of two events before the second.
    pub(crate) fn prefers(self, first: Place, second: Place) -> bool {
        if self.forwards { first < second } else { first > second }
    }
}

/// Returns the numbers of names that contain a text and have intervals.
pub(crate) fn matching(model: &Model, text: &str) -> BTreeSet<u32> {
    let has_any = |name: &u32| model.sums.get(*name as usize).is_some_and(|sum| sum.count > 0);
    let mut found = model.names.holding(text);
    found.retain(has_any);
    found
}

fn drawn_rows(model: &Model) -> impl Iterator<Item = (usize, &Tracks, &Track)> {
    let lanes = model.lanes.iter().enumerate();
    let lanes = lanes.filter(|(_, lane)| lane.kind != LaneKind::Counter);
    lanes.flat_map(|(number, lane)| {
        let rows = model.rows_of(lane);
        lane.tracks.iter().map(move |track| (number, rows, track))
    })
}

/// Returns the nearest event after or before a time whose name contains a text. Cost: at most a
/// pass over all intervals.
pub(crate) fn find(
    model: &Model,
    text: &str,
    from: SearchStart,
    goes_on: &dyn Fn() -> bool,
) -> Option<Value> {
    let wanted = matching(model, text);
    let mut best: Option<(Place, InLane)> = None;
    for (number, rows, track) in drawn_rows(model).filter(|_| !wanted.is_empty()) {
        if !goes_on() {
            return None;
        }
        let (low, high) = match from.forwards {
            true => (from.at, i64::MAX),
            false => (i64::MIN, from.at.saturating_add(1)),
        };
        let range = rows.within(track, false, low, high);
        let place = |span: &Span| (span.start, span.place, number, track.row);
        let is_next = |span: &Span| wanted.contains(&span.name) && from.precedes(place(span));
        // events of a row that begin together are few
        let found = match from.forwards {
            true => rows.of(range).find(is_next),
            false => range.rev().filter_map(|index| rows.get(index)).find(is_next),
        };
        let Some(span) = found else { continue };
        if best.as_ref().is_none_or(|(other, _)| from.prefers(place(&span), *other)) {
            best = Some((place(&span), InLane(number as u32, Span { row: track.row, ..span })));
        }
    }
    Some(best.map_or(Value::Null, |(_, found)| event(model, found)))
}

/// Returns how many events match, the pixel columns in which they begin, and the number of an event
/// among them. If the trace is too large, returns the columns and the number as `null`. Cost: a
/// pass over all intervals.
pub(crate) fn matches(
    model: &Model,
    text: &str,
    px: u32,
    current: Option<SearchStart>,
    goes_on: &dyn Fn() -> bool,
) -> Option<Value> {
    let wanted = matching(model, text);
    let count: u64 = wanted.iter().map(|&name| model.sums[name as usize].count).sum();
    let all: Vec<usize> = (0..model.lanes.len()).collect();
    let (from, to) = (model.bounds.start, model.bounds.end);
    if model.bins.is_some() || model.count(&all, from, to.saturating_add(1)) > MOST {
        return Some(json!({ "count": count, "columns": null, "rank": null }));
    }
    let (grid, mut columns) = (Grid { from, to, px, exact: false }, vec![false; px as usize]);
    let current_place = current.and_then(SearchStart::place);
    let mut rank = current_place.map(|_| 0_u64);
    for (number, rows, track) in drawn_rows(model).filter(|_| !wanted.is_empty()) {
        if !goes_on() {
            return None;
        }
        for span in rows.of(track.spans.clone()).filter(|span| wanted.contains(&span.name)) {
            columns[grid.column(span.start) as usize] = true;
            let is_before = Some((span.start, span.place, number, track.row)) <= current_place;
            rank = rank.map(|rank| rank + u64::from(is_before));
        }
    }
    let columns = (0..px).filter(|&at| columns[at as usize]).collect::<Vec<u32>>();
    Some(json!({ "count": count, "columns": columns, "rank": rank }))
}
