//! Sets of byte ranges.

use std::ops::Range;

/// Greatest number of bytes between two ranges that one request reads.
const GAP: u64 = 1 << 20;
/// Least number of bytes of a request, because the next range is often near.
const LEAST: u64 = 256 << 10;
/// Greatest number of bytes of a request.
const PART: u64 = 8 << 20;

/// Byte ranges, ascending and apart.
#[derive(Debug, Default)]
pub(crate) struct RangeSet(Vec<Range<u64>>);

impl RangeSet {
    /// Adds a range.
    pub(crate) fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|known| known.end < range.start);
        let end = self.0.partition_point(|known| known.start <= range.end);
        let touched = &self.0[first..end];
        let start = touched.first().map_or(range.start, |known| known.start.min(range.start));
        let last = touched.last().map_or(range.end, |known| known.end.max(range.end));
        self.0.splice(first..end, std::iter::once(start..last));
    }

    /// Returns the parts of `ranges` that are not in the set, as the ranges of requests to an object of
    /// `length` bytes: gaps of up to 1 MiB are read too. A request has 256 KiB to 8 MiB. `ranges`
    /// ascend.
    pub(crate) fn requests(&self, ranges: &[Range<u64>], length: u64) -> Vec<Range<u64>> {
        let mut missing = RangeSet::default();
        for range in ranges.iter().filter(|range| !range.is_empty()) {
            let mut start = range.start;
            let first = self.0.partition_point(|known| known.end <= range.start);
            for known in self.0[first..].iter().take_while(|known| known.start < range.end) {
                missing.add(start..known.start.max(start));
                start = known.end;
            }
            missing.add(start.min(range.end)..range.end);
        }
        let mut joined: Vec<Range<u64>> = Vec::new();
        for range in missing.0 {
            let range = range.start..range.end.max(range.start + LEAST).min(length);
            match joined.last_mut() {
                Some(last) if range.start <= last.end + GAP => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        let parts = |range: Range<u64>| {
            let starts = range.clone().step_by(PART as usize);
            starts.map(move |start| start..range.end.min(start + PART))
        };
        joined.into_iter().flat_map(parts).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::Rng;

    /// Returns the bytes of ranges, in units of 64 KiB.
    fn units(ranges: &[Range<u64>]) -> Vec<bool> {
        (0..400).map(|unit| ranges.iter().any(|range| range.contains(&(unit << 16)))).collect()
    }

    #[test]
    fn requests_have_what_is_missing() {
        for seed in 0..300 {
            let mut rng = Rng::new(seed);
            let mut random = || {
                let start = rng.below(380);
                start << 16..(start + 1 + rng.below(18)) << 16
            };
            let known: Vec<_> = (0..seed % 7).map(|_| random()).collect();
            let mut wanted: Vec<_> = (0..seed % 5).map(|_| random()).collect();
            wanted.sort_by_key(|range| range.start);
            let mut set = RangeSet::default();
            known.iter().for_each(|range| set.add(range.clone()));
            assert_eq!(units(&set.0), units(&known), "seed {seed}");
            assert!(set.0.windows(2).all(|pair| pair[0].end < pair[1].start));
            let requests = set.requests(&wanted, 400 << 16);
            let [known, wanted, requested] = [&known, &wanted, &requests].map(|all| units(all));
            for unit in 0..400 {
                assert!(requested[unit] || known[unit] || !wanted[unit], "seed {seed}: {unit}");
            }
            let is_long = |range: &Range<u64>| range.end - range.start > PART;
            assert!(!requests.iter().any(is_long), "seed {seed}");
            // what is requested beyond that lies in gaps, or fills a request
            let mut run = 0;
            for unit in 0..400 {
                let is_needed = wanted[unit] && !known[unit];
                run = if requested[unit] && !is_needed { run + 1 } else { 0 };
                assert!(run <= (GAP + LEAST) >> 16, "seed {seed}: {unit}");
            }
        }
    }
}
