//! Answers questions about a call tree: the callers and callees of a name, and the path with the
//! most time.

use crate::query::rows::{TreePath, TreeRow};
use crate::table::ordered::Table;
use crate::value::matcher::Matcher;
use std::borrow::Cow;
use tracemill_trace::spill::hash::HashMap;

/// The callers and callees of all rows with the same name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peek {
    /// Self time in milliseconds.
    pub own: f64,
    /// Total time in milliseconds; recursive calls are counted once.
    pub total: f64,
    /// Number of events.
    pub count: u64,
    /// Callers, by the total time spent below them, longest first.
    pub callers: Vec<(TreeRow, f64)>,
    /// Callees, by their total time, longest first.
    pub callees: Vec<(TreeRow, f64)>,
}

/// Sums of times, by id and URL of rows.
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

/// Returns whether the matcher finds a row's name in DevTools, its name in the trace, or the URL of
/// its function.
fn takes(matcher: &Matcher, row: &TreeRow) -> bool {
    row.label.as_deref().is_some_and(|label| matcher.is_match(label))
        || row.trace_name().is_some_and(|name| matcher.is_match(name))
        || matcher.is_match(&row.location.url)
}

impl Table {
    /// Returns the callers and callees of all rows of the call tree whose name, in DevTools or in
    /// the trace, is `name`. Returns `None` if there are no such rows. Cost: visits each row.
    pub fn peek(&self, name: &str) -> Option<Peek> {
        let is_it = |row: &TreeRow| row.is_called(name);
        let (mut callers, mut callees) = (Sums::default(), Sums::default());
        let mut peek = Peek::default();
        // The open rows, and whether each has the name.
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

    /// Returns the path with the most time through a call tree.
    ///
    /// The path leads from each row to the child with the greatest total time, and does not begin
    /// with idle time. With a matcher, the path leads through the matching row with the greatest
    /// total time.
    pub fn heaviest(&self, through: Option<&Matcher>) -> TreePath {
        let Some(matcher) = through else { return self.descend(0, TreePath::default()) };
        // The first of several rows with equal times is the outermost.
        let mut found: Option<(usize, f64)> = None;
        for (at, row) in self.rows.iter().enumerate().filter(|(_, row)| takes(matcher, row)) {
            if found.is_none_or(|(_, most)| row.total.total_cmp(&most).is_gt()) {
                found = Some((at, row.total));
            }
        }
        let Some((at, _)) = found else { return TreePath::default() };
        self.descend(at + 1, self.path_to(at))
    }

    /// Returns the path from the top of the tree to the row of a number.
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

    /// Extends a path from its last row down the tree. `from` is the number of the first row that
    /// may follow.
    fn descend(&self, from: usize, mut path: TreePath) -> TreePath {
        for row in self.rows.iter().skip(from) {
            // Siblings are sorted by total time, so the first child of the last row extends the
            // path.
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
