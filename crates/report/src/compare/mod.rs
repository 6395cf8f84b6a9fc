//! Compares two sides function by function, and tests which changes are significant. A side
//! consists of one or several runs.

mod keys;
mod pairs;
mod rules;
mod runs;
mod shifts;
mod singles;
mod spread;
mod stats;

use pairs::{Row, Side, pair};
pub use rules::{CompareRules, MatchBy, Normalize};
pub use runs::Run;
use spread::{of_counts, of_sums};
pub use stats::Judged;
use stats::{adjusted, compare, median_of};

/// Minimum number of runs per side for a test of the differences between runs.
const ENOUGH: usize = 4;
/// Accepted share of false alarms among the changes reported as significant.
const ALARMS: f64 = 0.05;

/// The result of comparing a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The function takes significantly more time.
    Slower,
    /// The function takes significantly less time.
    Faster,
    /// Only the new side has the function.
    New,
    /// Only the base has the function.
    Gone,
    /// The function is called significantly more often; its time does not change significantly.
    More,
    /// The function is called significantly less often; its time does not change significantly.
    Fewer,
    /// No change is significant.
    Same,
    /// There is too little data for a test.
    Unknown,
}

impl Verdict {
    /// Returns the name of the verdict.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::New => "new",
            Verdict::Gone => "gone",
            Verdict::More => "more",
            Verdict::Fewer => "fewer",
            Verdict::Same => "~",
            Verdict::Unknown => "?",
        }
    }
}

/// Whether a change is significant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// No test is possible.
    #[default]
    Unknown,
    /// The change may be chance, or is too small to be tested.
    Chance,
    /// The change is significant.
    Change,
}

/// Medians of a value on both sides, and the test of their change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Median of the base.
    pub base: f64,
    /// Median of the new side.
    pub new: f64,
    /// Test of the change; `None` if no test is possible.
    pub judged: Option<Judged>,
    /// Adjusted p-value. If all changes with at most this value are taken as significant, it is the
    /// share of false alarms among them.
    pub q: Option<f64>,
    /// Whether the change is significant.
    pub certainty: Certainty,
}

impl Pair {
    fn of(base: &[f64], new: &[f64]) -> Self {
        Pair { base: median_of(base), new: median_of(new), ..Pair::default() }
    }

    /// Compares a figure of the runs of two sides. Computes the medians, and tests the change if
    /// each side has at least four runs.
    ///
    /// ```
    /// use tracemill_report::{Certainty, Pair};
    ///
    /// let pair = Pair::of_runs(&[10.0, 11.0, 10.5, 10.2, 10.1], &[12.1, 12.0, 12.4, 12.2, 12.3]);
    /// assert_eq!((pair.base, pair.new, pair.certainty), (10.2, 12.2, Certainty::Change));
    /// assert!(pair.judged.expect("there are five a side").p < 0.01);
    /// ```
    pub fn of_runs(base: &[f64], new: &[f64]) -> Self {
        let enough = base.len().min(new.len()) >= ENOUGH;
        let judged = if enough { compare(base, new) } else { None };
        let certainty = match judged {
            None => Certainty::Unknown,
            Some(judged) if judged.p <= ALARMS => Certainty::Change,
            Some(_) => Certainty::Chance,
        };
        Pair { judged, certainty, ..Pair::of(base, new) }
    }

    /// Returns the difference of the new side from the base.
    pub fn change(self) -> f64 {
        self.new - self.base
    }

    /// Returns the change in percent of the base. If the base is 0, the result is infinite.
    pub fn percent(self) -> f64 {
        if self.base == self.new { 0.0 } else { 100.0 * self.change() / self.base }
    }

    /// Returns whether the change is significant.
    pub fn is_significant(self) -> bool {
        self.certainty == Certainty::Change
    }
}

/// The times of a function on both sides, and their comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Name of the function.
    pub name: String,
    /// Name of the function's events in the trace; empty for functions of CPU profiles.
    pub trace_name: String,
    /// URL without build hashes.
    pub url: String,
    /// Line of the function, counted from 0: the line in the new side if that side has the
    /// function.
    pub line: Option<i64>,
    /// Self time in milliseconds.
    pub own: Pair,
    /// Total time in milliseconds.
    pub total: Pair,
    /// Number of events.
    pub count: Pair,
    /// The result of the comparison.
    pub verdict: Verdict,
}

/// The comparison of two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of runs of the base, and of the new side.
    pub runs: (usize, usize),
    /// Busy time in milliseconds.
    pub busy: Pair,
    /// Functions, significant changes first, then by change of self time.
    pub rows: Vec<Difference>,
}

impl Comparison {
    /// Returns whether one of the sides has no rows.
    pub fn has_empty_side(&self) -> bool {
        [|row: &Difference| row.count.base, |row: &Difference| row.count.new]
            .into_iter()
            .any(|count| self.rows.iter().all(|row| count(row) == 0.0))
    }
}

/// Compares the runs of two sides.
///
/// With at least four runs per side, medians are tested (Mann–Whitney, Hodges–Lehmann intervals).
/// With one run per side, times are tested by the variance of their samples or events, and counts
/// as Poisson variables. The accepted share of false alarms is 5 % (Benjamini–Hochberg, weighted by
/// time).
pub fn compare_runs(base: &[Run], new: &[Run], rules: &CompareRules) -> Comparison {
    let (base, new) = pairs::scaled(base, new, &rules.normalize);
    let (a, b) = (Side::new(&base), Side::new(&new));
    let busy = Pair::of_runs(&a.busy, &b.busy);
    let least = rules.least / 100.0 * busy.base.max(busy.new);
    let runs = (base.len(), new.len());
    let are_single = runs == (1, 1);
    let mut rows: Vec<Difference> = Vec::new();
    for (key, one, two) in pair(&a, &b, rules.by) {
        let verdict = match (one.runs, two.runs) {
            (0, _) => Verdict::New,
            (_, 0) => Verdict::Gone,
            _ => Verdict::Unknown,
        };
        let trace_name = [&two, &one].map(|row| &row.trace_name);
        let trace_name = trace_name.into_iter().find(|name| !name.is_empty());
        rows.push(Difference {
            name: key.name,
            trace_name: trace_name.cloned().unwrap_or_default(),
            url: key.url,
            line: key.line,
            own: tested(&one, &two, |row| (&row.own, 0), are_single, least),
            total: tested(&one, &two, |row| (&row.total, 1), are_single, least),
            count: counted(&one, &two, are_single),
            verdict,
        });
    }
    decide(&mut rows, |row| &mut row.count, 0.0);
    decide(&mut rows, |row| &mut row.total, least);
    decide(&mut rows, |row| &mut row.own, least);
    rows.iter_mut().for_each(judge);
    sort(&mut rows);
    Comparison { runs, busy, rows }
}

/// Compares a time of a function on both sides. Tests the times of the runs. With a single run per
/// side, tests the times of its samples or events.
fn tested(
    one: &Row,
    two: &Row,
    of: impl Fn(&Row) -> (&[f64], usize),
    are_single: bool,
    least: f64,
) -> Pair {
    let (from, at) = of(one);
    let (to, _) = of(two);
    let pair = Pair::of(from, to);
    // Whether a row is tested must not depend on the difference between the sides.
    if pair.base.max(pair.new) < least {
        return Pair { certainty: Certainty::Chance, ..pair };
    }
    let judged = match (one.spread, two.spread) {
        (Some(one), Some(two)) if are_single => Some(of_sums(one[at], two[at], pair.change())),
        _ => Pair::of_runs(from, to).judged,
    };
    Pair { judged, ..pair }
}

fn counted(one: &Row, two: &Row, are_single: bool) -> Pair {
    let pair = Pair::of(&one.count, &two.count);
    let judged = match are_single {
        true => Some(of_counts(pair.base, pair.new)),
        false => Pair::of_runs(&one.count, &two.count).judged,
    };
    Pair { judged, ..pair }
}

/// Adjusts the p-values of one figure in all rows. Marks changes of at least `least` as significant
/// if their adjusted p-value allows.
fn decide(rows: &mut [Difference], of: impl Fn(&mut Difference) -> &mut Pair, least: f64) {
    let mut tested: Vec<&mut Pair> =
        rows.iter_mut().map(of).filter(|pair| pair.judged.is_some()).collect();
    // The weight of a function is its time.
    let test = |pair: &&mut Pair| Some((pair.judged?.p, pair.base + pair.new));
    let tests: Vec<(f64, f64)> = tested.iter().filter_map(test).collect();
    for (pair, q) in tested.iter_mut().zip(adjusted(&tests)) {
        pair.q = Some(q);
        pair.certainty = match q <= ALARMS && pair.change().abs() >= least {
            true => Certainty::Change,
            false => Certainty::Chance,
        };
    }
}

/// Sets the verdict of a row that both sides have.
fn judge(row: &mut Difference) {
    let (self_time, count) = (row.own, row.count);
    row.verdict = match row.verdict {
        Verdict::Unknown if self_time.is_significant() && self_time.change() > 0.0 => {
            Verdict::Slower
        }
        Verdict::Unknown if self_time.is_significant() => Verdict::Faster,
        Verdict::Unknown if count.is_significant() && count.change() > 0.0 => Verdict::More,
        Verdict::Unknown if count.is_significant() => Verdict::Fewer,
        Verdict::Unknown if self_time.judged.is_some() => Verdict::Same,
        Verdict::Unknown if self_time.base == self_time.new && count.base == count.new => {
            Verdict::Same
        }
        known => known,
    };
}

/// Sorts rows: significant changes first, then by change of self time.
fn sort(rows: &mut [Difference]) {
    rows.sort_by(|a, b| {
        let is_sure = |row: &Difference| row.own.is_significant() || row.count.is_significant();
        let size = |row: &Difference| row.own.change().abs();
        let name = |row: &Difference| (row.name.clone(), row.url.clone(), row.line);
        is_sure(b)
            .cmp(&is_sure(a))
            .then(size(b).total_cmp(&size(a)))
            .then_with(|| name(a).cmp(&name(b)))
    });
}
