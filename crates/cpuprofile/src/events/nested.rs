//! Reads the old format of a call tree, nodes inside the `children` of nodes, without recursion.
//!
//! ```text
//!   "head":{"id":1,…,"children":[{"id":2,"functionName":"f",…,"children":[]}, …]}
//!                                ^ child of node 1, with the text {"id":2,"functionName":"f",…}
//! ```
//!
//! A node has the fields of its call frame, and lines and columns count from 1. In the input, the
//! text of a node contains its children, so the text is copied without them.
//!
//! Nodes come in the order in which they begin, parents first. Depth is limited only by the heap, 8
//! bytes per open node. Cost: one pass, and a second copy of the text of nodes with children.

use crate::chunk::text::TextSpan;
use crate::chunk::{Decoder, NO_HITS, NO_ID, Node};
use tracemill_trace::run::flaws::FlawKind;

impl Decoder<'_, '_> {
    /// Reads the nested nodes of `head`, of any depth.
    pub(crate) fn head(&mut self) {
        if !self.expect(b'{') {
            return;
        }
        let first = self.chunk.nodes.len();
        // open nodes, and the parent of each new node, as indices of new nodes
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

    /// Enters the next object in the array of children; returns false at the end of the array.
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

    /// Reads a key of a nested node and appends it to the node's text in `Chunk::decoded_text`.
    ///
    /// If other text was appended after the node's text, the node's text is first copied to the end
    /// of `decoded_text`.
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

    /// Ends a node: appends the last brace to the node's text.
    ///
    /// The text is copied to the end of all decoded text first, if other text was appended since.
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
