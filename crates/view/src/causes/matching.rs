//! Maps drawn events to events of the analysis, and back.

use crate::causes::FoundCauses;
use crate::indexed::shown::Shown;
use crate::model::Model;
use crate::tracks::flows::InLane;
use crate::tracks::lane::Lane;
use crate::tracks::record::Span;
use std::collections::BTreeMap;
use std::sync::Arc;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::{Entries, TableRules, Thread, View};
use tracemill_causes::EventId;
use tracemill_index::drawing::{LaneKind, NAME_MOST, cut};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Cancel;
use tracemill_trace::spill::hash::HashMap;
use tracemill_trace::time::windows::TimeSpan;

/// Nanoseconds by which a time of the analysis may differ from the time that is drawn: the
/// analysis has doubles, which represent times since 1970 to half a microsecond.
const SLACK: i64 = 1000;

/// The position of an event of the analysis, as far as it is known.
struct Sought<'t> {
    pid: &'t [u8],
    tid: &'t [u8],
    /// Start in nanoseconds.
    start: i64,
    span: SoughtSpan,
}

/// The property by which the interval of an event is found.
enum SoughtSpan {
    /// Offset of the event.
    At(u64),
    /// Name of a pair of B and E.
    Pair(String),
    /// Name and duration of a call.
    Call(String, i64),
}

/// The calls of samples among the events of an answer.
pub(super) type CallTable = HashMap<EventId, Entry>;

impl FoundCauses {
    /// Returns the references to a drawn event. The event may be known as an event and as a pair.
    pub(super) fn ids_of(&self, model: &Model, event: InLane) -> Result<Vec<EventId>, Error> {
        let InLane(number, span) = event;
        let trace = &self.trace;
        if span.is_event() {
            let event = trace.cause_event_at(span.place);
            return Ok(event.map_or_else(Vec::new, |event| EventId::all_of(&event, trace)));
        }
        let Some(lane) = model.lanes.get(number as usize) else { return Ok(Vec::new()) };
        let is_it = |thread: &Thread| (&*thread.pid, &*thread.tid) == (&*lane.pid, lane.track());
        let Some(thread) = trace.threads.iter().position(is_it) else { return Ok(Vec::new()) };
        let name = model.names.text(span.name);
        let is_call = |entry: &Entry| {
            let id = EventId::of_entry(entry, thread);
            self.times(entry) == (span.start, span.dur) && call_name(&id.name(trace)) == name
        };
        // a function that calls itself may begin and end together with its caller
        let above = (0..span.row).filter_map(|row| model.at(lane, row, span.start));
        let is_same = |other: &Span| {
            (other.start, other.dur, other.name) == (span.start, span.dur, span.name)
        };
        let nth = above.filter(is_same).count();
        let call = self.calls_of(thread, |calls| calls.filter(is_call).nth(nth))?;
        Ok(call.iter().map(|entry| EventId::of_entry(entry, thread)).collect())
    }

    /// Passes the drawn calls of a thread to `visit`, callers before callees.
    fn calls_of<T>(
        &self,
        thread: usize,
        visit: impl FnOnce(&mut dyn Iterator<Item = Entry>) -> T,
    ) -> Result<T, Error> {
        let track = self.trace.track(&self.trace.threads[thread])?;
        let rules = TableRules { entries: Entries::All, as_devtools: false };
        Ok(visit(&mut View::new(&track, rules).drawn_calls()))
    }

    /// Returns start and duration in nanoseconds, as the view draws a call.
    fn times(&self, entry: &Entry) -> (i64, i64) {
        let clock = self.trace.clock();
        let nanos = |micros: f64| (micros * 1000.0).round() as i64;
        let (ts, dur) = (clock.micros(entry.ts), clock.micros(entry.dur));
        let start = nanos(ts);
        (start, nanos(ts + dur).saturating_sub(start).max(0))
    }

    /// Finds the calls of samples among events. Cost: a walk over the calls of each of their
    /// threads.
    pub(super) fn calls_among(&self, events: &[EventId]) -> Result<CallTable, Error> {
        let mut wanted: BTreeMap<usize, Vec<EventId>> = BTreeMap::new();
        for (thread, event) in events.iter().filter_map(|event| Some((event.call_thread()?, event)))
        {
            wanted.entry(thread).or_default().push(*event);
        }
        let mut found = CallTable::default();
        for (thread, events) in wanted {
            self.calls_of(thread, |calls| {
                for entry in calls {
                    let id = EventId::of_entry(&entry, thread);
                    if events.contains(&id) {
                        found.entry(id).or_insert(entry);
                    }
                }
            })?;
        }
        Ok(found)
    }

    /// Finds the interval of an event, with the model in which it is drawn. Returns `None` if the
    /// event is not drawn, or its window has too many events.
    pub(super) fn drawn(
        &self,
        event: EventId,
        calls: &CallTable,
        shown: &Shown,
        cancel: &Cancel,
    ) -> Result<Option<(Arc<Model>, InLane)>, Error> {
        let Some(sought) = self.sought(event, calls) else { return Ok(None) };
        let from = sought.start.saturating_sub(SLACK);
        let window = TimeSpan::new(from, sought.start.saturating_add(SLACK + 1));
        let model = shown.window(window, cancel)?;
        let found = sought.find(&model, window);
        Ok(found.map(|found| (model, found)))
    }

    fn sought(&self, event: EventId, calls: &CallTable) -> Option<Sought<'_>> {
        let (trace, clock) = (&self.trace, self.trace.clock());
        if let Some(event) = event.number().and_then(|number| trace.cause_event(number)) {
            let (pid, tid) = trace.ids_of(&event);
            let start = clock.written_nanos(event.ts)?;
            return Some(Sought { pid, tid, start, span: SoughtSpan::At(event.offset) });
        }
        let Thread { pid, tid, .. } = trace.threads.get(event.thread(trace)?)?;
        let name = event.name(trace);
        let (start, span) = match calls.get(&event) {
            Some(call) => {
                let (start, dur) = self.times(call);
                (start, SoughtSpan::Call(call_name(&name), dur))
            }
            None => {
                let start = clock.written_nanos(clock.ticks_of(event.start(trace)?))?;
                (start, SoughtSpan::Pair(event_name(&name)))
            }
        };
        Some(Sought { pid, tid, start, span })
    }
}

/// Returns the name under which the view draws a call.
fn call_name(name: &str) -> String {
    let name = if name.is_empty() { "(anonymous)" } else { name };
    let end = name.len().min(NAME_MOST);
    String::from_utf8_lossy(&name.as_bytes()[..end]).into_owned()
}

/// Returns the name under which the view draws an event.
fn event_name(name: &str) -> String {
    match name.len() <= NAME_MOST {
        true => name.to_owned(),
        false => String::from_utf8_lossy(cut(name.as_bytes())).into_owned() + "…",
    }
}

impl Sought<'_> {
    fn is_in(&self, lane: &Lane) -> bool {
        let is_of_thread = lane.track() == self.tid;
        let is_kind = match (&self.span, lane.kind) {
            (SoughtSpan::At(_), LaneKind::Async) => true,
            (SoughtSpan::Call(..), LaneKind::Calls) => is_of_thread,
            (SoughtSpan::At(_) | SoughtSpan::Pair(_), LaneKind::Thread) => is_of_thread,
            _ => false,
        };
        is_kind && *lane.pid == *self.pid
    }

    fn is(&self, span: &Span, model: &Model) -> bool {
        match &self.span {
            SoughtSpan::At(place) => span.place == *place,
            SoughtSpan::Pair(name) => model.names.text(span.name) == *name,
            SoughtSpan::Call(name, dur) => span.dur == *dur && model.names.text(span.name) == *name,
        }
    }

    /// Returns the nearest interval that matches, within a window.
    fn find(&self, model: &Model, window: TimeSpan) -> Option<InLane> {
        let lanes = (0..).zip(&model.lanes).filter(|(_, lane)| self.is_in(lane));
        let found = lanes.flat_map(|(number, lane)| {
            let rows = model.rows_of(lane);
            lane.tracks.iter().flat_map(move |track| {
                let spans = rows.of(rows.within(track, false, window.from, window.to));
                let spans = spans.filter(move |span| window.from <= span.start);
                spans.map(move |span| InLane(number, Span { row: track.row, ..span }))
            })
        });
        let found = found.filter(|InLane(_, span)| self.is(span, model));
        found.min_by_key(|InLane(_, span)| (span.start.abs_diff(self.start), span.row))
    }
}
