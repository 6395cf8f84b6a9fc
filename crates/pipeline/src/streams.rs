//! CPU profile streams in the order of the output (contract C6): a chunk is never written before its predecessor.
//!
//! A stream is all `ProfileChunk` events of one key ([`stream_key`]). Its
//! order is the output's time order if every node and sample then refers to nodes already defined; else input order if
//! that satisfies it; else time order and a warning. Where it is input order, chunks that time order would write too
//! early are *delayed*: written right behind their predecessor.
//!
//! The first pass only notes, per stream, whether time order and input order can differ at all: a few dozen
//! nanoseconds a chunk, memory by streams. In every recorded trace they do not, and nothing is decoded. Streams where
//! they may differ are read again by [`Delays::find`]: places of their chunks are sorted, on disk beyond a share of the
//! budget; what stays in memory are the ids of one profile's nodes and the places of chunks that are delayed.

use crate::config::Config;
use crate::error::Error;
use crate::order::{EXACT, Entry, Order, Sorter};
use crate::profile::{
    ChunkOrder, Contents, Records, Series, Shelf, SortSpace, StreamKey, settle, stream_key,
};
use crate::store::Place;
use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeMap, HashMap, HashSet};
use tracemill_tokenizer::{Event, Field, Mapped, fields_of};

/// What the first pass knows of one stream.
#[derive(Clone, Copy, Debug)]
struct Seen {
    first: Entry,
    last: Entry,
    /// Time order may differ from input order.
    suspect: bool,
}

/// Per stream, whether its chunks stand in time order.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamOrders(HashMap<StreamKey, Seen>);

impl StreamOrders {
    /// Looks at an event; `entry.time` is [`i64::MIN`] if it has none.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, entry: Entry) {
        if event.is_string(Field::Name, b"ProfileChunk") {
            self.note_chunk(event, entry);
        }
    }

    fn note_chunk(&mut self, event: &Event<'_>, entry: Entry) {
        self.join(stream_key(event), Seen { first: entry, last: entry, suspect: false });
    }

    fn join(&mut self, key: StreamKey, later: Seen) {
        match self.0.entry(key) {
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

    /// Takes over what a later part of the input has.
    pub(crate) fn append(&mut self, later: StreamOrders) {
        // streams are independent of each other: the order of joining them cannot be seen
        #[expect(clippy::iter_over_hash_type, reason = "each key is joined on its own")]
        for (key, seen) in later.0 {
            self.join(key, seen);
        }
    }

    /// With other keys, different ones for different ones.
    pub(crate) fn with_keys(self, new: impl Fn(StreamKey) -> StreamKey) -> Self {
        StreamOrders(self.0.into_iter().map(|(key, seen)| (new(key), seen)).collect())
    }

    /// With times that change by `new`, in which their order stays.
    pub(crate) fn with_times(mut self, new: impl Fn(i64) -> i64) -> Self {
        let entries = self.0.values_mut().flat_map(|seen| [&mut seen.first, &mut seen.last]);
        let timed = entries.filter(|entry| entry.time > i64::MIN);
        timed.for_each(|entry| entry.time = new(entry.time));
        self
    }

    /// The keys of all streams, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &StreamKey> {
        self.0.keys()
    }

    /// Streams whose chunks may not stand in time order.
    pub(crate) fn suspects(self) -> HashSet<StreamKey> {
        self.0.into_iter().filter(|(_, seen)| seen.suspect).map(|(key, _)| key).collect()
    }
}

/// Whether `later`, which stands behind `earlier` in the input, may come before it in the output.
pub(crate) fn may_swap(earlier: Entry, later: Entry) -> bool {
    let (before, after) = (earlier.place.rank(), later.place.rank());
    let tie = later.time == earlier.time
        && (after > before || after == EXACT || before == EXACT || (after == before && after != 0));
    later.time < earlier.time || tie
}

/// The same chunks in the order of the input.
fn by_input(
    chunks: Records<'_, Entry>,
    order: Order<'_, '_>,
    space: SortSpace<'_>,
) -> Result<(Series<Entry>, Option<Mapped>), Error> {
    /// Entries that are sorted at a time.
    const PART: usize = 16 * 1024;
    // with time and place changed over they sort by their places
    let turned = |entry: Entry| Entry {
        time: (entry.place.offset_first() ^ 1 << 63) as i64,
        place: Place(entry.time as u64),
    };
    let back = |entry: Entry| Entry {
        time: entry.place.0 as i64,
        place: Place::of_offset_first(entry.time as u64 ^ 1 << 63),
    };
    let mut sorter = Sorter::new(space.limit, space.tmp_dir);
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
    let (mut sorted, mut shelf) = (Series::default(), Shelf::new(space.limit, space.tmp_dir));
    runs.each_in_order(order, |entry| {
        shelf.push(&mut sorted, back(entry));
        if shelf.is_full() { shelf.spill(&mut sorted) } else { Ok(()) }
    })?;
    Ok((sorted, shelf.finish()?))
}

/// Chunks that are written later than their time, and events that are not written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// Offsets of the delayed chunks.
    held: HashSet<u64>,
    /// Offsets of events that are left out.
    left_out: HashSet<u64>,
    /// Behind the event at this offset follow these chunks.
    after: HashMap<u64, Vec<Place>>,
    /// Streams that no order satisfies.
    pub(crate) unordered: Vec<String>,
}

impl Delays {
    /// Decides the order of `streams`, whose chunks are among `entries` (any order; untimed ones have [`i64::MIN`]).
    pub(crate) fn find(
        streams: &HashSet<StreamKey>,
        entries: impl Iterator<Item = Entry>,
        order: Order<'_, '_>,
        config: &Config,
    ) -> Result<Self, Error> {
        Self::find_by(streams, entries, order, config, |event, _| stream_key(event))
    }

    /// As [`Delays::find`], with another key: of the event at a place.
    pub(crate) fn find_by(
        streams: &HashSet<StreamKey>,
        entries: impl Iterator<Item = Entry>,
        order: Order<'_, '_>,
        config: &Config,
        key_of: impl Fn(&Event<'_>, Place) -> StreamKey,
    ) -> Result<Self, Error> {
        let space = SortSpace { limit: config.shares().index / 8, tmp_dir: &config.tmp_dir };
        let mut chunks: BTreeMap<StreamKey, Series<Entry>> = BTreeMap::new();
        let mut shelf = Shelf::new(space.limit, space.tmp_dir);
        for entry in entries {
            let event = order.0.event(entry.place);
            let spans = fields_of(event);
            let event = spans.of(event);
            if event.is_string(Field::Name, b"ProfileChunk") && !event.is_metadata() {
                let key = key_of(&event, entry.place);
                if streams.contains(&key) {
                    shelf.push(chunks.entry(key).or_default(), entry);
                }
                if shelf.is_full() {
                    chunks.values_mut().try_for_each(|own| shelf.spill(own))?;
                }
            }
        }
        let file = shelf.finish()?;
        let mut delays = Delays::default();
        for found in chunks.values() {
            let found = found.records(file.as_deref().unwrap_or_default());
            if found.iter().is_sorted_by_key(|entry| entry.place.offset()) {
                delays.decide(found, order, space)?;
            } else {
                let (sorted, file) = by_input(found, order, space)?;
                delays.decide(sorted.records(file.as_deref().unwrap_or_default()), order, space)?;
            }
        }
        Ok(delays)
    }

    /// The rule of contract C6 for one stream, whose chunks are given in input order.
    fn decide(
        &mut self,
        chunks: Records<'_, Entry>,
        order: Order<'_, '_>,
        space: SortSpace<'_>,
    ) -> Result<(), Error> {
        let Some(first) = chunks.first() else { return Ok(()) };
        let mut contents = Contents::new(&[], order.0);
        match settle(chunks, order, &mut contents, space)?.order {
            ChunkOrder::Both | ChunkOrder::Time => return Ok(()),
            ChunkOrder::Neither => {
                self.note_unordered(first, order);
                return Ok(());
            }
            ChunkOrder::Input => {}
        }
        let mut furthest = first;
        for chunk in chunks.iter().skip(1) {
            if order.compare(&chunk, &furthest).is_lt() {
                self.held.insert(chunk.place.offset());
                self.after.entry(furthest.place.offset()).or_default().push(chunk.place);
            } else {
                furthest = chunk;
            }
        }
        Ok(())
    }

    fn note_unordered(&mut self, chunk: Entry, order: Order<'_, '_>) {
        let event = order.0.event(chunk.place);
        let spans = fields_of(event);
        let text = |field| spans.of(event).field(field).map(String::from_utf8_lossy);
        let [pid, id] = [Field::Pid, Field::Id].map(|f| text(f).unwrap_or_default().into_owned());
        self.unordered.push(format!("pid {pid}, id {id}"));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.left_out.is_empty()
    }

    /// Leaves the events at these offsets out; none of them is a chunk.
    pub(crate) fn leave_out(&mut self, offsets: HashSet<u64>) {
        self.left_out = offsets;
    }

    /// Offsets of events that are not written at their place in the order.
    pub(crate) fn gone(&self) -> impl Iterator<Item = u64> + '_ {
        self.held.iter().chain(&self.left_out).copied()
    }

    /// Whether the event at this offset is one of those.
    pub(crate) fn is_gone(&self, offset: u64) -> bool {
        self.held.contains(&offset) || self.left_out.contains(&offset)
    }

    /// Offsets of events behind which chunks are put in, and those.
    pub(crate) fn after(&self) -> impl Iterator<Item = (u64, &[Place])> + '_ {
        self.after.iter().map(|(&offset, chunks)| (offset, &**chunks))
    }

    /// Chunks delayed.
    pub(crate) fn count(&self) -> u64 {
        self.held.len() as u64
    }

    /// Takes delayed chunks and what is left out from a stretch of the output, and puts chunks in that have waited for its events.
    pub(crate) fn apply(&self, entries: &mut Vec<Entry>) {
        let turn = |entry: Entry| {
            let offset = entry.place.offset();
            let stays = !self.held.contains(&offset) && !self.left_out.contains(&offset);
            let own = stays.then_some(entry);
            let waiting = self.after.get(&offset).into_iter().flatten();
            own.into_iter().chain(waiting.map(move |&place| Entry { place, ..entry }))
        };
        *entries = entries.drain(..).flat_map(turn).collect();
    }
}
