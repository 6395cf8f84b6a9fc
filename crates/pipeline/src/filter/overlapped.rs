//! Writes events during the scan until the first event whose decision must wait for later events.
//!
//! Events of a CPU profile need not wait if there is no criterion on time and their `Profile` event
//! comes first, as producers write it: they stay if that event stays. At the end the result is
//! compared with that of [`decide`](super::decide), which knows all `Profile` events.

use super::criteria::Criteria;
use super::look::Findings;
use super::reason::PASSES;
use super::undecided::{PairRole, Undecided};
use std::collections::HashMap;
use tracemill_trace::Limits;
use tracemill_trace::observe::SealedChunk;
use tracemill_trace::output::Length;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::read::Current;
use tracemill_trace::run::error::Error;
use tracemill_trace::store::place::Place;
use tracemill_write::emit::streamed_output::StreamedOutput;
use tracemill_write::in_order::overlapped_copy::OverlappedCopy;
use tracemill_write::keys::merged_keys::MergedKeys;
use tracemill_write::layout::Layout;

/// Maximum number of CPU profiles to remember. Later profiles have to wait.
const PROFILES_MOST: usize = 1 << 16;

/// An output that is written during the scan.
pub(super) struct Overlapped {
    copy: OverlappedCopy,
    /// Whether each CPU profile stays, by key.
    profiles: HashMap<u64, bool>,
    /// Whether an event had to wait.
    is_over: bool,
    /// The kept events of a chunk.
    places: Vec<Place>,
}

impl Overlapped {
    /// Opens the output at the first events of a single input, if it can be written during the
    /// scan.
    pub(super) fn begin(
        current: Current<'_>,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Option<Overlapped> {
        let copy = OverlappedCopy::begin(current, Layout::of, Length::AtMost, output, limits)?;
        let (profiles, places) = (HashMap::new(), Vec::new());
        Some(Overlapped { copy, profiles, is_over: false, places })
    }

    /// Appends the kept events of a chunk. Returns false if the writers have failed.
    pub(super) fn push(
        &mut self,
        found: &Findings,
        criteria: &Criteria,
        chunk: &SealedChunk<'_>,
    ) -> bool {
        if self.is_over {
            return true;
        }
        let long = chunk.chunk_long_events;
        if found.late.is_empty() && found.bound.is_empty() {
            return self.copy.push(chunk.kept, chunk.kept_bytes, long);
        }
        let Some(bytes) = self.take(found, criteria, chunk) else {
            self.is_over = true;
            return true;
        };
        self.copy.push(&self.places, chunk.kept_bytes + bytes, long)
    }

    /// Collects the kept events of a chunk in input order. Returns the bytes of profile events, or
    /// `None` if an event must wait.
    fn take(
        &mut self,
        found: &Findings,
        criteria: &Criteria,
        chunk: &SealedChunk<'_>,
    ) -> Option<u64> {
        if !found.late.is_empty() || criteria.needs.times {
            return None;
        }
        let store = chunk.input_store();
        self.places.clear();
        let (mut kept, mut bytes) = (chunk.kept.iter().copied().peekable(), 0);
        for record in &found.bound {
            if !self.stays(record, criteria)? {
                continue;
            }
            let place = record.entry.place.without_rank();
            while let Some(earlier) = kept.next_if(|kept| kept.offset() < place.offset()) {
                self.places.push(earlier);
            }
            self.places.push(place);
            bytes += store.len(place);
        }
        self.places.extend(kept);
        Some(bytes)
    }

    /// Returns whether an event of a CPU profile stays. Returns `None` if that is unknown, and for
    /// events of no profile.
    fn stays(&mut self, record: &Undecided, criteria: &Criteria) -> Option<bool> {
        match record.role {
            PairRole::Head if self.profiles.len() < PROFILES_MOST => {
                let stays = criteria.outcome(record.reason) == PASSES;
                (*self.profiles.entry(record.key).or_insert(stays) == stays).then_some(stays)
            }
            PairRole::Chunk => self.profiles.get(&record.key).copied(),
            _ => None,
        }
    }

    /// Returns whether the final decision on an event is the same as during the scan.
    pub(super) fn agrees(&self, record: &Undecided, stays: bool) -> bool {
        let is_of_profile = matches!(record.role, PairRole::Head | PairRole::Chunk);
        let written = self.profiles.get(&record.key).filter(|_| is_of_profile);
        written.is_none_or(|&written| written == stays)
    }

    /// Ends the copy. Returns the output, or `None` if the output must be written again.
    pub(super) fn end(
        self,
        layout: Layout,
        united: &MergedKeys<'_>,
    ) -> Result<Option<Box<StreamedOutput>>, Error> {
        self.copy.end(layout, united)
    }
}
