//! Where a sequence of events is cut, and what is open at each cut.
//!
//! ```text
//!   sequence   e e e B e e │ e e E e e │ …      a cut stands before an event, in the order of the output
//!   part 2                   B'e e E e e        begins still open are repeated
//! ```
//!
//! A CPU profile stream is one step at the place of its `Profile` event (of its first chunk if it has none), with all its
//! chunks' weight: it is never torn. One pass over the sequence, one over begins and ends beside it, whose names are
//! read again; memory by parts and by slices open at once.

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

/// Files that one run makes at most: more is a slip of the finger.
pub(super) const PARTS_MOST: usize = 100_000;

/// Slices of one thread that are repeated at a cut at most, innermost ones. Deeper than any stack: what lies below was never ended.
const OPEN_MOST: usize = 1024;

/// Bytes between two events.
pub(super) const SEPARATOR: u64 = 2;

/// A CPU profile stream and the place at which it counts.
#[derive(Clone, Copy)]
pub(super) struct Anchor {
    pub(super) entry: Entry,
    /// Its partition.
    pub(super) chunks: u32,
    /// The partition of its thread.
    pub(super) thread: u32,
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// Whether the entry is one of its chunks, which are not in the sequence.
    pub(super) own: bool,
}

/// A stretch between two cuts.
#[derive(Default)]
pub(super) struct CutStretch {
    /// Its first entry; `None` for the first stretch.
    pub(super) from: Option<Entry>,
    /// Events and their bytes, streams and copies with them.
    pub(super) events: u64,
    pub(super) bytes: u64,
    /// Times of the first and the last step that have one.
    pub(super) times: Option<(i64, i64)>,
    /// Partitions of streams.
    pub(super) chunks: Vec<u32>,
    /// Begins repeated, in order.
    pub(super) copies: Vec<Entry>,
    /// Threads of those, by their numbers in [`OpenPairs`].
    pub(super) open: Vec<usize>,
}

/// Begins and ends of the threads of a sequence.
pub(super) struct OpenPairs<'r> {
    merged: MergedRuns<'r>,
    /// The thread of each run, and whether the run holds begins.
    runs: Vec<(usize, bool)>,
    begins: Vec<Begins<Entry>>,
    /// Threads with any begin open: a cut costs what it repeats, not what there is.
    open: BTreeSet<usize>,
}

impl<'r> OpenPairs<'r> {
    /// `runs` are in exact order, each with its thread's number and whether it holds begins.
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

    /// Goes on to `border`.
    fn advance(&mut self, border: &Entry, order: Order<'_, '_>) {
        while let Some((run, entry)) = self.merged.peek()
            && order.compare(&entry, border) == Ordering::Less
        {
            self.merged.next(order);
            let (thread, begins) = self.runs[run];
            let open = &mut self.begins[thread];
            let name = name_of(entry, order);
            if !begins {
                // an end without a begin ends nothing
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

    /// Begins that are open, in order, and their threads.
    fn open(&self, order: Order<'_, '_>) -> (Vec<Entry>, Vec<usize>) {
        let begins = self.open.iter().flat_map(|&thread| self.begins[thread].values());
        let mut copies: Vec<Entry> = begins.collect();
        copies.sort_unstable_by(|a, b| order.compare(a, b));
        (copies, self.open.iter().copied().collect())
    }
}

/// The hash of the name of a begin or end, as pairing looks at it.
fn name_of(entry: Entry, order: Order<'_, '_>) -> u64 {
    let bytes = order.0.event(entry.place);
    let fields = fields_of(bytes);
    let event = fields.of(bytes);
    name_key(&event)
}

/// Cuts a sequence.
pub(super) struct Cutter<'c, 'r, 's, 'p> {
    pub(super) order: Order<'s, 'p>,
    pub(super) by: SplitBy,
    /// Where the trace starts, in nanoseconds.
    pub(super) start: i64,
    /// Bytes of every part outside its events, without stack frames.
    pub(super) overhead: u64,
    /// Bytes of the first part in addition.
    pub(super) first: u64,
    pub(super) frames: Option<&'c TraceFrames>,
    pub(super) opens: &'c mut OpenPairs<'r>,
    /// The room of what parts repeat.
    pub(super) room: &'c Quota,
}

/// The stretches so far, and what decides the next cut.
struct CutState {
    done: Vec<CutStretch>,
    now: CutStretch,
    /// Steps in the stretch.
    steps: u64,
    /// Bytes of the part so far, without stack frames.
    size: u64,
    /// Stack frames of the part so far, where its size decides.
    used: UsedFrames,
    /// The first time.
    window: i128,
}

impl Cutter<'_, '_, '_, '_> {
    /// The stretches of `sequence` and the streams of `anchors`, which are in order.
    ///
    /// # Errors
    /// [`ErrorKind::Parts`] if there are too many; [`ErrorKind::Exceeded`] if there is no room for what they repeat.
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
                && anchor.own
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

    /// One event of `bytes` bytes (none if 0), and a stream.
    fn step(
        &mut self,
        state: &mut CutState,
        entry: Entry,
        bytes: u64,
        anchor: Option<&Anchor>,
    ) -> Result<(), Error> {
        let own = u64::from(bytes > 0);
        let events = own + anchor.map_or(0, |anchor| anchor.events);
        let bytes = bytes + anchor.map_or(0, |anchor| anchor.bytes);
        let size = bytes + events * SEPARATOR;
        let window = self.window(entry);
        if own > 0 {
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
            if own > 0 {
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

    /// Adds the stack frames that an event names, where the size of a part decides.
    fn note_frames(&self, entry: Entry, used: &mut UsedFrames) {
        if let (Some(frames), SplitBy::Size(_)) = (self.frames, self.by) {
            frames.note(self.order.0.event(entry.place), used);
        }
    }

    /// The number of the window of time that an entry is in.
    fn window(&self, entry: Entry) -> i128 {
        let SplitBy::Time(length) = self.by else { return 0 };
        if entry.time <= UNTIMED {
            return 0;
        }
        // what stands before the start of the trace, at 0, goes with what begins there
        let after = i128::from(entry.time) - i128::from(self.start);
        after.max(0) / i128::from(length.max(1))
    }

    /// Begins a stretch at `entry`.
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

/// More parts than anybody wants.
pub(super) fn too_many() -> Error {
    let found = format!(
        "this would make more than {PARTS_MOST} parts: choose longer times, larger sizes, or parts of another kind"
    );
    ErrorKind::Parts { found }.into()
}
