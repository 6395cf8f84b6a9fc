//! The proof: tokens of a block as masks, and rules for which token may follow which.
//!
//! ```text
//!   bytes        { "a" : [ 1 , true ] }
//!   in_string      11
//!   opening        1                         a string begins here
//!   scalar                 1   1111          numbers and words
//!   begins       1 1     1 1   1             a value or key begins here
//!   after.value    1     1 1   1             one must begin here: after { [ : , and white space
//! ```
//!
//! Where the last two masks differ, the text is not JSON, except for values outside all brackets
//! and brackets that close an empty container.
//!
//! Every rule is one line of masks, and a block is valid if all results are empty. The state
//! between blocks ([`State`]) has the tokens that must follow, and the open brackets. Only the
//! order of brackets, numbers with bytes other than digits, words and escapes are checked byte by
//! byte.

use super::scalars::{are_escapes, scalar_end};
use crate::simd::blocks::{BLOCK, escaped};

/// White space by low nibble, for a shuffle that leaves only white space unchanged. Other entries
/// are 0; index 0 holds the blank, and bytes above 0x7F give 0.
pub(super) const SPACES: [u8; 16] = [b' ', 0, 0, 0, 0, 0, 0, 0, 0, b'\t', b'\n', 0, 0, b'\r', 0, 0];

/// Classes of the bytes in a block, one bit per byte, lowest bit first.
#[derive(Clone, Copy)]
pub(super) struct Classes {
    pub(super) quote: u64,
    pub(super) backslash: u64,
    /// Bytes below 0x20.
    pub(super) control: u64,
    /// Bytes above 0x7F.
    pub(super) non_ascii: u64,
    /// Opening brackets: `{ [`.
    pub(super) open: u64,
    /// Closing brackets: `} ]`.
    pub(super) close: u64,
    /// Whether a bracket is `{` or `}`; undefined for other bytes.
    pub(super) curly: u64,
    pub(super) comma: u64,
    pub(super) colon: u64,
    pub(super) space: u64,
    pub(super) digit: u64,
    pub(super) zero: u64,
}

impl Classes {
    /// Returns the classes without the first `count` bytes. Bytes after the block have no class.
    #[inline(always)]
    pub(super) fn skip(self, count: u32) -> Classes {
        Classes {
            quote: self.quote >> count,
            backslash: self.backslash >> count,
            control: self.control >> count,
            non_ascii: self.non_ascii >> count,
            open: self.open >> count,
            close: self.close >> count,
            curly: self.curly >> count,
            comma: self.comma >> count,
            colon: self.colon >> count,
            space: self.space >> count,
            digit: self.digit >> count,
            zero: self.zero >> count,
        }
    }
}

/// The position of a block in its text.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    /// Offset of the block.
    pub(super) base: usize,
    /// Bits of the block's bytes that are in the text.
    pub(super) live: u64,
}

/// State carried from one block to the next, in a few words. A word of all ones or zero applies to
/// every byte of a mask; a word of 1 or 0 applies to the first byte of the next block.
pub(super) struct State {
    /// All ones inside a string.
    pub(super) in_string: u64,
    /// 1 if the next byte is escaped.
    pub(super) escaped: u64,
    /// 1 inside a key.
    pub(super) in_key: u64,
    /// 1 inside a number or word; `zero` is 1 if that number is `0` so far.
    pub(super) in_scalar: u64,
    pub(super) zero: u64,
    /// Start of the last number or word. `checked` is the offset up to which all numbers and words
    /// are known to be valid.
    pub(super) scalar_start: usize,
    pub(super) checked: usize,
    /// 1 for each kind of token that must follow.
    pub(super) after: After,
    /// 1 if a colon must follow.
    pub(super) colon: u64,
    /// Open brackets, one bit each, innermost lowest, 1 for `[`; a 1 above the outermost bracket.
    pub(super) open: u64,
    pub(super) non_ascii: u64,
}

impl State {
    pub(super) const START: State = State {
        in_string: 0,
        escaped: 0,
        in_key: 0,
        in_scalar: 0,
        zero: 0,
        scalar_start: 0,
        checked: 0,
        after: After { key: 0, open: 0, value: 0 },
        colon: 0,
        open: Self::OUTSIDE,
        non_ascii: 0,
    };

    /// State before a single object.
    pub(super) const OBJECT: State =
        State { after: After { value: 1, ..State::START.after }, ..State::START };

    /// Value of `open` without open brackets.
    pub(super) const OUTSIDE: u64 = 1;

    /// Processes the next block. Returns `None` if the block is not proved. For a single object,
    /// stops at the end of the object.
    #[inline(always)]
    pub(super) fn block<const OBJECT: bool>(
        &mut self,
        class: Classes,
        text: Text<'_>,
        prefix_xor: impl Fn(u64) -> u64,
    ) -> Option<Block> {
        let escaped = escaped(class.backslash, &mut self.escaped);
        let quotes = class.quote & !escaped;
        // set from an opening quote up to, but excluding, its closing quote
        let in_string = prefix_xor(quotes) ^ self.in_string;
        self.in_string = ((in_string as i64) >> 63) as u64;
        if escaped != 0 {
            let odd = escaped & in_string & !(class.quote | class.backslash);
            if odd != 0 && !are_escapes(text.bytes, text.base, odd) {
                return None;
            }
        }
        let outside = text.live & !(in_string | quotes);
        let (open, close) = (class.open & outside, class.close & outside);
        let (comma, colon) = (class.comma & outside, class.colon & outside);
        let space = class.space & outside;
        let inner = self.brackets::<OBJECT>(open, close, class.curly)?;
        self.non_ascii |= class.non_ascii & inner.live;
        let scalar = outside & !(open | close | comma | colon | space) & inner.live;
        let starts = self.scalars(class, scalar, text)?;
        let opening = quotes & in_string;
        let begins = opening | open | starts;
        let before_key = (open & class.curly) | (comma & inner.object);
        let after = self.after.next(before_key, open, open | comma | colon, space);
        let (ends, in_key) = in_string.overflowing_add((opening & after.key) | self.in_key);
        let key_ends = ends & quotes & !in_string;
        self.in_key = u64::from(in_key);
        let wrong = (class.control & in_string)
            | (after.key & !(opening | close))
            | ((begins ^ after.value) & !(after.open & close) & !(begins & inner.none))
            | (comma & inner.none)
            | (next(key_ends, space, &mut self.colon) ^ colon);
        let colons = colon & inner.outermost & inner.live;
        (wrong & inner.live == 0).then_some(Block { colons, live: inner.live })
    }

    /// Returns the mask of the bytes at which numbers and words begin. Returns `None` if a number
    /// or word is not proved.
    #[inline(always)]
    pub(super) fn scalars(&mut self, class: Classes, scalar: u64, text: Text<'_>) -> Option<u64> {
        let starts = scalar & !((scalar << 1) | self.in_scalar);
        self.in_scalar = scalar >> 63;
        let zeros = starts & class.zero;
        let after_zero = (zeros << 1) | self.zero;
        self.zero = zeros >> 63;
        if after_zero & scalar & class.digit != 0 {
            return None;
        }
        let mut other = scalar & !class.digit;
        if other != 0 {
            other &= from(self.checked, text.base);
        }
        while other != 0 {
            let at = other.trailing_zeros();
            let upto = starts & (u64::MAX >> (63 - at));
            let start = match upto {
                0 => self.scalar_start,
                _ => text.base + 63 - upto.leading_zeros() as usize,
            };
            self.checked = scalar_end(text.bytes, start)?;
            other &= from(self.checked, text.base);
        }
        if starts != 0 {
            self.scalar_start = text.base + 63 - starts.leading_zeros() as usize;
        }
        Some(starts)
    }

    /// Matches the brackets of a block. Returns `None` if they do not match or are nested too deep.
    /// For a single object, stops at the end of the object.
    #[inline(always)]
    pub(super) fn brackets<const OBJECT: bool>(
        &mut self,
        open: u64,
        close: u64,
        curly: u64,
    ) -> Option<Innermost> {
        let all = |yes: bool| u64::from(yes).wrapping_neg();
        let (outside, outermost) = (Self::OUTSIDE, Self::OUTSIDE << 1);
        let mut inner = Innermost {
            object: all(self.open & 1 == 0),
            none: all(!OBJECT && self.open == outside),
            outermost: all(OBJECT && self.open == outermost),
            live: u64::MAX,
        };
        let mut brackets = open | close;
        while brackets != 0 {
            let rest = brackets & (brackets - 1);
            let bit = brackets ^ rest;
            // each mask flips at the brackets where its answer changes
            let behind = !(bit | (bit - 1));
            brackets = rest;
            let square = u64::from(curly & bit == 0);
            let before = self.open;
            if open & bit != 0 {
                if before >> 63 != 0 {
                    return None;
                }
                self.open = before << 1 | square;
            } else {
                if (!OBJECT && before == outside) || before & 1 != square {
                    return None;
                }
                self.open = before >> 1;
            }
            inner.object ^= behind & all((before ^ self.open) & 1 != 0);
            if OBJECT {
                inner.outermost ^= behind & all((before == outermost) != (self.open == outermost));
                if self.open == outside {
                    inner.live = !behind;
                    break;
                }
            } else {
                inner.none ^= behind & all((before == outside) != (self.open == outside));
            }
        }
        Some(inner)
    }
}

/// Contents of a valid block.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Colons after the own keys of a single object.
    pub(super) colons: u64,
    /// Bytes of a single object; otherwise all bytes.
    pub(super) live: u64,
}

/// Masks with one bit per byte: whether the innermost open bracket is `{`, and whether none is
/// open. A bracket affects only the bytes after it.
pub(super) struct Innermost {
    pub(super) object: u64,
    pub(super) none: u64,
    /// Whether only the bracket of a single object is open.
    pub(super) outermost: u64,
    /// Bytes of a single object; otherwise all bytes.
    pub(super) live: u64,
}

/// Returns the mask of the bytes at or after `place` in the block at `base`.
#[inline(always)]
pub(super) fn from(place: usize, base: usize) -> u64 {
    let before = place.saturating_sub(base).min(BLOCK) as u32;
    u64::MAX.checked_shl(before).unwrap_or(0)
}

/// Masks of the bytes at which a certain token must begin. Between blocks, bit 0 is the first byte
/// of the next block.
#[derive(Clone, Copy)]
pub(super) struct After {
    /// Bytes at which a key must begin or an empty object must end.
    pub(super) key: u64,
    /// Bytes at which a value or key must begin or the open container must end.
    pub(super) open: u64,
    /// Bytes at which a value or key must begin; where `open` is set, a closing bracket is allowed.
    pub(super) value: u64,
}

impl After {
    /// Returns the masks of a block, given the bytes after which a token is required. Keeps the
    /// state for the next block.
    #[inline(always)]
    fn next(&mut self, key: u64, open: u64, value: u64, space: u64) -> After {
        if space == 0 {
            let after = After {
                key: key << 1 | self.key,
                open: open << 1 | self.open,
                value: value << 1 | self.value,
            };
            *self = After { key: key >> 63, open: open >> 63, value: value >> 63 };
            return after;
        }
        After {
            key: next(key, space, &mut self.key),
            open: next(open, space, &mut self.open),
            value: next(value, space, &mut self.value),
        }
    }
}

/// Moves each bit of `bytes` to the next byte that is not white space. `carry` is the bit that
/// moves into the next block.
#[inline(always)]
pub(super) fn next(bytes: u64, space: u64, carry: &mut u64) -> u64 {
    let next = (bytes << 1) | *carry;
    *carry = bytes >> 63;
    if space == 0 {
        return next;
    }
    // an addition carries the bit over a run of white space
    let (moved, overflow) = space.overflowing_add(next & space);
    *carry |= u64::from(overflow);
    (next | moved) & !space
}
