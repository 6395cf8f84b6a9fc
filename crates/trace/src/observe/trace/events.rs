//! Iterates over the events of a trace.

use super::opened::Trace;
use crate::order::{METADATA, Order, TimedEntries, UNTIMED};
use crate::store::Store;
use crate::store::entry::Entry;
use crate::store::place::Place;
use std::ops::Range;
use std::sync::PoisonError;
use tracemill_tokenizer::{Event, FieldSpans, fields_of};

/// Number of entries read from runs on disk per batch.
const BATCH: usize = 8 * 1024;

/// The order in which events are returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventOrder {
    /// Metadata first, then events without a time, then by time. At equal times the longer event is
    /// first, then input order decides.
    ///
    /// A merge writes this order too, except that it delays chunks of a CPU profile that time would
    /// put before their predecessor.
    Time,
    /// Input after input, in file order.
    Input,
}

/// An event of an opened trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceEvent<'t> {
    /// The unchanged bytes of the event, from `{` to `}`.
    pub bytes: &'t [u8],
    /// Offset of the event in the address space; [`Trace::locate`] finds its input.
    pub offset: u64,
    spans: FieldSpans,
}

impl<'t> TraceEvent<'t> {
    fn new(place: Place, store: &Store<'t>) -> Self {
        let bytes = store.event(place);
        TraceEvent { bytes, offset: place.offset(), spans: fields_of(bytes) }
    }

    /// Returns the fields of the event: time, duration, phase, name, ids, args. Values are decoded
    /// on access.
    pub fn fields(&self) -> Event<'_> {
        self.spans.of(self.bytes)
    }
}

/// An iterator over the events of a trace.
///
/// Cost: each event is read when it is reached. Order by time sorts some 16,000 entries at once, or
/// takes them from merged runs on disk.
pub struct Events<'t> {
    trace: &'t Trace,
    store: Store<'t>,
    /// The places that are returned before the timed events. In input order, the places of all
    /// events.
    places: Box<dyn Iterator<Item = Place> + 't>,
    timed: Option<TimedEntries<'t>>,
    bucket: usize,
    batch: Vec<Entry>,
    next: usize,
}

impl Trace {
    /// Returns an iterator over all events, each once.
    ///
    /// ```
    /// use tracemill_trace::{EventOrder, Limits, Source, Trace};
    ///
    /// let text = r#"[{"tid":1,"ts":9},{"tid":2,"ts":5},{"tid":3,"ts":5,"dur":3,"ph":"X"},{"tid":4,"ph":"M"},{"tid":5}]"#;
    /// let trace = Trace::open(&[Source::bytes("a.json", text)], &Limits::new(1, 64 << 20, std::env::temp_dir()))?;
    /// let tids = |order| trace.events(order).map(|event| event.bytes[7] - b'0').collect::<Vec<_>>();
    /// assert_eq!(tids(EventOrder::Input), [1, 2, 3, 4, 5]);
    /// assert_eq!(tids(EventOrder::Time), [4, 5, 3, 2, 1]); // metadata, untimed, then by time, the longer first
    /// # Ok::<(), tracemill_trace::Error>(())
    /// ```
    pub fn events(&self, order: EventOrder) -> Events<'_> {
        Events::new(self, order)
    }
}

impl<'t> Events<'t> {
    fn new(trace: &'t Trace, order: EventOrder) -> Self {
        let store = trace.store();
        let (places, timed): (Box<dyn Iterator<Item = Place>>, _) = match order {
            EventOrder::Input => (Box::new(trace.in_input_order.iter()), None),
            EventOrder::Time => {
                let lists = trace.lists.of(METADATA).chain(trace.lists.of(UNTIMED));
                (Box::new(lists), Some(trace.timed.timed(Order(&store))))
            }
        };
        Events { trace, store, places, timed, bucket: 0, batch: Vec::new(), next: 0 }
    }

    /// Restricts the iterator to events whose time, in nanoseconds rounded down, lies in `window`,
    /// by time.
    ///
    /// Cost: two binary searches per run of the index; events outside the window are not read.
    #[must_use]
    pub fn within(self, window: Range<i64>) -> Self {
        let timed = Some(self.trace.timed.timed_in(window, Order(&self.store)));
        let places = Box::new(std::iter::empty());
        Events { timed, places, bucket: 0, batch: Vec::new(), next: 0, ..self }
    }

    /// Fills the batch with the next entries; leaves it empty at the end.
    fn fill(&mut self) {
        self.batch.clear();
        self.next = 0;
        let order = Order(&self.store);
        match &mut self.timed {
            None => {}
            Some(TimedEntries::Buckets(buckets)) => {
                while self.batch.is_empty() && self.bucket < buckets.count() {
                    buckets.collect(self.bucket, &mut self.batch);
                    order.resolve_ties(&mut self.batch);
                    self.bucket += 1;
                }
            }
            Some(TimedEntries::Merged(merged)) => {
                let merged = merged.get_mut().unwrap_or_else(PoisonError::into_inner);
                merged.next_batch(order, BATCH, &mut self.batch);
            }
        }
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = TraceEvent<'t>;

    fn next(&mut self) -> Option<TraceEvent<'t>> {
        if let Some(place) = self.places.next() {
            return Some(TraceEvent::new(place, &self.store));
        }
        if self.next == self.batch.len() {
            self.fill();
        }
        let entry = *self.batch.get(self.next)?;
        self.next += 1;
        Some(TraceEvent::new(entry.place, &self.store))
    }
}
