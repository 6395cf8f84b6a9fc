//! One trace event: its bytes, and the positions of its envelope fields.
//!
//! The scan only records where each field's value begins; nothing is decoded until requested. The
//! last of duplicate keys counts, as in `JSON.parse`; the bytes contain all of them.
//!
//! ```text
//!   bytes    {"ph":"X", "ts": 1.5 ,"args":{…},"pid":7}
//!   values         ^         ^          ^          ^       offsets after the colons
//!   seen     one bit per field: whether its offset is valid
//! ```
//!
//! So an event needs no allocation and is cheap to copy. An event borrows its bytes from the input
//! window and its offsets from the scanner.

use crate::grammar::value::{value_at, value_end};
use crate::text::field::Field;
use crate::text::number::{Nanos, nanos, number_text};
use crate::text::swar::{digits, eight_digits, first};
use crate::text::{skip_space, string_is, unescape};

/// A trace event in the input.
///
/// ```
/// use tracemill_tokenizer::{Field, visit_event};
///
/// let text = br#"{"ph":"X","ts":1.5,"dur":2,"pid":7,"name":"a\u0062"}"#;
/// visit_event(text, 0, |event| {
///     assert_eq!((event.phase(), event.ts().map(|ts| ts.floor)), (b'X', Some(1_500))); // nanoseconds
///     assert_eq!((event.field(Field::Pid), event.field(Field::Tid)), (Some(&b"7"[..]), None));
///     assert!(event.is_string(Field::Name, b"ab"));
/// });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Event<'w> {
    /// Bytes from `{` to `}`.
    pub bytes: &'w [u8],
    /// Offset of `bytes` in the input.
    pub offset: u64,
    /// One bit per field: whether the event has its key.
    seen: u16,
    /// Per field, the input offset just after its colon; valid only if `seen` has its bit.
    values: &'w [u64; Field::COUNT],
    proved: bool,
}

impl<'w> Event<'w> {
    pub(crate) fn new(
        bytes: &'w [u8],
        offset: u64,
        seen: u16,
        values: &'w [u64; Field::COUNT],
    ) -> Self {
        Event { bytes, offset, seen, values, proved: false }
    }

    /// Marks the event as proved to be JSON.
    pub(crate) fn proved(self) -> Self {
        Event { proved: true, ..self }
    }

    /// Returns whether the bytes are known to be JSON in UTF-8. Returns false for events that a
    /// scan did not prove ([`Scanner::prove`](crate::Scanner::prove)), and for events found without
    /// a scan.
    #[inline(always)]
    pub fn is_proved(&self) -> bool {
        self.proved
    }

    /// Returns whether the event has the key of a field.
    #[inline(always)]
    pub fn has(&self, field: Field) -> bool {
        self.seen & field.bit() != 0
    }

    /// Returns the raw value of a field, without surrounding white space. Returns `None` if the key
    /// is missing.
    ///
    /// Cost: one pass over the value.
    #[inline]
    pub fn field(&self, field: Field) -> Option<&'w [u8]> {
        let at = self.value_at(field)?;
        Some(value_at(self.bytes, at))
    }

    /// Returns the bytes from the value of a field to the end of the event, or `None` if the key is
    /// missing. Callers find the end of the value themselves. Cost: none.
    #[inline]
    pub fn field_and_rest(&self, field: Field) -> Option<&'w [u8]> {
        let at = self.value_at(field)?;
        Some(&self.bytes[at..])
    }

    #[inline(always)]
    fn value_at(&self, field: Field) -> Option<usize> {
        if !self.has(field) {
            return None;
        }
        let at = (self.values[field as usize] - self.offset) as usize;
        Some(skip_space(self.bytes, at))
    }

    /// Returns the time stamp, `ts`, converted from microseconds to nanoseconds. Returns `None` if
    /// it is missing or not a number. A string that contains a number counts. Cost: a few ns per
    /// call; the result is not cached.
    #[inline]
    pub fn ts(&self) -> Option<Nanos> {
        self.time(Field::Ts)
    }

    /// Returns the duration, `dur`, in nanoseconds, by the rules of [`Event::ts`]. The duration is
    /// negative if the producer's clock ran backwards.
    #[inline]
    pub fn dur(&self) -> Option<Nanos> {
        self.time(Field::Dur)
    }

    #[inline(always)]
    fn time(&self, field: Field) -> Option<Nanos> {
        let at = self.value_at(field)?;
        plain_time(self.bytes, at).or_else(|| time_of(&self.bytes[at..]))
    }

    /// Returns whether this is a metadata event (phase `M`).
    #[inline]
    pub fn is_metadata(&self) -> bool {
        self.phase() == b'M'
    }

    /// Returns the phase letter, unescaped; 0 if it is missing or not a string of one byte.
    ///
    /// | letters | meaning (by the *Trace Event Format* document) |
    /// |---|---|
    /// | `X` | complete slice: `ts` and `dur` |
    /// | `B`, `E` | begin and end of a slice on one thread |
    /// | `i`, `I` | instant |
    /// | `C` | values of a counter |
    /// | `b`, `n`, `e` | begin, step and end of an async operation, by `id`; `S`, `T`, `p`, `F` in old traces |
    /// | `s`, `t`, `f` | begin, step and end of a flow between slices |
    /// | `N`, `O`, `D` | object created, snapshot, destroyed |
    /// | `M` | metadata: names of processes and threads |
    /// | `P` | sample; Chrome's chunks of CPU profiles |
    /// | `R`, `c`, `V`, `v`, `(`, `)` | marks, clock syncs, memory dumps, contexts |
    #[inline]
    pub fn phase(&self) -> u8 {
        match self.field_and_rest(Field::Ph) {
            Some([b'"', b'\\', ..]) => self.escaped_phase(),
            Some([b'"', letter, b'"', ..]) => *letter,
            _ => 0,
        }
    }

    #[cold]
    fn escaped_phase(&self) -> u8 {
        let Some([b'"', content @ .., b'"']) = self.field(Field::Ph) else { return 0 };
        let mut plain = Vec::new();
        unescape(content, &mut plain);
        if let [letter] = plain[..] { letter } else { 0 }
    }

    /// Returns whether a field is the string `text`, regardless of escapes. Cost: a comparison up
    /// to the first difference; allocates only if there is an escape at that point.
    #[inline]
    pub fn is_string(&self, field: Field, text: &[u8]) -> bool {
        let Some(at) = self.value_at(field) else { return false };
        let Some((b'"', value)) = self.bytes[at..].split_first() else { return false };
        let same = value.iter().zip(text).take_while(|(a, b)| a == b).count();
        match value.get(same) {
            Some(b'"') => same == text.len(),
            // everything before matched as plain text; only an escape here can still match
            Some(b'\\') => is_escaped_string(&self.bytes[at..], text),
            _ => false,
        }
    }
}

/// Parses the time at `bytes[at]` if it has at most 16 digits and 3 decimals, and a `,` or `}`
/// follows. Nearly all times have this form.
#[inline(always)]
fn plain_time(bytes: &[u8], at: usize) -> Option<Nanos> {
    /// Greatest number of microseconds whose nanoseconds certainly fit into [`Nanos`].
    const MOST: u64 = Nanos::MAX as u64 / 1000 - 1;
    let (low, high) = sixteen_bytes(bytes, at);
    let (values, others) = digits(low);
    let (count, number) = if others != 0 {
        let count = first(others);
        (count, number_of(values, count))
    } else {
        let (rest, others) = digits(high);
        let count = first(others);
        let number = eight_digits(values) * POWERS_OF_TEN[count];
        (8 + count, number + number_of(rest, count))
    };
    let has_one = count == 1 || count > 1 && bytes[at] != b'0';
    if !has_one || number > MOST {
        return None;
    }
    let floor = number as i64 * 1000;
    match bytes.get(at + count) {
        Some(b',' | b'}') => Some(Nanos { floor, exact: true }),
        Some(b'.') => {
            Some(Nanos { floor: floor + thousandths(bytes, at + count + 1)?, exact: true })
        }
        _ => None,
    }
}

/// Parses the 1 to 3 decimals at `bytes[at]` as thousandths, if a `,` or `}` follows.
#[inline]
fn thousandths(bytes: &[u8], at: usize) -> Option<i64> {
    let (word, _) = sixteen_bytes(bytes, at);
    let (values, others) = digits(word);
    let count = first(others);
    let is_plain = matches!(count, 1..=3) && matches!(bytes.get(at + count), Some(b',' | b'}'));
    is_plain.then(|| (number_of(values, count) * POWERS_OF_TEN[3 - count]) as i64)
}

/// Returns the number formed by the first `count` digits of a word, at most eight.
#[inline(always)]
fn number_of(values: u64, count: usize) -> u64 {
    // the shift drops other bytes and puts zeros before the digits
    eight_digits(values.checked_shl(64 - 8 * count as u32).unwrap_or(0))
}

/// Powers of ten by exponent.
const POWERS_OF_TEN: [u64; 9] =
    [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// Returns the sixteen bytes at `bytes[at]` as two words, padded with zeros.
#[inline(always)]
fn sixteen_bytes(bytes: &[u8], at: usize) -> (u64, u64) {
    let rest = &bytes[at..];
    let all = match (rest.first_chunk::<16>(), bytes.last_chunk::<16>()) {
        (Some(all), _) => u128::from_le_bytes(*all),
        // loads the last sixteen bytes and shifts, because a copy would cost more
        (None, Some(last)) => {
            u128::from_le_bytes(*last).checked_shr(8 * (16 - rest.len() as u32)).unwrap_or(0)
        }
        (None, None) => {
            let mut all = [0; 16];
            all[..rest.len()].copy_from_slice(rest);
            u128::from_le_bytes(all)
        }
    };
    (all as u64, (all >> 64) as u64)
}

#[inline(never)]
fn time_of(value: &[u8]) -> Option<Nanos> {
    let value = &value[..value_end(value, 0)];
    nanos(value).or_else(|| nanos(number_text(value, &mut Vec::new())?))
}

#[cold]
fn is_escaped_string(value: &[u8], text: &[u8]) -> bool {
    let value = &value[..value_end(value, 0)];
    string_is(value, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields_of;

    fn keys(event: &str) -> Vec<(String, String)> {
        let spans = fields_of(event.as_bytes());
        let event = spans.of(event.as_bytes());
        let value = |field| event.field(field).map(|v| String::from_utf8_lossy(v).into_owned());
        Field::ALL.into_iter().filter_map(|f| Some((f.key().into(), value(f)?))).collect()
    }

    #[test]
    fn finds_every_key_after_every_other_key() {
        for field in Field::ALL {
            for other in ["s", "tss", "xts", "x_id", "aname", "bid", "tdur", "\\\"ts", "ame", ""] {
                let event = format!("{{\"{other}\":\"some long value\",\"{}\" :\t5}}", field.key());
                assert_eq!(keys(&event), [(field.key().into(), "5".into())], "{event}");
                let event = format!("{{\"{}\":[5],\"{other}\":\"some long value\"}}", field.key());
                assert_eq!(keys(&event), [(field.key().into(), "[5]".into())], "{event}");
            }
        }
    }

    #[test]
    fn escaped_keys_are_recognized() {
        for field in Field::ALL {
            for escaped in 0..field.key().len() {
                let key: String = field.key().char_indices().fold(String::new(), |key, (i, c)| {
                    if i == escaped {
                        format!("{key}\\u{:04x}", u32::from(c))
                    } else {
                        key + &c.to_string()
                    }
                });
                let event = format!("{{\"some other key\":\"v\",\"{key}\":7}}");
                assert_eq!(keys(&event), [(field.key().into(), "7".into())], "{event}");
            }
        }
        assert_eq!(keys(r#"{"some other key":1,"\\ts":1,"\"ts":2,"x\\\"ts":3}"#), []);
    }

    #[test]
    fn last_duplicate_counts_and_nested_keys_do_not() {
        let event = r#"{"ts":1,"args":{"ts":2,"a":[{"ts":3}]},"ts":4,"pid":9}"#;
        let found = keys(event);
        assert_eq!(found[0], ("ts".into(), "4".into()));
        assert_eq!(found[1], ("pid".into(), "9".into()));
    }

    #[test]
    fn times() {
        let ts = |value: &str| {
            let event = format!("{{\"ts\":{value}}}");
            fields_of(event.as_bytes()).of(event.as_bytes()).ts().map(|t| t.floor)
        };
        assert_eq!(ts("12"), Some(12_000));
        assert_eq!(ts("0"), Some(0));
        assert_eq!(ts(" 12 "), Some(12_000));
        assert_eq!(ts("-1.5"), Some(-1500));
        assert_eq!(ts("\"12.25\""), Some(12_250));
        assert_eq!(ts("012"), None);
        assert_eq!(ts("null"), None);
        assert_eq!(ts("123456789012345678"), Some(Nanos::MAX));
        assert_eq!(ts("[1]"), None);
    }

    /// Covers numbers of every length and number of decimals: at the end of an event, before its
    /// end, and in a short event.
    #[test]
    fn fast_times_equal_parsed_numbers() {
        let numbers = [
            "9",
            "98",
            "987654321012345678",
            "000000000000000000",
            "9223372036854775807",
            "1000000000000000000",
        ];
        let tails = ["", " ", ",\"a\":1", ",\"tdur\":123456789", "x", "e2", "."];
        let mut exact = 0;
        for number in numbers {
            for (len, tail) in (0..=number.len()).flat_map(|len| tails.map(|tail| (len, tail))) {
                for decimals in ["", ".0", ".5", ".25", ".125", ".1250", ".000000001", ".x", ".1x"]
                {
                    let text = format!("{{\"ts\":{}{decimals}{tail}}}", &number[..len]);
                    let event = fields_of(text.as_bytes());
                    let event = event.of(text.as_bytes());
                    let value = event.field(Field::Ts).unwrap_or_default();
                    assert_eq!(event.ts(), nanos(value), "{text}");
                    exact += usize::from(event.ts().is_some_and(|time| time.exact));
                }
            }
        }
        assert!(exact > 1000, "{exact}");
    }

    #[test]
    fn strings_compare_unescaped() {
        let event = br#"{"ph":"M","name":"Profile\u0043hunk"}"#;
        let spans = fields_of(event);
        assert!(spans.of(event).is_metadata());
        assert_eq!(spans.of(event).phase(), b'M');
        assert!(spans.of(event).is_string(Field::Name, b"ProfileChunk"));
        assert!(!spans.of(event).is_string(Field::Name, b"Profile"));
        assert!(!spans.of(event).is_string(Field::Cat, b""));
    }

    #[test]
    fn phase_is_one_letter_regardless_of_escapes() {
        let phase = |text: &str| {
            let event = format!("{{\"ph\":{text},\"x\":1}}");
            fields_of(event.as_bytes()).of(event.as_bytes()).phase()
        };
        for (text, letter) in [(r#""b""#, b'b'), (r#""\u0062""#, b'b'), (r#""\"""#, b'"')] {
            assert_eq!(phase(text), letter, "{text}");
        }
        for text in ["5", "null", r#""""#, r#""BE""#, r#""\u0062\u0065""#, r#""\u00e4""#] {
            assert_eq!(phase(text), 0, "{text}");
        }
        assert_eq!(fields_of(b"{}").of(b"{}").phase(), 0);
    }
}
