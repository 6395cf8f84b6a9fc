//! Arrows between events. The points of flows (`s`, `t`, `f`, and events with `bind_id`) are stored
//! twice: by flow and time, and by lane (track) and time.

use crate::tracks::record::{Mark, Span};
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::spill::SpilledVec;

/// Maximum number of points that are examined for an event.
const LOOKED_AT: usize = 1000;
/// Maximum number of arrows of an event.
const ARROWS: usize = 64;

/// Flag of a point that belongs to the next event instead of the open event.
pub(crate) const NEXT: u32 = 1;

/// A point of a flow that sorts by lane and time. `pair` is its index in the list by flow and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ByLane(pub(crate) Mark);

record! { impl ByLane { 0: Mark } }

impl Keyed for ByLane {
    type Key = (u32, i64, u64);

    fn key(&self) -> Self::Key {
        (self.0.lane, self.0.ts, self.0.place)
    }
}

/// An arrow between two events. Each event comes with the time of its point.
pub(crate) type Arrow = [(InLane, i64); 2];

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct InLane(pub(crate) u32, pub(crate) Span);

pub(crate) struct Flows {
    points: SpilledVec<Mark>,
    by_lane: SpilledVec<ByLane>,
}

impl Flows {
    pub(crate) fn new(points: SpilledVec<Mark>, by_lane: SpilledVec<ByLane>) -> Self {
        Flows { points, by_lane }
    }

    fn first(&self, lane: u32, ts: i64) -> usize {
        let (mut low, mut high) = (0, self.by_lane.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let is_before = |ByLane(point): ByLane| (point.lane, point.ts) < (lane, ts);
            match self.by_lane.get(middle).is_some_and(is_before) {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    }

    /// Returns the arrows of an event. `bound` finds the event to which a point belongs. Cost:
    /// examines up to a thousand points of the lane during the event.
    pub(crate) fn of(&self, event: InLane, bound: impl Fn(Mark) -> Option<InLane>) -> Vec<Arrow> {
        let InLane(lane, span) = event;
        let mut arrows = Vec::new();
        // a point before the event belongs to it if no other event begins in between
        let from = self.first(lane, span.start).saturating_sub(8);
        let to = self.first(lane, span.end().saturating_add(1)).min(from + LOOKED_AT);
        for ByLane(point) in self.by_lane.range(from..to) {
            if point.lane != lane || bound(point) != Some(event) {
                continue;
            }
            let at = point.pair as usize;
            let of_flow =
                |number: usize| self.points.get(number).filter(|other| other.group == point.group);
            let before = at.checked_sub(1).and_then(of_flow);
            let before = before.filter(|other| other.phase != b'f' && point.phase != b's');
            let behind = (point.phase != b'f').then(|| of_flow(at + 1)).flatten();
            let behind = behind.filter(|other| other.phase != b's');
            let timed = |mark: Mark| bound(mark).map(|event| (event, mark.ts));
            let here = (event, point.ts);
            arrows.extend(before.and_then(timed).map(|from| [from, here]));
            arrows.extend(behind.and_then(timed).map(|to| [here, to]));
        }
        arrows.truncate(ARROWS);
        arrows
    }

    pub(crate) fn spilled(&self) -> u64 {
        self.points.spilled_bytes() + self.by_lane.spilled_bytes()
    }
}
