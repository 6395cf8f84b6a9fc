//! A CPU profile as DevTools models it (devtools-semantics §3, §4): nodes, and samples with times in milliseconds.
//!
//! All sums are doubles in the order of `CPUProfileDataModel`, so they are the same to the bit. Times come as whole
//! nanoseconds; a microsecond with up to three decimals is the same double either way.

use crate::profile::functions::{Frame, GC, IDLE, PROGRAM};
use crate::value::number;
use std::ops::Range;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::event::names::Names;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillArray, SpilledVec};

/// No node.
pub const NONE: u32 = u32::MAX;

/// For how long a sample counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// Until the next sample, as in DevTools.
    #[default]
    Next,
    /// The time since the sample before.
    Delta,
    /// Each as long as any other: the time of the profile, divided by its samples.
    Hits,
}

record! {
    /// A node of the call tree.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Node {
        /// As it is written.
        pub(crate) id: u64,
        /// [`NONE`] for the root and for nodes that are not below it.
        pub parent: u32,
        /// −1 for the root.
        pub(crate) depth: i32,
        /// Its function.
        pub frame: u32,
        /// The next node above that is no function of V8 itself; 0 or [`NONE`] at the top.
        pub(crate) above: u32,
        /// Functions of one class are one call; [`NONE`] for those of V8 itself, which are none.
        pub(crate) class: u32,
        /// The function whose row it is in.
        pub(crate) row: u32,
    }
}

/// Which samples are those of a profile.
#[derive(Default)]
pub struct Span {
    /// Those that were read.
    pub(crate) range: Range<usize>,
    /// How many there are.
    pub(crate) count: u64,
    /// When the last one ends, in milliseconds, if there are any.
    pub end: Option<f64>,
    /// Those that name no node.
    pub(crate) unknown: u64,
}

/// See the module doc. Nodes and functions are on disk beyond the budget.
pub struct Model {
    /// By their numbers; the first is the root.
    pub nodes: SpilledVec<Node>,
    /// Each once, as recorded.
    functions: SpilledVec<Frame>,
    /// Functions that source maps have other names and places for.
    mapped: HashMap<u32, Frame>,
    pub(crate) gc: Option<u32>,
    pub(crate) program: Option<u32>,
    /// The node of a CPU that does nothing.
    pub idle: Option<u32>,
    /// Its samples, by time.
    pub span: Span,
    /// When the last frame ends if no time says so, in milliseconds.
    pub end: f64,
    /// Whether its samples stand beside the events of a trace (`samples` and `stackFrames`): DevTools
    /// does not read these, so that none of its rules say which events begin or end a call.
    pub(crate) is_of_stacks: bool,
    /// Nodes by trace id (a text).
    pub(crate) trace_ids: HashMap<u32, u32>,
}

impl Model {
    /// Of nodes, the first of which is the root, and their functions.
    pub(crate) fn new(nodes: SpilledVec<Node>, functions: SpilledVec<Frame>, end: f64) -> Self {
        Model {
            nodes,
            functions,
            mapped: HashMap::default(),
            gc: None,
            program: None,
            idle: None,
            span: Span::default(),
            end,
            is_of_stacks: false,
            trace_ids: HashMap::default(),
        }
    }

    /// A node. There is one of each number below their count.
    #[inline]
    pub fn node(&self, number: u32) -> Node {
        self.nodes.get(number as usize).unwrap_or(Node {
            id: 0,
            parent: NONE,
            depth: -1,
            frame: 0,
            above: NONE,
            class: 0,
            row: 0,
        })
    }

    /// Whether the node of this number is below the root, or the root.
    pub(crate) fn is_known(&self, number: u32) -> bool {
        number == 0 || self.node(number).parent != NONE
    }

    /// A function as it was recorded.
    pub(crate) fn function(&self, number: u32) -> Frame {
        self.functions.get(number as usize).unwrap_or_default()
    }

    /// All functions, as recorded.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Frame> + '_ {
        self.functions.iter()
    }

    /// All functions, as they are shown.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        let of = |(number, own)| self.mapped.get(&number).copied().unwrap_or(own);
        (0..).zip(self.functions.iter()).map(of)
    }

    /// The function of a node, as it is shown.
    pub fn frame(&self, node: u32) -> Frame {
        let number = self.node(node).frame;
        match self.mapped.is_empty() {
            true => self.function(number),
            false => self.mapped.get(&number).copied().unwrap_or_else(|| self.function(number)),
        }
    }

    /// Shows functions as `change` has them.
    pub(crate) fn map(&mut self, change: impl Fn(&mut Frame)) {
        for (number, function) in (0..).zip(self.functions.iter()) {
            let mut changed = function;
            change(&mut changed);
            if changed != function {
                self.mapped.insert(number, changed);
            }
        }
    }

    /// The id of the row of a function, which no source map changes.
    pub(crate) fn row_text(&self, function: u32, names: &Names) -> String {
        let text = self.function(function).row_text(names);
        unescaped_text(&text)
    }

    /// §4.4: the root's children are searched from the last to the first.
    pub(crate) fn find_meta_nodes(&mut self, mut top: SpillArray<u32>) {
        while let Some(node) = top.pop() {
            if self.gc.is_some() && self.program.is_some() && self.idle.is_some() {
                return;
            }
            match self.frame(node).function {
                GC => self.gc = Some(node),
                PROGRAM => self.program = Some(node),
                IDLE => self.idle = Some(node),
                _ => {}
            }
        }
    }

    /// The ancestor that is a child of the root.
    pub(crate) fn bottom(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.node(node).parent;
            if parent == NONE || self.node(parent).parent == NONE {
                return node;
            }
            node = parent;
        }
    }

    /// Whether a node is the root, or one that is no call beside a trace.
    pub(crate) fn is_no_call(&self, node: u32) -> bool {
        node == 0 || Some(node) == self.program || Some(node) == self.idle || Some(node) == self.gc
    }
}

/// A time as written, in microseconds.
pub(crate) fn micros(text: Option<&[u8]>) -> Option<f64> {
    text.and_then(number)
}
