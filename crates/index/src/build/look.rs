//! Per-chunk work for an index: counts for `info`, and the locations of events.

use super::drawn::PartDrawn;
use super::granules::{GranuleEvent, PartGranules};
use super::lasting::{LastingEvents, PlacedEvent};
use super::streams::PartStreams;
use crate::format::event_sum;
use tracemill_cpuprofile::Role;
use tracemill_inspect::info::{self, LastEvent};
use tracemill_tokenizer::{Event, Member as Value};
use tracemill_trace::event::envelope::ChunkStats;
use tracemill_trace::event::{Phase, end_of};
use tracemill_trace::observe::{EventRef, Look};
use tracemill_trace::record;
use tracemill_trace::time::bounds::widen;
use tracemill_viewers::essential::{is_essential, may_be_special};

/// Collects the index data of one chunk, in the same pass as `info`.
pub(super) struct IndexLook {
    pub(super) info: info::InfoLook,
    pub(super) granules: PartGranules,
    pub(super) places: Vec<ListedEvent>,
    pub(super) lasting: LastingEvents,
    pub(super) streams: PartStreams,
    /// Least and greatest `ts` of all events.
    pub(super) times: Option<(i64, i64)>,
    /// Tracks, names and bins; `None` if the index gets no view summary.
    pub(super) drawn: Option<PartDrawn>,
}

impl IndexLook {
    pub(super) fn new(
        info: info::InfoLook,
        lasting: LastingEvents,
        drawn: Option<PartDrawn>,
    ) -> Self {
        IndexLook {
            info,
            granules: PartGranules::default(),
            places: Vec::new(),
            lasting,
            streams: PartStreams::default(),
            times: None,
            drawn,
        }
    }
}

record! {
    /// An event that every window needs: offset, length and checksum.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct ListedEvent {
        pub place: u64,
        pub(super) len: u64,
        pub(super) sum: u32,
    }
}

impl Look for IndexLook {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.info.event(event, at);
        let Some(last) = self.info.last else { return true };
        let LastEvent { letter, ts, dur, .. } = last;
        let (place, len) = (event.offset, event.bytes.len() as u64);
        let sum = event_sum(place, event.bytes);
        if let Some(ts) = ts {
            widen(&mut self.times, ts.floor, ts.floor);
        }
        let is_metadata = letter == b'M';
        let may_be_special = !is_metadata && may_be_special(event);
        let is_essential = may_be_special && is_essential(event);
        let role = if may_be_special { Role::of(event) } else { None };
        let ts = ts.filter(|_| !is_metadata);
        if ts.is_none() || is_essential {
            self.places.push(ListedEvent { place, len, sum });
        }
        if let Some(role) = role {
            self.lasting.has_profiles = true;
            self.streams.note(event, role, sum);
        }
        let time = ts.map(|ts| ts.floor);
        // STREAMS locates events of CPU profiles
        let of_granule = time.filter(|_| letter != b'P' || role.is_none());
        self.granules.note(&GranuleEvent { place, len, time: of_granule, sum });
        let (thread, name) = (last.thread as u32, last.name as u32);
        let end = ts.map_or(0, |ts| end_of(Phase::of_letter(letter), ts, dur));
        let is_special = is_essential || role.is_some();
        let mut found =
            PlacedEvent { letter, ts, dur, end, place, thread, sum, track: 0, name, is_special };
        if let (false, Some(_), Some(drawn)) = (is_special, ts, &mut self.drawn) {
            found.track = drawn.note(event, &found, self.granules.len());
        }
        self.lasting.note(event, &found);
        true
    }

    fn member(&mut self, member: &Value<'_>) {
        self.info.member(member);
        self.lasting.note_value(member.value);
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        self.info.seal(stats);
        self.granules.seal();
        self.drawn.iter_mut().for_each(|drawn| drawn.seal(&self.granules));
    }
}
