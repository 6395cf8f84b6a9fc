//! What a call tree says of one name: who calls it, what it calls, and the path on which most time is spent.

use crate::query::rows::{TreePath, TreeRow};
use crate::table::ordered::Table;
use crate::value::matcher::Matcher;
use std::borrow::Cow;
use tracemill_trace::spill::hash::HashMap;

/// Callers and callees of the rows of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peek {
    /// Milliseconds of its own.
    pub own: f64,
    /// Milliseconds, those of calls of itself not counted again.
    pub total: f64,
    /// Events.
    pub count: u64,
    /// By total time within a caller, the greatest first.
    pub callers: Vec<(TreeRow, f64)>,
    /// By total time of a callee below it, the greatest first.
    pub callees: Vec<(TreeRow, f64)>,
}

/// Sums by what a row is called and where that stands.
#[derive(Default)]
struct Sums {
    rows: Vec<(TreeRow, f64)>,
    places: HashMap<(String, String), usize>,
}

impl Sums {
    fn add(&mut self, row: &TreeRow, time: f64) {
        let key = (row.id.clone(), row.location.url.clone());
        let next = self.rows.len();
        let at = *self.places.entry(key).or_insert(next);
        if at == next {
            self.rows.push((row.clone(), 0.0));
        }
        self.rows[at].1 += time;
    }

    fn finish(mut self) -> Vec<(TreeRow, f64)> {
        self.rows.sort_by(|a, b| b.1.total_cmp(&a.1));
        self.rows
    }
}

/// Whether a row is called so, in DevTools or in the trace, or its function's URL.
fn takes(matcher: &Matcher, row: &TreeRow) -> bool {
    row.label.as_deref().is_some_and(|label| matcher.is_match(label))
        || row.trace_name().is_some_and(|name| matcher.is_match(name))
        || matcher.is_match(&row.location.url)
}

impl Table {
    /// Callers and callees of the rows of a call tree that are called `name`, in DevTools or in the trace; `None` if there is none. Cost: a look at each row.
    pub fn peek(&self, name: &str) -> Option<Peek> {
        let is_it = |row: &TreeRow| row.is_called(name);
        let (mut callers, mut callees) = (Sums::default(), Sums::default());
        let mut peek = Peek::default();
        // rows that are open, and whether they are of the name
        let mut path: Vec<(usize, bool)> = Vec::new();
        let mut within = 0;
        for (at, row) in self.rows.iter().enumerate() {
            while path.len() > row.depth as usize {
                within -= path.pop().map_or(0, |(_, is_it)| u32::from(is_it));
            }
            let parent = path.last().copied();
            let is_own = is_it(&row);
            if is_own {
                peek.own += row.own;
                peek.count += row.count;
                if within == 0 {
                    peek.total += row.total;
                    if let Some(parent) = parent.and_then(|(parent, _)| self.rows.get(parent)) {
                        callers.add(&parent, row.total);
                    }
                }
            } else if parent.is_some_and(|(_, is_it)| is_it) {
                callees.add(&row, row.total);
            }
            within += u32::from(is_own);
            path.push((at, is_own));
        }
        (peek.callers, peek.callees) = (callers.finish(), callees.finish());
        (peek.count > 0).then_some(peek)
    }

    /// The path of a call tree on which most time is spent: from the greatest total to the greatest below it, and so on. A CPU
    /// that is idle is not on it. With a matcher it leads through the row of the greatest total that matches, if any does.
    pub fn heaviest(&self, through: Option<&Matcher>) -> TreePath {
        let Some(matcher) = through else { return self.descend(0, TreePath::default()) };
        // of equal ones the first, which is the outermost
        let mut found: Option<(usize, f64)> = None;
        for (at, row) in self.rows.iter().enumerate().filter(|(_, row)| takes(matcher, row)) {
            if found.is_none_or(|(_, most)| row.total.total_cmp(&most).is_gt()) {
                found = Some((at, row.total));
            }
        }
        let Some((at, _)) = found else { return TreePath::default() };
        self.descend(at + 1, self.path_to(at))
    }

    /// The row of a number and those above it.
    fn path_to(&self, at: usize) -> TreePath {
        let mut numbers: Vec<usize> = Vec::new();
        for (number, row) in self.rows.iter().enumerate().take(at + 1) {
            numbers.truncate(row.depth as usize);
            numbers.push(number);
        }
        let mut path = TreePath::default();
        for number in numbers {
            path.push(|| self.rows.get(number).map(Cow::into_owned).unwrap_or_default());
        }
        path
    }

    /// Goes on with a path, from the row of a number.
    fn descend(&self, from: usize, mut path: TreePath) -> TreePath {
        for row in self.rows.iter().skip(from) {
            // siblings come by total time: the first that is met below the path goes on with it
            if path.depth() == 0 && row.is_idle() {
                continue;
            }
            if u64::from(row.depth) == path.depth() {
                path.push(|| row.into_owned());
            } else if u64::from(row.depth) < path.depth() {
                break;
            }
        }
        path
    }
}
