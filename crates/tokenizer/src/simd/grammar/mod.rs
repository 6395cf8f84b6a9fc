//! Proves the full JSON grammar, 64 bytes at a time, without locating errors.
//!
//! [`Prove::run`] answers "JSON" only for JSON. For some unusual JSON and for all invalid text it
//! answers "unknown", and the caller reads byte by byte ([`crate::grammar`]), which finds the first
//! error. So the proof must be correct in one direction only, and fast in the usual case.
//!
//! Most of the grammar is about which token may follow which. With one bit per byte, that is a
//! shift:
//!
//! ```text
//!   { "a" : [ 1 , 2 ] , "b" : 3 }
//!   ^                 ^              a key must follow (`,` only directly inside `{`)
//!         ^     ^     ^     ^        a value (or that key) must follow
//!   ^       ^                        a value, a key or a closing bracket must follow
//!     ^^^               ^^^          a colon must follow these strings, and no others
//! ```
//!
//! `next` moves a mask to the next byte that is not white space. An addition carries it over runs
//! of white space, and from the opening to the closing quote of a key. Only brackets, words,
//! escapes and the few numbers with bytes other than digits are handled one by one.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod claims;
mod masks;
mod scalars;

use super::Tier;
pub(crate) use claims::{Colons, Proof, Sound};
#[cfg(target_arch = "x86_64")]
use claims::{Object, Values};

/// The proof with the instructions of one tier.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Prove {
    /// No proof: everything is unknown.
    Nothing,
    #[cfg(target_arch = "x86_64")]
    Avx2(super::avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(super::avx512::Avx512),
}

impl Prove {
    /// Returns the proof of `tier`. The portable tier and NEON have no proof, because reading byte
    /// by byte is faster there.
    pub(crate) fn of(tier: Tier) -> Prove {
        let detected = match tier {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => super::avx512::Avx512::detect().map(Prove::Avx512),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => super::avx2::Avx2::detect().map(Prove::Avx2),
            _ => None,
        };
        detected.unwrap_or(Prove::Nothing)
    }

    /// Checks whether `bytes` are consecutive JSON values.
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

    /// Returns the end of the object at `start` if the object is proved to be JSON. An object that
    /// ends in the last 63 bytes may remain unproved. `colons` receives the colons after the
    /// object's own keys.
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
}

#[cfg(test)]
mod tests;
