//! Counts events over time in constant memory, and finds gaps.
//!
//! Time is divided into bins of 2^k ns, aligned to multiples of 2^k, with the smallest k for which
//! all events fit. Two neighbors merge into a bin of twice the length, so bins become coarser as
//! the range grows. The result depends only on the events, not on their order or on chunk
//! boundaries.
//!
//! Each bin keeps the first begin and the last end of its events. A gap of at least the bin length
//! has its two ends in different bins, so it is found exactly; shorter gaps are not reported.

use super::report::{Density, Gap};

/// Number of bins; gaps longer than about 1/2000 of the range are always found.
const BINS: usize = 4096;

#[derive(Clone, Copy, Default)]
struct TimelineBin {
    events: u64,
    first: i64,
    end: i64,
}

impl TimelineBin {
    #[inline]
    fn add(&mut self, other: TimelineBin) {
        if self.events == 0 {
            *self = other;
        } else if other.events > 0 {
            self.events += other.events;
            self.first = self.first.min(other.first);
            self.end = self.end.max(other.end);
        }
    }
}

#[derive(Default)]
pub(super) struct Timeline {
    /// Bin `n` covers times from `n << shift` and is stored in slot `n % BINS`; empty before the
    /// first event.
    bins: Vec<TimelineBin>,
    /// A second buffer of the same size, because allocating fresh memory is slow.
    spare: Vec<TimelineBin>,
    shift: u32,
    /// The number of the first bin with events.
    low: i64,
    /// The number of the last bin with events.
    high: i64,
}

fn slot(number: i64) -> usize {
    number as usize % BINS
}

impl Timeline {
    #[inline]
    pub(super) fn note(&mut self, ts: i64, end: i64) {
        self.note_all(1, ts, end);
    }

    /// Adds `events` events that begin at `ts`. The greatest end is `end`.
    #[inline]
    pub(super) fn note_all(&mut self, events: u64, ts: i64, end: i64) {
        let number = ts >> self.shift;
        if self.bins.is_empty() || number < self.low || number > self.high {
            self.make_room(ts);
        }
        self.bins[slot(ts >> self.shift)].add(TimelineBin { events, first: ts, end });
    }

    #[cold]
    fn make_room(&mut self, ts: i64) {
        if self.bins.is_empty() {
            self.bins = vec![TimelineBin::default(); BINS];
            (self.low, self.high) = (ts, ts);
        }
        self.extend(self.shift, ts >> self.shift, ts >> self.shift);
    }

    /// Extends the range to the bins `low` to `high`, of 2^`shift` ns each. `shift` is not less
    /// than the current shift. Makes bins longer until they suffice for the range.
    fn extend(&mut self, shift: u32, low: i64, high: i64) {
        let coarser = shift - self.shift;
        let mut low = low.min(self.low >> coarser);
        let mut high = high.max(self.high >> coarser);
        let mut more = coarser;
        while high.wrapping_sub(low) as u64 >= BINS as u64 {
            (low, high, more) = (low >> 1, high >> 1, more + 1);
        }
        if more > 0 {
            self.spare.resize(BINS, TimelineBin::default());
            std::mem::swap(&mut self.bins, &mut self.spare);
            for number in self.low..=self.high {
                let bin = std::mem::take(&mut self.spare[slot(number)]);
                self.bins[slot(number >> more)].add(bin);
            }
            self.shift += more;
        }
        (self.low, self.high) = (low, high);
    }

    pub(super) fn append(&mut self, later: Timeline) {
        if self.bins.is_empty() {
            *self = later;
            return;
        }
        if later.bins.is_empty() {
            return;
        }
        let shift = self.shift.max(later.shift);
        let coarser = shift - later.shift;
        self.extend(shift, later.low >> coarser, later.high >> coarser);
        let coarser = self.shift - later.shift;
        for number in later.low..=later.high {
            self.bins[slot(number >> coarser)].add(later.bins[slot(number)]);
        }
    }

    fn filled(&self) -> impl Iterator<Item = (i64, &TimelineBin)> {
        let numbers = (!self.bins.is_empty()).then_some(self.low..=self.high);
        let bins = numbers.into_iter().flatten().map(|number| (number, &self.bins[slot(number)]));
        bins.filter(|(_, bin)| bin.events > 0)
    }

    pub(super) fn density(&self) -> Option<Density> {
        if self.bins.is_empty() {
            return None;
        }
        let (mut low, mut high, mut more) = (self.low, self.high, 0);
        while high.wrapping_sub(low) as u64 >= Density::COLUMNS as u64 {
            (low, high, more) = (low >> 1, high >> 1, more + 1);
        }
        let mut events = vec![0; (high - low) as usize + 1];
        for (number, bin) in self.filled() {
            events[((number >> more) - low) as usize] += bin.events;
        }
        let shift = self.shift + more;
        Some(Density { start_ns: low << shift, column_ns: 1 << shift, events })
    }

    pub(super) fn least_gap(&self) -> u64 {
        1 << self.shift
    }

    /// Returns up to `most` of the longest gaps, longest first, then by time.
    pub(super) fn gaps(&self, most: usize) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let mut end: Option<i64> = None;
        for (_, bin) in self.filled() {
            if let Some(from_ns) = end.filter(|&end| end < bin.first) {
                gaps.push(Gap { from_ns, to_ns: bin.first });
            }
            end = Some(end.map_or(bin.end, |end| end.max(bin.end)));
        }
        gaps.retain(|gap| gap.length_ns() >= self.least_gap());
        gaps.sort_by_key(|gap| (!gap.length_ns(), gap.from_ns));
        gaps.truncate(most);
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    fn naive_gaps(events: &[(i64, i64)], least: u64) -> Vec<Gap> {
        let mut sorted = events.to_vec();
        sorted.sort_unstable();
        let (mut gaps, mut end) = (Vec::new(), sorted[0].1);
        for &(ts, event_end) in &sorted {
            let gap = Gap { from_ns: end, to_ns: ts };
            if ts > end && gap.length_ns() >= least {
                gaps.push(gap);
            }
            end = end.max(event_end);
        }
        gaps.sort_by_key(|gap| (!gap.length_ns(), gap.from_ns));
        gaps
    }

    #[test]
    fn bins_do_not_depend_on_order_or_parts() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let spread = 1 + rng.below(62);
            let mut time = || (rng.bits() as i64) >> (63 - spread);
            let mut events: Vec<(i64, i64)> = (0..1 + seed % 90)
                .map(|_| (time(), time()))
                .map(|(ts, dur)| (ts, ts.saturating_add((dur.saturating_abs()) >> 5)))
                .collect();
            if seed % 5 == 0 {
                events.extend([(i64::MIN, i64::MIN), (i64::MAX, i64::MAX)]);
            }
            let of = |events: &[(i64, i64)]| {
                let mut timeline = Timeline::default();
                events.iter().for_each(|&(ts, end)| timeline.note(ts, end));
                timeline
            };
            let whole = of(&events);
            let mut parts = Timeline::default();
            events.chunks(1 + seed as usize % 7).rev().for_each(|part| parts.append(of(part)));
            assert_eq!(parts.density(), whole.density(), "{seed}");
            let gaps = naive_gaps(&events, whole.least_gap());
            for timeline in [&whole, &parts] {
                assert_eq!(timeline.gaps(usize::MAX), gaps, "{seed}");
            }
            let density = whole.density().expect("events");
            assert_eq!(density.events.iter().sum::<u64>(), events.len() as u64);
            let first = events.iter().map(|event| event.0).min().expect("events");
            assert!(
                density.start_ns <= first && first - density.start_ns < density.column_ns as i64
            );
        }
    }

    #[test]
    fn empty_timeline_has_no_density() {
        let mut empty = Timeline::default();
        empty.append(Timeline::default());
        assert_eq!((empty.density(), empty.gaps(5)), (None, Vec::new()));
    }
}
