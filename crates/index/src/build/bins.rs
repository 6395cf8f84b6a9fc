//! Sums the short slices of each track over time intervals, called bins, for drawing.
//!
//! A bin is 2^k ns long and begins at a multiple of 2^k ns. The final k is the least that yields at
//! most the allowed number of bins. Until all events are read, k grows with the data. Coarse bins
//! are sums of finer bins, so joining bins late gives the same result.

use crate::format::{Writer, bins::NO_NAME, id};
use crate::pages::write_rows;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use tracemill_trace::spill::hash::HashMap;

/// The sums over the slices that begin in a bin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bin {
    pub(super) count: u64,
    /// Total duration in nanoseconds; for a counter the bits of the least value.
    pub(super) busy: i64,
    /// Longest duration in nanoseconds; for a counter the bits of the greatest value.
    pub(super) longest: i64,
    /// Offset of the longest slice; of equally long slices, the first.
    pub(super) place: u64,
    pub(super) name: u32,
    pub(super) is_counter: bool,
}

impl Bin {
    /// Returns the bin of one slice or instant.
    pub(super) fn of(dur: i64, place: u64, name: u32) -> Self {
        Bin { count: 1, busy: dur, longest: dur, place, name, is_counter: false }
    }

    /// Returns the bin of one counter sample.
    pub(super) fn of_sample(value: f64, place: u64) -> Self {
        let bits = value.to_bits() as i64;
        Bin { count: 1, busy: bits, longest: bits, place, name: 0, is_counter: true }
    }

    fn join(&mut self, other: &Bin) {
        self.count += other.count;
        if self.is_counter {
            // a total order, so that 0 and -0 compare the same in any order
            let is_less = |a: i64, b: i64| {
                f64::from_bits(a as u64).total_cmp(&f64::from_bits(b as u64)).is_lt()
            };
            if is_less(other.busy, self.busy) {
                self.busy = other.busy;
            }
            if is_less(self.longest, other.longest) {
                self.longest = other.longest;
            }
            return;
        }
        self.busy = self.busy.saturating_add(other.busy);
        let is_longer = |bin: &Bin| (bin.longest, !bin.place);
        if is_longer(other) > is_longer(self) {
            (self.longest, self.place, self.name) = (other.longest, other.place, other.name);
        }
    }
}

/// The index of a track, and the index of a bin in the track.
type BinKey = (u32, i64);

fn join(all: &mut HashMap<BinKey, Bin>, key: BinKey, bin: Bin) {
    all.entry(key).and_modify(|known| known.join(&bin)).or_insert(bin);
}

pub(super) struct PartBins {
    level: u32,
    all: HashMap<BinKey, Bin>,
    /// Last bin of each track, since consecutive events mostly fall into the same bin.
    last: [Option<(BinKey, Bin)>; LAST],
}

/// Number of tracks whose last bin is cached.
const LAST: usize = 64;

impl PartBins {
    pub(super) fn new(level: u32) -> Self {
        PartBins { level, all: HashMap::default(), last: [None; LAST] }
    }

    #[inline]
    pub(super) fn add(&mut self, lane: u32, start: i64, bin: Bin) {
        let key = (lane, start >> self.level);
        match &mut self.last[lane as usize % LAST] {
            Some((last_key, last)) if *last_key == key => last.join(&bin),
            last => {
                if let Some((last_key, last)) = last.replace((key, bin)) {
                    join(&mut self.all, last_key, last);
                }
            }
        }
    }
}

impl PartBins {
    /// Passes track, start, level and count of each bin to `visit`, except bins of counters. Some
    /// bins come in two parts.
    pub(super) fn each(&self, mut visit: impl FnMut(u32, (i64, u32), u64)) {
        let last = self.last.iter().flatten().map(|(key, bin)| (key, bin));
        for ((lane, number), bin) in self.all.iter().chain(last) {
            if !bin.is_counter {
                visit(*lane, (number << self.level, self.level), bin.count);
            }
        }
    }
}

/// The bins of the whole text. Their number is limited.
pub(super) struct AllBins {
    /// A bin is 2^`level` ns long.
    pub(super) level: u32,
    floor: Arc<AtomicU32>,
    most: usize,
    all: HashMap<BinKey, Bin>,
    /// Whether there are more tracks than allowed bins; then no bins are kept.
    is_full: bool,
}

impl AllBins {
    pub(super) fn new(most: usize) -> Self {
        AllBins { level: 0, floor: Arc::default(), most, all: HashMap::default(), is_full: false }
    }

    /// Returns the current level of the bins, shared with workers. Finer bins are not needed.
    pub(super) fn floor(&self) -> Arc<AtomicU32> {
        Arc::clone(&self.floor)
    }

    /// Appends the bins of the next chunk. `lane` and `name` convert numbers of tracks and names in
    /// the chunk to numbers in the whole text.
    pub(super) fn append(
        &mut self,
        mut part: PartBins,
        lane: impl Fn(u32) -> u32,
        name: impl Fn(u32) -> u32,
    ) {
        for (key, bin) in part.last.into_iter().flatten() {
            join(&mut part.all, key, bin);
        }
        #[expect(clippy::iter_over_hash_type, reason = "joined bins are the same in any order")]
        for ((track, number), bin) in part.all {
            // counter samples have no name
            let name = if bin.is_counter { 0 } else { name(bin.name) };
            let bin = Bin { name, ..bin };
            self.put((lane(track), number >> (self.level - part.level)), bin);
        }
        self.fit();
    }

    pub(super) fn add(&mut self, lane: u32, start: i64, bin: Bin) {
        self.put((lane, start >> self.level), bin);
        self.fit();
    }

    fn put(&mut self, key: BinKey, bin: Bin) {
        if !self.is_full {
            join(&mut self.all, key, bin);
        }
    }

    fn fit(&mut self) {
        if self.all.len() > self.most && self.level < 63 {
            self.coarsen();
        }
        if !self.fits() {
            (self.all, self.is_full) = (HashMap::default(), true);
        }
        self.floor.store(self.level, Relaxed);
    }

    #[cold]
    fn coarsen(&mut self) {
        let mut rows: Vec<(BinKey, Bin)> = std::mem::take(&mut self.all).into_iter().collect();
        rows.sort_unstable_by_key(|&(key, _)| key);
        // neighbors share a bin once all bits in which they differ are dropped
        let mut apart = [0_usize; 65];
        for pair in rows.windows(2) {
            let [((lane, number), _), ((next_lane, next), _)] = [pair[0], pair[1]];
            let bits = if lane == next_lane { 64 - (number ^ next).leading_zeros() } else { 64 };
            apart[bits as usize] += 1;
        }
        let bins = |steps: u32| 1 + apart[steps as usize + 1..].iter().sum::<usize>();
        let steps = (1..63 - self.level).find(|&steps| bins(steps) <= self.most);
        let steps = steps.unwrap_or(63 - self.level);
        self.level += steps;
        self.all.reserve(bins(steps));
        for ((lane, number), bin) in rows {
            self.put((lane, number >> steps), bin);
        }
    }

    pub(super) fn fits(&self) -> bool {
        !self.is_full && self.all.len() <= self.most
    }

    /// Writes BINS, without the slices that are listed individually.
    ///
    /// `listed` yields track, start and duration of the slices longer than 2^`level` ns.
    pub(super) fn write<W: io::Write>(
        &self,
        number_of: impl Fn(u32) -> u64,
        level: u32,
        listed: impl FnOnce(&mut dyn FnMut(u32, i64, i64)) -> io::Result<()>,
        to: &mut Writer<W>,
    ) -> io::Result<()> {
        let mut all = self.all.clone();
        listed(&mut |lane, start, dur| {
            if let Some(bin) = all.get_mut(&(lane, start >> self.level)) {
                bin.count = bin.count.saturating_sub(1);
                bin.busy = bin.busy.saturating_sub(dur);
            }
        })?;
        let mut rows: Vec<BinRow> = all
            .into_iter()
            .filter(|(_, bin)| bin.count > 0)
            .map(|((lane, number), bin)| (number_of(lane), number, bin))
            .collect();
        rows.sort_unstable_by_key(|&(lane, number, _)| (lane, number));
        for (_, _, bin) in &mut rows {
            let is_listed = crate::meta::level(bin.longest.unsigned_abs()) > level;
            if is_listed && !bin.is_counter {
                bin.name = NO_NAME;
            }
        }
        let row = |(lane, number, bin): BinRow| {
            let Bin { count, busy, longest, name, .. } = bin;
            let row = [lane, number as u64, count, busy as u64, longest as u64, u64::from(name)];
            (row, lane)
        };
        write_rows(id::BINS, rows.into_iter().map(row), to)
    }
}

type BinRow = (u64, i64, Bin);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the bins of intervals added in chunks of `each`.
    fn counted(all: &[(u32, i64, i64)], each: usize) -> (u32, Vec<(BinKey, u64, i64, u32)>) {
        let mut bins = AllBins::new(20);
        for (number, part) in all.chunks(each).enumerate() {
            let mut part_bins = PartBins::new(bins.floor().load(Relaxed));
            for (at, &(lane, start, dur)) in part.iter().enumerate() {
                let place = (number * each + at) as u64;
                part_bins.add(lane, start, Bin::of(dur, place, place as u32));
            }
            bins.append(part_bins, |lane| lane, |name| name);
        }
        let mut rows: Vec<_> =
            bins.all.iter().map(|(key, bin)| (*key, bin.count, bin.busy, bin.name)).collect();
        rows.sort_unstable();
        (bins.level, rows)
    }

    #[test]
    fn chunk_size_does_not_change_bins() {
        // the first two share a cache slot
        let lane = |at: i64| [0, LAST as u32, 5][at as usize % 3];
        let event = |at: i64| (lane(at), (at * 7919) % 5000 - 1000, at % 11);
        let all: Vec<_> = (0..700).map(event).collect();
        let whole = counted(&all, 700);
        assert!(whole.0 > 0 && whole.1.len() <= 20);
        assert_eq!(whole.1.iter().map(|row| row.1).sum::<u64>(), 700);
        for each in [1, 7, 64, 699] {
            assert_eq!(counted(&all, each), whole, "{each}");
        }
    }
}
