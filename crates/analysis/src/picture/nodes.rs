//! What pictures are drawn of: a tree of frames with whole nanoseconds.

use crate::export::stacks::{Frame, Line};
use tracemill_core::hash::HashMap;

/// A frame of a tree; its parent stands before it.
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

    pub(crate) fn add(&mut self, parent: u32, node: Node) -> u32 {
        let number = self.all.len() as u32;
        self.all.push(Node { parent: Some(parent), ..node });
        self.all[parent as usize].children.push(number);
        number
    }

    /// Puts rows, which come depth first, below a node. Totals are made later.
    pub(crate) fn graft(&mut self, below: u32, lines: &[Line]) {
        let mut path: Vec<u32> = vec![below];
        for line in lines {
            path.truncate(line.depth as usize + 1);
            let parent = path[path.len() - 1];
            let node = Node {
                frame: line.frame,
                own: line.own.max(0) as u64,
                count: line.count,
                ..Node::default()
            };
            path.push(self.add(parent, node));
        }
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

    /// The same tree with children that are the same put together.
    pub(crate) fn united<K: Eq + std::hash::Hash>(&self, key: impl Fn(u32) -> K) -> Self {
        let mut one = Nodes::new(self.all[0].frame);
        let mut places: HashMap<(u32, K), u32> = HashMap::default();
        let mut new: Vec<u32> = vec![0];
        (one.all[0].own, one.all[0].count) = (self.all[0].own, self.all[0].count);
        for node in &self.all[1..] {
            let parent = new[node.parent.unwrap_or(0) as usize];
            let next = one.all.len() as u32;
            let at = *places.entry((parent, key(node.frame))).or_insert(next);
            if at == next {
                let kept = Node { frame: node.frame, start: node.start, ..Node::default() };
                one.add(parent, kept);
            }
            let own = &mut one.all[at as usize];
            own.own += node.own;
            own.count += node.count;
            new.push(at);
        }
        one.sum_up();
        one
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
            children.sort_by(|&a, &b| total(b).cmp(&total(a)).then_with(|| name(a).cmp(&name(b))));
            self.all[at].children = children;
        }
    }
}
