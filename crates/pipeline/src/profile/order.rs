//! The order of the chunks of one stream (contract C6): order of time if every node and sample then refers to nodes that
//! are defined already; else input order if that satisfies it; else order of time, and the user is told.

use super::chunk::NO_ID;
use super::kept::Chunks;
use crate::order::{Entry, Order};
use std::collections::HashSet;

/// The order that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkOrder {
    /// By time, which is the order in the input too.
    Both,
    /// By time.
    Time,
    /// As in the input: by time, chunks would refer to nodes that come later.
    Input,
    /// By time, though in no order do all refer to earlier nodes.
    Neither,
}

impl ChunkOrder {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ChunkOrder::Both => "both",
            ChunkOrder::Time => "time",
            ChunkOrder::Input => "input",
            ChunkOrder::Neither => "neither",
        }
    }
}

/// Puts the chunks of a stream, given in input order, in its own order, given what they hold.
///
/// Cost: a sort; where that moves any, a look at each chunk, or two.
pub(crate) fn settle(
    chunks: &mut [Entry],
    order: Order<'_, '_>,
    contents: &mut impl Chunks,
) -> ChunkOrder {
    let input: Vec<Entry> = chunks.to_vec();
    chunks.sort_unstable_by(|a, b| order.compare(a, b));
    if input == chunks {
        return ChunkOrder::Both;
    }
    if refer_backwards(chunks, contents) {
        return ChunkOrder::Time;
    }
    if !refer_backwards(&input, contents) {
        return ChunkOrder::Neither;
    }
    chunks.copy_from_slice(&input);
    ChunkOrder::Input
}

/// Whether every parent and sample refers to a node of its own or an earlier chunk.
///
/// What is no id refers to nothing and defines nothing.
fn refer_backwards(chunks: &[Entry], contents: &mut impl Chunks) -> bool {
    let mut known = HashSet::new();
    let is_known = |known: &HashSet<u64>, id| id == NO_ID || known.contains(&id);
    chunks.iter().all(|&entry| {
        let chunk = contents.get(entry);
        let nodes = chunk.nodes.iter().all(|node| {
            let parent = is_known(&known, node.parent);
            known.insert(node.id);
            parent
        });
        nodes && chunk.samples.iter().all(|&sample| is_known(&known, sample))
    })
}
