//! Learned shapes: the scan keeps the text between the values of proved events, and compares the
//! next events with that text.
//!
//! A producer prints each kind of event with the same code. So nearly all events follow one of some
//! dozens of patterns, with different strings and numbers. The text between the values goes into a
//! trie:
//!
//! ```text
//!   {"ph":"X","pid":  7  ,"ts":  1  .  5  ,"name":"  a  "},⏎{      an event and the next brace
//!    ╰─────┬──────╯   │  ╰─┬──╯  │  │  │  ╰───┬───╯  │  ╰─┬─╯
//!      literal    integer     integer  decimals   string  the next event     a node each
//!          │
//!          └ ph, pid: fields whose values begin in the literal, or right after it
//! ```
//!
//! **Proof**, by induction over the tokens. The learned event is JSON. A new event on the same path
//! through the trie has the same literals, byte by byte. Where the learned event has a string, the
//! new event has a plain string: bytes up to a quote, without backslashes, controls and bytes above
//! 0x7F. Where the learned event has digits, the new event has all digits up to another byte, and
//! no number begins with a 0 before other digits. So each token replaces a token of the same kind,
//! which the grammar allows anywhere, and the next literal begins with the same delimiter. Hence
//! the new event is JSON, and its brackets and keys are those of the learned event, because all
//! keys are in literals. Exactly one comma, and otherwise only white space, comes before the next
//! brace.
//!
//! Everything else (escapes, bytes above 0x7F, exponents, unknown text) is no match, and the caller
//! reads the event without shapes: this module finds nothing that the scan would not find.
//!
//! **Cost.** A match reads each byte once for the [`Marks`] and compares 32 bytes a literal. A
//! miss costs the same up to the point of failure. If misses outweigh matches, the scan does not
//! try shapes for a while ([`Balance`]). Learning costs some microseconds per event, so [`Balance`]
//! limits it in proportion to the matches. Memory: at most 260 KiB.

mod balance;
mod learn;
mod node;

use crate::simd::{BLOCK, Kernel, MARKED, Marks, UsesMarks};
use crate::text::field::Field;
use balance::{Attempt, Balance};
use learn::{may_have_shape, steps};
use node::{LITERAL, NONE, Node, Token};

/// Maximum number of nodes in the trie.
const NODES: usize = 4096;
/// Maximum number of alternatives after a node.
const SIBLINGS: usize = 128;
/// Entries in the list of value offsets: a power of two above [`Field::COUNT`].
const VALUES: usize = 16;

/// Shapes of events that a scanner has learned: see [`Scanner::swap_shapes`](super::Scanner::swap_shapes).
pub struct Shapes {
    /// The trie. The first node comes before all events and has no literal.
    nodes: Vec<Node>,
    window: Marked,
    balance: Balance,
    /// Offsets of the values of the event that was matched last, by field.
    values: [u64; VALUES],
}

/// A window of the input in which the ends of tokens are marked.
struct Marked {
    marks: Marks,
    /// Offset of the window in the input.
    start: u64,
    /// Length of the window in bytes: whole blocks.
    len: usize,
}

/// The position of a matched event, as indices into the searched bytes.
#[derive(Clone, Copy)]
pub(super) struct Match {
    /// Index after the closing brace.
    pub(super) end: usize,
    /// Index of the opening brace of the next event.
    pub(super) next: usize,
    /// Envelope fields of the event, one bit each.
    pub(super) seen: u16,
}

/// The reason why an event did not match.
enum Miss {
    /// No shape has the text of the event.
    Unknown,
    /// The marked bytes end inside the event.
    Unmarked,
}

impl Default for Shapes {
    fn default() -> Self {
        Shapes {
            nodes: vec![Node::new(&[], Token::Nothing)],
            window: Marked { marks: Marks::new(), start: 0, len: 0 },
            balance: Balance::default(),
            values: [0; VALUES],
        }
    }
}

impl Shapes {
    /// Keeps the trie and forgets the window, because another scanner uses the trie next.
    pub(super) fn begin(&mut self) {
        self.window.len = 0;
        self.balance.begin();
    }

    /// Returns the offsets of the values of the last matched event, by field.
    #[inline(always)]
    pub(super) fn values(&self) -> &[u64; Field::COUNT] {
        self.values.first_chunk().expect("there are more")
    }

    /// Returns whether shapes are tried at `offset`: false during a rest ([`Balance`]).
    #[inline(always)]
    pub(super) fn are_tried(&self, offset: u64) -> bool {
        self.balance.is_awake(offset)
    }

    /// Matches the event whose opening brace is at `bytes[at]`. `bytes` begin at offset `base` of
    /// the input. Returns `None` if the event has no known shape.
    #[inline(always)]
    pub(super) fn find(
        &mut self,
        kernel: Kernel,
        bytes: &[u8],
        base: u64,
        at: usize,
    ) -> Option<Match> {
        let offset = base + at as u64;
        let found = kernel.with_marks(Find { shapes: self, bytes, base, at });
        match found {
            Some(_) => self.balance.matched(),
            None => self.balance.missed(offset),
        }
        found
    }

    /// Matches the event at `offset` with the paths of the trie, in the marked bytes.
    #[inline(always)]
    fn follow(&mut self, text: &[u8], offset: u64) -> Result<Match, Miss> {
        let Marked { marks, start, .. } = &self.window;
        let mut at = (offset - start) as usize + 1;
        let mut number = self.nodes[0].next;
        loop {
            let Some(piece) = text.get(at..).and_then(|rest| rest.first_chunk::<LITERAL>()) else {
                return Err(Miss::Unmarked);
            };
            let mut node = self.nodes.get_mut(number as usize).ok_or(Miss::Unknown)?;
            if !node.begins(piece) {
                number = sibling(&mut self.nodes, number, piece).ok_or(Miss::Unknown)?;
                node = &mut self.nodes[number as usize];
            }
            node.hits = node.hits.wrapping_add(1);
            for mark in node.fields {
                self.values[usize::from(mark.field) % VALUES] =
                    start + (at + usize::from(mark.at)) as u64;
            }
            let end = at + usize::from(node.len);
            at = match node.token {
                Token::Nothing => end,
                Token::String => marks.string_end(end).ok_or(Miss::Unmarked)?,
                Token::Integer => match integer_end(marks, text, end) {
                    Some(end) => end,
                    None => {
                        number = node.sibling;
                        continue;
                    }
                },
                Token::Decimals => marks.digits_end(end).ok_or(Miss::Unknown)?,
                Token::Integers => integers_end(marks, text, end).ok_or(Miss::Unknown)?,
                Token::NextEvent => {
                    let (end, next) = (end - usize::from(node.gap), end - 1);
                    return Ok(Match { end, next, seen: node.seen });
                }
            };
            number = node.next;
        }
    }

    /// Returns whether the scanner should try to learn the shape of the event at `offset`.
    #[inline(always)]
    pub(super) fn are_learned(&self, offset: u64) -> bool {
        self.balance.pays_for_a_shape(offset)
    }

    /// Learns the shape of the event in the first `len` bytes of `text`, which are JSON. The brace
    /// of the next event belongs to the shape.
    #[cold]
    #[inline(never)]
    pub(super) fn learn(&mut self, text: &[u8], len: usize) {
        if !may_have_shape(text, len) {
            return self.balance.pay(Attempt::Refused);
        }
        let Some(steps) = steps(text, len) else { return self.balance.pay(Attempt::Failed) };
        self.add(&steps);
        self.balance.pay(Attempt::Learned);
    }

    /// Adds a path to the trie. If the trie is full, removes all nodes first. If a node has too
    /// many siblings, replaces the last sibling, which few events match.
    fn add(&mut self, steps: &[Node]) {
        if self.nodes.len() + steps.len() > NODES {
            self.nodes.clear();
            self.nodes.push(Node::new(&[], Token::Nothing));
        }
        let mut parent = 0;
        for step in steps {
            parent = self.child(parent, step);
        }
    }

    /// Returns the number of the node that equals `step` after `parent`. Adds the node if it is
    /// missing.
    fn child(&mut self, parent: usize, step: &Node) -> usize {
        let (mut last, mut siblings) = (None, 0);
        let mut number = self.nodes[parent].next;
        while number != NONE {
            if self.nodes[number as usize].is_same(step) {
                return number as usize;
            }
            last = Some(number as usize);
            number = self.nodes[number as usize].sibling;
            siblings += 1;
        }
        let new = self.nodes.len();
        match last {
            Some(last) if siblings >= SIBLINGS => {
                self.nodes[last] = *step;
                return last;
            }
            Some(last) => self.nodes[last].sibling = new as u32,
            None => self.nodes[parent].next = new as u32,
        }
        self.nodes.push(*step);
        new
    }
}

/// A search for an event, compiled for the instructions of a tier.
struct Find<'s, 'b> {
    shapes: &'s mut Shapes,
    bytes: &'b [u8],
    base: u64,
    at: usize,
}

impl UsesMarks for Find<'_, '_> {
    type Output = Option<Match>;

    #[inline(always)]
    fn run(self, mark: impl Fn(&[u8], &mut Marks)) -> Option<Match> {
        let Find { shapes, bytes, base, at } = self;
        let offset = base + at as u64;
        if let Some(text) = shapes.window.bytes(bytes, base, offset) {
            match shapes.follow(text, offset) {
                Ok(found) => return Some(found.moved(shapes.window.start - base)),
                Err(Miss::Unknown) => return None,
                Err(Miss::Unmarked) if shapes.window.start == offset => return None,
                Err(Miss::Unmarked) => {}
            }
        }
        let window = &bytes[at..bytes.len().min(at + MARKED)];
        mark(window, &mut shapes.window.marks);
        shapes.window.start = offset;
        shapes.window.len = window.len() & !(BLOCK - 1);
        let text = shapes.window.bytes(bytes, base, offset)?;
        let found = shapes.follow(text, offset).ok()?;
        Some(found.moved(shapes.window.start - base))
    }
}

impl Marked {
    /// Returns the bytes of the window, if the window contains the byte at `offset`. `bytes` begin
    /// at offset `base` of the input.
    #[inline(always)]
    fn bytes<'b>(&self, bytes: &'b [u8], base: u64, offset: u64) -> Option<&'b [u8]> {
        if offset.wrapping_sub(self.start) >= self.len as u64 {
            return None;
        }
        let from = usize::try_from(self.start.checked_sub(base)?).ok()?;
        bytes.get(from..)?.get(..self.len)
    }
}

/// Returns the number of the first sibling after the node `before` whose literal is at the start of
/// `text`. If that sibling has more hits than the node before it, swaps the two nodes.
#[inline(always)]
fn sibling(nodes: &mut [Node], mut before: u32, text: &[u8; LITERAL]) -> Option<u32> {
    loop {
        let number = nodes[before as usize].sibling;
        let node = nodes.get(number as usize)?;
        if node.begins(text) {
            if node.hits > nodes[before as usize].hits {
                swap_siblings(nodes, before as usize, number as usize);
                return Some(before);
            }
            return Some(number);
        }
        before = number;
    }
}

/// Swaps the contents of two sibling nodes. The order of their numbers in the list stays.
#[cold]
fn swap_siblings(nodes: &mut [Node], first: usize, second: usize) {
    nodes.swap(first, second);
    let sibling = nodes[first].sibling;
    nodes[first].sibling = nodes[second].sibling;
    nodes[second].sibling = sibling;
}

/// Returns the end of the integer without a sign at `at`. Returns `None` if there is no digit, or
/// if a leading 0 precedes another digit.
#[inline(always)]
fn integer_end(marks: &Marks, text: &[u8], at: usize) -> Option<usize> {
    let end = marks.digits_end(at)?;
    (end == at + 1 || text.get(at) != Some(&b'0')).then_some(end)
}

/// Returns the end of the integers without signs at `at`, separated by commas. Returns `None` for
/// other text.
#[inline]
fn integers_end(marks: &Marks, text: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = integer_end(marks, text, at)?;
        if text.get(at) != Some(&b',') {
            return Some(at);
        }
        at += 1;
    }
}

impl Match {
    /// Returns the same match, with indices that count from `before` bytes earlier.
    #[inline(always)]
    fn moved(self, before: u64) -> Self {
        let before = before as usize;
        Match { end: self.end + before, next: self.next + before, ..self }
    }
}
