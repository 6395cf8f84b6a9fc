//! Two sides, of one run each or of many, function by function: what became slower, and whether that is more than chance.

mod keys;
mod pairs;
mod rules;
mod runs;
mod shifts;
mod singles;
mod stats;

use pairs::{Side, pair};
pub use rules::{CompareRules, MatchBy, Normalize};
pub use runs::Run;
pub use stats::Judged;
use stats::{adjusted, compare, median_of, two_sided};

/// Runs a side from which on they are tested against each other.
const ENOUGH: usize = 4;
/// Events a side from which on their times are.
const EVENTS: usize = 5;
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
            Verdict::Same => "~",
            Verdict::Unknown => "?",
        }
    }
}

/// A value on both sides: medians over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pair {
    /// Of the base.
    pub base: f64,
    /// Of the new side.
    pub new: f64,
}

impl Pair {
    fn of(base: &[f64], new: &[f64]) -> Self {
        Pair { base: median_of(base), new: median_of(new) }
    }

    /// By how much the new side has more.
    pub fn change(self) -> f64 {
        self.new - self.base
    }

    /// The same in percent of the base; infinite if that has none.
    pub fn percent(self) -> f64 {
        if self.base == self.new { 0.0 } else { 100.0 * self.change() / self.base }
    }
}

/// A function on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Its name.
    pub name: String,
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
    /// What a test of its own time says; `None` if none can be made.
    pub judged: Option<Judged>,
    /// The chance of a false alarm, many rows considered.
    pub q: Option<f64>,
    /// What can be said.
    pub verdict: Verdict,
    /// Whether it is more than chance.
    pub significant: bool,
}

/// Two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Runs of the base, and of the new side.
    pub runs: (usize, usize),
    /// Milliseconds in which anything is open.
    pub busy: Pair,
    /// What a test of these says.
    pub busy_judged: Option<Judged>,
    /// The functions: those first that differ by more than chance, by how much self times differ.
    pub rows: Vec<Difference>,
}

/// Compares runs. With four or more a side medians are tested (Mann–Whitney, intervals of Hodges and Lehmann); with one a side sampled functions
/// are judged by their samples, others by the times of their events, if there are five on both sides. Rows are told at a share of false alarms of
/// 5 % (Benjamini–Hochberg, weighted by their times).
pub fn compare_runs(base: &[Run], new: &[Run], rules: &CompareRules) -> Comparison {
    let (base, new) = pairs::scaled(base, new, &rules.normalize);
    let (a, b) = (Side::new(&base), Side::new(&new));
    let busy = Pair::of(&a.busy, &b.busy);
    let enough = base.len() >= ENOUGH && new.len() >= ENOUGH;
    let least = rules.least / 100.0 * busy.base.max(busy.new);
    let mut rows: Vec<Difference> = Vec::new();
    for (key, one, two) in pair(&a, &b, rules.by) {
        let own = Pair::of(&one.own, &two.own);
        let total = Pair::of(&one.total, &two.total);
        let count = Pair::of(&one.count, &two.count);
        // whether a row is tested must not depend on how its sides differ
        let is_tested = own.base.max(own.new) >= least;
        let judged = match (enough, base.len() == 1 && new.len() == 1) {
            _ if !is_tested => None,
            (true, _) => compare(&one.own, &two.own),
            (_, true) => single(&one, &two, own),
            _ => None,
        };
        let verdict = match (one.runs, two.runs) {
            (0, _) => Verdict::New,
            (_, 0) => Verdict::Gone,
            _ => Verdict::Unknown,
        };
        let (name, url, line) = (key.name, key.url, key.line);
        let (q, significant) = (None, false);
        rows.push(Difference {
            name,
            url,
            line,
            own,
            total,
            count,
            judged,
            q,
            verdict,
            significant,
        });
    }
    decide(&mut rows, least);
    let busy_judged = if enough { compare(&a.busy, &b.busy) } else { None };
    Comparison { runs: (base.len(), new.len()), busy, busy_judged, rows }
}

/// Compares a figure of the runs of both sides: medians, and a test of what is more than chance if there are four or more a side.
///
/// ```
/// use tracemill_analysis::compare_figures;
///
/// let (medians, judged) = compare_figures(&[10.0, 11.0, 10.5, 10.2, 10.1], &[12.1, 12.0, 12.4, 12.2, 12.3]);
/// assert_eq!((medians.base, medians.new), (10.2, 12.2));
/// assert!(judged.expect("there are five a side").p < 0.01);
/// ```
pub fn compare_figures(base: &[f64], new: &[f64]) -> (Pair, Option<Judged>) {
    let pair = Pair { base: median_of(base), new: median_of(new) };
    let enough = base.len().min(new.len()) >= ENOUGH;
    (pair, if enough { compare(base, new) } else { None })
}

/// What one run a side says of a function.
fn single(one: &pairs::Row, two: &pairs::Row, own: Pair) -> Option<Judged> {
    if one.variance.is_some() || two.variance.is_some() {
        let spread = one.variance.unwrap_or(0.0) + two.variance.unwrap_or(0.0);
        let (shift, reach) = (own.change(), 1.959_964 * spread.sqrt());
        let z = if spread > 0.0 { shift / spread.sqrt() } else { 0.0 };
        return Some(Judged { p: two_sided(z), shift, interval: (shift - reach, shift + reach) });
    }
    if one.each.len() < EVENTS || two.each.len() < EVENTS {
        return None;
    }
    let judged = compare(&one.each, &two.each)?;
    // of one event: of all there are as many more
    let times = two.each.len() as f64;
    let (from, to) = judged.interval;
    Some(Judged { interval: (from * times, to * times), shift: judged.shift * times, ..judged })
}

/// Adjusts the chances of all rows, gives each its verdict, and sorts them.
fn decide(rows: &mut [Difference], least: f64) {
    let tested: Vec<usize> = (0..rows.len()).filter(|&at| rows[at].judged.is_some()).collect();
    // what takes more time is more likely to be what somebody looks for
    let test = |&at: &usize| Some((rows[at].judged?.p, rows[at].own.base + rows[at].own.new));
    let tests: Vec<(f64, f64)> = tested.iter().filter_map(test).collect();
    for (&at, q) in tested.iter().zip(adjusted(&tests)) {
        let row = &mut rows[at];
        row.q = Some(q);
        row.significant = q <= ALARMS && row.own.change().abs() >= least;
        let of_both = row.verdict == Verdict::Unknown;
        row.verdict = match row.own.change() {
            _ if !of_both => row.verdict,
            change if row.significant && change > 0.0 => Verdict::Slower,
            _ if row.significant => Verdict::Faster,
            _ => Verdict::Same,
        };
    }
    for row in rows.iter_mut().filter(|row| row.judged.is_none()) {
        if row.own.base == row.own.new && row.count.base == row.count.new {
            row.verdict = Verdict::Same;
        }
    }
    rows.sort_by(|a, b| {
        let size = |row: &Difference| row.own.change().abs();
        let name = |row: &Difference| (row.name.clone(), row.url.clone(), row.line);
        b.significant
            .cmp(&a.significant)
            .then(size(b).total_cmp(&size(a)))
            .then_with(|| name(a).cmp(&name(b)))
    });
}
