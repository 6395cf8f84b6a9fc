//! Lists of events, for callers that decide which events they want.

use std::fmt;
use tracemill_trace::Limits;
use tracemill_trace::order::{KeySorter, Keyed};
use tracemill_trace::record;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::{Lease, Share};
use tracemill_trace::spill::{SpillVec, SpilledVec};

/// The meaning of the numbers in an [`EventList`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedBy {
    /// The index of an event within its input, from 0.
    Number,
    /// The offset of an event in its input, after decompression.
    Offset,
}

record! {
    /// The input of an event, and its number or offset in that input.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct ListedEvent {
        /// Index of the input among all inputs that have traces.
        pub input: u32,
        /// Number or offset of the event.
        pub value: u64,
    }
}

impl Keyed for ListedEvent {
    type Key = ListedEvent;

    fn key(&self) -> ListedEvent {
        *self
    }
}

/// Collects the events of an [`EventList`], in any order. Repeated events count once.
///
/// ```
/// use tracemill_pipeline::{EventLister, Limits, ListedBy, ListedEvent};
///
/// let limits = Limits::new(1, 64 << 20, std::env::temp_dir());
/// let mut lister = EventLister::new(ListedBy::Number, &limits);
/// for value in [7, 3, 7] {
///     lister.push(ListedEvent { input: 0, value })?;
/// }
/// assert_eq!(lister.finish()?.len(), 2);
/// # Ok::<(), tracemill_trace::Error>(())
/// ```
pub struct EventLister {
    by: ListedBy,
    sorter: KeySorter<ListedEvent>,
    lease: Lease,
}

impl EventLister {
    /// Creates an empty list. Events beyond its lease spill to disk.
    pub fn new(by: ListedBy, limits: &Limits) -> Self {
        let lease = limits.lease("listed events", Share::of_index(1, 4)).divided(2);
        EventLister { by, sorter: KeySorter::new(lease.clone(), limits.threads), lease }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// Returns [`Scratch`](tracemill_trace::ErrorKind::Scratch) if a spill file cannot be written.
    pub fn push(&mut self, event: ListedEvent) -> Result<(), Error> {
        self.sorter.push(event)
    }

    /// Sorts the events, and returns the list.
    ///
    /// # Errors
    /// See [`EventLister::push`].
    pub fn finish(self) -> Result<EventList, Error> {
        let (mut events, mut last) = (SpillVec::new(self.lease), None);
        self.sorter.finish()?.move_to(&mut events, |event| last.replace(*event) != Some(*event))?;
        Ok(EventList { by: self.by, events: events.finish()? })
    }
}

/// A sorted list of events, in memory or on disk.
pub struct EventList {
    pub(super) by: ListedBy,
    pub(super) events: SpilledVec<ListedEvent>,
}

impl EventList {
    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}

impl fmt::Debug for EventList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventList").field("by", &self.by).field("len", &self.len()).finish()
    }
}
