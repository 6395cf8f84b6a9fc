//! One trace event: its bytes and where its envelope fields stand in them.
//!
//! The scan only notes where each field's value begins; nothing is decoded before it is asked for. Of duplicate keys
//! the last one counts, as `JSON.parse` has it; the bytes keep all of them.

use crate::number::{Nanos, nanos, number_text};
use crate::swar::equal_bytes;
use crate::text::{skip_space, string_is, string_start, trim_end, unescape};
use crate::value::{field_end, value_end};

/// The envelope keys of the Trace Event Format that the scan looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// `ph`: the phase.
    Ph,
    /// `ts`: microseconds.
    Ts,
    /// `dur`: microseconds.
    Dur,
    /// `pid`: process.
    Pid,
    /// `tid`: thread.
    Tid,
    /// `name`
    Name,
    /// `cat`: comma-separated categories.
    Cat,
    /// `id` of async, flow, object and profile events.
    Id,
    /// `id2`: `{"local":…}` or `{"global":…}`.
    Id2,
    /// `bind_id` of flows.
    BindId,
    /// `scope` of ids.
    Scope,
    /// `args`
    Args,
}

impl Field {
    /// How many there are.
    pub const COUNT: usize = 12;
    /// All of them, in the order of their numbers.
    pub const ALL: [Field; Field::COUNT] = [
        Field::Ph,
        Field::Ts,
        Field::Dur,
        Field::Pid,
        Field::Tid,
        Field::Name,
        Field::Cat,
        Field::Id,
        Field::Id2,
        Field::BindId,
        Field::Scope,
        Field::Args,
    ];

    /// The key as it is written.
    pub const fn key(self) -> &'static str {
        match self {
            Field::Ph => "ph",
            Field::Ts => "ts",
            Field::Dur => "dur",
            Field::Pid => "pid",
            Field::Tid => "tid",
            Field::Name => "name",
            Field::Cat => "cat",
            Field::Id => "id",
            Field::Id2 => "id2",
            Field::BindId => "bind_id",
            Field::Scope => "scope",
            Field::Args => "args",
        }
    }

    pub(crate) const fn bit(self) -> u16 {
        1 << self as u16
    }

    fn named(key: &[u8]) -> Option<Field> {
        Field::ALL.into_iter().find(|field| field.key().as_bytes() == key)
    }
}

/// An event as it stands in the input.
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
    /// From `{` to `}`.
    pub bytes: &'w [u8],
    /// Where `bytes` begins in the input.
    pub offset: u64,
    seen: u16,
    /// Per field, one past its colon, as an offset in the input; meaningful where `seen` has its bit.
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

    /// The same event, of which it is known that it is JSON.
    pub(crate) fn proved(self) -> Self {
        Event { proved: true, ..self }
    }

    /// Whether its bytes are known to be JSON in UTF-8. Of one that a scan found and did not prove
    /// ([`Scanner::prove`](crate::Scanner::prove)) nothing is known, nor of one without a scan.
    #[inline(always)]
    pub fn is_proved(&self) -> bool {
        self.proved
    }

    /// The value of a field as it is written, without white space around it; `None` if the key is missing.
    ///
    /// Cost: one look at the value's bytes.
    #[inline]
    pub fn field(&self, field: Field) -> Option<&'w [u8]> {
        let at = self.value_at(field)?;
        Some(&self.bytes[at..field_end(self.bytes, at)])
    }

    /// As [`Event::field`], but with all that follows in the event behind the value: for readers that find its end
    /// themselves. Cost: none.
    #[inline]
    pub fn field_and_rest(&self, field: Field) -> Option<&'w [u8]> {
        let at = self.value_at(field)?;
        Some(&self.bytes[at..])
    }

    #[inline(always)]
    fn value_at(&self, field: Field) -> Option<usize> {
        if self.seen & field.bit() == 0 {
            return None;
        }
        let at = (self.values[field as usize] - self.offset) as usize;
        Some(skip_space(self.bytes, at))
    }

    /// The time stamp; `None` if it is missing or no number.
    #[inline]
    pub fn ts(&self) -> Option<Nanos> {
        self.time(Field::Ts)
    }

    /// The duration; `None` if it is missing or no number.
    #[inline]
    pub fn dur(&self) -> Option<Nanos> {
        self.time(Field::Dur)
    }

    #[inline(always)]
    fn time(&self, field: Field) -> Option<Nanos> {
        let at = self.value_at(field)?;
        plain_integer(&self.bytes[at..]).or_else(|| time_of(&self.bytes[at..]))
    }

    /// Whether this is a metadata event (phase `M`).
    #[inline]
    pub fn is_metadata(&self) -> bool {
        self.is_string(Field::Ph, b"M")
    }

    /// The letter of the phase, however it is escaped; 0 if it is missing or anything but a string of one byte.
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

    /// Whether a field is the string `text`, however it is escaped.
    #[inline]
    pub fn is_string(&self, field: Field, text: &[u8]) -> bool {
        let Some(at) = self.value_at(field) else { return false };
        let Some((b'"', value)) = self.bytes[at..].split_first() else { return false };
        let same = value.iter().zip(text).take_while(|(a, b)| a == b).count();
        match value.get(same) {
            Some(b'"') => same == text.len(),
            // as far as it was compared it is plain: only here may an escape say the same
            Some(b'\\') => is_escaped_string(&self.bytes[at..], text),
            _ => false,
        }
    }
}

/// An integer of at most 15 digits and the delimiter after it: nine of ten time stamps.
#[inline(always)]
fn plain_integer(value: &[u8]) -> Option<Nanos> {
    let mut number = 0i64;
    for (i, &byte) in value.iter().take(16).enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let plain = i > 0 && (byte == b',' || byte == b'}') && (i == 1 || value[0] != b'0');
            return plain.then_some(Nanos { floor: number * 1000, exact: true });
        }
        number = number * 10 + i64::from(digit);
    }
    None
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

/// What stands before a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Field(Field),
    Other {
        /// Whether it may be `traceEvents`.
        may_be_events: bool,
    },
}

/// A key as the last eight bytes before its colon show it.
#[derive(Clone, Copy)]
struct KeyPattern {
    mask: u64,
    bytes: u64,
    field: Field,
    /// Where in those eight bytes its opening quote stands, with the byte before it, in bits.
    front: u8,
}

impl KeyPattern {
    /// In place of [`KeyPattern::front`]: in the bytes before those.
    const BEFORE: u8 = 64;
}

/// Keys by a hash of the last four bytes before the colon, which are different for all of them.
///
/// A look-up instead of a chain of comparisons: which key comes next is hard for a branch predictor to tell.
const KEYS: [KeyPattern; 32] = {
    // a slot that nothing can match
    let mut table = [KeyPattern { mask: 0, bytes: 1, field: Field::Ph, front: 0 }; 32];
    let mut i = 0;
    while i < Field::COUNT {
        let key = Field::ALL[i].key().as_bytes();
        // from the closing quote, which is the highest byte of the word, downwards
        let (mut bytes, mut mask) = ((b'"' as u64) << 56, 0xFF << 56);
        let mut taken = 0;
        while taken <= key.len() && taken < 7 {
            let byte = if taken < key.len() { key[key.len() - 1 - taken] } else { b'"' };
            bytes |= (byte as u64) << (48 - 8 * taken);
            mask |= 0xFF << (48 - 8 * taken);
            taken += 1;
        }
        let slot = key_slot(bytes);
        assert!(table[slot].mask == 0, "two keys share a slot: choose another factor");
        // of the eight bytes these are not the front: a byte, the quote, the key, the quote
        let front = match key.len() {
            ..=5 => 8 * (8 - 3 - key.len()) as u8,
            7 => KeyPattern::BEFORE,
            _ => panic!(
                "a key of six letters has its opening quote in one word and what is before in the other"
            ),
        };
        table[slot] = KeyPattern { mask, bytes, field: Field::ALL[i], front };
        i += 1;
    }
    table
};

const fn key_slot(eight: u64) -> usize {
    (((eight >> 32) as u32).wrapping_mul(KEY_FACTOR) >> 27) as usize
}

/// Found by trial: spreads the keys over 32 slots without a collision.
const KEY_FACTOR: u32 = 0x18072E8D;

/// The key whose colon is at `bytes[colon]`.
///
/// Looks backwards at the sixteen bytes before the colon: they hold all of any key that matters, with the quotes and a
/// byte before them, which is no backslash if the quote is the opening one. Tried and slower: the same without branches.
#[inline(always)]
pub(crate) fn key_before(bytes: &[u8], colon: usize) -> Key {
    let first = || {
        // the first key of an event that is read alone, with nothing before it
        let mut tail = [0; 16];
        tail[16 - colon..].copy_from_slice(&bytes[..colon]);
        tail
    };
    let tail = colon.checked_sub(16).and_then(|from| bytes[from..].first_chunk::<16>());
    let tail = tail.copied().unwrap_or_else(first);
    let halves = tail.as_chunks::<8>().0;
    let (before, eight) = (u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]));
    let pattern = &KEYS[key_slot(eight)];
    if eight & pattern.mask == pattern.bytes {
        let front = match pattern.front {
            // the pattern has no room for the opening quote
            KeyPattern::BEFORE if (before >> 56) as u8 != b'"' => b'\\',
            KeyPattern::BEFORE => (before >> 48) as u8,
            within => (eight >> (within % 64)) as u8,
        };
        if front != b'\\' {
            return Key::Field(pattern.field);
        }
    }
    if eight >> 56 == u64::from(b'"') && !has_backslash(eight) && !has_backslash(before) {
        // an escape in the last letters would have shown
        return Key::Other { may_be_events: (eight >> 32) as u32 == u32::from_le_bytes(*b"nts\"") };
    }
    key_slowly(bytes, colon)
}

/// Whether any byte of a word is a backslash.
#[inline(always)]
fn has_backslash(word: u64) -> bool {
    equal_bytes(word, b'\\') != 0
}

/// Any key: white space before the colon, escapes in the key.
#[cold]
#[inline(never)]
fn key_slowly(bytes: &[u8], colon: usize) -> Key {
    let mut plain = Vec::new();
    // no name is longer than `bind_id`, and an escape takes at most six bytes
    if let Some(text) = key_text(bytes, colon).filter(|text| text.len() <= 7 * 6) {
        unescape(text, &mut plain);
    }
    Field::named(&plain).map_or(Key::Other { may_be_events: true }, Key::Field)
}

/// The inside of the key whose colon is at `bytes[colon]`, still escaped.
pub(crate) fn key_text(bytes: &[u8], colon: usize) -> Option<&[u8]> {
    let (open, close) = key_quotes(bytes, colon)?;
    Some(&bytes[open + 1..close])
}

/// The quotes of the key whose colon is at `bytes[colon]`.
pub(crate) fn key_quotes(bytes: &[u8], colon: usize) -> Option<(usize, usize)> {
    let close = trim_end(bytes, colon).checked_sub(1)?;
    if bytes[close] != b'"' {
        return None;
    }
    Some((string_start(bytes, close)?, close))
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
    fn every_key_after_every_other_and_far_from_the_start() {
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
    fn escaped_keys_are_what_they_say() {
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
    fn the_last_duplicate_counts_and_nested_keys_do_not() {
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
    fn phases_are_one_letter_however_they_are_escaped() {
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
