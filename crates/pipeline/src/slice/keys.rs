//! Which events belong together: one number for each thread, async operation, flow and counter.
//!
//! | kind | what is equal |
//! |---|---|
//! | `B` `E` | pid, tid |
//! | `b` `e`, `S` `F`, `s` `t` `f` | cat, name, scope and id: `id`, else `id2.global`, else `id2.local` with pid |
//! | `C` | pid, name, id |
//!
//! Values are equal as JSON has it: types strict, escapes and spellings of numbers resolved. Ids without pid are those
//! of all processes, as in DevTools and Perfetto (devtools-semantics §8.3). Of a key only a hash of 128 bits is kept.

use super::kinds::{Kind, Step};
use crate::check::whole;
use crate::key_hash::KeyHash;
use std::cmp::Ordering;
use tracemill_core::entry::{EXACT, Entry};
use tracemill_core::json::member;
use tracemill_core::order::{Keyed, Order};
use tracemill_core::pairing::is_named;
use tracemill_core::spill::{Record, word};
use tracemill_core::store::Store;
use tracemill_tokenizer::swar::{equal_bytes, first};
use tracemill_tokenizer::{Event, Field, canonical, fields_of, unescape};

/// A part of something that lasts, with all that pairing asks.
#[derive(Clone, Copy)]
pub(crate) struct PairEvent {
    pub(crate) entry: Entry,
    /// 0 if it has no id and needs one.
    key: [u64; 2],
    /// A hash of its name; 0 if it has none or an empty one, or if the key has the name.
    pub(crate) name: u64,
    pub(crate) kind: Kind,
    pub(crate) step: Step,
    /// The name is the number of its pair, whose other part is apart too.
    pub(crate) is_apart: bool,
}

/// Beside the step on disk: see [`PairEvent::is_apart`].
const APART: u8 = 0x80;

impl PairEvent {
    /// What it belongs to; 0 if it has no id and needs one.
    pub(crate) fn owner(&self) -> u128 {
        let [high, low] = self.key;
        u128::from(high) << 64 | u128::from(low)
    }
}

impl Record for PairEvent {
    const BYTES: usize = 42;

    fn encode(&self, bytes: &mut [u8]) {
        self.entry.encode(&mut bytes[..16]);
        for (offset, word) in [(16, self.key[0]), (24, self.key[1]), (32, self.name)] {
            bytes[offset..offset + 8].copy_from_slice(&word.to_le_bytes());
        }
        let apart = if self.is_apart { APART } else { 0 };
        bytes[40..].copy_from_slice(&[self.kind as u8, self.step as u8 | apart]);
    }

    fn decode(bytes: &[u8]) -> Self {
        PairEvent {
            entry: Entry::decode(&bytes[..16]),
            key: [word(bytes, 16), word(bytes, 24)],
            name: word(bytes, 32),
            kind: Kind::of_number(bytes[40]),
            step: Step::of_number(bytes[41] & !APART),
            is_apart: bytes[41] & APART != 0,
        }
    }
}

impl Keyed for PairEvent {
    /// What it belongs to, and its time.
    type Key = (u128, i64);

    fn key(&self) -> (u128, i64) {
        (self.owner(), self.entry.time)
    }

    /// In the order of the output.
    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        order.compare(&self.entry, &other.entry)
    }
}

/// Makes keys.
#[derive(Default)]
pub(crate) struct Keys(Vec<u8>);

impl Keys {
    /// The part that an event is.
    #[inline]
    pub(crate) fn part(
        &mut self,
        event: &Event<'_>,
        entry: Entry,
        kind: Kind,
        step: Step,
    ) -> PairEvent {
        let key = self.of(event, kind).unwrap_or_default();
        let name = if kind == Kind::Slice { self.name(event) } else { 0 };
        PairEvent { entry, key, name, kind, step, is_apart: false }
    }

    /// The key of a part of something that lasts; `None` if it has no id and needs one.
    #[inline]
    fn of(&mut self, event: &Event<'_>, kind: Kind) -> Option<[u64; 2]> {
        let fields: &[Field] = match kind {
            Kind::Slice => &[Field::Pid, Field::Tid],
            Kind::Counter => &[Field::Pid, Field::Name],
            Kind::Async | Kind::Legacy | Kind::Flow => &[Field::Cat, Field::Name, Field::Scope],
        };
        let mut hash = KeyHash::new(kind as u8);
        for &field in fields {
            hash.field(event, field, &mut self.0);
        }
        let has_id = kind == Kind::Slice || self.id(event, &mut hash);
        (has_id || kind == Kind::Counter).then_some(hash.0)
    }

    /// Takes the id; false if there is none.
    #[inline]
    fn id(&mut self, event: &Event<'_>, hash: &mut KeyHash) -> bool {
        if event.field_and_rest(Field::Id).is_some() {
            hash.field(event, Field::Id, &mut self.0);
            return true;
        }
        let Some(id2) = event.field(Field::Id2) else { return false };
        if let Some(global) = member(id2, b"global") {
            hash.value(global, &mut self.0);
            return true;
        }
        let Some(local) = member(id2, b"local") else { return false };
        hash.bytes(b"", Type::Local as u8);
        hash.value(local, &mut self.0);
        hash.field(event, Field::Pid, &mut self.0);
        true
    }

    /// A number for a name; 0 if pairing does not look at it.
    fn name(&mut self, event: &Event<'_>) -> u64 {
        if !is_named(event) {
            return 0;
        }
        let mut hash = KeyHash::new(0);
        hash.field(event, Field::Name, &mut self.0);
        hash.0[0].max(1)
    }
}

/// What some bytes of a key are.
#[derive(Clone, Copy)]
enum Type {
    Missing = 1,
    Text,
    Integer,
    Number,
    Other,
    Local,
}

/// Hashes of fields and values, made in one pass over strings.
impl KeyHash {
    /// As [`KeyHash::bytes`], of the content of a string up to its end; `None` if that is not plain to see.
    #[inline]
    fn string(mut self, content: &[u8]) -> Option<Self> {
        let mut len = 0;
        loop {
            let bytes: &[u8; 8] = content[len..].first_chunk()?;
            let word = u64::from_le_bytes(*bytes);
            let end = equal_bytes(word, b'"') | equal_bytes(word, b'\\');
            if end == 0 {
                self.word(word);
                len += 8;
                continue;
            }
            let rest = first(end);
            if bytes[rest] != b'"' {
                return None;
            }
            self.word(word & !(u64::MAX << (8 * rest)));
            self.word(((len + rest) as u64) << 8 | Type::Text as u64);
            return Some(self);
        }
    }

    fn integer(&mut self, number: u64) {
        self.word(number);
        self.word(Type::Integer as u64);
    }

    /// Takes a field, so that equal values of one type only are equal; a missing one is a value too.
    #[inline]
    fn field(&mut self, event: &Event<'_>, field: Field, scratch: &mut Vec<u8>) {
        match event.field_and_rest(field) {
            None => return self.bytes(b"", Type::Missing as u8),
            Some([b'"', content @ ..]) => {
                if let Some(hash) = self.string(content) {
                    *self = hash;
                    return;
                }
            }
            Some(digits @ [b'1'..=b'9', ..]) => {
                if let Some(number) = integer(digits) {
                    return self.integer(number);
                }
            }
            Some(_) => {}
        }
        self.value(event.field(field).unwrap_or_default(), scratch);
    }

    /// As [`KeyHash::field`], of any value.
    fn value(&mut self, value: &[u8], scratch: &mut Vec<u8>) {
        scratch.clear();
        match value {
            [b'"', content @ .., b'"'] => {
                unescape(content, scratch);
                self.bytes(scratch, Type::Text as u8);
            }
            value if canonical(value, scratch) => {
                let digits = whole(scratch);
                let text = digits.as_deref().and_then(|digits| std::str::from_utf8(digits).ok());
                match text.and_then(|digits| digits.parse().ok()) {
                    Some(number) => self.integer(number),
                    None => self.bytes(scratch, Type::Number as u8),
                }
            }
            value => self.bytes(value, Type::Other as u8),
        }
    }
}

/// A plain integer of at most 18 digits.
#[inline]
fn integer(digits: &[u8]) -> Option<u64> {
    let mut number = 0;
    for (len, &byte) in digits.iter().enumerate().take(19) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            let ends = len > 0 && matches!(byte, b',' | b'}');
            return ends.then_some(number);
        }
        number = number * 10 + u64::from(digit);
    }
    None
}

/// Whether the time of an event has digits below a nanosecond.
pub(crate) fn has_rest(entry: Entry, store: &Store<'_>) -> bool {
    let bytes = store.event(entry.place);
    entry.place.rank() == EXACT && fields_of(bytes).of(bytes).ts().is_some_and(|ts| !ts.exact)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_core::place::Place;

    /// The key of a counter with this id.
    fn key(id: &str) -> u128 {
        let event = format!("{{\"ph\":\"C\",\"name\":\"n\",\"pid\":7,\"id\":{id}}}");
        let spans = fields_of(event.as_bytes());
        let entry = Entry { time: 0, place: Place::new(0, event.len(), 0) };
        let event = spans.of(event.as_bytes());
        let part = Keys::default().part(&event, entry, Kind::Counter, Step::Middle);
        assert_ne!(part.owner(), 0, "a counter has a key");
        part.owner()
    }

    #[test]
    fn equal_values_of_one_type_have_one_key() {
        for (a, b) in [
            ("100", "1e2"),
            ("0", "-0.0"),
            ("-5", "-5.0"),
            ("1.5", "15e-1"),
            ("12345678901234567890", "1234567890123456789e1"),
            ("123456789012345678901", "12345678901234567890.1e1"),
            (r#""a""#, r#""\u0061""#),
            (r#""01234567""#, r#""\u00301234567""#),
        ] {
            assert_eq!(key(a), key(b), "{a} {b}");
        }
        let long = format!("\"{}\"", "a".repeat(64));
        let all = [
            "1",
            "\"1\"",
            "10",
            "-1",
            "0.1",
            "null",
            "\"\"",
            "\"a\"",
            "\"a\\u0000\"",
            "123456789",
            "12345678",
            "123456789012345678901",
            "true",
            &long,
            "\"aaaaaaaa\"",
            "\"aaaaaaaaa\"",
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| key(a) != key(b)), "{a}");
        }
    }
}
