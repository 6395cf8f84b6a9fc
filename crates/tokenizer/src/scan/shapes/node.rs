//! A node of the trie: a literal, and the token after it.

use crate::text::field::Field;

/// Maximum length of a literal, in bytes.
pub(super) const LITERAL: usize = 32;
/// Node number that means "no node".
pub(super) const NONE: u32 = u32::MAX;
/// Field number that means "no field". The offset of its value is written and never read.
const NO_FIELD: u8 = Field::COUNT as u8;

/// The token after a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A string without escapes. The literal ends with the opening quote, and the next literal
    /// begins with the closing quote.
    String,
    /// The digits at the start of a number: `0`, or digits without a leading zero.
    Integer,
    /// Digits after the point of a number.
    Decimals,
    /// Integers without signs, separated by commas. The literal ends with the opening bracket.
    Integers,
    /// No token: the next literal follows.
    Nothing,
    /// No token: the literal ends with the opening brace of the next event.
    NextEvent,
}

/// An envelope field whose colon is in a literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldMark {
    /// Number of the field, or [`NO_FIELD`].
    pub(super) field: u8,
    /// Offset in the literal after the colon.
    pub(super) at: u8,
}

/// A literal and the token after it, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    literal: [u8; LITERAL],
    /// Index of the first node that may follow this node.
    pub(super) next: u32,
    /// Index of the node to try if this node does not match.
    pub(super) sibling: u32,
    /// Number of events that matched this node; frequent nodes are tried first.
    pub(super) hits: u32,
    /// Fields of the event, one bit each; valid only if the token is [`Token::NextEvent`].
    pub(super) seen: u16,
    pub(super) len: u8,
    pub(super) token: Token,
    /// Number of bytes of the literal after the event; valid only with [`Token::NextEvent`].
    pub(super) gap: u8,
    pub(super) fields: [FieldMark; 2],
}

const _: () = assert!(size_of::<Node>() == 64);

impl Node {
    /// Creates a node for a literal of at most [`LITERAL`] bytes.
    pub(super) fn new(literal: &[u8], token: Token) -> Self {
        let mut padded = [0; LITERAL];
        padded[..literal.len()].copy_from_slice(literal);
        Node {
            literal: padded,
            next: NONE,
            sibling: NONE,
            hits: 0,
            seen: 0,
            len: literal.len() as u8,
            token,
            gap: 0,
            fields: [FieldMark { field: NO_FIELD, at: 0 }; 2],
        }
    }

    /// Returns whether two nodes match the same text. The field marks follow from that text.
    pub(super) fn is_same(&self, other: &Node) -> bool {
        (self.literal, self.len, self.token) == (other.literal, other.len, other.token)
    }

    /// Returns whether `text` begins with the literal.
    #[inline(always)]
    pub(super) fn begins(&self, text: &[u8; LITERAL]) -> bool {
        let (text, literal) = (words(text), words(&self.literal));
        let mask = &MASKS[usize::from(self.len) % LENGTHS];
        let differs = |at: usize| (text[at] ^ literal[at]) & mask[at];
        differs(0) | differs(1) | differs(2) | differs(3) == 0
    }
}

/// Number of entries of [`MASKS`]: a power of two above the length of any literal.
const LENGTHS: usize = 2 * LITERAL;

/// Masks by length of a literal: the bits of the bytes of that literal.
static MASKS: [[u64; LITERAL / 8]; LENGTHS] = {
    let mut masks = [[0; LITERAL / 8]; LENGTHS];
    let mut len = 0;
    while len <= LITERAL {
        let mut at = 0;
        while at < len {
            masks[len][at / 8] |= 0xFF << (8 * (at % 8));
            at += 1;
        }
        len += 1;
    }
    masks
};

#[inline(always)]
fn words(bytes: &[u8; LITERAL]) -> [u64; LITERAL / 8] {
    let words = bytes.as_chunks::<8>().0;
    [0, 1, 2, 3].map(|at| u64::from_le_bytes(words[at]))
}
