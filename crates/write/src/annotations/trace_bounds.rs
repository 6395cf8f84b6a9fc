//! Computes the bounds of a trace as DevTools does.

use super::window::AnnotationSpan;
use crate::emit::OrderedEvents;
use std::sync::Mutex;
use tracemill_tokenizer::{Event, Field, FieldFinder, Tier};
use tracemill_trace::Limits;
use tracemill_trace::order::{Order, SortedRun};
use tracemill_trace::run::threads::on_threads;
use tracemill_trace::store::entry::Entry;
use tracemill_trace::store::place::Place;
use tracemill_trace::time::attos::Attos;
use tracemill_trace::time::shift::Shift;

/// Number of events in one task of a worker.
const STEP: usize = 1 << 14;

/// Passes every event of an output to `take`, on all threads. Returns the state of each thread.
///
/// Cost: parses the fields of each event again, about 100 ns of one core per event.
pub(super) fn each_event<T: Send>(
    emit: &OrderedEvents<'_, '_, '_>,
    limits: &Limits,
    new: impl Fn() -> T + Sync,
    take: impl Fn(&mut T, &Event<'_>, Entry) + Sync,
) -> Vec<T> {
    let runs = emit.timed.runs();
    let of_runs = runs.iter().flat_map(|run| {
        let starts = (0..run.count()).step_by(STEP);
        starts.map(|start| Task::Run(run.slice(start..run.count().min(start + STEP))))
    });
    let mut places = emit.lists.iter();
    let of_lists = std::iter::from_fn(move || {
        let some: Vec<Place> = places.by_ref().take(STEP).collect();
        (!some.is_empty()).then_some(Task::List(some))
    });
    let tasks: Mutex<Box<dyn Iterator<Item = Task<'_>> + Send + '_>> =
        Mutex::new(Box::new(of_lists.chain(of_runs)));
    let work = || {
        let mut found = new();
        let mut finder = FieldFinder::new(limits.tier.unwrap_or_else(Tier::best));
        let mut look = |entry: Entry| {
            // duplicates of repeated events are not written
            if emit.delays.is_left_out(entry.place.offset()) {
                return;
            }
            let bytes = emit.order.0.event(entry.place);
            let spans = finder.find(bytes);
            take(&mut found, &spans.of(bytes), entry);
        };
        loop {
            let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).next();
            match task {
                None => return found,
                Some(Task::Run(run)) => run.iter().for_each(&mut look),
                Some(Task::List(places)) => {
                    places.into_iter().for_each(|place| look(Entry { time: i64::MIN, place }))
                }
            }
        }
    };
    on_threads(limits.threads, work)
}

enum Task<'r> {
    Run(SortedRun<'r>),
    List(Vec<Place>),
}

/// Bounds of the events that one worker has seen.
#[derive(Default)]
pub(super) struct BoundsSearch {
    min: Option<Attos>,
    max: Option<Attos>,
    /// Events at which DevTools starts the trace.
    starts: Vec<(Entry, Attos)>,
}

impl BoundsSearch {
    /// Adds an event whose times are moved by `shift`.
    pub(super) fn note(&mut self, event: &Event<'_>, entry: Entry, shift: Option<&Shift>) {
        let is_drawn = matches!(event.phase(), b'B' | b'E' | b'X' | b'I');
        let is_start = tracemill_viewers::essential::is_start(event);
        if !is_drawn && !is_start {
            return;
        }
        let (time, dur) = match shift.and_then(|shift| shift.times(event)) {
            Some((time, dur)) => (Some(time), dur),
            None => (event.ts(), event.dur()),
        };
        let (Some(ts), Some(time)) = (event.field(Field::Ts), time) else { return };
        // the whole part of the time shows that most events are inside the known bounds
        let ends = time.floor.saturating_add(dur.map_or(0, |dur| dur.floor.max(0)));
        let inside = self.min.is_some_and(|min| min.floor() < time.floor)
            && self.max.is_some_and(|max| ends.saturating_add(2) < max.floor());
        if inside && !is_start {
            return;
        }
        let moved = |time: Attos| shift.map_or(time, |shift| shift.point(time));
        let Some(ts) = Attos::of(ts).map(moved) else { return };
        if is_start {
            self.starts.push((entry, ts));
        }
        let counts = event.field(Field::Name).is_some_and(|name| !name.ends_with(b"::UMA\""));
        if !is_drawn || !counts || (time.floor == 0 && time.exact) {
            return;
        }
        let dur = event.field(Field::Dur).and_then(Attos::of).unwrap_or_default();
        let end = ts + shift.map_or(dur, |shift| shift.length(dur));
        self.max = self.max.max(Some(end));
        self.min = Some(self.min.map_or(ts, |min| min.min(ts)));
    }

    /// Combines the bounds of all workers. Returns `None` if the trace has no drawn events.
    pub(super) fn unite(all: Vec<BoundsSearch>, order: Order<'_, '_>) -> Option<AnnotationSpan> {
        let mut starts = Vec::new();
        let (mut least, mut most) = (None, None);
        for BoundsSearch { min, max, starts: candidates } in all {
            starts.extend(candidates);
            most = most.max(max);
            least = match (least, min) {
                (Some(a), Some(b)) => Some(Attos::min(a, b)),
                (a, b) => a.or(b),
            };
        }
        // DevTools uses the last start event
        let start = starts.into_iter().max_by(|a, b| order.compare(&a.0, &b.0));
        Some(AnnotationSpan { min: start.map(|start| start.1).or(least)?, max: most? })
    }
}
