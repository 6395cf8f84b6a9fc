//! Estimates the variance of a sum of times from the samples or events of a single run.
//!
//! The variance of a sum of samples is the sum of their squared times, because the number of
//! samples varies by chance (Poisson). The same applies to a sum of few events. If both sides have
//! at least [`EVENTS`] events, the variance is the sum of two parts:
//!
//! * durations: n times the variance of one event, as in Welch's test;
//! * counts: the squared mean, times the sum of both counts, but at most the square of twice their
//!   difference.

use super::stats::{Judged, normal_of_t, t_of_normal, two_sided};

/// Minimum number of events per side for an estimate of the variance of durations.
const EVENTS: f64 = 5.0;
/// Resolution of times, in milliseconds.
const RESOLUTION: f64 = 1e-6;
/// Number of standard deviations that contain 95 % of a normal distribution.
const WITHIN_95: f64 = 1.959_964;

/// The sums over the samples or events from which a time is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub(super) count: f64,
    pub(super) sum: f64,
    pub(super) squares: f64,
    pub(super) is_sampled: bool,
}

impl Spread {
    pub(super) fn add(&mut self, time: f64) {
        self.count += 1.0;
        self.sum += time;
        self.squares += time * time;
    }

    pub(super) fn extend(&mut self, other: Spread) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }

    /// Multiplies all times by `factor`.
    pub(super) fn scaled(self, factor: f64) -> Self {
        Spread { sum: self.sum * factor, squares: self.squares * factor * factor, ..self }
    }

    fn is_known(self) -> bool {
        !self.is_sampled && self.count >= EVENTS
    }

    /// Returns the part of the variance that comes from the durations.
    fn of_durations(self) -> f64 {
        let around = (self.squares - self.sum * self.sum / self.count).max(0.0);
        self.count * (around / (self.count - 1.0) + RESOLUTION * RESOLUTION)
    }
}

/// Tests whether a change between two sums of times is significant.
pub(super) fn of_sums(a: Spread, b: Spread, change: f64) -> Judged {
    if !(a.is_known() && b.is_known()) {
        return judged(change, a.squares + b.squares, f64::INFINITY);
    }
    let (one, two) = (a.of_durations(), b.of_durations());
    let mean = (a.sum + b.sum) / (a.count + b.count);
    let counts = (4.0 * (a.count - b.count).powi(2)).min(a.count + b.count);
    let variance = one + two + mean * mean * counts;
    let degrees = variance * variance / (one * one / (a.count - 1.0) + two * two / (b.count - 1.0));
    judged(change, variance, degrees)
}

/// Tests whether a change between two counts is significant. Treats the counts as Poisson
/// variables.
pub(super) fn of_counts(a: f64, b: f64) -> Judged {
    let change = b - a;
    let judged = judged(change, a + b, f64::INFINITY);
    // Continuity correction: 0.5 per side.
    let z = (change.abs() - 1.0).max(0.0) / (a + b).max(1.0).sqrt();
    Judged { p: two_sided(z), ..judged }
}

/// Performs Student's t-test. If `degrees` of freedom is infinite, uses the normal distribution.
fn judged(change: f64, variance: f64, degrees: f64) -> Judged {
    let deviation = variance.sqrt();
    let t = if change == 0.0 { 0.0 } else { change / deviation };
    let reach = t_of_normal(WITHIN_95, degrees) * deviation;
    let p = two_sided(normal_of_t(t, degrees));
    Judged { p, shift: change, interval: (change - reach, change + reach) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(times: &[f64]) -> Spread {
        let mut spread = Spread::default();
        times.iter().for_each(|&time| spread.add(time));
        spread
    }

    #[test]
    fn equal_events_are_tested_by_their_number() {
        let test = |a: (usize, f64), b: (usize, f64)| {
            let [one, two] = [a, b].map(|(count, time)| events(&vec![time; count]));
            of_sums(one, two, two.sum - one.sum)
        };
        let fewer = test((300, 0.05), (200, 0.06));
        assert!(fewer.p < 0.02 && (fewer.shift + 3.0).abs() < 1e-9, "{fewer:?}");
        assert!(fewer.interval.0 < -5.0 && fewer.interval.1 < -0.5, "{fewer:?}");
        let more = test((300, 0.05), (450, 0.05));
        assert!(more.p < 1e-6 && more.interval.0 > 4.0, "{more:?}");
        // First as many calls that take longer, then the same time in more calls.
        assert!(test((300, 0.05), (300, 0.06)).p < 1e-9);
        assert!(test((300, 0.05), (600, 0.025)).p > 0.9);
        assert!(test((300, 0.05), (305, 0.05)).p > 0.05);
        // With one event the test finds nothing, and without events it returns no result.
        assert!(test((1, 5.0), (1, 10.0)).p > 0.05);
        assert_eq!(test((0, 0.0), (0, 0.0)).p, 1.0);
    }

    #[test]
    fn varying_events_are_tested_by_welch() {
        // Computed by integration of Student's density with 9.07 degrees of freedom.
        const WELCH_P: f64 = 0.013_230;
        let a = [10.0, 11.0, 9.5, 10.5, 10.2, 9.9];
        let b = [11.0, 12.5, 10.5, 11.8, 11.1, 10.9];
        let (one, two) = (events(&a), events(&b));
        let judged = of_sums(one, two, two.sum - one.sum);
        assert!((judged.p - WELCH_P).abs() < 1e-4, "{judged:?}");
    }

    #[test]
    fn counts_are_tested_as_poisson_variables() {
        assert!(of_counts(300.0, 450.0).p < 1e-6);
        assert!(of_counts(3.0, 5.0).p > 0.5);
        assert_eq!(of_counts(0.0, 0.0).p, 1.0);
        let (from, to) = of_counts(300.0, 450.0).interval;
        assert!(from > 90.0 && to < 210.0, "{from} {to}");
    }
}
