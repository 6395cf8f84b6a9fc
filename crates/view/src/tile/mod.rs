//! Encodes tiles: the events of lanes (tracks) in a window, as arrays of numbers that the page
//! reads without copying.
//!
//! All integers are little-endian, and each array begins at a multiple of 8 bytes.
//!
//! ```text
//!   "TMT1"  lanes u32
//!   lane:   id u32  state u8  kind u8  0 u16   spans n u32  columns m u32
//!           start f64[n]  dur f64[n]  place f64[n]  name u32[n]  row u16[n]  flags u8[n]
//!           column u32[m]  count u32[m]  name u32[m]  row u16[m]  busy u8[m]
//! ```
//!
//! Times are nanoseconds since the trace start, exact up to 104 days. `place` is the offset for
//! [`api/event`](crate), or -1; for a call it is -2 − n, and n is the number of its source location
//! in `api/names`. In `flags`, 1 marks an open slice, and 4 an interval in a row of
//! overlapping intervals. The upper five bits are the number of a colour in `colors` of `api/trace`,
//! from 1, or 0.
//!
//! A column combines `count` intervals shorter than two pixels that begin in that pixel column. Its
//! name is that of the longest of them. `busy` is the part of the column that they cover, in
//! 255ths.
//!
//! `state` is 0 if the tile lists all intervals of the window. It is 1 if columns combine some of
//! them, and 2 if columns are approximate (bins of an index).
//!
//! For a counter (`kind` 2), `start` is the time of the first sample in a pixel column, `dur` the
//! least value and `place` the greatest.

pub(crate) mod around;
pub(crate) mod search;
pub(crate) mod stats;

use crate::model::Model;
use crate::tracks::Grid;
use crate::tracks::lane::Lane;
use crate::tracks::record::place_number;
use tracemill_index::drawing::LaneKind;

/// Maximum number of intervals in a window up to which none are combined.
pub(crate) const EXACT: u64 = 20_000;
/// Size in bytes at which a tile ends. The page then requests the remaining lanes.
const MOST: usize = 8 << 20;

/// Encodes a tile. Cost per row: proportional to pixels, not to events. Calls `goes_on` after each
/// lane, and returns `None` if it returns `false`.
pub(crate) fn tile(
    model: &Model,
    lanes: &[usize],
    grid: Grid,
    most: u64,
    goes_on: &dyn Fn() -> bool,
) -> Option<Vec<u8>> {
    let exact = model.bins.is_none() && model.count(lanes, grid.from, grid.to) <= most;
    let grid = Grid { exact, ..grid };
    let (mut out, mut count) = (b"TMT1\0\0\0\0".to_vec(), 0_u32);
    for &number in lanes {
        if !goes_on() {
            return None;
        }
        if out.len() > MOST {
            break;
        }
        lane(model, number, grid, &mut out);
        count += 1;
    }
    out[4..8].copy_from_slice(&count.to_le_bytes());
    Some(out)
}

fn lane(model: &Model, number: usize, grid: Grid, out: &mut Vec<u8>) {
    let lane = &model.lanes[number];
    let is_counter = lane.kind == LaneKind::Counter;
    if is_counter {
        let points = model.draw_counter(number, grid);
        head(number, state_of(model, lane, true), 2, points.len(), 0, out);
        floats(points.iter().map(|point| model.since_start(point.0)), out);
        floats(points.iter().map(|point| point.1), out);
        floats(points.iter().map(|point| point.2), out);
        let words = points.len() * 4;
        out.resize((out.len() + words).next_multiple_of(8), 0);
        out.resize((out.len() + words / 2).next_multiple_of(8), 0);
        out.resize((out.len() + words / 4).next_multiple_of(8), 0);
        return;
    }
    let drawn = model.draw(number, grid);
    let (spans, columns) = (&drawn.spans, &drawn.columns);
    let state = state_of(model, lane, !columns.is_empty());
    let kind = match lane.kind {
        LaneKind::Thread => 0,
        LaneKind::Async => 1,
        LaneKind::Counter => 2,
        LaneKind::Calls => 3,
    };
    head(number, state, kind, spans.len(), columns.len(), out);
    floats(spans.iter().map(|span| model.since_start(span.start)), out);
    floats(spans.iter().map(|span| span.dur as f64), out);
    floats(spans.iter().map(|span| place_number(span.place)), out);
    words(spans.iter().map(|span| span.name), out);
    shorts(spans.iter().map(|span| span.row), out);
    bytes(spans.iter().map(|span| span.flags as u8), out);
    words(columns.iter().map(|column| column.column), out);
    words(columns.iter().map(|column| column.count), out);
    words(columns.iter().map(|column| column.name), out);
    shorts(columns.iter().map(|column| column.row), out);
    let share = |busy: i64| (busy as f64 / grid.width() * 255.0).clamp(0.0, 255.0) as u8;
    bytes(columns.iter().map(|column| share(column.busy)), out);
}

fn state_of(model: &Model, lane: &Lane, has_columns: bool) -> u8 {
    match (has_columns, model.bins_of(lane)) {
        (false, _) => 0,
        (true, None) => 1,
        (true, Some(_)) => 2,
    }
}

fn head(number: usize, state: u8, kind: u8, spans: usize, columns: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(number as u32).to_le_bytes());
    out.extend_from_slice(&[state, kind, 0, 0]);
    out.extend_from_slice(&(spans as u32).to_le_bytes());
    out.extend_from_slice(&(columns as u32).to_le_bytes());
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

fn floats(all: impl Iterator<Item = f64>, out: &mut Vec<u8>) {
    all.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}

fn words(all: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    all.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    pad(out);
}

fn shorts(all: impl Iterator<Item = u16>, out: &mut Vec<u8>) {
    all.for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
    pad(out);
}

fn bytes(all: impl Iterator<Item = u8>, out: &mut Vec<u8>) {
    out.extend(all);
    pad(out);
}

/// Encodes an overview of the whole trace in `px` columns. The value of a process in a column is
/// the part of time in which the first rows of its threads are busy, in 255ths.
pub(crate) fn overview(model: &Model, px: u32, processes: &[Vec<usize>]) -> Vec<u8> {
    let bounds = model.bounds;
    let grid = Grid { from: bounds.start, to: bounds.end, px, exact: false };
    let mut out = b"TMO1".to_vec();
    out.extend_from_slice(&px.to_le_bytes());
    out.extend_from_slice(&(processes.len() as u32).to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    let mut busy = vec![0.0_f64; px as usize];
    for lanes in processes {
        busy.fill(0.0);
        let mut threads = 0_u32;
        for &number in lanes {
            let lane = &model.lanes[number];
            if lane.events == 0 || lane.kind == LaneKind::Counter {
                continue;
            }
            threads += 1;
            let drawn = model.draw_first(number, grid);
            drawn
                .columns
                .iter()
                .for_each(|column| busy[column.column as usize] += column.busy as f64);
            drawn.spans.iter().for_each(|span| spread(span.start, span.end(), grid, &mut busy));
        }
        // in a process with many threads, one busy thread remains visible
        let most = grid.width() * f64::from(threads.clamp(1, 4));
        bytes(
            busy.iter().map(|time| (time / most * 255.0).clamp(0.0, 255.0).ceil() as u8),
            &mut out,
        );
    }
    out
}

/// Adds the duration of an interval to all columns that it overlaps.
fn spread(start: i64, end: i64, grid: Grid, busy: &mut [f64]) {
    let (start, end) = (start.max(grid.from), end.min(grid.to));
    let (first, last) = (grid.column(start), grid.column(end.max(start)));
    let width = grid.width();
    for column in first..=last {
        let left = grid.from as f64 + f64::from(column) * width;
        let part = (end as f64).min(left + width) - (start as f64).max(left);
        busy[column as usize] += part.max(0.0);
    }
}
