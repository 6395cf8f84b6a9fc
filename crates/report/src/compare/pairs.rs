//! Combines the runs of a side, and matches the functions of both sides.

use super::keys::Key;
use super::rules::{MatchBy, Normalize};
use super::runs::Run;
use super::spread::Spread;
use super::stats::median_of;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use tracemill_trace::spill::hash::HashMap;

/// Times and counts of a function in each run of a side. A run without the function has zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) own: Vec<f64>,
    pub(super) total: Vec<f64>,
    pub(super) count: Vec<f64>,
    /// Number of runs with the function.
    pub(super) runs: usize,
    /// Spreads of the self time and the total time, if the side has a single run. `None` means
    /// unknown.
    pub(super) spread: Option<[Spread; 2]>,
    pub(super) trace_name: String,
}

impl Row {
    fn none(runs: usize) -> Self {
        let zeros = || vec![0.0; runs];
        let spread = Some(Default::default());
        Row { own: zeros(), total: zeros(), count: zeros(), spread, ..Row::default() }
    }
}

/// The functions of a side, by key.
pub(super) struct Side {
    pub(super) busy: Vec<f64>,
    /// The row of each function. [`pair`] takes the rows and leaves empty rows.
    rows: BTreeMap<Key, Cell<Row>>,
}

impl Side {
    pub(super) fn new(runs: &[Cow<'_, Run>]) -> Self {
        let mut rows: BTreeMap<Key, Cell<Row>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            for (key, run_row) in &run.rows {
                let row =
                    rows.entry(key.clone()).or_insert_with(|| Cell::new(Row::none(runs.len())));
                let row = row.get_mut();
                row.own[at] = run_row.own;
                row.total[at] = run_row.total;
                row.count[at] = run_row.count as f64;
                row.runs += 1;
                row.spread = run_row.spread;
                row.trace_name.clone_from(&run_row.trace_name);
            }
        }
        Side { busy: runs.iter().map(|run| run.busy).collect(), rows }
    }
}

/// Runs of a side. Runs that are scaled are copies.
pub(super) type Runs<'r> = Vec<Cow<'r, Run>>;

/// Scales the times of all runs to the median of the base's runs.
pub(super) fn scaled<'r>(base: &'r [Run], new: &'r [Run], to: &Normalize) -> (Runs<'r>, Runs<'r>) {
    let measure = |run: &Run| run.measure(to);
    let reference = median_of(&base.iter().map(measure).collect::<Vec<f64>>());
    let scale = |run: &'r Run| {
        let measured = measure(run);
        let factor = if measured > 0.0 && reference > 0.0 { reference / measured } else { 1.0 };
        let mut run = Cow::Borrowed(run);
        if factor != 1.0 {
            let run = run.to_mut();
            run.busy *= factor;
            for (_, row) in &mut run.rows {
                row.own *= factor;
                row.total *= factor;
                row.spread = row.spread.map(|spreads| spreads.map(|spread| spread.scaled(factor)));
            }
        }
        run
    };
    (base.iter().map(scale).collect(), new.iter().map(scale).collect())
}

/// Matches the functions of both sides, and returns the pairs sorted by name.
pub(super) fn pair(a: &Side, b: &Side, by: MatchBy) -> Vec<(Key, Row, Row)> {
    let (mut left, mut right): (Vec<&Key>, Vec<&Key>) = (Vec::new(), Vec::new());
    let mut pairs: Vec<(&Key, Option<&Key>, Option<&Key>)> = Vec::new();
    for key in a.rows.keys() {
        match b.rows.contains_key(key) {
            true => pairs.push((key, Some(key), Some(key))),
            false => left.push(key),
        }
    }
    right.extend(b.rows.keys().filter(|key| !a.rows.contains_key(key)));
    // Matches the other functions by fewer properties, if only one function of each side has them.
    let by_url = |key: &Key| (key.name.clone(), key.url.clone());
    let by_name = |key: &Key| (key.name.clone(), String::new());
    if by != MatchBy::Exact {
        unite(&mut left, &mut right, &by_url, &mut pairs);
    }
    if by == MatchBy::Name {
        unite(&mut left, &mut right, &by_name, &mut pairs);
    }
    pairs.extend(left.into_iter().map(|key| (key, Some(key), None)));
    pairs.extend(right.into_iter().map(|key| (key, None, Some(key))));
    let row = |side: &Side, key: Option<&Key>| {
        key.and_then(|key| side.rows.get(key).map(Cell::take))
            .unwrap_or_else(|| Row::none(side.busy.len()))
    };
    let rows = pairs.into_iter().map(|(key, one, two)| (key.clone(), row(a, one), row(b, two)));
    let mut all: Vec<(Key, Row, Row)> = rows.collect();
    all.sort_by(|x, y| x.0.cmp(&y.0));
    all
}

type Both<'k> = (Vec<&'k Key>, Vec<&'k Key>);
/// The key of a pair, the matched key of the base, and the matched key of the new side.
type Found<'k> = (&'k Key, Option<&'k Key>, Option<&'k Key>);

/// Pairs keys for which `of` returns the same value, if exactly one key of `left` and one key of
/// `right` has this value. Removes the paired keys from both lists.
fn unite<'k>(
    left: &mut Vec<&'k Key>,
    right: &mut Vec<&'k Key>,
    of: &dyn Fn(&Key) -> (String, String),
    pairs: &mut Vec<Found<'k>>,
) {
    let mut found: HashMap<(String, String), Both<'k>> = HashMap::default();
    left.iter().for_each(|key| found.entry(of(key)).or_default().0.push(key));
    right.iter().for_each(|key| found.entry(of(key)).or_default().1.push(key));
    let is_one = |key: &Key| {
        found.get(&of(key)).is_some_and(|(left, right)| left.len() == 1 && right.len() == 1)
    };
    for key in left.iter().filter(|key| is_one(key)) {
        let new = found[&of(key)].1[0];
        pairs.push((new, Some(key), Some(new)));
    }
    left.retain(|key| !is_one(key));
    right.retain(|key| !is_one(key));
}
