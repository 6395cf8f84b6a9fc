//! Structural scan: converts 64-byte blocks of JSON to the positions of `{ } [ ] :` outside
//! strings.
//!
//! Each block is processed as bit masks with one bit per byte:
//!
//! ```text
//!   classify 64 bytes        quote, backslash, structural, delimiter, known  (SIMD, per tier)
//!   escaped   = bytes after an odd run of backslashes                    (carry: 1 bit)
//!   quotes    = quote & !escaped
//!   in_string = prefix_xor(quotes)                       (carry-less multiply; carry: 1 bit)
//!   out       = structural & !in_string                  (flattened to 16-bit positions)
//!   suspect   = outside a string, but not a byte of JSON
//!             | after a closing quote, but not a delimiter
//!             | an opening quote without a delimiter before it
//! ```
//!
//! `suspect` is empty for every valid JSON text, also with `NaN`, `Infinity` and trailing commas.
//! It is not empty after an unclosed string or a bare quote, because keys then appear outside
//! strings. So the fast path detects damage without a grammar; [`crate::scan`] decides what to do.
//!
//! The scan can resume at any multiple of 64 bytes with [`Carry`] as its only state. Tiers differ
//! only in [`Masks`](blocks::Masks) and in converting bits to positions; all else is shared, so
//! their results agree. AVX-512 flattens with one compress instruction per block, all other tiers
//! with a loop.
//!
//! `marks` finds the ends of strings and numbers for `scan::shapes`. `nesting` finds the closing
//! bracket of a container from similar masks.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod blocks;
pub(crate) mod class;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_variables,
        reason = "only the tiers of x86-64 have a proof of their own"
    )
)]
pub(crate) mod grammar;
mod marks;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable tier goes byte by byte")
)]
mod nesting;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "the portable tier has a table of its own")
)]
mod nibbles;
mod prefetch;
mod scalar;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tier;
#[cfg(target_arch = "x86_64")]
mod words;

pub(crate) use blocks::{BLOCK, Carry, Positions, Suspect, WINDOW};
pub(crate) use marks::{MARKED, Marks, UsesMarks};
pub use prefetch::prefetch;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// An instruction set supported by the scan.
///
/// All tiers give the same results and differ only in speed. [`Tier::best`] queries the processor.
/// ```
/// use tracemill_tokenizer::Tier;
///
/// assert!(Tier::best().is_available() && Tier::Scalar.is_available());
/// assert_eq!("scalar".parse(), Ok(Tier::Scalar));
/// assert!("mmx".parse::<Tier>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Portable code without SIMD.
    Scalar,
    /// x86-64 with AVX2, BMI and carry-less multiply (since 2013).
    Avx2,
    /// x86-64 with AVX-512 F, BW, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
    /// 64-bit ARM with NEON and polynomial multiply.
    Neon,
}

impl Tier {
    /// All tiers, slowest first.
    pub const ALL: [Tier; 4] = [Tier::Scalar, Tier::Neon, Tier::Avx2, Tier::Avx512];

    /// Returns the fastest tier of this processor.
    pub fn best() -> Tier {
        let fastest = Tier::ALL.into_iter().rev().find(|tier| tier.is_available());
        fastest.unwrap_or(Tier::Scalar)
    }

    /// Returns whether this processor supports the tier.
    pub fn is_available(self) -> bool {
        match self {
            Tier::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => avx2::Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => avx512::Avx512::detect().is_some(),
            #[cfg(target_arch = "aarch64")]
            Tier::Neon => neon::Neon::detect().is_some(),
            #[allow(unreachable_patterns, reason = "which arms are left depends on the target")]
            _ => false,
        }
    }

    /// Returns the name, as parsed by [`FromStr`].
    pub fn name(self) -> &'static str {
        match self {
            Tier::Scalar => "scalar",
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
            Tier::Neon => "neon",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tier {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let tier = Tier::ALL.into_iter().find(|tier| tier.name() == name);
        let tier = tier.ok_or_else(|| format!("expected scalar, avx2, avx512 or neon: {name}"))?;
        if tier.is_available() {
            return Ok(tier);
        }
        Err(format!("this processor cannot run the tier: {name}"))
    }
}

/// The code of a tier. A value proves that the processor supports the tier.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Kernel {
    /// Returns the kernel of the fastest tier.
    #[inline]
    pub(crate) fn best() -> Kernel {
        static BEST: LazyLock<Kernel> = LazyLock::new(|| Kernel::of(Tier::best()));
        *BEST
    }

    /// Returns the kernel of `tier`, or the portable one if the processor lacks it.
    pub(crate) fn of(tier: Tier) -> Kernel {
        let detected = match tier {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => avx512::Avx512::detect().map(Kernel::Avx512),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => avx2::Avx2::detect().map(Kernel::Avx2),
            #[cfg(target_arch = "aarch64")]
            Tier::Neon => neon::Neon::detect().map(Kernel::Neon),
            _ => None,
        };
        detected.unwrap_or(Kernel::Scalar)
    }

    /// Replaces `out` by the structural positions of `window` (at most [`WINDOW`] bytes), and
    /// updates `carry`.
    ///
    /// A window whose length is not a multiple of 64 must be the end of the input. The scan stops
    /// at the first suspect byte: `out` then has the positions before it, and `carry` must not be
    /// used again.
    pub(crate) fn flatten(self, window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
        assert!(window.len() <= WINDOW, "positions are 16 bits wide");
        match self {
            Kernel::Scalar => scalar::flatten(window, carry, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(avx2) => avx2.flatten(window, carry, out),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(avx512) => avx512.flatten(window, carry, out),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(neon) => neon.flatten(window, carry, out),
        }
    }

    /// Returns the length from the bracket at the start of `bytes` to its closing bracket, or to
    /// the end of `bytes`. Returns `None` if the caller must search byte by byte.
    #[inline]
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_variables, reason = "the portable kernel is the only one there")
    )]
    pub(crate) fn container_len(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Kernel::Scalar => None,
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(avx2) => avx2.container_len(bytes),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(avx512) => avx512.container_len(bytes),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(neon) => neon.container_len(bytes),
        }
    }

    /// Runs code that marks windows, compiled for the tier.
    #[inline(always)]
    pub(crate) fn with_marks<C: UsesMarks>(self, code: C) -> C::Output {
        match self {
            Kernel::Scalar => scalar::with_marks(code),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2(avx2) => avx2.with_marks(code),
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512(avx512) => avx512.with_marks(code),
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon(neon) => neon.with_marks(code),
        }
    }
}

#[cfg(test)]
mod tests;
