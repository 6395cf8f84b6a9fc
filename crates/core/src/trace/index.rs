//! What is collected while a trace is read.
//!
//! ```text
//!   entries   time, place      16 bytes, sorted: events by time      ┐
//!   lists     place             8 bytes: metadata, untimed events    ├ each on disk beyond its share
//!   places    place             8 bytes: all events as they stand    ┘
//!   watched   place             8 bytes: those that somebody watches for
//!   threads, documents                   in memory
//! ```
//!
//! Of the index's share of the budget the first two have a half, places a quarter, watched events an eighth.

use super::threads::Threads;
use crate::entry::{Entry, rank};
use crate::envelope::Collect;
use crate::envelope::{Document, Envelope};
use crate::error::Error;
use crate::limits::Limits;
use crate::long_events::LongEvents;
use crate::order::{METADATA, Order, Sorter, UNTIMED};
use crate::place::Place;
use crate::read::{Current, Maker, Reader};
use crate::spill::SpillVec;
use tracemill_tokenizer::Event;

/// Whether an event is one of those that are to be found again at once; see [`Trace::watched`](super::Trace::watched).
pub type Watch = fn(&Event<'_>) -> bool;

/// The findings of one chunk.
#[derive(Default)]
pub(super) struct ChunkFindings {
    envelope: Envelope,
    timed: Vec<Entry>,
    lists: [Vec<Place>; 2],
    places: Vec<Place>,
    watched: Vec<Place>,
    threads: Threads,
    watch: Option<Watch>,
}

impl Collect for ChunkFindings {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let (offset, len) = (self.envelope.event(event), event.bytes.len());
        self.threads.note(event);
        let place = Place::new(offset, len, 0);
        self.places.push(place);
        if self.watch.is_some_and(|watch| watch(event)) {
            self.watched.push(place);
        }
        if event.is_metadata() {
            return self.lists[METADATA].push(place);
        }
        match event.ts() {
            Some(ts) => {
                let place = Place::new(offset, len, rank(ts, event.dur()));
                self.timed.push(Entry { time: ts.floor, place });
            }
            None => self.lists[UNTIMED].push(place),
        }
    }

    fn seal(&mut self) {
        if !self.timed.is_sorted() {
            self.timed.sort_unstable();
        }
        let ends = self.timed.first().zip(self.timed.last());
        self.envelope.stats.span = ends.map(|(first, last)| (first.time, last.time));
        self.timed.shrink_to_fit();
        self.places.shrink_to_fit();
    }
}

/// The findings of all inputs.
pub(super) struct Index {
    /// Timed events, and the lists of those that are none.
    pub(super) entries: Sorter,
    /// All events, in input order.
    pub(super) places: SpillVec<Place>,
    pub(super) watched: Option<SpillVec<Place>>,
    pub(super) long: LongEvents,
    pub(super) documents: Vec<Document>,
    pub(super) threads: Threads,
    pub(super) events: u64,
    watch: Option<Watch>,
}

impl Index {
    pub(super) fn new(limits: &Limits, watch: Option<Watch>) -> Self {
        let share = limits.shares().index;
        Index {
            entries: Sorter::new(share / 2, &limits.tmp_dir),
            places: SpillVec::new(&limits.tmp_dir, share / 4),
            watched: watch.map(|_| SpillVec::new(&limits.tmp_dir, share / 8)),
            long: LongEvents::new(limits),
            documents: Vec::new(),
            threads: Threads::default(),
            events: 0,
            watch,
        }
    }
}

impl Reader for Index {
    type Findings = ChunkFindings;

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;

    fn part(base: u64, _bytes: usize) -> ChunkFindings {
        ChunkFindings { envelope: Envelope::at(base), ..ChunkFindings::default() }
    }

    fn maker(&self) -> Maker<ChunkFindings> {
        let watch = self.watch;
        Box::new(move |base, bytes| ChunkFindings { watch, ..Self::part(base, bytes) })
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    fn take(&mut self, part: ChunkFindings, _base: u64, current: Current<'_>) -> Result<(), Error> {
        self.events += part.envelope.stats.events;
        self.long.append(&part.envelope.long)?;
        self.threads.append(part.threads);
        part.envelope.append_to(&mut self.documents);
        self.places.extend(&part.places)?;
        if let Some(watched) = &mut self.watched {
            watched.extend(&part.watched)?;
        }
        let [metadata, untimed] = part.lists;
        self.entries.push(part.timed);
        self.entries.list(METADATA, &metadata)?;
        self.entries.list(UNTIMED, &untimed)?;
        if self.entries.is_full() {
            let store = current.store(&self.long);
            self.entries.spill(Order(&store))?;
        }
        Ok(())
    }
}
