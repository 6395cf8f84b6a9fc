//! Entries of many sorted pieces put in order by where their times fall between the first and the last: a distribution sort.
//!
//! ```text
//!   pieces   3 9 | 1 2 8 | 4 7         times are cut into equal stretches, about one an entry
//!   counted  1 . . 1 1 . 2 .           how many fall into each stretch: so it is known where each stretch begins
//!   placed   2 1 | 3 | 4 | 9 8 7       each entry goes there, in one step
//!   sorted   1 2   3   4   7 8 9       neighbours change places
//! ```
//!
//! Cost: two looks at each entry and a few comparisons, however many pieces there are; a merge takes one comparison for each doubling of
//! them. Where times crowd, stretches with many entries are sorted by comparisons. Heap: 64 KiB beside the entries.

use crate::store::entry::Entry;
use crate::store::place::Place;

/// Stretches of time at most; as many as entries are put in order at a time, as a rule.
const STRETCHES: usize = 16 * 1024;
/// Up to so many pieces are merged: one comparison or two an entry are less than two looks at it.
const MERGED: usize = 4;
/// Up to so many entries of one stretch are put in order by exchanging neighbours.
const FEW: u32 = 24;

/// Fills `sorted` with the entries of all pieces, none of them empty, in the order of their 16 bytes.
pub(super) fn sort_pieces(pieces: &[&[Entry]], sorted: &mut Vec<Entry>) {
    sorted.clear();
    let follow = |two: &[&[Entry]]| two[0].last() <= two[1].first();
    let do_follow = pieces.windows(2).all(follow);
    if do_follow || pieces.len() <= MERGED {
        pieces.iter().for_each(|piece| sorted.extend_from_slice(piece));
        if !do_follow {
            // the stable sort finds the pieces and merges them
            sorted.sort();
        }
        return;
    }
    let stretches = Stretches::over(pieces);
    let mut ends = vec![0u32; STRETCHES + 1];
    for entry in pieces.iter().copied().flatten() {
        ends[stretches.of(entry.time) + 1] += 1;
    }
    let crowd = ends.iter().copied().max().unwrap_or_default();
    let mut before = 0;
    for count in &mut ends {
        before += *count;
        *count = before;
    }
    sorted.resize(before as usize, Entry { time: 0, place: Place(0) });
    for entry in pieces.iter().copied().flatten() {
        let next = &mut ends[stretches.of(entry.time)];
        sorted[*next as usize] = *entry;
        *next += 1;
    }
    if crowd > FEW {
        sort_crowds(&ends, sorted);
    }
    exchange_neighbours(sorted);
}

/// Equal stretches of time.
struct Stretches {
    first: i64,
    /// 2 to the power of 64 times the stretches that a nanosecond is of.
    of_nanosecond: u64,
}

impl Stretches {
    fn over(pieces: &[&[Entry]]) -> Self {
        let first = pieces.iter().map(|piece| piece[0].time).min().unwrap_or_default();
        let last = pieces.iter().map(|piece| piece[piece.len() - 1].time).max().unwrap_or_default();
        let all = (STRETCHES as u128) << 64;
        let of_nanosecond = all / (u128::from(last.abs_diff(first)) + 1);
        Stretches { first, of_nanosecond: of_nanosecond.try_into().unwrap_or(u64::MAX) }
    }

    #[inline(always)]
    fn of(&self, time: i64) -> usize {
        let since = time.abs_diff(self.first);
        ((u128::from(since) * u128::from(self.of_nanosecond)) >> 64) as usize
    }
}

/// Sorts the stretches of many entries; each ends where `ends` says.
fn sort_crowds(ends: &[u32], sorted: &mut [Entry]) {
    let mut start = 0;
    for &end in &ends[..STRETCHES] {
        if end - start > FEW {
            // entries of a piece are in order still, which the stable sort makes use of
            sorted[start as usize..end as usize].sort();
        }
        start = end;
    }
}

/// Sorts entries that are nearly in order: an insertion sort.
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

    /// A sequence without a pattern.
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

    /// Times all over, crowded, few, one alone, at the ends of what there is.
    #[test]
    fn as_a_sort_by_comparisons() {
        check(&[]);
        let spans: [u64; 6] = [1, 3, 500, 1 << 20, 1 << 62, u64::MAX];
        for (seed, (&span, count)) in (0..)
            .zip(spans.iter().flat_map(|span| [2, 40, 3000, 40_000].map(|count| (span, count))))
        {
            let times = numbers(seed).map(|number| match number % 3 {
                0 => (number % span) as i64,
                // crowded about one time
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
