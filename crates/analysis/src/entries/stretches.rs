//! The time ranges of a thread that a query counts, and a clock that stops between them.

use crate::entries::Entry;

/// Sorted ranges in ticks (time units of the trace's clock) that neither overlap nor touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stretches {
    all: Vec<(f64, f64)>,
    /// Total length of all earlier ranges, for each range.
    before: Vec<f64>,
    total: f64,
}

impl Stretches {
    /// Joins overlapping or touching ranges, in any order. Cost: a sort.
    pub(crate) fn of(mut given: Vec<(f64, f64)>) -> Self {
        given.sort_by(|a, b| a.0.total_cmp(&b.0));
        Stretches::of_sorted(given.into_iter())
    }

    /// Joins ranges that are sorted by their starts.
    pub(crate) fn of_sorted(given: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut all: Vec<(f64, f64)> = Vec::new();
        for (from, to) in given.filter(|(from, to)| from <= to) {
            match all.last_mut().filter(|last| from <= last.1) {
                Some(last) => last.1 = last.1.max(to),
                None => all.push((from, to)),
            }
        }
        let mut total = 0.0;
        let mut before = Vec::with_capacity(all.len());
        for (from, to) in &all {
            before.push(total);
            total += to - from;
        }
        Stretches { all, before, total }
    }

    /// Returns the total length in ticks.
    pub(crate) fn total(&self) -> f64 {
        self.total
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.all.iter().copied()
    }

    /// Returns the time that both lists contain. Cost: visits each range of both lists.
    pub(crate) fn and(&self, other: &Stretches) -> Self {
        let (mut a, mut b) = (0, 0);
        let mut both = Vec::new();
        while a < self.all.len() && b < other.all.len() {
            let (range, its) = (self.all[a], other.all[b]);
            let (from, to) = (range.0.max(its.0), range.1.min(its.1));
            if from < to {
                both.push((from, to));
            }
            if range.1 < its.1 { a += 1 } else { b += 1 }
        }
        Stretches::of(both)
    }

    /// Returns the time of these ranges that `other` does not contain. Cost: visits each range of
    /// both lists.
    pub(crate) fn without(&self, other: &Stretches) -> Self {
        let ends = other.all.iter().flat_map(|(from, to)| [*from, *to]);
        let bounds = [&[f64::NEG_INFINITY][..], &ends.collect::<Vec<_>>(), &[f64::INFINITY]];
        let gaps = bounds.concat().chunks(2).map(|gap| (gap[0], gap[1])).collect();
        // The gaps are not joined: those on both sides of an empty range touch.
        self.and(&Stretches { all: gaps, ..Stretches::default() })
    }

    /// Returns the total length of the ranges before a time.
    pub(crate) fn until(&self, time: f64) -> f64 {
        let behind = self.all.partition_point(|(from, _)| *from <= time);
        let Some(at) = behind.checked_sub(1) else { return 0.0 };
        let (from, to) = self.all[at];
        self.before[at] + (time.min(to) - from)
    }

    pub(crate) fn holds(&self, time: f64) -> bool {
        let behind = self.all.partition_point(|(from, _)| *from <= time);
        behind > 0 && time <= self.all[behind - 1].1
    }

    /// Returns the counted part of an entry, on the clock that stops between the ranges. Returns
    /// `None` if no range contains any of it. Nesting is preserved.
    pub(crate) fn clip(&self, entry: &Entry) -> Option<Entry> {
        if entry.dur == 0.0 || entry.dur.is_nan() {
            let inside = self.holds(entry.ts);
            return inside.then(|| entry.moved(self.until(entry.ts), entry.dur));
        }
        let (ts, end) = (self.until(entry.ts), self.until(entry.end()));
        (end > ts).then(|| entry.moved(ts, duration(ts, end)))
    }
}

/// Returns a duration for which `ts` plus the duration is exactly `end`: the rounded difference, or
/// the next double above or below.
fn duration(ts: f64, end: f64) -> f64 {
    let dur = end - ts;
    let near = [dur, dur.next_down(), dur.next_up()];
    near.into_iter().find(|dur| ts + dur == end).unwrap_or(dur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_joined_and_clipped() {
        let a = Stretches::of(vec![(5.0, 9.0), (1.0, 3.0), (2.0, 4.0)]);
        assert_eq!(a.iter().collect::<Vec<_>>(), [(1.0, 4.0), (5.0, 9.0)]);
        let b = Stretches::of(vec![(3.0, 6.0), (8.0, 20.0)]);
        assert_eq!(a.and(&b).iter().collect::<Vec<_>>(), [(3.0, 4.0), (5.0, 6.0), (8.0, 9.0)]);
        assert_eq!(a.without(&b).iter().collect::<Vec<_>>(), [(1.0, 3.0), (6.0, 8.0)]);
        assert_eq!(a.without(&Stretches::default()), a);
        assert_eq!((a.total(), a.until(0.0), a.until(4.5), a.until(6.0)), (7.0, 0.0, 3.0, 4.0));
        assert!(a.holds(9.0) && !a.holds(4.5) && !a.holds(0.0));
    }

    #[test]
    fn clipped_ends_are_bit_equal() {
        let mut state = 7u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let ts = (state >> 20) as f64 / 997.0;
            let end = ts + (state & 0xFFFFF) as f64 / 1013.0;
            assert_eq!((ts + duration(ts, end)).to_bits(), end.to_bits(), "{ts} {end}");
        }
    }
}
