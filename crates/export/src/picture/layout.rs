//! Computes the rectangles of a picture. Children that are too narrow to be drawn share one
//! rectangle below their parent.

use super::nodes::{Node, Nodes};

/// The content of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Node(u32),
    /// A number of nodes that are too narrow to be drawn.
    Folded(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) content: What,
    /// Depth of the rectangle. The root has depth 0.
    pub(crate) depth: u32,
    /// Left edge in nanoseconds.
    pub(crate) x: u64,
    /// Width in nanoseconds.
    pub(crate) width: u64,
}

/// Returns the rectangles of the `kept` nodes, parents before children. With `timed`, nodes are
/// placed at their start; otherwise, siblings are placed one after the other.
fn lay_out(nodes: &Nodes, kept: &[bool], narrowest: u64, timed: bool) -> Vec<Rectangle> {
    let sizes = sizes(nodes);
    let mut drawn = Vec::new();
    let mut open: Vec<(What, u32, u64, u64)> = vec![(What::Node(0), 0, 0, nodes.all[0].total)];
    while let Some((content, depth, x, width)) = open.pop() {
        drawn.push(Rectangle { content, depth, x, width });
        let What::Node(at) = content else { continue };
        let below = open.len();
        let node = &nodes.all[at as usize];
        let mut next = x;
        // The folded nodes: their number, start and end.
        let mut folded: Option<(u64, u64, u64)> = None;
        for &child in &node.children {
            let node = &nodes.all[child as usize];
            let from = if timed { node.start } else { next };
            next += node.total;
            if kept[child as usize] {
                open.push((What::Node(child), depth + 1, from, node.total));
                continue;
            }
            let size = sizes[child as usize];
            folded = match folded {
                // If nodes are placed by time, nodes with a wide gap between them are not folded
                // together.
                Some((count, start, end)) if timed && from > end + narrowest => {
                    open.push((What::Folded(count), depth + 1, start, end - start));
                    Some((size, from, from + node.total))
                }
                Some((count, start, end)) if timed => {
                    Some((count + size, start, end.max(from + node.total)))
                }
                Some((count, start, end)) => Some((count + size, start, end + node.total)),
                None => Some((size, from, from + node.total)),
            };
        }
        if let Some((count, start, end)) = folded {
            open.push((What::Folded(count), depth + 1, start, end - start));
        }
        if !timed {
            place_in_a_row(&mut open[below..], x);
        }
        open[below..].reverse();
    }
    drawn
}

/// Places the children of a node side by side from the node's left edge. Folded children come last.
fn place_in_a_row(children: &mut [(What, u32, u64, u64)], mut x: u64) {
    for child in children {
        child.2 = x;
        x += child.3;
    }
}

/// Returns the number of nodes in each subtree, including nodes that are left out.
fn sizes(nodes: &Nodes) -> Vec<u64> {
    let count = |node: &Node| node.gone + u64::from(!node.is_fold);
    let mut sizes: Vec<u64> = nodes.all.iter().map(count).collect();
    for at in (1..nodes.all.len()).rev() {
        if let Some(parent) = nodes.all[at].parent {
            sizes[parent as usize] += sizes[at];
        }
    }
    sizes
}

/// Returns the minimum width, in nanoseconds, of a node that is drawn in a picture of this length.
pub(super) fn narrowest(length: u64) -> u64 {
    (length / 12_000).max(1)
}

/// Computes at most `most` rectangles for several trees. Keeps the widest nodes. Always folds nodes
/// that are narrower than [`narrowest`].
pub(crate) fn fit(trees: &[&Nodes], length: u64, most: usize, timed: bool) -> Vec<Vec<Rectangle>> {
    let narrowest = narrowest(length);
    // Callers are at least as wide as their callees, and come before them.
    let mut order: Vec<(usize, u32)> = Vec::new();
    for (tree, nodes) in trees.iter().enumerate() {
        let is_wide = |node: &Node| node.total >= narrowest && !node.is_fold;
        let wide = |at: &u32| *at == 0 || is_wide(&nodes.all[*at as usize]);
        order.extend((0..nodes.all.len() as u32).filter(wide).map(|at| (tree, at)));
    }
    let total = |&(tree, at): &(usize, u32)| trees[tree].all[at as usize].total;
    order.sort_by(|a, b| (a.1 > 0).cmp(&(b.1 > 0)).then(total(b).cmp(&total(a))));
    let drawn = |count: usize| -> Vec<Vec<Rectangle>> {
        let mut kept: Vec<Vec<bool>> =
            trees.iter().map(|nodes| vec![false; nodes.all.len()]).collect();
        order[..count].iter().for_each(|&(tree, at)| kept[tree][at as usize] = true);
        let all = trees.iter().zip(&kept);
        all.map(|(nodes, kept)| lay_out(nodes, kept, narrowest, timed)).collect()
    };
    // Roots are always drawn. A binary search finds the number of other nodes that fit.
    let (mut least, mut beyond) = (trees.len().min(order.len()), order.len() + 1);
    let mut best = drawn(least);
    while beyond - least > 1 {
        // The first step tries all nodes, which nearly always fit.
        let next = if beyond > order.len() { order.len() } else { least.midpoint(beyond) };
        let rectangles = drawn(next);
        match rectangles.iter().map(Vec::len).sum::<usize>() <= most {
            true => (least, best) = (next, rectangles),
            false => beyond = next,
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(rows: &[(u32, u64)]) -> Nodes {
        let mut nodes = Nodes::new(0);
        for &(parent, self_time) in rows {
            nodes.add(parent, Node { own: self_time, count: 1, ..Node::default() });
        }
        nodes.sum_up();
        nodes
    }

    #[test]
    fn narrow_nodes_fold_into_one_last_rectangle() {
        let nodes = tree(&[(0, 5), (0, 100), (0, 3), (2, 50), (4, 1)]);
        let kept: Vec<bool> = nodes.all.iter().map(|node| node.total >= 10).collect();
        let drawn = lay_out(&nodes, &kept, 10, false);
        let all: Vec<_> = drawn
            .iter()
            .map(|rectangle| (rectangle.content, rectangle.depth, rectangle.x, rectangle.width))
            .collect();
        let expected = [
            (What::Node(0), 0, 0, 159),
            (What::Node(2), 1, 0, 151),
            (What::Node(4), 2, 0, 51),
            (What::Folded(1), 3, 0, 1),
            (What::Folded(2), 1, 151, 8),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn drawing_respects_its_limit_and_counts_every_node() {
        let mut rows = Vec::new();
        (1..2000u64).for_each(|at| rows.push(((at * 7919 % at) as u32, at % 97)));
        let nodes = tree(&rows);
        for most in [2, 10, 100, 5000] {
            let drawn = fit(&[&nodes], nodes.all[0].total, most, false).remove(0);
            assert!(drawn.len() <= most, "{} of {most}", drawn.len());
            // Each caller has at most one rectangle of folded nodes, so at least half of the
            // rectangles are used.
            assert!(drawn.len() * 2 >= most.min(2000) - 1, "{} of {most}", drawn.len());
            let count = |rectangle: &Rectangle| match rectangle.content {
                What::Node(_) => 1,
                What::Folded(count) => count,
            };
            assert_eq!(drawn.iter().map(count).sum::<u64>(), 2000);
        }
    }
}
