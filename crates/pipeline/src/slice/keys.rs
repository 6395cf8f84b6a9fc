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

use super::kinds::{Kind, Phase, Step};
use super::splice::member;
use crate::check::{mix, whole};
use crate::order::{EXACT, Entry};
use crate::store::Store;
use tracemill_tokenizer::{Event, Field, canonical, fields_of, unescape};

/// A part of something that lasts, with all that pairing asks.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) entry: Entry,
    /// `None` if it has no id and needs one.
    key: Option<[u64; 2]>,
    /// Of its name; 0 if there is none, or the key has it.
    pub(super) name: u64,
    pub(super) kind: Kind,
    pub(super) step: Step,
}

impl Part {
    /// What it belongs to.
    pub(super) fn key(&self) -> Option<u128> {
        self.key.map(|[high, low]| u128::from(high) << 64 | u128::from(low))
    }
}

/// Makes keys.
#[derive(Default)]
pub(super) struct Keys(Vec<u8>);

impl Keys {
    /// The part that an event is.
    #[inline]
    pub(super) fn part(
        &mut self,
        event: &Event<'_>,
        entry: Entry,
        kind: Kind,
        step: Step,
    ) -> Part {
        let key = self.of(event, kind);
        let name = if kind == Kind::Slice { self.name(event) } else { 0 };
        Part { entry, key, name, kind, step }
    }

    /// As [`Keys::part`], of an event that is read again; `None` if it is none.
    pub(super) fn part_at(&mut self, entry: Entry, store: &Store<'_>) -> Option<Part> {
        let bytes = store.event(entry.place);
        let spans = fields_of(bytes);
        let event = spans.of(bytes);
        let Phase::Part(kind, step) = Phase::of(&event) else { return None };
        Some(self.part(&event, entry, kind, step))
    }

    /// The key of a part of something that lasts; `None` if it has no id and needs one.
    #[inline]
    fn of(&mut self, event: &Event<'_>, kind: Kind) -> Option<[u64; 2]> {
        let fields: &[Field] = match kind {
            Kind::Slice => &[Field::Pid, Field::Tid],
            Kind::Counter => &[Field::Pid, Field::Name],
            Kind::Async | Kind::Legacy | Kind::Flow => &[Field::Cat, Field::Name, Field::Scope],
        };
        let mut hash = Hash::new(kind as u8);
        for &field in fields {
            hash.value(event.field(field), &mut self.0);
        }
        let has_id = kind == Kind::Slice || self.id(event, &mut hash);
        (has_id || kind == Kind::Counter).then_some(hash.0)
    }

    /// Takes the id; false if there is none.
    #[inline]
    fn id(&mut self, event: &Event<'_>, hash: &mut Hash) -> bool {
        if let Some(id) = event.field(Field::Id) {
            hash.value(Some(id), &mut self.0);
            return true;
        }
        let Some(id2) = event.field(Field::Id2) else { return false };
        if let Some(global) = member(id2, b"global") {
            hash.value(Some(global), &mut self.0);
            return true;
        }
        let Some(local) = member(id2, b"local") else { return false };
        hash.bytes(b"", Type::Local);
        hash.value(Some(local), &mut self.0);
        hash.value(event.field(Field::Pid), &mut self.0);
        true
    }

    /// A number for a name; 0 if there is none.
    fn name(&mut self, event: &Event<'_>) -> u64 {
        let Some(name) = event.field(Field::Name) else { return 0 };
        let mut hash = Hash::new(0);
        hash.value(Some(name), &mut self.0);
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

/// A hash of 128 bits. It has no seed, so that answers do not differ from run to run (contract C4).
struct Hash([u64; 2]);

impl Hash {
    fn new(tag: u8) -> Self {
        Hash([u64::from(tag), u64::from(tag) << 32])
    }

    #[inline(always)]
    fn word(&mut self, word: u64) {
        let [a, b] = self.0;
        // the halves are independent: the second sees the words turned round
        self.0 = [mix(a, word), mix(b, !word.rotate_left(32))];
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8], of: Type) {
        self.word((bytes.len() as u64) << 8 | of as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.word(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
    }

    /// Takes a value, so that equal values of one type only are equal; a missing one is a value too.
    #[inline]
    fn value(&mut self, value: Option<&[u8]>, scratch: &mut Vec<u8>) {
        match value {
            Some([b'"', content @ .., b'"']) if !content.contains(&b'\\') => {
                self.bytes(content, Type::Text);
            }
            Some(digits @ [b'1'..=b'9', ..])
                if digits.len() <= 20 && digits.iter().all(u8::is_ascii_digit) =>
            {
                self.bytes(digits, Type::Integer);
            }
            Some(b"0") => self.bytes(b"0", Type::Integer),
            value => self.odd(value, scratch),
        }
    }

    #[cold]
    fn odd(&mut self, value: Option<&[u8]>, scratch: &mut Vec<u8>) {
        scratch.clear();
        match value {
            None => self.bytes(b"", Type::Missing),
            Some([b'"', content @ .., b'"']) => {
                unescape(content, scratch);
                self.bytes(scratch, Type::Text);
            }
            Some(value) if canonical(value, scratch) => match whole(scratch) {
                Some(digits) => self.bytes(&digits, Type::Integer),
                None => self.bytes(scratch, Type::Number),
            },
            Some(value) => self.bytes(value, Type::Other),
        }
    }
}

/// Whether the time of an event has digits below a nanosecond.
pub(super) fn has_rest(entry: Entry, store: &Store<'_>) -> bool {
    let bytes = store.event(entry.place);
    entry.place.rank() == EXACT && fields_of(bytes).of(bytes).ts().is_some_and(|ts| !ts.exact)
}
