//! Assigns each interval of a lane (track) to a row.
//!
//! Intervals come by start, the longer first. On a thread, an interval is in the row below the
//! innermost interval that contains it. Intervals that overlap without nesting, and all async
//! operations, are in the first free row. On a thread, these rows come after the rows of nested
//! intervals.

use crate::tracks::record::{OVERFLOW, Span};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Maximum number of rows per lane.
const MOST: u16 = 1 << 13;
/// Index of the first row for overlapping intervals, until the number of nested rows is known.
pub(crate) const BESIDE: u16 = 1 << 14;

#[derive(Default)]
pub(crate) struct LaneRows {
    /// Ends of the open intervals, outermost first.
    nested: Vec<i64>,
    beside: FirstFit,
    /// Number of rows for nested intervals.
    pub(crate) depth: u16,
    /// Number of intervals that are not drawn, because there is no free row.
    pub(crate) folded: u64,
}

impl LaneRows {
    /// Assigns a row to the next interval. Returns `false` if there is no free row.
    pub(crate) fn place(&mut self, span: &mut Span, nests: bool) -> bool {
        let end = span.end();
        let row = if nests { self.nest(span.start, end) } else { None };
        span.row = match row {
            Some(row) => row,
            None => match self.beside.take(span.start, end) {
                Some(row) if nests => {
                    span.flags |= OVERFLOW;
                    BESIDE + row
                }
                Some(row) => {
                    self.depth = self.depth.max(row + 1);
                    row
                }
                None => {
                    self.folded += 1;
                    return false;
                }
            },
        };
        true
    }

    fn nest(&mut self, start: i64, end: i64) -> Option<u16> {
        while self.nested.last().is_some_and(|&open| open <= start) {
            self.nested.pop();
        }
        if self.nested.last().is_some_and(|&open| end > open) {
            return None;
        }
        let row = u16::try_from(self.nested.len()).ok().filter(|&row| row < MOST)?;
        if end > start {
            self.nested.push(end);
        }
        self.depth = self.depth.max(row + 1);
        Some(row)
    }
}

/// Assigns intervals to rows in which no two intervals overlap. Cost: logarithmic in the number of
/// rows.
#[derive(Default)]
struct FirstFit {
    free: BTreeSet<u16>,
    taken: BinaryHeap<Reverse<(i64, u16)>>,
    rows: u16,
}

impl FirstFit {
    fn take(&mut self, start: i64, end: i64) -> Option<u16> {
        while let Some(&Reverse((until, row))) = self.taken.peek()
            && until <= start
        {
            self.taken.pop();
            self.free.insert(row);
        }
        let row = match self.free.pop_first() {
            Some(row) => row,
            None if self.rows == MOST => return None,
            None => {
                self.rows += 1;
                self.rows - 1
            }
        };
        self.taken.push(Reverse((end, row)));
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(spans: &[(i64, i64)], nests: bool) -> Vec<u16> {
        let mut rows = LaneRows::default();
        let place = |&(start, dur): &(i64, i64)| {
            let mut span = Span { start, dur, place: 0, name: 0, row: 0, flags: 0 };
            assert!(rows.place(&mut span, nests));
            span.row
        };
        spans.iter().map(place).collect()
    }

    #[test]
    fn nested_slices_go_below_and_overlaps_to_extra_rows() {
        assert_eq!(rows(&[(0, 10), (1, 3), (2, 1), (5, 5), (10, 1)], true), [0, 1, 2, 1, 0]);
        assert_eq!(rows(&[(0, 10), (5, 10), (6, 2), (12, 3)], true), [0, BESIDE, 1, 0]);
        // an instant contains no other interval
        assert_eq!(rows(&[(0, 10), (3, 0), (3, 0), (4, 1)], true), [0, 1, 1, 1]);
        assert_eq!(rows(&[(0, 10), (1, 3), (2, 1), (4, 5)], false), [0, 1, 2, 1]);
    }
}
