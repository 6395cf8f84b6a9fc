//! Undecided events, 40 bytes each, in memory or on disk.

use super::reason::Reason;
use std::cmp::Ordering;
use tracemill_trace::order::{Keyed, Order};
use tracemill_trace::record;
use tracemill_trace::store::entry::Entry;

/// The role of an event in its pair, group or stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum PairRole {
    /// A single event.
    Single,
    /// A `B` event.
    Begin,
    /// An `E` event.
    End,
    /// A `b` or `S` event with an id.
    Start,
    /// An `e` or `F` event with an id.
    Finish,
    /// Any other event of a group; it has an id.
    Member,
    /// The `Profile` event of a stream.
    Head,
    /// A `ProfileChunk` event of a stream.
    Chunk,
}

record! { enum PairRole { Single, Begin, End, Start, Finish, Member, Head, Chunk } }

record! {
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Undecided {
        /// Hash of the event's pair, group or stream; for a single event its duration in
        /// nanoseconds.
        pub(super) key: u64,
        /// Time and place; [`i64::MIN`] if the event has no time.
        pub(super) entry: Entry,
        /// The hash of the name of a begin or end event, for pairing; 0 for other events.
        pub(super) name: u64,
        pub(super) thread: u32,
        /// The reason to drop the event, from its fields and its thread's ids.
        pub(super) reason: Reason,
        pub(super) role: PairRole,
    }
}

impl Undecided {
    pub(super) fn time(&self) -> Option<i64> {
        (self.entry.time > i64::MIN).then_some(self.entry.time)
    }
}

impl Keyed for Undecided {
    /// Key and time as one number, to compare without a branch.
    type Key = u128;

    fn key(&self) -> u128 {
        let time = self.entry.time as u64 ^ (1 << 63);
        u128::from(self.key) << 64 | u128::from(time)
    }

    /// Compares in the order of the output.
    fn tie(&self, other: &Self, order: Order<'_, '_>) -> Ordering {
        order.compare(&self.entry, &other.entry)
    }
}
