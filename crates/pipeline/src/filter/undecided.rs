//! Events that are not decided yet: 40 bytes each, in memory or on disk, as they come or sorted by key and time.

use super::reason::Reason;
use std::cmp::Ordering;
use tracemill_trace::order::{Keyed, Order};
use tracemill_trace::record;
use tracemill_trace::store::entry::Entry;

/// What an undecided event is to its pair or group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum PairRole {
    /// None: a single event.
    Single,
    /// `B`
    Begin,
    /// `E`
    End,
    /// `b` or `S`, with an id.
    Start,
    /// `e` or `F`, with an id.
    Finish,
    /// Another one of those that share an id.
    Member,
    /// The `Profile` event of a stream.
    Head,
    /// Another event of a stream.
    Chunk,
}

record! { enum PairRole { Single, Begin, End, Start, Finish, Member, Head, Chunk } }

record! {
    /// An undecided event.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Undecided {
        /// What its pair or group has in common; for single events their duration.
        pub(super) key: u64,
        /// Time and place; [`i64::MIN`] if it has no time.
        pub(super) entry: Entry,
        /// The hash of the name of a begin or end, as pairing looks at it; 0 for all others.
        pub(super) name: u64,
        pub(super) thread: u32,
        /// What its own fields and its thread's ids are judged.
        pub(super) reason: Reason,
        pub(super) role: PairRole,
    }
}

impl Undecided {
    /// Its time, if it has one.
    pub(super) fn time(&self) -> Option<i64> {
        (self.entry.time > i64::MIN).then_some(self.entry.time)
    }
}

impl Keyed for Undecided {
    /// Key and time in one number, which is compared without a branch.
    type Key = u128;

    fn key(&self) -> u128 {
        let time = self.entry.time as u64 ^ (1 << 63);
        u128::from(self.key) << 64 | u128::from(time)
    }

    /// In the order of the output.
    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        order.compare(&self.entry, &other.entry)
    }
}
