//! Detects CPU profile streams that sorting by time would break: a chunk must not come before its
//! predecessor in the input.
//!
//! ```text
//!   input        A@10  B@30  C@20           C needs a node that B defines
//!   by time      A@10  C@20  B@30           would break the stream
//!   output       A@10  ·     B@30 C@20      C is delayed: directly after B, whatever its time
//! ```
//!
//! A stream is all `ProfileChunk` events of one key ([`stream_key`]). Its output order is time
//! order if nodes are then defined before their use; else input order if valid; else time order
//! with a warning. In input order, chunks that would come too early are *delayed* until after their
//! predecessor.
//!
//! The first pass only notes whether the two orders can differ: a few dozen nanoseconds per chunk,
//! memory per stream. The writer reads only such streams again.

use crate::chunk::key::{StreamKey, stream_key};
use crate::streams::router::Role;
use std::collections::hash_map::Entry as Slot;
use tracemill_tokenizer::Event;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::entry::{EXACT, Entry};

/// First and last chunk of a stream, and whether its order is in doubt.
#[derive(Clone, Copy, Debug)]
struct StreamEnds {
    first: Entry,
    last: Entry,
    /// Whether time order may differ from input order.
    suspect: bool,
}

/// Records whether the chunks of each stream are in time order, and when each stream began.
///
/// Each scan worker records the orders of its batch; batches are appended in input order. Heap: two
/// entries and up to two keys per stream.
///
/// ```
/// use tracemill_trace::store::entry::Entry;
/// use tracemill_trace::store::place::Place;
/// use tracemill_cpuprofile::{StreamOrders, stream_key};
/// use tracemill_tokenizer::fields_of;
///
/// let mut orders = StreamOrders::default();
/// for (offset, time, id) in [(0, 10, 1), (100, 30, 1), (200, 20, 1), (300, 10, 2), (400, 20, 2)] {
///     let text = format!(r#"{{"name":"ProfileChunk","pid":7,"id":{id}}}"#);
///     let place = Place::new(offset, text.len(), 0);
///     orders.note(&fields_of(text.as_bytes()).of(text.as_bytes()), Entry { time, place });
/// }
/// let odd = br#"{"pid":7,"id":1}"#;
/// let suspects = orders.suspects();
/// assert!(suspects.len() == 1 && suspects.contains(&stream_key(&fields_of(odd).of(odd))));
/// ```
#[derive(Clone, Debug, Default)]
pub struct StreamOrders {
    ends: HashMap<StreamKey, StreamEnds>,
    /// Time of the last `Profile` event in nanoseconds, as written.
    begins: HashMap<StreamKey, i64>,
}

impl StreamOrders {
    /// Takes the next event in input order; `entry.time` is [`i64::MIN`] without a time.
    #[inline]
    pub fn note(&mut self, event: &Event<'_>, entry: Entry) {
        match Role::of(event) {
            Some(Role::Chunk) => self.note_chunk(event, entry),
            Some(Role::Head) => self.note_begin(event, entry),
            Some(Role::Whole) | None => {}
        }
    }

    fn note_chunk(&mut self, event: &Event<'_>, entry: Entry) {
        self.join(stream_key(event), StreamEnds { first: entry, last: entry, suspect: false });
    }

    fn note_begin(&mut self, event: &Event<'_>, entry: Entry) {
        self.begins.insert(stream_key(event), entry.time);
    }

    /// Joins two batches of a stream; their border is one more pair of neighbors.
    fn join(&mut self, key: StreamKey, later: StreamEnds) {
        match self.ends.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert(later);
            }
            Slot::Occupied(mut slot) => {
                let seen = slot.get_mut();
                seen.suspect |= later.suspect || may_swap(seen.last, later.first);
                seen.last = later.last;
            }
        }
    }

    /// Appends the streams of a later batch of the input.
    pub fn append(&mut self, later: StreamOrders) {
        // keys are independent, so the order does not matter
        #[expect(clippy::iter_over_hash_type, reason = "each key is joined on its own")]
        for (key, seen) in later.ends {
            self.join(key, seen);
        }
        self.begins.extend(later.begins);
    }

    /// Replaces the keys, as when a merge renames ids; `new` must be injective.
    pub fn with_keys(self, new: impl Fn(StreamKey) -> StreamKey) -> Self {
        let ends = self.ends.into_iter().map(|(key, seen)| (new(key), seen)).collect();
        let begins = self.begins.into_iter().map(|(key, begin)| (new(key), begin)).collect();
        StreamOrders { ends, begins }
    }

    /// Replaces each time of a chunk by `new` of that time. `new` must keep the order of times. The
    /// times of `Profile` events stay.
    pub fn with_times(mut self, new: impl Fn(i64) -> i64) -> Self {
        let entries = self.ends.values_mut().flat_map(|seen| [&mut seen.first, &mut seen.last]);
        let timed = entries.filter(|entry| entry.time > i64::MIN);
        timed.for_each(|entry| entry.time = new(entry.time));
        self
    }

    /// Returns the keys of all streams, unordered, with the time of their `Profile` events as
    /// written.
    ///
    /// Times are nanoseconds: [`i64::MIN`] for an event without a time, `None` without an event.
    pub fn begins(&self) -> impl Iterator<Item = (&StreamKey, Option<i64>)> {
        self.ends.keys().map(|key| (key, self.begins.get(key).copied()))
    }

    /// Returns the streams whose chunks may not be in time order.
    ///
    /// These include streams with equal times whose order 16 bytes cannot decide.
    pub fn suspects(self) -> HashSet<StreamKey> {
        self.ends.into_iter().filter(|(_, seen)| seen.suspect).map(|(key, _)| key).collect()
    }
}

/// Returns whether `later`, which is after `earlier` in the input, may precede it in the output.
pub(crate) fn may_swap(earlier: Entry, later: Entry) -> bool {
    let (before, after) = (earlier.place.rank(), later.place.rank());
    let tie = later.time == earlier.time
        && (after > before || after == EXACT || before == EXACT || (after == before && after != 0));
    later.time < earlier.time || tie
}
