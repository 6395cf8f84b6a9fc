//! Rows of all lanes (tracks). A row has disjoint intervals by time, and sums over 16, 256, … of
//! them.
//!
//! ```text
//!   spans   ....|....|....|....|....|   32 bytes each, in memory or on disk
//!   sums    1   2    3    4    5        of 16 spans each: count, time, longest
//!           1                            of 256 spans each, and so on
//! ```
//!
//! Each row of a window is drawn in one walk. Intervals of at least two pixels are drawn
//! individually. If all intervals of a sum lie in one pixel column, the sum is added to that column
//! without reading the intervals. So the cost depends on pixels, not on events.

pub(crate) mod bins;
pub(crate) mod damage;
pub(crate) mod flows;
pub(crate) mod found;
pub(crate) mod joined;
pub(crate) mod lane;
pub(crate) mod names;
pub(crate) mod notes;
pub(crate) mod record;
pub(crate) mod rows;

use crate::tracks::record::{OPEN, OVERFLOW, Span};
use std::ops::Range;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// Number of intervals in a sum, and of sums in a sum of the next level.
const FAN: usize = 16;

record! {
    /// Sum over consecutive intervals of a row. For counters, `busy` and `longest` are the bits of
    /// the least and greatest value.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct SpanSum {
        pub(crate) count: u64,
        /// Total duration of the intervals, in nanoseconds.
        pub(crate) busy: i64,
        /// Duration of the longest interval, in nanoseconds.
        pub(crate) longest: i64,
        /// Index of the longest interval's name.
        pub(crate) name: u32,
    }
}

impl SpanSum {
    fn of(span: &Span, is_counter: bool) -> Self {
        let longest = span.dur;
        debug_assert!(is_counter || longest >= 0);
        SpanSum { count: 1, busy: span.dur, longest, name: span.name }
    }

    fn add(&mut self, later: SpanSum, is_counter: bool) {
        self.count += later.count;
        if is_counter {
            let least = |a: i64, b: i64| float(a).min(float(b)).to_bits() as i64;
            let most = |a: i64, b: i64| float(a).max(float(b)).to_bits() as i64;
            self.busy = least(self.busy, later.busy);
            self.longest = most(self.longest, later.longest);
            return;
        }
        self.busy = self.busy.saturating_add(later.busy);
        if later.longest > self.longest {
            (self.longest, self.name) = (later.longest, later.name);
        }
    }
}

fn float(bits: i64) -> f64 {
    f64::from_bits(bits as u64)
}

#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub(crate) row: u16,
    pub(crate) spans: Range<usize>,
    sums: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PixelColumn {
    pub(crate) column: u32,
    pub(crate) row: u16,
    pub(crate) count: u32,
    /// Time that the intervals of the column cover, in nanoseconds.
    pub(crate) busy: i64,
    longest: i64,
    pub(crate) name: u32,
}

#[derive(Default)]
pub(crate) struct DrawnRow {
    pub(crate) spans: Vec<Span>,
    pub(crate) columns: Vec<PixelColumn>,
}

/// A window, and the number of pixel columns in which it is drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) px: u32,
    /// Whether every interval is drawn individually.
    pub(crate) exact: bool,
}

impl Grid {
    /// Returns the number of nanoseconds per pixel column. It may be less than 1.
    pub(crate) fn width(self) -> f64 {
        (self.to - self.from) as f64 / f64::from(self.px)
    }

    pub(crate) fn times(self, column: u32) -> [i64; 2] {
        let at = |column: u32| (f64::from(column) * self.width()) as i64;
        [at(column), at(column + 1)].map(|time| self.from.saturating_add(time).min(self.to))
    }

    pub(crate) fn column(self, time: i64) -> u32 {
        let time = time.clamp(self.from, self.to - 1);
        (((time - self.from) as f64 / self.width()) as u32).min(self.px - 1)
    }
}

pub(crate) struct TrackWriter {
    spans: SpillVec<Span>,
    sums: SpillVec<SpanSum>,
    len: usize,
    sums_len: usize,
    track: Option<(Track, bool)>,
    /// Sums of the current row, by level.
    levels: Vec<Vec<SpanSum>>,
    open: Vec<(usize, SpanSum)>,
}

impl TrackWriter {
    pub(crate) fn new(spans: SpillVec<Span>, sums: SpillVec<SpanSum>) -> Self {
        let (levels, open) = (Vec::new(), Vec::new());
        TrackWriter { spans, sums, len: 0, sums_len: 0, track: None, levels, open }
    }

    /// Begins a row. The previous row must have ended.
    pub(crate) fn begin(&mut self, row: u16, is_counter: bool) {
        debug_assert!(!self.has_begun(), "rows end before others begin");
        let spans = self.len..self.len;
        self.track = Some((Track { row, spans, sums: self.sums_len }, is_counter));
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.track.is_some()
    }

    pub(crate) fn push(&mut self, span: Span) -> Result<(), Error> {
        let is_counter = self.track.as_ref().is_some_and(|(_, is_counter)| *is_counter);
        self.spans.push(span)?;
        self.len += 1;
        let mut sum = SpanSum::of(&span, is_counter);
        for level in 0.. {
            if self.open.len() == level {
                self.open.push((0, sum));
                self.levels.push(Vec::new());
            }
            let (count, open_sum) = &mut self.open[level];
            match *count {
                0 => *open_sum = sum,
                _ => open_sum.add(sum, is_counter),
            }
            *count += 1;
            if *count < FAN {
                break;
            }
            *count = 0;
            sum = *open_sum;
            self.levels[level].push(sum);
        }
        Ok(())
    }

    /// Ends the current row. Sums that are not full are dropped; their intervals are read
    /// individually.
    pub(crate) fn end(&mut self) -> Result<Option<Track>, Error> {
        let Some((mut track, _)) = self.track.take() else { return Ok(None) };
        track.spans.end = self.len;
        for level in self.levels.drain(..) {
            self.sums.extend(&level)?;
            self.sums_len += level.len();
        }
        self.open.clear();
        Ok(Some(track))
    }

    pub(crate) fn finish(mut self) -> Result<Tracks, Error> {
        Ok(Tracks { spans: self.spans.take()?, sums: self.sums.take()? })
    }
}

pub(crate) struct Tracks {
    spans: SpilledVec<Span>,
    sums: SpilledVec<SpanSum>,
}

impl Tracks {
    pub(crate) fn get(&self, at: usize) -> Option<Span> {
        self.spans.get(at)
    }

    pub(crate) fn of(&self, range: Range<usize>) -> impl Iterator<Item = Span> + '_ {
        self.spans.range(range)
    }

    pub(crate) fn spilled(&self) -> u64 {
        self.spans.spilled_bytes() + self.sums.spilled_bytes()
    }

    /// Returns the range of a row's intervals that overlap a window. For a counter, the range also
    /// contains the last sample before the window.
    pub(crate) fn within(
        &self,
        track: &Track,
        is_counter: bool,
        from: i64,
        to: i64,
    ) -> Range<usize> {
        let first = |is_before: &dyn Fn(Span) -> bool| {
            let (mut low, mut high) = (track.spans.start, track.spans.end);
            while low < high {
                let middle = low + (high - low) / 2;
                match self.get(middle).is_some_and(is_before) {
                    true => low = middle + 1,
                    false => high = middle,
                }
            }
            low
        };
        let end = first(&|span| span.start < to);
        if is_counter {
            let start = first(&|span| span.start <= from);
            return start.saturating_sub(1).max(track.spans.start)..end.max(start);
        }
        // an instant at the start of the window belongs to the window
        let start = first(&|span| span.end() <= from && span.start < from);
        start..end.max(start)
    }

    /// Returns the largest sum that begins with an interval of a row and for which `fits` returns
    /// `true`. Also returns the number of its intervals.
    fn sum_at(
        &self,
        track: &Track,
        at: usize,
        end: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Option<(usize, SpanSum)> {
        let (offset, len) = (at - track.spans.start, track.spans.len());
        let (mut size, mut base, mut found) = (FAN, track.sums, None);
        while offset.is_multiple_of(size) && at + size <= end && fits(at + size - 1) {
            found = Some((size, base + offset / size));
            base += len / size;
            size *= FAN;
        }
        let (size, sum) = found?;
        Some((size, self.sums.get(sum)?))
    }

    pub(crate) fn draw(&self, track: &Track, grid: Grid, out: &mut DrawnRow) {
        let range = self.within(track, false, grid.from, grid.to);
        let (mut at, least) = (range.start, grid.width() * 2.0);
        while at < range.end {
            let Some(span) = self.get(at) else { return };
            let column = grid.column(span.start);
            let fits = |last: usize| {
                let last = self.get(last);
                last.is_some_and(|last| grid.column(last.end()) == column && last.end() <= grid.to)
            };
            if !grid.exact
                && span.start >= grid.from
                && let Some((size, sum)) = self.sum_at(track, at, range.end, fits)
            {
                out.add(column, track.row, sum);
                at += size;
                continue;
            }
            at += 1;
            if grid.exact || span.dur as f64 >= least || span.flags & OPEN != 0 {
                out.spans.push(Span { row: track.row, ..span });
            } else {
                out.add(column, track.row, SpanSum::of(&span, false));
            }
        }
    }

    pub(crate) fn draw_counter(&self, track: &Track, grid: Grid) -> Vec<(i64, f64, f64)> {
        let range = self.within(track, true, grid.from, grid.to);
        let (mut at, mut points) = (range.start, Vec::<(i64, f64, f64)>::new());
        let mut last = None;
        while at < range.end {
            let Some(span) = self.get(at) else { break };
            let column = grid.column(span.start);
            let fits =
                |last: usize| self.get(last).is_some_and(|last| grid.column(last.start) == column);
            let (size, low, high) = match self.sum_at(track, at, range.end, fits) {
                Some((size, sum)) => (size, float(sum.busy), float(sum.longest)),
                None => (1, span.value(), span.value()),
            };
            match points.last_mut() {
                Some(point) if last == Some(column) => {
                    (point.1, point.2) = (point.1.min(low), point.2.max(high));
                }
                _ => points.push((span.start, low, high)),
            }
            last = Some(column);
            at += size;
        }
        points
    }
}

impl DrawnRow {
    fn add(&mut self, column: u32, row: u16, sum: SpanSum) {
        let count = u32::try_from(sum.count).unwrap_or(u32::MAX);
        if let Some(last) = self.columns.last_mut()
            && (last.column, last.row) == (column, row)
        {
            last.count = last.count.saturating_add(count);
            last.busy = last.busy.saturating_add(sum.busy);
            if sum.longest > last.longest {
                (last.longest, last.name) = (sum.longest, sum.name);
            }
            return;
        }
        let SpanSum { busy, longest, name, .. } = sum;
        self.columns.push(PixelColumn { column, row, count, busy, longest, name });
    }
}

impl DrawnRow {
    /// Adds an approximate sum to a pixel column. Columns must come in order.
    pub(crate) fn add_about(
        &mut self,
        column: u32,
        row: u16,
        count: u64,
        busy: i64,
        longest: i64,
        name: Option<u32>,
    ) {
        // a column without a name is drawn without a colour
        let name = name.unwrap_or_default();
        self.add(column, row, SpanSum { count, busy, longest, name });
    }

    /// Combines the columns of each row that come from sums with those that come from single
    /// intervals.
    pub(crate) fn join_columns(&mut self) {
        let mut all = std::mem::take(&mut self.columns);
        all.sort_by_key(|column| (column.row, column.column));
        for PixelColumn { column, row, count, busy, longest, name } in all {
            self.add(column, row, SpanSum { count: u64::from(count), busy, longest, name });
        }
    }
}

/// Returns whether an interval is in a row of intervals that overlap others without nesting.
pub(crate) fn is_beside(span: &Span) -> bool {
    span.flags & OVERFLOW != 0
}
