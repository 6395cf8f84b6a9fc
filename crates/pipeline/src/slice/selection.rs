//! Selects, during the scan, the events that windows may need: 16 bytes per event, in separate
//! stores by kind.
//!
//! If windows are relative, the bounds come from the first events of a file or an earlier pass. For
//! pipes, all events are kept until the bounds are known.
//!
//! ```text
//!   metadata, untimed ──────────> lists          always kept
//!   X, instants ────────────────> plain          if they may overlap a window
//!   B E b e S F s t f (and C) ──> parts          if before the end of the last window, or all if
//!                                                pairs stay whole; by pair, 48 bytes each
//!   Profile, ProfileChunk ──────> streams        skimmed or decoded, on the scan worker
//!   TracingStartedInBrowser … ──> essential      always kept
//! ```

use std::sync::Arc;
use tracemill_cpuprofile::{Detail, KnownChunks, Role, Router, Streams};
use tracemill_join::read_plan::{BASE, WindowPlan};
use tracemill_tokenizer::Event;
use tracemill_trace::Limits;
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::{PairEvent, PairKind, Phase, end_of};
use tracemill_trace::observe::{EventRef, Look, Needs, Observer, SealedChunk, Sorted, Starter};
use tracemill_trace::order::{ExternalSorter, Order, Sorter};
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::time::bounds::{Bounds, Times};
use tracemill_trace::time::windows::{Edges, Windows};
use tracemill_viewers::essential::{is_essential, may_be_special};

/// Decides which events are dropped during the scan.
pub(super) struct SlicePlan {
    /// Windows that contain the requested windows.
    windows: Windows,
    edges: Edges,
    /// The plan of an index, if only byte ranges are read.
    all: Option<Arc<WindowPlan>>,
}

impl SlicePlan {
    pub(super) fn new(windows: Windows, edges: Edges) -> Self {
        SlicePlan { windows, edges, all: None }
    }

    /// Creates the plan for reading the byte ranges of an index.
    pub(super) fn of_known(known: &Arc<WindowPlan>, edges: Edges) -> Self {
        SlicePlan { windows: known.windows.clone(), edges, all: Some(Arc::clone(known)) }
    }
}

/// Finds the bounds of a trace.
pub(super) struct BoundsWatch(pub(super) Times);

impl Look for BoundsWatch {
    #[inline(always)]
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        if let (false, Some((ts, dur))) = (at.is_metadata, at.times) {
            self.0.note(event, ts, end_of(Phase::of(event), ts, dur));
        }
        true
    }
}

impl Observer for BoundsWatch {
    type Chunk = BoundsWatch;

    fn starter(&self) -> Starter<BoundsWatch> {
        Box::new(|_| BoundsWatch(Times::NONE))
    }

    fn merge(&mut self, found: BoundsWatch, _: &SealedChunk<'_>) -> Result<(), Error> {
        self.0 = self.0.unite(found.0);
        Ok(())
    }
}

/// Selects the events of one chunk. The index keeps plain events.
pub(super) struct SliceLook {
    plan: Arc<SlicePlan>,
    /// The first and the last edge of the windows.
    from: i64,
    to: i64,
    times: Times,
    parts: Vec<PairEvent>,
    essential: Vec<Entry>,
    streams: Router,
}

impl SliceLook {
    fn new(plan: &Arc<SlicePlan>) -> Self {
        SliceLook {
            plan: Arc::clone(plan),
            from: plan.windows.begin(),
            to: plan.windows.end(),
            times: Times::NONE,
            parts: Vec::new(),
            essential: Vec::new(),
            streams: Router::default(),
        }
    }

    /// Returns whether windows may need an event from `first` to `last`, judging by its times.
    #[inline]
    fn may_matter(&self, phase: Phase, first: i64, last: i64) -> bool {
        let whole_pairs = self.plan.edges != Edges::Clip;
        match phase {
            Phase::Part(PairKind::Counter, _) if whole_pairs => {}
            Phase::Part(..) => return whole_pairs || first < self.to,
            _ => {}
        }
        first < self.to && last >= self.from && self.plan.windows.touch(first, last)
    }

    /// Adds an event without a time to its CPU profile stream, if any.
    #[cold]
    fn untimed(&mut self, event: &Event<'_>, offset: u64) {
        if let Some(role) = Role::of(event) {
            self.streams.take(event, offset, role, self.detail());
        }
    }

    /// Returns how much of CPU profiles must be read.
    fn detail(&self) -> Detail {
        if self.plan.edges == Edges::Clip { Detail::Times } else { Detail::All }
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
        let end = end_of(phase, ts, dur);
        self.times.note(event, ts, end);
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
            Phase::Part(PairKind::Counter, _) if self.plan.edges != Edges::Clip => true,
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
    }
}

/// Collects the events that windows need in addition to plain events: pairs, essential events, CPU
/// profile streams.
///
/// Keeps every event that a window needs, and possibly other events.
pub(super) struct WindowSelection {
    plan: Arc<SlicePlan>,
    times: Times,
    pub(super) parts: ExternalSorter<PairEvent>,
    pub(super) essential: Sorter,
    pub(super) streams: Streams,
}

/// Creates the index of plain events, metadata and events without a time.
pub(super) fn keep(limits: &Limits) -> Sorted {
    Sorted::new(limits.lease("plain events", Share::of_index(1, 4)))
}

impl WindowSelection {
    pub(super) fn new(plan: SlicePlan, limits: &Limits) -> Self {
        WindowSelection {
            plan: Arc::new(plan),
            times: Times::NONE,
            parts: ExternalSorter::new(
                limits.lease("events that last", Share::of_index(1, 8)),
                limits.threads,
            ),
            essential: Sorter::new(limits.lease("events that stay", Share::of_index(1, 16))),
            streams: Streams::new(
                limits.lease("chunks of CPU profiles", Share::of_index(1, 2)),
                limits,
            ),
        }
    }

    /// Returns the bounds of all events that have a time.
    pub(super) fn bounds(&self) -> Option<Bounds> {
        match &self.plan.all {
            Some(known) => Some(known.bounds),
            None => self.times.bounds(),
        }
    }

    /// Returns whether pairs are found by name alone.
    pub(super) fn only_by_name(&self) -> bool {
        self.plan.all.as_ref().is_some_and(|known| known.only_by_name)
    }

    /// Returns whether the times that were read are within the bounds that the index states.
    pub(super) fn was_known(&self) -> bool {
        let Some(known) = &self.plan.all else { return false };
        let Bounds { first, last, end, .. } = known.bounds;
        let within =
            |bounds: Bounds| first <= bounds.first && bounds.last <= last && bounds.end <= end;
        self.times.bounds().is_none_or(within)
    }

    /// Drops CPU profiles that windows do not need, and completes the other profiles from the
    /// index.
    pub(super) fn end_streams(&mut self) -> Result<(), Error> {
        self.streams.finish()?;
        if let Some(known) = &self.plan.all {
            let input_offset = |offset: u64| offset.wrapping_sub(BASE);
            self.streams.retain(|offset| known.streams.contains(&input_offset(offset)));
            if let Some(chunks) = &known.chunks {
                self.streams.complete(chunks);
            }
        }
        Ok(())
    }

    /// Returns the CPU profile chunks that the index has. These chunks need not be read.
    pub(super) fn chunks(&self) -> Option<Arc<KnownChunks>> {
        self.plan.all.as_ref()?.chunks.clone()
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
