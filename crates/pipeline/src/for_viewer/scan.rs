//! Collects, during the scan, the events that a viewer needs changed and the processes of the
//! trace.
//!
//! B, E and `TracingStartedInBrowser` events go to an index of their own (16 bytes each, spilled to
//! disk), because events at other positions replace them. Memory grows with the number of threads.

use super::chunk::count_parts;
use super::profiles::InputProfiles;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tracemill_join::clock::{Clocks, shift_runs};
use tracemill_join::config::{CheckFor, Config, THREADS};
use tracemill_tokenizer::{Event, Field, Nanos};
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::json::{elements, member};
use tracemill_trace::observe::{EventRef, Look, Observer, SealedChunk, Starter};
use tracemill_trace::order::{EntryRuns, Order, Sorter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::limits::{Holding, Quota};
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::Store;
use tracemill_trace::store::entry::{Entry, rank};
use tracemill_trace::store::place::Place;
use tracemill_trace::time::bounds::{is_zero, widen};
use tracemill_viewers::pages::has_page;
use tracemill_viewers::required_args::page_data;
use tracemill_write::patch::CutChunk;

/// A value as written.
pub(super) type Literal = Vec<u8>;

/// A navigation of a main frame.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Navigation {
    pub(super) time: i64,
    /// URL of the new page, as written.
    pub(super) url: Literal,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DrawnThread {
    /// Time of the first event that DevTools draws.
    pub(super) drawn: Option<i64>,
}

/// The processes, threads and pages of an input.
#[derive(Debug, Default)]
pub(super) struct PageTable {
    /// Threads by pid and tid as written; empty if missing.
    pub(super) threads: BTreeMap<Literal, BTreeMap<Literal, DrawnThread>>,
    thread_count: usize,
    /// Processes with a page.
    pub(super) pages: BTreeSet<Literal>,
    /// Whether an event marks a browser trace.
    pub(super) is_browser: bool,
    /// Whether there is a `CpuProfile` event, which DevTools draws without a page.
    pub(super) has_whole_profile: bool,
    pub(super) has_start: bool,
    /// Start of the first and end of the last event that DevTools draws. DevTools draws no event at
    /// time 0.
    pub(super) drawn: Option<(i64, i64)>,
    pub(super) profiles: InputProfiles,
    /// First navigation of main frames, by frame.
    pub(super) navigations: BTreeMap<Literal, Navigation>,
    /// The current thread and its facts, not yet in `threads`.
    last: (Literal, Literal, DrawnThread),
}

impl PageTable {
    fn note(&mut self, pid: &[u8], tid: &[u8], drawn: Option<i64>) {
        let (last_pid, last_tid, thread) = &mut self.last;
        if last_pid == pid && last_tid == tid {
            thread.drawn = earlier(thread.drawn, drawn);
            return;
        }
        self.flush();
        self.last = (pid.to_vec(), tid.to_vec(), DrawnThread { drawn });
    }

    fn flush(&mut self) {
        let (pid, tid, thread) = std::mem::take(&mut self.last);
        self.add(pid, [(tid, thread)]);
    }

    fn add(&mut self, pid: Literal, threads: impl IntoIterator<Item = (Literal, DrawnThread)>) {
        let by_tid = self.threads.entry(pid).or_default();
        let before = by_tid.len();
        for (tid, thread) in threads {
            let known = by_tid.entry(tid).or_default();
            known.drawn = earlier(known.drawn, thread.drawn);
        }
        self.thread_count += by_tid.len() - before;
    }

    /// Estimates the heap bytes of the tables, and of derived tables such as new ids.
    fn heap(&self) -> u64 {
        const PROCESS: usize = 1500;
        const THREAD: usize = 300;
        const OTHER: usize = 400;
        let others = self.profiles.len() + self.navigations.len() + self.pages.len();
        (self.threads.len() * PROCESS + self.thread_count * THREAD + others * OTHER) as u64
    }

    fn append(&mut self, mut later: PageTable) {
        later.flush();
        for (pid, threads) in later.threads {
            self.add(pid, threads);
        }
        self.pages.extend(later.pages);
        for (frame, navigation) in later.navigations {
            self.note_navigation(frame, navigation);
        }
        self.is_browser |= later.is_browser;
        self.has_start |= later.has_start;
        self.has_whole_profile |= later.has_whole_profile;
        self.profiles.append(later.profiles);
        later.drawn.into_iter().for_each(|(start, end)| self.note_drawn(start, end));
    }

    /// Records pages, navigations and other facts about a browser trace.
    fn note_name(&mut self, event: &Event<'_>, pid: &[u8]) {
        let is = |name: &[u8]| event.is_string(Field::Name, name);
        if is(b"CommitLoad") {
            if page_data(event).is_some_and(has_page) {
                self.pages.insert(pid.to_vec());
            }
        } else if is(b"FrameCommittedInBrowser") {
            self.note_frame(page_data(event).unwrap_or_default());
        } else if is(b"navigationStart") {
            let data = page_data(event).unwrap_or_default();
            let frame = member(event.field(Field::Args).unwrap_or_default(), b"frame");
            let is_main = member(data, b"isOutermostMainFrame") == Some(b"true");
            let url = member(data, b"documentLoaderURL").filter(|url| is_main && url.len() > 2);
            if let (Some(frame), Some(url), Some(ts)) = (frame, url, event.ts()) {
                self.note_navigation(
                    frame.to_vec(),
                    Navigation { time: ts.floor, url: url.to_vec() },
                );
            }
        } else if is(b"CpuProfile") {
            (self.is_browser, self.has_whole_profile) = (true, true);
        } else if is(b"TracingStartedInPage") || is(b"TracingSessionIdForWorker") {
            self.is_browser = true;
        }
    }

    /// Extends the drawn range. Profiles are needed only while the range is empty.
    fn note_drawn(&mut self, start: i64, end: i64) {
        widen(&mut self.drawn, start, end);
        if self.is_wide() {
            self.profiles = InputProfiles::default();
        }
    }

    /// Returns whether the drawn range is longer than 0.
    fn is_wide(&self) -> bool {
        self.drawn.is_some_and(|(from, to)| from < to)
    }

    fn note_navigation(&mut self, frame: Literal, navigation: Navigation) {
        let earliest = self.navigations.entry(frame).or_insert_with(|| navigation.clone());
        if navigation.time < earliest.time {
            *earliest = navigation;
        }
    }

    fn note_start(&mut self, event: &Event<'_>) {
        (self.is_browser, self.has_start) = (true, true);
        let data = page_data(event).unwrap_or_default();
        let frames = elements(member(data, b"frames").unwrap_or_default());
        frames.for_each(|frame| self.note_frame(frame));
    }

    fn note_frame(&mut self, frame: &[u8]) {
        if frame.starts_with(b"{")
            && has_page(frame)
            && let Some(pid) = member(frame, b"processId")
        {
            self.pages.insert(pid.to_vec());
        }
    }
}

fn earlier(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Collects from one chunk the events that a viewer needs changed (`--for`).
#[derive(Debug)]
pub(crate) struct ViewerLook {
    viewer: CheckFor,
    base: u64,
    /// Events that are kept out of the index.
    special: Vec<Entry>,
    empty: u64,
    /// Number of `TracingStartedInBrowser` events without data that are metadata or have no time.
    bare_starts: u64,
    tables: PageTable,
    has_ends: bool,
    /// CPU profile chunks that will be split.
    cut_chunks: Vec<CutChunk>,
}

impl ViewerLook {
    fn new(viewer: CheckFor, base: u64) -> Self {
        let (special, tables) = (Vec::new(), PageTable::default());
        let (has_ends, cut_chunks) = (false, Vec::new());
        ViewerLook { viewer, base, special, empty: 0, bare_starts: 0, tables, has_ends, cut_chunks }
    }

    /// Examines an event with its `times`. Returns whether it is kept out of the index.
    fn takes(&mut self, event: &Event<'_>, times: Option<(Nanos, Option<Nanos>)>) -> bool {
        let [pid, tid] = [Field::Pid, Field::Tid].map(|f| event.field(f).unwrap_or_default());
        if event.field_and_rest(Field::Ph).is_none() && event.bytes[1..].trim_ascii_start() == b"}"
        {
            self.empty += 1;
            return true;
        }
        let phase = event.phase();
        if self.viewer == CheckFor::Perfetto {
            self.tables.note(pid, tid, None);
            self.has_ends |= phase == b'E';
            return false;
        }
        let parts = count_parts(event);
        if parts > 1 {
            let offset = self.base + event.offset;
            self.cut_chunks.push(CutChunk { offset, more: parts - 1 });
        }
        let ts = times.map(|(ts, _)| ts);
        let is_drawn = matches!(phase, b'B' | b'E' | b'X' | b'I' | b'i');
        self.tables.note(pid, tid, ts.filter(|_| is_drawn).map(|ts| ts.floor));
        if let Some((ts, dur)) = times.filter(|_| !self.tables.is_wide()) {
            self.tables.profiles.note(event, ts);
            let name = event.field(Field::Name).unwrap_or_default();
            if is_drawn && !is_zero(ts) && !name.ends_with(b"::UMA\"") {
                let lasts = dur.map_or(0, |dur| dur.floor.max(0));
                self.tables.note_drawn(ts.floor, ts.floor.saturating_add(lasts));
            }
        }
        let is_start = tracemill_viewers::essential::is_start(event);
        if is_start && (phase == b'M' || ts.is_none()) && page_data(event).is_none() {
            self.bare_starts += 1;
            return true;
        }
        if is_start {
            self.tables.note_start(event);
        } else {
            self.tables.note_name(event, pid);
        }
        match times {
            Some((ts, dur)) if is_start && phase != b'M' || matches!(phase, b'B' | b'E') => {
                let (offset, len) = (self.base + event.offset, event.bytes.len());
                let place = Place::new(offset, len, rank(ts, dur));
                self.special.push(Entry { time: ts.floor, place });
                true
            }
            _ => false,
        }
    }
}

/// Collects the events and tables that a viewer needs.
///
/// B, E and `TracingStartedInBrowser` events are kept out of the index. Needs an index that reads
/// times.
pub(crate) struct ViewerScan {
    viewer: CheckFor,
    /// Events that are kept out of the index.
    special: Sorter,
    empty: u64,
    bare_starts: u64,
    tables: Vec<(u64, PageTable)>,
    /// Heap bytes of all tables except the last.
    earlier_tables: u64,
    has_ends: bool,
    cut_chunks: Vec<CutChunk>,
    holding: Holding,
}

/// The findings of the scan in all inputs.
pub(crate) struct ViewerFacts {
    pub(super) viewer: CheckFor,
    /// Events that are not in the index.
    pub(crate) special: EntryRuns,
    pub(super) empty: u64,
    /// Number of `TracingStartedInBrowser` events without data that are metadata or have no time.
    pub(super) bare_starts: u64,
    /// Tables by offset of the input.
    pub(super) tables: Vec<(u64, PageTable)>,
    /// Whether the index has E events.
    pub(super) has_ends: bool,
    /// CPU profile chunks that are written as several events.
    pub(crate) cut_chunks: Vec<CutChunk>,
}

impl ViewerScan {
    /// Creates the observer; its tables count against `quota`. Returns `None` if the merge is not
    /// for a viewer.
    pub(crate) fn new(config: &Config, quota: &Arc<Quota>) -> Option<Self> {
        let viewer = config.viewer.viewer?;
        let special =
            Sorter::new(config.limits.lease("events that a viewer needs", Share::of_index(1, 4)));
        Some(ViewerScan {
            viewer,
            special,
            empty: 0,
            bare_starts: 0,
            tables: Vec::new(),
            earlier_tables: 0,
            has_ends: false,
            cut_chunks: Vec::new(),
            holding: Holding::new(quota),
        })
    }

    fn heap(&self) -> u64 {
        self.earlier_tables + self.tables.last().map_or(0, |(_, last)| last.heap())
    }

    /// Returns the findings, after the last input.
    pub(crate) fn finish(mut self, store: &Store<'_>) -> Result<ViewerFacts, Error> {
        let (special, _) = self.special.finish(store)?;
        let ViewerScan { viewer, empty, bare_starts, tables, has_ends, cut_chunks, .. } = self;
        Ok(ViewerFacts { viewer, special, empty, bare_starts, tables, has_ends, cut_chunks })
    }
}

impl Look for ViewerLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        !self.takes(event, at.times)
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        self.special.sort_unstable();
        self.special.shrink_to_fit();
        if let (Some(first), Some(last)) = (self.special.first(), self.special.last()) {
            let (least, greatest) = stats.span.unwrap_or((first.time, last.time));
            stats.span = Some((least.min(first.time), greatest.max(last.time)));
        }
    }
}

impl Observer for ViewerScan {
    type Chunk = Box<ViewerLook>;

    fn starter(&self) -> Starter<Box<ViewerLook>> {
        let viewer = self.viewer;
        Box::new(move |chunk| Box::new(ViewerLook::new(viewer, chunk.base)))
    }

    fn merge(&mut self, part: Box<ViewerLook>, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        if self.tables.last().is_none_or(|(last, _)| *last != chunk.base) {
            self.earlier_tables = self.heap();
            self.tables.push((chunk.base, PageTable::default()));
        }
        if let Some((_, tables)) = self.tables.last_mut() {
            tables.append(part.tables);
        }
        self.empty += part.empty;
        self.bare_starts += part.bare_starts;
        self.has_ends |= part.has_ends;
        self.cut_chunks.extend(part.cut_chunks);
        self.special.push(part.special);
        if self.special.is_full() {
            self.special.spill(Order(&chunk.store()))?;
        }
        self.holding.resize(self.heap(), THREADS)
    }
}

impl ViewerFacts {
    /// Moves all times to the output's clock.
    pub(crate) fn shift(
        &mut self,
        clocks: &Clocks,
        store: &Store<'_>,
        limits: &Limits,
    ) -> Result<(), Error> {
        shift_runs(&mut self.special, clocks, store, &limits.tmp_dir)?;
        for (base, tables) in &mut self.tables {
            let Some(shift) = clocks.shift_at(*base) else { continue };
            for thread in tables.threads.values_mut().flat_map(BTreeMap::values_mut) {
                thread.drawn = thread.drawn.map(|time| shift.moved(time));
            }
            tables.profiles.shift(|time| shift.moved(time));
            tables.drawn = tables.drawn.map(|(from, to)| (shift.moved(from), shift.moved(to)));
        }
        Ok(())
    }

    /// Returns the events at `time` that are not in the index, in no particular order.
    pub(crate) fn at(&self, time: i64) -> impl Iterator<Item = Entry> + '_ {
        self.special.at(time)
    }
}
