//! Computes statistics of a window: counts and times by name, and busy time by lane (track). Also
//! searches the next event with a name.

use crate::model::Model;
use crate::tracks::bins::Bins;
use crate::tracks::lane::Lane;
use crate::tracks::record::{NO_PLACE, Span};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tracemill_index::drawing::LaneKind;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum number of intervals in a window for statistics by name.
const MOST: u64 = 8 << 20;
const TOP: usize = 200;

/// Start and direction of a search for the next event with a name.
#[derive(Clone, Copy)]
pub(crate) struct SearchStart {
    /// The time at which the search starts.
    pub(crate) at: i64,
    pub(crate) forwards: bool,
    /// Offset of the event after which the search starts, if several begin at this time.
    pub(crate) after: Option<u64>,
}

#[derive(Clone, Copy, Default)]
struct OfName {
    count: u64,
    total: i128,
    self_time: i128,
    least: i64,
    most: i64,
}

/// Returns statistics of a window. Only the parts of intervals inside the window count. Self time
/// excludes the intervals in the row below. Returns `None` if `goes_on` returns `false`. Cost:
/// visits the intervals in the window.
pub(crate) fn stats(
    model: &Model,
    lanes: &[usize],
    window: TimeSpan,
    goes_on: &dyn Fn() -> bool,
) -> Option<Value> {
    let TimeSpan { from, to } = window;
    if let Some(bins) = &model.bins {
        return Some(about(model, bins, lanes, from, to));
    }
    let events = model.count(lanes, from, to);
    let mut names: HashMap<u32, OfName> = HashMap::default();
    let mut busy = Vec::new();
    if events <= MOST {
        for &number in lanes {
            if !goes_on() {
                return None;
            }
            let lane = &model.lanes[number];
            if lane.kind == LaneKind::Counter || lane.tracks.is_empty() {
                continue;
            }
            busy.push((number, of_lane(model, lane, from, to, &mut names)));
        }
    }
    let mut rows: Vec<(u32, OfName)> = names.into_iter().collect();
    rows.sort_by_key(|(name, row)| (std::cmp::Reverse(row.self_time), *name));
    let distinct = rows.len();
    rows.truncate(TOP);
    let rows: Vec<Value> = rows
        .iter()
        .map(|(name, row)| {
            json!({
                "name": model.names.text(*name), "id": name, "count": row.count,
                "total": row.total as f64, "self": row.self_time as f64,
                "min": row.least, "max": row.most,
            })
        })
        .collect();
    let busy: Vec<Value> =
        busy.iter().map(|(lane, time)| json!({ "lane": lane, "busy": *time as f64 })).collect();
    let exact = events <= MOST;
    Some(json!({ "events": events, "exact": exact, "most": MOST, "distinct": distinct,
        "names": rows, "lanes": busy }))
}

/// Returns approximate statistics by lane, from the bins of an index. For the whole trace, also
/// returns statistics by name.
fn about(model: &Model, bins: &Bins, lanes: &[usize], from: i64, to: i64) -> Value {
    let is_whole = from <= model.bounds.start && to >= model.bounds.end;
    let is_whole = is_whole && lanes.len() == model.lanes.len();
    let mut names: Vec<u32> = Vec::new();
    if is_whole {
        names =
            (0..model.sums.len() as u32).filter(|&n| model.sums[n as usize].count > 0).collect();
        names.sort_by_key(|&name| (std::cmp::Reverse(model.sums[name as usize].total), name));
    }
    let distinct = names.len();
    names.truncate(TOP);
    let row = |&name: &u32| {
        let sum = model.sums[name as usize];
        json!({ "name": model.names.text(name), "id": name, "count": sum.count,
            "total": sum.total as f64, "self": null, "min": null, "max": sum.longest })
    };
    let names: Vec<Value> = names.iter().map(row).collect();
    let is_drawn = |lane: &&usize| {
        model.lanes[**lane].kind != LaneKind::Counter && model.lanes[**lane].events > 0
    };
    let busy = lanes.iter().filter(is_drawn).map(|&lane| {
        let (drawn_lane, rows) = (&model.lanes[lane], model.rows_of(&model.lanes[lane]));
        let spans = drawn_lane.tracks.first().map(|track| rows.within(track, false, from, to));
        let spans = rows.of(spans.unwrap_or_default());
        let long: i64 = spans.map(|span| span.end().min(to) - span.start.max(from)).sum();
        let time = (long as f64 + bins.busy(lane as u32, from, to)).min((to - from) as f64);
        json!({ "lane": lane, "busy": time })
    });
    let busy: Vec<Value> = busy.collect();
    json!({ "events": model.count(lanes, from, to), "exact": false, "most": MOST,
        "distinct": distinct, "names": names, "lanes": busy })
}

/// Adds the intervals of a lane to the statistics. Returns the total time of the lane's first row.
fn of_lane(
    model: &Model,
    lane: &Lane,
    from: i64,
    to: i64,
    names: &mut HashMap<u32, OfName>,
) -> i128 {
    let clipped =
        |span: &Span| (i128::from(span.end().min(to)) - i128::from(span.start.max(from))).max(0);
    let (mut first, rows) = (0, model.rows_of(lane));
    for (depth, track) in lane.tracks.iter().enumerate() {
        let within = |at: usize| {
            let track = lane.tracks.get(at).filter(|track| usize::from(track.row) == at);
            track.map(|track| rows.within(track, false, from, to))
        };
        let range = rows.within(track, false, from, to);
        let nests = matches!(lane.kind, LaneKind::Thread | LaneKind::Calls);
        let below = within(depth + 1).filter(|_| nests).unwrap_or(0..0);
        let mut children =
            rows.of(below).filter(|child| !crate::tracks::is_beside(child)).peekable();
        for span in rows.of(range) {
            let time = clipped(&span);
            let mut inner = 0;
            while let Some(child) = children.next_if(|child| child.start < span.end()) {
                if child.start >= span.start {
                    inner += clipped(&child);
                }
            }
            if depth == 0 {
                first += time;
            }
            let row = names.entry(span.name).or_default();
            row.least = if row.count == 0 { span.dur } else { row.least.min(span.dur) };
            row.most = row.most.max(span.dur);
            row.count += 1;
            row.total += time;
            row.self_time += time - inner;
        }
    }
    first
}

/// Returns names that contain a text, ignoring ASCII case. Names with the greatest total time come
/// first.
pub(crate) fn names(model: &Model, text: &str, most: usize) -> Value {
    let found = matching(model, text);
    let count = found.len();
    let mut found: Vec<u32> = found.into_iter().collect();
    found.sort_by_key(|&name| (std::cmp::Reverse(model.sums[name as usize].total), name));
    found.truncate(most);
    json!({ "count": count, "names": found.iter().map(|&name| name_json(model, name)).collect::<Vec<_>>() })
}

/// Returns the numbers of names that contain a text and have intervals.
pub(crate) fn matching(model: &Model, text: &str) -> BTreeSet<u32> {
    let has_any = |name: &u32| model.sums.get(*name as usize).is_some_and(|sum| sum.count > 0);
    let mut found = model.names.holding(text);
    found.retain(has_any);
    found
}

pub(crate) fn name_json(model: &Model, name: u32) -> Value {
    let sum = model.sums.get(name as usize).copied().unwrap_or_default();
    json!({ "id": name, "name": model.names.text(name), "count": sum.count, "total": sum.total, "max": sum.longest })
}

/// Returns the nearest event after or before a time whose name contains a text. If several events
/// are equally near, returns that of the first lane. Cost: at most a pass over all intervals.
pub(crate) fn find(
    model: &Model,
    text: &str,
    from: SearchStart,
    goes_on: &dyn Fn() -> bool,
) -> Option<Value> {
    let SearchStart { at, forwards, after } = from;
    let wanted = matching(model, text);
    let mut best: Option<(i64, u64, usize, Span)> = None;
    let rank = |start: i64| if forwards { start } else { start.saturating_neg() };
    if !wanted.is_empty() {
        for (number, lane) in model.lanes.iter().enumerate() {
            if lane.kind == LaneKind::Counter {
                continue;
            }
            let rows = model.rows_of(lane);
            for track in &lane.tracks {
                if !goes_on() {
                    return None;
                }
                let (low, high) = match forwards {
                    true => (at, i64::MAX),
                    false => (i64::MIN, at.saturating_add(1)),
                };
                let range = rows.within(track, false, low, high);
                let is_next = |span: &Span| {
                    let is_behind = (rank(span.start), span.place) > (rank(at), after.unwrap_or(0));
                    let is_here = after.is_none() && span.start == at;
                    (is_behind || is_here) && wanted.contains(&span.name)
                };
                let found = match forwards {
                    true => rows.of(range).find(is_next),
                    false => range.rev().filter_map(|index| rows.get(index)).find(is_next),
                };
                if let Some(span) = found {
                    let key = (rank(span.start), span.place);
                    if best.is_none_or(|nearest| key < (nearest.0, nearest.1)) {
                        best = Some((key.0, key.1, number, span));
                    }
                }
            }
        }
    }
    Some(best.map_or(Value::Null, |(_, _, lane, span)| {
        json!({
            "lane": lane, "start": model.since_start(span.start), "dur": span.dur, "row": span.row,
            "place": if span.place == NO_PLACE { -1.0 } else { span.place as f64 },
            "name": model.names.text(span.name), "id": span.name, "flags": span.flags,
        })
    }))
}
