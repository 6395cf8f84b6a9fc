//! Structural scan: 64-byte blocks of JSON to the positions of `{ } [ ] :` outside strings.
//!
//! One block at a time, as bit masks with one bit a byte:
//!
//! ```text
//!   classify 64 bytes        quote, backslash, structural, delimiter, known     (SIMD, one file a tier)
//!   escaped   = bytes that an odd run of backslashes precedes                    (carry: 1 bit)
//!   quotes    = quote & !escaped
//!   in_string = prefix_xor(quotes)                       (carry-less multiply; carry: 1 bit)
//!   out       = structural & !in_string                  (flattened to 16-bit positions)
//!   suspect   = outside a string, but no byte of JSON
//!             | after a closing quote, but no delimiter
//!             | an opening quote, but no delimiter before it
//! ```
//!
//! `suspect` is empty on every valid JSON text, also with `NaN`, `Infinity` and trailing commas, and it is not when a
//! string is left open or holds a bare quote: from there on keys stand outside strings. So the fast path needs no
//! grammar to notice that it lost the thread; what to do then is decided in [`crate::scan`].
//!
//! The scan is resumable at any multiple of 64 bytes: [`Carry`] is all it remembers. The tiers differ only in
//! [`Masks`] and in how set bits become positions; every other line is shared, so one answer is a property of
//! the structure and not of luck. On AVX-512 the flattening is one compress instruction a block; on the others a loop.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg_attr(
    not(target_arch = "x86_64"),
    allow(
        dead_code,
        unused_variables,
        reason = "only the tiers of x86-64 have a proof of their own"
    )
)]
pub(crate) mod grammar;
#[cfg(target_arch = "aarch64")]
mod neon;
mod prefetch;
mod scalar;

pub use prefetch::prefetch;
pub(crate) use scalar::byte;
use std::fmt;
use std::str::FromStr;

/// Bytes flattened at a time: positions are 16 bits wide and the window stays in the first-level cache.
pub(crate) const WINDOW: usize = 16 * 1024;
/// Bytes in a block.
pub(crate) const BLOCK: usize = 64;

/// What one block looks like, a bit a byte, the lowest bit the first byte.
#[derive(Clone, Copy)]
pub(crate) struct Masks {
    /// `"`
    quote: u64,
    /// `\`
    backslash: u64,
    /// `{ } [ ] :`
    structural: u64,
    /// structural, comma and white space: what may stand beside a quote
    delimiter: u64,
    /// delimiters and the bytes of numbers and of `true false null NaN Infinity`
    known: u64,
}

impl Masks {
    /// Without the first `count` bytes; white space follows the block.
    #[inline(always)]
    fn skip(self, count: u32) -> Masks {
        let behind = !(u64::MAX >> count);
        Masks {
            quote: self.quote >> count,
            backslash: self.backslash >> count,
            structural: self.structural >> count,
            delimiter: self.delimiter >> count | behind,
            known: self.known >> count | behind,
        }
    }
}

/// What a block needs to know of the one before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    /// All ones inside a string, else zero.
    in_string: u64,
    /// 1 if the first byte of the next block is escaped.
    escaped: u64,
    /// 1 if the last byte was a closing quote.
    closed: u64,
    /// 1 if the last byte was a delimiter.
    delimiter: u64,
}

impl Carry {
    /// The state at a place that is known to be outside strings.
    pub(crate) const OUTSIDE: Carry = Carry { in_string: 0, escaped: 0, closed: 0, delimiter: 1 };
}

/// Positions of structural bytes in a window.
pub(crate) struct Positions {
    // one block of slack: every tier stores whole vectors
    at: Box<[u16; WINDOW + BLOCK]>,
    len: usize,
}

impl Positions {
    pub(crate) fn new() -> Self {
        let at = vec![0u16; WINDOW + BLOCK].into_boxed_slice();
        Positions { at: at.try_into().expect("the length is the array's"), len: 0 }
    }

    pub(crate) fn as_slice(&self) -> &[u16] {
        &self.at[..self.len]
    }
}

/// A place where the bytes can no longer be JSON, relative to the window.
pub(crate) type Suspect = Option<usize>;

/// An instruction set that the scan is written for.
///
/// All give the same answer for the same bytes; they differ in speed alone. [`Tier::best`] asks the processor once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tier {
    /// Portable: no SIMD at all.
    Scalar,
    /// x86-64 with AVX2, BMI and carry-less multiply (2013 on).
    Avx2,
    /// x86-64 with AVX-512 F, BW, VBMI and VBMI2 (Ice Lake, Zen 4 and later).
    Avx512,
    /// 64-bit ARM with NEON and polynomial multiply.
    Neon,
}

impl Tier {
    /// Every tier, slowest first.
    pub const ALL: [Tier; 4] = [Tier::Scalar, Tier::Neon, Tier::Avx2, Tier::Avx512];

    /// The fastest tier of this processor.
    pub fn best() -> Tier {
        let fastest = Tier::ALL.into_iter().rev().find(|tier| tier.is_available());
        fastest.unwrap_or(Tier::Scalar)
    }

    /// Whether this processor can run it.
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

    /// Its name, as [`FromStr`] reads it.
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

/// The one place where a tier becomes code: whoever has one has proof that the processor can run it.
#[derive(Clone, Copy)]
pub(crate) enum Flatten {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Flatten {
    /// The scan of `tier`, or the portable one where the processor lacks it.
    pub(crate) fn of(tier: Tier) -> Flatten {
        let own = match tier {
            #[cfg(target_arch = "x86_64")]
            Tier::Avx512 => avx512::Avx512::detect().map(Flatten::Avx512),
            #[cfg(target_arch = "x86_64")]
            Tier::Avx2 => avx2::Avx2::detect().map(Flatten::Avx2),
            #[cfg(target_arch = "aarch64")]
            Tier::Neon => neon::Neon::detect().map(Flatten::Neon),
            _ => None,
        };
        own.unwrap_or(Flatten::Scalar)
    }

    /// Replaces `out` by the structural positions of `window` (at most [`WINDOW`] bytes) and carries on.
    ///
    /// A window whose length is no multiple of 64 is taken as the end of the input. At the first suspect byte the scan
    /// stops: `out` then holds the positions before it, and `carry` must not be used again.
    pub(crate) fn run(self, window: &[u8], carry: &mut Carry, out: &mut Positions) -> Suspect {
        assert!(window.len() <= WINDOW, "positions are 16 bits wide");
        match self {
            Flatten::Scalar => scalar::flatten(window, carry, out),
            #[cfg(target_arch = "x86_64")]
            Flatten::Avx2(avx2) => avx2.flatten(window, carry, out),
            #[cfg(target_arch = "x86_64")]
            Flatten::Avx512(avx512) => avx512.flatten(window, carry, out),
            #[cfg(target_arch = "aarch64")]
            Flatten::Neon(neon) => neon.flatten(window, carry, out),
        }
    }
}

/// The loop that all tiers share, inlined into each tier's `#[target_feature]` function.
#[inline(always)]
fn flatten_with(
    window: &[u8],
    carry: &mut Carry,
    out: &mut Positions,
    classify: impl Fn(&[u8; BLOCK]) -> Masks,
    prefix_xor: impl Fn(u64) -> u64,
    emit: impl Fn(u64, u16, &mut [u16; BLOCK]),
) -> Suspect {
    let mut state = *carry;
    let mut len = 0;
    let (blocks, mut padded) = (window.as_chunks::<BLOCK>().0, [b' '; BLOCK]);
    let (last, skip) = last_block(window, &mut padded);
    for (index, block) in blocks.iter().chain(last).enumerate() {
        let base = (index * BLOCK) as u16;
        prefetch::ahead_of(block);
        let mut masks = classify(block);
        if index == blocks.len() {
            masks = masks.skip(skip);
        }
        let (structural, suspect) = step(&mut state, masks, &prefix_xor);
        // a window has at most WINDOW structural bytes, and `at` has a block more than that
        let slot = out.at[len..].first_chunk_mut::<BLOCK>();
        let slot = slot.expect("positions before this block fill at most one place a byte");
        if suspect != 0 {
            let first = suspect.trailing_zeros();
            let before = structural & ((1u64 << first) - 1);
            emit(before, base, slot);
            out.len = len + before.count_ones() as usize;
            return Some(index * BLOCK + first as usize);
        }
        emit(structural, base, slot);
        len += structural.count_ones() as usize;
    }
    out.len = len;
    *carry = state;
    None
}

/// The block with the last bytes of a window, if they are fewer than a block, and how many bytes to leave out before them.
///
/// It is the end of the window: a copy in a block of spaces, which is read right after it is written, cost as much as all
/// other blocks of a single event.
#[inline(always)]
fn last_block<'w>(window: &'w [u8], padded: &'w mut [u8; BLOCK]) -> (&'w [[u8; BLOCK]], u32) {
    let tail = window.as_chunks::<BLOCK>().1;
    match window.last_chunk::<BLOCK>() {
        _ if tail.is_empty() => (&[], 0),
        Some(last) => (std::slice::from_ref(last), (BLOCK - tail.len()) as u32),
        None => {
            padded[..tail.len()].copy_from_slice(tail);
            (std::slice::from_ref(padded), 0)
        }
    }
}

/// One block: (structural bytes outside strings, suspect bytes).
#[inline(always)]
fn step(carry: &mut Carry, masks: Masks, prefix_xor: impl Fn(u64) -> u64) -> (u64, u64) {
    let quotes = masks.quote & !escaped(masks.backslash, &mut carry.escaped);
    // set from an opening quote up to, not including, its closing quote
    let in_string = prefix_xor(quotes) ^ carry.in_string;
    let opening = quotes & in_string;
    let closing = quotes & !in_string;
    let after_closing = (closing << 1) | carry.closed;
    let after_delimiter = (masks.delimiter << 1) | carry.delimiter;
    let suspect = (!in_string & !quotes & !masks.known)
        | (after_closing & !masks.delimiter)
        | (opening & !after_delimiter);
    carry.in_string = ((in_string as i64) >> 63) as u64;
    carry.closed = closing >> 63;
    carry.delimiter = masks.delimiter >> 63;
    (masks.structural & !in_string, suspect)
}

/// Bytes preceded by an odd run of backslashes; `next` carries across blocks.
///
/// The subtraction trick of simdjson's `json_escape_scanner`: with the odd bits set, subtracting the backslashes lets a
/// borrow run through each series, which marks every other byte of it whatever parity it starts at.
#[inline(always)]
fn escaped(backslash: u64, next: &mut u64) -> u64 {
    const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
    if backslash == 0 {
        return std::mem::take(next);
    }
    let starts = backslash & !*next;
    let series = ((starts << 1) | ODD).wrapping_sub(starts) ^ ODD;
    let escaped = series ^ (backslash | *next);
    *next = (series & backslash) >> 63;
    escaped
}

/// Positions of the set bits, lowest first, eight at a time so that the loop's branch is easy to predict.
#[inline(always)]
fn emit_portable(mut mask: u64, base: u16, out: &mut [u16; BLOCK]) {
    let count = mask.count_ones() as usize;
    for slots in out.chunks_exact_mut(8).take(count.div_ceil(8)) {
        for slot in slots {
            *slot = base.wrapping_add(mask.trailing_zeros() as u16);
            mask &= mask.wrapping_sub(1);
        }
    }
}

/// Nibble tables: a byte's class is `LOW[low nibble] & HIGH[high nibble]`; bits as in [`class`].
#[allow(dead_code, reason = "the portable tier has a table of its own")]
mod nibbles {
    use super::class::{BRACKET, COLON, DIGIT, LETTER_7, LETTER_46, SIGN, SPACE, SPACE_COMMA};

    pub(super) const HIGH: [u8; 16] = {
        let mut table = [0; 16];
        table[0x0] = SPACE;
        table[0x2] = SPACE_COMMA | SIGN;
        table[0x3] = COLON | DIGIT;
        table[0x4] = LETTER_46;
        table[0x5] = BRACKET;
        table[0x6] = LETTER_46;
        table[0x7] = BRACKET | LETTER_7;
        table
    };
    pub(super) const LOW: [u8; 16] = {
        let mut table = [0; 16];
        let rows: [(u8, &[usize]); 8] = [
            (SPACE, &[0x9, 0xA, 0xD]),
            (SPACE_COMMA, &[0x0, 0xC]),
            (SIGN, &[0xB, 0xD, 0xE]),
            (COLON, &[0xA]),
            (DIGIT, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            (LETTER_46, &[0x1, 0x5, 0x6, 0x9, 0xC, 0xE]),
            (BRACKET, &[0xB, 0xD]),
            (LETTER_7, &[0x2, 0x3, 0x4, 0x5, 0x9]),
        ];
        let mut row = 0;
        while row < rows.len() {
            let mut i = 0;
            while i < rows[row].1.len() {
                table[rows[row].1[i]] |= rows[row].0;
                i += 1;
            }
            row += 1;
        }
        table
    };
}

/// Classes of bytes. A table by nibbles cannot name every set, so `A F L` count as letters of literals too: they are
/// letters of no key that matters, and all tiers agree on it.
mod class {
    /// tab, line feed, carriage return
    pub(super) const SPACE: u8 = 1 << 0;
    /// space and comma
    pub(super) const SPACE_COMMA: u8 = 1 << 1;
    /// `[ ] { }`
    pub(super) const BRACKET: u8 = 1 << 2;
    /// `:`
    pub(super) const COLON: u8 = 1 << 3;
    /// `+ - .`
    pub(super) const SIGN: u8 = 1 << 4;
    /// `0`–`9`
    pub(super) const DIGIT: u8 = 1 << 5;
    /// `a e f i l n` and their capitals
    pub(super) const LETTER_46: u8 = 1 << 6;
    /// `r s t u y`
    pub(super) const LETTER_7: u8 = 1 << 7;

    pub(super) const STRUCTURAL: u8 = BRACKET | COLON;
    pub(super) const DELIMITER: u8 = STRUCTURAL | SPACE | SPACE_COMMA;
}

#[cfg(test)]
mod tests;
