//! A CPU profile as DevTools models it: nodes, and samples with times.
//!
//! Sums are doubles in the order of `CPUProfileDataModel`, so results are equal to the last bit.

use crate::profile::functions::{Frame, GC, IDLE, PROGRAM};
use crate::value::number;
use std::ops::Range;
use tracemill_tokenizer::unescaped_text;
use tracemill_trace::event::names::Names;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::{SpillArray, SpilledVec};

/// The index that means no node.
pub const NONE: u32 = u32::MAX;

/// How long a sample of a standalone CPU profile lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// A sample lasts until the next one, as in DevTools.
    #[default]
    Next,
    /// A sample lasts as long as the time since the previous one.
    Delta,
    /// All samples last equally long: the duration of the profile divided by the number of samples.
    Hits,
}

record! {
    /// A node of the call tree of a CPU profile.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Node {
        /// Id as written.
        pub id: u64,
        /// Number of the parent node; [`NONE`] for the root, and for nodes that the root does not
        /// reach.
        pub parent: u32,
        /// Depth of the node in the tree; the root has depth −1.
        pub depth: i32,
        /// Index of the function.
        pub frame: u32,
        /// Index of the nearest ancestor that is not a function of V8 itself; 0 or [`NONE`] if
        /// there is none.
        pub(crate) above: u32,
        /// Number that equal calls share, from the node's function; [`NONE`] for functions of V8
        /// itself.
        pub(crate) class: u32,
        /// Index of the function that identifies the node's row.
        pub(crate) row: u32,
    }
}

/// The samples of a profile, and the range that they have in the list of all samples.
#[derive(Default)]
pub struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) count: u64,
    /// End of the last sample, in milliseconds or exact nanoseconds; `None` if the profile has no
    /// samples.
    pub end: Option<f64>,
    /// Number of samples that name no node.
    pub(crate) unknown: u64,
}

/// A CPU profile. Nodes and functions beyond the memory budget are on disk.
pub struct Model {
    /// Nodes by number. Node 0 is the root.
    pub nodes: SpilledVec<Node>,
    /// Distinct functions, as recorded.
    functions: SpilledVec<Frame>,
    /// Functions that source maps changed, by number.
    mapped: HashMap<u32, Frame>,
    pub(crate) gc: Option<u32>,
    pub(crate) program: Option<u32>,
    /// The node of V8's `(idle)`.
    pub idle: Option<u32>,
    /// Range and end of the samples.
    pub span: Span,
    /// Time at which the last frame ends if there are no samples, in milliseconds or exact
    /// nanoseconds.
    pub end: f64,
    /// Whether the samples come from the top-level keys `samples` and `stackFrames` of a trace,
    /// which DevTools ignores.
    pub(crate) is_of_stacks: bool,
    /// Nodes by trace id. A trace id is the number of a text.
    pub(crate) trace_ids: HashMap<u32, u32>,
}

impl Model {
    /// Creates a model from nodes, of which the first is the root, and functions.
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

    /// Returns the node of a number, which must be less than the number of nodes.
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

    /// Returns whether a node is the root or below it.
    pub(crate) fn is_known(&self, number: u32) -> bool {
        number == 0 || self.node(number).parent != NONE
    }

    /// Returns a function as recorded.
    pub(crate) fn function(&self, number: u32) -> Frame {
        self.functions.get(number as usize).unwrap_or_default()
    }

    /// Returns all functions as recorded.
    pub(crate) fn functions(&self) -> impl Iterator<Item = Frame> + '_ {
        self.functions.iter()
    }

    /// Returns the number of functions.
    pub fn functions_len(&self) -> usize {
        self.functions.len()
    }

    /// Returns all functions as displayed.
    pub fn frames(&self) -> impl Iterator<Item = Frame> + '_ {
        let of = |(number, frame)| self.mapped.get(&number).copied().unwrap_or(frame);
        (0..).zip(self.functions.iter()).map(of)
    }

    /// Returns the displayed function of a node.
    pub fn frame(&self, node: u32) -> Frame {
        let number = self.node(node).frame;
        match self.mapped.is_empty() {
            true => self.function(number),
            false => self.mapped.get(&number).copied().unwrap_or_else(|| self.function(number)),
        }
    }

    /// Applies `change` to each displayed function.
    pub(crate) fn map(&mut self, change: impl Fn(&mut Frame)) {
        for (number, function) in (0..).zip(self.functions.iter()) {
            let mut changed = function;
            change(&mut changed);
            if changed != function {
                self.mapped.insert(number, changed);
            }
        }
    }

    /// Returns the id of a function's row, which source maps do not change.
    pub(crate) fn row_text(&self, function: u32, names: &Names) -> String {
        let text = self.function(function).row_text(names);
        unescaped_text(&text)
    }

    /// Finds the meta nodes among `top`, the children of the root. Searches from last to first.
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

    /// Returns the ancestor of a node that is a child of the root.
    pub(crate) fn bottom(&self, mut node: u32) -> u32 {
        loop {
            let parent = self.node(node).parent;
            if parent == NONE || self.node(parent).parent == NONE {
                return node;
            }
            node = parent;
        }
    }

    /// Returns whether a node is the root or a meta node. Such nodes are not calls in a trace.
    pub(crate) fn is_no_call(&self, node: u32) -> bool {
        node == 0 || Some(node) == self.program || Some(node) == self.idle || Some(node) == self.gc
    }
}

/// Parses a time in microseconds.
pub(crate) fn micros(text: Option<&[u8]>) -> Option<f64> {
    text.and_then(number)
}
