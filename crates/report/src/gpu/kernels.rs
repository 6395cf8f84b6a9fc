//! Durations of kernels by name, over all devices.

use super::class::Class;
use super::launched::{OnDevice, millis};
use crate::found::Kernel;
use tracemill_trace::Error;
use tracemill_trace::event::names::Names;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// Durations of the kernels with the same name, in nanoseconds.
#[derive(Clone, Copy)]
struct Sum {
    class: Class,
    count: u64,
    total: i128,
    squares: u128,
    least: i64,
    most: i64,
}

impl Sum {
    /// Returns the sample standard deviation (n − 1). Computes with integers until the last steps.
    fn deviation(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let (count, total) = (u128::from(self.count), self.total.unsigned_abs());
        let (whole, rest) = (total / count, total % count);
        // Computes Σx² − (Σx)²/n, with `whole`² n subtracted first.
        let near = self.squares as i128 - (whole * (total + rest)) as i128;
        let variance = near as f64 - rest as f64 * rest as f64 / count as f64;
        (variance.max(0.0) / (self.count - 1) as f64).sqrt()
    }
}

#[derive(Default)]
pub(super) struct Kernels {
    all: HashMap<(u32, bool), Sum>,
}

impl Kernels {
    pub(super) fn add(
        &mut self,
        device: &OnDevice,
        class: Class,
        room: &Quota,
    ) -> Result<(), Error> {
        let (next, dur) = (self.all.len(), device.dur);
        let key = (device.name, class == Class::Memory);
        let sum = self.all.entry(key).or_insert(Sum {
            class,
            count: 0,
            total: 0,
            squares: 0,
            least: dur,
            most: dur,
        });
        sum.count += 1;
        sum.total += i128::from(dur);
        sum.squares = sum.squares.saturating_add(u128::from(dur.unsigned_abs()).pow(2));
        (sum.least, sum.most) = (sum.least.min(dur), sum.most.max(dur));
        if self.all.len() > next {
            room.take(2 * size_of::<((u32, bool), Sum)>() as u64, "names of kernels")?;
        }
        Ok(())
    }

    pub(super) fn len(&self) -> u64 {
        self.all.len() as u64
    }

    pub(super) fn durations(&self) -> i128 {
        self.all.values().map(|sum| sum.total).sum()
    }

    /// Returns the kernels with the greatest total time. Equal kernels are ordered by count, then
    /// by name.
    pub(super) fn best(&self, rows: usize, names: &Names) -> Vec<Kernel> {
        let mut all: Vec<(&(u32, bool), &Sum)> = self.all.iter().collect();
        all.sort_by(|(a, one), (b, other)| {
            let most = other.total.cmp(&one.total).then(other.count.cmp(&one.count));
            most.then_with(|| (names.bytes_of(a.0), a.1).cmp(&(names.bytes_of(b.0), b.1)))
        });
        let row = |(key, sum): (&(u32, bool), &Sum)| Kernel {
            name: names.text(key.0),
            class: sum.class.name(),
            count: sum.count,
            total: millis(sum.total),
            mean: millis(sum.total) / sum.count as f64,
            deviation: sum.deviation() / 1e6,
            least: millis(i128::from(sum.least)),
            most: millis(i128::from(sum.most)),
            launched_by: None,
        };
        all.into_iter().take(rows).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_deviation_is_exact_far_from_zero() {
        for base in [0i64, 1 << 40] {
            let durations: Vec<i64> =
                [3, 5, 5, 9, 14].iter().map(|duration| duration + base).collect();
            let sum = Sum {
                class: Class::Compute,
                count: 5,
                total: durations.iter().map(|duration| i128::from(*duration)).sum(),
                squares: durations
                    .iter()
                    .map(|duration| u128::from(duration.unsigned_abs()).pow(2))
                    .sum(),
                least: 0,
                most: 0,
            };
            // The mean is 7.2, and the sum of squared distances is 76.8.
            assert!((sum.deviation() - (76.8f64 / 4.0).sqrt()).abs() < 1e-9, "{base}");
        }
    }
}
