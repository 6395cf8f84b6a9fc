//! Ordered entries to bytes: batches of them gathered by several threads at once.

pub mod streamed_output;

use crate::layout::Layout;
use crate::patch::event_rewriter::{EventRewriter, Separators, write_styled};
use crate::patch::{Patcher, Repairs};
use crate::reordering::Reordering;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use streamed_output::{BatchOffset, StreamedOutput};
use tracemill_tokenizer::Tier;
use tracemill_trace::Limits;
use tracemill_trace::order::{Lists, Order, TimedEntries};
use tracemill_trace::output::{Batch, Sequencer, Turns};
use tracemill_trace::run::error::Error;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;

/// Events in a batch, where the source does not decide.
const BATCH: usize = 8 * 1024;

/// The events of an output in their order, with what changes in them.
pub struct OrderedEvents<'r, 's, 'p> {
    /// The order of the events, and their bytes.
    pub order: Order<'s, 'p>,
    /// What stands between the events.
    pub layout: Layout,
    /// Chunks of CPU profiles that are delayed.
    pub delays: Reordering,
    /// Metadata events and events without a time, which come first.
    pub lists: &'r Lists,
    /// The other events.
    pub timed: TimedEntries<'r>,
    /// What changes in events, one after the other.
    pub patchers: Vec<&'r dyn Patcher>,
}

/// What comes next, while workers take it a portion at a time.
struct BatchQueue<I> {
    /// The number of the portion.
    portion: usize,
    lists: I,
    lists_done: bool,
    bucket: usize,
}

/// What a worker has taken and not yet written: batches of its last portion, where some of that is delayed.
struct PendingBatches<'e> {
    batches: std::vec::IntoIter<TakenBatch>,
    rest: Box<dyn Iterator<Item = Entry> + Send + 'e>,
}

impl Default for PendingBatches<'_> {
    fn default() -> Self {
        PendingBatches { batches: Vec::new().into_iter(), rest: Box::new(std::iter::empty()) }
    }
}

/// A batch taken by a worker.
struct TakenBatch {
    number: usize,
    offset: u64,
    /// Bytes as long as no name changes.
    len: u64,
    /// The number of its first event.
    index: u64,
}

impl BatchOffset {
    /// Takes a batch of so many events and bytes.
    fn take(&mut self, layout: Layout, events: u64, bytes: u64) -> TakenBatch {
        let &mut BatchOffset { number, offset, index } = self;
        if events == 0 {
            return TakenBatch { number, offset, len: 0, index };
        }
        let len = layout.batch_len(events, bytes, index == 0);
        *self = BatchOffset { number: number + 1, offset: offset + len, index: index + events };
        TakenBatch { number, offset, len, index }
    }
}

impl<'s, 'p> OrderedEvents<'_, 's, 'p> {
    fn store(&self) -> &'s Store<'p> {
        self.order.0
    }

    /// Whether events may become longer or shorter than they stand.
    pub(crate) fn changes_lengths(&self, limits: &Limits) -> bool {
        !self.patchers.is_empty() || limits.repair
    }

    /// What changes in the events of a batch, for each worker; `None` if nothing does.
    fn patched(&self, limits: &Limits, tier: Tier) -> Option<EventRewriter<'_>> {
        let mut patchers = self.patchers.clone();
        patchers.extend(limits.repair.then_some(&Repairs as &dyn Patcher));
        self.changes_lengths(limits).then(|| EventRewriter::new(&patchers, tier))
    }

    /// Calls `each` with all entries in exact order, a batch at a time, on this thread.
    pub fn each_batch(
        &self,
        mut each: impl FnMut(&[Entry]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let next = Mutex::new(self.start(0));
        let ahead = Sequencer::new(0, BatchOffset { number: 1, offset: 0, index: 0 });
        let (mut portion, mut entries) = (PendingBatches::default(), Vec::new());
        while self.take(&next, &ahead, &mut portion, &mut entries)?.is_some() {
            each(&entries)?;
        }
        Ok(())
    }

    /// Before the first portion; `done` events stand before it, all of the lists.
    fn start(&self, done: u64) -> BatchQueue<impl Iterator<Item = Place>> {
        let lists = self.lists.iter().skip(done as usize);
        BatchQueue { portion: 0, lists, lists_done: false, bucket: 0 }
    }

    /// Writes all events but those that the output has already.
    pub(crate) fn write(
        &self,
        begun: &StreamedOutput,
        limits: &Limits,
    ) -> Result<WriteTotals, Error> {
        let &StreamedOutput { ref output, next: first, .. } = begun;
        let next = Mutex::new(self.start(first.index));
        let ahead = Sequencer::new(0, first);
        let (events, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let breaks = AtomicUsize::new(0);
        let turns = Turns::new(first.number, first.offset);
        let tier = limits.tier.unwrap_or_else(Tier::best);
        let work = || -> Result<(), Error> {
            let (mut portion, mut entries) = (PendingBatches::default(), Vec::new());
            let (mut buffer, mut patched) = (Vec::new(), self.patched(limits, tier));
            while let Some(taken) = self.take(&next, &ahead, &mut portion, &mut entries)? {
                limits.cancel.check()?;
                events.fetch_add(entries.len() as u64, Ordering::Relaxed);
                let mut batch = match self.changes_lengths(limits) {
                    true => output.batch_in_turn(taken.number, &turns, &mut buffer),
                    false => output.batch(taken.number, taken.offset, &mut buffer),
                };
                let (escaped, len) = self.gather(&entries, &taken, patched.as_mut(), &mut batch)?;
                bytes.fetch_add(len, Ordering::Relaxed);
                breaks.fetch_add(escaped, Ordering::Relaxed);
                batch.finish()?;
            }
            if let Some(patched) = &mut patched {
                patched.finish();
            }
            Ok(())
        };
        output.fill(limits, work, || {
            ahead.give_up();
            turns.give_up();
        })?;
        Ok(WriteTotals {
            batches: ahead.into_state().number,
            end: first.offset + bytes.into_inner(),
            events: events.into_inner(),
            breaks_escaped: breaks.into_inner() as u64,
        })
    }

    /// Fills `entries` with the next batch, in exact order; `None` at the end.
    ///
    /// Workers wait for each other only to take a portion and to learn where its bytes go;
    /// each sorts and measures its own portion.
    fn take<'e>(
        &'e self,
        next: &Mutex<BatchQueue<impl Iterator<Item = Place>>>,
        ahead: &Sequencer<BatchOffset>,
        portion: &mut PendingBatches<'e>,
        entries: &mut Vec<Entry>,
    ) -> Result<Option<TakenBatch>, Error> {
        loop {
            entries.clear();
            if let Some(taken) = portion.batches.next() {
                entries.extend(portion.rest.by_ref().take(BATCH));
                return Ok(Some(taken));
            }
            let mut state = next.lock().unwrap_or_else(|e| e.into_inner());
            let mut bucket = None;
            if !self.take_some(&mut state, entries, &mut bucket) {
                return Ok(None);
            }
            let number = state.portion;
            state.portion += 1;
            drop(state);
            let collected = bucket.zip(match &self.timed {
                TimedEntries::Buckets(buckets) => Some(buckets),
                TimedEntries::Merged(_) => None,
            });
            if let Some((bucket, buckets)) = collected {
                buckets.collect(bucket, entries);
            }
            if self.delays.is_empty() {
                let (events, bytes) = self.measure(entries.iter().copied());
                let taken = ahead.pass(number, |ahead| ahead.take(self.layout, events, bytes))?;
                if entries.is_empty() {
                    continue;
                }
                if collected.is_some() {
                    self.order.resolve_ties(entries);
                }
                return Ok(Some(taken));
            }
            // which events a batch has is known only when it is in order
            if collected.is_some() {
                self.order.resolve_ties(entries);
            }
            let (mut sizes, mut delayed) = (Vec::new(), self.delays.apply(entries.clone()));
            loop {
                match self.measure(delayed.by_ref().take(BATCH)) {
                    (0, _) => break,
                    size => sizes.push(size),
                }
            }
            let place = |ahead: &mut BatchOffset| -> Vec<TakenBatch> {
                let take = |(events, bytes)| ahead.take(self.layout, events, bytes);
                sizes.into_iter().map(take).collect()
            };
            portion.batches = ahead.pass(number, place)?.into_iter();
            portion.rest = Box::new(self.delays.apply(std::mem::take(entries)));
        }
    }

    /// Takes what comes next in the order, or the number of the bucket that has it; false at the end.
    fn take_some(
        &self,
        state: &mut BatchQueue<impl Iterator<Item = Place>>,
        entries: &mut Vec<Entry>,
        bucket: &mut Option<usize>,
    ) -> bool {
        if !state.lists_done {
            let places = state.lists.by_ref().take(BATCH);
            entries.extend(places.map(|place| Entry { time: i64::MIN, place }));
            state.lists_done = entries.is_empty();
        }
        if !entries.is_empty() {
            return true;
        }
        match &self.timed {
            TimedEntries::Buckets(buckets) if state.bucket < buckets.count() => {
                *bucket = Some(state.bucket);
                state.bucket += 1;
                true
            }
            TimedEntries::Buckets(_) => false,
            TimedEntries::Merged(runs) => {
                let mut runs = runs.lock().unwrap_or_else(|e| e.into_inner());
                runs.next_batch(self.order, BATCH, entries);
                !entries.is_empty()
            }
        }
    }

    /// How many entries there are, and their bytes.
    fn measure(&self, entries: impl Iterator<Item = Entry>) -> (u64, u64) {
        entries.fold((0, 0), |(count, bytes), entry| {
            (count + 1, bytes + self.store().len(entry.place))
        })
    }

    /// Appends the events of a batch with what stands between them; returns raw line breaks escaped, and bytes.
    fn gather(
        &self,
        entries: &[Entry],
        taken: &TakenBatch,
        patched: Option<&mut EventRewriter<'_>>,
        batch: &mut Batch<'_>,
    ) -> Result<(usize, u64), Error> {
        let first = taken.index == 0;
        let separator = if first { self.layout.first } else { self.layout.next };
        if self.layout.is_verbatim() {
            let longer = match patched {
                None => {
                    let places = entries.iter().map(|entry| entry.place);
                    self.layout.copy(places, first, self.store(), batch)?;
                    0
                }
                Some(patched) => {
                    let around = Separators { opening: separator, separator: self.layout.next };
                    patched.gather(entries, taken.index, self.store(), around, batch)?
                }
            };
            return Ok((0, taken.len.saturating_add_signed(longer)));
        }
        let places = entries.iter().map(|entry| entry.place);
        write_styled(self.layout, places, first, self.store(), patched, batch)
    }
}

/// What was written between opening and closing.
pub(crate) struct WriteTotals {
    /// The number of the batch that comes next.
    pub(crate) batches: usize,
    /// Where it begins.
    pub(crate) end: u64,
    pub(crate) events: u64,
    /// Raw line breaks in strings that became escapes.
    pub(crate) breaks_escaped: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::merged_keys::MergedKeys;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use tracemill_trace::order::Buckets;
    use tracemill_trace::output::Length;
    use tracemill_trace::output::target::{Compression, Format, OutputConfig};
    use tracemill_trace::store::{Payload, Segment};

    /// Batches that wait for their turn behind one that never comes, since its worker panics.
    #[test]
    fn a_panic_of_a_worker_ends_all() {
        let mut bytes = memmap2::MmapMut::map_anon(4096).expect("memory");
        bytes[..2].copy_from_slice(b"{}");
        let payload = Payload::Segments(vec![Segment { base: 0, bytes, filled: 2 }]);
        let store = Store::of_one(&payload);
        // the first one stands behind the end of the input
        let offset = |time| if time == 0 { 1 << 30 } else { 0 };
        let entry = |time| Entry { time, place: Place::new(offset(time), 2, 0) };
        let entries: Vec<Entry> = (0..100_000).map(entry).collect();
        let dir = tempfile::tempdir().expect("writable");
        let config = Limits::new(3, 64 << 20, dir.path());
        let compression = Compression::Gzip { level: 1 };
        let file = OutputConfig { compression, ..OutputConfig::file(dir.path().join("out")) };
        let emit = OrderedEvents {
            order: Order(&store),
            layout: Layout::of(Format::Array),
            delays: Reordering::default(),
            lists: &Lists::default(),
            timed: TimedEntries::Buckets(Buckets::over(std::iter::once(&entries[..]))),
            patchers: Vec::new(),
        };
        let written = catch_unwind(AssertUnwindSafe(|| {
            let keys = MergedKeys::default();
            let begun = StreamedOutput::new(emit.layout, &keys, &file, &config, Length::Unknown)
                .expect("writable");
            emit.write(&begun, &config).map(|written| written.events)
        }));
        assert!(written.is_err(), "{written:?}");
    }
}
