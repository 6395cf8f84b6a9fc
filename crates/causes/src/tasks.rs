//! Asynchronous tasks of V8: which call scheduled the code that runs (DevTools:
//! `AsyncJSCallsHandler`).
//!
//! ```text
//!   flows ──────────── pairs of AsyncTaskScheduled and AsyncTaskRun ──┐ sorted, joined by event number
//!   flame charts ─┬─ the script call around each AsyncTaskScheduled ──┤
//!                 ├─ the first script event below each AsyncTaskRun ──┤
//!                 └─ the first calls below each AsyncTaskRun ─────────┴─> jumps, initiators
//! ```
//!
//! Cost: the flame charts of the threads with such events, and sorts of these events.

use crate::event_id::EventId;
use crate::flows::Flows;
use crate::initiators::{Initiated, Initiators};
use crate::sorted::{Row, SortedRows, Sorter};
use std::iter::Peekable;
use tracemill_analysis::Trace;
use tracemill_analysis::entries::{Entry, Placed};
use tracemill_analysis::events::causes::CauseRole;
use tracemill_analysis::events::kinds::flag;
use tracemill_analysis::value::space::{Space, rank};
use tracemill_trace::Error;
use tracemill_trace::record;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

record! {
    /// An entry by its thread and its place in pre-order.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Position {
        pub(crate) thread: u32,
        pub(crate) ordinal: u32,
        /// Start in ticks.
        pub(crate) ts: f64,
    }
}

impl Position {
    pub(crate) fn key(self) -> u64 {
        u64::from(self.thread) << 32 | u64::from(self.ordinal)
    }

    /// Returns whether the entry begins before another one. The entries around an entry do, so a
    /// chain of such entries ends.
    pub(crate) fn is_before(self, other: Position) -> bool {
        (rank(self.ts), self.key()) < (rank(other.ts), other.key())
    }
}

record! {
    /// An entry of a flame chart.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Found {
        id: EventId,
        position: Position,
    }
}

record! {
    /// An `AsyncTaskScheduled` in a flame chart, and the script call or event around it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Scheduled {
        position: Position,
        caller: Option<Found>,
    }
}

record! {
    /// An `AsyncTaskRun` in a flame chart, and the first script event below it.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Run {
        position: Position,
        entry_point: Option<Found>,
    }
}

record! {
    /// A run of a task. Its key begins with the number of the schedule event, or of the run event.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Pair {
        run: u64,
        /// Number of the text of the task's name.
        task: u32,
        scheduled: Option<Scheduled>,
    }
}

record! {
    /// The continuation of the stack of an entry: that of the scheduler of a task, or of the entry's
    /// initiator.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Jump {
        pub(crate) to: Position,
        /// Number of the text of the name of the task or initiator.
        pub(crate) task: u32,
    }
}

/// The asynchronous tasks of the flame charts, by the number of their events.
struct InCharts {
    scheduled: Sorter<1, Scheduled>,
    runs: Sorter<1, Run>,
    /// The first calls below each run.
    calls: Sorter<2, Position>,
}

/// Finds the asynchronous tasks. Adds their initiators, and returns the jumps of stacks by
/// [`Position::key`] of their entry.
///
/// # Errors
/// Returns an I/O error if a temporary file fails, or
/// [`tracemill_trace::ErrorKind::Exceeded`] if a task runs too many times.
pub(crate) fn tasks(
    trace: &Trace,
    flows: &Flows,
    initiators: &mut Initiators,
    space: &Space,
    room: &Quota,
) -> Result<SortedRows<1, Jump>, Error> {
    let pairs = pairs(flows, space, room)?;
    let charts = in_charts(trace, space)?;
    let pairs = with_schedulers(pairs, charts.scheduled.finish()?, space)?;
    let mut links = Links { jumps: space.sorter(8), initiated: space.sorter(8) };
    links.join(&pairs, &charts.runs.finish()?, &charts.calls.finish()?)?;
    links.initiate(initiators, space)?.finish()
}

/// Returns the pairs of schedule and run events, by schedule event and order of the flows.
fn pairs(flows: &Flows, space: &Space, room: &Quota) -> Result<SortedRows<2, Pair>, Error> {
    let mut pairs: Sorter<2, Pair> = space.sorter(8);
    // A task that runs again is linked to its run before.
    let mut schedules: HashMap<u64, (u64, u32)> = HashMap::default();
    let firsts = flows.links().filter(|link| link.is_first);
    for (order, link) in (0u64..).zip(firsts) {
        let schedule = match link.before.role {
            CauseRole::ScheduleAsync => Some((link.before.id.value, link.before.text)),
            CauseRole::RunAsync => schedules.get(&link.before.id.value).copied(),
            _ => None,
        };
        if let Some((schedule, task)) = schedule.filter(|_| link.event.role == CauseRole::RunAsync)
        {
            let run = link.event.id.value;
            schedules.insert(run, (schedule, task));
            room.check((schedules.capacity() * 25) as u64, "runs of asynchronous tasks")?;
            pairs
                .push(Row { key: [schedule, order], value: Pair { run, task, scheduled: None } })?;
        }
    }
    pairs.finish()
}

/// Adds the schedulers to pairs. Returns the pairs by run event and order of the flows.
fn with_schedulers(
    pairs: SortedRows<2, Pair>,
    scheduled: SortedRows<1, Scheduled>,
    space: &Space,
) -> Result<SortedRows<2, Pair>, Error> {
    let mut by_run: Sorter<2, Pair> = space.sorter(8);
    let mut scheduled = scheduled.iter().peekable();
    for Row { key: [schedule, order], value: pair } in pairs.iter() {
        skip_to(&mut scheduled, schedule);
        let found = scheduled.peek().filter(|row| row.key[0] == schedule);
        let value = Pair { scheduled: found.map(|row| row.value), ..pair };
        by_run.push(Row { key: [pair.run, order], value })?;
    }
    by_run.finish()
}

/// Skips the rows whose first key is below `number`.
fn skip_to<const N: usize, V>(
    rows: &mut Peekable<impl Iterator<Item = Row<[u64; N], V>>>,
    number: u64,
) {
    while rows.next_if(|row| row.key[0] < number).is_some() {}
}

/// The links of tasks: jumps of stacks, and initiators.
struct Links {
    /// By the entry's position and the order of the flows.
    jumps: Sorter<2, Jump>,
    /// By the caller's position and the order of the flows.
    initiated: Sorter<2, Initiated>,
}

impl Links {
    fn join(
        &mut self,
        pairs: &SortedRows<2, Pair>,
        runs: &SortedRows<1, Run>,
        calls: &SortedRows<2, Position>,
    ) -> Result<(), Error> {
        let mut runs = runs.iter().peekable();
        let mut calls = calls.iter().peekable();
        let mut of_run: Vec<Position> = Vec::new();
        let mut last = None;
        for Row { key: [number, order], value: Pair { task, scheduled, .. } } in pairs.iter() {
            skip_to(&mut runs, number);
            if last.replace(number) != Some(number) {
                skip_to(&mut calls, number);
                of_run.clear();
                while let Some(call) = calls.next_if(|row| row.key[0] == number) {
                    of_run.push(call.value);
                }
            }
            let run = runs.peek().filter(|row| row.key[0] == number).map(|row| row.value);
            let (Some(run), Some(Scheduled { position, caller })) = (run, scheduled) else {
                continue;
            };
            let to = caller.map_or(position, |found| found.position);
            let start = run.entry_point.map_or(run.position, |found| found.position);
            let jump = Jump { to, task };
            self.jump(start, jump, order)?;
            let (Some(caller), Some(entry_point)) = (caller, run.entry_point) else { continue };
            let value = Initiated { event: entry_point.id, initiator: caller.id };
            self.initiated.push(Row { key: [caller.position.key(), order], value })?;
            of_run.iter().try_for_each(|&call| self.jump(call, jump, order))?;
        }
        Ok(())
    }

    /// Lets the stack of `entry` continue with that of its scheduler, if the scheduler comes first.
    fn jump(&mut self, entry: Position, jump: Jump, order: u64) -> Result<(), Error> {
        match jump.to.is_before(entry) {
            true => self.jumps.push(Row { key: [entry.key(), order], value: jump }),
            false => Ok(()),
        }
    }

    /// Adds the initiators, by the first flow of each caller. Returns the last jump of each entry.
    fn initiate(
        self,
        initiators: &mut Initiators,
        space: &Space,
    ) -> Result<Sorter<1, Jump>, Error> {
        let mut by_caller: Sorter<2, Initiated> = space.sorter(8);
        let mut last: Option<[u64; 2]> = None;
        for Row { key: [caller, order], value } in self.initiated.finish()?.iter() {
            let [_, first] = *last.filter(|last| last[0] == caller).get_or_insert([caller, order]);
            last = Some([caller, first]);
            by_caller.push(Row { key: [first, order], value })?;
        }
        by_caller.finish()?.iter().try_for_each(|row| initiators.push(row.value))?;
        let mut jumps: Sorter<1, Jump> = space.sorter(8);
        let all = self.jumps.finish()?;
        let mut rows = all.iter().peekable();
        while let Some(Row { key: [entry, _], value }) = rows.next() {
            if rows.peek().is_none_or(|later| later.key[0] != entry) {
                jumps.push(Row { key: [entry], value })?;
            }
        }
        Ok(jumps)
    }
}

/// Part of the entries of a kind in asynchronous tasks.
#[derive(Clone, Copy, Default, PartialEq)]
enum KindOfTask {
    #[default]
    Other,
    Schedule,
    Run,
    /// Script runs within the event, and people see the event.
    EntryPoint,
}

impl KindOfTask {
    fn of(trace: &Trace, kind: u32) -> Self {
        let name = trace.names().bytes_of(trace.kinds()[kind as usize].name);
        let is_internal = name.starts_with(b"v8") || name.starts_with(b"V8");
        match name {
            b"v8::Debugger::AsyncTaskScheduled" => KindOfTask::Schedule,
            b"v8::Debugger::AsyncTaskRun" => KindOfTask::Run,
            b"V8Console::runTask" => KindOfTask::EntryPoint,
            _ if !is_internal && trace.flags()[kind as usize] & flag::JS_INVOCATION != 0 => {
                KindOfTask::EntryPoint
            }
            _ => KindOfTask::Other,
        }
    }
}

/// Finds asynchronous tasks in the flame charts of all threads that have some.
fn in_charts(trace: &Trace, space: &Space) -> Result<InCharts, Error> {
    let mut charts =
        InCharts { scheduled: space.sorter(8), runs: space.sorter(8), calls: space.sorter(8) };
    let kinds = 0..trace.kinds().len() as u32;
    let kinds: Vec<KindOfTask> = kinds.map(|kind| KindOfTask::of(trace, kind)).collect();
    let is_task =
        |kind: u32| matches!(kinds[kind as usize], KindOfTask::Schedule | KindOfTask::Run);
    for (number, thread) in (0u32..).zip(&trace.threads) {
        if !trace.records(thread).any(|record| is_task(record.kind)) {
            continue;
        }
        let track = trace.track(thread)?;
        let mut walk =
            Walk { charts: &mut charts, kinds: &kinds, open: Vec::new(), runs: Vec::new() };
        for (ordinal, placed) in (0u32..).zip(track.entries()) {
            walk.enter(placed, Position { thread: number, ordinal, ts: placed.entry.ts })?;
        }
        walk.leave(0)?;
    }
    Ok(charts)
}

/// A walk over the flame chart of a thread.
struct Walk<'w> {
    charts: &'w mut InCharts,
    kinds: &'w [KindOfTask],
    open: Vec<Open>,
    runs: Vec<OpenRun>,
}

/// An open entry.
#[derive(Clone, Copy)]
struct Open {
    /// The innermost call or entry point, this entry included.
    script: Option<Found>,
    /// Whether an entry point or a call is open within the innermost run, this entry included.
    is_in_entry_point: bool,
    is_in_call: bool,
    /// Whether the entry is a run.
    is_run: bool,
}

/// An open run of a task.
struct OpenRun {
    number: u64,
    position: Position,
    /// The entry point found so far, and its depth.
    entry_point: Option<(Found, u32)>,
}

impl Walk<'_> {
    /// Closes the entries at `depth` and below.
    fn leave(&mut self, depth: usize) -> Result<(), Error> {
        while self.open.len() > depth {
            if self.open.pop().is_some_and(|open| open.is_run)
                && let Some(OpenRun { number, position, entry_point }) = self.runs.pop()
            {
                let entry_point = entry_point.map(|(found, _)| found);
                self.charts
                    .runs
                    .push(Row { key: [number], value: Run { position, entry_point } })?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, placed: Placed, position: Position) -> Result<(), Error> {
        let Placed { entry, depth } = placed;
        self.leave(depth as usize)?;
        let outer = self.open.last().copied();
        let mut open = outer.map_or(
            Open { script: None, is_in_entry_point: false, is_in_call: false, is_run: false },
            |outer| Open { is_run: false, ..outer },
        );
        let kind =
            if entry.is_call() { KindOfTask::Other } else { self.kinds[entry.kind as usize] };
        let found = Found { id: EventId::of_entry(&entry, position.thread as usize), position };
        match kind {
            _ if entry.is_call() => {
                open.script = Some(found);
                if let Some(run) = self.runs.last().filter(|_| !open.is_in_call) {
                    let key = [run.number, position.key()];
                    self.charts.calls.push(Row { key, value: position })?;
                }
                open.is_in_call = true;
            }
            KindOfTask::EntryPoint => {
                open.script = Some(found);
                if let Some(run) = self.runs.last_mut().filter(|_| !open.is_in_entry_point)
                    && run.entry_point.is_none_or(|(_, other)| depth < other)
                {
                    run.entry_point = Some((found, depth));
                }
                open.is_in_entry_point = true;
            }
            KindOfTask::Schedule => self.schedule(&entry, position, outer)?,
            KindOfTask::Run => {
                // No flow has a pair of B and E.
                let number = entry.event_number().unwrap_or(u64::MAX);
                self.runs.push(OpenRun { number, position, entry_point: None });
                open = Open { is_in_entry_point: false, is_in_call: false, is_run: true, ..open };
            }
            KindOfTask::Other => {}
        }
        self.open.push(open);
        Ok(())
    }

    fn schedule(
        &mut self,
        entry: &Entry,
        position: Position,
        outer: Option<Open>,
    ) -> Result<(), Error> {
        let Some(number) = entry.event_number() else { return Ok(()) };
        let caller = outer.and_then(|outer| outer.script);
        self.charts.scheduled.push(Row { key: [number], value: Scheduled { position, caller } })
    }
}
