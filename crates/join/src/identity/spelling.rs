//! Ids as they are written, and new ones written alike: a number stays a number, `"0x1f"` stays hexadecimal.
//!
//! | written | kept | changed |
//! |---|---|---|
//! | `17`, `"17"`, `-17`, `"017"` | quotes, sign, leading zeros | a multiple of a power of ten is added: the digits stay |
//! | `"0x1f"`, `"0X1F"`, `"0x001f"` | prefix, case, leading zeros | a multiple of a power of sixteen is added |
//! | `"task-7"`, `"0xaB"` | the text | `#2` is put behind it |
//! | `""`, `1.5`, `null`, `{}` | all of it | never changed |
//!
//! Where the numbers of an input are spread so widely that there is no room to add anything (hashes of 64 bits), their
//! bits are mixed with a constant instead. Different ids stay different in every case.

use std::borrow::Cow;
use tracemill_tokenizer::parse;
use tracemill_trace::json::push_integer;

/// Up to here all integers are different as doubles, which is how viewers read them.
const DOUBLE: u64 = (1 << 53) - 1;

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IdLiteral<'v> {
    /// Between `before` and `after`: zeros, then the digits of `value`.
    Number { before: &'v [u8], zeros: usize, value: u64, hex: bool, upper: bool, quoted: bool },
    /// The inside of a string, as it is escaped.
    Text(&'v [u8]),
    /// Nothing that names anything.
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
        // of zeros alone the last one is the number
        let last = digits.len().checked_sub(1)?;
        let zeros = digits[..last].iter().take_while(|&&digit| digit == b'0').count();
        // `012` is no JSON; of `0xaB` nobody knows how to write another
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

/// Appends a hexadecimal number. An event in two may have one, and what formats any value takes longer than all else that is
/// done about an id.
fn push_hex(value: u64, upper: bool, out: &mut Vec<u8>) {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let count = (u64::BITS - value.leading_zeros()).div_ceil(4).max(1);
    out.extend((0..count).rev().map(|place| digits[(value >> (4 * place)) as usize % 16]));
}

/// How the numbers of one spelling change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    /// This is added.
    Add(u64),
    /// These bits are turned over.
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

/// New ids for those of one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdMap {
    pub(crate) decimal: Option<Shift>,
    pub(crate) hex: Option<Shift>,
    /// What is put behind texts: `#` and this number.
    pub(crate) tag: Option<u64>,
}

impl IdMap {
    /// Appends the id that takes the place of `value`; false, and nothing is appended, if it stays.
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

/// A closed range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NumberRange {
    low: u64,
    high: u64,
}

/// A first and a last text.
type TextRange = (Box<[u8]>, Box<[u8]>);

/// Which ids an input has: ranges by magnitude, so that memory does not grow with their number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdRanges {
    /// By class, which are few: least and greatest.
    numbers: Vec<(NumberClass, NumberRange)>,
    /// The first and the last text in the order of their bytes.
    texts: Option<TextRange>,
    /// The greatest number behind a `#` at the end of a text.
    tag: u64,
}

impl Default for IdRanges {
    fn default() -> Self {
        IdRanges { numbers: Vec::new(), texts: None, tag: 1 }
    }
}

/// Numbers of one spelling (hexadecimal or decimal) and number of bits.
type NumberClass = (bool, u32);

impl IdRanges {
    /// Counts a value in.
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
        match self.numbers.binary_search_by_key(&class, |&(class, _)| class) {
            Ok(at) => {
                let (_, known) = &mut self.numbers[at];
                known.low = known.low.min(range.low);
                known.high = known.high.max(range.high);
            }
            Err(at) => self.numbers.insert(at, (class, range)),
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

    /// Takes over what another part of the same recording has.
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
        let own = self.numbers.iter().filter(|((number, _), _)| *number == hex);
        own.map(|(_, range)| range.high).max()
    }
}

/// Takes over what another part of the same recording has: of ids, and of each `--args-key`.
pub(super) fn append_each(own: &mut Vec<IdRanges>, more: &[IdRanges]) {
    let missing = more.len().saturating_sub(own.len());
    // there may be thousands of lists, most of one
    own.reserve_exact(missing);
    own.resize_with(own.len() + missing, IdRanges::default);
    own.iter_mut().zip(more).for_each(|(own, more)| own.append(more));
}

/// The number behind the last `#` of a text, if it is one.
fn tag_of(content: &[u8]) -> u64 {
    let at = content.iter().rposition(|&byte| byte == b'#');
    let number = at.and_then(|at| parse(&content[at + 1..]));
    number.unwrap_or(0)
}

/// All ids of the output.
#[derive(Debug, Default)]
pub(crate) struct Space {
    /// Ascending, apart from each other.
    taken: Vec<NumberRange>,
    texts: Vec<(Vec<u8>, Vec<u8>)>,
    /// The greatest tag in any input, or given out.
    tag: u64,
    /// Constants given out.
    mixed: u64,
}

impl Space {
    /// For inputs with these ids.
    pub(super) fn new<'c>(all: impl Iterator<Item = &'c IdRanges>) -> Self {
        let tag = all.map(|ranges| ranges.tag).max().unwrap_or(1).max(1);
        Space { tag, ..Space::default() }
    }

    /// Lets the ids of one more recording in: as they are if none of them can be there already, else new ones.
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
            // a tag makes texts greater, but none as great as the next one that could be
            let end = [&**last, b"\xff"].concat();
            self.texts.push((first.to_vec(), end));
        }
        map
    }

    /// Lets ids in as they are, whatever is there.
    pub(super) fn hold(&mut self, ranges: &IdRanges) {
        ranges.ranges().for_each(|range| self.take(range));
        if let Some((first, last)) = &ranges.texts {
            self.texts.push((first.to_vec(), last.to_vec()));
        }
    }

    /// Whether any of these ids may be there already.
    pub(super) fn overlaps(&self, ranges: &IdRanges) -> bool {
        ranges.ranges().any(|range| self.meets(range)) || self.has_texts_among(ranges)
    }

    fn has_texts_among(&self, ranges: &IdRanges) -> bool {
        let Some((first, last)) = &ranges.texts else { return false };
        self.texts.iter().any(|(a, b)| **last >= **a && **b >= **first)
    }

    /// A shift for numbers up to `greatest` to where there are none; the place is taken then.
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
        // the constant of Fibonacci hashing: its multiples are far apart from each other
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

/// The inside of a string that is `content` with a number behind it; for pids that are names.
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
    fn new_ids_are_written_like_the_old() {
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
    fn only_what_may_be_there_already_is_renamed() {
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
    fn hashes_are_mixed() {
        let wide = ranges(&["\"0xffffffffffffffff\"", "\"0x1\""]);
        let mut space = Space::new([&wide].into_iter());
        assert_eq!(space.admit(&wide), IdMap::default());
        let (second, third) = (space.admit(&wide), space.admit(&wide));
        assert!(matches!(second.hex, Some(Shift::Mix(_))) && second != third);
        assert_ne!(written(&second, "\"0x1\""), written(&third, "\"0x1\""));
    }

    #[test]
    fn doubles_stay_exact() {
        let near = ranges(&["9007199254740991", "1"]);
        let mut space = Space::new([&near].into_iter());
        space.admit(&near);
        let map = space.admit(&near);
        let new: u64 = written(&map, "9007199254740991").parse().unwrap();
        assert!(new < DOUBLE, "{new}");
    }
}
