//! A loser tree: finds the least head of many streams with one comparison per level.
//!
//! ```text
//!            winner
//!              │
//!           [loser]                 an inner node keeps the stream that lost there;
//!          /       \                replacing the winner replays only its own path
//!      [loser]    [loser]
//!      /    \     /    \
//!     s0    s1   s2    s3
//! ```
//!
//! ```
//! use tracemill_trace::order::LoserTree;
//!
//! let mut streams = [vec![1, 4], vec![2, 3], vec![]].map(Vec::into_iter);
//! let heads = streams.iter_mut().map(Iterator::next).collect();
//! let mut tree = LoserTree::new(heads, &i32::cmp);
//! let merged: Vec<i32> = std::iter::from_fn(|| {
//!     let (stream, least) = tree.winner()?;
//!     tree.replace(streams[stream].next(), &i32::cmp);
//!     Some(least)
//! }).collect();
//! assert_eq!(merged, [1, 2, 3, 4]);
//! ```
//!
//! A stream that has ended loses against all others. Source: Knuth, TAOCP vol. 3, §5.4.1.

use std::cmp::Ordering;

/// A loser tree over the heads of sorted streams.
pub struct LoserTree<T> {
    /// Head of each stream; `None` once the stream has ended.
    heads: Vec<Option<T>>,
    /// `nodes[0]` is the winner, all other nodes are losers. Node i has the children 2i and 2i + 1.
    nodes: Vec<usize>,
}

impl<T: Copy> LoserTree<T> {
    /// Creates a tree and compares all heads. Cost: one comparison per stream.
    pub fn new(heads: Vec<Option<T>>, compare: &impl Fn(&T, &T) -> Ordering) -> Self {
        let leaves = heads.len();
        let mut tree = LoserTree { nodes: vec![0; leaves.max(1)], heads };
        // winners of each node, from the leaves up
        let mut winners: Vec<usize> =
            (0..2 * leaves).map(|node| node.saturating_sub(leaves)).collect();
        for node in (1..leaves).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            (winners[node], tree.nodes[node]) = match tree.beats(left, right, compare) {
                true => (left, right),
                false => (right, left),
            };
        }
        tree.nodes[0] = winners.get(1).copied().unwrap_or(0);
        tree
    }

    fn beats(&self, a: usize, b: usize, compare: &impl Fn(&T, &T) -> Ordering) -> bool {
        match (&self.heads[a], &self.heads[b]) {
            (Some(x), Some(y)) => compare(x, y).then(a.cmp(&b)).is_lt(),
            (None, Some(_)) => false,
            _ => true,
        }
    }

    /// Returns the least head and its stream. Returns `None` when all streams have ended.
    pub fn winner(&self) -> Option<(usize, T)> {
        let stream = self.nodes[0];
        Some((stream, (*self.heads.get(stream)?)?))
    }

    /// Replaces the winner's head by the next value of its stream.
    pub fn replace(&mut self, next: Option<T>, compare: &impl Fn(&T, &T) -> Ordering) {
        let mut winner = self.nodes[0];
        self.heads[winner] = next;
        let mut node = (winner + self.heads.len()) / 2;
        while node > 0 {
            if self.beats(self.nodes[node], winner, compare) {
                std::mem::swap(&mut self.nodes[node], &mut winner);
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(streams: &[Vec<u8>]) -> Vec<(u8, usize)> {
        let mut at: Vec<_> = streams.iter().map(|stream| stream.iter().copied()).collect();
        let compare = |a: &u8, b: &u8| a.cmp(b);
        let heads = at.iter_mut().map(Iterator::next).collect();
        let mut tree = LoserTree::new(heads, &compare);
        let mut merged = Vec::new();
        while let Some((stream, value)) = tree.winner() {
            merged.push((value, stream));
            tree.replace(at[stream].next(), &compare);
        }
        merged
    }

    /// Covers all combinations of up to four sorted streams of up to two values out of three.
    #[test]
    fn merges_all_small_stream_combinations() {
        let mut streams = vec![vec![]];
        for a in 0..3 {
            streams.push(vec![a]);
            streams.extend((a..3).map(|b| vec![a, b]));
        }
        let mut worlds: Vec<Vec<Vec<u8>>> = vec![vec![]];
        for _ in 0..4 {
            for world in &worlds {
                let mut expected: Vec<(u8, usize)> = world
                    .iter()
                    .enumerate()
                    .flat_map(|(stream, values)| values.iter().map(move |&value| (value, stream)))
                    .collect();
                expected.sort_unstable();
                assert_eq!(merge(world), expected, "{world:?}");
            }
            let grown = worlds.iter().flat_map(|world| {
                streams.iter().map(move |s| world.iter().cloned().chain([s.clone()]).collect())
            });
            worlds = grown.collect();
        }
    }

    #[test]
    fn merges_many_streams() {
        let streams: Vec<Vec<u8>> =
            (0..97u8).map(|s| (0..s % 7).map(|i| s / 3 + i * 5).collect()).collect();
        let merged = merge(&streams);
        assert_eq!(merged.len(), streams.iter().map(Vec::len).sum::<usize>());
        assert!(merged.is_sorted());
    }
}
