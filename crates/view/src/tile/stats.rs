//! Computes statistics of a window: counts and times by name, and busy time by lane (track).

use crate::model::Model;
use crate::tile::around::event;
use crate::tile::search::matching;
use crate::tracks::bins::Bins;
use crate::tracks::flows::InLane;
use crate::tracks::record::Span;
use serde_json::{Value, json};
use tracemill_index::drawing::LaneKind;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::time::windows::TimeSpan;

/// Maximum number of intervals in a window for statistics by name.
const MOST: u64 = 8 << 20;
const TOP: usize = 200;

#[derive(Clone, Copy, Default)]
struct OfName {
    count: u64,
    total: i128,
    self_time: i128,
    least: i64,
    most: i64,
    /// The longest interval, with the number of its lane.
    longest: Option<(usize, Span)>,
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
            busy.push((number, of_lane(model, number, window, &mut names)));
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
                "longest": row.longest.map(|(lane, span)| event(model, InLane(lane as u32, span))),
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
    number: usize,
    window: TimeSpan,
    names: &mut HashMap<u32, OfName>,
) -> i128 {
    let (lane, TimeSpan { from, to }) = (&model.lanes[number], window);
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
            if row.longest.is_none_or(|(_, longest)| longest.dur < span.dur) {
                row.longest = Some((number, Span { row: track.row, ..span }));
            }
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

pub(crate) fn name_json(model: &Model, name: u32) -> Value {
    let sum = model.sums.get(name as usize).copied().unwrap_or_default();
    json!({ "id": name, "name": model.names.text(name), "count": sum.count, "total": sum.total, "max": sum.longest })
}
