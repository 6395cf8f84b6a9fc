//! Bins: sums over the intervals of a lane (track) in a range of time, for intervals that an index
//! does not list. A bin is drawn as approximate density.

use crate::tracks::record::{OPEN, Span};
use crate::tracks::{DrawnRow, Grid, is_beside};
use tracemill_index::DrawnBin;

pub(crate) struct Bins {
    all: Vec<DrawnBin>,
    /// Length of each bin in nanoseconds.
    width: i64,
}

impl Bins {
    pub(crate) fn new(all: Vec<DrawnBin>, width: i64) -> Self {
        Bins { all, width }
    }

    fn within(&self, lane: u32, from: i64, to: i64) -> &[DrawnBin] {
        let end_of = |bin: &DrawnBin| bin.start.saturating_add(self.width);
        let first = self.all.partition_point(|bin| (bin.lane, end_of(bin)) <= (lane, from));
        let end = self.all.partition_point(|bin| (bin.lane, bin.start) < (lane, to));
        self.all.get(first..end).unwrap_or_default()
    }

    /// Estimates how many intervals and instants of a lane are in a window.
    pub(crate) fn count(&self, lane: u32, from: i64, to: i64) -> f64 {
        let parts = self.within(lane, from, to).iter();
        parts.map(|bin| bin.count as f64 * self.share(bin, from, to)).sum()
    }

    /// Estimates the total time of a lane's intervals in a window, in nanoseconds.
    pub(crate) fn busy(&self, lane: u32, from: i64, to: i64) -> f64 {
        let parts = self.within(lane, from, to).iter();
        parts.map(|bin| bin.busy as f64 * self.share(bin, from, to)).sum()
    }

    fn share(&self, bin: &DrawnBin, from: i64, to: i64) -> f64 {
        let end = bin.start.saturating_add(self.width).min(to);
        let inside = end as f64 - bin.start.max(from) as f64;
        (inside / self.width as f64).clamp(0.0, 1.0)
    }

    /// Adds pixel columns with the density of a lane's intervals, below the rows of its long
    /// intervals.
    pub(crate) fn draw(&self, lane: u32, grid: Grid, out: &mut DrawnRow) {
        let bins = self.within(lane, grid.from, grid.to);
        if bins.is_empty() {
            return;
        }
        let rows = depths(&out.spans, grid);
        let mut left = 0.0;
        for bin in bins {
            let (start, end) = (bin.start, bin.start.saturating_add(self.width));
            let (first, last) = (grid.column(start), grid.column(end.min(grid.to) - 1));
            for column in first..=last {
                let [from, to] = grid.times(column);
                let share = self.share(bin, from.max(grid.from), to.min(grid.to).max(from + 1));
                // the fraction of the count is added to the next column
                left += bin.count as f64 * share;
                let (count, busy) = (left.floor(), (bin.busy as f64 * share) as i64);
                left -= count;
                let row = rows[column as usize];
                out.add_about(column, row, count as u64, busy, bin.longest, bin.name);
            }
        }
        out.join_columns();
    }

    /// Returns the points of a counter: the time of the first sample, and the least and greatest
    /// value. A point combines all bins in one pixel column.
    pub(crate) fn draw_counter(&self, lane: u32, grid: Grid) -> Vec<(i64, f64, f64)> {
        let float = |bits: i64| f64::from_bits(bits as u64);
        let mut points: Vec<(i64, f64, f64)> = Vec::new();
        let mut last = None;
        for bin in self.within(lane, grid.from.saturating_sub(self.width), grid.to) {
            let (column, low, high) = (grid.column(bin.start), float(bin.busy), float(bin.longest));
            match points.last_mut() {
                Some(point) if last == Some(column) => {
                    (point.1, point.2) = (point.1.min(low), point.2.max(high));
                }
                _ => points.push((bin.start, low, high)),
            }
            last = Some(column);
        }
        points
    }
}

/// Returns, for each pixel column, the number of the first row below the long intervals.
fn depths(spans: &[Span], grid: Grid) -> Vec<u16> {
    let mut rows = vec![0; grid.px as usize];
    for span in spans.iter().filter(|span| !is_beside(span)) {
        let end = if span.flags & OPEN == 0 { span.end() } else { grid.to };
        let (first, last) = (grid.column(span.start), grid.column(end - 1));
        let covered: &mut [u16] = &mut rows[first as usize..=last.max(first) as usize];
        covered.iter_mut().for_each(|row| *row = (*row).max(span.row + 1));
    }
    rows
}
