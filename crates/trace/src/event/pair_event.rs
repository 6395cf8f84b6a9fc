//! Parts of pairs, and the key that parts of one pair share: a number for each thread, async operation,
//! flow and counter.
//!
//! | phases | equal fields |
//! |---|---|
//! | `B` `E` | pid, tid |
//! | `b` `e`, `S` `F`, `s` `t` `f` | cat, name, scope and id: `id`, else `id2.global`, else `id2.local` with pid |
//! | `C` | pid, name, id |
//!
//! Values are compared as [`KeyHash`] does. Ids without a pid are shared by all processes, as in
//! DevTools and Perfetto (devtools-semantics §8.3). Of a key only a 128-bit hash is kept.

use super::key_hash::{KeyHash, name_key};
use super::phase::{PairKind, PairStep};
use crate::event::pairing::Begins;
use crate::order::{Keyed, Order};
use crate::record;
use crate::store::entry::Entry;
use std::cmp::Ordering;
use tracemill_tokenizer::{Event, Field};

record! {
    /// A part of a pair, a flow or a counter, with all that pairing needs.
    #[derive(Clone, Copy)]
    pub struct PairEvent {
        /// Its time and place.
        pub entry: Entry,
        /// 0 if it has no id and needs one.
        key: [u64; 2],
        /// A hash of its name; 0 if it has none or an empty one, or if the key includes the name.
        /// The number of its pair if it is paired apart.
        pub name: u64,
        /// What it is a part of.
        pub kind: PairKind,
        /// Which part it is.
        pub step: PairStep,
        /// Whether its partner is known by number, not by name.
        pub is_apart: bool,
    }
}

impl PairEvent {
    /// Creates the part that an event is.
    #[inline]
    pub fn new(event: &Event<'_>, entry: Entry, kind: PairKind, step: PairStep) -> Self {
        let key = key_of(event, kind).unwrap_or_default();
        let name = if kind == PairKind::Slice { name_key(event) } else { 0 };
        PairEvent { entry, key, name, kind, step, is_apart: false }
    }

    /// Returns the key that it shares with its partners; 0 if it has no id and needs one.
    #[inline]
    pub fn owner(&self) -> u128 {
        let [high, low] = self.key;
        u128::from(high) << 64 | u128::from(low)
    }

    /// Sets the number of its pair: it is paired with the other part of that number alone.
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

    /// Removes the begin event that this end event closes. With `only_by_name` an end event with a name
    /// closes no begin event of another name.
    pub fn close_in<T: Copy>(&self, open: &mut Begins<T>, only_by_name: bool) -> Option<T> {
        match self.is_apart || only_by_name && self.name != 0 {
            true => open.end_named(self.name),
            false => open.end(self.name),
        }
    }
}

impl Keyed for PairEvent {
    /// Its owner and its time.
    type Key = (u128, i64);

    #[inline]
    fn key(&self) -> (u128, i64) {
        (self.owner(), self.entry.time)
    }

    /// Compares in the order of the output.
    #[inline]
    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        order.compare(&self.entry, &other.entry)
    }
}

/// Returns the key of a part; `None` if it has no id and needs one.
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
