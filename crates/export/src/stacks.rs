//! Rows of call trees as numbers: what all forms are written from.

use crate::form::Exported;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;
use std::ops::Range;
use tracemill_analysis::profile::functions::IDLE_LABEL;
use tracemill_analysis::value::space::Space;
use tracemill_analysis::{Part, Trace, TreeRow};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::{SpillVec, SpilledVec};

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

impl Frame {
    /// Whether it stands for a CPU that does nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.category == "idle" && self.name == IDLE_LABEL
    }
}

record! {
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
}

/// A tree.
pub(crate) struct Tree {
    /// Of what threads it is.
    pub(crate) title: String,
    /// Which lines are its rows.
    lines: Range<usize>,
    /// Nanoseconds of all its rows.
    pub(crate) own: i64,
    /// Nanoseconds of its window.
    pub(crate) length: u64,
}

/// The trees and their frames. Frames are in memory, rows on disk beyond their share of the budget.
pub(crate) struct Stacks {
    pub(crate) frames: Vec<Frame>,
    pub(crate) trees: Vec<Tree>,
    lines: SpilledVec<Line>,
    pub(crate) exported: Exported,
}

/// What stacks are made with.
struct Making {
    frames: Vec<Frame>,
    lines: SpillVec<Line>,
    exported: Exported,
    index: HashTable<u32>,
    signed: bool,
    room: Quota,
}

impl Stacks {
    /// `signed` keeps self times below zero, which DevTools makes of calls that end behind their callers; without it they count as none.
    ///
    /// # Errors
    /// What temporary files say, or that frames are more than the budget has room for.
    pub(crate) fn new(
        trace: &Trace,
        parts: &[Part],
        depth: usize,
        signed: bool,
    ) -> Result<Self, Error> {
        let space = Space::new(trace.limits().lease("lines of stacks", Share::of(1, 8)), 1);
        let mut making = Making {
            frames: Vec::new(),
            lines: space.spool(1),
            exported: Exported::default(),
            index: HashTable::new(),
            signed,
            room: trace.limits().quota("stacks", Share::of(1, 4)),
        };
        let mut trees = Vec::with_capacity(parts.len());
        for part in parts {
            trees.push(making.tree(trace, part, depth.max(1))?);
        }
        let Making { frames, lines, exported, .. } = making;
        Ok(Stacks { frames, trees, lines: lines.finish()?, exported })
    }

    /// The rows of a tree.
    pub(crate) fn lines(&self, tree: &Tree) -> impl Iterator<Item = Line> {
        self.lines.range(tree.lines.clone())
    }
}

impl Making {
    fn tree(&mut self, trace: &Trace, part: &Part, depth: usize) -> Result<Tree, Error> {
        let start = self.lines.len();
        // rows come depth first: what is too deep stands behind its caller at the last depth
        let mut last: Option<Line> = None;
        let mut sum = 0;
        for row in &part.table.rows {
            let own = self.nanos(row.own);
            sum += own;
            match last.as_mut().filter(|_| row.depth as usize >= depth) {
                Some(caller) => {
                    self.exported.too_deep += 1;
                    caller.own += own;
                }
                None => {
                    let frame = self.frame(&row)?;
                    let line = Line { depth: row.depth, frame, own, count: row.count };
                    last.replace(line).map_or(Ok(()), |own| self.push(own))?;
                }
            }
        }
        last.map_or(Ok(()), |own| self.push(own))?;
        self.exported.nanos += sum;
        let length = (part.table.total * 1e6).round().max(0.0) as u64;
        Ok(Tree { title: trace.title(part), lines: start..self.lines.len(), own: sum, length })
    }

    fn push(&mut self, line: Line) -> Result<(), Error> {
        self.exported.stacks += u64::from(line.own != 0);
        self.lines.push(line)
    }

    /// Milliseconds as the nearest nanosecond; what is no number as none.
    fn nanos(&mut self, ms: f64) -> i64 {
        let nanos = (ms * 1e6).round();
        let untold = nanos.is_nan() || nanos < 0.0 && !self.signed;
        self.exported.untold += u64::from(untold);
        if untold { 0 } else { nanos as i64 }
    }

    fn frame(&mut self, row: &TreeRow) -> Result<u32, Error> {
        /// How often the texts of a frame are held, as a form wants them too.
        const HELD: usize = 3;
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
            return Ok(found);
        }
        let heap = size_of::<Frame>() + HELD * (name.len() + place.url.len() + 48);
        self.room.take(heap as u64, "functions and events of call trees")?;
        let number = self.frames.len() as u32;
        let (url, category) = (place.url.clone(), row.category);
        self.frames.push(Frame { name: name.to_owned(), url, line, column, category });
        let frames = &self.frames;
        self.index.insert_unique(hash, number, |&at| {
            let own = &frames[at as usize];
            state.hash_one((&*own.name, &*own.url, own.line, own.column))
        });
        Ok(number)
    }
}

/// Follows the path of rows that come depth first.
pub(crate) fn step(path: &mut Vec<u32>, line: &Line) {
    path.truncate(line.depth as usize);
    path.push(line.frame);
}
