//! The call tree of one profile: nodes in columns, in input order, each with its parent.
//!
//! Producers write the tree twice (`parent` and `children`), once, or inconsistently. Rules
//! (source: `CPUProfileDataModel` of DevTools):
//!
//! * If the first node has `children`, these lists decide; the first list that names a node counts.
//!   `parent` is used only for nodes in no list. Contradictions are counted.
//! * Otherwise `parent` decides, and lists are used only for nodes without a `parent`.
//! * The root is the first node without a parent. Other nodes without a parent, and one node of
//!   each cycle, are moved below the root and counted; DevTools would drop their subtrees.
//! * An identical repeated node is one node. A different node with a used id is counted, and gets
//!   another id.
//!
//! ```text
//!   number    0      1      2      3        index, in input order
//!   ids       1      2      9      4        as written
//!   parents   none   0      1      0        numbers, not ids
//!   texts     {…}    {…}    {…}    {…}      location of the node's object
//!   hits      0      5      none   1        `hitCount`; none: counted from the samples
//! ```
//!
//! Cost: linear in nodes and list elements, without recursion. Heap: 32 bytes per node, and 4 to 16
//! for its id.

pub(crate) mod assemble;
pub(crate) mod assembled;

use crate::chunk::text::TextSpan;
use crate::chunk::{NO_HITS, NO_ID, Node};
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::spill::hash::HashMap;

/// Marks a missing node or parent.
pub(crate) const NONE: u32 = u32::MAX;
/// Largest integer that JavaScript represents exactly.
const SAFE: u64 = (1 << 53) - 1;

/// Maps ids to node indices: a table for small ids as in V8, a map for all other ids.
///
/// The table is at most four times as long as the number of nodes, plus a few thousand, so huge ids
/// cannot exhaust the memory.
#[derive(Default)]
struct NodeNumbers {
    /// Indices by id; [`NONE`] for unused ids.
    table: Vec<u32>,
    map: HashMap<u64, u32>,
}

impl NodeNumbers {
    #[inline]
    fn get(&self, id: u64) -> Option<u32> {
        match self.table.get(id as usize) {
            Some(&node) if node != NONE => Some(node),
            _ if self.map.is_empty() => None,
            _ => self.map.get(&id).copied(),
        }
    }

    /// Maps an id to a node, in place of an earlier node with the same id.
    fn set(&mut self, id: u64, node: u32) {
        if id < 4 * u64::from(node) + 4096 {
            if self.table.len() <= id as usize {
                self.table.resize(id as usize + 1, NONE);
            }
            self.table[id as usize] = node;
            self.map.remove(&id);
        } else {
            self.map.insert(id, node);
        }
    }
}

/// Builds a tree: [`Builder::add`] for each node, then [`Builder::finish`].
#[derive(Default)]
pub(crate) struct Builder {
    tree: Tree,
    /// Nodes with the id of a parent that was not defined yet.
    waiting: Vec<(u32, u64)>,
    /// Parent and child id of each list element.
    listed: Vec<(u32, u64)>,
    children_decide: bool,
    repeated: bool,
}

/// All nodes of a profile, in columns of equal length.
///
/// Nodes are identified by index. Every node except the root has a parent, and parents lead to the
/// root.
#[derive(Default)]
pub struct Tree {
    /// Ids given by the producer; [`Tree::id`] returns the ids to write.
    pub ids: Vec<u64>,
    /// Indices of parents; [`NONE`] for the root.
    pub parents: Vec<u32>,
    /// Text of each node's object.
    pub texts: Vec<TextSpan>,
    /// Written hit counts, or [`NO_HITS`].
    pub hits: Vec<u32>,
    /// Index of the root, mostly 0; [`NONE`] without nodes.
    pub root: u32,
    /// Whether nodes must be renumbered: ids are repeated, or JavaScript cannot represent them.
    pub renumber: bool,
    /// First node that only its `parent` places, although lists of children decide. DevTools drops
    /// such nodes.
    pub by_parent: Option<u32>,
    index: NodeNumbers,
}

impl Builder {
    /// Returns the current index of the node with an id.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> Option<u32> {
        self.tree.index.get(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.tree.ids.len()
    }

    /// Adds a node of a chunk; `children` has the chunk's lists, `text` is the node's object.
    ///
    /// If the id is in use, calls `same` with the text of the earlier node. If `same` returns true,
    /// adds nothing.
    pub(crate) fn add(
        &mut self,
        node: &Node,
        children: &[u64],
        text: TextSpan,
        same: impl FnOnce(TextSpan) -> bool,
        flaws: &mut Flaws,
    ) {
        let number = self.tree.ids.len() as u32;
        if let Some(earlier) = self.tree.index.get(node.id) {
            if same(self.tree.texts[earlier as usize]) {
                return;
            }
            flaws.add(FlawKind::Repeated, node.text.offset);
            self.repeated = true;
        }
        let parent = match node.parent {
            NO_ID => NONE,
            id => self.tree.index.get(id).unwrap_or_else(|| {
                self.waiting.push((number, id));
                NONE
            }),
        };
        if number == 0 {
            self.children_decide = node.children.is_some();
        }
        self.tree.index.set(node.id, number);
        self.tree.ids.push(node.id);
        self.tree.parents.push(parent);
        self.tree.texts.push(text);
        self.tree.hits.push(node.hits);
        if let Some(range) = &node.children {
            let ids = &children[range.start as usize..range.end as usize];
            self.listed.extend(ids.iter().map(|&id| (number, id)));
        }
    }

    /// Finds the parent of every node after all were added, and counts contradictions.
    pub(crate) fn finish(mut self, flaws: &mut Flaws) -> Tree {
        let mut tree = std::mem::take(&mut self.tree);
        tree.root = NONE;
        tree.shrink();
        let mut named = Vec::new();
        for &(node, id) in &self.waiting {
            match tree.index.get(id) {
                Some(parent) => tree.parents[node as usize] = parent,
                None => named.push(node),
            }
        }
        self.apply_lists(&mut tree, &named, flaws);
        let Some(root) = tree.parents.iter().position(|&parent| parent == NONE) else {
            return self.cut_all(tree, flaws);
        };
        tree.root = root as u32;
        tree.adopt(&named, flaws);
        tree.cut_cycles(flaws);
        tree.renumber = self.repeated || tree.ids.iter().any(|&id| id > SAFE);
        if tree.renumber {
            flaws.add(FlawKind::Renumbered, tree.texts[0].offset);
        }
        tree
    }

    /// Applies the children lists; `named` has the nodes whose parent does not exist, ascending.
    fn apply_lists(&self, tree: &mut Tree, named: &[u32], flaws: &mut Flaws) {
        let mut taken = vec![false; if self.listed.is_empty() { 0 } else { tree.ids.len() }];
        for &(parent, id) in &self.listed {
            let Some(child) = tree.index.get(id) else {
                flaws.add(FlawKind::Child, tree.texts[parent as usize].offset);
                continue;
            };
            let current = &mut tree.parents[child as usize];
            let overrules = self.children_decide && !taken[child as usize];
            let differs = match *current {
                NONE => named.binary_search(&child).is_ok(),
                other => other != parent,
            };
            if differs || child == parent {
                flaws.add(FlawKind::Child, tree.texts[parent as usize].offset);
            }
            if (*current == NONE || overrules) && child != parent {
                *current = parent;
                taken[child as usize] = true;
            }
        }
        if self.children_decide {
            let is_listed = |node: usize| taken.get(node).is_some_and(|&taken| taken);
            let by_parent = |&node: &usize| tree.parents[node] != NONE && !is_listed(node);
            tree.by_parent = (0..tree.len()).find(by_parent).map(|node| node as u32);
        }
    }

    /// Makes the first node the root, since every node has a parent and all are in or below cycles.
    fn cut_all(self, mut tree: Tree, flaws: &mut Flaws) -> Tree {
        if tree.ids.is_empty() {
            return tree;
        }
        flaws.add(FlawKind::Cycle, tree.texts[0].offset);
        tree.parents[0] = NONE;
        tree.root = 0;
        tree.cut_cycles(flaws);
        tree.renumber = self.repeated || tree.ids.iter().any(|&id| id > SAFE);
        tree
    }
}

impl Tree {
    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    fn shrink(&mut self) {
        self.ids.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.hits.shrink_to_fit();
        self.index.table.shrink_to_fit();
    }

    /// Returns the approximate bytes of heap of the tree.
    pub fn heap(&self) -> usize {
        let node = size_of::<u64>() + 2 * size_of::<u32>() + size_of::<TextSpan>();
        let ids = self.index.table.capacity() * size_of::<u32>()
            + self.index.map.capacity() * 2 * size_of::<u64>();
        self.ids.capacity() * node + ids
    }

    /// Returns the index of the node with this id; the last such node wins.
    #[inline]
    pub fn number(&self, id: u64) -> Option<u32> {
        self.index.get(id)
    }

    /// Moves nodes without a parent below the root, and counts them.
    fn adopt(&mut self, named: &[u32], flaws: &mut Flaws) {
        let root = self.root;
        for node in 0..self.parents.len() {
            if self.parents[node] == NONE && node as u32 != root {
                self.parents[node] = root;
                flaws.add(FlawKind::Orphan, self.texts[node].offset);
            }
        }
        // a root whose named parent does not exist has lost its ancestors
        if named.contains(&root) {
            flaws.add(FlawKind::Orphan, self.texts[root as usize].offset);
        }
    }

    /// Cuts every cycle: follows each node's parents once, without recursion.
    ///
    /// A walk that reaches one of its own nodes has found a cycle. A walk that reaches a node of an
    /// earlier walk stops.
    fn cut_cycles(&mut self, flaws: &mut Flaws) {
        const NEW: u32 = 0;
        const DONE: u32 = u32::MAX;
        // the walk that visited a node, counted from 1
        let mut seen = vec![NEW; self.parents.len()];
        seen[self.root as usize] = DONE;
        for start in 0..self.parents.len() {
            let walk = start as u32 + 1;
            let mut node = start;
            while seen[node] == NEW {
                seen[node] = walk;
                node = self.parents[node] as usize;
            }
            if seen[node] == walk {
                self.parents[node] = self.root;
                flaws.add(FlawKind::Cycle, self.texts[node].offset);
            }
            let mut node = start;
            while seen[node] == walk {
                seen[node] = DONE;
                node = self.parents[node] as usize;
            }
        }
    }

    /// Returns node indices with parents before children. Returns `None` if the nodes are already
    /// in such an order.
    ///
    /// Cost: one pass. For another order, also 12 bytes of heap per node and a stack; 4 bytes per
    /// node remain.
    pub fn parents_first(&self) -> Option<Vec<u32>> {
        let in_order = self.root == 0
            && self.parents.iter().enumerate().all(|(i, &p)| p == NONE || (p as usize) < i);
        if in_order || self.parents.is_empty() {
            return None;
        }
        let lists = self.children();
        let mut order = Vec::with_capacity(self.len());
        let mut open = vec![self.root];
        while let Some(node) = open.pop() {
            order.push(node);
            let first = open.len();
            open.extend(lists.of(node));
            open[first..].reverse();
        }
        Some(order)
    }

    /// Returns the children of every node. Cost: a pass, 8 bytes of heap per node.
    pub fn children(&self) -> Children {
        let mut lists = Children { first: vec![NONE; self.len()], next: vec![NONE; self.len()] };
        for node in (0..self.len()).rev() {
            if let Some(first) = lists.first.get_mut(self.parents[node] as usize) {
                lists.next[node] = std::mem::replace(first, node as u32);
            }
        }
        lists
    }

    /// Returns the id to write for a node: its given id, or its index + 1 if nodes are renumbered.
    pub fn id(&self, node: u32) -> u64 {
        if self.renumber { u64::from(node) + 1 } else { self.ids[node as usize] }
    }
}

/// Children of every node, as linked lists in two columns.
pub struct Children {
    /// First child of each node; `next` has the next sibling. [`NONE`] ends a list.
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Children {
    /// Returns the indices of a node's children, ascending.
    pub fn of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.first[node as usize]), move |&child| {
            some(self.next[child as usize])
        })
    }
}

/// Returns the written hit count, or `counted` without one.
pub(crate) fn hits(written: u32, counted: u32) -> u32 {
    if written == NO_HITS { counted } else { written }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a tree from (id, parent, children).
    fn build(nodes: &[(u64, u64, Option<&[u64]>)]) -> (Tree, Flaws) {
        let (mut builder, mut flaws) = (Builder::default(), Flaws::default());
        for (at, &(id, parent, children)) in nodes.iter().enumerate() {
            let text = TextSpan { offset: at as u64, len: 1 };
            let list = children.unwrap_or_default();
            let range = children.map(|list| 0..list.len() as u32);
            let node = Node { id, parent, text, hits: NO_HITS, children: range };
            builder.add(&node, list, text, |_| false, &mut flaws);
        }
        let tree = builder.finish(&mut flaws);
        (tree, flaws)
    }

    fn kinds(flaws: &Flaws) -> Vec<(FlawKind, u64)> {
        flaws.iter().map(|(kind, flaw)| (kind, flaw.count)).collect()
    }

    #[test]
    fn parent_keys_and_children_lists_build_the_same_tree() {
        let (by_parent, flaws) =
            build(&[(1, NO_ID, None), (2, 1, None), (9, 2, None), (4, 1, None)]);
        assert_eq!((by_parent.root, &by_parent.parents[..]), (0, &[NONE, 0, 1, 0][..]));
        assert!(flaws.is_empty());
        let (by_list, flaws) = build(&[
            (1, NO_ID, Some(&[2, 4])),
            (2, NO_ID, Some(&[9])),
            (9, NO_ID, None),
            (4, NO_ID, None),
        ]);
        assert_eq!(by_list.parents, by_parent.parents);
        assert!(flaws.is_empty());
        let children = by_list.children();
        assert_eq!(children.of(0).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(children.of(3).count(), 0);
    }

    #[test]
    fn lists_override_parents_if_the_first_node_has_one() {
        let (tree, _) =
            build(&[(1, NO_ID, Some(&[4, 5])), (4, 1, None), (5, 1, Some(&[6])), (6, 4, None)]);
        assert_eq!(tree.parents, [NONE, 0, 0, 2]);
        let (tree, _) = build(&[(1, NO_ID, None), (4, 1, None), (5, 1, Some(&[6])), (6, 4, None)]);
        assert_eq!(tree.parents, [NONE, 0, 0, 1]);
    }

    #[test]
    fn counts_list_that_contradicts_a_missing_parent() {
        let (tree, flaws) = build(&[(5, NO_ID, Some(&[1])), (1, 11, None)]);
        assert_eq!(tree.parents, [NONE, 0]);
        assert_eq!(kinds(&flaws), [(FlawKind::Child, 1)]);
    }

    #[test]
    fn parents_may_be_defined_later() {
        let (tree, flaws) = build(&[(3, 2, None), (2, 1, None), (1, NO_ID, None)]);
        assert_eq!((tree.root, &tree.parents[..]), (2, &[1, 2, NONE][..]));
        assert_eq!(tree.parents_first(), Some(vec![2, 1, 0]));
        assert!(flaws.is_empty());
    }

    #[test]
    fn moves_orphans_and_cycles_below_the_root() {
        let (tree, flaws) = build(&[
            (1, NO_ID, None),
            (2, 77, None),
            (3, 4, None),
            (4, 5, None),
            (5, 3, None),
            (6, 6, None),
        ]);
        assert_eq!(tree.parents[1], 0);
        assert_eq!(kinds(&flaws), [(FlawKind::Orphan, 1), (FlawKind::Cycle, 2)]);
        let mut node = 3;
        for _ in 0..4 {
            node = tree.parents[node as usize].min(node);
        }
        assert_eq!(tree.parents_first().map(|order| order.len()), Some(6));
        let (tree, flaws) = build(&[(1, 2, None), (2, 1, None)]);
        assert_eq!((tree.root, &tree.parents[..]), (0, &[NONE, 0][..]));
        assert_eq!(kinds(&flaws), [(FlawKind::Cycle, 1)]);
    }

    #[test]
    fn renumbers_repeated_and_unsafe_ids() {
        let (tree, flaws) = build(&[(1, NO_ID, None), (2, 1, None), (2, 1, None), (3, 2, None)]);
        assert_eq!(tree.parents, [NONE, 0, 0, 2]);
        assert_eq!((0..4).map(|n| tree.id(n)).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(kinds(&flaws), [(FlawKind::Repeated, 1), (FlawKind::Renumbered, 1)]);
        assert!(build(&[(1 << 53, NO_ID, None)]).0.renumber);
        assert!(!build(&[(SAFE, NO_ID, None)]).0.renumber);
    }

    #[test]
    fn depth_is_no_limit() {
        let nodes: Vec<(u64, u64, Option<&[u64]>)> =
            (1..=400_000).map(|id| (id, if id == 1 { NO_ID } else { id - 1 }, None)).collect();
        let (tree, flaws) = build(&nodes);
        assert!(flaws.is_empty());
        assert_eq!(tree.parents[399_999], 399_998);
    }
}
