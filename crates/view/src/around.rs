//! What stands around an event: those that hold it, and those that arrows join it with.

use crate::flows::{InLane, NEXT};
use crate::lane::Lane;
use crate::model::Model;
use crate::record::{Mark, NO_PLACE, Span};
use crate::tracks::is_beside;
use serde_json::{Value, json};

impl Model {
    /// The event of a row that holds a moment; of several that begin there the first.
    fn at(&self, lane: &Lane, row: u16, time: i64) -> Option<Span> {
        let track = lane.tracks.iter().find(|track| track.row == row)?;
        let range = self.tracks.within(track, false, time, time.saturating_add(1));
        let mut spans = self.tracks.of(range);
        spans.find(|span| span.start <= time && time <= span.end()).map(|span| Span { row, ..span })
    }

    /// The event that a point of a flow belongs to: the innermost that is open, or the next that begins.
    pub(crate) fn bound(&self, point: Mark) -> Option<InLane> {
        let lane = self.lanes.get(point.lane as usize)?;
        let rows = || lane.tracks.iter();
        let found = if point.name & NEXT == 0 {
            let open = rows().filter_map(|track| self.at(lane, track.row, point.ts));
            open.filter(|span| !is_beside(span)).max_by_key(|span| (span.start, span.row))
        } else {
            let next = rows().filter_map(|track| {
                let mut range = self.tracks.within(track, false, point.ts, i64::MAX);
                let first = range
                    .find(|&at| self.tracks.get(at).is_some_and(|span| span.start >= point.ts))?;
                self.tracks.get(first).map(|span| Span { row: track.row, ..span })
            });
            next.min_by_key(|span| (span.start, span.row))
        };
        found.map(|span| InLane(point.lane, span))
    }
}

/// Ancestors of an event, outermost first, and arrows from and to it; `None` if there is no such event.
pub(crate) fn around(model: &Model, (number, row, start): (usize, u16, i64)) -> Option<Value> {
    let lane = model.lanes.get(number)?;
    let track = lane.tracks.iter().find(|track| track.row == row)?;
    let range = model.tracks.within(track, false, start, start.saturating_add(1));
    let span = model.tracks.of(range).find(|span| span.start == start)?;
    let span = Span { row, ..span };
    let holds = |own: &Span| own.start <= span.start && own.end() >= span.end();
    let above = (0..row).filter(|_| !is_beside(&span));
    let above = above.filter_map(|row| model.at(lane, row, start)).filter(holds);
    let above: Vec<Value> = above.map(|own| event(model, InLane(number as u32, own))).collect();
    let arrows = model.flows.of(InLane(number as u32, span), |point| model.bound(point));
    let arrows: Vec<Value> = arrows
        .into_iter()
        .map(|[(from, from_time), (to, to_time)]| {
            let [from_time, to_time] = [from_time, to_time].map(|time| model.since_start(time));
            json!({ "from": event(model, from), "from_time": from_time, "to": event(model, to), "to_time": to_time })
        })
        .collect();
    Some(json!({ "above": above, "arrows": arrows }))
}

fn event(model: &Model, InLane(lane, span): InLane) -> Value {
    json!({
        "lane": lane, "start": model.since_start(span.start), "dur": span.dur, "row": span.row,
        "place": if span.place == NO_PLACE { -1.0 } else { span.place as f64 },
        "name": span.name, "text": model.names.text(span.name), "flags": span.flags,
    })
}
