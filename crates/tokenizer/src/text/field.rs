//! Envelope keys of events, and recognition of the key before a colon.
//!
//! The scan knows the positions of colons, so it finds keys backwards: the sixteen bytes before a
//! colon contain any relevant key.
//!
//! ```text
//!   … , " p i d " :      a hash of the last four bytes (p i d ") selects the only possible key
//!       └───┬─────┘      eight bytes under a mask are compared with it
//!      ^ no backslash    otherwise the quote is inside a string
//! ```
//!
//! Other keys (with white space before the colon, or escapes) are extracted and compared, which is
//! rare. Cost: one lookup and two comparisons per colon, without a branch on the key.

use crate::text::swar::equal_bytes;
use crate::text::{string_start, trim_end, unescape};

/// Envelope keys of the Trace Event Format that the scan recognizes: kind, time, process and
/// identity of an event.
///
/// Source: the *Trace Event Format* document, and Chrome's output for `id2`, `bind_id` and `scope`.
/// The scan treats all keys as optional and does not check their values. Other keys (`tts`, `tdur`,
/// `s`, `cname` …) remain only in the event's bytes.
///
/// ```
/// use tracemill_tokenizer::Field;
///
/// assert_eq!(Field::ALL.map(Field::key)[..3], ["ph", "ts", "dur"]);
/// assert_eq!(Field::BindId.key(), "bind_id");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// `ph`: the phase, a string of one letter; see [`Event::phase`](crate::Event::phase).
    Ph,
    /// `ts`: microseconds of some clock with any number of decimals, as a number or a string.
    Ts,
    /// `dur`: duration of a complete event (`X`) in microseconds.
    Dur,
    /// `pid`: the process, as a number or, by some producers, a string.
    Pid,
    /// `tid`: the thread, unique within its process.
    Tid,
    /// `name`: name of the event; for metadata (`M`) its kind, such as `process_name`.
    Name,
    /// `cat`: comma-separated categories.
    Cat,
    /// `id` of async, flow, object and profile events: a number, or a string such as `"0x1f"`.
    /// Events of one id belong together.
    Id,
    /// `id2`: `{"local":…}` is unique within its process, `{"global":…}` everywhere.
    Id2,
    /// `bind_id`: the flow that a slice belongs to.
    BindId,
    /// `scope`: distinguishes equal ids of different producers.
    Scope,
    /// `args`: any value, usually an object. The scan does not look inside.
    Args,
}

impl Field {
    /// Number of fields.
    pub const COUNT: usize = 12;
    /// All fields, in numeric order.
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

    /// Returns the key.
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

/// The key before a colon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Field(Field),
    Other {
        /// Whether the key may be `traceEvents`.
        may_be_events: bool,
    },
}

/// Pattern of a key in the eight bytes before its colon.
#[derive(Clone, Copy)]
struct KeyPattern {
    /// Mask of the bytes that belong to the key and its quotes.
    mask: u64,
    /// Expected bytes under the mask.
    bytes: u64,
    field: Field,
    /// Bit position of the byte before the opening quote.
    front: u8,
}

impl KeyPattern {
    /// Value of [`KeyPattern::front`] if that byte is in the previous eight bytes.
    const BEFORE: u8 = 64;
}

/// Patterns by a hash of the last four bytes before the colon, which differ for all keys.
///
/// A lookup, because a chain of comparisons would be hard to predict.
const KEYS: [KeyPattern; 32] = {
    // an empty slot that nothing matches
    let mut table = [KeyPattern { mask: 0, bytes: 1, field: Field::Ph, front: 0 }; 32];
    let mut i = 0;
    while i < Field::COUNT {
        let key = Field::ALL[i].key().as_bytes();
        // from the closing quote, the highest byte of the word, downwards
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
        // of the eight bytes, all but these precede the front: a byte, the quote, the key, the
        // quote
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

/// Hash factor, found by trial: maps the keys to 32 slots without a collision.
const KEY_FACTOR: u32 = 0x18072E8D;

/// Returns the key whose colon is at `bytes[colon]`.
///
/// Checks the sixteen bytes before the colon. They contain any relevant key with its quotes, and
/// the byte before the opening quote. If that byte is a backslash, the quote opens no key. A
/// version without branches was slower.
#[inline(always)]
pub(crate) fn key_before(bytes: &[u8], colon: usize) -> Key {
    let first = || {
        // the first key of an event read alone, with nothing before it
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
        // an escape in the last letters would have been visible
        return Key::Other { may_be_events: (eight >> 32) as u32 == u32::from_le_bytes(*b"nts\"") };
    }
    key_slowly(bytes, colon)
}

#[inline(always)]
fn has_backslash(word: u64) -> bool {
    equal_bytes(word, b'\\') != 0
}

/// Recognizes keys with escapes or white space before the colon.
#[cold]
#[inline(never)]
fn key_slowly(bytes: &[u8], colon: usize) -> Key {
    let mut plain = Vec::new();
    // the longest name is `bind_id`, and an escape takes at most six bytes
    if let Some(text) = key_text(bytes, colon).filter(|text| text.len() <= 7 * 6) {
        unescape(text, &mut plain);
    }
    Field::named(&plain).map_or(Key::Other { may_be_events: true }, Key::Field)
}

/// Returns the content of the key whose colon is at `bytes[colon]`, still escaped.
pub(crate) fn key_text(bytes: &[u8], colon: usize) -> Option<&[u8]> {
    let (open, close) = key_quotes(bytes, colon)?;
    Some(&bytes[open + 1..close])
}

/// Returns the offsets of the quotes of the key whose colon is at `bytes[colon]`.
pub(crate) fn key_quotes(bytes: &[u8], colon: usize) -> Option<(usize, usize)> {
    let close = trim_end(bytes, colon).checked_sub(1)?;
    if bytes[close] != b'"' {
        return None;
    }
    Some((string_start(bytes, close)?, close))
}
