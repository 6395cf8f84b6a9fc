//! Collects a bounded number of marker and clock-sync events during the scan.

use std::collections::BTreeMap;
use std::sync::Arc;
use tracemill_tokenizer::{Event, Field, nanos, number_text};
use tracemill_trace::json::member;
use tracemill_trace::time::shift::{Shift, TimeKind};

/// Maximum number of markers kept per input; the earliest are kept.
pub(super) const MARKERS: usize = 1024;
/// Maximum number of clock-sync events kept per input; the earliest are kept.
const SYNCS: usize = 256;

#[derive(Clone, Debug, Default)]
pub(crate) struct ClockSignals {
    /// Name of markers; the i-th markers of all inputs match.
    pub(super) marker: Option<Vec<u8>>,
    pub(super) syncs: bool,
}

/// A time of an input and its uncertainty, both in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UncertainTime {
    pub(super) time: i64,
    pub(super) uncertainty: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ClockSamples {
    signals: Arc<ClockSignals>,
    /// Times of the first markers; only [`ClockSamples::markers`] sorts them.
    markers: Vec<i64>,
    /// Number of all markers, kept or not.
    pub(super) seen: u64,
    pub(super) syncs: BTreeMap<Vec<u8>, UncertainTime>,
}

impl ClockSamples {
    pub(crate) fn new(signals: Arc<ClockSignals>) -> Self {
        ClockSamples { signals, ..ClockSamples::default() }
    }

    /// Observes a timed event, except metadata; `shift` is the factor of the input, if any.
    #[inline]
    pub(crate) fn note(&mut self, event: &Event<'_>, time: i64, shift: Option<&Shift>) {
        let marker = self.signals.marker.as_ref();
        if marker.is_some_and(|name| event.is_string(Field::Name, name) && !is_end(event)) {
            self.seen += 1;
            self.markers.push(time);
            if self.markers.len() >= 2 * MARKERS {
                self.keep_first();
            }
        }
        if self.signals.syncs && event.phase() == b'c' {
            self.note_sync(event, time, shift);
        }
    }

    /// Observes a clock-sync event. Its time lies between the request (`args.issue_ts`) and the
    /// answer (`ts`).
    #[cold]
    fn note_sync(&mut self, event: &Event<'_>, time: i64, shift: Option<&Shift>) {
        let args = event.field(Field::Args).unwrap_or_default();
        let Some(id) = member(args, b"sync_id") else { return };
        let mut new = Vec::new();
        let issued = member(args, b"issue_ts").and_then(|value| {
            let changed = shift.is_some_and(|shift| shift.write(value, TimeKind::Micros, &mut new));
            nanos_of(if changed { &new } else { value })
        });
        let moment = match issued.filter(|&issued| issued <= time) {
            Some(issued) => {
                let length = time.saturating_sub(issued);
                UncertainTime { time: issued + length / 2, uncertainty: length - length / 2 }
            }
            None => UncertainTime { time, uncertainty: 0 },
        };
        self.note_moment(id.to_vec(), moment);
    }

    /// Adds a sync event. Among events with the same id, the earliest wins.
    fn note_moment(&mut self, id: Vec<u8>, moment: UncertainTime) {
        let order = |moment: &UncertainTime| (moment.time, moment.uncertainty);
        let earliest = self.syncs.entry(id).or_insert(moment);
        if order(&moment) < order(earliest) {
            *earliest = moment;
        }
        if self.syncs.len() > SYNCS {
            let last = self.syncs.iter().max_by(|a, b| (a.1.time, a.0).cmp(&(b.1.time, b.0)));
            let last = last.map(|(id, _)| id.clone());
            last.map(|id| self.syncs.remove(&id));
        }
    }

    pub(crate) fn append(&mut self, other: ClockSamples) {
        self.seen += other.seen;
        self.markers.extend(other.markers);
        self.keep_first();
        other.syncs.into_iter().for_each(|(id, moment)| self.note_moment(id, moment));
    }

    fn keep_first(&mut self) {
        self.markers.sort_unstable();
        self.markers.truncate(MARKERS);
        self.markers.shrink_to(MARKERS);
    }

    pub(super) fn markers(&mut self) -> &[i64] {
        self.keep_first();
        &self.markers
    }
}

fn is_end(event: &Event<'_>) -> bool {
    matches!(event.phase(), b'E' | b'e' | b'F')
}

pub(super) fn nanos_of(value: &[u8]) -> Option<i64> {
    Some(nanos(number_text(value, &mut Vec::new())?)?.floor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracemill_tokenizer::fields_of;

    fn samples(events: &[(&str, i64)], parts: usize) -> ClockSamples {
        let watch = Arc::new(ClockSignals { marker: Some(b"m".to_vec()), syncs: true });
        let mut all = ClockSamples::default();
        for part in events.chunks(events.len().div_ceil(parts)) {
            let mut clock_samples = ClockSamples::new(Arc::clone(&watch));
            for (event, time) in part {
                clock_samples.note(&fields_of(event.as_bytes()).of(event.as_bytes()), *time, None);
            }
            all.append(clock_samples);
        }
        all
    }

    #[test]
    fn first_markers_do_not_depend_on_chunk_boundaries() {
        let times = (0..5000).map(|i| (i * 7919) % 5003);
        let events: Vec<(&str, i64)> =
            times.map(|time| (r#"{"name":"\u006d","ph":"X"}"#, time)).collect();
        let (mut whole, mut cut) = (samples(&events, 1), samples(&events, 7));
        assert_eq!((whole.seen, cut.seen), (5000, 5000));
        assert_eq!(whole.markers().len(), MARKERS);
        assert_eq!(whole.markers(), cut.markers());
        assert!(samples(&[(r#"{"name":"m","ph":"E"}"#, 1)], 1).markers().is_empty());
    }

    #[test]
    fn sync_time_lies_between_request_and_answer() {
        let found = samples(
            &[
                (r#"{"ph":"c","args":{"sync_id":"a","issue_ts":1}}"#, 4000),
                (r#"{"ph":"c","args":{"sync_id":"b"}}"#, 9000),
                (r#"{"ph":"c","args":{"sync_id":"b"}}"#, 8000),
                (r#"{"ph":"c","args":{"sync_id":"c","issue_ts":"7"}}"#, 4000),
                (r#"{"ph":"c","args":{}}"#, 4000),
            ],
            2,
        );
        let of = |id: &str| found.syncs.get(format!("\"{id}\"").as_bytes()).copied();
        assert_eq!(of("a"), Some(UncertainTime { time: 2500, uncertainty: 1500 }));
        assert_eq!(of("b"), Some(UncertainTime { time: 8000, uncertainty: 0 }));
        assert_eq!(of("c"), Some(UncertainTime { time: 4000, uncertainty: 0 }));
        assert_eq!(found.syncs.len(), 3);
    }
}
