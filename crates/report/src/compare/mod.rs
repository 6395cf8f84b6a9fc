//! Two sides, of one run each or of many, function by function: what became slower, and whether that is more than chance.

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

/// Runs a side from which on they are tested against each other.
const ENOUGH: usize = 4;
/// Share of false alarms among what is told.
const ALARMS: f64 = 0.05;

/// What can be said of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It takes more time, and that is not chance.
    Slower,
    /// It takes less.
    Faster,
    /// Only the new side has it.
    New,
    /// Only the base has it.
    Gone,
    /// It is called more often, by more than chance, and takes no more or less time.
    More,
    /// It is called less often.
    Fewer,
    /// There is no difference that is not chance.
    Same,
    /// Too little is known to say.
    Unknown,
}

impl Verdict {
    /// Its name.
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

/// Whether a change is more than chance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Certainty {
    /// No test can be made.
    #[default]
    Unknown,
    /// It may be chance, or it is too small to be tested.
    Chance,
    /// It is more than chance.
    Change,
}

/// A value on both sides, medians over runs, and what a test says of its change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Of the base.
    pub base: f64,
    /// Of the new side.
    pub new: f64,
    /// The test of the change; `None` if none is made.
    pub judged: Option<Judged>,
    /// The share of false alarms among all rows that change no less surely.
    pub q: Option<f64>,
    /// What the test comes to.
    pub certainty: Certainty,
}

impl Pair {
    fn of(base: &[f64], new: &[f64]) -> Self {
        Pair { base: median_of(base), new: median_of(new), ..Pair::default() }
    }

    /// Compares a figure of the runs of both sides: medians, and a test of their change if there are four or more a side.
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

    /// By how much the new side has more.
    pub fn change(self) -> f64 {
        self.new - self.base
    }

    /// The same in percent of the base; infinite if that has none.
    pub fn percent(self) -> f64 {
        if self.base == self.new { 0.0 } else { 100.0 * self.change() / self.base }
    }

    /// Whether the change is more than chance.
    pub fn is_significant(self) -> bool {
        self.certainty == Certainty::Change
    }
}

/// A function on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its name.
    pub name: String,
    /// The name of its events in the trace; empty for functions of CPU profiles.
    pub trace_name: String,
    /// Its URL on the side that has it, without what builds change.
    pub url: String,
    /// From 0, on the new side if that has it.
    pub line: Option<i64>,
    /// Milliseconds of its own.
    pub own: Pair,
    /// Milliseconds.
    pub total: Pair,
    /// Events.
    pub count: Pair,
    /// What can be said.
    pub verdict: Verdict,
}

/// Two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Runs of the base, and of the new side.
    pub runs: (usize, usize),
    /// Milliseconds in which anything is open.
    pub busy: Pair,
    /// The functions: those first that differ by more than chance, by how much self times differ.
    pub rows: Vec<Difference>,
}

impl Comparison {
    /// Whether one of the sides has no row.
    pub fn has_empty_side(&self) -> bool {
        [|row: &Difference| row.count.base, |row: &Difference| row.count.new]
            .into_iter()
            .any(|count| self.rows.iter().all(|row| count(row) == 0.0))
    }
}

/// Compares runs. With four or more a side medians are tested (Mann–Whitney, intervals of Hodges and Lehmann). With one a side sums of times are
/// tested by how much their samples or events vary (see `spread`), and counts as those of events that come by chance (Poisson). Rows are told at
/// a share of false alarms of 5 % (Benjamini–Hochberg, weighted by their times).
pub fn compare_runs(base: &[Run], new: &[Run], rules: &CompareRules) -> Comparison {
    let (base, new) = pairs::scaled(base, new, &rules.normalize);
    let (a, b) = (Side::new(&base), Side::new(&new));
    let busy = Pair::of_runs(&a.busy, &b.busy);
    let least = rules.least / 100.0 * busy.base.max(busy.new);
    let runs = (base.len(), new.len());
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
            own: tested(&one, &two, |row| (&row.own, 0), runs, least),
            total: tested(&one, &two, |row| (&row.total, 1), runs, least),
            count: counted(&one, &two, runs),
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

/// A time of a function on both sides, and its test: of the runs, or with one a side of what that run says of it.
fn tested(
    one: &Row,
    two: &Row,
    of: impl Fn(&Row) -> (&[f64], usize),
    runs: (usize, usize),
    least: f64,
) -> Pair {
    let (from, at) = of(one);
    let (to, _) = of(two);
    let pair = Pair::of(from, to);
    // whether a row is tested must not depend on how its sides differ
    if pair.base.max(pair.new) < least {
        return Pair { certainty: Certainty::Chance, ..pair };
    }
    let judged = match (one.spread, two.spread) {
        (Some(one), Some(two)) if runs == (1, 1) => Some(of_sums(one[at], two[at], pair.change())),
        _ => Pair::of_runs(from, to).judged,
    };
    Pair { judged, ..pair }
}

/// How often a function is called on both sides, and its test.
fn counted(one: &Row, two: &Row, runs: (usize, usize)) -> Pair {
    let pair = Pair::of(&one.count, &two.count);
    let judged = match runs {
        (1, 1) => Some(of_counts(pair.base, pair.new)),
        _ => Pair::of_runs(&one.count, &two.count).judged,
    };
    Pair { judged, ..pair }
}

/// Adjusts the chances of a value of all rows, and says which changes are more than chance: of those that are at least `least`.
fn decide(rows: &mut [Difference], of: impl Fn(&mut Difference) -> &mut Pair, least: f64) {
    let mut tested: Vec<&mut Pair> =
        rows.iter_mut().map(of).filter(|pair| pair.judged.is_some()).collect();
    // what takes more time is more likely to be what somebody looks for
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

/// Gives a row that both sides have its verdict.
fn judge(row: &mut Difference) {
    let (own, count) = (row.own, row.count);
    row.verdict = match row.verdict {
        Verdict::Unknown if own.is_significant() && own.change() > 0.0 => Verdict::Slower,
        Verdict::Unknown if own.is_significant() => Verdict::Faster,
        Verdict::Unknown if count.is_significant() && count.change() > 0.0 => Verdict::More,
        Verdict::Unknown if count.is_significant() => Verdict::Fewer,
        Verdict::Unknown if own.judged.is_some() => Verdict::Same,
        Verdict::Unknown if own.base == own.new && count.base == count.new => Verdict::Same,
        known => known,
    };
}

/// Sorts rows: those first that differ by more than chance, by how much self times differ.
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
