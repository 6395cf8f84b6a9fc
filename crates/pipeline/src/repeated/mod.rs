//! Finds repeated events, which `merge` drops: events that `split` has marked and, with `dedup`,
//! all events with equal bytes.
//!
//! The last member of a marked event is `"tracemill.repeated":true`. A merge drops a marked event
//! if another document has the same event unmarked, or an earlier document has the same event
//! marked. So merged parts have each event as often as the whole trace. If no document has the
//! original event, one marked event stays, so that parts can be merged in several steps.

pub(crate) mod dedup;

use tracemill_cpuprofile::Role;
use tracemill_join::identity::Rewrite;
use tracemill_join::identity::parts::InputParts;
use tracemill_tokenizer::{Event, Tier, fields_of};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::json::patch::Patches;
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::order::{EntryRuns, Gather, Order, Sorter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpilledVec;
use tracemill_trace::spill::hash::{HashMap, HashSet};
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_write::patch::event_rewriter::EventRewriter;
use tracemill_write::patch::{EventPatcher, Patcher, WrittenAt};

/// The end of a marked event.
const END: &[u8] = b",\"tracemill.repeated\":true}";

/// Length of the mark in bytes.
pub(crate) const MARK: u64 = END.len() as u64 - 1;

/// Returns the bytes that a repeated event shares with the original.
fn common(event: &[u8]) -> &[u8] {
    event.strip_suffix(END).unwrap_or(&event[..event.len().saturating_sub(1)])
}

/// Marks the events at these offsets. The offsets are sorted.
pub(crate) struct RepeatMarks(pub(crate) Vec<u64>);

impl Patcher for RepeatMarks {
    fn start(&self, _: Tier) -> Box<dyn EventPatcher + '_> {
        Box::new(Marker { offsets: &self.0 })
    }
}

struct Marker<'m> {
    offsets: &'m [u64],
}

impl EventPatcher for Marker<'_> {
    fn patch(&mut self, event: &[u8], at: WrittenAt, patches: &mut Patches) {
        if self.offsets.binary_search(&at.offset).is_ok() && !event.ends_with(END) {
            patches.insert_at(event.len() - 1, &END[..END.len() - 1]);
        }
    }
}

/// Collects marked events that have a time.
pub(crate) struct RepeatWatch(Sorter);

impl RepeatWatch {
    pub(crate) fn new(limits: &Limits) -> Self {
        RepeatWatch(Sorter::new(limits.lease("marked events", Share::of_index(1, 16))))
    }

    /// Decides which marked events are dropped. `at` passes all events of a time to a function, in
    /// any order.
    ///
    /// Cost: reads all events of each time that has a marked event. Takes about 100 bytes of memory
    /// per marked event of one time.
    ///
    /// # Errors
    /// Returns [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if one time has too
    /// many marked events.
    pub(crate) fn decide(
        &mut self,
        parts: &InputParts,
        store: &Store<'_>,
        limits: &Limits,
        at: impl Fn(i64, &mut dyn FnMut(Entry)),
    ) -> Result<LeftOut, Error> {
        let order = Order(store);
        let (found, _) = self.0.finish(store)?;
        let mut decision = RepeatDecision {
            parts,
            store,
            quota: limits.table_quota(),
            offsets: Gather::new(limits.lease("events left out", Share::of_index(1, 16)), order),
            left_out: LeftOut::default(),
        };
        let mut of_one_time: Vec<Entry> = Vec::new();
        found.each_in_order(order, |entry| {
            if of_one_time.last().is_some_and(|last| last.time != entry.time) {
                decision.decide(&of_one_time, &at)?;
                of_one_time.clear();
            }
            of_one_time.push(entry);
            Ok(())
        })?;
        decision.decide(&of_one_time, &at)?;
        let RepeatDecision { offsets, mut left_out, .. } = decision;
        left_out.offsets = SpilledVec::sorted(offsets.finish()?, order)?;
        Ok(left_out)
    }
}

/// Decides which marked events are dropped, one time after another.
struct RepeatDecision<'d, 'p> {
    parts: &'d InputParts,
    store: &'d Store<'p>,
    quota: Quota,
    offsets: Gather<'d, 'p>,
    left_out: LeftOut,
}

impl RepeatDecision<'_, '_> {
    fn decide(
        &mut self,
        marked: &[Entry],
        at: impl Fn(i64, &mut dyn FnMut(Entry)),
    ) -> Result<(), Error> {
        const EACH: u64 = 100;
        let RepeatDecision { parts, store, .. } = *self;
        let Some(time) = marked.first().map(|entry| entry.time) else { return Ok(()) };
        self.quota.check(marked.len() as u64 * EACH, "events that parts repeat at one time")?;
        let document = |entry: &Entry| parts.number(entry.place.offset());
        let mut all: HashMap<&[u8], Documents> = HashMap::default();
        for entry in marked {
            let first = Documents { marked: document(entry), unmarked: None };
            all.entry(common(store.event(entry.place))).or_insert(first);
        }
        at(time, &mut |entry| {
            let event = store.event(entry.place);
            if !event.ends_with(END)
                && let Some(documents) = all.get_mut(common(event))
            {
                let (range, number) = (&mut documents.unmarked, document(&entry));
                let (least, most) = range.unwrap_or((number, number));
                *range = Some((least.min(number), most.max(number)));
            }
        });
        for entry in marked {
            let event = store.event(entry.place);
            if all[common(event)].have(document(entry)) {
                self.offsets.push(entry_at(entry.place))?;
                self.left_out.events += 1;
                self.left_out.bytes += event.len() as u64;
            }
        }
        Ok(())
    }
}

/// Returns an entry with the offset of an event as its time.
fn entry_at(place: Place) -> Entry {
    let offset = place.offset();
    Entry { time: offset as i64, place: Place::new(offset, 0, 0) }
}

/// The documents that have an event.
struct Documents {
    /// The first document with the event marked.
    marked: usize,
    /// The first and the last document with the event unmarked.
    unmarked: Option<(usize, usize)>,
}

impl Documents {
    /// Returns whether document `number` may drop its marked event: an earlier document has the
    /// event marked, or another document has the event unmarked.
    fn have(&self, number: usize) -> bool {
        self.marked != number || self.unmarked.is_some_and(|range| range != (number, number))
    }
}

/// Finds equal events, one time after another.
struct EqualEvents<'d, 'p> {
    order: Order<'d, 'p>,
    rewriter: EventRewriter<'d>,
    quota: Quota,
    time: i64,
    /// The events at `time`, and their total length in bytes.
    seen: HashSet<Vec<u8>>,
    bytes: u64,
}

impl EqualEvents<'_, '_> {
    /// Returns whether an event equals an earlier event of the same time. CPU profile chunks and
    /// marked events are never equal.
    fn has(&mut self, entry: Entry) -> Result<bool, Error> {
        if self.time != entry.time {
            (self.time, self.bytes) = (entry.time, 0);
            self.seen.clear();
        }
        let event = self.order.0.event(entry.place);
        if event.ends_with(END) || Role::of(&fields_of(event).of(event)).is_some() {
            return Ok(false);
        }
        let event = self.rewriter.apply(event, entry.place.offset());
        if self.seen.contains(event) {
            return Ok(true);
        }
        self.bytes += event.len() as u64;
        self.seen.insert(event.to_vec());
        self.quota.check(self.bytes, "events of one time")?;
        Ok(false)
    }
}

/// The repeated events to drop.
#[derive(Default)]
pub(crate) struct LeftOut {
    /// Offsets of the repeated events, stored as times.
    pub(crate) offsets: SpilledVec<Entry>,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
}

impl LeftOut {
    /// Adds the events in each of `runs` that are written with the same bytes as an earlier event.
    /// Equal events are in the same run.
    ///
    /// Cost: a copy of each event. Takes memory for the events of one time.
    ///
    /// # Errors
    /// Returns [`Exceeded`](tracemill_trace::run::error::ErrorKind::Exceeded) if the events of one
    /// time exceed the memory limit.
    pub(crate) fn add_equal(
        &mut self,
        runs: &[&EntryRuns],
        rewrite: &Rewrite,
        order: Order<'_, '_>,
        limits: &Limits,
    ) -> Result<(), Error> {
        let mut offsets =
            Gather::new(limits.lease("events left out", Share::of_index(1, 16)), order);
        self.offsets.iter().try_for_each(|entry| offsets.push(entry))?;
        for runs in runs {
            let rewriter = EventRewriter::new(&[rewrite], limits.tier.unwrap_or_else(Tier::best));
            let (quota, seen) = (limits.table_quota(), HashSet::default());
            let mut equal = EqualEvents { order, rewriter, quota, time: i64::MIN, seen, bytes: 0 };
            runs.each_in_order(order, |entry| {
                if !equal.has(entry)? {
                    return Ok(());
                }
                self.events += 1;
                self.bytes += order.0.len(entry.place);
                offsets.push(entry_at(entry.place))
            })?;
        }
        self.offsets = SpilledVec::sorted(offsets.finish()?, order)?;
        Ok(())
    }

    /// Returns whether the event at a place is dropped.
    pub(crate) fn has(&self, place: Place) -> bool {
        self.offsets.at_time(place.offset() as i64).next().is_some()
    }
}

/// Finds the marked events of one chunk.
#[derive(Default)]
pub(crate) struct RepeatLook(Vec<Entry>);

impl Look for RepeatLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if event.bytes.ends_with(END) && at.times.is_some() && !at.is_metadata {
            self.0.push(at.entry());
        }
        true
    }

    fn seal(&mut self, _: &mut ChunkStats) {
        self.0.sort_unstable();
    }
}

impl Observer for RepeatWatch {
    type Chunk = RepeatLook;

    fn starter(&self) -> Starter<RepeatLook> {
        Box::new(|_| RepeatLook::default())
    }

    fn ignores_plain_events(&self) -> bool {
        true
    }

    fn merge(&mut self, found: RepeatLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.0.push(found.0);
        if self.0.is_full() { self.0.spill(Order(&chunk.store())) } else { Ok(()) }
    }
}
