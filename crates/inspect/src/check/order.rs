//! Checks the order of events: whether all timed events, and those of each thread, are sorted, and
//! whether metadata and untimed events come first.

use super::rules::Kind;
use super::tallies::Tallies;
use tracemill_tokenizer::{Event, Field, Nanos};
use tracemill_trace::order::Stamp;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::spill::tally::Tally;

#[derive(Clone, Debug)]
struct OrderedStretch {
    first: Stamp,
    first_offset: u64,
    last: Stamp,
}

impl OrderedStretch {
    fn is_after(&self, later: &OrderedStretch) -> bool {
        self.last > later.first
    }
}

/// Order of one thread within a range of the input.
struct ThreadOrder {
    run: Option<OrderedStretch>,
    process: u64,
    /// Offset of the first event of phase B, E, X or I.
    shown: u64,
    pairs: Tally,
    has_end: bool,
}

/// A timed event with its parsed fields.
pub(super) struct TimedEvent<'e> {
    pub(super) event: &'e Event<'e>,
    pub(super) phase: u8,
    pub(super) offset: u64,
    /// Hash of the event's pid and tid; `process` is the hash of the pid.
    pub(super) thread: u64,
    pub(super) process: u64,
    pub(super) ts: Nanos,
    pub(super) dur: Option<Nanos>,
}

#[derive(Default)]
pub(super) struct Orders {
    all: Option<OrderedStretch>,
    threads: HashMap<u64, ThreadOrder>,
    /// Whether any event except metadata was seen, and whether any timed event was seen.
    seen: [bool; 2],
    in_front: [Tally; 2],
}

const LATE: [Kind; 2] = [Kind::LateMetadata, Kind::LateUntimed];

impl Orders {
    pub(super) fn note_metadata(&mut self, offset: u64, tallies: &mut Tallies) {
        self.note_early(0, offset, tallies);
    }

    pub(super) fn note_untimed(&mut self, offset: u64, tallies: &mut Tallies) {
        self.seen[0] = true;
        self.note_early(1, offset, tallies);
    }

    fn note_early(&mut self, which: usize, offset: u64, tallies: &mut Tallies) {
        if self.seen[which] {
            tallies.add(LATE[which], offset);
        } else {
            self.in_front[which].add(offset);
        }
    }

    /// Checks the order of a timed event.
    pub(super) fn note(&mut self, timed: &TimedEvent<'_>, tallies: &mut Tallies) {
        self.seen = [true; 2];
        let &TimedEvent { event, phase, offset, thread, process, ts, dur } = timed;
        let stamp = Stamp::of(event, ts, dur);
        let none = || ThreadOrder {
            run: None,
            process,
            shown: u64::MAX,
            pairs: Tally::default(),
            has_end: false,
        };
        let thread = self.threads.entry(thread).or_insert_with(none);
        if matches!(phase, b'B' | b'E' | b'X' | b'I') {
            thread.shown = thread.shown.min(offset);
        }
        if matches!(phase, b'B' | b'E') {
            thread.pairs.add(offset);
            thread.has_end |= phase == b'E';
        }
        // times of chunks depend on earlier chunks, and DevTools reads chunks by stream
        if phase == b'P' && event.is_string(Field::Name, b"ProfileChunk") {
            return;
        }
        if note_stamp(&mut thread.run, stamp, offset) {
            tallies.add(Kind::UnsortedThread, offset);
        }
        if note_stamp(&mut self.all, stamp, offset) {
            tallies.add(Kind::Unsorted, offset);
        }
    }

    pub(super) fn append(&mut self, later: Orders, tallies: &mut Tallies) {
        for (which, &kind) in LATE.iter().enumerate() {
            if self.seen[which] {
                tallies.append_one(kind, &later.in_front[which]);
            }
            self.seen[which] |= later.seen[which];
        }
        if join(&mut self.all, later.all.as_ref()) {
            let first = later.all.map_or(0, |run| run.first_offset);
            tallies.add(Kind::Unsorted, first);
        }
        #[expect(clippy::iter_over_hash_type, reason = "each thread is joined on its own")]
        for (key, thread) in later.threads {
            match self.threads.get_mut(&key) {
                Some(earlier) => {
                    if join(&mut earlier.run, thread.run.as_ref()) {
                        let first = thread.run.map_or(0, |run| run.first_offset);
                        tallies.add(Kind::UnsortedThread, first);
                    }
                    earlier.shown = earlier.shown.min(thread.shown);
                    earlier.pairs.append(&thread.pairs);
                    earlier.has_end |= thread.has_end;
                }
                None => drop(self.threads.insert(key, thread)),
            }
        }
    }

    pub(super) fn heap(&self) -> u64 {
        (self.threads.capacity() * size_of::<(u64, ThreadOrder)>()) as u64
    }

    /// Resets the order for the next input.
    pub(super) fn end_input(&mut self) {
        self.all = None;
        self.seen = [false; 2];
        self.threads.values_mut().for_each(|thread| thread.run = None);
    }

    /// Tallies all B and E events if several threads have such events and at least one of the
    /// events is an E.
    pub(super) fn note_pairs(&self, tallies: &mut Tallies) {
        let paired = || self.threads.values().filter(|thread| thread.pairs.count > 0);
        if paired().count() > 1 && paired().any(|thread| thread.has_end) {
            paired().for_each(|thread| tallies.append_one(Kind::BeThreads, &thread.pairs));
        }
    }

    /// Returns the processes with B, E, X or I events, each with the offset of the first such
    /// event.
    pub(super) fn processes(&self) -> HashMap<u64, u64> {
        let mut processes = HashMap::default();
        for thread in self.threads.values().filter(|thread| thread.shown != u64::MAX) {
            let first = processes.entry(thread.process).or_insert(thread.shown);
            *first = thread.shown.min(*first);
        }
        processes
    }
}

/// Extends `run` to `stamp`. Returns whether `stamp` is before the end of `run`.
#[inline]
fn note_stamp(run: &mut Option<OrderedStretch>, stamp: Stamp, offset: u64) -> bool {
    match run {
        Some(run) => {
            let wrong = run.last > stamp;
            run.last = stamp;
            wrong
        }
        None => {
            *run = Some(OrderedStretch { first: stamp, first_offset: offset, last: stamp });
            false
        }
    }
}

/// Appends the range `later` to `run`. Returns whether `later` begins before the end of `run`.
fn join(run: &mut Option<OrderedStretch>, later: Option<&OrderedStretch>) -> bool {
    let Some(later) = later else { return false };
    match run {
        Some(run) => {
            let wrong = run.is_after(later);
            run.last = later.last;
            wrong
        }
        None => {
            *run = Some(later.clone());
            false
        }
    }
}
