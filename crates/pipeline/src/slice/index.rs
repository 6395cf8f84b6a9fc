//! What a scan for a slice leaves behind: 16 bytes for each event that may matter, apart by what it takes to decide.
//!
//! Where windows count from the start of the trace, the start is guessed: little before the first events seen. If that
//! proves wrong the inputs are read once more, with the start known. Inputs that can be read once only are not guessed
//! about: all before the last window is kept until the start is certain.
//!
//! ```text
//!   metadata, untimed ──────────> lists          always kept
//!   X, moments ─────────────────> plain          that may be inside or reach in
//!   B E b e S F s t f (and C) ──> parts          all before the last window's end; all of them where pairs stay whole:
//!                                                by what they belong to, 48 bytes each
//!   Profile, ProfileChunk ──────> streams        times of the samples, or everything, decoded on the worker
//!   TracingStartedInBrowser … ──> essential
//! ```

use super::keys::{self, PairEvent};
use super::kinds::{Kind, Phase, end_of, is_essential, may_be_special};
use super::narrowed::{BASE, Narrowed};
use crate::config::Config;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tracemill_core::bounds::{Bounds, Times, is_zero};
use tracemill_core::entry::{Entry, rank};
use tracemill_core::envelope::{Document, Envelope};
use tracemill_core::error::Error;
use tracemill_core::long_events::LongEvents;
use tracemill_core::order::{ExternalSorter, Order, Sorter};
use tracemill_core::order::{METADATA, UNTIMED};
use tracemill_core::place::Place;
use tracemill_core::read::{Current, Maker, Reader};
use tracemill_core::scan::Collect;
use tracemill_core::windows::Edges;
use tracemill_core::windows::{Start, TimeWindow, Windows};
use tracemill_profile::{Detail, IndexedStreams, Role, Room, Router, Streams};
use tracemill_tokenizer::{Event, Nanos};

/// Nanoseconds that a trace may begin before the first events seen of it: events are written when they end, and by
/// threads in turn.
const SLACK: i64 = 1_000_000_000;

/// What decides which events are left out at once.
#[derive(Debug)]
pub(super) struct Plan {
    windows: Vec<TimeWindow>,
    edges: Edges,
    /// Whether where the trace begins may be guessed: then the inputs can be read again.
    guesses: bool,
    /// Where the trace starts, if it was read before.
    known: Option<i64>,
    /// The least time but 0 that any worker saw: it says nothing certain, and decides nothing but what is looked at later.
    first: AtomicI64,
    /// Everything, if that is known: then nothing is guessed, and pieces are read.
    all: Option<Arc<Narrowed>>,
}

impl Plan {
    /// `known` is where the trace starts, if it was read before.
    pub(super) fn new(
        windows: Vec<TimeWindow>,
        edges: Edges,
        guesses: bool,
        known: Option<i64>,
    ) -> Self {
        let first = AtomicI64::new(known.unwrap_or(i64::MAX));
        Plan { windows, edges, guesses, known, first, all: None }
    }

    /// For a trace of which everything is known.
    pub(super) fn of_known(known: &Arc<Narrowed>, edges: Edges) -> Self {
        Plan { all: Some(Arc::clone(known)), ..Plan::new(Vec::new(), edges, false, None) }
    }
}

/// Windows that hold those asked for, as far as a worker knows them.
struct Guess {
    windows: Windows,
    /// The windows' first and last edge.
    from: i64,
    to: i64,
    /// The trace is thought to begin here or less than [`SLACK`] before.
    start: i64,
    /// If it begins before this, events were left out wrongly.
    trusted: i64,
}

impl Guess {
    fn new(plan: &Plan) -> Self {
        let nothing = Guess {
            windows: Windows(vec![(i64::MIN, i64::MAX)]),
            from: i64::MIN,
            to: i64::MAX,
            start: i64::MAX,
            trusted: i64::MIN,
        };
        if let Some(known) = &plan.all {
            let windows = known.windows.clone();
            let (from, to) = (windows.begin(), windows.end());
            return Guess { windows, from, to, start: i64::MIN, trusted: i64::MIN };
        }
        match plan.first.load(Ordering::Relaxed) {
            i64::MAX => nothing,
            first => nothing.at(first, plan),
        }
    }

    /// For a trace that begins about `start`.
    fn at(self, start: i64, plan: &Plan) -> Self {
        let least = plan.guesses.then(|| start.saturating_sub(SLACK));
        let windows = Windows::around(&plan.windows, Start { least, most: start });
        let (from, to) = (windows.begin(), windows.end());
        Guess { windows, from, to, start, trusted: self.trusted.max(least.unwrap_or(i64::MIN)) }
    }
}

/// The findings of one chunk of an input.
pub(super) struct ChunkFindings {
    plan: Arc<Plan>,
    guess: Guess,
    envelope: Envelope,
    times: Times,
    plain: Vec<Entry>,
    parts: Vec<keys::PairEvent>,
    essential: Vec<Entry>,
    lists: [Vec<Place>; 2],
    streams: Router,
}

impl ChunkFindings {
    fn new(plan: &Arc<Plan>, base: u64) -> Self {
        ChunkFindings {
            plan: Arc::clone(plan),
            guess: Guess::new(plan),
            envelope: Envelope::at(base),
            times: Times::NONE,
            plain: Vec::new(),
            parts: Vec::new(),
            essential: Vec::new(),
            lists: [Vec::new(), Vec::new()],
            streams: Router::default(),
        }
    }

    /// The time at which the trace may begin.
    #[cold]
    fn begin(&mut self, time: i64) {
        let nothing = Guess::new(&self.plan);
        let guess = std::mem::replace(&mut self.guess, nothing);
        self.guess = guess.at(time, &self.plan);
    }

    /// Whether an event from `first` to `last` may matter, as far as its times tell.
    #[inline]
    fn may_matter(&self, phase: Phase, first: i64, last: i64) -> bool {
        let whole_pairs = self.plan.edges != Edges::Clip;
        match phase {
            Phase::Part(Kind::Counter, _) if whole_pairs => {}
            Phase::Part(..) => return whole_pairs || first < self.guess.to,
            _ => {}
        }
        first < self.guess.to && last >= self.guess.from && self.guess.windows.touch(first, last)
    }

    /// An event without a time.
    #[cold]
    fn untimed(&mut self, event: &Event<'_>, offset: u64) {
        let place = Place::new(offset, event.bytes.len(), 0);
        if let Some(role) = Role::of(event) {
            self.streams.take(event, offset, role, self.detail());
        }
        self.lists[UNTIMED].push(place);
    }

    /// How much of CPU profiles must be known.
    fn detail(&self) -> Detail {
        if self.plan.edges == Edges::Clip { Detail::Times } else { Detail::All }
    }

    /// Notes the times of an event; returns its last nanosecond, or one behind it.
    #[inline]
    fn note_times(&mut self, event: &Event<'_>, phase: Phase, ts: Nanos) -> i64 {
        let end = end_of(phase, ts, event.dur());
        self.times.note(event, ts, end);
        // 0 may be no time at all, and if it is one all is read again
        if ts.floor < self.guess.start.saturating_sub(SLACK / 4) && !is_zero(ts) {
            self.begin(ts.floor);
        }
        end
    }
}

impl Collect for ChunkFindings {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let offset = self.envelope.event(event);
        let len = event.bytes.len();
        let phase = Phase::of(event);
        if phase == Phase::Metadata {
            let place = Place::new(offset, len, 0);
            return self.lists[METADATA].push(place);
        }
        let Some(ts) = event.ts() else { return self.untimed(event, offset) };
        let dur = event.dur();
        let end = self.note_times(event, phase, ts);
        let special = may_be_special(event);
        if !special && !self.may_matter(phase, ts.floor, end) {
            return;
        }
        let entry = Entry { time: ts.floor, place: Place::new(offset, len, rank(ts, dur)) };
        if special {
            if let Some(role) = Role::of(event) {
                self.streams.take(event, offset, role, self.detail());
                return;
            }
            if is_essential(event) {
                return self.essential.push(entry);
            }
            if !self.may_matter(phase, ts.floor, end) {
                return;
            }
        }
        match phase {
            Phase::Part(Kind::Counter, _) if self.plan.edges != Edges::Clip => {
                self.plain.push(entry);
            }
            Phase::Part(kind, step) => {
                let mut part = PairEvent::new(event, entry, kind, step);
                let all = self.plan.all.as_ref();
                if all.is_none_or(|known| known.take(&mut part, event.offset)) {
                    self.parts.push(part);
                }
            }
            _ => self.plain.push(entry),
        }
    }

    fn seal(&mut self) {
        for entries in [&mut self.plain, &mut self.essential] {
            if !entries.is_sorted() {
                entries.sort_unstable();
            }
            entries.shrink_to_fit();
        }
        self.parts.shrink_to_fit();
        self.lists.iter_mut().for_each(Vec::shrink_to_fit);
        if let Some(bounds) = self.times.bounds() {
            self.envelope.stats.span = Some((bounds.first, bounds.last));
        }
        if let Some(first) = self.times.first_but_zero() {
            self.plan.first.fetch_min(first, Ordering::Relaxed);
        }
    }
}

/// The findings of all inputs.
pub(super) struct Index {
    plan: Arc<Plan>,
    pub(super) events: u64,
    times: Times,
    /// See [`Guess::trusted`].
    trusted: i64,
    /// With the lists.
    pub(super) plain: Sorter,
    pub(super) parts: ExternalSorter<keys::PairEvent>,
    pub(super) essential: Sorter,
    pub(super) long: LongEvents,
    pub(super) streams: Streams,
    pub(super) documents: Vec<Document>,
}

impl Index {
    pub(super) fn new(plan: Plan, config: &Config) -> Self {
        let quarter = config.shares().index / 4;
        Index {
            plan: Arc::new(plan),
            events: 0,
            times: Times::NONE,
            trusted: i64::MIN,
            plain: Sorter::new(quarter, &config.tmp_dir),
            parts: ExternalSorter::new(&config.tmp_dir, quarter / 2, config.threads),
            essential: Sorter::new(quarter / 4, &config.tmp_dir),
            long: LongEvents::new(config),
            streams: Streams::new(Room { decoded: quarter, places: quarter }, config),
            documents: Vec::new(),
        }
    }

    /// The bounds of all events that have a time; `None` if there are none.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        match &self.plan.all {
            Some(known) => Some(known.bounds),
            None => self.times.bounds(),
        }
    }

    /// Whether names alone pair.
    pub(super) fn only_by_name(&self) -> bool {
        self.plan.all.as_ref().is_some_and(|known| known.only_by_name)
    }

    /// Whether the times of what was read are among those that are known.
    pub(super) fn was_known(&self) -> bool {
        let Some(known) = &self.plan.all else { return false };
        let Bounds { first, last, end, .. } = known.bounds;
        let within = |own: Bounds| first <= own.first && own.last <= last && own.end <= end;
        self.times.bounds().is_none_or(within)
    }

    /// Forgets CPU profiles that windows do not need, of which some events were read; others get what is known of them.
    pub(super) fn end_streams(&mut self) -> Result<(), Error> {
        self.streams.finish()?;
        if let Some(known) = &self.plan.all {
            let own = |offset: u64| offset.wrapping_sub(Self::RESERVED);
            self.streams.retain(|offset| known.streams.contains(&own(offset)));
            if let Some(chunks) = &known.chunks {
                self.streams.complete(chunks);
            }
        }
        Ok(())
    }

    /// CPU profile chunks that need not be read, if there is an index that has them.
    pub(super) fn chunks(&self) -> Option<Arc<IndexedStreams>> {
        self.plan.all.as_ref()?.chunks.clone()
    }

    /// Whether the trace begins where it was thought to; if not, events are missing.
    pub(super) fn guessed_right(&self) -> bool {
        let known = self.plan.known.unwrap_or(i64::MAX);
        self.bounds().is_none_or(|bounds| (self.trusted..=known).contains(&bounds.start))
    }
}

impl Reader for Index {
    type Findings = ChunkFindings;

    fn part(base: u64, _bytes: usize) -> ChunkFindings {
        let all = TimeWindow { from: None, to: None };
        ChunkFindings::new(&Arc::new(Plan::new(vec![all], Edges::Clip, false, None)), base)
    }

    fn maker(&self) -> Maker<ChunkFindings> {
        let plan = Arc::clone(&self.plan);
        Box::new(move |base, _| ChunkFindings::new(&plan, base))
    }

    fn documents(&mut self) -> &mut Vec<Document> {
        &mut self.documents
    }

    const KEEPS_STREAMS: bool = true;

    const PROVES: bool = true;

    const RESERVED: u64 = BASE;

    fn take(&mut self, part: ChunkFindings, base: u64, current: Current<'_>) -> Result<(), Error> {
        self.events += part.envelope.stats.events;
        self.times = self.times.unite(part.times);
        self.trusted = self.trusted.max(part.guess.trusted);
        self.long.append(&part.envelope.long)?;
        part.envelope.append_to(&mut self.documents);
        self.streams.append(part.streams, base)?;
        let [metadata, untimed] = part.lists;
        self.plain.list(METADATA, &metadata)?;
        self.plain.list(UNTIMED, &untimed)?;
        self.plain.push(part.plain);
        self.parts.extend(&part.parts);
        self.essential.push(part.essential);
        if self.plain.is_full() || self.parts.is_full() || self.essential.is_full() {
            let store = current.store(&self.long);
            let order = Order(&store);
            for sorter in [&mut self.plain, &mut self.essential] {
                if sorter.is_full() {
                    sorter.spill(order)?;
                }
            }
            if self.parts.is_full() {
                self.parts.spill(order)?;
            }
        }
        Ok(())
    }
}
