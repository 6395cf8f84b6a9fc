//! The old form of a profile's tree: nodes inside the `children` of nodes, without recursion.
//!
//! ```text
//!   "head":{"functionName":"(root)","id":1,…,"children":[{"functionName":"f","id":2,…,"children":[]}, …]}
//!                                                        ^ becomes a node below 1, of the text {"functionName":"f",…}
//! ```
//!
//! Such a node has the call frame's fields as its own, and lines and columns count from 1. Its text, without its children
//! and what only the tree needs, is made here, since in the input it may hold the whole tree.
//!
//! Nodes come out in the order in which they begin, so parents come before their children. Depth is bounded by the heap alone: an open node
//! costs 8 bytes, and a file of brackets overflows no stack. Cost: one pass, and a second copy of the text of nodes that have children.

use crate::chunk::text::TextSpan;
use crate::chunk::{Decoder, NO_HITS, NO_ID, Node};
use tracemill_trace::run::flaws::FlawKind;

impl Decoder<'_, '_> {
    /// The old form: nodes inside the `children` of nodes, of any depth.
    pub(crate) fn head(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        let first = self.chunk.nodes.len();
        // per open node its own number and that of its parent among the new ones
        let mut open = vec![self.open_nested()];
        let mut parents = vec![None];
        while let Some(&number) = open.last() {
            let into_children = match self.cursor.next_key() {
                Some(key) if &*key == b"children" && self.cursor.enter(b'[') => self.next_nested(),
                Some(key) => {
                    self.nested_member(number, &key);
                    false
                }
                None => {
                    self.close_nested(number);
                    open.pop();
                    !open.is_empty() && self.next_nested()
                }
            };
            if into_children {
                parents.push(open.last().copied());
                open.push(self.open_nested());
            }
        }
        for (node, parent) in (first..).zip(parents) {
            self.chunk.nodes[node].parent = parent.map_or(NO_ID, |p| self.chunk.nodes[p].id);
        }
        let before = self.chunk.nodes.len();
        self.chunk.nodes.retain(|node| node.id != NO_ID);
        let lost = before - self.chunk.nodes.len();
        let here = self.here();
        self.chunk.flaws.add_many(FlawKind::Node, here, lost as u64);
    }

    /// A new node, in the order in which nodes begin.
    fn open_nested(&mut self) -> usize {
        let text = TextSpan::decoded(0..0);
        self.chunk.nodes.push(Node {
            id: NO_ID,
            parent: NO_ID,
            text,
            hits: NO_HITS,
            children: None,
        });
        self.chunk.nodes.len() - 1
    }

    /// Whether there is another object in the array of children.
    fn next_nested(&mut self) -> bool {
        while self.cursor.next_element() {
            if self.cursor.enter(b'{') {
                return true;
            }
            self.flaw(FlawKind::Node);
            self.cursor.value();
        }
        false
    }

    /// A key of a nested node; the text of all that is kept grows in `Chunk::decoded_text` if nothing came between, and is
    /// gathered anew behind the children otherwise.
    fn nested_member(&mut self, number: usize, key: &[u8]) {
        match key {
            b"id" => self.chunk.nodes[number].id = self.id().unwrap_or(NO_ID),
            b"hitCount" => self.chunk.nodes[number].hits = self.hits(),
            _ => {
                let value = self.cursor.value();
                let decoded_text = &mut self.chunk.decoded_text;
                let text = self.chunk.nodes[number].text.decoded_at().unwrap_or_default();
                let start = if text.is_empty() || text.end == decoded_text.len() {
                    if text.is_empty() { decoded_text.len() } else { text.start }
                } else {
                    let start = decoded_text.len();
                    decoded_text.extend_from_within(text);
                    start
                };
                decoded_text.push(if decoded_text.len() == start { b'{' } else { b',' });
                decoded_text.push(b'"');
                decoded_text.extend_from_slice(key);
                decoded_text.extend_from_slice(b"\":");
                decoded_text.extend_from_slice(value);
                self.chunk.nodes[number].text = TextSpan::decoded(start..decoded_text.len());
            }
        }
    }

    /// The end of a node: its text gets its last brace, at the end of all decoded text, and is copied there if others came between.
    fn close_nested(&mut self, number: usize) {
        let decoded_text = &mut self.chunk.decoded_text;
        let text = self.chunk.nodes[number].text.decoded_at().unwrap_or_default();
        let start = if !text.is_empty() && text.end == decoded_text.len() {
            text.start
        } else {
            let start = decoded_text.len();
            decoded_text.extend_from_within(text);
            start
        };
        if decoded_text.len() == start {
            decoded_text.push(b'{');
        }
        decoded_text.push(b'}');
        self.chunk.nodes[number].text = TextSpan::decoded(start..decoded_text.len());
    }
}
