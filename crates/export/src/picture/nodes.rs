//! What pictures are drawn of: a tree of frames with whole nanoseconds.

use crate::stacks::Frame;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;

/// A frame of a tree, or what of a caller is too narrow to be drawn; its parent stands before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    /// `None` at the top.
    pub(crate) parent: Option<u32>,
    /// Its number among the frames.
    pub(crate) frame: u32,
    /// Nanoseconds of its own.
    pub(crate) own: u64,
    /// Nanoseconds.
    pub(crate) total: u64,
    /// Events.
    pub(crate) count: u64,
    /// When it begins, in nanoseconds, where frames stand by time.
    pub(crate) start: u64,
    /// Its children, by their numbers.
    pub(crate) children: Vec<u32>,
    /// Nodes that were there and are not: those that it stands for, or that are too deep below it.
    pub(crate) gone: u64,
    /// Whether it stands for others.
    pub(crate) is_fold: bool,
    /// Nanoseconds of its own, and in all, that it has more than before.
    pub(crate) change: Option<(i64, i64)>,
}

/// A tree: the first node is its root.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub(crate) all: Vec<Node>,
}

impl Nodes {
    /// A tree of nothing but a root.
    pub(crate) fn new(frame: u32) -> Self {
        Nodes { all: vec![Node { frame, ..Node::default() }] }
    }

    /// Whether there is room for them.
    ///
    /// # Errors
    /// If there is not.
    pub(crate) fn check(&self, room: &Quota) -> Result<(), Error> {
        /// Of a node the list of its children, and an entry of a table by path.
        const AROUND: usize = 56;
        room.check((self.all.len() * (size_of::<Node>() + AROUND)) as u64, "frames of a picture")
    }

    pub(crate) fn add(&mut self, parent: u32, node: Node) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Node { parent: Some(parent), ..node });
        self.all[parent as usize].children.push(number);
        number
    }

    /// Totals as the sums of own times.
    pub(crate) fn sum_up(&mut self) {
        self.all.iter_mut().for_each(|node| node.total = node.own);
        for at in (1..self.all.len()).rev() {
            if let Some(parent) = self.all[at].parent {
                self.all[parent as usize].total += self.all[at].total;
            }
        }
    }

    /// Children by total time, the greatest first, then by name; or by name alone.
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
