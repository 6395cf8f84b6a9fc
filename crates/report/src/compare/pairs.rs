//! Runs of a side put together, and functions of both sides that are one.

use super::keys::Key;
use super::rules::{MatchBy, Normalize};
use super::runs::Run;
use super::spread::Spread;
use super::stats::median_of;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use tracemill_trace::spill::hash::HashMap;

/// A function of a side: a number for each run, 0 where a run has it not.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub(super) own: Vec<f64>,
    pub(super) total: Vec<f64>,
    pub(super) count: Vec<f64>,
    /// Runs that have it.
    pub(super) runs: usize,
    /// What a run that is alone says of its self and total times; `None` if nothing is known.
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

/// A side, its functions by their keys.
pub(super) struct Side {
    pub(super) busy: Vec<f64>,
    /// [`pair`] takes them out.
    rows: BTreeMap<Key, Cell<Row>>,
}

impl Side {
    pub(super) fn new(runs: &[Cow<'_, Run>]) -> Self {
        let mut rows: BTreeMap<Key, Cell<Row>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            for (key, own) in &run.rows {
                let row =
                    rows.entry(key.clone()).or_insert_with(|| Cell::new(Row::none(runs.len())));
                let row = row.get_mut();
                row.own[at] = own.own;
                row.total[at] = own.total;
                row.count[at] = own.count as f64;
                row.runs += 1;
                row.spread = own.spread;
                row.trace_name.clone_from(&own.trace_name);
            }
        }
        Side { busy: runs.iter().map(|run| run.busy).collect(), rows }
    }
}

/// Runs of a side; those whose times are scaled are copies.
pub(super) type Runs<'r> = Vec<Cow<'r, Run>>;

/// Runs whose times are scaled to the median of the base.
pub(super) fn scaled<'r>(base: &'r [Run], new: &'r [Run], to: &Normalize) -> (Runs<'r>, Runs<'r>) {
    let measure = |run: &Run| run.measure(to);
    let reference = median_of(&base.iter().map(measure).collect::<Vec<f64>>());
    let scale = |run: &'r Run| {
        let own = measure(run);
        let factor = if own > 0.0 && reference > 0.0 { reference / own } else { 1.0 };
        let mut run = Cow::Borrowed(run);
        if factor != 1.0 {
            let run = run.to_mut();
            run.busy *= factor;
            for (_, row) in &mut run.rows {
                row.own *= factor;
                row.total *= factor;
                row.spread = row.spread.map(|own| own.map(|own| own.scaled(factor)));
            }
        }
        run
    };
    (base.iter().map(scale).collect(), new.iter().map(scale).collect())
}

/// Functions of both sides, each once, by name.
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
    // what is left is matched by less and less, where that is enough to tell
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
    let made = pairs.into_iter().map(|(key, one, two)| (key.clone(), row(a, one), row(b, two)));
    let mut all: Vec<(Key, Row, Row)> = made.collect();
    all.sort_by(|x, y| x.0.cmp(&y.0));
    all
}

/// Keys of both sides.
type Both<'k> = (Vec<&'k Key>, Vec<&'k Key>);
/// A key, and those of both sides that are it.
type Found<'k> = (&'k Key, Option<&'k Key>, Option<&'k Key>);

/// Takes those out of both lists that alone have a key on each side.
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
