//! Cuts a sequence of events into parts, and finds the open slices at each cut.
//!
//! ```text
//!   sequence   e e e B e e │ e e E e e │ …      cuts between events, in output order
//!   part 2                   B'e e E e e        B': the begin event of an open slice, repeated
//! ```
//!
//! A step of the sequence is an event or a CPU profile stream. A stream is one step, at its
//! `Profile` event or otherwise at its first chunk, so it is never divided. Cost: one pass over the
//! sequence and one over begin and end events, whose names are read again. Memory depends on the
//! number of parts and of open slices.

use super::by::SplitBy;
use super::frames::{TraceFrames, UsedFrames};
use super::look::{TIMED, UNTIMED};
use crate::repeated::MARK;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use tracemill_tokenizer::fields_of;
use tracemill_trace::event::name_key;
use tracemill_trace::event::pairing::Begins;
use tracemill_trace::order::{MergedRuns, Order, Sequence, SortedRun};
use tracemill_trace::run::error::{Error, ErrorKind};
use tracemill_trace::run::limits::Quota;
use tracemill_trace::store::entry::Entry;

/// Maximum number of files per run; a larger number is probably a mistake.
pub(super) const PARTS_MOST: usize = 100_000;

/// Maximum number of slices of a thread to repeat at a cut. Deeper slices were probably never
/// ended.
const OPEN_MOST: usize = 1024;

/// Bytes between two events.
pub(super) const SEPARATOR: u64 = 2;

/// A CPU profile stream and its position in the sequence.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    pub(super) entry: Entry,
    /// The partition of its chunks.
    pub(super) chunks: u32,
    /// The partition of its thread.
    pub(super) thread: u32,
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// Whether `entry` is a chunk, which is not in the sequence.
    pub(super) is_chunk: bool,
}

/// The events between two cuts.
#[derive(Default)]
pub(super) struct CutStretch {
    /// The first entry; `None` for the start of the sequence.
    pub(super) from: Option<Entry>,
    /// Number of events, including streams and repeated events.
    pub(super) events: u64,
    /// Bytes of the events that `events` counts.
    pub(super) bytes: u64,
    /// Times of the first and the last step with a time.
    pub(super) times: Option<(i64, i64)>,
    /// Partitions of the streams that belong to this part.
    pub(super) chunks: Vec<u32>,
    /// Repeated begin events, in order.
    pub(super) copies: Vec<Entry>,
    /// Threads of the repeated events, as indices in [`OpenPairs`].
    pub(super) open: Vec<usize>,
}

/// The begin and end events of the threads in a sequence.
pub(super) struct OpenPairs<'r> {
    merged: MergedRuns<'r>,
    /// The thread of each run, and whether it contains begin events.
    runs: Vec<(usize, bool)>,
    begins: Vec<Begins<Entry>>,
    /// Threads with open begins, so that a cut costs time for such threads only.
    open: BTreeSet<usize>,
}

impl<'r> OpenPairs<'r> {
    /// Creates the walk over sorted runs, each with the index of its thread and whether it contains
    /// begin events.
    pub(super) fn new(
        runs: Vec<(SortedRun<'r>, usize, bool)>,
        threads: usize,
        order: Order<'_, '_>,
    ) -> Self {
        OpenPairs {
            merged: MergedRuns::over(runs.iter().map(|run| run.0), order),
            runs: runs.iter().map(|&(_, thread, begins)| (thread, begins)).collect(),
            begins: vec![Begins::default(); threads],
            open: BTreeSet::new(),
        }
    }

    /// Opens and closes slices up to `border`.
    fn advance(&mut self, border: &Entry, order: Order<'_, '_>) {
        while let Some((run, entry)) = self.merged.peek()
            && order.compare(&entry, border) == Ordering::Less
        {
            self.merged.next(order);
            let (thread, begins) = self.runs[run];
            let open = &mut self.begins[thread];
            let name = name_of(entry, order);
            if !begins {
                // an end without a begin has no effect
                open.end(name);
                if open.is_empty() {
                    self.open.remove(&thread);
                }
                continue;
            }
            if open.len() == OPEN_MOST {
                open.pop_outermost();
            }
            open.begin(name, entry);
            self.open.insert(thread);
        }
    }

    /// Returns the open begin events in order, and their threads.
    fn open(&self, order: Order<'_, '_>) -> (Vec<Entry>, Vec<usize>) {
        let begins = self.open.iter().flat_map(|&thread| self.begins[thread].values());
        let mut copies: Vec<Entry> = begins.collect();
        copies.sort_unstable_by(|a, b| order.compare(a, b));
        (copies, self.open.iter().copied().collect())
    }
}

fn name_of(entry: Entry, order: Order<'_, '_>) -> u64 {
    let bytes = order.0.event(entry.place);
    let fields = fields_of(bytes);
    let event = fields.of(bytes);
    name_key(&event)
}

/// Cuts a sequence into parts.
pub(super) struct Cutter<'c, 'r, 's, 'p> {
    pub(super) order: Order<'s, 'p>,
    pub(super) by: SplitBy,
    /// The trace start, in nanoseconds.
    pub(super) start: i64,
    /// Bytes of each part outside its events, without stack frames.
    pub(super) overhead: u64,
    /// Additional bytes of the first part, for metadata.
    pub(super) first: u64,
    pub(super) frames: Option<&'c TraceFrames>,
    pub(super) opens: &'c mut OpenPairs<'r>,
    /// Memory quota for repeated events.
    pub(super) room: &'c Quota,
}

/// The parts so far, and the data for the next cut.
struct CutState {
    done: Vec<CutStretch>,
    now: CutStretch,
    /// Number of steps in the current part.
    steps: u64,
    /// Bytes of the current part, without stack frames.
    size: u64,
    /// Stack frames of the current part, if the size of parts is limited.
    used: UsedFrames,
    /// The number of the current time range.
    window: i128,
}

impl Cutter<'_, '_, '_, '_> {
    /// Cuts `sequence`, together with the streams at `anchors`. The anchors are sorted.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Parts`] if there are too many parts, and [`ErrorKind::Exceeded`] if
    /// repeated events exceed the memory limit.
    pub(super) fn cut(
        &mut self,
        sequence: &Sequence<'_>,
        anchors: &[Anchor],
    ) -> Result<Vec<CutStretch>, Error> {
        let mut state = CutState {
            done: Vec::new(),
            now: CutStretch::default(),
            steps: 0,
            size: self.overhead + self.first,
            used: self.frames.map(|frames| frames.always.clone()).unwrap_or_default(),
            window: 0,
        };
        let (order, mut rest) = (self.order, anchors);
        sequence.walk(order, |entry| {
            while let Some((anchor, later)) = rest.split_first()
                && anchor.is_chunk
                && order.compare(&anchor.entry, &entry) == Ordering::Less
            {
                rest = later;
                self.step(&mut state, anchor.entry, 0, Some(anchor))?;
            }
            let bytes = order.0.len(entry.place);
            let anchor = rest.first().filter(|anchor| anchor.entry == entry);
            if anchor.is_some() {
                rest = &rest[1..];
            }
            self.step(&mut state, entry, bytes, anchor)
        })?;
        rest.iter().try_for_each(|anchor| self.step(&mut state, anchor.entry, 0, Some(anchor)))?;
        state.done.push(state.now);
        Ok(state.done)
    }

    /// Adds a step: an event of `bytes` bytes (no event if 0), and the stream at `anchor`, if any.
    fn step(
        &mut self,
        state: &mut CutState,
        entry: Entry,
        bytes: u64,
        anchor: Option<&Anchor>,
    ) -> Result<(), Error> {
        let count = u64::from(bytes > 0);
        let events = count + anchor.map_or(0, |anchor| anchor.events);
        let bytes = bytes + anchor.map_or(0, |anchor| anchor.bytes);
        let size = bytes + events * SEPARATOR;
        let window = self.window(entry);
        if count > 0 {
            self.note_frames(entry, &mut state.used);
        }
        let full = match self.by {
            SplitBy::Time(_) => window != state.window,
            SplitBy::Events(most) => {
                state.now.events - state.now.copies.len() as u64 + events > most
            }
            SplitBy::Size(most) => state.size + state.used.bytes + size > most,
            SplitBy::Pid | SplitBy::Tid | SplitBy::Cat => false,
        };
        if full && state.steps > 0 {
            self.begin(state, entry)?;
            if count > 0 {
                self.note_frames(entry, &mut state.used);
            }
        }
        state.window = window;
        state.steps += 1;
        state.size += size;
        let now = &mut state.now;
        now.events += events;
        now.bytes += bytes;
        now.chunks.extend(anchor.map(|anchor| anchor.chunks));
        if entry.time >= TIMED {
            now.times = Some((now.times.map_or(entry.time, |times| times.0), entry.time));
        }
        Ok(())
    }

    /// Adds the stack frames of an event, if the size of parts is limited.
    fn note_frames(&self, entry: Entry, used: &mut UsedFrames) {
        if let (Some(frames), SplitBy::Size(_)) = (self.frames, self.by) {
            frames.note(self.order.0.event(entry.place), used);
        }
    }

    /// Returns the number of the time range that an entry is in.
    fn window(&self, entry: Entry) -> i128 {
        let SplitBy::Time(length) = self.by else { return 0 };
        if entry.time <= UNTIMED {
            return 0;
        }
        // events at time 0 may precede the trace start; they belong to the first range
        let after = i128::from(entry.time) - i128::from(self.start);
        after.max(0) / i128::from(length.max(1))
    }

    fn begin(&mut self, state: &mut CutState, entry: Entry) -> Result<(), Error> {
        self.opens.advance(&entry, self.order);
        let (copies, open) = self.opens.open(self.order);
        let bytes: u64 = copies.iter().map(|copy| self.order.0.len(copy.place)).sum();
        let count = copies.len() as u64;
        self.room.take(count * size_of::<Entry>() as u64, "begins that parts repeat")?;
        state.size = self.overhead + bytes + count * (SEPARATOR + MARK);
        state.used = self.frames.map(|frames| frames.always.clone()).unwrap_or_default();
        copies.iter().for_each(|copy| self.note_frames(*copy, &mut state.used));
        let next = CutStretch {
            from: Some(entry),
            events: count,
            bytes,
            copies,
            open,
            ..CutStretch::default()
        };
        state.done.push(std::mem::replace(&mut state.now, next));
        state.steps = 0;
        if state.done.len() >= PARTS_MOST {
            return Err(too_many());
        }
        Ok(())
    }
}

pub(super) fn too_many() -> Error {
    let found = format!(
        "this would make more than {PARTS_MOST} parts: choose longer times, larger sizes, or parts of another kind"
    );
    ErrorKind::Parts { found }.into()
}
