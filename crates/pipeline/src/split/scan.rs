//! Each event to its lane, while it is scanned: what the workers of a split do.
//!
//! Of an event stay 16 bytes, as in a merge, and its lane's number until the chunk is done; then the entries are moved into
//! lanes, in one allocation. Metadata events and events without a time are entries too, at times before all others, so that
//! lanes are all there is.

use super::lane::{Ids, Kind, Lane, Lanes, category_of};
use crate::essential::{is_essential, may_be_special};
use std::collections::HashMap;
use std::marker::PhantomData;
use tracemill_core::bounds::Times;
use tracemill_core::entry::{Entry, rank};
use tracemill_core::envelope::Envelope;
use tracemill_core::order::LaneRun;
use tracemill_core::place::{Long, Place};
use tracemill_core::scan::Collect;
use tracemill_profile::StreamOrders;
use tracemill_profile::{Names, Role, StreamKey, stream_key};
use tracemill_tokenizer::{Event, Field};

/// Times of metadata events and of events without a time: before all that a trace can say.
pub(super) const METADATA: i64 = i64::MIN;
pub(super) const UNTIMED: i64 = i64::MIN + 1;
/// The first time that a trace can say, or one before it.
pub(super) const TIMED: i64 = i64::MIN + 2;

/// The number of the lane of all events, where there is one.
const WHOLE: u32 = 0;

/// What is told apart.
pub(super) trait Mode: Send + Sync + 'static {
    /// Lanes by category too.
    const CATEGORIES: bool = false;
    /// One lane for all.
    const WHOLE: bool = false;
    /// Begins and ends are noted, since parts will be cut.
    const CUT: bool = false;
}

/// By process or thread.
pub(super) struct Threads;
impl Mode for Threads {}

/// By process or thread, and then cut.
pub(super) struct CutThreads;
impl Mode for CutThreads {
    const CUT: bool = true;
}

/// By category.
pub(super) struct Categories;
impl Mode for Categories {
    const CATEGORIES: bool = true;
}

/// The whole trace is cut.
pub(super) struct CutWhole;
impl Mode for CutWhole {
    const WHOLE: bool = true;
    const CUT: bool = true;
}

/// The findings of one chunk of an input.
pub(super) struct Part<M> {
    pub(super) envelope: Envelope,
    pub(super) lanes: Lanes,
    entries: Vec<Entry>,
    /// The lane of each entry.
    lane_of: Vec<u32>,
    /// The same in lanes, when the chunk is done.
    pub(super) run: LaneRun,
    pub(super) long: Vec<Long>,
    pub(super) streams: StreamOrders,
    /// Of each stream the last `Profile` event, with the lane of its thread.
    pub(super) heads: HashMap<StreamKey, (u32, Entry)>,
    pub(super) names: Names,
    pub(super) times: Times,
    mode: PhantomData<M>,
}

impl<M: Mode> Part<M> {
    /// For a chunk of about `bytes` bytes of the input that stands at `base`.
    pub(super) fn new(base: u64, bytes: usize) -> Self {
        let guess = bytes / 256;
        let mut lanes = Lanes::default();
        if M::WHOLE {
            let whole = lanes.lane(Kind::Whole, Ids::default());
            debug_assert_eq!(whole, WHOLE);
        }
        Part {
            envelope: Envelope::at(base),
            lanes,
            entries: Vec::with_capacity(guess),
            lane_of: Vec::with_capacity(guess),
            run: LaneRun::default(),
            long: Vec::new(),
            streams: StreamOrders::default(),
            heads: HashMap::new(),
            names: Names::default(),
            times: Times::NONE,
            mode: PhantomData,
        }
    }

    #[inline]
    fn push(&mut self, lane: u32, entry: Entry, bytes: usize) {
        self.lanes.all[lane as usize].count(bytes);
        self.entries.push(entry);
        self.lane_of.push(lane);
    }

    #[cold]
    fn metadata(&mut self, event: &Event<'_>, offset: u64) {
        let len = event.bytes.len();
        let entry = Entry { time: METADATA, place: Place::new(offset, len, 0) };
        let ids = self.ids(event);
        let of_thread = event.field(Field::Name).is_some_and(is_of_thread);
        let lane = if of_thread {
            self.lanes.lane(Kind::ThreadMetadata, Ids { cat: b"", ..ids })
        } else {
            self.lanes.lane(Kind::ProcessMetadata, Ids { tid: b"", cat: b"", ..ids })
        };
        self.push(lane, entry, len);
        self.names.note(event);
    }

    #[inline]
    fn ids<'e>(&self, event: &Event<'e>) -> Ids<'e> {
        Ids {
            pid: event.field(Field::Pid).unwrap_or_default(),
            tid: event.field(Field::Tid).unwrap_or_default(),
            cat: match M::CATEGORIES {
                true => event.field(Field::Cat).map_or(b"", category_of),
                false => b"",
            },
        }
    }

    #[cold]
    fn chunk(&mut self, event: &Event<'_>, entry: Entry) {
        self.streams.note(event, entry);
        let lane = self.lanes.chunks(stream_key(event), self.ids(event));
        self.push(lane, entry, event.bytes.len());
    }

    /// Notes where a thread's slices begin and end.
    #[inline]
    fn edge(&mut self, event: &Event<'_>, entry: Entry) {
        let kind = match event.phase() {
            b'B' => Kind::Begins,
            b'E' => Kind::Ends,
            _ => return,
        };
        let lane = self.lanes.lane(kind, Ids { cat: b"", ..self.ids(event) });
        self.push(lane, entry, event.bytes.len());
    }
}

/// Whether a metadata event of this name says something of a thread; all others are of the process.
fn is_of_thread(name: &[u8]) -> bool {
    let mut plain = Vec::new();
    match name {
        [b'"', content @ .., b'"'] => tracemill_tokenizer::unescape(content, &mut plain),
        _ => return false,
    }
    plain.starts_with(b"thread_")
}

impl<M: Mode> Collect for Part<M> {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let (offset, len) = (self.envelope.event(event), event.bytes.len());
        if Place::is_long(len) {
            self.long.push((offset, len as u64));
        }
        if event.is_metadata() {
            return self.metadata(event, offset);
        }
        let time = event.ts();
        let entry = match time {
            Some(ts) => {
                self.times.note(event, ts, ts.floor);
                Entry { time: ts.floor, place: Place::new(offset, len, rank(ts, event.dur())) }
            }
            None => Entry { time: UNTIMED, place: Place::new(offset, len, 0) },
        };
        let role = Role::of(event);
        if role == Some(Role::Chunk) {
            return self.chunk(event, entry);
        }
        let thread = self.lanes.thread(self.ids(event));
        if role == Some(Role::Head) {
            self.heads.insert(stream_key(event), (thread, entry));
        }
        let time = time.map(|ts| ts.floor);
        self.lanes.all[thread as usize].note_time(time);
        self.push(if M::WHOLE { WHOLE } else { thread }, entry, len);
        if M::CUT && time.is_some() {
            self.edge(event, entry);
        }
        if may_be_special(event) && is_essential(event) {
            let ids = Ids { tid: b"", cat: b"", ..self.ids(event) };
            let lane = self.lanes.lane(Kind::Pages, ids);
            self.push(lane, entry, len);
        }
    }

    /// Moves the entries into lanes, by counting, and sorts each.
    fn seal(&mut self) {
        let mut counts = vec![0; self.lanes.all.len()];
        self.lane_of.iter().for_each(|&lane| counts[lane as usize] += 1);
        let mut next = Vec::with_capacity(counts.len());
        let mut end = 0;
        for (lane, &count) in counts.iter().enumerate() {
            next.push(end);
            end += count;
            if count > 0 {
                self.run.ends.push((lane as u32, end));
            }
        }
        let nothing = Entry { time: 0, place: Place::new(0, 0, 0) };
        let mut entries = vec![nothing; self.entries.len()];
        for (&entry, &lane) in self.entries.iter().zip(&self.lane_of) {
            let at = &mut next[lane as usize];
            entries[*at] = entry;
            *at += 1;
        }
        (self.entries, self.lane_of) = (Vec::new(), Vec::new());
        let mut start = 0;
        for &(_, end) in &self.run.ends {
            let own = &mut entries[std::mem::replace(&mut start, end)..end];
            if !own.is_sorted() {
                own.sort_unstable();
            }
        }
        self.run.entries = entries;
        self.envelope.stats.span = span_of(&self.lanes.all);
    }
}

fn span_of(lanes: &[Lane]) -> Option<(i64, i64)> {
    let spans = lanes.iter().filter_map(|lane| lane.span);
    spans.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)))
}
