//! Rows of call trees as numbers, from which all formats are written.

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

/// A function or event, identified by its name and location.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) url: String,
    /// Line, counted from 1.
    pub(crate) line: Option<i64>,
    /// Column, counted from 1.
    pub(crate) column: Option<i64>,
    /// DevTools' category of the frame's first row.
    pub(crate) category: &'static str,
    /// Number of the reserved colour of the frame's events; 0 for none.
    pub(crate) color: u8,
}

impl Frame {
    /// Returns whether the frame is V8's `(idle)`.
    pub(crate) fn is_idle(&self) -> bool {
        self.category == "idle" && self.name == IDLE_LABEL
    }
}

record! {
    /// A row of a tree. Rows are listed depth first.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Line {
        pub(crate) depth: u32,
        pub(crate) frame: u32,
        /// Self time in nanoseconds. Negative only if the format keeps negative times.
        pub(crate) own: i64,
        /// Number of events.
        pub(crate) count: u64,
    }
}

pub(crate) struct Tree {
    pub(crate) title: String,
    lines: Range<usize>,
    /// Sum of the self times of all rows, in nanoseconds.
    pub(crate) own: i64,
    /// Length of the tree's window in nanoseconds.
    pub(crate) length: u64,
}

/// Which rows and times of tables stacks have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptRows {
    /// Whether negative self times are kept, which calls have that end after their callers.
    pub(crate) signed: bool,
    /// Whether calls to V8's `(idle)` are kept.
    pub(crate) idle: bool,
}

/// Trees and the frames of their rows. Frames are in memory; rows beyond the memory budget are on
/// disk.
pub(crate) struct Stacks {
    pub(crate) frames: Vec<Frame>,
    pub(crate) trees: Vec<Tree>,
    lines: SpilledVec<Line>,
    pub(crate) exported: Exported,
    /// Time of calls to `(idle)` that are left out, in nanoseconds.
    pub(crate) idle: u64,
}

struct Making {
    frames: Vec<Frame>,
    lines: SpillVec<Line>,
    exported: Exported,
    index: HashTable<u32>,
    kept: KeptRows,
    room: Quota,
    idle: u64,
}

impl Stacks {
    /// Converts tables to stacks.
    pub(crate) fn new(
        trace: &Trace,
        parts: &[Part],
        depth: usize,
        kept: KeptRows,
    ) -> Result<Self, Error> {
        let space = Space::new(trace.limits().lease("lines of stacks", Share::of(1, 8)), 1);
        let mut making = Making {
            frames: Vec::new(),
            lines: space.spool(1),
            exported: Exported::default(),
            index: HashTable::new(),
            kept,
            idle: 0,
            room: trace.limits().quota("stacks", Share::of(1, 4)),
        };
        let mut trees = Vec::with_capacity(parts.len());
        for part in parts {
            trees.push(making.tree(trace, part, depth.max(1))?);
        }
        let Making { frames, lines, exported, idle, .. } = making;
        Ok(Stacks { frames, trees, lines: lines.finish()?, exported, idle })
    }

    pub(crate) fn lines(&self, tree: &Tree) -> impl Iterator<Item = Line> {
        self.lines.range(tree.lines.clone())
    }
}

impl Making {
    fn tree(&mut self, trace: &Trace, part: &Part, depth: usize) -> Result<Tree, Error> {
        let start = self.lines.len();
        // Rows come depth first, so rows that are too deep follow their caller at the maximum
        // depth.
        let mut last: Option<Line> = None;
        let mut sum = 0;
        for row in &part.table.rows {
            let self_time = self.nanos(row.own);
            if !self.kept.idle && row.is_idle() {
                self.idle += self_time.max(0) as u64;
                continue;
            }
            sum += self_time;
            match last.as_mut().filter(|_| row.depth as usize >= depth) {
                Some(caller) => {
                    self.exported.too_deep += 1;
                    caller.own += self_time;
                }
                None => {
                    let frame = self.frame(&row)?;
                    let line = Line { depth: row.depth, frame, own: self_time, count: row.count };
                    last.replace(line).map_or(Ok(()), |line| self.push(line))?;
                }
            }
        }
        last.map_or(Ok(()), |line| self.push(line))?;
        self.exported.nanos += sum;
        let length = (part.table.total * 1e6).round().max(0.0) as u64;
        Ok(Tree { title: trace.title(part), lines: start..self.lines.len(), own: sum, length })
    }

    fn push(&mut self, line: Line) -> Result<(), Error> {
        self.exported.stacks += u64::from(line.own != 0);
        self.lines.push(line)
    }

    /// Rounds milliseconds to nanoseconds. Counts invalid times, and converts them to 0.
    fn nanos(&mut self, ms: f64) -> i64 {
        let nanos = (ms * 1e6).round();
        let skipped = nanos.is_nan() || nanos < 0.0 && !self.kept.signed;
        self.exported.untold += u64::from(skipped);
        if skipped { 0 } else { nanos as i64 }
    }

    fn frame(&mut self, row: &TreeRow) -> Result<u32, Error> {
        /// Number of copies of a frame's texts in memory, including the copies of the writers.
        const HELD: usize = 3;
        let place = &row.location;
        let name = row.name();
        let from_one = |number: Option<i64>| number.map(|number| number.saturating_add(1));
        let (line, column) = (from_one(place.line), from_one(place.column));
        let state = FixedState::default();
        let hash = state.hash_one((name, &*place.url, line, column, row.color));
        let frames = &self.frames;
        let is_it = |&at: &u32| {
            let known: &Frame = &frames[at as usize];
            known.name == name
                && known.url == place.url
                && (known.line, known.column, known.color) == (line, column, row.color)
        };
        if let Some(&found) = self.index.find(hash, is_it) {
            return Ok(found);
        }
        let heap = size_of::<Frame>() + HELD * (name.len() + place.url.len() + 48);
        self.room.take(heap as u64, "functions and events of call trees")?;
        let number = self.frames.len() as u32;
        let (url, category, color) = (place.url.clone(), row.category, row.color);
        self.frames.push(Frame { name: name.to_owned(), url, line, column, category, color });
        let frames = &self.frames;
        self.index.insert_unique(hash, number, |&at| {
            let known = &frames[at as usize];
            state.hash_one((&*known.name, &*known.url, known.line, known.column, known.color))
        });
        Ok(number)
    }
}

/// Changes the path of the previous row to that of the next row. Rows come depth first.
pub(crate) fn step(path: &mut Vec<u32>, line: &Line) {
    path.truncate(line.depth as usize);
    path.push(line.frame);
}
