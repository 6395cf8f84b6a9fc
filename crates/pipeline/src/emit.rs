//! Ordered entries to bytes: batches of them gathered by several threads at once.

use crate::begun::Begun;
use crate::config::Config;
use crate::delays::Delays;
use crate::identity::{Renamer, Rewrite};
use crate::layout::Layout;
use crate::patched::Patched;
use crate::viewer::{Retouch, Retoucher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tracemill_core::entry::Entry;
use tracemill_core::error::Error;
use tracemill_core::order::{Buckets, Lists, Order, Timed};
use tracemill_core::output::{Batch, Output, Turns};
use tracemill_core::place::Place;
use tracemill_core::store::Store;
use tracemill_core::threads::on_threads;
use tracemill_tokenizer::{Tier, Validator};

/// Events in a batch, where the source does not decide.
const BATCH: usize = 8 * 1024;

/// Everything that workers share.
pub(crate) struct Emit<'r, 's, 'p> {
    pub(crate) order: Order<'s, 'p>,
    pub(crate) layout: Layout,
    pub(crate) delays: Delays,
    pub(crate) lists: &'r Lists,
    pub(crate) timed: Timed<'r>,
    /// Names that change.
    pub(crate) rewrite: Option<Rewrite>,
    /// What else changes, for a viewer; never where events are not written as they stand.
    pub(crate) retouch: Option<Retouch>,
}

/// Where batches start.
struct Next<'e, I> {
    number: usize,
    /// Offset in the output.
    offset: u64,
    /// Events given out.
    index: u64,
    lists: I,
    lists_done: bool,
    bucket: usize,
    /// What is still to come of the events taken last, where some are delayed.
    rest: Box<dyn Iterator<Item = Entry> + Send + 'e>,
}

/// A batch taken by a worker.
struct Taken {
    number: usize,
    offset: u64,
    /// Bytes as long as no name changes.
    len: u64,
    /// The number of its first event.
    index: u64,
}

impl<'s, 'p> Emit<'_, 's, 'p> {
    fn store(&self) -> &'s Store<'p> {
        self.order.0
    }

    /// Whether events may become longer or shorter than they stand.
    pub(crate) fn changes_lengths(&self, config: &Config) -> bool {
        self.rewrite.is_some() || self.retouch.is_some() || config.repair
    }

    /// What changes in the events of a batch, for each worker; `None` if nothing does.
    fn patched(&self, config: &Config, tier: Tier) -> Option<Patched<'_>> {
        let renamer = || Renamer::new(self.rewrite.as_ref().unwrap_or(Rewrite::nothing()), tier);
        let retoucher = self.retouch.as_ref().map(|retouch| Retoucher::new(retouch, tier));
        let repairs = config.repair.then(|| Validator::new(tier));
        self.changes_lengths(config).then(|| Patched::new(renamer(), retoucher, repairs))
    }

    /// Calls `each` with all entries in exact order, a batch at a time, on this thread.
    pub(crate) fn each_batch(
        &self,
        mut each: impl FnMut(&[Entry]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (next, mut entries) = (Mutex::new(self.start((1, 0), 0)), Vec::new());
        while self.take(&next, &mut entries).is_some() {
            each(&entries)?;
        }
        Ok(())
    }

    /// Before the batch of this number, which goes to this offset; `done` events stand before it, all of the lists.
    fn start(
        &self,
        (number, offset): (usize, u64),
        done: u64,
    ) -> Next<'_, impl Iterator<Item = Place>> {
        let lists = self.lists.iter().skip(done as usize);
        let rest = Box::new(std::iter::empty());
        Next { number, offset, index: done, lists, lists_done: false, bucket: 0, rest }
    }

    /// Writes all events that `begun` does not have yet.
    pub(crate) fn write(&self, begun: &Begun, config: &Config) -> Result<Written, Error> {
        let Begun { output, next: (number, offset), events, .. } = begun;
        let (number, offset) = (*number, *offset);
        let next = Mutex::new(self.start((number, offset), *events));
        let (events, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let breaks = AtomicUsize::new(0);
        let turns = Turns::new(number, offset);
        let tier = config.tier.unwrap_or_else(Tier::best);
        let work = || -> Result<(), Error> {
            let (mut entries, mut buffer) = (Vec::new(), Vec::new());
            let mut patched = self.patched(config, tier);
            while let Some(taken) = self.take(&next, &mut entries) {
                config.cancel.check()?;
                events.fetch_add(entries.len() as u64, Ordering::Relaxed);
                let mut batch = match self.changes_lengths(config) {
                    true => output.batch_in_turn(taken.number, &turns, &mut buffer),
                    false => output.batch(taken.number, taken.offset, &mut buffer),
                };
                let (escaped, len) = self.gather(&entries, &taken, patched.as_mut(), &mut batch)?;
                bytes.fetch_add(len, Ordering::Relaxed);
                breaks.fetch_add(escaped, Ordering::Relaxed);
                batch.finish()?;
            }
            if let (Some(retouch), Some(patched)) = (&self.retouch, &patched) {
                retouch.count(&patched.changes());
            }
            Ok(())
        };
        let results = on_threads(Output::workers(config), || {
            let result = catch_unwind(AssertUnwindSafe(work));
            // others must not wait for a turn that will not come, whatever the reason
            if !matches!(result, Ok(Ok(()))) {
                output.give_up();
                turns.give_up();
            }
            result.unwrap_or_else(|panic| resume_unwind(panic))
        });
        // a worker that lost its turn says "broken pipe"; the one that caused it knows more
        let failures = results.into_iter().filter_map(Result::err);
        if let Some(error) =
            failures.min_by_key(|e| e.class() == tracemill_core::error::ErrorClass::BrokenPipe)
        {
            return Err(error);
        }
        let (next, bytes) =
            (next.into_inner().unwrap_or_else(|e| e.into_inner()), bytes.into_inner());
        Ok(Written {
            batches: next.number,
            end: offset + bytes,
            events: events.into_inner(),
            breaks_escaped: breaks.into_inner() as u64,
        })
    }

    /// Fills `entries` with the next batch, in exact order; `None` at the end.
    fn take<'e>(
        &'e self,
        next: &Mutex<Next<'e, impl Iterator<Item = Place>>>,
        entries: &mut Vec<Entry>,
    ) -> Option<Taken> {
        loop {
            entries.clear();
            let mut state = next.lock().unwrap_or_else(|e| e.into_inner());
            entries.extend(state.rest.by_ref().take(BATCH));
            let mut bucket = None;
            if entries.is_empty() {
                if !self.take_some(&mut state, entries, &mut bucket) {
                    return None;
                }
                if !self.delays.is_empty() {
                    // which events a batch has is known only when it is in order
                    self.fill(bucket, entries);
                    state.rest = Box::new(self.delays.apply(std::mem::take(entries)));
                    continue;
                }
            }
            let (count, bytes) = match (bucket, &self.timed) {
                (Some(bucket), Timed::Buckets(buckets)) => self.measure(buckets, bucket),
                _ => {
                    (entries.len() as u64, entries.iter().map(|e| self.store().len(e.place)).sum())
                }
            };
            if count == 0 {
                continue;
            }
            let len = self.layout.batch_len(count, bytes, state.index == 0);
            let (number, offset, index) = (state.number, state.offset, state.index);
            let taken = Taken { number, offset, len, index };
            state.offset += len;
            state.number += 1;
            state.index += count;
            drop(state);
            self.fill(bucket, entries);
            return Some(taken);
        }
    }

    /// Takes what comes next in the order, or the number of the bucket that has it; false at the end.
    fn take_some(
        &self,
        state: &mut Next<'_, impl Iterator<Item = Place>>,
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
            Timed::Buckets(buckets) if state.bucket < buckets.count() => {
                *bucket = Some(state.bucket);
                state.bucket += 1;
                true
            }
            Timed::Buckets(_) => false,
            Timed::Merged(runs) => {
                let mut runs = runs.lock().unwrap_or_else(|e| e.into_inner());
                runs.next_batch(self.order, BATCH, entries);
                !entries.is_empty()
            }
        }
    }

    /// Puts the entries of a bucket, if there is one, into `entries`, in exact order.
    fn fill(&self, bucket: Option<usize>, entries: &mut Vec<Entry>) {
        if let (Some(bucket), Timed::Buckets(buckets)) = (bucket, &self.timed) {
            buckets.collect(bucket, entries);
            self.order.settle(entries);
        }
    }

    /// Events and bytes of a bucket.
    fn measure(&self, buckets: &Buckets<'_>, bucket: usize) -> (u64, u64) {
        buckets.slices(bucket).flatten().fold((0, 0), |(count, bytes), entry| {
            (count + 1, bytes + self.store().len(entry.place))
        })
    }

    /// Appends the events of a batch with what stands between them; returns raw line breaks escaped, and bytes.
    fn gather(
        &self,
        entries: &[Entry],
        taken: &Taken,
        patched: Option<&mut Patched<'_>>,
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
                    let around = (separator, self.layout.next);
                    patched.gather((entries, taken.index), self.store(), around, batch)?
                }
            };
            return Ok((0, taken.len.strict_add_signed(longer)));
        }
        let places = entries.iter().map(|entry| entry.place);
        write_styled(self.layout, (places, first), self.store(), patched, batch)
    }
}

/// Appends events in the style of a layout, with what stands before each; returns raw line breaks escaped, and bytes.
pub(crate) fn write_styled(
    layout: Layout,
    (places, first): (impl Iterator<Item = Place>, bool),
    store: &Store<'_>,
    mut patched: Option<&mut Patched<'_>>,
    batch: &mut Batch<'_>,
) -> Result<(usize, u64), Error> {
    let mut separator = if first { layout.first } else { layout.next };
    let (mut escaped, mut bytes, mut line) = (0, 0, Vec::new());
    for place in places {
        batch.push(separator)?;
        bytes += separator.len() as u64;
        separator = layout.next;
        line.clear();
        let event = store.event(place);
        let event = match &mut patched {
            None => event,
            Some(patched) => patched.apply(event, place.offset()),
        };
        escaped += layout.text.write(event, &mut line);
        bytes += line.len() as u64;
        batch.push(&line)?;
    }
    Ok((escaped, bytes))
}

/// What was written between opening and closing.
pub(crate) struct Written {
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
    use crate::keys::United;
    use tracemill_core::output::Length;
    use tracemill_core::store::{Payload, Segment};
    use tracemill_core::target::{Compression, Format, OutputConfig};

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
        let config = Config::new(3, 64 << 20, dir.path());
        let compression = Compression::Gzip { level: 1 };
        let file = OutputConfig { compression, ..OutputConfig::file(dir.path().join("out")) };
        let emit = Emit {
            order: Order(&store),
            layout: Layout::of(Format::Array),
            delays: Delays::default(),
            lists: &Lists::Memory([Vec::new(), Vec::new()]),
            timed: Timed::Buckets(Buckets::over(std::iter::once(&entries[..]))),
            rewrite: None,
            retouch: None,
        };
        let written = catch_unwind(AssertUnwindSafe(|| {
            let opening = (emit.layout, &United::default());
            let begun = Begun::new(opening, &file, &config, Length::Unknown).expect("writable");
            emit.write(&begun, &config).map(|written| written.events)
        }));
        assert!(written.is_err(), "{written:?}");
    }
}
