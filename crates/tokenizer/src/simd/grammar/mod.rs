//! The full JSON grammar, 64 bytes at a time: whether bytes are JSON, not where they are not.
//!
//! [`Prove::run`] says "JSON" only of JSON. Of a little JSON, and of everything else, it says "unknown", and the caller
//! reads that byte by byte ([`crate::grammar`]), which also finds the first defect. So this has to be right in one direction and
//! fast in the usual case, and needs no errors.
//!
//! Most of the grammar is about neighbours: which token may follow which. One bit a byte, that is a shift:
//!
//! ```text
//!   { "a" : [ 1 , 2 ] , "b" : 3 }
//!   ^                 ^              after these a key: a comma where the innermost bracket is `{`
//!         ^     ^     ^     ^        after these a value (or that key)
//!   ^       ^                        after these the same, or a closing bracket
//!     ^^^               ^^^          a string after which a colon must follow, and the only one after which it may
//! ```
//!
//! `next` moves a mask to the next byte that is no white space; an addition carries it over runs of white space, and
//! from the opening quote of a key to its closing one. Only brackets are looked at one by one, to match them and to know
//! for each byte which is the innermost; and numbers with other bytes than digits, words and escapes, which are few.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod claims;
mod ids;
mod masks;
mod scalars;

use super::Tier;
use crate::text::field::Field;
pub(crate) use claims::{Colons, Proof, Sound};
#[cfg(target_arch = "x86_64")]
use claims::{Object, Values};
#[cfg(target_arch = "x86_64")]
use ids::Ids;

/// The proof in the instructions of one tier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Prove {
    /// None: everything is unknown.
    Nothing,
    #[cfg(target_arch = "x86_64")]
    Avx2(super::avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(super::avx512::Avx512),
}

impl Prove {
    /// The proof of `tier`. The portable tier and NEON have none of their own: there, reading byte by byte is faster than
    /// masks without vectors.
    pub(crate) fn of(tier: Tier) -> Prove {
        let own = match tier {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => super::avx512::Avx512::detect().map(Prove::Avx512),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => super::avx2::Avx2::detect().map(Prove::Avx2),
            _ => None,
        };
        own.unwrap_or(Prove::Nothing)
    }

    /// Whether `bytes` are JSON values, one after the other.
    #[inline]
    pub(crate) fn run(self, bytes: &[u8]) -> Proof {
        match self {
            #[cfg(target_arch = "x86_64")]
            Prove::Avx512(avx512) => avx512.prove(Values(bytes)),
            #[cfg(target_arch = "x86_64")]
            Prove::Avx2(avx2) => avx2.prove(Values(bytes)),
            Prove::Nothing => Proof::Unknown,
        }
    }

    /// The object that begins at `start`, if it is known to be JSON; never one of which the last byte is among the last 63
    /// of `bytes`. `colons` gets those behind the object's own keys.
    #[inline]
    pub(crate) fn object(
        self,
        bytes: &[u8],
        start: usize,
        colons: &mut impl Colons,
    ) -> Option<Sound> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Prove::Avx512(avx512) => avx512.prove(Object { bytes, start, colons }),
            #[cfg(target_arch = "x86_64")]
            Prove::Avx2(avx2) => avx2.prove(Object { bytes, start, colons }),
            Prove::Nothing => None,
        }
    }

    /// Finds `ph` and the ids of the envelope in an event that a scan has taken; false if it is not known where they all stand.
    #[inline]
    pub(crate) fn ids(
        self,
        event: &[u8],
        unless: &[u8],
        seen: &mut u16,
        values: &mut [u64; Field::COUNT],
    ) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Prove::Avx512(avx512) => avx512.prove(Ids { event, unless, seen, values }),
            #[cfg(target_arch = "x86_64")]
            Prove::Avx2(avx2) => avx2.prove(Ids { event, unless, seen, values }),
            Prove::Nothing => false,
        }
    }
}

#[cfg(test)]
mod tests;
