//! Learned shapes: the text between the values of events that were proved, matched against the events
//! that follow.
//!
//! A producer prints each kind of event with the same code, so nearly all events are one of some dozens
//! of texts with other strings and numbers in them. The text between the values goes into a trie:
//!
//! ```text
//!   {"ph":"X","pid":  7  ,"ts":  1  .  5  ,"name":"  a  "},⏎{      an event and the next brace
//!    ╰─────┬──────╯   │  ╰─┬──╯  │  │  │  ╰───┬───╯  │  ╰─┬─╯
//!      literal    integer     integer  decimals   string  the next event     a node each
//!          │
//!          └ ph, pid: fields whose values begin in the literal, or right after it
//! ```
//!
//! **Proof**, by induction over the tokens. The event that was learned is JSON. An event that takes the
//! same way through the trie has the same literals to the byte. Where the learned event has a string, it
//! has bytes without quotes, backslashes, controls and bytes above 0x7F, up to a quote: a string. Where
//! that has digits, it has digits, as many as there are, and no 0 before others where a number begins. So
//! a token takes the place of another of the same kind, which the grammar allows anywhere, and the
//! literal after it begins with the delimiter that was there. Hence the event is JSON, its brackets are
//! those of the learned event, and its keys, which are all in literals, are its fields. Exactly one comma,
//! and nothing else but white space, comes before the next brace.
//!
//! Everything else (escapes, bytes above 0x7F, exponents, unknown text) is no match, and the caller
//! reads the event as if there were no shapes: this module finds nothing that the scan would not find.
//!
//! **Cost.** A match reads each byte once for the [`Marks`] and compares 32 bytes a literal. A
//! miss costs the same up to where it fails; where misses outweigh matches the shapes rest
//! ([`Balance`]). Learning costs some microseconds an event and is paid for by matches. Memory: at most
//! 260 KiB.

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

/// A window of the input whose tokens are marked.
struct Marked {
    marks: Marks,
    /// Offset of the window in the input.
    start: u64,
    /// Bytes of the window: whole blocks.
    len: usize,
}

/// An event that was matched, by indices of the window.
#[derive(Clone, Copy)]
pub(super) struct Match {
    /// One past its closing brace.
    pub(super) end: usize,
    /// The brace of the next event.
    pub(super) next: usize,
    /// Envelope fields of the event, a bit each.
    pub(super) seen: u16,
}

/// Why no event was matched.
enum Miss {
    /// The text is that of no shape.
    Unknown,
    /// The marked bytes end in the event.
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
    /// Keeps the trie and forgets the bytes: another scanner goes on with it.
    pub(super) fn begin(&mut self) {
        self.window.len = 0;
        self.balance.begin();
    }

    /// Returns the offsets of the values of the event that was matched last, by field.
    #[inline(always)]
    pub(super) fn values(&self) -> &[u64; Field::COUNT] {
        self.values.first_chunk().expect("there are more")
    }

    /// Whether shapes are tried at `offset`: false while they rest.
    #[inline(always)]
    pub(super) fn are_tried(&self, offset: u64) -> bool {
        self.balance.is_awake(offset)
    }

    /// Matches the event whose brace is at `at` of `bytes`, which begin at `base` of the input.
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

    /// Follows the trie from the event at `offset` on, in the marked bytes.
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

    /// Whether the event at `offset` is worth an attempt to learn its shape.
    #[inline(always)]
    pub(super) fn are_learned(&self, offset: u64) -> bool {
        self.balance.pays_for_a_shape(offset)
    }

    /// Learns the shape of an event that is JSON: the first `len` bytes of `text`, up to the brace of
    /// the next event.
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

    /// Adds a way through the trie. Where there is no room for more nodes all are forgotten, and where
    /// there are too many siblings the one that matched least.
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

    /// Returns the number of the node for `step` after `parent`; adds it where there is none.
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

/// A look for an event, in the instructions of a tier.
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
    /// Returns the window, if it holds the byte at `offset`; `bytes` begin at `base`.
    #[inline(always)]
    fn bytes<'b>(&self, bytes: &'b [u8], base: u64, offset: u64) -> Option<&'b [u8]> {
        if offset.wrapping_sub(self.start) >= self.len as u64 {
            return None;
        }
        let from = usize::try_from(self.start.checked_sub(base)?).ok()?;
        bytes.get(from..)?.get(..self.len)
    }
}

/// Returns the number of the first node after `number`, at the same place, whose literal `text` begins with. A node that was met more often
/// than the one before it changes places with it.
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

/// Exchanges two nodes at the same place. The numbers of their siblings stay.
#[cold]
fn swap_siblings(nodes: &mut [Node], first: usize, second: usize) {
    nodes.swap(first, second);
    let sibling = nodes[first].sibling;
    nodes[first].sibling = nodes[second].sibling;
    nodes[second].sibling = sibling;
}

/// Returns the end of an integer without a sign; `None` if there is none, or if it begins with a 0 before
/// another digit.
#[inline(always)]
fn integer_end(marks: &Marks, text: &[u8], at: usize) -> Option<usize> {
    let end = marks.digits_end(at)?;
    (end == at + 1 || text.get(at) != Some(&b'0')).then_some(end)
}

/// Returns the end of integers without signs, with commas between them; `None` if they are not.
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
    /// Returns the same event by indices that begin `before` bytes earlier.
    #[inline(always)]
    fn moved(self, before: u64) -> Self {
        let before = before as usize;
        Match { end: self.end + before, next: self.next + before, ..self }
    }
}
