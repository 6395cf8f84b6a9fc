//! The envelope keys of events, and which of them stands before a colon.
//!
//! The scan knows where colons are, so it finds keys backwards: the sixteen bytes before a colon hold any key that matters.
//!
//! ```text
//!   … , " p i d " :      the last four bytes (p i d "), hashed, name the only key that it may be
//!       └───┬─────┘      eight bytes under a mask tell whether it is that one
//!      ^ no backslash    else the quote would be one inside a string
//! ```
//!
//! Anything else (white space before the colon, an escape in the key) is cut out and compared, which is rare. Cost: a look-up and two comparisons a colon,
//! without a branch that depends on which key it is.

use crate::text::swar::equal_bytes;
use crate::text::{string_start, trim_end, unescape};

/// The envelope keys of the Trace Event Format that the scan looks for: those that say what an event is, when, where and of whom.
///
/// Source: the *Trace Event Format* document, and for `id2`, `bind_id` and `scope` what Chrome writes. All are optional as far as the scan is
/// concerned; what a value must be is up to who asks for it. Other keys (`tts`, `tdur`, `s`, `cname` …) stay in the event's bytes.
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
    /// `ph`: the phase, a string of one letter. See [`Event::phase`](crate::Event::phase) for what they mean.
    Ph,
    /// `ts`: microseconds of some clock, with any number of decimals; a number, or a string with one.
    Ts,
    /// `dur`: microseconds that a complete event (`X`) takes.
    Dur,
    /// `pid`: the process; a number, or a string in traces of some producers.
    Pid,
    /// `tid`: the thread, which means something within its process only.
    Tid,
    /// `name`: what it is called. Of metadata (`M`) it says what is told: `process_name`, `thread_name` …
    Name,
    /// `cat`: comma-separated categories.
    Cat,
    /// `id` of async, flow, object and profile events: a number, or a string such as `"0x1f"`. What is of one id belongs together.
    Id,
    /// `id2`: `{"local":…}`, an id within its process, or `{"global":…}`, one of all.
    Id2,
    /// `bind_id`: the flow that a slice is part of.
    BindId,
    /// `scope`: what tells equal ids of different producers apart.
    Scope,
    /// `args`: anything; an object as a rule. The scan does not look into it.
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
    /// Which of the eight bytes before the colon are of the key and its quotes.
    mask: u64,
    /// What those are.
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
