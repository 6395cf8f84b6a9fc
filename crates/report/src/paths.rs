//! Finds the paths of a call tree that are reported. Converts only the rows on these paths.

use tracemill_analysis::names::groups::Ids;
use tracemill_analysis::tree::{By, Row, Rows};
use tracemill_analysis::{TreePath, TreeRow, View};

/// Maximum number of paths of a task or block.
const PATHS: usize = 3;

/// Returns the heaviest path of the tree. The path begins with the row with the greatest total
/// time, and leads from each row to the child with the greatest total time, like
/// [`Table::heaviest`](tracemill_analysis::Table::heaviest).
pub(crate) fn heaviest(rows: &Rows, view: &View<'_>, ids: &Ids<'_>) -> TreePath {
    let mut path = TreePath::default();
    let mut at = 0;
    loop {
        let depth = path.depth() as u32;
        let in_ms = |row: u32| row_in_ms(&rows.get(row), depth, view, ids);
        let mut children = rows.sorted(at, By::Total).into_iter();
        let Some(row) = children.find(|&row| depth > 0 || !in_ms(row).is_idle()) else {
            return path;
        };
        at = row;
        path.push(|| in_ms(row));
    }
}

/// Returns the paths to the rows with the most self time. Rows with equal times keep the order of
/// the table.
pub(crate) fn hottest(rows: &Rows, view: &View<'_>, ids: &Ids<'_>) -> Vec<TreePath> {
    let mut most: Vec<(f64, u32)> = Vec::new();
    for (row, _) in rows.depth_first(By::Total, usize::MAX, true, |_| true) {
        let self_time = rows.get(row).own;
        let at = most.partition_point(|(other, _)| other.total_cmp(&self_time).is_ge());
        if self_time > 0.0 && at < PATHS {
            most.insert(at, (self_time, row));
            most.truncate(PATHS);
        }
    }
    most.into_iter().map(|(_, row)| path_to(row, rows, view, ids)).collect()
}

fn path_to(row: u32, rows: &Rows, view: &View<'_>, ids: &Ids<'_>) -> TreePath {
    let above = |&child: &u32| Some(rows.get(child).parent).filter(|&parent| parent != 0);
    let mut path: Vec<u32> = std::iter::successors(Some(row), above).collect();
    path.reverse();
    let left_out = path.len().saturating_sub(TreePath::MOST);
    let shown = (0..).zip(path).skip(left_out);
    let rows = shown.map(|(depth, row)| row_in_ms(&rows.get(row), depth, view, ids)).collect();
    TreePath { rows, left_out: left_out as u64 }
}

/// Converts a row of a call tree to a table row with times in milliseconds.
fn row_in_ms(row: &Row, depth: u32, view: &View<'_>, ids: &Ids<'_>) -> TreeRow {
    let (row, clock) = (view.row(row, depth, ids, By::Total), view.trace().clock());
    TreeRow { own: clock.ms(row.own), total: clock.ms(row.total), ..row }
}
