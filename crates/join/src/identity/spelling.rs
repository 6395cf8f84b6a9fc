//! Ids as written, and new ids in the same lexical form: numbers stay numbers, `"0x1f"` stays
//! hexadecimal.
//!
//! | written | kept | changed |
//! |---|---|---|
//! | `17`, `"17"`, `-17`, `"017"` | quotes, sign, leading zeros | a multiple of a power of ten is added: the digits stay |
//! | `"0x1f"`, `"0X1F"`, `"0x001f"` | prefix, case, leading zeros | a multiple of a power of sixteen is added |
//! | `"task-7"`, `"0xaB"` | the text | `#2` is appended |
//! | `""`, `1.5`, `null`, `{}` | all of it | never changed |
//!
//! If the numbers are spread so widely that no free range is left (64-bit hashes), their bits are
//! XORed with a constant instead. Different ids always stay different.

use std::borrow::Cow;
use tracemill_tokenizer::parse;
use tracemill_trace::json::push_integer;

/// Largest integer that viewers, which use doubles, distinguish from its successor.
const DOUBLE: u64 = (1 << 53) - 1;

/// A value as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IdLiteral<'v> {
    /// A number: `before`, then zeros, the digits of `value`, and the closing quote if `quoted`.
    Number { before: &'v [u8], zeros: usize, value: u64, hex: bool, upper: bool, quoted: bool },
    /// Content of a string, still escaped.
    Text(&'v [u8]),
    /// A value that is no id.
    Other,
}

impl<'v> IdLiteral<'v> {
    pub(super) fn of(value: &'v [u8]) -> Self {
        match value {
            [b'"', b'"'] => IdLiteral::Other,
            [b'"', content @ .., b'"'] => {
                let hex = content.starts_with(b"0x") || content.starts_with(b"0X");
                let digits = if hex { &content[2..] } else { content };
                let before = &value[..value.len() - 1 - digits.len()];
                IdLiteral::number(before, digits, hex, true).unwrap_or(IdLiteral::Text(content))
            }
            [b'-', digits @ ..] => {
                IdLiteral::number(&value[..1], digits, false, false).unwrap_or(IdLiteral::Other)
            }
            digits => IdLiteral::number(b"", digits, false, false).unwrap_or(IdLiteral::Other),
        }
    }

    fn number(before: &'v [u8], digits: &[u8], hex: bool, quoted: bool) -> Option<Self> {
        let (radix, mut lower, mut upper) = (if hex { 16 } else { 10 }, false, false);
        let mut value = 0u64;
        for &digit in digits {
            lower |= digit.is_ascii_lowercase();
            upper |= digit.is_ascii_uppercase();
            let digit = char::from(digit).to_digit(radix)?;
            value = value.checked_mul(radix.into())?.checked_add(digit.into())?;
        }
        // of several zeros, the last is the digit of the value
        let last = digits.len().checked_sub(1)?;
        let zeros = digits[..last].iter().take_while(|&&digit| digit == b'0').count();
        // `012` is invalid JSON; the mixed case of `0xaB` cannot be reproduced
        if (zeros > 0 && !quoted) || (lower && upper) {
            return None;
        }
        Some(IdLiteral::Number { before, zeros, value, hex, upper, quoted })
    }
}

fn count_digits(mut value: u64, radix: u64) -> usize {
    let mut digits = 0;
    while value > 0 {
        value /= radix;
        digits += 1;
    }
    digits
}

/// Appends a hexadecimal number, faster than generic formatting, which would dominate renaming.
fn push_hex(value: u64, upper: bool, out: &mut Vec<u8>) {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let count = (u64::BITS - value.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..count).rev().map(|place| digits[(value >> (4 * place)) as usize % 16]));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    /// Adds this value to the numbers.
    Add(u64),
    /// XORs the numbers with these bits.
    Mix(u64),
}

impl Shift {
    fn apply(self, value: u64) -> u64 {
        match self {
            Shift::Add(more) => value.saturating_add(more),
            Shift::Mix(bits) => value ^ bits,
        }
    }
}

/// Rules for new ids in one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdMap {
    pub(crate) decimal: Option<Shift>,
    pub(crate) hex: Option<Shift>,
    /// Number appended to text ids, after `#`.
    pub(crate) tag: Option<u64>,
}

impl IdMap {
    /// Appends the new id for `value`. Returns false, appending nothing, if the id does not change.
    pub(crate) fn write(&self, value: &[u8], out: &mut Vec<u8>) -> bool {
        match IdLiteral::of(value) {
            IdLiteral::Number { before, zeros, value, hex, upper, quoted } => {
                let Some(shift) = (if hex { self.hex } else { self.decimal }) else { return false };
                let value = shift.apply(value);
                out.extend_from_slice(before);
                out.resize(out.len() + zeros, b'0');
                match hex {
                    true => push_hex(value, upper, out),
                    false => push_integer(value, out),
                }
                out.extend_from_slice(if quoted { b"\"" } else { b"" });
                true
            }
            IdLiteral::Text(content) => {
                let Some(tag) = self.tag else { return false };
                out.push(b'"');
                out.extend_from_slice(content);
                out.push(b'#');
                push_integer(tag, out);
                out.push(b'"');
                true
            }
            IdLiteral::Other => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberRange {
    low: u64,
    high: u64,
}

type TextRange = (Box<[u8]>, Box<[u8]>);

/// Ids of an input as ranges per order of magnitude, so that memory does not grow with the number
/// of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdRanges {
    numbers: Vec<(NumberClass, NumberRange)>,
    /// The first and last text in byte order.
    texts: Option<TextRange>,
    /// The greatest number after a `#` at the end of a text.
    tag: u64,
}

impl Default for IdRanges {
    fn default() -> Self {
        IdRanges { numbers: Vec::new(), texts: None, tag: 1 }
    }
}

/// A class of numbers: whether they are hexadecimal, and their number of bits.
type NumberClass = (bool, u32);

impl IdRanges {
    pub(super) fn note(&mut self, value: &[u8]) {
        match IdLiteral::of(value) {
            IdLiteral::Number { value, hex, .. } => {
                self.join(
                    (hex, u64::BITS - value.leading_zeros()),
                    NumberRange { low: value, high: value },
                );
            }
            IdLiteral::Text(content) => {
                self.tag = self.tag.max(tag_of(content));
                self.note_texts(content, content);
            }
            IdLiteral::Other => {}
        }
    }

    fn join(&mut self, class: NumberClass, range: NumberRange) {
        // most numbers are large
        let at = self.numbers.iter().rposition(|&(known, _)| known <= class);
        match at.map(|at| &mut self.numbers[at]) {
            Some((known, numbers)) if *known == class => {
                numbers.low = numbers.low.min(range.low);
                numbers.high = numbers.high.max(range.high);
            }
            _ => self.numbers.insert(at.map_or(0, |at| at + 1), (class, range)),
        }
    }

    fn note_texts(&mut self, first: &[u8], last: &[u8]) {
        let Some((a, b)) = &mut self.texts else {
            self.texts = Some((first.into(), last.into()));
            return;
        };
        if first < &**a {
            *a = first.into();
        }
        if last > &**b {
            *b = last.into();
        }
    }

    pub(super) fn append(&mut self, other: &IdRanges) {
        other.numbers.iter().for_each(|&(class, range)| self.join(class, range));
        if let Some((first, last)) = &other.texts {
            self.note_texts(first, last);
        }
        self.tag = self.tag.max(other.tag);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_none() && self.numbers.is_empty()
    }

    fn ranges(&self) -> impl Iterator<Item = NumberRange> {
        self.numbers.iter().map(|&(_, range)| range)
    }

    fn greatest(&self, hex: bool) -> Option<u64> {
        let ranges = self.numbers.iter().filter(|((number, _), _)| *number == hex);
        ranges.map(|(_, range)| range.high).max()
    }
}

/// Adds the id ranges of another part of the same recording to `ids`, per kind of id.
pub(super) fn append_each(ids: &mut Vec<IdRanges>, more: &[IdRanges]) {
    let missing = more.len().saturating_sub(ids.len());
    // there may be thousands of lists, most with one entry
    ids.reserve_exact(missing);
    ids.resize_with(ids.len() + missing, IdRanges::default);
    ids.iter_mut().zip(more).for_each(|(ranges, more)| ranges.append(more));
}

/// Returns the number after the last `#` of a text; 0 if there is none.
fn tag_of(content: &[u8]) -> u64 {
    let at = content.iter().rposition(|&byte| byte == b'#');
    let number = at.and_then(|at| parse(&content[at + 1..]));
    number.unwrap_or(0)
}

#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Disjoint ranges, ascending.
    taken: Vec<NumberRange>,
    texts: Vec<(Vec<u8>, Vec<u8>)>,
    /// The greatest tag of all ids, old or new.
    tag: u64,
    mixed: u64,
}

impl Space {
    pub(super) fn new<'c>(all: impl Iterator<Item = &'c IdRanges>) -> Self {
        let tag = all.map(|ranges| ranges.tag).max().unwrap_or(1).max(1);
        Space { tag, ..Space::default() }
    }

    /// Adds the ids of another recording. Returns the rules for renaming them, which are empty if
    /// no id can collide.
    pub(super) fn admit(&mut self, ranges: &IdRanges) -> IdMap {
        let mut map = IdMap::default();
        if ranges.ranges().any(|range| self.meets(range)) {
            for hex in [false, true] {
                if let Some(greatest) = ranges.greatest(hex) {
                    let shift = self.find_room(greatest, hex);
                    *(if hex { &mut map.hex } else { &mut map.decimal }) = Some(shift);
                }
            }
        } else {
            ranges.ranges().for_each(|range| self.take(range));
        }
        if self.has_texts_among(ranges) {
            self.tag += 1;
            map.tag = Some(self.tag);
        }
        if let Some((first, last)) = &ranges.texts {
            // tags make texts greater, but not greater than this bound
            let end = [&**last, b"\xff"].concat();
            self.texts.push((first.to_vec(), end));
        }
        map
    }

    /// Adds ids without renaming, even if they collide.
    pub(super) fn hold(&mut self, ranges: &IdRanges) {
        ranges.ranges().for_each(|range| self.take(range));
        if let Some((first, last)) = &ranges.texts {
            self.texts.push((first.to_vec(), last.to_vec()));
        }
    }

    /// Returns whether any of these ids may already exist.
    pub(super) fn overlaps(&self, ranges: &IdRanges) -> bool {
        ranges.ranges().any(|range| self.meets(range)) || self.has_texts_among(ranges)
    }

    fn has_texts_among(&self, ranges: &IdRanges) -> bool {
        let Some((first, last)) = &ranges.texts else { return false };
        self.texts.iter().any(|(a, b)| **last >= **a && **b >= **first)
    }

    /// Finds and reserves a free range for numbers up to `greatest`. Returns the shift into it.
    fn find_room(&mut self, greatest: u64, hex: bool) -> Shift {
        let (radix, most) = match (hex, greatest <= DOUBLE) {
            (true, _) => (16u64, u64::MAX),
            (false, true) => (10, DOUBLE),
            (false, false) => (10, u64::MAX),
        };
        let digits = count_digits(greatest, radix).max(1) as u32;
        if let Some(width) = radix.checked_pow(digits) {
            let mut start = width;
            while let Some(end) = start.checked_add(width - 1).filter(|&end| end <= most) {
                match self.taken.iter().find(|range| range.low <= end && start <= range.high) {
                    None => {
                        self.take(NumberRange { low: start, high: end });
                        return Shift::Add(start);
                    }
                    Some(range) => match (range.high / width + 1).checked_mul(width) {
                        Some(next) => start = next,
                        None => break,
                    },
                }
            }
        }
        self.mixed += 1;
        // multiples of the Fibonacci hashing constant are far apart
        let bits = self.mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.take(NumberRange { low: 0, high: most });
        Shift::Mix(bits & most)
    }

    fn meets(&self, range: NumberRange) -> bool {
        let after = self.taken.partition_point(|taken| taken.high < range.low);
        self.taken.get(after).is_some_and(|taken| taken.low <= range.high)
    }

    fn take(&mut self, mut range: NumberRange) {
        let from = self.taken.partition_point(|taken| taken.high < range.low);
        let to = self.taken.partition_point(|taken| taken.low <= range.high);
        if let Some(first) = self.taken.get(from).filter(|_| from < to) {
            range.low = range.low.min(first.low);
            range.high = range.high.max(self.taken[to - 1].high);
        }
        self.taken.splice(from..to.max(from), [range]);
    }
}

/// Appends a tag to the content of a text pid.
pub(super) fn tagged(content: &[u8], number: u64) -> Cow<'_, [u8]> {
    match number {
        0 => content.into(),
        _ => [content, format!("#{number}").as_bytes()].concat().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(values: &[&str]) -> IdRanges {
        let mut ranges = IdRanges::default();
        values.iter().for_each(|value| ranges.note(value.as_bytes()));
        ranges
    }

    fn written(map: &IdMap, value: &str) -> String {
        let mut out = Vec::new();
        match map.write(value.as_bytes(), &mut out) {
            true => String::from_utf8(out).unwrap(),
            false => value.to_owned(),
        }
    }

    #[test]
    fn new_ids_keep_the_lexical_form() {
        let map =
            IdMap { decimal: Some(Shift::Add(1000)), hex: Some(Shift::Add(0x1000)), tag: Some(2) };
        for (old, new) in [
            ("7", "1007"),
            ("-7", "-1007"),
            ("0", "1000"),
            ("\"7\"", "\"1007\""),
            ("\"007\"", "\"001007\""),
            ("\"0x1f\"", "\"0x101f\""),
            ("\"0X00AB\"", "\"0X0010AB\""),
            ("\"0xaB\"", "\"0xaB#2\""),
            ("\"0x\"", "\"0x#2\""),
            ("\"a\\\"b\"", "\"a\\\"b#2\""),
            ("\"99999999999999999999\"", "\"99999999999999999999#2\""),
            ("99999999999999999999", "99999999999999999999"),
            ("\"\"", "\"\""),
            ("1.5", "1.5"),
            ("null", "null"),
            ("{}", "{}"),
        ] {
            assert_eq!(written(&map, old), new);
        }
    }

    #[test]
    fn only_colliding_ids_are_renamed() {
        let all = [
            ranges(&["1", "90", "\"0x7ffe00\"", "\"a\"", "\"c\""]),
            ranges(&["91", "\"0x8000000\"", "\"d#7\""]),
            ranges(&["90", "\"b\""]),
            ranges(&["\"0x5a\"", "\"c\""]),
        ];
        let mut space = Space::new(all.iter());
        assert_eq!(space.admit(&all[0]), IdMap::default());
        assert_eq!(space.admit(&all[1]), IdMap::default());
        let third = space.admit(&all[2]);
        assert_eq!((third.decimal, third.hex, third.tag), (Some(Shift::Add(100)), None, Some(8)));
        let fourth = space.admit(&all[3]);
        assert_eq!(fourth.tag, Some(9));
        assert_eq!(fourth.hex, Some(Shift::Add(0x100)));
    }

    #[test]
    fn widely_spread_hashes_are_xored() {
        let wide = ranges(&["\"0xffffffffffffffff\"", "\"0x1\""]);
        let mut space = Space::new([&wide].into_iter());
        assert_eq!(space.admit(&wide), IdMap::default());
        let (second, third) = (space.admit(&wide), space.admit(&wide));
        assert!(matches!(second.hex, Some(Shift::Mix(_))) && second != third);
        assert_ne!(written(&second, "\"0x1\""), written(&third, "\"0x1\""));
    }

    #[test]
    fn renamed_numbers_stay_exact_as_doubles() {
        let near = ranges(&["9007199254740991", "1"]);
        let mut space = Space::new([&near].into_iter());
        space.admit(&near);
        let map = space.admit(&near);
        let new: u64 = written(&map, "9007199254740991").parse().unwrap();
        assert!(new < DOUBLE, "{new}");
    }
}
