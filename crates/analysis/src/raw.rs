//! Nodes of a CPU profile as they come, in pieces, and the model that is made of them. What grows with nodes is on disk beyond the budget, but
//! for some 30 bytes each while their tree is made.

use crate::functions::{Frame, Functions, NATIVE};
use crate::model::{Model, NONE, Node};
use crate::space::{Space, half, put};
use crate::value::{member, string};
use tracemill_core::error::Error;
use tracemill_core::limits::Quota;
use tracemill_core::names::Names;
use tracemill_core::spill::{Record, SpillVec, SpilledVec, word};
use tracemill_pipeline::{PieceNode, ProfilePiece, ProfileSource};

/// What takes memory here, as messages have it.
const WHAT: &str = "functions and nodes of a CPU profile";

/// Nodes of a profile, put together as they come.
pub(crate) struct Raw {
    nodes: SpillVec<RawNode>,
    count: usize,
    children: SpillVec<u64>,
    listed: u32,
    functions: Functions,
    trace_ids: Vec<(u32, u64)>,
    /// Elements of the longest list of samples, times or children that came at once.
    pub(crate) longest: usize,
    /// Whether the first node says how often it was hit.
    pub(crate) has_hits: bool,
    /// What the pieces say of their origin.
    pub(crate) source: Option<ProfileSource>,
}

/// There may be as many as samples.
#[derive(Clone, Copy)]
struct RawNode {
    id: u64,
    /// [`NO_ID`] if it names none.
    parent: u64,
    /// Where its list of children begins and ends, if it has one; `(NONE, NONE)` if not.
    children: (u32, u32),
    frame: u32,
}

const NO_ID: u64 = u64::MAX;

impl RawNode {
    fn has_list(&self) -> bool {
        self.children.0 != NONE
    }
}

impl Record for RawNode {
    const BYTES: usize = 28;

    fn encode(&self, bytes: &mut [u8]) {
        let RawNode { id, parent, children: (from, to), frame } = *self;
        put(bytes, &[id, parent], &[from, to, frame]);
    }

    fn decode(bytes: &[u8]) -> Self {
        let [id, parent] = [0, 8].map(|at| word(bytes, at));
        let [from, to, frame] = [16, 20, 24].map(|at| half(bytes, at));
        RawNode { id, parent, children: (from, to), frame }
    }
}

impl Raw {
    pub(crate) fn new(space: &Space) -> Self {
        Raw {
            nodes: space.spool(8),
            count: 0,
            children: space.spool(8),
            listed: 0,
            functions: Functions::default(),
            trace_ids: Vec::new(),
            longest: 0,
            has_hits: false,
            source: None,
        }
    }

    /// Takes the next piece; `is_whole` for one of a `.cpuprofile`, whose frames are taken as they are.
    ///
    /// # Errors
    /// What temporary files say; if functions and their texts are more than there is room for.
    pub(crate) fn add(
        &mut self,
        piece: &ProfilePiece<'_>,
        is_whole: bool,
        (names, room): (&mut Names, &Quota),
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
        room.check(names.heap() + self.functions.heap(), WHAT)
    }

    /// Its texts have other numbers: those in `numbers`.
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
        let frame = self.functions.number(frame, names);
        self.count += 1;
        self.nodes.extend(&[RawNode {
            id: node.id,
            parent: node.parent.unwrap_or(NO_ID),
            children,
            frame,
        }])
    }

    /// Makes the model, without samples, and what finds its nodes by their ids; `end` is a sum of the clock. `kept` is for what stays, nodes and
    /// functions.
    ///
    /// # Errors
    /// What temporary files say; if the tree takes more than there is room for while it is made.
    pub(crate) fn model(
        mut self,
        end: f64,
        (kept, room): (&Space, &Quota),
    ) -> Result<(Model, NodesById), Error> {
        let tree = Tree { nodes: self.nodes.take()?, children: self.children.take()? };
        let mut functions: SpillVec<Frame> = kept.spool(2);
        let all = self.functions.all;
        all.chunks(1024).try_for_each(|some| functions.extend(some))?;
        let functions = functions.take()?;
        let mut nodes: SpillVec<Node> = kept.spool(2);
        if self.count == 0 {
            return Ok((Model::new(nodes.take()?, functions, 0.0), NodesById::default()));
        }
        // parent, depth, above, edge and where edges begin; ids beside them
        room.check(self.count as u64 * 24, WHAT)?;
        let by_id = NodesById::new(&tree.nodes);
        room.check(self.count as u64 * 24 + by_id.heap(), WHAT)?;
        let edges = tree.edges(&by_id);
        let is_native = |node: u32| all[tree.node(node).frame as usize].url == NATIVE;
        let (placed, top) = place(self.count, &edges, is_native);
        for (own, Placed { parent, depth, above }) in tree.nodes.iter().zip(placed) {
            let Frame { class, row, url, .. } = all[own.frame as usize];
            let class = if url == NATIVE { NONE } else { class };
            let RawNode { id, frame, .. } = own;
            nodes.extend(&[Node { id, parent, depth, frame, above, class, row }])?;
        }
        let mut model = Model::new(nodes.take()?, functions, end);
        let known = |id: &u64| by_id.get(*id).filter(|&node| model.is_known(node));
        let trace_ids = self.trace_ids.iter().filter(|(_, node)| *node != 0);
        model.trace_ids = trace_ids.filter_map(|(key, node)| Some((*key, known(node)?))).collect();
        model.find_meta_nodes(&top);
        Ok((model, by_id))
    }
}

/// Finds nodes by their ids; of nodes of one id the last is that node.
#[derive(Default)]
pub(crate) struct NodesById {
    /// The node of each id from `least` on, where ids lie close to each other, as V8 gives them; else there are pairs, by id.
    least: u64,
    close: Vec<u32>,
    pairs: Vec<(u64, u32)>,
}

impl NodesById {
    fn new(nodes: &SpilledVec<RawNode>) -> Self {
        let ids = || nodes.iter().map(|node| node.id);
        let (least, most) = (ids().min().unwrap_or(0), ids().max().unwrap_or(0));
        if most - least < 4 * nodes.len() as u64 {
            let mut close = vec![NONE; (most - least + 1) as usize];
            (0..).zip(ids()).for_each(|(at, id)| close[(id - least) as usize] = at);
            return NodesById { least, close, pairs: Vec::new() };
        }
        let mut pairs: Vec<(u64, u32)> = ids().zip(0..).collect();
        pairs.sort_unstable_by_key(|&(id, at)| (id, std::cmp::Reverse(at)));
        pairs.dedup_by_key(|(id, _)| *id);
        NodesById { least, close: Vec::new(), pairs }
    }

    fn heap(&self) -> u64 {
        (size_of_val(&*self.close) + size_of_val(&*self.pairs)) as u64
    }

    /// The node of an id.
    #[inline]
    pub(crate) fn get(&self, id: u64) -> Option<u32> {
        if self.pairs.is_empty() {
            let at = usize::try_from(id.checked_sub(self.least)?).ok()?;
            return self.close.get(at).copied().filter(|&node| node != NONE);
        }
        let at = self.pairs.binary_search_by_key(&id, |&(own, _)| own).ok()?;
        Some(self.pairs[at].1)
    }
}

/// Nodes as they came.
struct Tree {
    nodes: SpilledVec<RawNode>,
    children: SpilledVec<u64>,
}

impl Tree {
    fn node(&self, number: u32) -> RawNode {
        let none = RawNode { id: NO_ID, parent: NO_ID, children: (NONE, NONE), frame: 0 };
        self.nodes.get(number as usize).unwrap_or(none)
    }

    /// Gives each parent and child: as listed, if the first node has a list, else by parents too (§4.2).
    fn each_edge(&self, by_id: &NodesById, mut each: impl FnMut(u32, u32)) {
        for (at, node) in (0..).zip(self.nodes.iter()) {
            // of nodes of one id the last is that node
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
            if let (Some(parent), Some(own)) = (by_id.get(node.parent), by_id.get(node.id)) {
                each(parent, own);
            }
        }
    }

    /// Children of each node, in their order.
    fn edges(&self, by_id: &NodesById) -> Edges {
        let mut starts = vec![0u32; self.nodes.len() + 1];
        self.each_edge(by_id, |parent, _| starts[parent as usize + 1] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut children = vec![0u32; starts[self.nodes.len()] as usize];
        // each start moves to the end of its children, which is the start of the next
        self.each_edge(by_id, |parent, child| {
            let at = &mut starts[parent as usize];
            children[*at as usize] = child;
            *at += 1;
        });
        Edges { ends: starts, children }
    }
}

/// Children, by parent.
struct Edges {
    ends: Vec<u32>,
    children: Vec<u32>,
}

impl Edges {
    fn of(&self, parent: u32) -> &[u32] {
        let parent = parent as usize;
        let start = if parent == 0 { 0 } else { self.ends[parent - 1] };
        &self.children[start as usize..self.ends[parent] as usize]
    }
}

/// Where a node is in the tree; see [`Node`].
#[derive(Clone, Copy)]
struct Placed {
    parent: u32,
    depth: i32,
    above: u32,
}

/// Walks the tree from the root; gives the places of all nodes, and the children of the root.
fn place(count: usize, edges: &Edges, is_native: impl Fn(u32) -> bool) -> (Vec<Placed>, Vec<u32>) {
    let mut all = vec![Placed { parent: NONE, depth: -1, above: NONE }; count];
    let (mut open, mut top) = (vec![0u32], Vec::new());
    while let Some(parent) = open.pop() {
        let Placed { depth, above, .. } = all[parent as usize];
        let above = if parent != 0 && is_native(parent) { above } else { parent };
        for &child in edges.of(parent) {
            let own = &mut all[child as usize];
            if child == 0 || own.parent != NONE {
                continue; // a cycle, or a node with two parents: the first one that is met
            }
            *own = Placed { parent, depth: depth + 1, above };
            open.push(child);
        }
        if parent == 0 {
            top.clone_from(&open);
        }
    }
    (all, top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tracemill_core::limits::Limits;
    use tracemill_testkit::{Rng, seeds};

    /// Id, parent, children and function of a node.
    type Written = (u64, Option<u64>, Option<Vec<u64>>, u32);

    fn random(rng: &mut Rng) -> Vec<Written> {
        let count = 1 + rng.below(30);
        // far from each other, too
        let step = if rng.chance(70) { 1 } else { 1_000_003 };
        let id = |rng: &mut Rng| 5 + step * rng.below(count + 2);
        let (listed, by_parents) = (rng.chance(50), rng.chance(70));
        (0..count)
            .map(|at| {
                let own = if rng.chance(90) { 5 + step * at } else { id(rng) };
                let parent = (by_parents && at > 0 && rng.chance(90)).then(|| id(rng));
                let children = (listed && rng.chance(70))
                    .then(|| (0..rng.below(4)).map(|_| id(rng)).collect());
                (own, parent, children, rng.below(6) as u32)
            })
            .collect()
    }

    fn model(written: &[Written], bytes: u64) -> (Model, NodesById) {
        let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
        let space = Space::new(&limits, bytes, 1);
        let mut raw = Raw::new(&space);
        for function in 0..6 {
            // the numbers of the names of meta nodes among them; the last is of V8 itself
            let url = if function == 5 { NATIVE } else { 0 };
            raw.functions.all.push(Frame { function, url, class: function, ..Frame::default() });
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
        raw.model(7.0, (&space, &Quota::new(&limits, 1 << 20))).expect("room on disk")
    }

    /// Parents, depths and what is above, from a list of children a node.
    fn naive(written: &[Written]) -> (Vec<Node>, HashMap<u64, u32>) {
        let by_id: HashMap<u64, u32> = written.iter().map(|own| own.0).zip(0..).collect();
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
                    let own = &mut nodes[child as usize];
                    (own.parent, own.depth) = (at, depth + 1);
                    own.above = if at != 0 && frame == 5 { above } else { at };
                    open.push(child);
                }
            }
        }
        (nodes, by_id)
    }

    #[test]
    fn trees_are_those_of_lists_of_children() {
        let mut deepest = 0;
        for seed in seeds(0, 400) {
            let written = random(&mut Rng::new(seed));
            let (expected, ids) = naive(&written);
            for bytes in [0, 1 << 20] {
                let (model, by_id) = model(&written, bytes);
                assert_eq!(model.nodes.iter().collect::<Vec<_>>(), expected, "seed {seed}");
                assert_eq!(model.nodes.spilled_bytes() > 0, bytes == 0);
                for id in written.iter().map(|own| own.0).chain([0, 4, 6, u64::MAX]) {
                    assert_eq!(by_id.get(id), ids.get(&id).copied(), "seed {seed}");
                }
                let top = |node: Option<u32>| node.map(|node| model.node(node).parent);
                for meta in [model.gc, model.program, model.idle] {
                    assert!(top(meta).is_none_or(|parent| parent == 0));
                }
            }
            deepest = deepest.max(expected.iter().map(|own| own.depth).max().unwrap_or(0));
        }
        assert!(deepest > 5, "{deepest}");
    }

    #[test]
    fn too_many_nodes_are_told() {
        let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
        let space = Space::new(&limits, 0, 1);
        let mut raw = Raw::new(&space);
        raw.functions.all.push(Frame::default());
        let node = |id| RawNode { id, parent: NO_ID, children: (NONE, NONE), frame: 0 };
        raw.nodes.extend(&(0..100_000).map(node).collect::<Vec<_>>()).expect("room on disk");
        raw.count = 100_000;
        let error = raw.model(0.0, (&space, &Quota::new(&limits, 2 << 20))).err();
        let error = error.expect("2.4 MB").to_string();
        assert!(error.contains("nodes of a CPU profile take 2 MiB"), "{error}");
    }
}
