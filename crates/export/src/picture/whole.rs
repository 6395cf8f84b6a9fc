//! Combines the trees of a picture below a single root.

use super::nodes::Node;
use crate::stacks::{Frame, Line, Stacks, Tree};
use std::collections::HashSet;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::words::plural;

pub(super) fn heading(name: &str) -> Frame {
    let (name, url) = (name.to_owned(), String::new());
    Frame { name, url, line: None, column: None, category: "other", color: 0 }
}

/// Converts a row to a node without a start.
pub(super) fn node_of(line: &Line) -> Node {
    let self_time = line.own.max(0) as u64;
    Node { frame: line.frame, own: self_time, count: line.count, ..Node::default() }
}

/// Returns the number of trees as text, in threads, processes or inputs according to their titles.
fn counted(trees: &[Tree]) -> String {
    let all = |kind: &str| trees.iter().all(|tree| tree.title.starts_with(&format!("{kind} ")));
    let kind = ["thread", "process"].into_iter().find(|kind| all(kind));
    plural(trees.len() as u64, kind.unwrap_or("input"))
}

/// The combined tree. If there are several trees, each has a node below the root.
pub(super) struct Whole<'s> {
    stacks: &'s Stacks,
    pub(super) title: String,
    /// Frames whose numbers follow those of the rows: the root, and each tree if there are several.
    headings: Vec<Frame>,
}

impl<'s> Whole<'s> {
    pub(super) fn of(stacks: &'s Stacks) -> Self {
        let title = match &stacks.trees[..] {
            [] => "nothing".to_owned(),
            [one] => one.title.clone(),
            trees => counted(trees),
        };
        let mut headings = vec![heading(&title)];
        if stacks.trees.len() > 1 {
            headings.extend(stacks.trees.iter().map(|tree| heading(&tree.title)));
        }
        Whole { stacks, title, headings }
    }

    /// Returns the sum of the self times of all rows, in nanoseconds.
    pub(super) fn total(&self) -> u64 {
        self.stacks.trees.iter().map(|tree| tree.own.max(0) as u64).sum()
    }

    /// Passes each node to `each` with its depth, beginning with the root.
    pub(super) fn rows(
        &self,
        mut each: impl FnMut(usize, Node) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let heading = |number: usize| {
            let frame = (self.stacks.frames.len() + number) as u32;
            Node { frame, ..Node::default() }
        };
        each(0, heading(0))?;
        let above = self.headings.len().min(2);
        for (number, tree) in self.stacks.trees.iter().enumerate() {
            if above > 1 {
                each(1, heading(number + 1))?;
            }
            let mut lines = self.stacks.lines(tree);
            lines.try_for_each(|line| each(line.depth as usize + above, node_of(&line)))?;
        }
        Ok(())
    }

    /// Returns all frames in the order of their numbers.
    pub(super) fn all_frames(&self) -> impl Iterator<Item = &Frame> {
        self.stacks.frames.iter().chain(&self.headings)
    }

    /// Returns whether each frame has one of the names.
    pub(super) fn named(&self, names: &HashSet<String>) -> Vec<bool> {
        self.all_frames().map(|frame| names.contains(&frame.name)).collect()
    }

    /// Returns the frames whose numbers follow those of the rows.
    pub(super) fn headings(self) -> Vec<Frame> {
        self.headings
    }
}
