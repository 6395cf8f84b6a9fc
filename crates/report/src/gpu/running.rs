//! Sums the time in which classes of kernels run at once on a device, in one walk over its events
//! in order.

use super::class::Mask;

/// Nanoseconds for each set of classes that run at once.
pub(super) struct Times {
    /// Nanoseconds by the bits of the set. Element 0 is idle time.
    pub(super) by_mask: [i64; Mask::COUNT],
}

/// State of the walk over a device.
pub(super) struct Running {
    /// Time up to which the sums are complete.
    at: i64,
    /// End of the last event of each class.
    ends: [i64; Mask::COUNT.ilog2() as usize],
    by_mask: [i64; Mask::COUNT],
}

impl Running {
    /// Creates the state at the start of the first event.
    pub(super) fn from(at: i64) -> Self {
        Running { at, ends: [at; Mask::COUNT.ilog2() as usize], by_mask: [0; Mask::COUNT] }
    }

    /// Adds the next event. Cost: constant, since there are few classes.
    pub(super) fn add(&mut self, begin: i64, end: i64, mask: Mask) {
        self.advance(begin);
        let latest = &mut self.ends[mask.bits().trailing_zeros() as usize];
        *latest = (*latest).max(end);
    }

    fn advance(&mut self, to: i64) {
        while self.at < to {
            let running = || (0..self.ends.len()).filter(|&class| self.ends[class] > self.at);
            let mask: usize = running().map(|class| 1 << class).sum();
            let next = running().map(|class| self.ends[class]).min().map_or(to, |end| end.min(to));
            self.by_mask[mask] += next - self.at;
            self.at = next;
        }
    }

    /// Completes the sums up to the end of the last event.
    pub(super) fn finish(mut self) -> Times {
        let last = self.ends.iter().copied().max().unwrap_or(self.at);
        self.advance(last);
        Times { by_mask: self.by_mask }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_testkit::{Rng, seeds};

    #[test]
    fn sums_match_a_count_of_every_nanosecond() {
        for seed in seeds(0, 200) {
            let mut rng = Rng::new(seed);
            let mut all: Vec<(i64, i64, usize)> = (0..1 + rng.index(12))
                .map(|_| {
                    let begin = rng.index(60) as i64;
                    (begin, begin + rng.index(15) as i64, rng.index(4))
                })
                .collect();
            all.sort_by_key(|event| event.0);
            let masks = [Mask::COMPUTE, Mask::COMMUNICATION, Mask::MEMORY, Mask::OTHER];
            let mut running = Running::from(all[0].0);
            all.iter().for_each(|&(begin, end, class)| running.add(begin, end, masks[class]));
            let mut counted = [0; Mask::COUNT];
            let last = all.iter().map(|event| event.1).max().expect("one");
            for at in all[0].0..last {
                let is_open = |event: &&(i64, i64, usize)| event.0 <= at && at < event.1;
                let mask = all.iter().filter(is_open).fold(0, |mask, event| mask | 1 << event.2);
                counted[mask] += 1;
            }
            assert_eq!(running.finish().by_mask, counted, "seed {seed}");
        }
    }
}
