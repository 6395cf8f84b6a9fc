//! Merges runs in exact order while they are read.
//!
//! ```text
//!   run 0   3 7 9 …  ┐
//!   run 1   4 5 8 …  ├─ loser tree ─> 3 4 5 7 8 9 …       the head and read position of each run
//!   run 2   …        ┘
//! ```
//!
//! Heap: a few dozen bytes per run; runs on disk are mapped.

use super::Order;
use super::loser_tree::LoserTree;
use super::run::{RunIter, SortedRun};
use crate::store::entry::Entry;

/// A merge of runs in exact order. Cost: log2(runs) comparisons per entry.
pub struct MergedRuns<'r> {
    runs: Vec<SortedRun<'r>>,
    cursors: Vec<RunIter<'r>>,
    tree: LoserTree<Entry>,
}

impl<'r> MergedRuns<'r> {
    /// Creates a merge of runs that are each in exact order.
    pub fn over(runs: impl Iterator<Item = SortedRun<'r>>, order: Order<'_, '_>) -> Self {
        let runs: Vec<SortedRun<'r>> = runs.collect();
        let mut cursors: Vec<RunIter<'r>> = runs.iter().map(|run| run.iter()).collect();
        let heads = cursors.iter_mut().map(RunIter::next).collect();
        let tree = LoserTree::new(heads, &|a, b| order.compare(a, b));
        MergedRuns { runs, cursors, tree }
    }

    /// Returns the complete runs, including entries already taken.
    pub fn runs(&self) -> &[SortedRun<'r>] {
        &self.runs
    }

    /// Appends the next entries to `batch`, up to `most` in total.
    pub fn next_batch(&mut self, order: Order<'_, '_>, most: usize, batch: &mut Vec<Entry>) {
        while batch.len() < most
            && let Some((_, entry)) = self.next(order)
        {
            batch.push(entry);
        }
    }

    /// Returns the next entry and the index of its run, without removing it.
    pub fn peek(&self) -> Option<(usize, Entry)> {
        self.tree.winner()
    }

    /// Removes and returns the next entry and the index of its run.
    pub fn next(&mut self, order: Order<'_, '_>) -> Option<(usize, Entry)> {
        let (run, entry) = self.tree.winner()?;
        self.tree.replace(self.cursors[run].next(), &|a, b| order.compare(a, b));
        Some((run, entry))
    }
}
