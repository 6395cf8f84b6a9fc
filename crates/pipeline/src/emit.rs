//! Ordered entries to bytes: batches of them gathered by several threads at once.

use crate::config::{Config, Format};
use crate::error::Error;
use crate::keys::United;
use crate::order::{Buckets, Entry, Lists, MergedRuns, Order};
use crate::output::{Batch, Output};
use crate::store::{Place, Store};
use crate::streams::Delays;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tracemill_tokenizer::on_one_line;

/// Events in a batch, where the source does not decide.
const BATCH: usize = 8 * 1024;

/// What stands around the events in a format.
#[derive(Clone, Copy)]
pub(crate) struct Layout {
    pub(crate) format: Format,
    /// Before the first event.
    first: &'static [u8],
    /// Before every other.
    next: &'static [u8],
    /// After the last one, if there is any; after the opening otherwise.
    close: &'static [u8],
}

impl Layout {
    pub(crate) fn of(format: Format) -> Self {
        let (first, next, close): (&[u8], &[u8], &[u8]) = match format {
            Format::Object => (b"\n", b",\n", b"\n]"),
            Format::Array => (b"\n", b",\n", b"\n]\n"),
            Format::Ndjson => (b"", b"\n", b"\n"),
        };
        Layout { format, first, next, close }
    }

    /// Whether events are written as they stand, so that the output's length is known before.
    pub(crate) fn is_verbatim(self) -> bool {
        self.format != Format::Ndjson
    }

    /// Bytes between the opening and the closing for events of these lengths in all.
    pub(crate) fn events_len(self, events: u64, bytes: u64) -> u64 {
        match events {
            0 => 0,
            _ => bytes + self.first.len() as u64 + (events - 1) * self.next.len() as u64,
        }
    }

    /// The bytes before the first event.
    pub(crate) fn opening(self, keys: &United<'_>) -> Vec<u8> {
        match self.format {
            Format::Object => b"{\"traceEvents\":[".to_vec(),
            Format::Array => b"[".to_vec(),
            Format::Ndjson if keys.keys.is_empty() => Vec::new(),
            Format::Ndjson => {
                let mut line = b"{\"tracemill\":{".to_vec();
                for (i, key) in keys.keys.iter().enumerate() {
                    line.extend_from_slice(if i > 0 { b"," } else { b"" });
                    line.extend_from_slice(&key.name);
                    line.push(b':');
                    for piece in &key.value {
                        on_one_line(piece.as_slice(), &mut line);
                    }
                }
                line.extend_from_slice(b"}}\n");
                line
            }
        }
    }

    /// Length of what [`Layout::write_closing`] writes.
    pub(crate) fn closing_len(self, keys: &United<'_>) -> u64 {
        let mut len = self.close.len() as u64;
        if self.format == Format::Object {
            for key in &keys.keys {
                let value: usize = key.value.iter().map(|piece| piece.as_slice().len()).sum();
                len += (b",\n".len() + key.name.len() + b":".len() + value) as u64;
            }
            len += b"}\n".len() as u64;
        }
        len
    }

    /// The bytes behind the last event.
    pub(crate) fn write_closing(
        self,
        keys: &United<'_>,
        events: u64,
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        if self.format == Format::Ndjson && events == 0 {
            return Ok(());
        }
        batch.push(self.close)?;
        if self.format == Format::Object {
            for key in &keys.keys {
                batch.push(b",\n")?;
                batch.push(&key.name)?;
                batch.push(b":")?;
                key.value.iter().try_for_each(|piece| batch.push(piece.as_slice()))?;
            }
            batch.push(b"}\n")?;
        }
        Ok(())
    }
}

/// Timed events in order, to be taken a batch at a time.
pub(crate) enum Timed<'r> {
    /// Runs in memory: a batch is a bucket.
    Buckets(Buckets<'r>),
    /// Runs on disk.
    Merged(Mutex<MergedRuns<'r>>),
}

/// Everything that workers share.
pub(crate) struct Emit<'r, 's, 'p> {
    pub(crate) order: Order<'s, 'p>,
    pub(crate) layout: Layout,
    pub(crate) delays: Delays,
    pub(crate) lists: &'r Lists,
    pub(crate) timed: Timed<'r>,
}

/// Where batches start.
struct Next<I> {
    number: usize,
    /// Offset in the output.
    offset: u64,
    /// Whether no event was written yet.
    first: bool,
    lists: I,
    lists_done: bool,
    bucket: usize,
}

/// A batch taken by a worker.
struct Taken {
    number: usize,
    offset: u64,
    first: bool,
}

impl<'s, 'p> Emit<'_, 's, 'p> {
    fn store(&self) -> &'s Store<'p> {
        self.order.0
    }

    /// Writes all events behind `offset`, the output's batches from number 1 on.
    pub(crate) fn write(
        &self,
        output: &Output<'_>,
        offset: u64,
        config: &Config,
    ) -> Result<Written, Error> {
        let start = Next {
            number: 1,
            offset,
            first: true,
            lists: self.lists.iter(),
            lists_done: false,
            bucket: 0,
        };
        let next = Mutex::new(start);
        let (events, breaks) = (AtomicU64::new(0), AtomicUsize::new(0));
        let work = || -> Result<(), Error> {
            let (mut entries, mut buffer) = (Vec::new(), output.buffer()?);
            while let Some(taken) = self.take(&next, &mut entries) {
                events.fetch_add(entries.len() as u64, Ordering::Relaxed);
                let mut batch = output.batch(taken.number, taken.offset, &mut buffer);
                let escaped = self.gather(&entries, taken.first, &mut batch)?;
                breaks.fetch_add(escaped, Ordering::Relaxed);
                batch.finish()?;
            }
            Ok(())
        };
        let results: Vec<Result<(), Error>> = std::thread::scope(|scope| {
            let worker = || {
                let result = work();
                if result.is_err() {
                    output.give_up();
                }
                result
            };
            let others: Vec<_> = (1..config.threads).map(|_| scope.spawn(worker)).collect();
            let own = worker();
            let joined = others
                .into_iter()
                .map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            joined.chain([own]).collect()
        });
        // a worker that lost its turn says "broken pipe"; the one that caused it knows more
        let failures = results.into_iter().filter_map(Result::err);
        if let Some(error) =
            failures.min_by_key(|e| e.class() == crate::error::ErrorClass::BrokenPipe)
        {
            return Err(error);
        }
        let batches = next.into_inner().unwrap_or_else(|e| e.into_inner()).number;
        Ok(Written {
            batches,
            events: events.into_inner(),
            breaks_escaped: breaks.into_inner() as u64,
        })
    }

    /// Fills `entries` with the next batch, in exact order; `None` at the end.
    fn take(
        &self,
        next: &Mutex<Next<impl Iterator<Item = Place>>>,
        entries: &mut Vec<Entry>,
    ) -> Option<Taken> {
        loop {
            entries.clear();
            let mut state = next.lock().unwrap_or_else(|e| e.into_inner());
            let mut bucket = None;
            if !state.lists_done {
                let places = state.lists.by_ref().take(BATCH);
                entries.extend(places.map(|place| Entry { time: i64::MIN, place }));
                state.lists_done = entries.is_empty();
            }
            if entries.is_empty() {
                match &self.timed {
                    Timed::Buckets(buckets) if state.bucket < buckets.len() => {
                        bucket = Some(state.bucket);
                        state.bucket += 1;
                    }
                    Timed::Buckets(_) => return None,
                    Timed::Merged(runs) => {
                        let mut runs = runs.lock().unwrap_or_else(|e| e.into_inner());
                        runs.next_batch(self.order, BATCH, entries);
                        if entries.is_empty() {
                            return None;
                        }
                    }
                }
            }
            if !self.delays.is_empty() {
                // which events a batch has is known only when it is in order
                self.fill(bucket.take(), entries);
                self.delays.apply(entries);
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
            let taken = Taken { number: state.number, offset: state.offset, first: state.first };
            let opening = if state.first { self.layout.first } else { self.layout.next };
            let rest = (count - 1) * self.layout.next.len() as u64;
            state.offset += bytes + opening.len() as u64 + rest;
            state.number += 1;
            state.first = false;
            drop(state);
            self.fill(bucket, entries);
            return Some(taken);
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

    /// Appends the events of a batch with what stands between them; returns raw line breaks escaped.
    fn gather(
        &self,
        entries: &[Entry],
        first: bool,
        batch: &mut Batch<'_>,
    ) -> Result<usize, Error> {
        let mut separator = if first { self.layout.first } else { self.layout.next };
        if self.layout.is_verbatim() {
            return self.gather_verbatim(entries, separator, batch).map(|()| 0);
        }
        let (mut escaped, mut line) = (0, Vec::new());
        for entry in entries {
            batch.push(separator)?;
            separator = self.layout.next;
            line.clear();
            escaped += on_one_line(self.store().event(entry.place), &mut line);
            batch.push(&line)?;
        }
        Ok(escaped)
    }

    /// Copies events as they stand; neighbours that stand in the input as they will in the output in one go.
    fn gather_verbatim(
        &self,
        entries: &[Entry],
        opening: &[u8],
        batch: &mut Batch<'_>,
    ) -> Result<(), Error> {
        let store = self.store();
        let next = self.layout.next;
        let Some(first) = entries.first() else { return Ok(()) };
        batch.push(opening)?;
        let (mut start, mut len) = (first.place.offset(), store.len(first.place) as usize);
        let mut bytes = store.from(start);
        for entry in &entries[1..] {
            let (offset, own) = (entry.place.offset(), store.len(entry.place) as usize);
            let end = len + next.len();
            // what separates events in the input is most often what separates them in the output
            let separated = bytes.get(len..end).is_some_and(|between| same(between, next));
            // in a stream the next event may stand in the next piece, with only its start in this one
            if separated && offset == start + end as u64 && bytes.len() >= end + own {
                len = end + own;
                continue;
            }
            if separated {
                batch.push(&bytes[..end])?;
            } else {
                batch.push(&bytes[..len])?;
                batch.push(next)?;
            }
            bytes = store.from(offset);
            (start, len) = (offset, own);
        }
        batch.push(&bytes[..len])
    }
}

/// Equality of two short slices, without a call.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// What was written between opening and closing.
pub(crate) struct Written {
    /// The number of the batch that comes next.
    pub(crate) batches: usize,
    pub(crate) events: u64,
    /// Raw line breaks in strings that became escapes.
    pub(crate) breaks_escaped: u64,
}
