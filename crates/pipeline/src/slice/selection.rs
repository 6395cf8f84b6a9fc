//! Observes which events the windows of a slice may need: 16 bytes per event, in separate stores by what
//! it takes to decide.
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
use tracemill_core::entry::Entry;
use tracemill_core::envelope::ChunkStats;
use tracemill_core::error::Error;
use tracemill_core::observe::{EventRef, Look, Needs, Observer, SealedChunk, Sorted, Starter};
use tracemill_core::order::{ExternalSorter, Order, Sorter};
use tracemill_core::windows::Edges;
use tracemill_core::windows::{Start, TimeWindow, Windows};
use tracemill_profile::{Detail, KnownChunks, Role, Room, Router, Streams};
use tracemill_tokenizer::{Event, Nanos};

/// Nanoseconds that a trace may begin before the first events seen of it: events are written when they end, and by
/// threads in turn.
const SLACK: i64 = 1_000_000_000;

/// What decides which events are left out at once.
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

/// Selects the events of one chunk that windows may need. The index keeps plain events.
pub(super) struct SliceLook {
    plan: Arc<Plan>,
    guess: Guess,
    times: Times,
    parts: Vec<keys::PairEvent>,
    essential: Vec<Entry>,
    streams: Router,
}

impl SliceLook {
    fn new(plan: &Arc<Plan>) -> Self {
        SliceLook {
            plan: Arc::clone(plan),
            guess: Guess::new(plan),
            times: Times::NONE,
            parts: Vec::new(),
            essential: Vec::new(),
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
        if let Some(role) = Role::of(event) {
            self.streams.take(event, offset, role, self.detail());
        }
    }

    /// How much of CPU profiles must be known.
    fn detail(&self) -> Detail {
        if self.plan.edges == Edges::Clip { Detail::Times } else { Detail::All }
    }

    /// Notes the times of an event. Returns its last nanosecond.
    #[inline]
    fn note_times(
        &mut self,
        event: &Event<'_>,
        phase: Phase,
        (ts, dur): (Nanos, Option<Nanos>),
    ) -> i64 {
        let end = end_of(phase, ts, dur);
        self.times.note(event, ts, end);
        // 0 may be no time at all, and if it is one all is read again
        if ts.floor < self.guess.start.saturating_sub(SLACK / 4) && !is_zero(ts) {
            self.begin(ts.floor);
        }
        end
    }
}

impl Look for SliceLook {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        let phase = Phase::of(event);
        if phase == Phase::Metadata {
            return true;
        }
        let Some((ts, dur)) = at.times else {
            self.untimed(event, at.offset);
            return true;
        };
        let end = self.note_times(event, phase, (ts, dur));
        let special = may_be_special(event);
        if !special && !self.may_matter(phase, ts.floor, end) {
            return false;
        }
        let entry = at.entry();
        if special {
            if let Some(role) = Role::of(event) {
                self.streams.take(event, at.offset, role, self.detail());
                return false;
            }
            if is_essential(event) {
                self.essential.push(entry);
                return false;
            }
            if !self.may_matter(phase, ts.floor, end) {
                return false;
            }
        }
        match phase {
            Phase::Part(Kind::Counter, _) if self.plan.edges != Edges::Clip => true,
            Phase::Part(kind, step) => {
                let mut part = PairEvent::new(event, entry, kind, step);
                let all = self.plan.all.as_ref();
                if all.is_none_or(|known| known.take(&mut part, event.offset)) {
                    self.parts.push(part);
                }
                false
            }
            _ => true,
        }
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        if !self.essential.is_sorted() {
            self.essential.sort_unstable();
        }
        self.essential.shrink_to_fit();
        self.parts.shrink_to_fit();
        if let Some(bounds) = self.times.bounds() {
            stats.span = Some((bounds.first, bounds.last));
        }
        if let Some(first) = self.times.first_but_zero() {
            self.plan.first.fetch_min(first, Ordering::Relaxed);
        }
    }
}

/// Observes what windows need besides plain events: parts of pairs, essential events, CPU profile streams. No
/// event that a window needs is left out; others may stay until all is read.
pub(super) struct WindowSelection {
    plan: Arc<Plan>,
    times: Times,
    /// See [`Guess::trusted`].
    trusted: i64,
    pub(super) parts: ExternalSorter<keys::PairEvent>,
    pub(super) essential: Sorter,
    pub(super) streams: Streams,
}

/// Creates the index of plain events, metadata and untimed events.
pub(super) fn keep(config: &Config) -> Sorted {
    Sorted::new(config.shares().index / 4, config)
}

impl WindowSelection {
    pub(super) fn new(plan: Plan, config: &Config) -> Self {
        let quarter = config.shares().index / 4;
        WindowSelection {
            plan: Arc::new(plan),
            times: Times::NONE,
            trusted: i64::MIN,
            parts: ExternalSorter::new(&config.tmp_dir, quarter / 2, config.threads),
            essential: Sorter::new(quarter / 4, &config.tmp_dir),
            streams: Streams::new(Room { decoded: quarter, places: quarter }, config),
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
            let own = |offset: u64| offset.wrapping_sub(BASE);
            self.streams.retain(|offset| known.streams.contains(&own(offset)));
            if let Some(chunks) = &known.chunks {
                self.streams.complete(chunks);
            }
        }
        Ok(())
    }

    /// CPU profile chunks that need not be read, if there is an index that has them.
    pub(super) fn chunks(&self) -> Option<Arc<KnownChunks>> {
        self.plan.all.as_ref()?.chunks.clone()
    }

    /// Whether the trace begins where it was thought to; if not, events are missing.
    pub(super) fn guessed_right(&self) -> bool {
        let known = self.plan.known.unwrap_or(i64::MAX);
        self.bounds().is_none_or(|bounds| (self.trusted..=known).contains(&bounds.start))
    }
}

impl Observer for WindowSelection {
    type Chunk = SliceLook;

    fn needs(&self) -> Needs {
        Needs { reserved: BASE, ..Needs::NONE }
    }

    fn starter(&self) -> Starter<SliceLook> {
        let plan = Arc::clone(&self.plan);
        Box::new(move |_| SliceLook::new(&plan))
    }

    fn merge(&mut self, part: SliceLook, chunk: &SealedChunk<'_>) -> Result<(), Error> {
        self.times = self.times.unite(part.times);
        self.trusted = self.trusted.max(part.guess.trusted);
        self.streams.append(part.streams, chunk.base)?;
        self.parts.extend(&part.parts);
        self.essential.push(part.essential);
        if self.parts.is_full() || self.essential.is_full() {
            let store = chunk.store();
            if self.essential.is_full() {
                self.essential.spill(Order(&store))?;
            }
            if self.parts.is_full() {
                self.parts.spill(Order(&store))?;
            }
        }
        Ok(())
    }
}
