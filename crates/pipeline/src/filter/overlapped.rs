//! Events that are written while the rest is read, as long as each is decided where it stands.
//!
//! What stands between a trace's first event and the first one that has to wait is the begin of the output, so it is
//! written at once. Events of a CPU profile need not wait where no time is asked for and their `Profile` event stands
//! before them, as producers write it: then they stay if that does. When all is read that is held against what
//! [`decide`](super::decide) says, which knows every `Profile` event of a profile.

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

/// CPU profiles that are remembered. A trace with more of them is written from there on when all is read.
const PROFILES_MOST: usize = 1 << 16;

/// What is written while the rest is read.
pub(super) struct Overlapped {
    copy: OverlappedCopy,
    /// Whether the CPU profiles that were written about stay, by their keys.
    profiles: HashMap<u64, bool>,
    /// Something has to wait.
    is_over: bool,
    /// What stays of a part.
    places: Vec<Place>,
}

impl Overlapped {
    /// Begins the output when the first events of the only input are found; `None` where that cannot be.
    pub(super) fn begin(
        current: Current<'_>,
        output: &OutputConfig,
        limits: &Limits,
    ) -> Option<Overlapped> {
        let copy = OverlappedCopy::begin(current, Layout::of, Length::AtMost, output, limits)?;
        let (profiles, places) = (HashMap::new(), Vec::new());
        Some(Overlapped { copy, profiles, is_over: false, places })
    }

    /// Writes what stays of a part, which stands behind all others. False if the writers have failed.
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

    /// Takes what stays of a part, in input order; returns the bytes of events of profiles. `None` if an event has to wait.
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

    /// Whether an event of a CPU profile stays; `None` if that is not known yet, and for all other events.
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

    /// Whether an event was written about as it is decided.
    pub(super) fn agrees(&self, record: &Undecided, stays: bool) -> bool {
        let is_of_profile = matches!(record.role, PairRole::Head | PairRole::Chunk);
        let written = self.profiles.get(&record.key).filter(|_| is_of_profile);
        written.is_none_or(|&written| written == stays)
    }

    /// What was written, if the output is begun as it should be.
    pub(super) fn end(
        self,
        layout: Layout,
        united: &MergedKeys<'_>,
    ) -> Result<Option<Box<StreamedOutput>>, Error> {
        self.copy.end(layout, united)
    }
}
