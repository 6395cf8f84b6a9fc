//! Rows of call trees as numbers: what all forms are written from.

use super::form::Exported;
use crate::rows::TreeRow;
use crate::trace::Trace;
use crate::united::Part;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A function or event: a name at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) url: String,
    /// From 1.
    pub(crate) line: Option<i64>,
    /// From 1.
    pub(crate) column: Option<i64>,
    /// What DevTools counts the first row of it as.
    pub(crate) category: &'static str,
}

/// A row of a tree, depth first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    pub(crate) depth: u32,
    /// Its number among the frames.
    pub(crate) frame: u32,
    /// Nanoseconds of its own; below zero only if that was asked for.
    pub(crate) own: i64,
    /// Events.
    pub(crate) count: u64,
}

/// A tree.
pub(crate) struct Tree {
    /// Of what threads it is.
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
    /// Nanoseconds of its window.
    pub(crate) length: u64,
}

/// The trees and their frames.
pub(crate) struct Stacks {
    pub(crate) frames: Vec<Frame>,
    pub(crate) trees: Vec<Tree>,
    pub(crate) exported: Exported,
    index: HashTable<u32>,
    signed: bool,
}

impl Stacks {
    /// `signed` keeps self times below zero, which DevTools makes of calls that end behind their callers; without it they count as none.
    pub(crate) fn new(trace: &Trace, parts: &[Part], depth: usize, signed: bool) -> Self {
        let (frames, trees, index) = (Vec::new(), Vec::new(), HashTable::new());
        let mut stacks = Stacks { frames, trees, exported: Exported::default(), index, signed };
        for part in parts {
            let tree = stacks.tree(trace, part, depth.max(1));
            stacks.trees.push(tree);
        }
        stacks
    }

    fn tree(&mut self, trace: &Trace, part: &Part, depth: usize) -> Tree {
        let mut lines: Vec<Line> = Vec::with_capacity(part.table.rows.len());
        for row in &part.table.rows {
            let own = self.nanos(row.own);
            // rows come depth first: what is too deep stands behind its caller at the last depth
            match lines.last_mut().filter(|_| row.depth as usize >= depth) {
                Some(caller) => {
                    self.exported.too_deep += 1;
                    caller.own += own;
                }
                None => {
                    let frame = self.frame(&row);
                    lines.push(Line { depth: row.depth, frame, own, count: row.count });
                }
            }
        }
        self.exported.stacks += lines.iter().filter(|line| line.own != 0).count() as u64;
        self.exported.nanos += lines.iter().map(|line| line.own).sum::<i64>();
        let length = (part.table.total * 1e6).round().max(0.0) as u64;
        Tree { title: trace.title(part), lines, length }
    }

    /// Milliseconds as the nearest nanosecond; what is no number as none.
    fn nanos(&mut self, ms: f64) -> i64 {
        let nanos = (ms * 1e6).round();
        let untold = nanos.is_nan() || nanos < 0.0 && !self.signed;
        self.exported.untold += u64::from(untold);
        if untold { 0 } else { nanos as i64 }
    }

    fn frame(&mut self, row: &TreeRow) -> u32 {
        let place = &row.location;
        let name = row.name();
        let from_one = |number: Option<i64>| number.map(|number| number.saturating_add(1));
        let (line, column) = (from_one(place.line), from_one(place.column));
        let state = FixedState::default();
        let hash = state.hash_one((name, &*place.url, line, column));
        let frames = &self.frames;
        let is_it = |&at: &u32| {
            let own: &Frame = &frames[at as usize];
            own.name == name && own.url == place.url && (own.line, own.column) == (line, column)
        };
        if let Some(&found) = self.index.find(hash, is_it) {
            return found;
        }
        let number = self.frames.len() as u32;
        let (url, category) = (place.url.clone(), row.category);
        self.frames.push(Frame { name: name.to_owned(), url, line, column, category });
        let frames = &self.frames;
        self.index.insert_unique(hash, number, |&at| {
            let own = &frames[at as usize];
            state.hash_one((&*own.name, &*own.url, own.line, own.column))
        });
        number
    }
}

/// Follows the path of rows that come depth first.
pub(crate) fn step(path: &mut Vec<u32>, line: &Line) {
    path.truncate(line.depth as usize);
    path.push(line.frame);
}
