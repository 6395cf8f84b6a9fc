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
use crate::order::{EXACT, Entry};
use crate::profile::push_canonical;
use crate::store::Store;
use std::hash::{DefaultHasher, Hasher};
use tracemill_tokenizer::{Event, Field, fields_of};

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
    /// The part that an event is; `None` if it is none.
    pub(super) fn part(&mut self, event: &Event<'_>, entry: Entry) -> Option<Part> {
        let Phase::Part(kind, step) = Phase::of(event) else { return None };
        let key = self.of(event, kind);
        let name = if kind == Kind::Slice { self.name(event) } else { 0 };
        Some(Part { entry, key, name, kind, step })
    }

    /// As [`Keys::part`], of an event that is read again.
    pub(super) fn part_at(&mut self, entry: Entry, store: &Store<'_>) -> Option<Part> {
        let bytes = store.event(entry.place);
        self.part(&fields_of(bytes).of(bytes), entry)
    }

    /// The key of a part of something that lasts; `None` if it has no id and needs one.
    fn of(&mut self, event: &Event<'_>, kind: Kind) -> Option<[u64; 2]> {
        self.0.clear();
        self.0.push(kind as u8);
        let fields: &[Field] = match kind {
            Kind::Slice => &[Field::Pid, Field::Tid],
            Kind::Counter => &[Field::Pid, Field::Name],
            Kind::Async | Kind::Legacy | Kind::Flow => &[Field::Cat, Field::Name, Field::Scope],
        };
        for &field in fields {
            push_canonical(event.field(field), &mut self.0);
        }
        if kind != Kind::Slice && !self.push_id(event) && kind != Kind::Counter {
            return None;
        }
        let half = |salt: u8| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u8(salt);
            hasher.write(&self.0);
            hasher.finish()
        };
        Some([half(0), half(1)])
    }

    /// Appends the id; false if there is none.
    fn push_id(&mut self, event: &Event<'_>) -> bool {
        if let Some(id) = event.field(Field::Id) {
            push_canonical(Some(id), &mut self.0);
            return true;
        }
        let Some(id2) = event.field(Field::Id2) else { return false };
        if let Some(global) = member(id2, b"global") {
            push_canonical(Some(global), &mut self.0);
            return true;
        }
        let Some(local) = member(id2, b"local") else { return false };
        self.0.push(b'@');
        push_canonical(Some(local), &mut self.0);
        push_canonical(event.field(Field::Pid), &mut self.0);
        true
    }

    /// A number for a name; 0 if there is none.
    fn name(&mut self, event: &Event<'_>) -> u64 {
        let Some(name) = event.field(Field::Name) else { return 0 };
        self.0.clear();
        push_canonical(Some(name), &mut self.0);
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.0);
        hasher.finish().max(1)
    }
}

/// Whether the time of an event has digits below a nanosecond.
pub(super) fn has_rest(entry: Entry, store: &Store<'_>) -> bool {
    let bytes = store.event(entry.place);
    entry.place.rank() == EXACT && fields_of(bytes).of(bytes).ts().is_some_and(|ts| !ts.exact)
}
