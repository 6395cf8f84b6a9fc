//! Offsets of pids and ids in an input, so that renaming finds them without a search.
//!
//! ```text
//!   input    │ page 0: 1 KiB │ page 1 │ page 2 │
//!   starts   0               3        3        5     values before each page
//!   values   12  300  990             7  880         2 bytes each
//! ```
//!
//! Memory: 2 bytes per value, and 4 per page.

use std::ops::Range;
use tracemill_trace::run::memory::Lease;

/// Number of bits of an offset within its page.
const PAGE_BITS: u32 = 10;
/// The bit of a value that is an id.
const ID: u16 = 1 << 15;
/// Maximum bytes of values, so that their number fits in 32 bits.
const MOST: u64 = 4 << 30;

/// The offset of a pid, or of an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IdOffset {
    pub(super) offset: u64,
    pub(super) is_id: bool,
}

/// Offsets of the values that a rename of pids and ids may change, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdOffsets {
    /// The page of the first value.
    first: u64,
    /// For each page from the first one on, the number of values before it.
    starts: Vec<u32>,
    /// The low bits of each offset, and [`ID`].
    values: Vec<u16>,
    /// Whether values are missing, so that events must be searched.
    pub(super) is_partial: bool,
    /// The memory of the values.
    lease: Option<Lease>,
}

impl IdOffsets {
    /// Creates an empty list. Without a lease it takes no values.
    pub(super) fn new(lease: Option<&Lease>) -> Self {
        IdOffsets { is_partial: lease.is_none(), lease: lease.cloned(), ..IdOffsets::default() }
    }

    /// Adds a value, whose offset must not be less than the last one.
    #[inline]
    pub(super) fn push(&mut self, value: IdOffset) {
        if self.is_partial {
            return;
        }
        let page = value.offset >> PAGE_BITS;
        if page >= self.first + self.starts.len() as u64 {
            self.begin(page);
        }
        let low = (value.offset & ((1 << PAGE_BITS) - 1)) as u16;
        self.values.push(if value.is_id { low | ID } else { low });
    }

    /// Adds values in any order, whose offsets are not less than the last one. Clears `unsorted`.
    pub(super) fn push_all(&mut self, unsorted: &mut Vec<IdOffset>) {
        unsorted.sort_unstable_by_key(|value| value.offset);
        unsorted.drain(..).for_each(|value| self.push(value));
    }

    /// Begins all pages up to `page`.
    fn begin(&mut self, page: u64) {
        if self.starts.is_empty() {
            self.first = page;
        }
        let pages = (page + 1).saturating_sub(self.first) as usize;
        self.starts.resize(pages.max(self.starts.len()), self.values.len() as u32);
    }

    /// Appends the values of the next chunk. Drops all if they exceed the lease together with
    /// `others`, the bytes of other lists.
    pub(super) fn append(&mut self, more: &IdOffsets, others: u64) {
        let pages = self.first + self.starts.len() as u64;
        let gap = if pages == 0 { 0 } else { more.first.saturating_sub(pages) };
        let bytes = others + self.heap() + more.heap() + gap * size_of::<u32>() as u64;
        let fits = |lease: &Lease| bytes <= lease.bytes().min(MOST);
        if self.is_partial || !more.lease.as_ref().is_some_and(fits) {
            *self = IdOffsets::new(None);
            return;
        }
        self.lease.clone_from(&more.lease);
        if let [_, starts @ ..] = &more.starts[..] {
            let before = self.values.len() as u32;
            self.begin(more.first);
            // the first page may have values of both
            self.starts.extend(starts.iter().map(|start| before + start));
            self.values.extend_from_slice(&more.values);
        }
    }

    /// Returns the number of heap bytes.
    pub(super) fn heap(&self) -> u64 {
        (self.starts.capacity() * size_of::<u32>() + self.values.capacity() * size_of::<u16>())
            as u64
    }

    /// Returns the number of values before a page.
    #[inline]
    fn start(&self, page: u64) -> usize {
        let start = self.starts.get((page - self.first) as usize);
        start.map_or(self.values.len(), |&start| start as usize)
    }

    /// Calls `found` for the values in a range of offsets. Cost: linear in the range.
    #[inline]
    pub(super) fn each_within(&self, range: Range<u64>, mut found: impl FnMut(IdOffset)) {
        let mut page = (range.start >> PAGE_BITS).max(self.first);
        let mut values = self.start(page)..self.start(page + 1);
        while page << PAGE_BITS < range.end {
            for &value in &self.values[values.clone()] {
                let offset = page << PAGE_BITS | u64::from(value & !ID);
                if offset >= range.end {
                    return;
                }
                if offset >= range.start {
                    found(IdOffset { offset, is_id: value & ID != 0 });
                }
            }
            page += 1;
            values = values.end..self.start(page + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    #[test]
    fn values_of_all_chunks_are_found_by_range() {
        let lease = Lease::alone(1 << 20, "");
        for seed in 0..300 {
            let rng = &mut Rng::new(seed);
            let (mut all, mut expected, mut offset) = (IdOffsets::default(), Vec::new(), 0);
            for _ in 0..rng.below(6) {
                let mut chunk = IdOffsets::new(Some(&lease));
                for _ in 0..rng.below(20) {
                    let mut event = Vec::new();
                    for _ in 0..rng.below(4) {
                        let gap = [rng.below(9), rng.below(900), rng.below(30_000)][rng.index(3)];
                        offset += 1 + gap;
                        event.push(IdOffset { offset, is_id: rng.chance(30) });
                    }
                    expected.extend_from_slice(&event);
                    let turned = rng.below(1 + event.len() as u64) as usize;
                    event.rotate_left(turned);
                    chunk.push_all(&mut event);
                }
                all.append(&chunk, 0);
            }
            for _ in 0..50 {
                let start = rng.below(offset + 9_000);
                let range = start..start + [rng.below(3), rng.below(20_000)][rng.index(2)];
                let mut found = Vec::new();
                all.each_within(range.clone(), |value| found.push(value));
                let naive = expected.iter().copied().filter(|value| range.contains(&value.offset));
                assert!(naive.eq(found), "seed {seed}, {range:?}");
            }
        }
    }

    #[test]
    fn values_beyond_the_lease_are_dropped() {
        let lease = Lease::alone(1000, "");
        let cases = [(9, 8, 0, false), (9, 8, 990, true), (900, 8, 0, true), (2, 1 << 20, 0, true)];
        for (count, gap, others, is_partial) in cases {
            let mut all = IdOffsets::default();
            for at in 0..count {
                let mut chunk = IdOffsets::new(Some(&lease));
                chunk.push(IdOffset { offset: gap * at, is_id: false });
                all.append(&chunk, others);
            }
            assert_eq!(all.is_partial, is_partial, "{count} {others}");
            let mut kept = 0;
            all.each_within(0..1 << 20, |_| kept += 1);
            assert_eq!(kept, if is_partial { 0 } else { 9 });
            all.append(&IdOffsets::new(Some(&lease)), 0);
            assert_eq!(all.is_partial, is_partial);
        }
    }
}
