//! Writes ordered entries as bytes, in batches that several threads gather at once.

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

/// Number of events in a batch taken from lists or merged runs.
const BATCH: usize = 8 * 1024;

/// The events of an output in order, and the patchers that change them.
pub struct OrderedEvents<'r, 's, 'p> {
    /// The order of events, with access to their bytes.
    pub order: Order<'s, 'p>,
    /// The text between the events.
    pub layout: Layout,
    /// CPU profile chunks that are delayed.
    pub delays: Reordering,
    /// Metadata events and events without a time. These events come first in the output.
    pub lists: &'r Lists,
    /// Events with a time, except metadata.
    pub timed: TimedEntries<'r>,
    /// Changes to events, applied in this order.
    pub patchers: Vec<&'r dyn Patcher>,
}

/// The position up to which workers have taken portions of the events.
struct BatchQueue<I> {
    portion: usize,
    lists: I,
    lists_done: bool,
    bucket: usize,
}

/// Batches of a portion that a worker has not written yet; used if chunks are delayed.
struct PendingBatches<'e> {
    batches: std::vec::IntoIter<TakenBatch>,
    rest: Box<dyn Iterator<Item = Entry> + Send + 'e>,
}

impl Default for PendingBatches<'_> {
    fn default() -> Self {
        PendingBatches { batches: Vec::new().into_iter(), rest: Box::new(std::iter::empty()) }
    }
}

struct TakenBatch {
    number: usize,
    offset: u64,
    /// Length in bytes before patches are applied.
    len: u64,
    /// Index in the output of the batch's first event.
    index: u64,
}

impl BatchOffset {
    /// Reserves the position of a batch with this number of events and bytes.
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

    /// Returns whether written events may differ in length from the events of the inputs.
    pub(crate) fn changes_lengths(&self, limits: &Limits) -> bool {
        !self.patchers.is_empty() || limits.repair
    }

    /// Creates the rewriter of a worker, or `None` if no event changes.
    fn patched(&self, limits: &Limits, tier: Tier) -> Option<EventRewriter<'_>> {
        let mut patchers = self.patchers.clone();
        patchers.extend(limits.repair.then_some(&Repairs as &dyn Patcher));
        self.changes_lengths(limits).then(|| EventRewriter::new(&patchers, tier))
    }

    /// Calls `each` with all entries in exact order, in batches, on this thread.
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

    /// Returns the queue before its first portion. Skips `done` list entries, which are already
    /// written.
    fn start(&self, done: u64) -> BatchQueue<impl Iterator<Item = Place>> {
        let lists = self.lists.iter().skip(done as usize);
        BatchQueue { portion: 0, lists, lists_done: false, bucket: 0 }
    }

    /// Writes all events that the output does not have yet.
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

    /// Fills `entries` with the next batch in exact order. Returns `None` at the end.
    ///
    /// Workers wait for each other only to take a portion and to learn its offset.
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
            // the delays change which events belong to a batch, so the portion is ordered first
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

    /// Takes the next entries, or the number of the bucket that has them. Returns false at the end.
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

    fn measure(&self, entries: impl Iterator<Item = Entry>) -> (u64, u64) {
        entries.fold((0, 0), |(count, bytes), entry| {
            (count + 1, bytes + self.store().len(entry.place))
        })
    }

    /// Appends the events of a batch with separators. Returns the number of escaped line breaks,
    /// and the number of bytes.
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

pub(crate) struct WriteTotals {
    /// The number of the next batch.
    pub(crate) batches: usize,
    /// Offset after the last event.
    pub(crate) end: u64,
    pub(crate) events: u64,
    /// Number of raw line breaks in strings that were escaped.
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

    #[test]
    fn a_panic_of_one_worker_ends_all_workers() {
        let mut bytes = memmap2::MmapMut::map_anon(4096).expect("memory");
        bytes[..2].copy_from_slice(b"{}");
        let payload = Payload::Segments(vec![Segment { base: 0, bytes, filled: 2 }]);
        let store = Store::of_one(&payload);
        // the offset of the first event is outside the input
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
