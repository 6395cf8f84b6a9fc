//! Builds trees from rows that arrive depth first. Keeps only the nodes that a picture needs.

use super::nodes::{Node, Nodes};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// A tree builder that folds nodes which are too narrow to be drawn into one node per caller. If
/// nodes are placed by time, a wide gap or a kept node begins another fold.
///
/// Layouts of the result are the same as those of a tree with all nodes.
pub(super) struct Folding<'r> {
    nodes: Nodes,
    open: Vec<Open>,
    narrowest: u64,
    timed: bool,
    room: &'r Quota,
}

struct Open {
    at: u32,
    /// Number of nodes in the subtree of this node, including the node.
    size: u64,
    /// The child of this node into which others are folded, if nodes are not placed by time.
    fold: Option<u32>,
}

impl<'r> Folding<'r> {
    /// Creates a builder. With `timed`, nodes have a start and a total time; otherwise, the builder
    /// sums the total times.
    pub(super) fn new(narrowest: u64, timed: bool, room: &'r Quota) -> Self {
        Folding { nodes: Nodes { all: Vec::new() }, open: Vec::new(), narrowest, timed, room }
    }

    /// Adds the next node. Nodes come depth first, and the root has depth 0.
    pub(super) fn push(&mut self, depth: usize, node: Node) -> Result<(), Error> {
        while self.open.len() > depth {
            self.close();
        }
        let total = if self.timed { node.total } else { node.own };
        let node = Node { total, ..node };
        let at = match self.open.last() {
            Some(parent) => self.nodes.add(parent.at, node),
            None => {
                self.nodes.all.push(node);
                0
            }
        };
        self.open.push(Open { at, size: 1, fold: None });
        self.nodes.check(self.room)
    }

    /// Counts a node below the last one that is left out of the tree.
    pub(super) fn leave_out(&mut self) {
        if let Some(last) = self.open.last_mut() {
            last.size += 1;
            self.nodes.all[last.at as usize].gone += 1;
        }
    }

    pub(super) fn finish(mut self) -> Nodes {
        while !self.open.is_empty() {
            self.close();
        }
        self.nodes
    }

    fn close(&mut self) {
        let Some(Open { at, size, .. }) = self.open.pop() else { return };
        let Some(parent) = self.open.last_mut() else { return };
        parent.size += size;
        let node = &self.nodes.all[at as usize];
        let (start, total) = (node.start, node.total);
        if !self.timed {
            self.nodes.all[parent.at as usize].total += total;
        }
        if total >= self.narrowest {
            return;
        }
        // All descendants of a node come after the node.
        self.nodes.all.truncate(at as usize);
        let above = &mut self.nodes.all[parent.at as usize];
        above.children.pop();
        let (frame, last) = (above.frame, above.children.last().copied());
        let fold = if self.timed { last } else { parent.fold };
        let fold = fold.and_then(|fold| self.nodes.all.get_mut(fold as usize));
        match fold.filter(|node| node.is_fold) {
            Some(fold) if !self.timed => {
                fold.gone += size;
                fold.total += total;
            }
            Some(fold) if start <= fold.start + fold.total + self.narrowest => {
                fold.gone += size;
                fold.total = fold.total.max((start + total).saturating_sub(fold.start));
            }
            _ => {
                let fold =
                    Node { frame, start, total, gone: size, is_fold: true, ..Node::default() };
                parent.fold = Some(self.nodes.add(parent.at, fold));
            }
        }
    }
}

/// A tree builder that merges children of a node if their keys are equal.
pub(super) struct Merging<'r> {
    nodes: Nodes,
    places: HashMap<(u32, u32), u32>,
    path: Vec<u32>,
    room: &'r Quota,
}

impl<'r> Merging<'r> {
    pub(super) fn new(room: &'r Quota) -> Self {
        let nodes = Nodes { all: Vec::new() };
        Merging { nodes, places: HashMap::default(), path: Vec::new(), room }
    }

    /// Adds the next node with its key. Nodes come depth first, and the root has depth 0.
    pub(super) fn push(&mut self, depth: usize, key: u32, node: Node) -> Result<(), Error> {
        self.path.truncate(depth);
        let at = match self.path.last() {
            Some(&parent) => self.add(parent, key, node.frame)?,
            None => {
                self.nodes = Nodes::new(node.frame);
                0
            }
        };
        let sum = &mut self.nodes.all[at as usize];
        sum.own += node.own;
        sum.count += node.count;
        self.path.push(at);
        Ok(())
    }

    /// Returns the child of a node with a key, and adds the child if there is none.
    fn add(&mut self, parent: u32, key: u32, frame: u32) -> Result<u32, Error> {
        if let Some(&known) = self.places.get(&(parent, key)) {
            return Ok(known);
        }
        let at = self.nodes.add(parent, Node { frame, ..Node::default() });
        self.places.insert((parent, key), at);
        self.nodes.check(self.room)?;
        Ok(at)
    }

    /// Computes the total times, and returns the tree.
    pub(super) fn finish(mut self) -> Nodes {
        self.nodes.sum_up();
        self.nodes
    }
}

/// Builds a tree of the callers of a name, and a tree of its callees.
pub(super) struct Sandwich<'r> {
    /// Whether each frame has the name.
    named: Vec<bool>,
    up: Merging<'r>,
    down: Merging<'r>,
    open: Vec<Within>,
    is_found: bool,
}

struct Within {
    frame: u32,
    count: u64,
    /// Total time so far in nanoseconds.
    total: u64,
    /// Index of the node in the tree of callees. `None` if no frame with the name encloses the
    /// node.
    place: Option<u32>,
    /// Whether the node has the name, and no enclosing node has it.
    is_outermost: bool,
}

impl<'r> Sandwich<'r> {
    pub(super) fn new(named: Vec<bool>, room: &'r Quota) -> Self {
        let (up, down) = (Merging::new(room), Merging::new(room));
        Sandwich { named, up, down, open: Vec::new(), is_found: false }
    }

    /// Adds the next node. Nodes come depth first, and the root has depth 0.
    pub(super) fn push(&mut self, depth: usize, node: Node) -> Result<(), Error> {
        while self.open.len() > depth {
            self.close()?;
        }
        let Node { frame, own: self_time, count, .. } = node;
        let above = self.open.last().and_then(|parent| parent.place);
        let is_outermost = above.is_none() && self.named[frame as usize];
        if is_outermost && !self.is_found {
            self.is_found = true;
            (self.up.nodes, self.down.nodes) = (Nodes::new(frame), Nodes::new(frame));
        }
        let place = match above {
            Some(above) => Some(self.down.add(above, frame, frame)?),
            None => is_outermost.then_some(0),
        };
        if let Some(place) = place {
            let sum = &mut self.down.nodes.all[place as usize];
            sum.own += self_time;
            sum.count += count;
        }
        self.open.push(Within { frame, count, total: self_time, place, is_outermost });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some(within) = self.open.pop() else { return Ok(()) };
        if let Some(parent) = self.open.last_mut() {
            parent.total += within.total;
        }
        if within.is_outermost { self.add_callers(&within) } else { Ok(()) }
    }

    /// Adds the callers of a node to the tree of callers, innermost first. The time of the node
    /// counts as self time of its outermost caller.
    fn add_callers(&mut self, within: &Within) -> Result<(), Error> {
        self.up.nodes.all[0].count += within.count;
        let mut below = 0;
        for caller in self.open.iter().skip(1).rev() {
            below = self.up.add(below, caller.frame, caller.frame)?;
            self.up.nodes.all[below as usize].count += within.count;
        }
        self.up.nodes.all[below as usize].own += within.total;
        Ok(())
    }

    /// Returns the tree of callers and the tree of callees. Returns `None` if no frame has the
    /// name.
    pub(super) fn finish(mut self) -> Result<Option<(Nodes, Nodes)>, Error> {
        while !self.open.is_empty() {
            self.close()?;
        }
        let Sandwich { up, down, is_found, .. } = self;
        Ok(is_found.then(|| (up.finish(), down.finish())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{fit, narrowest};
    use super::*;
    use tracemill_trace::run::limits::Limits;
    use tracemill_trace::run::memory::Share;

    /// Builds a tree with all nodes.
    fn all(rows: &[(usize, Node)], timed: bool) -> Nodes {
        let mut nodes = Nodes { all: vec![rows[0].1.clone()] };
        let mut path: Vec<u32> = vec![0];
        for (depth, node) in &rows[1..] {
            path.truncate(*depth);
            path.push(nodes.add(path[depth - 1], node.clone()));
        }
        if !timed {
            nodes.sum_up();
        }
        nodes
    }

    /// Trees whose narrow nodes are folded give the same layout as trees with all nodes.
    #[test]
    fn folding_early_gives_the_same_layout() {
        let room = Limits::new(1, 1 << 30, std::env::temp_dir()).quota("pictures", Share::of(1, 1));
        let mut fewer = 0;
        for seed in 1..200u64 {
            let mut state = seed;
            let mut next = |below: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
                (state >> 33) % below
            };
            let timed = seed % 2 == 0;
            let length = 30_000_000;
            let mut rows = vec![(0, Node { total: length, ..Node::default() })];
            // For each depth, the earliest start of the next child, and the latest end.
            let mut ends = vec![(0, length)];
            for _ in 0..3000 {
                let depth = (1 + next(9) as usize).min(ends.len());
                ends.truncate(depth);
                let (from, to) = ends[depth - 1];
                let start = from + next((to - from) / 40 + 1);
                let total = next((to - start) / 30 + 2).min(to - start);
                ends[depth - 1].0 = start + total;
                ends.push((start, start + total));
                let node = Node { count: 1, ..Node::default() };
                let self_time = if next(3) == 0 { next(200_000) } else { next(900) };
                rows.push(match timed {
                    true => (depth, Node { start, total, ..node }),
                    false => (depth, Node { own: self_time, ..node }),
                });
            }
            let whole = all(&rows, timed);
            let length = whole.all[0].total;
            let mut folding = Folding::new(narrowest(length), timed, &room);
            rows.iter().for_each(|(depth, row)| folding.push(*depth, row.clone()).expect("room"));
            let few = folding.finish();
            fewer += whole.all.len() - few.all.len();
            assert_eq!(few.all[0].total, length);
            for most in [20_000, 300, 40] {
                let [few, whole] =
                    [&few, &whole].map(|drawing| fit(&[drawing], length, most, timed).remove(0));
                let figures = |drawn: &[super::super::layout::Rectangle]| {
                    let what = |rectangle: &super::super::layout::Rectangle| match rectangle.content
                    {
                        super::super::layout::What::Node(_) => 0,
                        super::super::layout::What::Folded(count) => count,
                    };
                    drawn
                        .iter()
                        .map(|rectangle| {
                            (what(rectangle), rectangle.depth, rectangle.x, rectangle.width)
                        })
                        .collect::<Vec<_>>()
                };
                assert_eq!(figures(&few), figures(&whole), "seed {seed}, {most}");
            }
        }
        assert!(fewer > 100_000, "{fewer}");
    }
}
