//! The tree from which pictures are drawn. Times are whole nanoseconds.

use crate::stacks::Frame;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;

/// A frame of a tree, or a fold: one node for several that are too narrow. Parents come before
/// their children.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// Index of the parent node; `None` for the root.
    pub(crate) parent: Option<u32>,
    pub(crate) frame: u32,
    /// Self time in nanoseconds.
    pub(crate) own: u64,
    /// Total time in nanoseconds.
    pub(crate) total: u64,
    /// Number of events.
    pub(crate) count: u64,
    /// Start in nanoseconds, if nodes are placed by time.
    pub(crate) start: u64,
    pub(crate) children: Vec<u32>,
    /// Number of nodes that are folded into this node, or that are too deep below this node.
    pub(crate) gone: u64,
    /// Whether the node is a fold of other nodes.
    pub(crate) is_fold: bool,
    /// Change of the self time and of the total time, in nanoseconds.
    pub(crate) change: Option<(i64, i64)>,
}

/// A tree. Its first node is the root.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub(crate) all: Vec<Node>,
}

impl Nodes {
    /// Creates a tree with only a root.
    pub(crate) fn new(frame: u32) -> Self {
        Nodes { all: vec![Node { frame, ..Node::default() }] }
    }

    /// Checks the memory limit.
    ///
    /// # Errors
    /// Returns [`tracemill_trace::ErrorKind::Exceeded`] if the nodes exceed the limit.
    pub(crate) fn check(&self, room: &Quota) -> Result<(), Error> {
        /// Bytes per node in addition to the node: an element of the list of children, and an entry
        /// in a table by path.
        const AROUND: usize = 56;
        room.check((self.all.len() * (size_of::<Node>() + AROUND)) as u64, "frames of a picture")
    }

    pub(crate) fn add(&mut self, parent: u32, node: Node) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Node { parent: Some(parent), ..node });
        self.all[parent as usize].children.push(number);
        number
    }

    /// Computes total times from self times.
    pub(crate) fn sum_up(&mut self) {
        self.all.iter_mut().for_each(|node| node.total = node.own);
        for at in (1..self.all.len()).rev() {
            if let Some(parent) = self.all[at].parent {
                self.all[parent as usize].total += self.all[at].total;
            }
        }
    }

    /// Sorts siblings by total time, longest first, then by name. With `by_name`, sorts them only
    /// by name.
    pub(crate) fn sort(&mut self, frames: &[Frame], by_name: bool) {
        for at in 0..self.all.len() {
            let mut children = std::mem::take(&mut self.all[at].children);
            let name = |at: u32| {
                let frame = &frames[self.all[at as usize].frame as usize];
                (&frame.name, &frame.url, frame.line, frame.column)
            };
            let total = |at: u32| if by_name { 0 } else { self.all[at as usize].total };
            let is_idle = |at: u32| frames[self.all[at as usize].frame as usize].is_idle();
            children.sort_by(|&a, &b| total(b).cmp(&total(a)).then_with(|| name(a).cmp(&name(b))));
            children.sort_by_key(|&child| is_idle(child));
            self.all[at].children = children;
        }
    }
}
