//! A node of the trie: a literal, and the token after it.

use crate::text::field::Field;

/// Maximum length of a literal, in bytes.
pub(super) const LITERAL: usize = 32;
/// In place of the number of a node: none.
pub(super) const NONE: u32 = u32::MAX;
/// In place of the number of a field: none. Its value offset is written and never read.
const NO_FIELD: u8 = Field::COUNT as u8;

/// The token after a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    /// A string without escapes: the literal ends with its opening quote, the next one begins with
    /// its closing quote.
    String,
    /// Digits that begin a number: `0`, or a digit other than 0 and more.
    Integer,
    /// Digits after the point of a number.
    Decimals,
    /// Integers without signs, with commas between them: the literal ends with the opening bracket.
    Integers,
    /// None: the next literal follows.
    Nothing,
    /// None: the literal ends with the brace of the next event.
    NextEvent,
}

/// An envelope field whose colon is in a literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldMark {
    /// Number of the field, or [`NO_FIELD`].
    pub(super) field: u8,
    /// One past the colon, in the literal.
    pub(super) at: u8,
}

/// A literal and the token after it. A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Node {
    literal: [u8; LITERAL],
    /// The first node after this one.
    pub(super) next: u32,
    /// The node to try where this one does not match.
    pub(super) sibling: u32,
    /// How many events came through, to try frequent nodes first.
    pub(super) hits: u32,
    /// Fields of the event, a bit each, where the next event follows.
    pub(super) seen: u16,
    pub(super) len: u8,
    pub(super) token: Token,
    /// Bytes of the literal after the event, where the next event follows.
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

    /// Whether both stand for the same text. The marks of fields follow from the text before them.
    pub(super) fn is_same(&self, other: &Node) -> bool {
        (self.literal, self.len, self.token) == (other.literal, other.len, other.token)
    }

    /// Whether `text` begins with the literal.
    #[inline(always)]
    pub(super) fn begins(&self, text: &[u8; LITERAL]) -> bool {
        let (text, literal) = (words(text), words(&self.literal));
        let mask = &MASKS[usize::from(self.len) % LENGTHS];
        let differs = |at: usize| (text[at] ^ literal[at]) & mask[at];
        differs(0) | differs(1) | differs(2) | differs(3) == 0
    }
}

/// Lengths of literals, and more, so that the number is a power of two.
const LENGTHS: usize = 2 * LITERAL;

/// For each length of a literal the bits of its bytes.
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
