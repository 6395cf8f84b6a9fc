//! Finds the parents of slices.
//!
//! ```text
//!   a  ├────────────────┤        depth 0
//!   b     ├────┤                 depth 1, parent a
//!   c        ├──────┤            depth 1, parent a: b ends earlier
//!   d          ├──┤              depth 2, parent c, which began last among a and c
//!   e              ├────────┤    depth 0: ends after a
//! ```
//!
//! The parent of a slice is the slice of the same track that began last among those that contain it.
//! If two slices begin at the same time, the longer one counts as the first, then the first one in
//! the file. A slice without an end lasts as long as its parent. So depth and parent of a slice
//! depend only on the intervals of the track. Starts and ends are compared as the nearest nanoseconds.

use super::records::{Length, NestedSlice, Slice};
use tracemill_trace::Error;
use tracemill_trace::order::{KeySorter, SortedByKey};
use tracemill_trace::run::limits::Quota;

/// A slice that later slices may lie in.
struct OpenSlice {
    slice: Slice,
    end: i64,
    parent: i64,
    /// Time within children, each instant counted once.
    covered: u64,
    /// End of the last child.
    covered_until: i64,
}

/// The slices of a track that may be parents, outermost first. The ends are in descending order.
pub(super) struct Nesting {
    open: Vec<OpenSlice>,
    nested: KeySorter<NestedSlice>,
    quota: Quota,
}

impl Nesting {
    pub(super) fn new(nested: KeySorter<NestedSlice>, quota: Quota) -> Self {
        Nesting { open: Vec::new(), nested, quota }
    }

    /// Returns slices with their parents, by id. The slices come by track, time and descending length.
    ///
    /// Cost: amortized constant time per slice. Heap: 72 bytes per open slice of a track.
    pub(super) fn run(
        mut self,
        slices: &SortedByKey<Slice>,
    ) -> Result<SortedByKey<NestedSlice>, Error> {
        let mut track = None;
        for slice in slices.iter() {
            if track.replace(slice.track) != Some(slice.track) {
                self.close(|_| true)?;
            }
            self.slice(slice)?;
        }
        self.close(|_| true)?;
        self.nested.finish()
    }

    fn slice(&mut self, slice: Slice) -> Result<(), Error> {
        self.close(|open| open.end <= slice.ts)?;
        let end = match slice.length() {
            Length::Known { nearest, .. } => slice.ts.saturating_add_unsigned(nearest),
            Length::Missing => slice.ts,
            Length::Unended => self.open.last().map_or(i64::MAX, |parent| parent.end),
        };
        // what lies in both began last in the new slice
        self.close(|open| open.end < end)?;
        let mut parent = -1;
        if let Some(open) = self.open.last_mut() {
            open.covered += end.saturating_sub(slice.ts.max(open.covered_until)).max(0) as u64;
            open.covered_until = open.covered_until.max(end);
            parent = open.slice.id();
        }
        self.open.push(OpenSlice { slice, end, parent, covered: 0, covered_until: slice.ts });
        self.quota.check((self.open.capacity() * size_of::<OpenSlice>()) as u64, "open slices")
    }

    /// Removes the innermost open slices as long as a condition holds.
    fn close(&mut self, is_closed: impl Fn(&OpenSlice) -> bool) -> Result<(), Error> {
        while let Some(open) = self.open.pop_if(|open| is_closed(open)) {
            let OpenSlice { slice, parent, covered, .. } = open;
            let integer = |time| i64::try_from(time).unwrap_or(i64::MAX);
            let (dur, self_dur) = match slice.length() {
                Length::Known { floor, .. } => {
                    (integer(floor), integer(floor.saturating_sub(covered)))
                }
                Length::Unended | Length::Missing => (-1, -1),
            };
            self.nested.push(NestedSlice {
                id: slice.id(),
                ts: slice.time().floor(),
                dur,
                track: slice.track,
                parent,
                self_dur,
                depth: self.open.len() as u32,
            })?;
        }
        Ok(())
    }
}
