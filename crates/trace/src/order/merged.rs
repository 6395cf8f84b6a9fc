//! Runs that are merged as they are read, in exact order.
//!
//! ```text
//!   run 0   3 7 9 …  ┐
//!   run 1   4 5 8 …  ├─ loser tree ─> 3 4 5 7 8 9 …       the head of each run, and where it is read on
//!   run 2   …        ┘
//! ```
//!
//! Heap: some dozen bytes a run, whatever is in them; runs on disk are maps.

use super::Order;
use super::loser_tree::LoserTree;
use super::run::{RunIter, SortedRun};
use crate::store::entry::Entry;

/// Runs, merged in exact order. Cost of an entry: a comparison for each doubling of the number of runs.
pub struct MergedRuns<'r> {
    runs: Vec<SortedRun<'r>>,
    cursors: Vec<RunIter<'r>>,
    tree: LoserTree<Entry>,
}

impl<'r> MergedRuns<'r> {
    /// Over runs that are in exact order each.
    pub fn over(runs: impl Iterator<Item = SortedRun<'r>>, order: Order<'_, '_>) -> Self {
        let runs: Vec<SortedRun<'r>> = runs.collect();
        let mut cursors: Vec<RunIter<'r>> = runs.iter().map(|run| run.iter()).collect();
        let heads = cursors.iter_mut().map(RunIter::next).collect();
        let tree = LoserTree::new(heads, &|a, b| order.compare(a, b));
        MergedRuns { runs, cursors, tree }
    }

    /// The runs, whatever was taken of them.
    pub fn runs(&self) -> &[SortedRun<'r>] {
        &self.runs
    }

    /// Fills `batch` with up to `most` entries that come next.
    pub fn next_batch(&mut self, order: Order<'_, '_>, most: usize, batch: &mut Vec<Entry>) {
        while batch.len() < most
            && let Some((_, entry)) = self.next(order)
        {
            batch.push(entry);
        }
    }

    /// The entry that comes next, and the number of its run; it stays there.
    pub fn peek(&self) -> Option<(usize, Entry)> {
        self.tree.winner()
    }

    /// Takes the entry that comes next.
    pub fn next(&mut self, order: Order<'_, '_>) -> Option<(usize, Entry)> {
        let (run, entry) = self.tree.winner()?;
        self.tree.replace(self.cursors[run].next(), &|a, b| order.compare(a, b));
        Some((run, entry))
    }
}
