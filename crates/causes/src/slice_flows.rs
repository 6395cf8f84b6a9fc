//! Flows by the Trace Event Format: each phase `s`, `t` and `f` belongs to a slice of its thread.
//!
//! ```text
//!   s t f ──> points by thread and time ──┐
//!   flame charts ─────────────────────────┴─> slices of points ──┐ sorted by group and time
//!   events with bind_id ─────────────────────────────────────────┴─> flows
//! ```
//!
//! | point | slice |
//! |---|---|
//! | `s`, `t`, `f` with `"bp":"e"` | the innermost slice that is open at the time, or begins at it |
//! | `f` | the first slice that begins at the time or later |
//! | `bind_id` with `flow_out`, `flow_in` | the event |
//!
//! A group of points has the same input, name, categories and id, or the same `bind_id`. A flow
//! begins with each `s`, and ends with each `f`. Points without a slice are left out.
//!
//! Cost: the flame charts of the threads with points, and two sorts of the points.

use crate::event_id::EventId;
use crate::flows::{Flows, Member};
use crate::sorted::{Row, SortedRows, Sorter};
use std::iter::Peekable;
use tracemill_analysis::Trace;
use tracemill_analysis::entries::Entry;
use tracemill_analysis::events::causes::{CauseEvent, CauseRole, thread_text};
use tracemill_analysis::value::space::{Space, rank};
use tracemill_trace::Error;
use tracemill_trace::record;
use tracemill_trace::spill::hash::HashMap;

record! {
    /// A point of a flow on a thread. Its key has the thread, time and number of its event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Point {
        group: [u64; 2],
        phase: u8,
    }
}

/// A point with its thread, time and number.
type PointRow = Row<[u64; 3], Point>;

record! {
    /// A point of a flow with its slice.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Bound {
        slice: Option<EventId>,
        phase: u8,
    }
}

/// Kind of the groups of `bind_id`.
const BIND_ID: u32 = u32::MAX;

/// Returns the group of a point: input, kind and id.
fn group_of(event: &CauseEvent) -> [u64; 2] {
    let kind = if event.role.is_phase_of_flow() { event.kind } else { BIND_ID };
    [u64::from(event.input) << 32 | u64::from(kind), event.id]
}

/// Finds the flows of a trace.
///
/// # Errors
/// Returns an I/O error if a temporary file fails.
pub(crate) fn flows(trace: &Trace, space: &Space) -> Result<Flows, Error> {
    let mut points =
        Points { around: space.sorter(8), before: space.sorter(8), bound: space.sorter(8) };
    points.read(trace)?;
    in_flows(&points.bind(trace)?, space)
}

/// The points of all flows.
struct Points {
    /// Points within slices, by thread, time and number.
    around: Sorter<3, Point>,
    /// Points before slices.
    before: Sorter<3, Point>,
    /// By group, time and number.
    bound: Sorter<4, Bound>,
}

impl Points {
    fn read(&mut self, trace: &Trace) -> Result<(), Error> {
        let threads = (0u32..).zip(&trace.threads).filter(|(_, thread)| thread.lane().is_some());
        let threads: HashMap<u32, u32> = threads
            .filter_map(|(number, thread)| {
                let text = thread_text(&thread.pid, &thread.tid);
                Some((trace.names().find(&text)?, number))
            })
            .collect();
        for event in trace.cause_events().filter(|event| event.ts.is_finite()) {
            let (phase, is_complete) = (event.phase, event.phase == b'X');
            let thread = threads.get(&event.thread).copied();
            let (phase, points) = match event.role {
                CauseRole::Flow => (phase, Some(&mut self.around)),
                CauseRole::FlowToNext => (phase, Some(&mut self.before)),
                CauseRole::StartFlow => (b's', None),
                CauseRole::StepFlow => (b't', None),
                CauseRole::EndFlow => (b'f', None),
                _ => continue,
            };
            let group = group_of(&event);
            let ts = rank(event.ts);
            match (points, thread) {
                (Some(points), Some(thread)) => {
                    let key = [u64::from(thread), ts, event.number];
                    points.push(Row { key, value: Point { group, phase } })?;
                }
                (points, thread) => {
                    let slice = match points {
                        Some(_) => None,
                        None if is_complete => Some(EventId::of_event(event.number, event.kind)),
                        None => thread.map(|thread| EventId::of_pair(thread, event.kind, event.ts)),
                    };
                    let [first, id] = group;
                    let key = [first, id, ts, event.number];
                    self.bound.push(Row { key, value: Bound { slice, phase } })?;
                }
            }
        }
        Ok(())
    }

    /// Binds the points to slices. Returns them by group, time and number.
    fn bind(self, trace: &Trace) -> Result<SortedRows<4, Bound>, Error> {
        let Points { around, before, mut bound } = self;
        let (around, before) = (around.finish()?, before.finish()?);
        let (mut around, mut before) = (around.iter().peekable(), before.iter().peekable());
        for (number, thread) in (0u64..).zip(&trace.threads) {
            let is_here = |row: &PointRow| row.key[0] == number;
            if !around.peek().is_some_and(is_here) && !before.peek().is_some_and(is_here) {
                continue;
            }
            let mut open = OpenSlices::default();
            let track = trace.track(thread)?;
            let mut slices = track.entries().filter(|placed| !placed.entry.is_call());
            loop {
                let slice = slices.next().map(|placed| Slice::of(&placed.entry, number as usize));
                let start = slice.map_or(u64::MAX, |slice| rank(slice.start));
                let is_earlier = |row: &PointRow| is_here(row) && row.key[1] < start;
                push_while(&mut around, is_earlier, &mut bound, |ts| open.at(ts))?;
                let is_up_to = |row: &PointRow| is_here(row) && row.key[1] <= start;
                push_while(&mut before, is_up_to, &mut bound, |_| slice.map(|slice| slice.id))?;
                let Some(slice) = slice else { break };
                open.enter(slice);
            }
        }
        bound.finish()
    }
}

/// Binds the next points, as long as `is_next` holds, to the slice at their time.
fn push_while(
    points: &mut Peekable<impl Iterator<Item = PointRow>>,
    is_next: impl Fn(&PointRow) -> bool,
    bound: &mut Sorter<4, Bound>,
    mut slice_at: impl FnMut(u64) -> Option<EventId>,
) -> Result<(), Error> {
    while let Some(Row { key: [_, ts, number], value: Point { group: [first, id], phase } }) =
        points.next_if(&is_next)
    {
        let slice = slice_at(ts);
        bound.push(Row { key: [first, id, ts, number], value: Bound { slice, phase } })?;
    }
    Ok(())
}

/// A slice of a thread.
#[derive(Clone, Copy)]
struct Slice {
    id: EventId,
    start: f64,
    end: f64,
}

impl Slice {
    fn of(entry: &Entry, thread: usize) -> Self {
        Slice { id: EventId::of_entry(entry, thread), start: entry.ts, end: entry.end() }
    }

    /// Returns whether the slice is open at a time, or begins at it.
    fn is_open(&self, time: u64) -> bool {
        time < rank(self.end) || time == rank(self.start)
    }
}

/// The slices that are open at a time, outermost first.
#[derive(Default)]
struct OpenSlices(Vec<Slice>);

impl OpenSlices {
    /// Returns the innermost slice at a time. Times may not decrease.
    fn at(&mut self, time: u64) -> Option<EventId> {
        while self.0.pop_if(|slice| !slice.is_open(time)).is_some() {}
        self.0.last().map(|slice| slice.id)
    }

    fn enter(&mut self, slice: Slice) {
        self.at(rank(slice.start));
        self.0.push(slice);
    }
}

/// Connects the slices of each flow.
fn in_flows(bound: &SortedRows<4, Bound>, space: &Space) -> Result<Flows, Error> {
    let mut members: Sorter<3, Member> = space.sorter(8);
    let (mut flow, mut last, mut before) = ([0; 2], None, None);
    for (at, Row { key: [first, id, ts, number], value: Bound { slice, phase } }) in
        (0u64..).zip(bound.iter())
    {
        let group = [first, id];
        let goes_on = last
            .replace((group, phase))
            .is_some_and(|(other, before)| other == group && before != b'f' && phase != b's');
        if !goes_on {
            (flow, before) = ([ts, number], None);
        }
        if let Some(id) = slice
            && before.replace(id) != Some(id)
        {
            let member = Member { id, text: 0, role: CauseRole::Other };
            members.push(Row { key: [flow[0], flow[1], at], value: member })?;
        }
    }
    Ok(Flows { members: members.finish()? })
}
