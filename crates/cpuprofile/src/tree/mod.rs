//! The call tree of one profile: nodes in columns, in the order in which they came, each with its parent.
//!
//! Producers write the tree twice over (`parent` and `children`), once, or wrongly. Rules (source: `CPUProfileDataModel`
//! of DevTools):
//!
//! * If the first node has `children`, these lists decide, the first that names a node, and `parent` only for nodes
//!   that no list names. Where the two disagree, that is counted.
//! * Otherwise `parent` decides, and lists only for nodes without one.
//! * The root is the first node that has no parent then. All others without one, and one node of every cycle, are put
//!   below it and counted; DevTools would lose them with all that is below them.
//! * A node that comes once more as it came before is one node. Another one of its id is counted, and gets an id of its own.
//!
//! ```text
//!   number    0      1      2      3        in the order in which they came
//!   ids       1      2      9      4        as the producer has them
//!   parents   none   0      1      0        numbers, not ids
//!   texts     {…}    {…}    {…}    {…}      where each node's object stands
//!   hits      0      5      none   1        `hitCount`, or to be counted from the samples
//! ```
//!
//! Time: linear in nodes and in what their lists name, also for cycles, and without recursion, so depth costs nothing. Heap: 32 bytes a node, and
//! 4 to 16 for its id.

pub(crate) mod assemble;
pub(crate) mod assembled;

use crate::chunk::text::TextSpan;
use crate::chunk::{NO_HITS, NO_ID, Node};
use tracemill_trace::run::flaws::{FlawKind, Flaws};
use tracemill_trace::spill::hash::HashMap;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;
/// Largest integer that JavaScript tells from its neighbours.
const SAFE: u64 = (1 << 53) - 1;

/// Ids to node numbers: a table for the small ids of V8, a map for any others. An id goes into the table if that is then at most four times
/// as long as there are nodes, and a few thousand more: so ids without bound cost no memory without bound.
#[derive(Default)]
struct NodeNumbers {
    /// By id; [`NONE`] where nobody has it.
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

    /// Gives an id to a node; whoever had it before has it no more.
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

/// Nodes so far: [`Builder::add`] for each, then [`Builder::finish`]. See the module doc for the rules.
#[derive(Default)]
pub(crate) struct Builder {
    tree: Tree,
    /// Parents named before they came.
    waiting: Vec<(u32, u64)>,
    /// Children lists: parent, id of the child.
    listed: Vec<(u32, u64)>,
    /// Whether the first node lists its children.
    children_decide: bool,
    /// Whether two nodes have one id.
    repeated: bool,
}

/// All nodes of a profile, in columns of one length. A node is named by its number in these; every one but the root has a parent, and
/// following those ends at the root.
#[derive(Default)]
pub struct Tree {
    /// Ids as the producer gave them; [`Tree::id`] says what is written.
    pub ids: Vec<u64>,
    /// Numbers of parents; [`NONE`] for the root.
    pub parents: Vec<u32>,
    /// Where the object of each node stands.
    pub texts: Vec<TextSpan>,
    /// Hit counts of their own, or [`NO_HITS`].
    pub hits: Vec<u32>,
    /// Its number, which is 0 for the most part; [`NONE`] if there are no nodes.
    pub root: u32,
    /// Whether ids must be given anew: two nodes have the same one, or JavaScript could not tell one from its neighbours.
    pub renumber: bool,
    /// The first node that has its place by its `parent` alone, though children decide: DevTools leaves such nodes out.
    pub by_parent: Option<u32>,
    /// Numbers by ids.
    index: NodeNumbers,
}

impl Builder {
    /// The number of the node with this id, as of now.
    #[inline]
    pub(crate) fn number(&self, id: u64) -> Option<u32> {
        self.tree.index.get(id)
    }

    /// How many nodes there are.
    pub(crate) fn len(&self) -> usize {
        self.tree.ids.len()
    }

    /// Adds a node of a chunk whose children lists are `children`, and whose object is `text`.
    ///
    /// `same` says whether a node that has this id already, of the text that it is given, is the same one once more: then nothing is added. It is
    /// asked only then, since it costs a look at both texts.
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

    /// All nodes are there: finds every node's parent, and counts what does not fit. Never fails, whatever the nodes say.
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

    /// Takes parents from lists of children; `named` are the nodes that name a parent which nobody is, ascending.
    fn apply_lists(&self, tree: &mut Tree, named: &[u32], flaws: &mut Flaws) {
        let mut taken = vec![false; if self.listed.is_empty() { 0 } else { tree.ids.len() }];
        for &(parent, id) in &self.listed {
            let Some(child) = tree.index.get(id) else {
                flaws.add(FlawKind::Child, tree.texts[parent as usize].offset);
                continue;
            };
            let own = &mut tree.parents[child as usize];
            let overrules = self.children_decide && !taken[child as usize];
            let differs = match *own {
                NONE => named.binary_search(&child).is_ok(),
                own => own != parent,
            };
            if differs || child == parent {
                flaws.add(FlawKind::Child, tree.texts[parent as usize].offset);
            }
            if (*own == NONE || overrules) && child != parent {
                *own = parent;
                taken[child as usize] = true;
            }
        }
        if self.children_decide {
            let is_listed = |node: usize| taken.get(node).is_some_and(|&taken| taken);
            let by_parent = |&node: &usize| tree.parents[node] != NONE && !is_listed(node);
            tree.by_parent = (0..tree.len()).find(by_parent).map(|node| node as u32);
        }
    }

    /// Every node has a parent, so all are in or below cycles: the first one becomes the root.
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
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Gives back what the lists have room for beyond their nodes: trees stay for as long as their profile.
    fn shrink(&mut self) {
        self.ids.shrink_to_fit();
        self.parents.shrink_to_fit();
        self.texts.shrink_to_fit();
        self.hits.shrink_to_fit();
        self.index.table.shrink_to_fit();
    }

    /// Bytes of heap, about.
    pub fn heap(&self) -> usize {
        let node = size_of::<u64>() + 2 * size_of::<u32>() + size_of::<TextSpan>();
        let ids = self.index.table.capacity() * size_of::<u32>()
            + self.index.map.capacity() * 2 * size_of::<u64>();
        self.ids.capacity() * node + ids
    }

    /// The number of the node with this id, of several the last one; `None` if there is none.
    #[inline]
    pub fn number(&self, id: u64) -> Option<u32> {
        self.index.get(id)
    }

    /// Puts nodes without a parent below the root. A second one that never named any is no orphan if it is alone.
    fn adopt(&mut self, named: &[u32], flaws: &mut Flaws) {
        let root = self.root;
        for node in 0..self.parents.len() {
            if self.parents[node] == NONE && node as u32 != root {
                self.parents[node] = root;
                flaws.add(FlawKind::Orphan, self.texts[node].offset);
            }
        }
        // a root that names a parent which nobody is has lost what was above it
        if named.contains(&root) {
            flaws.add(FlawKind::Orphan, self.texts[root as usize].offset);
        }
    }

    /// Follows every node up to the root once, without recursion: a walk that comes to a node of its own has found a cycle, which is cut there;
    /// one that comes to a node of an earlier walk may stop.
    fn cut_cycles(&mut self, flaws: &mut Flaws) {
        const NEW: u32 = 0;
        const DONE: u32 = u32::MAX;
        // the walk that saw a node, counted from 1
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

    /// Numbers of the nodes, parents before children; `None` if they came in such an order, as V8 writes them. Cost: a pass; where they did
    /// not, 12 bytes of heap a node and a stack, of which 4 a node stay.
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

    /// Children of every node. Cost: a pass, 8 bytes of heap a node.
    pub fn children(&self) -> Children {
        let mut lists = Children { first: vec![NONE; self.len()], next: vec![NONE; self.len()] };
        for node in (0..self.len()).rev() {
            if let Some(first) = lists.first.get_mut(self.parents[node] as usize) {
                lists.next[node] = std::mem::replace(first, node as u32);
            }
        }
        lists
    }

    /// The id to write for a node: its own, or its number from 1 on if ids must be given anew.
    pub fn id(&self, node: u32) -> u64 {
        if self.renumber { u64::from(node) + 1 } else { self.ids[node as usize] }
    }
}

/// Children of every node, in the order of the nodes: a list linked through two columns, so that no node has an allocation of its own.
pub struct Children {
    /// The first child of each node, and of each child the next one; [`NONE`] at the end.
    first: Vec<u32>,
    next: Vec<u32>,
}

impl Children {
    /// Those of one node, by their numbers, ascending.
    pub fn of(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let some = |node: u32| (node != NONE).then_some(node);
        std::iter::successors(some(self.first[node as usize]), move |&child| {
            some(self.next[child as usize])
        })
    }
}

/// Own hit counts, with those missing taken from `counted`.
pub(crate) fn hits(own: u32, counted: u32) -> u32 {
    if own == NO_HITS { counted } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes as (id, parent, children); returns parents by node number.
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
    fn parents_and_lists_say_the_same() {
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
    fn lists_decide_if_the_first_node_has_one() {
        let (tree, _) =
            build(&[(1, NO_ID, Some(&[4, 5])), (4, 1, None), (5, 1, Some(&[6])), (6, 4, None)]);
        assert_eq!(tree.parents, [NONE, 0, 0, 2]);
        let (tree, _) = build(&[(1, NO_ID, None), (4, 1, None), (5, 1, Some(&[6])), (6, 4, None)]);
        assert_eq!(tree.parents, [NONE, 0, 0, 1]);
    }

    #[test]
    fn a_list_against_a_parent_that_nobody_is_is_told() {
        let (tree, flaws) = build(&[(5, NO_ID, Some(&[1])), (1, 11, None)]);
        assert_eq!(tree.parents, [NONE, 0]);
        assert_eq!(kinds(&flaws), [(FlawKind::Child, 1)]);
    }

    #[test]
    fn parents_may_come_later() {
        let (tree, flaws) = build(&[(3, 2, None), (2, 1, None), (1, NO_ID, None)]);
        assert_eq!((tree.root, &tree.parents[..]), (2, &[1, 2, NONE][..]));
        assert_eq!(tree.parents_first(), Some(vec![2, 1, 0]));
        assert!(flaws.is_empty());
    }

    #[test]
    fn orphans_and_cycles_go_below_the_root() {
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
    fn repeated_and_unsafe_ids_are_numbered_anew() {
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
