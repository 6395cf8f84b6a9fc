//! What one worker finds in one chunk for an index: what `info` counts, and where what lies.

use super::drawn::PartDrawn;
use super::granules::{GranuleEvent, PartGranules, TIMED};
use super::lasting::{Lasting, PlacedEvent};
use super::streams::PartStreams;
use crate::essential::{is_essential, may_be_special};
use crate::info::{self, LastEvent};
use crate::slice::kinds::{Phase, end_of};
use tracemill_core::envelope::ChunkStats;
use tracemill_core::observe::{EventRef, Look};
use tracemill_core::record;
use tracemill_index::{event_sum, kinds};
use tracemill_profile::Role;
use tracemill_tokenizer::{Damage, Event, Member as Value};

/// Collects what an index has of one chunk, in the pass that counts it for `info`.
pub(super) struct IndexLook {
    pub(super) info: info::InfoLook,
    pub(super) granules: PartGranules,
    pub(super) places: Vec<Listed>,
    pub(super) lasting: Lasting,
    pub(super) streams: PartStreams,
    /// None of what is not drawn by its index.
    pub(super) drawn: Option<PartDrawn>,
}

impl IndexLook {
    pub(super) fn new(info: info::InfoLook, lasting: Lasting, drawn: Option<PartDrawn>) -> Self {
        IndexLook {
            info,
            granules: PartGranules::new(),
            places: Vec::new(),
            lasting,
            streams: PartStreams::default(),
            drawn,
        }
    }
}

record! {
    /// An event that counts wherever it stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Listed {
        pub(super) place: u64,
        pub(super) len: u64,
        pub(super) kinds: u64,
        pub(super) sum: u32,
    }
}

/// Kinds of an event, and its time if it has one and is no metadata. An event of a CPU profile has kinds without a time: it is found by STREAMS.
#[inline]
fn kinds_of(
    event: &Event<'_>,
    &LastEvent { letter: phase, ts, .. }: &LastEvent,
) -> (u64, Option<i64>) {
    if phase == b'M' {
        return (kinds::METADATA, None);
    }
    let special = may_be_special(event);
    let essential = if special && is_essential(event) { kinds::ESSENTIAL } else { 0 };
    let profiles = if special && Role::of(event).is_some() { kinds::PROFILES } else { 0 };
    let Some(ts) = ts else { return (kinds::UNTIMED | essential | profiles, None) };
    let own = match phase {
        b'P' if profiles != 0 => 0,
        b'B' | b'E' => kinds::PAIRS,
        b'b' | b'n' | b'e' | b'S' | b'T' | b'p' | b'F' => kinds::ASYNC,
        b's' | b't' | b'f' => kinds::FLOWS,
        b'C' => kinds::COUNTERS,
        _ => kinds::PLAIN,
    };
    (own | essential | profiles, Some(ts.floor))
}

impl Look for IndexLook {
    fn event(&mut self, event: &Event<'_>, at: &EventRef) -> bool {
        self.info.event(event, at);
        let Some(last) = self.info.last else { return true };
        let (place, len) = (event.offset, event.bytes.len() as u64);
        let (kinds, time) = kinds_of(event, &last);
        let sum = event_sum(place, event.bytes);
        if kinds & (kinds::METADATA | kinds::UNTIMED | kinds::ESSENTIAL) != 0 {
            self.places.push(Listed { place, len, kinds, sum });
        }
        let LastEvent { letter, ts, dur, .. } = last;
        let (thread, name) = (last.thread as u32, last.name as u32);
        let end = ts.map_or(0, |ts| end_of(Phase::of_letter(letter), ts, dur));
        let is_special = kinds & (kinds::ESSENTIAL | kinds::PROFILES) != 0;
        if kinds & kinds::PROFILES != 0
            && let Some(role) = Role::of(event)
        {
            self.lasting.has_profiles = true;
            self.streams.note(event, role, sum);
        }
        let of_granule = time.filter(|_| kinds & TIMED != 0);
        self.granules.note(&GranuleEvent { place, len, time: of_granule, kinds, sum });
        let granules = self.granules.len();
        let own = time.filter(|_| !is_special).zip(self.drawn.as_mut());
        let track = own.map_or(0, |(start, own)| {
            own.note(event, (letter, start, end), (thread, name), (place, granules))
        });
        let known =
            PlacedEvent { letter, ts, dur, end, place, thread, sum, track, name, is_special };
        self.lasting.note(event, &known);
        true
    }

    fn member(&mut self, member: &Value<'_>) {
        self.lasting.note_value(member.value);
    }

    fn damage(&mut self, _: &Damage<'_>) {
        self.granules.damage();
    }

    fn seal(&mut self, stats: &mut ChunkStats) {
        self.info.seal(stats);
        self.granules.seal();
        self.drawn.iter_mut().for_each(|drawn| drawn.seal(&self.granules));
    }
}
