//! What is proved of bytes: that all are JSON, or that an object is. The loops over blocks that all tiers share.
//!
//! A claim is a value with what it is about, and gives what is known ([`Claim::Proven`]); the tier gives the two things that differ between
//! processors, the masks of a block and the exclusive or of all bits before each. Claims are generic over both, so each is compiled once a tier,
//! into one function without a call.

use super::masks::{Block, Classes, State, Text};
use crate::simd::blocks::BLOCK;
use crate::simd::prefetch;

/// What is known of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// JSON values, one after the other, in ASCII.
    Json,
    /// The same if they are UTF-8.
    JsonIfUtf8,
    /// Not JSON, or not simple enough: brackets more than 63 deep, `01` as two values.
    Unknown,
}

/// Something to prove, by whatever instructions there are; inlined into each tier's `#[target_feature]` function.
pub(super) trait Claim {
    /// What is known then.
    type Proven;

    /// Looks at the blocks. `classify` makes the masks of one; bit i of `prefix_xor` is the exclusive or of bits 0 to i.
    fn prove(
        self,
        classify: impl Fn(&[u8; BLOCK]) -> Classes,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> Self::Proven;
}

/// That bytes are JSON values, one after the other.
pub(super) struct Values<'b>(pub(super) &'b [u8]);

impl Claim for Values<'_> {
    type Proven = Proof;

    #[inline(always)]
    fn prove(
        self,
        classify: impl Fn(&[u8; BLOCK]) -> Classes,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> Proof {
        let bytes = self.0;
        let mut state = State::START;
        let (blocks, tail) = bytes.as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            let text = Text { bytes, base: index * BLOCK, live: u64::MAX };
            if state.block::<false>(classify(block), text, &prefix_xor).is_none() {
                return Proof::Unknown;
            }
        }
        if !tail.is_empty() {
            // the last block again, with those bytes shifted out that were looked at: a copy would cost more
            let count = (BLOCK - tail.len()) as u32;
            let classes = match bytes.last_chunk::<BLOCK>() {
                Some(block) => classify(block).skip(count),
                None => {
                    let mut padded = [0; BLOCK];
                    padded[..tail.len()].copy_from_slice(tail);
                    classify(&padded)
                }
            };
            let text = Text { bytes, base: blocks.len() * BLOCK, live: u64::MAX >> count };
            if state.block::<false>(classes, text, &prefix_xor).is_none() {
                return Proof::Unknown;
            }
        }
        // whatever must still follow stands in a bracket or a string that is open
        if state.in_string != 0 || state.open != State::OUTSIDE {
            return Proof::Unknown;
        }
        if state.non_ascii == 0 { Proof::Json } else { Proof::JsonIfUtf8 }
    }
}

/// An object that is JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sound {
    /// One past its closing brace.
    pub(crate) end: usize,
    /// Whether it is ASCII; if not it is JSON if it is UTF-8.
    pub(crate) ascii: bool,
}

/// Takes the colons behind the keys of an object: a trait, since a closure of this size is not inlined into the loop.
pub(crate) trait Colons {
    /// Those of a block at `base` that `colons` has bits for; says whether to go on.
    fn colons(&mut self, base: usize, colons: u64) -> bool;
}

/// That the object that begins at `start` is JSON; not known if less than a block of bytes begins with its last ones.
pub(super) struct Object<'b, 'c, C> {
    pub(super) bytes: &'b [u8],
    pub(super) start: usize,
    pub(super) colons: &'c mut C,
}

impl<C: Colons> Claim for Object<'_, '_, C> {
    type Proven = Option<Sound>;

    #[inline(always)]
    fn prove(
        self,
        classify: impl Fn(&[u8; BLOCK]) -> Classes,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> Option<Sound> {
        let mut state = State::OBJECT;
        let Object { bytes, start, colons: own } = self;
        let (blocks, _) = bytes[start..].as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            prefetch::ahead_of(block);
            let base = start + index * BLOCK;
            let text = Text { bytes, base, live: u64::MAX };
            let Block { colons, live } = state.block::<true>(classify(block), text, &prefix_xor)?;
            if !own.colons(base, colons) {
                return None;
            }
            if state.open == State::OUTSIDE {
                let end = base + live.count_ones() as usize;
                return Some(Sound { end, ascii: state.non_ascii == 0 });
            }
        }
        None
    }
}
