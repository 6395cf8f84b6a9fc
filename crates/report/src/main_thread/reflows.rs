//! Layouts and style recalculations forced by scripts, and the functions that force them (DevTools:
//! `FORCED_REFLOW` of `WarningsHandler`, and the forced-reflow insight).

use crate::found::{Reflow, Reflows, Stretch};
use tracemill_analysis::entries::Entry;
use tracemill_analysis::entries::walk::{Counted, Visit};
use tracemill_analysis::events::kinds::{Kind, flag};
use tracemill_analysis::events::reflows::{StackFrame, is_layout};
use tracemill_analysis::names::groups::Ids;
use tracemill_analysis::value::Value;
use tracemill_analysis::value::clock::Clock;
use tracemill_analysis::value::record::Record;
use tracemill_analysis::value::typed::decode;
use tracemill_analysis::{Location, Thread, Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// Minimum time of forced layouts in a reported task, in milliseconds.
const LIMIT: f64 = 30.0;

/// Name, URL, line and column.
type Place = (Option<String>, String, Option<i64>, Option<i64>);

#[derive(Clone, Copy)]
struct Forced {
    record: Record,
    /// Node of the innermost call that encloses the layout.
    call: Option<u32>,
}

/// The forced layouts of a thread.
#[derive(Default)]
pub(crate) struct OfThread {
    all: Vec<Forced>,
    places: HashMap<u64, usize>,
    tasks: u64,
    /// For each open call, the node of the innermost enclosing call to a script.
    open: Vec<Option<u32>>,
}

/// Ends of the open events, in ticks (time units of the trace's clock).
#[derive(Default)]
struct Open(Vec<f64>);

impl Open {
    fn leave(&mut self, ts: f64) {
        while self.0.last().is_some_and(|end| ts > *end) {
            self.0.pop();
        }
    }
}

/// Returns for each kind of event whether it is a layout. Returns `None` if no kind is.
pub(crate) fn layouts(trace: &Trace) -> Option<Vec<bool>> {
    let is = |kind: &Kind| is_layout(trace.names().bytes_of(kind.name));
    let all: Vec<bool> = trace.kinds().iter().map(is).collect();
    all.contains(&true).then_some(all)
}

/// Returns the forced layouts of a thread that begin within the window. Cost: visits each event
/// of the thread. Heap: the layouts.
pub(crate) fn reflows(
    trace: &Trace,
    thread: &Thread,
    layouts: &[bool],
    window: Window,
    room: &Quota,
) -> Result<OfThread, Error> {
    let mut found = OfThread::default();
    let (mut events, mut scripts) = (Open::default(), Open::default());
    let mut task: Vec<Record> = Vec::new();
    for record in trace.records(thread) {
        events.leave(record.ts);
        scripts.leave(record.ts);
        events.0.push(record.ts + record.dur);
        if trace.flags()[record.kind as usize] & flag::JS_INVOCATION != 0 {
            scripts.0.push(record.ts + record.dur);
        }
        if !scripts.0.is_empty() && layouts[record.kind as usize] {
            room.take(size_of::<(Record, Forced, (u64, usize))>() as u64, "forced layouts")?;
            task.push(record);
        } else if events.0.len() == 1 {
            found.end_task(&mut task, window, trace.clock());
        }
    }
    found.end_task(&mut task, window, trace.clock());
    Ok(found)
}

/// Sums the forced layouts of threads by location.
pub(crate) fn forced(trace: &Trace, threads: Vec<(usize, OfThread)>, rows: usize) -> Reflows {
    let mut reflows = Reflows::default();
    let mut numbers: HashMap<Place, usize> = HashMap::default();
    for (at, thread) in threads {
        reflows.tasks += thread.tasks;
        for forced in thread.all {
            let ms = trace.clock().ms_of(forced.record.dur);
            reflows.count += 1;
            reflows.total += ms;
            let (function, location) = place_of(trace, &trace.threads[at], &forced);
            let Location { url, line, column } = location.clone();
            let next = reflows.functions.len();
            let number = *numbers.entry((function.clone(), url, line, column)).or_insert(next);
            if number == next {
                let longest = Stretch::of_record(trace, at, &forced.record);
                let (count, total) = (0, 0.0);
                reflows.functions.push(Reflow { function, location, count, total, longest });
            }
            let known = &mut reflows.functions[number];
            known.count += 1;
            known.total += ms;
            if trace.clock().micros(forced.record.dur) > known.longest.dur {
                known.longest = Stretch::of_record(trace, at, &forced.record);
            }
        }
    }
    reflows.functions.sort_by(|a, b| b.total.total_cmp(&a.total));
    reflows.all_functions = reflows.functions.len() as u64;
    reflows.functions.truncate(rows);
    reflows
}

/// Returns the location that the event names. If it names none, returns the function of the
/// enclosing call.
fn place_of(trace: &Trace, thread: &Thread, forced: &Forced) -> (Option<String>, Location) {
    let subject = trace.reported_text(&forced.record);
    if subject != 0 {
        let frame: StackFrame = decode(trace.names().bytes_of(subject));
        let text = |value: &Value| value.printable().unwrap_or_default();
        // The event has lines and columns counted from 1.
        let place = |value: &Value| Some(value.number()? as i64 - 1);
        let (line, column) = (place(&frame.line_number), place(&frame.column_number));
        return (
            Some(text(&frame.function_name)),
            Location { url: text(&frame.url), line, column },
        );
    }
    let frame = forced.call.and_then(|call| Some(thread.model()?.frame(call)));
    let Some(frame) = frame else { return (None, Location::default()) };
    let place = |text: u32| trace.names().text(text).parse().ok();
    let (line, column) = (place(frame.line), place(frame.column));
    let location = Location { url: trace.names().text(frame.url), line, column };
    (Some(trace.names().text(frame.function)), location)
}

impl OfThread {
    fn end_task(&mut self, task: &mut Vec<Record>, window: Window, clock: Clock) {
        let total: f64 = task.iter().map(|record| record.dur).sum();
        if total >= clock.ticks_of(LIMIT) {
            let is_in = |record: &Record| {
                let starts = clock.ms_of(record.ts);
                starts >= window.from && starts <= window.to
            };
            let before = self.all.len();
            for record in task.iter().filter(|record| is_in(record)) {
                self.places.insert(record.number(), self.all.len());
                self.all.push(Forced { record: *record, call: None });
            }
            self.tasks += u64::from(self.all.len() > before);
        }
        task.clear();
    }

    /// Returns a visitor that finds the call that encloses each layout.
    pub(crate) fn calls<'o, 't>(&'o mut self, ids: &'o Ids<'t>) -> Calls<'o, 't> {
        Calls { own: self, ids }
    }
}

/// A visitor that finds the call that encloses each layout.
pub(crate) struct Calls<'o, 't> {
    own: &'o mut OfThread,
    ids: &'o Ids<'t>,
}

impl Calls<'_, '_> {
    fn meet(&mut self, entry: &Entry) {
        let number = entry.event_number();
        if let Some(&at) = number.and_then(|number| self.own.places.get(&number)) {
            self.own.all[at].call = self.own.open.last().copied().flatten();
        }
    }
}

impl Visit for Calls<'_, '_> {
    fn start(&mut self, Counted { written, .. }: &Counted, _ms: f64) {
        if self.own.all.is_empty() {
            return;
        }
        self.meet(written);
        // Built-in functions have no location.
        let around = self.own.open.last().copied().flatten();
        let is_placed = self.ids.frame(written).is_some_and(|frame| frame.url != 0);
        self.own.open.push(if is_placed { Some(written.kind) } else { around });
    }

    fn end(&mut self, _own: &Counted, _ms: f64) {
        self.own.open.pop();
    }

    fn instant(&mut self, Counted { written, .. }: &Counted) {
        self.meet(written);
    }

    fn grown(&mut self) -> Result<u64, Error> {
        Ok(0)
    }
}
