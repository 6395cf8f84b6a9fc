//! User timings, animations, tracks of extensions, and screenshots (DevTools: `UserTimingsHandler`,
//! `AnimationHandler`, `ExtensionTraceDataHandler`, `ScreenshotsHandler`).

use crate::web::tracks::rows::{RowVisit, Track, TrackRow};
use std::borrow::Cow;
use std::cmp::Reverse;
use tracemill_analysis::events::tracks::{TrackEvent, TrackKind, flag};
use tracemill_analysis::value::space::{Space, rank};
use tracemill_analysis::{Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::event::pairing::OPEN;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;

/// A part of an asynchronous operation. Sorts by operation, then by time.
#[derive(Clone, Copy)]
struct ByOperation(TrackEvent);

record! { impl ByOperation { 0: TrackEvent } }

type Operation = (TrackKind, u32, [u64; 2]);

impl ByOperation {
    fn operation(&self) -> Operation {
        (self.0.kind, self.0.input, self.0.id)
    }
}

impl Keyed for ByOperation {
    type Key = (Operation, u64, u64);

    fn key(&self) -> Self::Key {
        (self.operation(), rank(self.0.ts), self.0.number)
    }
}

/// A time stamp. Sorts by its start and end if both are numbers, else by its time. If two are equal,
/// the later comes first: scripts stamp the outer interval last.
#[derive(Clone, Copy)]
struct ByEdges(TrackEvent);

record! { impl ByEdges { 0: TrackEvent } }

impl Keyed for ByEdges {
    type Key = (u64, Reverse<u64>, Reverse<u64>);

    fn key(&self) -> Self::Key {
        let TrackEvent { ts, values: [start, end, ..], number, .. } = self.0;
        let has_both = !start.is_nan() && !end.is_nan();
        let (start, end) = if has_both { (start, end) } else { (ts, ts) };
        (rank(start), Reverse(rank(end)), Reverse(number))
    }
}

/// Passes the rows of user timings, animations, extensions and screenshots to `visit`.
pub(crate) fn timings(trace: &Trace, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    let space = trace.space();
    for event in trace.track_events() {
        match event.kind {
            TrackKind::Mark => add(trace, &event, event.ts, visit)?,
            TrackKind::Screenshot => {
                let window = Window { from: event.ts, to: event.ts };
                let row = TrackRow::new("Screenshot".to_owned(), "screenshot", window);
                visit(Track::Screenshots, row.keyed(format!("r-{}", event.number)))?;
            }
            _ => {}
        }
    }
    pairs(trace, &space, visit)?;
    stamps(trace, &space, visit)
}

/// Pairs asynchronous events. An end closes the last open begin of its operation. A begin without an
/// end counts if its operation has a step that no other begin has.
fn pairs(trace: &Trace, space: &Space, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    let mut sorter = space.sorter(4);
    for event in trace.track_events().filter(|event| event.kind.is_paired()) {
        sorter.push(ByOperation(event))?;
    }
    let room = trace.limits().open_quota();
    let (mut open, mut step, mut operation) = (Vec::new(), None, None);
    for part in sorter.finish()?.iter() {
        if operation.replace(part.operation()) != Some(part.operation()) {
            close(trace, &mut open, step.take(), visit)?;
        }
        let event = part.0;
        match event.phase {
            b'b' => {
                open.push(event);
                room.check((open.len() * size_of::<TrackEvent>()) as u64, OPEN)?;
            }
            b'n' => step = step.or(Some(event.ts)),
            _ => {
                let Some(begin) = open.pop() else { continue };
                step = step.filter(|ts| *ts < begin.ts);
                add(trace, &begin, event.ts, visit)?;
            }
        }
    }
    close(trace, &mut open, step, visit)
}

/// Ends an operation, in which a step is left or not.
fn close(
    trace: &Trace,
    open: &mut Vec<TrackEvent>,
    step: Option<f64>,
    visit: &mut RowVisit<'_>,
) -> Result<(), Error> {
    let begin = open.pop().filter(|_| step.is_some());
    open.clear();
    begin.map_or(Ok(()), |begin| add(trace, &begin, begin.ts, visit))
}

/// Passes the row of a timing that ends at `until` to `visit`.
fn add(
    trace: &Trace,
    event: &TrackEvent,
    until: f64,
    visit: &mut RowVisit<'_>,
) -> Result<(), Error> {
    let has = |flag: u8| event.flags & flag != 0;
    let name = trace.names().text(event.name);
    let track = match event.kind {
        TrackKind::Animation => Track::Animations,
        _ if has(flag::ENTRY) => Track::Extension { name: event.track[0], group: event.track[1] },
        _ if has(flag::EXTENSION) && !has(flag::MARKER) => return Ok(()),
        _ => Track::Timings,
    };
    let is_timing = track == Track::Timings && !has(flag::MARKER);
    let (name, kind): (Cow<'_, str>, _) = match event.kind {
        TrackKind::Animation => (name.into(), "animation"),
        _ if has(flag::ENTRY) => (name.into(), "entry"),
        _ if has(flag::MARKER) => (name.into(), "marker"),
        TrackKind::Mark => (format!("[mark]: {name}").into(), "mark"),
        TrackKind::TimeStamp => (format!("TimeStamp: {name}").into(), "console.timeStamp"),
        TrackKind::ConsoleTime => (name.into(), "console.time"),
        _ => (name.into(), "measure"),
    };
    let is_raw = is_timing && matches!(event.kind, TrackKind::Mark | TrackKind::TimeStamp);
    let key = format!("{}-{}", if is_raw { 'r' } else { 's' }, event.number);
    let row = TrackRow::new(name.into_owned(), kind, Window { from: event.ts, to: until });
    visit(track, row.keyed(key))
}

/// Passes the rows of `console.timeStamp` to `visit`. A time stamp may name the earlier
/// time stamps at which it starts and ends.
fn stamps(trace: &Trace, space: &Space, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    let room = trace.limits().table_quota();
    let mut times: HashMap<u32, f64> = HashMap::default();
    let mut sorter = space.sorter(4);
    for event in trace.track_events().filter(|event| event.kind == TrackKind::TimeStamp) {
        sorter.push(ByEdges(event))?;
    }
    for stamp in sorter.finish()?.iter() {
        let stamp = stamp.0;
        times.insert(stamp.name, stamp.ts);
        room.check((times.capacity() * size_of::<(u32, f64)>()) as u64, "names of time stamps")?;
        let edge = |at: usize| {
            let value = stamp.values[at];
            if value.is_nan() { times.get(&stamp.edges[at]).copied() } else { Some(value) }
        };
        let is_long = stamp.flags & (flag::STARTS | flag::ENDS | flag::ENTRY) != 0;
        let (start, end) = if is_long { (edge(0), edge(1)) } else { (None, None) };
        let is_of_extension = stamp.flags & flag::ENTRY != 0;
        match start.is_none() && end.is_some() {
            // DevTools has no entry, but draws the time stamp if no extension made it.
            true if is_of_extension => {}
            true => add(trace, &stamp, stamp.ts, visit)?,
            false => {
                let event = TrackEvent { ts: start.unwrap_or(stamp.ts), ..stamp };
                add(trace, &event, end.unwrap_or(stamp.ts), visit)?;
            }
        }
    }
    Ok(())
}
