//! What a scan leaves behind: entries, places, keys, losses. Bytes stay where they are.

use crate::clock::ClockSamples;
use crate::identity::ProcessFindings;
use crate::viewer::Scanned;
use std::sync::Arc;
use tracemill_core::entry::{Entry, rank};
use tracemill_core::envelope::Envelope;
use tracemill_core::order::{METADATA, UNTIMED};
use tracemill_core::place::Place;
use tracemill_core::scan::Collect;
use tracemill_core::shift::Shift;
use tracemill_profile::{Role, StreamOrders};
use tracemill_tokenizer::{Event, Field};

/// The findings of one chunk of an input.
#[derive(Default)]
pub(crate) struct ChunkFindings {
    pub(super) envelope: Envelope,
    pub(super) timed: Vec<Entry>,
    pub(super) lists: [Vec<Place>; 2],
    /// Bytes of the events.
    pub(super) bytes: u64,
    pub(super) streams: StreamOrders,
    /// Whether there is an event that makes the trace one of a browser.
    pub(super) browser: bool,
    /// Its processes; only where inputs are compared.
    pub(super) processes: Option<Box<ProcessFindings>>,
    /// What tells of its clock, if that is asked for.
    pub(super) sightings: Option<Box<ClockSamples>>,
    /// What its times are multiplied by.
    pub(super) factor: Option<Arc<Shift>>,
    /// What matters to a viewer, if it is for one.
    pub(super) viewer: Option<Box<Scanned>>,
}

impl ChunkFindings {
    /// For a chunk of about `bytes` bytes of the input that stands at `base`.
    pub(super) fn new(base: u64, bytes: usize) -> Self {
        // a guess that fits the Chrome-like traces; it is cut to size when the chunk is done
        ChunkFindings {
            envelope: Envelope::at(base),
            timed: Vec::with_capacity(bytes / 256),
            ..ChunkFindings::default()
        }
    }
}

impl ChunkFindings {
    /// What a scan finds of timed events of the input that stands at `base`, where they have [plain names](is_plain_name) and are not long, and
    /// nobody looks at anything else of them.
    pub(super) fn of_known(base: u64, events: &[Entry]) -> Self {
        let mut part = ChunkFindings::new(base, 0);
        part.timed.reserve_exact(events.len());
        for &Entry { time, place } in events {
            part.envelope.stats.note_event(place.offset());
            part.bytes += place.short_len().unwrap_or_default();
            part.timed.push(Entry { time, place: place.behind(base) });
        }
        part.seal();
        part
    }
}

/// Whether a merge looks at nothing of an event of this name but where it stands and when it is: all but those that say what a trace is, or are of a
/// CPU profile.
pub fn is_plain_name(name: &str) -> bool {
    name != STARTED && !Role::NAMES.contains(&name)
}

/// The event that makes a trace one of a browser.
const STARTED: &str = "TracingStartedInBrowser";

#[inline]
fn starts_browser(event: &Event<'_>) -> bool {
    // known from the first letter of nearly all names
    let may_be = matches!(event.field_and_rest(Field::Name), Some([b'"', b'T' | b'\\', ..]));
    may_be && event.is_string(Field::Name, STARTED.as_bytes())
}

impl Collect for ChunkFindings {
    fn envelope(&mut self) -> &mut Envelope {
        &mut self.envelope
    }

    #[inline]
    fn event(&mut self, event: &Event<'_>) {
        let offset = self.envelope.event(event);
        let len = event.bytes.len();
        let times = match &self.factor {
            None => event.ts().map(|ts| (ts, event.dur())),
            Some(factor) => factor.times(event),
        };
        let taken = self.viewer.as_mut().is_some_and(|viewer| viewer.takes(event, times));
        self.bytes += if taken { 0 } else { len as u64 };
        if event.is_metadata() {
            let place = Place::new(offset, len, 0);
            if let Some(processes) = &mut self.processes {
                processes.note(event, None);
            }
            if !taken {
                self.lists[METADATA].push(place);
            }
            return;
        }
        let entry = match times {
            Some((ts, dur)) => {
                let place = Place::new(offset, len, rank(ts, dur));
                let entry = Entry { time: ts.floor, place };
                if !taken {
                    self.timed.push(entry);
                }
                entry
            }
            None => {
                let place = Place::new(offset, len, 0);
                if !taken {
                    self.lists[UNTIMED].push(place);
                }
                Entry { time: i64::MIN, place }
            }
        };
        if let Some(processes) = &mut self.processes {
            processes.note(event, (entry.time > i64::MIN).then_some(entry.time));
        }
        if let Some(sightings) = &mut self.sightings
            && entry.time > i64::MIN
        {
            sightings.note(event, entry.time, self.factor.as_deref());
        }
        self.streams.note(event, entry);
        self.browser |= starts_browser(event);
    }

    fn seal(&mut self) {
        if !self.timed.is_sorted() {
            self.timed.sort_unstable();
        }
        self.envelope.stats.span =
            self.timed.first().zip(self.timed.last()).map(|(a, b)| (a.time, b.time));
        if let Some(viewer) = &mut self.viewer {
            viewer.seal();
            self.envelope.stats.span = join(self.envelope.stats.span, viewer.span());
        }
        self.timed.shrink_to_fit();
        self.lists.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

/// First and last time of two stretches.
fn join(a: Option<(i64, i64)>, b: Option<(i64, i64)>) -> Option<(i64, i64)> {
    a.zip(b).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))).or(a).or(b)
}
