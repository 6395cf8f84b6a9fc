//! Claims about bytes to prove: that all are JSON, or that an object is.
//!
//! A claim holds its bytes and returns a result ([`Claim::Proven`]). The tier provides the masks of
//! a block and the prefix XOR. Claims are generic over these two functions, so each claim is
//! compiled once per tier into one function without calls.

use super::masks::{Block, Classes, State, Text};
use crate::simd::blocks::BLOCK;
use crate::simd::prefetch;

/// Result of validating bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Consecutive JSON values in ASCII.
    Json,
    /// Consecutive JSON values, provided that the bytes are UTF-8.
    JsonIfUtf8,
    /// Not JSON, or not simple enough: brackets nested more than 63 deep, or `01` as two values.
    Unknown,
}

/// A claim to prove with any instruction set; inlined into each tier's `#[target_feature]`
/// function.
pub(super) trait Claim {
    /// The result of the proof.
    type Proven;

    /// Proves the claim block by block. `classify` computes the masks of a block; bit i of
    /// `prefix_xor` is the XOR of bits 0 to i.
    fn prove(
        self,
        classify: impl Fn(&[u8; BLOCK]) -> Classes,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> Self::Proven;
}

/// The claim that bytes are consecutive JSON values.
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
            // reads the last block again and shifts out the bytes already seen, because a copy
            // would cost more
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
        // something must follow only inside an open bracket or string
        if state.in_string != 0 || state.open != State::OUTSIDE {
            return Proof::Unknown;
        }
        if state.non_ascii == 0 { Proof::Json } else { Proof::JsonIfUtf8 }
    }
}

/// An object proved to be JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sound {
    /// Offset after the closing brace.
    pub(crate) end: usize,
    /// Whether the object is ASCII; otherwise it is JSON if it is UTF-8.
    pub(crate) ascii: bool,
}

/// Receives the colons after an object's keys. A trait, because a closure of this size is not
/// inlined into the loop.
pub(crate) trait Colons {
    /// Handles the colons of the block at `base`, given as bits; returns whether to continue.
    fn colons(&mut self, base: usize, colons: u64) -> bool;
}

/// The claim that the object at `start` is JSON. The proof may fail if the object ends in the last
/// 63 bytes.
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
        let Object { bytes, start, colons: sink } = self;
        let (blocks, _) = bytes[start..].as_chunks::<BLOCK>();
        for (index, block) in blocks.iter().enumerate() {
            prefetch::ahead_of(block);
            let base = start + index * BLOCK;
            let text = Text { bytes, base, live: u64::MAX };
            let Block { colons, live } = state.block::<true>(classify(block), text, &prefix_xor)?;
            if !sink.colons(base, colons) {
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
