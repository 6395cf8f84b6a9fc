//! Sorts entries from many sorted pieces with a distribution sort by time.
//!
//! ```text
//!   pieces   3 9 | 1 2 8 | 4 7         time is divided into equal intervals, about one per entry
//!   counted  1 . . 1 1 . 2 .           counts per interval give the start of each interval
//!   placed   2 1 | 3 | 4 | 9 8 7       each entry is put into its interval, in one step
//!   sorted   1 2   3   4   7 8 9       insertion sort within intervals
//! ```
//!
//! Cost: two passes and a few comparisons per entry, for any number of pieces. Crowded intervals
//! are sorted by comparisons. Heap: 64 KiB plus the entries.

use crate::store::entry::Entry;
use crate::store::place::Place;

/// Number of intervals of time, about the number of entries sorted at once.
const INTERVALS: usize = 16 * 1024;
/// Maximum number of pieces that are merged instead of distributed. A merge of few pieces is
/// faster.
const MERGED: usize = 4;
/// Maximum number of entries of an interval that the insertion sort handles.
const FEW: u32 = 24;

/// Fills `sorted` with the entries of all pieces, sorted by their 16 bytes. No piece may be empty.
pub(super) fn sort_pieces(pieces: &[&[Entry]], sorted: &mut Vec<Entry>) {
    sorted.clear();
    let follow = |two: &[&[Entry]]| two[0].last() <= two[1].first();
    let do_follow = pieces.windows(2).all(follow);
    if do_follow || pieces.len() <= MERGED {
        pieces.iter().for_each(|piece| sorted.extend_from_slice(piece));
        if !do_follow {
            // the stable sort detects the pieces and merges them
            sorted.sort();
        }
        return;
    }
    let intervals = Intervals::over(pieces);
    let mut ends = vec![0u32; INTERVALS + 1];
    for entry in pieces.iter().copied().flatten() {
        ends[intervals.of(entry.time) + 1] += 1;
    }
    let crowd = ends.iter().copied().max().unwrap_or_default();
    let mut before = 0;
    for count in &mut ends {
        before += *count;
        *count = before;
    }
    sorted.resize(before as usize, Entry { time: 0, place: Place(0) });
    for entry in pieces.iter().copied().flatten() {
        let next = &mut ends[intervals.of(entry.time)];
        sorted[*next as usize] = *entry;
        *next += 1;
    }
    if crowd > FEW {
        sort_crowds(&ends, sorted);
    }
    exchange_neighbours(sorted);
}

struct Intervals {
    first: i64,
    /// Number of intervals per nanosecond, times 2^64.
    of_nanosecond: u64,
}

impl Intervals {
    fn over(pieces: &[&[Entry]]) -> Self {
        let first = pieces.iter().map(|piece| piece[0].time).min().unwrap_or_default();
        let last = pieces.iter().map(|piece| piece[piece.len() - 1].time).max().unwrap_or_default();
        let all = (INTERVALS as u128) << 64;
        let of_nanosecond = all / (u128::from(last.abs_diff(first)) + 1);
        Intervals { first, of_nanosecond: of_nanosecond.try_into().unwrap_or(u64::MAX) }
    }

    #[inline(always)]
    fn of(&self, time: i64) -> usize {
        let since = time.abs_diff(self.first);
        ((u128::from(since) * u128::from(self.of_nanosecond)) >> 64) as usize
    }
}

/// Sorts the crowded intervals, whose ends are in `ends`.
fn sort_crowds(ends: &[u32], sorted: &mut [Entry]) {
    let mut start = 0;
    for &end in &ends[..INTERVALS] {
        if end - start > FEW {
            // entries of a piece are still in order, which speeds up the stable sort
            sorted[start as usize..end as usize].sort();
        }
        start = end;
    }
}

/// Sorts nearly sorted entries by insertion.
fn exchange_neighbours(entries: &mut [Entry]) {
    for at in 1..entries.len() {
        let entry = entries[at];
        let mut to = at;
        while to > 0 && entry < entries[to - 1] {
            entries[to] = entries[to - 1];
            to -= 1;
        }
        entries[to] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64) -> impl Iterator<Item = u64> {
        (seed..).map(move |number| crate::spill::hash::mix(number, seed))
    }

    #[track_caller]
    fn check(pieces: &[Vec<Entry>]) {
        let mut expected = pieces.concat();
        expected.sort_unstable();
        let pieces: Vec<&[Entry]> = pieces.iter().map(Vec::as_slice).collect();
        let mut sorted = vec![Entry { time: 7, place: Place(7) }; 5];
        sort_pieces(&pieces, &mut sorted);
        assert_eq!(sorted, expected);
    }

    /// Covers spread, crowded, few and single times, and the extremes of `i64`.
    #[test]
    fn sorts_like_a_comparison_sort() {
        check(&[]);
        let spans: [u64; 6] = [1, 3, 500, 1 << 20, 1 << 62, u64::MAX];
        for (seed, (&span, count)) in (0..)
            .zip(spans.iter().flat_map(|span| [2, 40, 3000, 40_000].map(|count| (span, count))))
        {
            let times = numbers(seed).map(|number| match number % 3 {
                0 => (number % span) as i64,
                1 => (number % span.min(1000)) as i64,
                _ => i64::MIN.wrapping_add((number % span) as i64),
            });
            let entries = times.zip(numbers(seed + 99)).take(count);
            let entry = |(time, place)| Entry { time, place: Place(place) };
            let entries: Vec<Entry> = entries.map(entry).collect();
            let length = (seed as usize % 7 + 1) * count.div_ceil(20);
            let mut pieces: Vec<Vec<Entry>> =
                entries.chunks(length).map(<[Entry]>::to_vec).collect();
            pieces.iter_mut().for_each(|piece| piece.sort_unstable());
            check(&pieces);
        }
    }
}
