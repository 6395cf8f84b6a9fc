//! Collects the nodes of a CPU profile from its chunks, and builds the call tree. Nodes beyond the
//! memory budget are on disk.

use crate::profile::functions::{Frame, Functions, NATIVE};
use crate::profile::model::{Model, NONE, Node};
use crate::value::space::Space;
use crate::value::{member, string};
use tracemill_cpuprofile::ProfileSource;
use tracemill_join::input_set::{PieceNode, ProfilePiece};
use tracemill_trace::event::names::Names;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::{SpillArray, SpillVec, SpilledVec};

/// Use of the memory, in the message of an exceeded budget.
const WHAT: &str = "texts of functions of a CPU profile";

/// The nodes of a profile that were read so far.
pub(crate) struct Raw {
    nodes: SpillVec<RawNode>,
    count: usize,
    children: SpillVec<u64>,
    listed: u32,
    functions: Functions,
    trace_ids: Vec<(u32, u64)>,
    /// Length of the longest list of samples, times or children in one chunk.
    pub(crate) longest: usize,
    /// Whether the first node has a hit count.
    pub(crate) has_hits: bool,
    /// Source of the profile that its chunks state.
    pub(crate) source: Option<ProfileSource>,
    space: Space,
}

record! {
    /// A node as read. A profile may have as many nodes as samples.
    #[derive(Clone, Copy)]
    struct RawNode {
        id: u64,
        /// Id of the parent; [`NO_ID`] if the node names none.
        parent: u64,
        /// Range of the node's children in the list of all children; `(NONE, NONE)` if the node has
        /// no list.
        children: (u32, u32),
        frame: u32,
    }
}

const NO_ID: u64 = u64::MAX;

impl RawNode {
    fn has_list(&self) -> bool {
        self.children.0 != NONE
    }
}

impl Raw {
    pub(crate) fn new(space: &Space) -> Self {
        Raw {
            nodes: space.spool(8),
            count: 0,
            children: space.spool(8),
            listed: 0,
            functions: Functions::new(space),
            trace_ids: Vec::new(),
            longest: 0,
            has_hits: false,
            source: None,
            space: space.clone(),
        }
    }

    /// Adds the nodes of the next chunk. `is_whole` is true for a `.cpuprofile`, whose frames need
    /// no conversion.
    pub(crate) fn add(
        &mut self,
        piece: &ProfilePiece<'_>,
        is_whole: bool,
        names: &mut Names,
        room: &Quota,
    ) -> Result<(), Error> {
        let children = piece.nodes().filter_map(|node| Some(node.children?.len()));
        let lists = children.chain([piece.samples.len(), piece.steps.len()]);
        self.longest = lists.fold(self.longest, usize::max);
        for node in piece.nodes() {
            self.has_hits |= self.count == 0 && member(node.text, b"hitCount").is_some();
            self.add_node(node, is_whole, names)?;
        }
        for (key, node) in piece.trace_ids() {
            let key = string(key).unwrap_or_default();
            self.trace_ids.push((names.number(&key), node));
        }
        let trace_ids = size_of_val(&*self.trace_ids) as u64;
        room.check(names.heap() + trace_ids, WHAT)
    }

    /// Replaces the number of each text by its element of `numbers`.
    pub(crate) fn rename(&mut self, numbers: &[u32]) {
        self.functions.rename(numbers);
        self.trace_ids.iter_mut().for_each(|(key, _)| *key = numbers[*key as usize]);
    }

    fn add_node(
        &mut self,
        node: PieceNode<'_>,
        is_whole: bool,
        names: &mut Names,
    ) -> Result<(), Error> {
        let children = match node.children {
            Some(ids) => {
                let start = self.listed;
                self.children.extend(ids)?;
                self.listed += ids.len() as u32;
                (start, self.listed)
            }
            None => (NONE, NONE),
        };
        let frame = Frame::of_node(node.text, is_whole, names);
        let frame = self.functions.number(frame, names)?;
        self.count += 1;
        let parent = node.parent.unwrap_or(NO_ID);
        self.nodes.push(RawNode { id: node.id, parent, children, frame })
    }

    /// Builds a model without samples, and an index of its nodes by id. `end` is the end of the
    /// profile in milliseconds or exact nanoseconds.
    pub(crate) fn model(mut self, end: f64, kept: &Space) -> Result<(Model, NodesById), Error> {
        let tree = Tree { nodes: self.nodes.take()?, children: self.children.take()? };
        let mut functions: SpillVec<Frame> = kept.spool(2);
        self.functions.all.iter().try_for_each(|function| functions.push(function))?;
        let functions = functions.take()?;
        let mut nodes: SpillVec<Node> = kept.spool(2);
        if self.count == 0 {
            return Ok((Model::new(nodes.take()?, functions, 0.0), NodesById::none(&self.space)));
        }
        let by_id = NodesById::new(&tree.nodes, &self.space)?;
        let edges = tree.edges(&by_id, &self.space)?;
        let is_native = |node: u32| self.functions.get(tree.node(node).frame).url == NATIVE;
        let (placed, top) = place(self.count, &edges, is_native, &self.space)?;
        for (raw, Placed { parent, depth, above }) in tree.nodes.iter().zip(placed.iter()) {
            let Frame { class, row, url, .. } = self.functions.get(raw.frame);
            let class = if url == NATIVE { NONE } else { class };
            let RawNode { id, frame, .. } = raw;
            nodes.extend(&[Node { id, parent, depth, frame, above, class, row }])?;
        }
        let mut model = Model::new(nodes.take()?, functions, end);
        let known = |id: &u64| by_id.get(*id).filter(|&node| model.is_known(node));
        let trace_ids = self.trace_ids.iter().filter(|(_, node)| *node != 0);
        model.trace_ids = trace_ids.filter_map(|(key, node)| Some((*key, known(node)?))).collect();
        model.find_meta_nodes(top);
        Ok((model, by_id))
    }
}

/// An index of nodes by id. If several nodes have the same id, the last one counts.
pub(crate) struct NodesById {
    /// The least id. If ids are dense, as in V8, `close` has the node of each id from `least` on.
    /// Otherwise, `pairs` has the ids.
    least: u64,
    close: SpillArray<u32>,
    pairs: SpilledVec<Pair>,
}

record! {
    #[derive(Clone, Copy)]
    struct Pair {
        id: u64,
        node: u32,
    }
}

impl Keyed for Pair {
    type Key = (u64, u32);

    fn key(&self) -> (u64, u32) {
        (self.id, self.node)
    }
}

impl NodesById {
    fn none(space: &Space) -> Self {
        NodesById { least: 0, close: space.array(16), pairs: SpilledVec::default() }
    }

    fn new(nodes: &SpilledVec<RawNode>, space: &Space) -> Result<Self, Error> {
        let ids = || nodes.iter().map(|node| node.id);
        let (least, most) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        let mut nodes_by_id = NodesById { least, ..NodesById::none(space) };
        if most - least < 4 * nodes.len() as u64 {
            nodes_by_id.close.resize((most - least + 1) as usize, NONE)?;
            (0..).zip(ids()).for_each(|(at, id)| nodes_by_id.close.set((id - least) as usize, at));
            return Ok(nodes_by_id);
        }
        let mut sorter = space.sorter(16);
        ids().zip(0..).try_for_each(|(id, node)| sorter.push(Pair { id, node }))?;
        let mut pairs = space.spool(16);
        sorter.finish()?.iter().try_for_each(|pair| pairs.push(pair))?;
        nodes_by_id.pairs = pairs.take()?;
        Ok(nodes_by_id)
    }

    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        if self.pairs.is_empty() {
            let at = usize::try_from(id.checked_sub(self.least)?).ok()?;
            return self.close.get(at).filter(|&node| node != NONE);
        }
        let last = self.pairs.partition_point(|pair| pair.id <= id).checked_sub(1)?;
        self.pairs.get(last).filter(|pair| pair.id == id).map(|pair| pair.node)
    }
}

struct Tree {
    nodes: SpilledVec<RawNode>,
    children: SpilledVec<u64>,
}

impl Tree {
    fn node(&self, number: u32) -> RawNode {
        let none = RawNode { id: NO_ID, parent: NO_ID, children: (NONE, NONE), frame: 0 };
        self.nodes.get(number as usize).unwrap_or(none)
    }

    /// Passes the numbers of each parent node and child node to `each`.
    ///
    /// The lists of children give these pairs. If the first node has no list, the `parent` members
    /// of nodes give further pairs.
    fn each_edge(&self, by_id: &NodesById, mut each: impl FnMut(u32, u32)) {
        for (at, node) in (0..).zip(self.nodes.iter()) {
            // If several nodes have the same id, the last one counts.
            if !node.has_list() || at != 0 && by_id.get(node.id) != Some(at) {
                continue;
            }
            let listed = self.children.range(node.children.0 as usize..node.children.1 as usize);
            listed.filter_map(|id| by_id.get(id)).for_each(|child| each(at, child));
        }
        if self.node(0).has_list() {
            return;
        }
        for node in self.nodes.iter().skip(1).filter(|node| node.parent != NO_ID) {
            if let (Some(parent), Some(child)) = (by_id.get(node.parent), by_id.get(node.id)) {
                each(parent, child);
            }
        }
    }

    fn edges(&self, by_id: &NodesById, space: &Space) -> Result<Edges, Error> {
        let (mut ends, mut children) = (space.array(16), space.array(16));
        ends.resize(self.nodes.len() + 1, 0u32)?;
        self.each_edge(by_id, |parent, _| ends.update(parent as usize + 1, |count| *count += 1));
        let mut sum = 0;
        for at in 0..ends.len() {
            ends.update(at, |count| {
                sum += *count;
                *count = sum;
            });
        }
        children.resize(sum as usize, 0u32)?;
        // The start of each parent's children moves to their end, which is the start for the next
        // parent.
        self.each_edge(by_id, |parent, child| {
            ends.update(parent as usize, |at| {
                children.set(*at as usize, child);
                *at += 1;
            });
        });
        Ok(Edges { ends, children })
    }
}

/// The children of each node.
struct Edges {
    ends: SpillArray<u32>,
    children: SpillArray<u32>,
}

impl Edges {
    fn of(&self, parent: u32) -> impl Iterator<Item = u32> + '_ {
        let end = |node: usize| self.ends.get(node).unwrap_or(0) as usize;
        let parent = parent as usize;
        let start = if parent == 0 { 0 } else { end(parent - 1) };
        (start..end(parent)).filter_map(|at| self.children.get(at))
    }
}

record! {
    /// The position of a node in the tree. The fields are those of [`Node`].
    #[derive(Clone, Copy)]
    struct Placed {
        parent: u32,
        depth: i32,
        above: u32,
    }
}

/// Walks the tree from the root. Returns the position of each node, and the children of the root.
fn place(
    count: usize,
    edges: &Edges,
    is_native: impl Fn(u32) -> bool,
    space: &Space,
) -> Result<(SpillArray<Placed>, SpillArray<u32>), Error> {
    let none = Placed { parent: NONE, depth: -1, above: NONE };
    let (mut all, mut open, mut top) = (space.array(16), space.array(16), space.array(16));
    all.resize(count, none)?;
    open.push(0u32)?;
    while let Some(parent) = open.pop() {
        let Placed { depth, above, .. } = all.get(parent as usize).unwrap_or(none);
        let above = if parent != 0 && is_native(parent) { above } else { parent };
        for child in edges.of(parent) {
            let is_placed = all.get(child as usize).is_none_or(|node| node.parent != NONE);
            if child == 0 || is_placed {
                continue; // a cycle, or a node with two parents: the first one that is met
            }
            all.set(child as usize, Placed { parent, depth: depth + 1, above });
            open.push(child)?;
            if parent == 0 {
                top.push(child)?;
            }
        }
    }
    Ok((all, top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tracemill_testkit::{Rng, seeds};

    /// Id, parent, children and function of a node.
    type Written = (u64, Option<u64>, Option<Vec<u64>>, u32);

    fn random(rng: &mut Rng) -> Vec<Written> {
        let count = 1 + rng.below(30);
        // Distant ids too.
        let step = if rng.chance(70) { 1 } else { 1_000_003 };
        let id = |rng: &mut Rng| 5 + step * rng.below(count + 2);
        let (listed, by_parents) = (rng.chance(50), rng.chance(70));
        (0..count)
            .map(|at| {
                let node_id = if rng.chance(90) { 5 + step * at } else { id(rng) };
                let parent = (by_parents && at > 0 && rng.chance(90)).then(|| id(rng));
                let children = (listed && rng.chance(70))
                    .then(|| (0..rng.below(4)).map(|_| id(rng)).collect());
                (node_id, parent, children, rng.below(6) as u32)
            })
            .collect()
    }

    fn model(written: &[Written], bytes: u64) -> (Model, NodesById) {
        let space = Space::alone(bytes);
        let mut raw = Raw::new(&space);
        for function in 0..6 {
            // Include the names of meta nodes; the last function is V8's own.
            let url = if function == 5 { NATIVE } else { 0 };
            let frame = Frame { function, url, class: function, ..Frame::default() };
            raw.functions.all.push(frame).expect("room on disk");
        }
        for (id, parent, children, frame) in written {
            let start = raw.listed;
            let listed = children.as_deref().unwrap_or_default();
            raw.children.extend(listed).expect("room on disk");
            raw.listed += listed.len() as u32;
            let node = RawNode {
                id: *id,
                parent: parent.unwrap_or(NO_ID),
                children: if children.is_some() { (start, raw.listed) } else { (NONE, NONE) },
                frame: *frame,
            };
            raw.nodes.extend(&[node]).expect("room on disk");
            raw.count += 1;
        }
        raw.model(7.0, &space).expect("room on disk")
    }

    /// Computes parents, depths and non-native ancestors from lists of children.
    fn naive(written: &[Written]) -> (Vec<Node>, HashMap<u64, u32>) {
        let by_id: HashMap<u64, u32> = written.iter().map(|node| node.0).zip(0..).collect();
        let mut children = vec![Vec::new(); written.len()];
        for (at, (id, _, listed, _)) in written.iter().enumerate() {
            if at == 0 || by_id[id] as usize == at {
                let listed = listed.iter().flatten();
                children[at].extend(listed.filter_map(|id| by_id.get(id).copied()));
            }
        }
        for (id, parent, ..) in written.iter().skip(1).filter(|_| written[0].2.is_none()) {
            if let Some(&parent) = parent.as_ref().and_then(|id| by_id.get(id)) {
                children[parent as usize].push(by_id[id]);
            }
        }
        let node = |(id, _, _, frame): &Written| Node {
            id: *id,
            parent: NONE,
            depth: -1,
            frame: *frame,
            above: NONE,
            class: if *frame == 5 { NONE } else { *frame },
            row: 0,
        };
        let mut nodes: Vec<Node> = written.iter().map(node).collect();
        let mut met = vec![false; nodes.len()];
        met[0] = true;
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let Node { depth, above, frame, .. } = nodes[at as usize];
            for &child in &children[at as usize] {
                if !std::mem::replace(&mut met[child as usize], true) {
                    let placed = &mut nodes[child as usize];
                    (placed.parent, placed.depth) = (at, depth + 1);
                    placed.above = if at != 0 && frame == 5 { above } else { at };
                    open.push(child);
                }
            }
        }
        (nodes, by_id)
    }

    #[test]
    fn trees_match_naive_lists_of_children() {
        let mut deepest = 0;
        for seed in seeds(0, 400) {
            let written = random(&mut Rng::new(seed));
            let (expected, ids) = naive(&written);
            for bytes in [0, 1 << 20] {
                let (model, by_id) = model(&written, bytes);
                assert_eq!(model.nodes.iter().collect::<Vec<_>>(), expected, "seed {seed}");
                assert_eq!(model.nodes.spilled_bytes() > 0, bytes == 0);
                for id in written.iter().map(|node| node.0).chain([0, 4, 6, u64::MAX]) {
                    assert_eq!(by_id.get(id), ids.get(&id).copied(), "seed {seed}");
                }
                let top = |node: Option<u32>| node.map(|node| model.node(node).parent);
                for meta in [model.gc, model.program, model.idle] {
                    assert!(top(meta).is_none_or(|parent| parent == 0));
                }
            }
            deepest = deepest.max(expected.iter().map(|node| node.depth).max().unwrap_or(0));
        }
        assert!(deepest > 5, "{deepest}");
    }
}
