//! Frames of a page (DevTools: `FramesHandler`).
//!
//! ```text
//!   compositor    BeginFrame 7 ─ DroppedFrame 7 ─ BeginFrame 8 ──────────────── DrawFrame 8
//!   main thread                  BeginMainThreadFrame ─ work ─ Commit ─┘
//!   frames        │ dropped frame 7              │ frame 8, until the next begins
//! ```

use crate::web::tracks::rows::{RowVisit, Track, TrackRow};
use std::cmp::Reverse;
use std::collections::VecDeque;
use tracemill_analysis::events::kinds::flag::RUN_TASK;
use tracemill_analysis::events::tracks::{TrackEvent, TrackKind, flag};
use tracemill_analysis::value::record::Record;
use tracemill_analysis::value::space::rank;
use tracemill_analysis::{Thread, ThreadKind, Trace, Window};
use tracemill_trace::Error;
use tracemill_trace::order::Keyed;
use tracemill_trace::record;
use tracemill_trace::run::limits::Quota;
use tracemill_trace::spill::hash::HashMap;

/// Kind of the rows of frames without changes.
pub(crate) const IDLE: &str = "idle frame";

/// An event that sorts by its time, the longest first, as in DevTools.
#[derive(Clone, Copy)]
struct ByTime(TrackEvent);

record! { impl ByTime { 0: TrackEvent } }

impl Keyed for ByTime {
    type Key = (u64, Reverse<u64>, u64);

    fn key(&self) -> Self::Key {
        let TrackEvent { ts, dur, number, .. } = self.0;
        (rank(ts), Reverse(rank(ts + dur)), number)
    }
}

/// Passes the frames of the main frame's layer tree to `visit`, in order.
pub(crate) fn frames(trace: &Trace, visit: &mut RowVisit<'_>) -> Result<(), Error> {
    let Some(main) = trace.meta().main_frame.as_deref() else { return Ok(()) };
    let is_main = |thread: &&Thread| {
        let page = trace.meta().page(&thread.pid);
        thread.kind == ThreadKind::Main
            && thread.is_in_devtools
            && page.is_some_and(|page| page.is_on_main_frame)
    };
    let first =
        |thread| trace.records(thread).next().map(|record| (thread, micros(trace, &record)));
    let threads: Vec<_> = trace.threads.iter().filter(is_main).filter_map(first).collect();
    let mut sorter = trace.space().sorter(4);
    for event in trace.track_events().filter(|event| event.kind.is_of_frames()) {
        sorter.push(ByTime(event))?;
    }
    let events = sorter.finish()?;
    let mut frames = Frames::new(trace.limits().open_quota(), visit);
    let mut threads = threads.into_iter().peekable();
    let mut active = threads.next().map(|(thread, _)| MainThread::new(trace, thread));
    for event in events.iter() {
        let event = event.0;
        while let Some((thread, _)) = threads.next_if(|(_, start)| *start <= event.ts) {
            active = Some(MainThread::new(trace, thread));
        }
        if event.kind == TrackKind::SetLayerTree && trace.names().bytes_of(event.name) == main {
            frames.layer_tree = event.values[0];
            continue;
        }
        frames.take(&event)?;
        if let Some(active) = active.as_mut().filter(|active| active.lane == Some(event.lane)) {
            frames.take_of_main_thread(&event, active);
        }
    }
    Ok(())
}

fn micros(trace: &Trace, record: &Record) -> f64 {
    trace.clock().micros(record.ts)
}

/// The tasks of a main thread, which are read up to the current event.
struct MainThread<'t> {
    lane: Option<u32>,
    tasks: std::iter::Peekable<Box<dyn Iterator<Item = (f64, f64)> + 't>>,
}

impl<'t> MainThread<'t> {
    fn new(trace: &'t Trace, thread: &'t Thread) -> Self {
        let is_task = |record: &Record| trace.flags()[record.kind as usize] & RUN_TASK != 0;
        let tasks = trace.records(thread).filter(is_task).map(|record| {
            let start = micros(trace, &record);
            (start, start + trace.clock().micros(record.dur))
        });
        let tasks: Box<dyn Iterator<Item = (f64, f64)> + 't> = Box::new(tasks);
        MainThread { lane: thread.lane(), tasks: tasks.peekable() }
    }

    /// Returns the start of the last task before an event, if there is a new task.
    fn last_task(&mut self, event: &TrackEvent) -> Option<f64> {
        let is_before = |task: &(f64, f64)| {
            task.0 < event.ts || task.0 == event.ts && task.1 >= event.ts + event.dur
        };
        let mut last = None;
        while let Some(task) = self.tasks.next_if(is_before) {
            last = Some(task.0);
        }
        last
    }
}

/// A frame that began in the compositor and is not drawn yet.
#[derive(Clone, Copy)]
struct Begun {
    ts: f64,
    is_dropped: bool,
    is_partial: bool,
}

/// The last frame that was drawn or dropped. It ends when the next begins.
#[derive(Clone, Copy)]
struct Shown {
    ts: f64,
    is_idle: bool,
    is_dropped: bool,
    is_partial: bool,
}

impl Shown {
    fn at(ts: f64) -> Self {
        Shown { ts, is_idle: false, is_dropped: false, is_partial: false }
    }

    fn row(self, until: f64) -> TrackRow {
        let (name, kind) = match self {
            Shown { is_idle: true, .. } => ("Idle frame", IDLE),
            Shown { is_dropped: true, is_partial: true, .. } => {
                ("Partially-presented frame", "partially presented frame")
            }
            Shown { is_dropped: true, .. } => ("Dropped frame", "dropped frame"),
            _ => ("Frame", "frame"),
        };
        TrackRow::new(name.to_owned(), kind, Window { from: self.ts, to: until })
    }
}

struct Frames<'f, 'v> {
    /// Id of the layer tree of the main frame; NaN if unknown.
    layer_tree: f64,
    last: Option<Shown>,
    /// Numbers of begun frames, in order.
    queue: VecDeque<u64>,
    begun: HashMap<u64, Begun>,
    is_committed: bool,
    is_requested: bool,
    /// Start of the work for the frame that the main thread works on.
    pending_commit: Option<f64>,
    /// Start of the work for the committed frame.
    pending_activation: Option<f64>,
    last_begin: Option<f64>,
    last_need: Option<f64>,
    last_task: Option<f64>,
    room: Quota,
    visit: &'f mut RowVisit<'v>,
}

impl<'f, 'v> Frames<'f, 'v> {
    fn new(room: Quota, visit: &'f mut RowVisit<'v>) -> Self {
        Frames {
            layer_tree: f64::NAN,
            last: None,
            queue: VecDeque::new(),
            begun: HashMap::default(),
            is_committed: false,
            is_requested: false,
            pending_commit: None,
            pending_activation: None,
            last_begin: None,
            last_need: None,
            last_task: None,
            room,
            visit,
        }
    }

    /// Takes an event of the compositor.
    fn take(&mut self, event: &TrackEvent) -> Result<(), Error> {
        if event.values[0] != self.layer_tree {
            return Ok(());
        }
        let (ts, number) = (event.ts, event.values[1].to_bits());
        let is_set = event.flags & flag::IS_SET != 0;
        let none = Begun { ts, is_dropped: false, is_partial: false };
        match event.kind {
            TrackKind::BeginFrame => {
                self.start_first(ts)?;
                self.last_begin = Some(ts);
                self.begin(number, none)?;
            }
            TrackKind::DropFrame => {
                self.start_first(ts)?;
                let begun = self.begin(number, none)?;
                (begun.is_dropped, begun.is_partial) = (true, is_set);
            }
            TrackKind::DrawFrame if self.last.is_none() => self.start(ts)?,
            TrackKind::DrawFrame => self.draw(number)?,
            TrackKind::Activate if self.last.is_some() && self.last_need.is_none() => {
                self.pending_activation = None;
            }
            TrackKind::RequestFrame if self.last.is_some() => self.is_requested = true,
            TrackKind::NeedsFrame if is_set => self.last_need = Some(ts),
            _ => {}
        }
        Ok(())
    }

    fn start_first(&mut self, ts: f64) -> Result<(), Error> {
        if self.last.is_none() { self.start(ts) } else { Ok(()) }
    }

    /// Starts a frame, which ends the frame before.
    fn start(&mut self, ts: f64) -> Result<(), Error> {
        match self.last.replace(Shown::at(ts)) {
            Some(last) => (self.visit)(Track::Frames, last.row(ts)),
            None => Ok(()),
        }
    }

    /// Returns the begun frame with a number, which is `new` if there is none.
    fn begin(&mut self, number: u64, new: Begun) -> Result<&mut Begun, Error> {
        /// Heap bytes of a begun frame.
        const EACH: usize = 4 * size_of::<(u64, Begun)>();
        if !self.begun.contains_key(&number) {
            self.queue.push_back(number);
            self.room.check((self.queue.len() * EACH) as u64, "frames that are not drawn")?;
        }
        Ok(self.begun.entry(number).or_insert(new))
    }

    /// Draws a frame, and all frames that were dropped before it.
    fn draw(&mut self, number: u64) -> Result<(), Error> {
        if self.is_committed || !self.is_requested {
            self.end_idle_time();
            while self.begun.contains_key(&number) {
                let Some(at) = self.queue.pop_front() else { break };
                let Some(begun) = self.begun.remove(&at) else { continue };
                if at == number || begun.is_dropped {
                    self.show(begun)?;
                }
            }
        }
        self.is_committed = false;
        Ok(())
    }

    /// Marks the last frame as idle if the compositor needed no frame until after its start.
    fn end_idle_time(&mut self) {
        let Some(need) = self.last_need.take().filter(|need| *need != 0.0) else { return };
        let until = self.pending_activation.or(self.last_begin).unwrap_or(need);
        if let Some(last) = self.last.as_mut().filter(|last| until > last.ts) {
            last.is_idle = true;
            self.last_begin = None;
        }
    }

    fn show(&mut self, begun: Begun) -> Result<(), Error> {
        let was_idle = self.last.is_some_and(|last| last.is_idle);
        self.start(begun.ts)?;
        if was_idle {
            self.pending_activation = None;
        }
        if let Some(last) = &mut self.last {
            (last.is_dropped, last.is_partial) = (begun.is_dropped, begun.is_partial);
        }
        Ok(())
    }

    /// Takes an event of the main thread.
    fn take_of_main_thread(&mut self, event: &TrackEvent, thread: &mut MainThread<'_>) {
        self.last_task = thread.last_task(event).or(self.last_task);
        match event.kind {
            TrackKind::MainFrame if self.pending_commit.is_none() => {
                self.pending_commit = Some(self.last_task.unwrap_or(event.ts));
            }
            TrackKind::Commit
                if event.values[0] == self.layer_tree && self.pending_commit.is_some() =>
            {
                self.pending_activation = self.pending_commit.take();
                (self.is_requested, self.is_committed) = (false, true);
            }
            _ => {}
        }
    }
}
