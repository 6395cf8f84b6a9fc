//! Events of pairs, and the key that the events of one pair share. Each thread, async operation,
//! flow and counter has one key.
//!
//! | phases | equal fields |
//! |---|---|
//! | `B` `E` | pid, tid |
//! | `b` `e`, `S` `F`, `s` `t` `f` | cat, name, scope and id: `id`, else `id2.global`, else `id2.local` with pid |
//! | `C` | pid, name, id |
//!
//! Values are compared as in [`KeyHash`]. Ids without a pid are shared by all processes, as in
//! DevTools and Perfetto. Only a 128-bit hash of the key is stored.

use super::key_hash::{KeyHash, name_key};
use super::phase::{PairKind, PairStep};
use crate::event::pairing::Begins;
use crate::order::{Keyed, Order};
use crate::record;
use crate::store::entry::Entry;
use std::cmp::Ordering;
use tracemill_tokenizer::{Event, Field};

record! {
    /// An event of a pair, flow or counter, with everything that pairing needs.
    #[derive(Clone, Copy)]
    pub struct PairEvent {
        /// Time and place of the event.
        pub entry: Entry,
        /// Hash of the shared key; 0 if a required id is missing.
        key: [u64; 2],
        /// Hash of the name; 0 if the name is missing or empty, or if the key includes the name. If
        /// `is_apart`, the number of the pair.
        pub name: u64,
        /// Kind of the pair.
        pub kind: PairKind,
        /// Position of the event in the pair: begin, middle or end.
        pub step: PairStep,
        /// Whether the event is paired by number instead of by name.
        pub is_apart: bool,
    }
}

impl PairEvent {
    /// Creates the pair event of an event.
    #[inline]
    pub fn new(event: &Event<'_>, entry: Entry, kind: PairKind, step: PairStep) -> Self {
        let key = key_of(event, kind).unwrap_or_default();
        let name = if kind == PairKind::Slice { name_key(event) } else { 0 };
        PairEvent { entry, key, name, kind, step, is_apart: false }
    }

    /// Returns the key shared by all events of the pair; 0 if a required id is missing.
    #[inline]
    pub fn owner(&self) -> u128 {
        let [high, low] = self.key;
        u128::from(high) << 64 | u128::from(low)
    }

    /// Sets the number of the pair. The event then pairs only with the other event of that number.
    #[inline]
    pub fn set_pair(&mut self, number: u64) {
        (self.name, self.is_apart) = (number, true);
    }

    /// Pushes this begin event onto `open`.
    pub fn open_in<T: Copy>(&self, open: &mut Begins<T>, value: T) {
        match self.is_apart {
            true => open.begin_apart(self.name, value),
            false => open.begin(self.name, value),
        }
    }

    /// Removes the begin event that this end event closes. With `only_by_name`, a named end event
    /// closes only a begin event of the same name.
    pub fn close_in<T: Copy>(&self, open: &mut Begins<T>, only_by_name: bool) -> Option<T> {
        match self.is_apart || only_by_name && self.name != 0 {
            true => open.end_named(self.name),
            false => open.end(self.name),
        }
    }
}

impl Keyed for PairEvent {
    /// Sort key: owner and time.
    type Key = (u128, i64);

    #[inline]
    fn key(&self) -> (u128, i64) {
        (self.owner(), self.entry.time)
    }

    /// Compares two events in the order of the output.
    #[inline]
    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        order.compare(&self.entry, &other.entry)
    }
}

/// Returns the key of an event. Returns `None` if a required id is missing.
#[inline]
fn key_of(event: &Event<'_>, kind: PairKind) -> Option<[u64; 2]> {
    let fields: &[Field] = match kind {
        PairKind::Slice => &[Field::Pid, Field::Tid],
        PairKind::Counter => &[Field::Pid, Field::Name],
        PairKind::Async | PairKind::Legacy | PairKind::Flow => {
            &[Field::Cat, Field::Name, Field::Scope]
        }
    };
    let mut hash = KeyHash::new(kind as u8);
    fields.iter().for_each(|&field| hash.field(event, field));
    let has_id = kind == PairKind::Slice || hash.id(event);
    (has_id || kind == PairKind::Counter).then_some(hash.finish())
}
