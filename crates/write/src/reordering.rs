//! Finds CPU profile chunks that must be written later than their time says.
//!
//! Decides one stream at a time (see `tracemill_cpuprofile::streams`), by reading its chunks in
//! input order and in time order. A delayed chunk takes 32 bytes, which spill to disk; the node ids
//! of one profile are in memory.

use memchr::{memchr, memmem};
use std::collections::BTreeMap;
use std::sync::Arc;
use tracemill_cpuprofile::{ChunkOrder, Contents, StreamKey, order_chunks, stream_key};
use tracemill_tokenizer::{Event, Field, Mapped, fields_of, to_text};
use tracemill_trace::Limits;
use tracemill_trace::order::{Gather, Order, Sorter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::hash::HashSet;
use tracemill_trace::spill::{Records, SpillList, SpillLists, SpilledVec};
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;

/// The name of chunks. Only an escape can hide it in the bytes of an event.
const CHUNK: &[u8] = b"ProfileChunk";

/// Delayed chunks, and events that are left out. Cheap to clone.
#[derive(Clone, Default)]
pub struct Reordering {
    /// The delayed chunks, with their offsets as times.
    held: Arc<SpilledVec<Entry>>,
    /// The delayed chunks, with the offset of the event that they follow as time.
    after: Arc<SpilledVec<Entry>>,
    /// Events that are left out, with their offsets as times.
    left_out: Arc<SpilledVec<Entry>>,
    /// Streams whose chunks are valid neither in input order nor in time order.
    pub unordered: Vec<String>,
}

impl Reordering {
    /// Decides the order of `streams`. `entries` contains their chunks, in any order; events
    /// without a time have [`i64::MIN`].
    ///
    /// # Errors
    /// Returns an I/O error if the spill file cannot be written.
    pub fn find(
        streams: &HashSet<StreamKey>,
        entries: impl Iterator<Item = Entry>,
        order: Order<'_, '_>,
        limits: &Limits,
    ) -> Result<Self, Error> {
        Self::find_by(streams, entries, order, limits, |event, _| stream_key(event))
    }

    /// Does the same as [`Reordering::find`]. `key_of` computes the stream key of a chunk.
    pub fn find_by(
        streams: &HashSet<StreamKey>,
        entries: impl Iterator<Item = Entry>,
        order: Order<'_, '_>,
        limits: &Limits,
        key_of: impl Fn(&Event<'_>, Place) -> StreamKey,
    ) -> Result<Self, Error> {
        let lease = limits.lease("chunks of streams to be put in order", Share::of_index(1, 2));
        let lease = lease.divided(4);
        let mut chunks: BTreeMap<StreamKey, SpillList<Entry>> = BTreeMap::new();
        let mut lists = SpillLists::new(lease.clone());
        let name = memmem::Finder::new(CHUNK);
        for entry in entries {
            let event = order.0.event(entry.place);
            if name.find(event).is_none() && memchr(b'\\', event).is_none() {
                continue;
            }
            let spans = fields_of(event);
            let event = spans.of(event);
            if event.is_string(Field::Name, CHUNK) && !event.is_metadata() {
                let key = key_of(&event, entry.place);
                if streams.contains(&key) {
                    lists.push(chunks.entry(key).or_default(), entry);
                }
                if lists.is_full() {
                    chunks.values_mut().try_for_each(|list| lists.spill(list))?;
                }
            }
        }
        let file = lists.finish()?;
        let mut finder = Finder::new(
            order,
            lease.clone(),
            limits.lease("chunks that wait", Share::of_index(1, 8)),
        );
        for found in chunks.values() {
            let found = found.records(file.as_deref().unwrap_or_default());
            if found.iter().is_sorted_by_key(|entry| entry.place.offset()) {
                finder.decide(found)?;
            } else {
                let (sorted, file) = by_input(found, order, &lease)?;
                finder.decide(sorted.records(file.as_deref().unwrap_or_default()))?;
            }
        }
        finder.finish()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0 && self.left_out.is_empty()
    }

    /// Leaves out the events whose offsets are the times of `offsets`. These events must not be
    /// chunks.
    pub fn leave_out(&mut self, offsets: SpilledVec<Entry>) {
        self.left_out = Arc::new(offsets);
    }

    /// Returns the offsets of events that are delayed or left out.
    pub(crate) fn gone(&self) -> impl Iterator<Item = u64> + '_ {
        let held = self.held.iter().map(|chunk| chunk.place.offset());
        held.chain(self.left_out.iter().map(|event| event.time as u64))
    }

    /// Returns whether the event at this offset is delayed or left out.
    pub(crate) fn is_gone(&self, offset: u64) -> bool {
        self.is_left_out(offset) || has_time(&self.held, offset)
    }

    /// Returns whether the event at this offset is left out.
    pub(crate) fn is_left_out(&self, offset: u64) -> bool {
        has_time(&self.left_out, offset)
    }

    /// Returns the delayed chunks, each with the offset of the event that it follows, sorted by
    /// that offset.
    pub(crate) fn after(&self) -> impl Iterator<Item = (u64, Place)> + '_ {
        self.after.iter().map(|chunk| (chunk.time as u64, chunk.place))
    }

    /// Returns the number of delayed chunks.
    pub fn count(&self) -> u64 {
        self.held.len() as u64
    }

    /// Removes delayed and dropped events from entries, and inserts delayed chunks after the events
    /// that they follow.
    pub(crate) fn apply(&self, entries: Vec<Entry>) -> impl Iterator<Item = Entry> + Send + '_ {
        entries.into_iter().flat_map(|entry| {
            let offset = entry.place.offset();
            let kept = (!self.is_gone(offset)).then_some(entry);
            let waiting = self.after.at_time(offset as i64);
            kept.into_iter().chain(waiting.map(move |chunk| Entry { place: chunk.place, ..entry }))
        })
    }
}

/// Finds delayed chunks, one stream after another.
struct Finder<'s, 'p> {
    order: Order<'s, 'p>,
    lease: Lease,
    /// The lists of the result, see [`Reordering`].
    held: Gather<'s, 'p>,
    after: Gather<'s, 'p>,
    unordered: Vec<String>,
}

impl<'s, 'p> Finder<'s, 'p> {
    fn new(order: Order<'s, 'p>, lease: Lease, waiting: Lease) -> Self {
        let gather = || Gather::new(waiting.divided(2), order);
        Finder { order, lease, held: gather(), after: gather(), unordered: Vec::new() }
    }

    /// Finds the delayed chunks of one stream, whose chunks are in input order.
    fn decide(&mut self, chunks: Records<'_, Entry>) -> Result<(), Error> {
        let Some(first) = chunks.first() else { return Ok(()) };
        let mut contents = Contents::new(&[], self.order.0);
        match order_chunks(chunks, self.order, &mut contents, self.lease.clone())?.order {
            ChunkOrder::Both | ChunkOrder::Time => return Ok(()),
            ChunkOrder::Neither => {
                self.note_unordered(first);
                return Ok(());
            }
            ChunkOrder::Input => {}
        }
        let mut furthest = first;
        for chunk in chunks.iter().skip(1) {
            if self.order.compare(&chunk, &furthest).is_lt() {
                // chunks that follow the same event keep input order, which ranks would change
                let place = chunk.place.without_rank();
                self.held.push(Entry { time: place.offset() as i64, place })?;
                self.after.push(Entry { time: furthest.place.offset() as i64, place })?;
            } else {
                furthest = chunk;
            }
        }
        Ok(())
    }

    fn note_unordered(&mut self, chunk: Entry) {
        let event = self.order.0.event(chunk.place);
        let spans = fields_of(event);
        let text = |field| spans.of(event).field(field).map(to_text);
        let [pid, id] = [Field::Pid, Field::Id].map(|f| text(f).unwrap_or_default());
        self.unordered.push(format!("pid {pid}, id {id}"));
    }

    fn finish(self) -> Result<Reordering, Error> {
        let Finder { order, held, after, unordered, .. } = self;
        let sorted = |gather: Gather<'_, '_>| -> Result<_, Error> {
            Ok(Arc::new(SpilledVec::sorted(gather.finish()?, order)?))
        };
        let (held, after) = (sorted(held)?, sorted(after)?);
        Ok(Reordering { held, after, left_out: Arc::default(), unordered })
    }
}

/// Returns whether any entry has `offset` as its time.
fn has_time(all: &SpilledVec<Entry>, offset: u64) -> bool {
    all.at_time(offset as i64).next().is_some()
}

/// Sorts chunks by input order.
fn by_input(
    chunks: Records<'_, Entry>,
    order: Order<'_, '_>,
    lease: &Lease,
) -> Result<(SpillList<Entry>, Option<Mapped>), Error> {
    const PART: usize = 16 * 1024;
    // swap time and place, so that entries sort by place
    let turned = |entry: Entry| Entry {
        time: (entry.place.offset_first() ^ 1 << 63) as i64,
        place: Place(entry.time as u64),
    };
    let back = |entry: Entry| Entry {
        time: entry.place.0 as i64,
        place: Place::of_offset_first(entry.time as u64 ^ 1 << 63),
    };
    let mut sorter = Sorter::new(lease.clone());
    let mut chunks = chunks.iter().map(turned).peekable();
    while chunks.peek().is_some() {
        let mut part: Vec<Entry> = chunks.by_ref().take(PART).collect();
        part.sort_unstable();
        sorter.push(part);
        if sorter.is_full() {
            sorter.spill(order)?;
        }
    }
    let (runs, _) = sorter.finish(order.0)?;
    let (mut sorted, mut lists) = (SpillList::default(), SpillLists::new(lease.clone()));
    runs.each_in_order(order, |entry| {
        lists.push(&mut sorted, back(entry));
        if lists.is_full() { lists.spill(&mut sorted) } else { Ok(()) }
    })?;
    Ok((sorted, lists.finish()?))
}
