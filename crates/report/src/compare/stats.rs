//! Nonparametric tests: Mann–Whitney, Hodges–Lehmann, Benjamini–Hochberg.

use super::shifts::Shifts;

/// Maximum number of values per side for the exact distribution. Ties exclude the exact
/// distribution too.
const EXACT: usize = 20;

/// The p-value of a difference, its size and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Probability of a difference of at least this size if the sides were equal.
    pub p: f64,
    /// Estimate of how much the second side exceeds the first.
    pub shift: f64,
    /// 95 % confidence interval of the shift.
    pub interval: (f64, f64),
}

/// Performs the two-sided Mann–Whitney test. Adds the Hodges–Lehmann estimate of the difference,
/// and its interval. Returns `None` if a side is empty.
///
/// Cost: sorts both sides. The estimate and the interval use at most 1,000 values of each side.
pub(crate) fn compare(a: &[f64], b: &[f64]) -> Option<Judged> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let [a, b] = [a, b].map(|side| {
        let mut sorted = side.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    });
    let p = mann_whitney(&a, &b);
    let (a, b) = (thinned(a), thinned(b));
    let shifts = Shifts { from: &a, to: &b };
    let last = shifts.count() - 1;
    // The interval begins with the difference of this number, counted from 1.
    let skipped = tail(a.len(), b.len()).saturating_sub(1).min(last / 2);
    let interval = (shifts.nth(skipped), shifts.nth(last - skipped));
    let middle = [shifts.nth(last / 2), shifts.nth(last.div_ceil(2))];
    Some(Judged { p, shift: (middle[0] + middle[1]) / 2.0, interval })
}

/// Returns at most 1,000 of the values, at equal distances in the list.
fn thinned(sorted: Vec<f64>) -> Vec<f64> {
    let step = sorted.len().div_ceil(1000);
    sorted.into_iter().skip(step / 2).step_by(step).collect()
}

/// Returns the median of sorted numbers. Returns 0 if there are no numbers.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[count / 2],
        count => (sorted[count / 2 - 1] + sorted[count / 2]) / 2.0,
    }
}

/// Returns the median of numbers in any order.
pub(crate) fn median_of(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}

/// Returns the two-sided p-value of the Mann–Whitney test for two sorted sides.
fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> =
        a.iter().map(|&x| (x, false)).chain(b.iter().map(|&x| (x, true))).collect();
    // Both parts are sorted, and the stable sort only merges them.
    all.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (n, m) = (a.len() as f64, b.len() as f64);
    // Equal values get the mean of their ranks.
    let (mut ranks, mut ties, mut before) = (0.0, 0.0, 0.0);
    for group in all.chunk_by(|x, y| x.0 == y.0) {
        let size = group.len() as f64;
        let of_b = group.iter().filter(|value| value.1).count() as f64;
        ranks += of_b * (before + (size + 1.0) / 2.0);
        ties += size * size * size - size;
        before += size;
    }
    let u = ranks - m * (m + 1.0) / 2.0;
    let least = u.min(n * m - u);
    if ties == 0.0 && a.len() <= EXACT && b.len() <= EXACT {
        let chances = distribution(a.len(), b.len());
        let tail: f64 = chances.iter().take(least as usize + 1).sum();
        return (2.0 * tail).min(1.0);
    }
    let total = n + m;
    let spread = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)).max(1.0));
    if spread <= 0.0 {
        return 1.0;
    }
    // Continuity correction: 0.5.
    two_sided(((n * m / 2.0 - least).abs() - 0.5).max(0.0) / spread.sqrt())
}

/// Returns the probability of each value of the test statistic if the sides are equal.
fn distribution(n: usize, m: usize) -> Vec<f64> {
    // The greatest value belongs to either side. `of[i][j][u]` is kept for one `i` at a time.
    let mut of: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let before = std::mem::replace(&mut of, vec![vec![1.0]]);
        for j in 1..=m {
            let mut chances = vec![0.0; i * j + 1];
            let part = i as f64 / (i + j) as f64;
            before[j].iter().enumerate().for_each(|(u, chance)| chances[u + j] += part * chance);
            of[j - 1]
                .iter()
                .enumerate()
                .for_each(|(u, chance)| chances[u] += (1.0 - part) * chance);
            of.push(chances);
        }
    }
    of.swap_remove(m)
}

/// Returns how many of the least values of the statistic have a total probability of at most 1/40.
fn tail(n: usize, m: usize) -> usize {
    if n <= EXACT && m <= EXACT {
        let mut sum = 0.0;
        let chances = distribution(n, m);
        return chances
            .iter()
            .take_while(|&&chance| {
                sum += chance;
                sum <= 0.025
            })
            .count();
    }
    let (n, m) = (n as f64, m as f64);
    let place = n * m / 2.0 - 1.959_964 * (n * m * (n + m + 1.0) / 12.0).sqrt();
    place.max(0.0) as usize
}

/// Returns the two-sided p-value of a normal variable.
pub(crate) fn two_sided(z: f64) -> f64 {
    // Chebyshev fit of erfc from Numerical Recipes, with a relative error below 1.2e-7.
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    const POWERS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let sum = POWERS.iter().rev().fold(0.0, |sum, power| sum * t + power);
    (t * (sum - x * x).exp()).min(1.0)
}

/// Converts Student's t to the normal number of the same probability (Wallace's approximation).
pub(crate) fn normal_of_t(t: f64, degrees: f64) -> f64 {
    match degrees.is_finite() {
        true => bent(degrees) * (degrees * (t * t / degrees).ln_1p()).sqrt(),
        false => t,
    }
}

/// Converts a normal number to Student's t of the same probability.
pub(crate) fn t_of_normal(z: f64, degrees: f64) -> f64 {
    match degrees.is_finite() {
        true => (degrees * ((z / bent(degrees)).powi(2) / degrees).exp_m1()).sqrt(),
        false => z,
    }
}

fn bent(degrees: f64) -> f64 {
    (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0)
}

/// Adjusts p-values so that the share of false alarms is limited, with weights (Genovese, Roeder,
/// Wasserman). Weights must not depend on the results of the tests.
pub(crate) fn adjusted(tests: &[(f64, f64)]) -> Vec<f64> {
    let sum: f64 = tests.iter().map(|(_, weight)| weight).sum();
    let mean = sum / tests.len() as f64;
    let weighed = |&(p, weight): &(f64, f64)| {
        let part = if sum > 0.0 { weight / mean } else { 1.0 };
        if part > 0.0 { p / part } else { f64::INFINITY }
    };
    let chances: Vec<f64> = tests.iter().map(weighed).collect();
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|&x, &y| chances[x].total_cmp(&chances[y]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least = 1.0_f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        least = least.min(chances[at] * chances.len() as f64 / (rank + 1) as f64);
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    /// Computes the distribution by counting all ways to assign the ranks.
    fn counted(n: usize, m: usize) -> Vec<f64> {
        let mut counts = vec![0.0; n * m + 1];
        let mut all = 0.0;
        for ways in 0..1u32 << (n + m) {
            if ways.count_ones() as usize != m {
                continue;
            }
            let (mut u, mut of_a) = (0, 0);
            for at in 0..n + m {
                if ways >> at & 1 == 1 {
                    u += of_a;
                } else {
                    of_a += 1;
                }
            }
            counts[u] += 1.0;
            all += 1.0;
        }
        counts.iter().map(|count| count / all).collect()
    }

    #[test]
    fn distribution_matches_enumeration() {
        for (n, m) in [(1, 1), (2, 3), (4, 4), (5, 7), (3, 8)] {
            let (computed, counted) = (distribution(n, m), counted(n, m));
            assert_eq!(computed.len(), counted.len());
            assert!(computed.iter().zip(&counted).all(|(a, b)| (a - b).abs() < 1e-12), "{n} {m}");
        }
    }

    #[test]
    fn tests_give_known_answers() {
        // All four values of one side are less than all of the other: p = 2 / 70.
        let judged = compare(&[1.0, 2.0, 3.0, 4.0], &[11.0, 12.5, 13.0, 14.0]).expect("numbers");
        assert!(near(judged.p, 2.0 / 70.0), "{judged:?}");
        assert!(near(judged.shift, 10.0) && judged.interval == (7.0, 13.0), "{judged:?}");
        assert!(near(two_sided(1.959_964), 0.05) && near(two_sided(0.0), 1.0));
        assert_eq!(mann_whitney(&[1.0; 5], &[1.0; 5]), 1.0);
        assert_eq!(compare(&[], &[1.0]), None);
        // The normal approximation agrees with the exact answer.
        let a: Vec<f64> = (0..20).map(f64::from).collect();
        let b: Vec<f64> = (0..20).map(|x| f64::from(x) + 4.5).collect();
        let exact = mann_whitney(&a, &b);
        let tied: Vec<f64> = b.iter().map(|x| x.round()).collect();
        assert!((exact - mann_whitney(&a, &tied)).abs() < 0.02);
    }

    #[test]
    fn many_tests_are_adjusted_by_weight() {
        let alike = |chances: [f64; 4]| adjusted(&chances.map(|p| (p, 3.0)));
        let computed = alike([0.01, 0.04, 0.03, 0.5]);
        assert!(
            computed.iter().zip([0.04, 0.0533, 0.0533, 0.5]).all(|(a, b)| near(*a, b)),
            "{computed:?}"
        );
        assert_eq!(adjusted(&[]), Vec::<f64>::new());
        // A test with three quarters of the weight may cause three quarters of the false alarms.
        let computed = adjusted(&[(0.03, 3.0), (0.03, 1.0), (0.5, 0.0)]);
        assert!(
            near(computed[0], 0.04) && near(computed[1], 0.06) && computed[2] == 1.0,
            "{computed:?}"
        );
    }
}
