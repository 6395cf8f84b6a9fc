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

use std::cmp::Ordering;
use tracemill_core::entry::{EXACT, Entry};
use tracemill_core::event::{KeyHash, name_key};
use tracemill_core::event::{PairKind, PairStep};
use tracemill_core::order::{Keyed, Order};
use tracemill_core::record;
use tracemill_core::store::Store;
use tracemill_tokenizer::{Event, Field, fields_of};

record! {
    /// A part of something that lasts, with all that pairing asks.
    #[derive(Clone, Copy)]
    pub(crate) struct PairEvent {
        pub(crate) entry: Entry,
        /// 0 if it has no id and needs one.
        key: [u64; 2],
        /// A hash of its name; 0 if it has none or an empty one, or if the key has the name.
        pub(crate) name: u64,
        pub(crate) kind: PairKind,
        pub(crate) step: PairStep,
        /// The name is the number of its pair, whose other part is apart too.
        pub(crate) is_apart: bool,
    }
}

impl PairEvent {
    /// What it belongs to; 0 if it has no id and needs one.
    pub(crate) fn owner(&self) -> u128 {
        let [high, low] = self.key;
        u128::from(high) << 64 | u128::from(low)
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

impl PairEvent {
    /// The part that an event is.
    #[inline]
    pub(crate) fn new(event: &Event<'_>, entry: Entry, kind: PairKind, step: PairStep) -> Self {
        let key = key_of(event, kind).unwrap_or_default();
        let name = if kind == PairKind::Slice { name_key(event) } else { 0 };
        PairEvent { entry, key, name, kind, step, is_apart: false }
    }
}

/// The key of a part of something that lasts; `None` if it has no id and needs one.
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

/// Whether the time of an event has digits below a nanosecond.
pub(crate) fn has_rest(entry: Entry, store: &Store<'_>) -> bool {
    let bytes = store.event(entry.place);
    entry.place.rank() == EXACT && fields_of(bytes).of(bytes).ts().is_some_and(|ts| !ts.exact)
}
