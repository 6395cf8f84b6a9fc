//! Finds the ancestors of an event, and the events to which arrows connect it.

use crate::model::Model;
use crate::tracks::flows::{InLane, NEXT};
use crate::tracks::is_beside;
use crate::tracks::lane::Lane;
use crate::tracks::record::{Mark, Span, place_number};
use serde_json::{Value, json};
use tracemill_index::drawing::LaneKind;

/// The position of a drawn event.
#[derive(Clone, Copy)]
pub(crate) struct EventAt {
    /// Index of the lane (track) in which the event is drawn.
    pub(crate) lane: usize,
    pub(crate) row: u16,
    pub(crate) start: i64,
}

impl Model {
    /// Returns the event of a row that contains a time. If several events of the row begin at that
    /// time, returns the first one.
    pub(crate) fn at(&self, lane: &Lane, row: u16, time: i64) -> Option<Span> {
        let track = lane.tracks.iter().find(|track| track.row == row)?;
        let rows = self.rows_of(lane);
        let mut spans = rows.of(rows.within(track, false, time, time.saturating_add(1)));
        spans.find(|span| span.start <= time && time <= span.end()).map(|span| Span { row, ..span })
    }

    /// Returns the event to which a point of a flow belongs: the innermost event that is open, or
    /// the next event that begins.
    pub(crate) fn bound(&self, point: Mark) -> Option<InLane> {
        let lane = self.lanes.get(point.lane as usize)?;
        let (tracks, rows) = (|| lane.tracks.iter(), self.rows_of(lane));
        let found = if point.name & NEXT == 0 {
            let open = tracks().filter_map(|track| self.at(lane, track.row, point.ts));
            open.filter(|span| !is_beside(span)).max_by_key(|span| (span.start, span.row))
        } else {
            let next = tracks().filter_map(|track| {
                let mut range = rows.within(track, false, point.ts, i64::MAX);
                let first =
                    range.find(|&at| rows.get(at).is_some_and(|span| span.start >= point.ts))?;
                rows.get(first).map(|span| Span { row: track.row, ..span })
            });
            next.min_by_key(|span| (span.start, span.row))
        };
        found.map(|span| InLane(point.lane, span))
    }
}

/// Returns the event of a lane that begins at a time. Prefers the row in `at`; in another window
/// the event may have another row.
pub(crate) fn event_at(model: &Model, at: EventAt) -> Option<InLane> {
    let EventAt { lane: number, row, start } = at;
    let lane = model.lanes.get(number)?;
    let rows = model.rows_of(lane);
    let found = lane.tracks.iter().filter_map(|track| {
        let range = rows.within(track, false, start, start.saturating_add(1));
        let span = rows.of(range).find(|span| span.start == start)?;
        Some(Span { row: track.row, ..span })
    });
    let span = found.min_by_key(|span| (span.row != row, span.row))?;
    Some(InLane(number as u32, span))
}

/// Returns the ancestors of an event, outermost first, and its arrows, as JSON.
pub(crate) fn around(
    model: &Model,
    event_in_lane: InLane,
    bound: impl Fn(Mark) -> Option<InLane>,
) -> Option<Value> {
    let InLane(number, span) = event_in_lane;
    let lane = model.lanes.get(number as usize)?;
    let holds = |ancestor: &Span| ancestor.start <= span.start && ancestor.end() >= span.end();
    let above = (0..span.row).filter(|_| !is_beside(&span));
    let above = above.filter_map(|row| model.at(lane, row, span.start)).filter(holds);
    let above: Vec<Value> = above.map(|ancestor| event(model, InLane(number, ancestor))).collect();
    let arrows = model.flows.of(event_in_lane, bound);
    let arrows: Vec<Value> = arrows
        .into_iter()
        .map(|[(from, from_time), (to, to_time)]| {
            let [from_time, to_time] = [from_time, to_time].map(|time| model.since_start(time));
            json!({ "from": event(model, from), "from_time": from_time, "to": event(model, to), "to_time": to_time })
        })
        .collect();
    let sum = model.sums.get(span.name as usize).copied().unwrap_or_default();
    Some(json!({
        "event": event(model, event_in_lane), "above": above, "arrows": arrows,
        "self": self_time(model, lane, span),
        "named": { "count": sum.count, "total": sum.total },
    }))
}

/// Returns the time of an interval that no interval in the row below covers. Returns `None` if the
/// row below is not exact, or has too many intervals.
fn self_time(model: &Model, lane: &Lane, span: Span) -> Option<i64> {
    const MOST: usize = 1 << 20;
    if is_beside(&span) || model.bins_of(lane).is_some() || lane.kind == LaneKind::Async {
        return None;
    }
    let rows = model.rows_of(lane);
    let Some(below) = lane.tracks.iter().find(|track| track.row == span.row + 1) else {
        return Some(span.dur);
    };
    let range = rows.within(below, false, span.start, span.end());
    let inner = |range| {
        let children = rows.of(range).filter(|child| !is_beside(child));
        children.filter(|child| child.start >= span.start).map(|child| child.dur).sum::<i64>()
    };
    (range.len() <= MOST).then(|| span.dur - inner(range))
}

/// Returns a drawn event as JSON.
pub(crate) fn event(model: &Model, InLane(lane, span): InLane) -> Value {
    json!({
        "lane": lane, "start": model.since_start(span.start), "dur": span.dur, "row": span.row,
        "place": place_number(span.place),
        "name": span.name, "text": model.names.text(span.name), "flags": span.flags,
    })
}
