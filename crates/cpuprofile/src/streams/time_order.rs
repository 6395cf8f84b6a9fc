//! CPU profile streams in the order of the output: a chunk is never written before its predecessor.
//!
//! ```text
//!   input        A@10  B@30  C@20           C needs a node that B defines
//!   by time      A@10  C@20  B@30           would break the stream
//!   output       A@10  ·     B@30 C@20      C is delayed: right behind B, whatever its time
//! ```
//!
//! A stream is all `ProfileChunk` events of one key ([`stream_key`]). Its
//! order is the output's time order if every node and sample then refers to nodes already defined; else input order if
//! that satisfies it; else time order and a warning. Where it is input order, chunks that time order would write too
//! early are *delayed*: written right behind their predecessor.
//!
//! The first pass only notes, per stream, whether time order and input order can differ at all: a few dozen
//! nanoseconds a chunk, memory by streams. In every recorded trace they do not, and nothing is decoded. Streams where
//! they may differ are read again by who writes them.

use crate::chunk::key::{StreamKey, stream_key};
use crate::streams::router::Role;
use std::collections::hash_map::Entry as Slot;
use tracemill_tokenizer::Event;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::entry::{EXACT, Entry};

/// What the first pass knows of one stream.
#[derive(Clone, Copy, Debug)]
struct StreamEnds {
    /// Its first and its last chunk in the input.
    first: Entry,
    last: Entry,
    /// Time order may differ from input order.
    suspect: bool,
}

/// Per stream, whether its chunks stand in time order, and when it began.
///
/// Each worker of a scan fills one of its stretch; they are joined in input order. Heap: two entries, and its key once or twice, a stream.
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
    /// As written, in nanoseconds, of the last `Profile` event.
    begins: HashMap<StreamKey, i64>,
}

impl StreamOrders {
    /// Looks at an event, the next one in input order; `entry.time` is [`i64::MIN`] if it has none. Events that are of no stream cost one
    /// look at how their name begins.
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

    /// What is noted of two stretches, `later` behind what is here: the border between them is one more pair of neighbours.
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

    /// Takes over what a later part of the input has. Cost: by streams.
    pub fn append(&mut self, later: StreamOrders) {
        // streams are independent of each other: the order of joining them cannot be seen
        #[expect(clippy::iter_over_hash_type, reason = "each key is joined on its own")]
        for (key, seen) in later.ends {
            self.join(key, seen);
        }
        self.begins.extend(later.begins);
    }

    /// With other keys, different ones for different ones: those that streams have in the output, where a merge renames ids.
    pub fn with_keys(self, new: impl Fn(StreamKey) -> StreamKey) -> Self {
        let ends = self.ends.into_iter().map(|(key, seen)| (new(key), seen)).collect();
        let begins = self.begins.into_iter().map(|(key, begin)| (new(key), begin)).collect();
        StreamOrders { ends, begins }
    }

    /// With times of chunks that change by `new`, in which their order stays; those of `Profile` events stay as they are written.
    pub fn with_times(mut self, new: impl Fn(i64) -> i64) -> Self {
        let entries = self.ends.values_mut().flat_map(|seen| [&mut seen.first, &mut seen.last]);
        let timed = entries.filter(|entry| entry.time > i64::MIN);
        timed.for_each(|entry| entry.time = new(entry.time));
        self
    }

    /// The keys of all streams, in no order, with the times of their `Profile` events as they are written, in nanoseconds;
    /// [`i64::MIN`] of one without a time, `None` where there is no such event.
    pub fn begins(&self) -> impl Iterator<Item = (&StreamKey, Option<i64>)> {
        self.ends.keys().map(|key| (key, self.begins.get(key).copied()))
    }

    /// Streams whose chunks may not stand in time order: all that do not, and some that have chunks of one
    /// time whose order 16 bytes cannot tell.
    pub fn suspects(self) -> HashSet<StreamKey> {
        self.ends.into_iter().filter(|(_, seen)| seen.suspect).map(|(key, _)| key).collect()
    }
}

/// Whether `later`, which stands behind `earlier` in the input, may come before it in the output.
pub(crate) fn may_swap(earlier: Entry, later: Entry) -> bool {
    let (before, after) = (earlier.place.rank(), later.place.rank());
    let tie = later.time == earlier.time
        && (after > before || after == EXACT || before == EXACT || (after == before && after != 0));
    later.time < earlier.time || tie
}
