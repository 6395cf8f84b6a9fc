//! `slice`: windows of time out of traces, as traces that still render.
//!
//! ```text
//!   inputs ─ scan ─┬─> plain: X, moments ─ inside? across an edge? ─┬─────────> kept ──┐
//!                  ├─> parts of pairs ─ walked once in order ───────┤                  ├─ sort ─> output
//!                  ├─> CPU profile streams ─ put together ──────────┴─> made ─> file ──┘
//!                  └─> metadata, untimed, essential: always kept
//! ```
//!
//! An event keeps its bytes unless an edge cuts it; then only the numbers that change are others. What is made at edges
//! (see `made`) is written to a file that is one more input of the same machinery that writes a merge.
//!
//! | kind | `clip` | `keep` | `drop` |
//! |---|---|---|---|
//! | X | what of it lies inside (`complete`) | if it touches a window | if it lies in one |
//! | B E, b e, S F | re-opened and closed at edges (`clip`) | both if they touch (`pairs`) | both if both lie in one |
//! | s t f | begin and end moved to the edges | all if one lies inside | all if all lie in one |
//! | C | inside; the last value before repeated at the edge | inside | inside |
//! | CPU profile streams | re-based (`profile::window`) | whole if they touch | whole if they lie in one |
//! | any other with a time | inside | inside | inside |
//! | M, events without a time, [`is_essential`](tracemill_viewers::essential::is_essential) | always | always | always |
//!
//! Windows that hold the whole trace change nothing: the output is that of a merge.

mod clip;
mod complete;
mod edge;
mod judge;
mod pairs;
mod report;
mod selection;
mod synthetic;
mod write;

pub use report::SliceReport;

use judge::Judge;
use selection::{BoundsWatch, SlicePlan, WindowSelection, keep};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use synthetic::SyntheticEvents;
use tracemill_join::config::Config;
use tracemill_join::inputs::scan;
use tracemill_join::read_plan::{BASE, Planned, Stop, Unused, WindowPlan};
use tracemill_trace::input::source::Source;
use tracemill_trace::observe::{EventIndex, Needs, Scanned, Sorted, TimesOnly};
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;
use tracemill_trace::run::memory::Share;
use tracemill_trace::spill::SpillVec;
use tracemill_trace::store::long_events::LongEvents;
use tracemill_trace::time::bounds::{Bounds, Times};
use tracemill_trace::time::windows::{self, Edges, Moment, TimeWindow, Windows};
use tracemill_trace::{Limits, output};
use tracemill_write::annotations::{Annotations, name_events};
use write::Surroundings;

/// What there is to write, and in which windows.
#[derive(Clone, Copy)]
pub struct SliceRun<'a> {
    /// The inputs, taken together.
    pub sources: &'a [Source],
    /// The windows; those that overlap or touch are one.
    pub windows: &'a [TimeWindow],
    /// What becomes of events that reach over an edge.
    pub edges: Edges,
    /// Where the slice goes.
    pub output: &'a OutputConfig,
}

impl SliceRun<'_> {
    /// Refuses what must be refused before anything is read.
    ///
    /// # Errors
    /// Returns an error if the budget, a window or the output is impossible.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        windows::check(self.windows)?;
        output::check(self.output, &self.sources.iter().collect::<Vec<_>>())
    }
}

/// Writes a checked run: reads what its index says is enough, or everything.
pub(crate) fn slice(
    job: SliceRun<'_>,
    planned: Planned<WindowPlan>,
    config: &Config,
) -> Result<SliceReport, Error> {
    let reason = match planned {
        Planned::Plan(plan) => {
            let plan = Arc::new(plan);
            match slice_planned(job, &plan, config)? {
                Ok(report) => return Ok(report),
                Err(stop) => plan.read.reject(stop, &config.limits)?,
            }
        }
        Planned::Scan(reason) => reason,
    };
    let read = read(job.sources, job.windows, job.edges, config)?;
    let written = write(job, read, &config.limits)?;
    let mut report = written.unwrap_or_else(|| unreachable!("a scan reads all chunks"));
    report.index_unused = reason.unused;
    report.written.run.warnings.extend(reason.warning);
    Ok(report)
}

/// Writes what a plan reads, unless the input holds something else than its index says.
fn slice_planned(
    job: SliceRun<'_>,
    plan: &Arc<WindowPlan>,
    config: &Config,
) -> Result<Result<SliceReport, Stop>, Error> {
    let selection = WindowSelection::new(SlicePlan::of_known(plan, job.edges), &config.limits);
    let read = plan.read.read(keep(&config.limits), selection, config)?;
    let Some(read) = read.filter(|read| read.observed.was_known()) else {
        return Ok(Err(Stop::changed()));
    };
    if name_events(&read.index.documents, &read.inputs) {
        return Ok(Err(Unused::Tied.into()));
    }
    let Some(mut report) = write(job, read, &config.limits)? else {
        return Ok(Err(Stop::changed()));
    };
    report.index = Some((plan.read.index.index.clone(), plan.bytes_read()));
    Ok(Ok(report))
}

/// Writes what was read; nothing if a chunk of a CPU profile proved to be another one than is known.
fn write(
    SliceRun { windows, edges, output, .. }: SliceRun<'_>,
    Scanned { inputs, index, observed: selection }: Scanned<Sorted, WindowSelection>,
    limits: &Limits,
) -> Result<Option<SliceReport>, Error> {
    let EventIndex { kept: plain, long_events, documents, .. } = index;
    let found = selection.bounds();
    let bounds = found.unwrap_or(NOWHERE);
    let windows = Windows::of(windows, bounds)?;
    let mut report = SliceReport::new(&windows, edges, limits);

    let chunks = selection.chunks();
    let mut store = inputs.store().with_long(&long_events);
    if let Some(chunks) = &chunks {
        store = store.with_long(chunks.long());
    }
    let whole = found.is_none_or(|bounds| windows.hold(bounds));
    let only_by_name = selection.only_by_name();
    let judge =
        Judge { store: &store, windows: &windows, edges, bounds, whole, only_by_name, limits };
    let annotations = Annotations::read(&documents, &inputs, whole, &store, &limits.table_quota())?;
    let entries = SpillVec::new(limits.lease("events that are made", Share::of_index(1, 8)));
    let long = LongEvents::new(limits);
    let watched = annotations.events().collect();
    let mut made = SyntheticEvents::new(BASE, &limits.tmp_dir, entries, long, watched);
    let chosen = judge.choose(plain.into_entries(), selection, &inputs, &mut made, &mut report)?;
    if chunks.as_ref().is_some_and(|chunks| chunks.is_wrong()) {
        return Ok(None);
    }

    let made = made.finish()?;
    let store = store.with_first(&made.payload, &made.long);
    let written = Surroundings {
        made: &made,
        documents: &documents,
        annotations: &annotations,
        inputs: &inputs,
        store: &store,
        whole,
    };
    chosen.write(written, output, limits, &mut report)?;
    report.end(inputs, found);
    Ok(Some(report))
}

/// The bounds of a trace in which no event has a time.
const NOWHERE: Bounds = Bounds { start: 0, first: 0, last: 0, end: 0 };

/// Reads everything, after the bounds of the trace where windows depend on them. Where the first events tell the start, which nearly all traces
/// have there, one pass finds that it is so; otherwise a pass comes before it that looks at times alone.
fn read(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    config: &Config,
) -> Result<Scanned<Sorted, WindowSelection>, Error> {
    let select = |windows| {
        let selection = WindowSelection::new(SlicePlan::new(windows, edges), &config.limits);
        scan(sources, config, keep(&config.limits), selection)
    };
    if windows.iter().all(TimeWindow::is_absolute) {
        return select(Windows::of(windows, NOWHERE)?);
    }
    if !sources.iter().all(Source::is_rereadable) {
        return select(Windows::all());
    }
    let restart = || config.limits.progress.bytes_scanned.store(0, Ordering::Relaxed);
    let bounds = match head_windows(sources, windows, config) {
        Some(guessed) => {
            let scanned = select(guessed.clone())?;
            let bounds = scanned.observed.bounds();
            if Windows::of(windows, bounds.unwrap_or(NOWHERE))? == guessed {
                return Ok(scanned);
            }
            bounds
        }
        // what is lost to the second pass is lost to this one
        None => times(sources, Needs { proof: true, ..Needs::NONE }, config)?.bounds(),
    };
    restart();
    let scanned = select(Windows::of(windows, bounds.unwrap_or(NOWHERE))?)?;
    if scanned.observed.bounds() == bounds {
        return Ok(scanned);
    }
    // a file has changed in between
    restart();
    select(Windows::all())
}

/// Reads the times of all events.
fn times(sources: &[Source], needs: Needs, config: &Config) -> Result<Times, Error> {
    let keep = TimesOnly::default().with_needs(needs);
    Ok(scan(sources, config, keep, BoundsWatch(Times::NONE))?.observed.0)
}

/// Windows that count from the start alone, as the events in the first mebibyte of a file have it; `None` where these tell nothing.
fn head_windows(sources: &[Source], windows: &[TimeWindow], config: &Config) -> Option<Windows> {
    /// What is looked at, in bytes.
    const HEAD: u64 = 1 << 20;
    let mut moments = windows.iter().flat_map(|window| [window.from, window.to]).flatten();
    let [source] = sources else { return None };
    if moments.any(|moment| matches!(moment, Moment::BeforeEnd(_))) {
        return None;
    }
    let mut head = Vec::new();
    File::open(source.file()?).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let mut config = config.clone();
    (config.limits.strict, config.limits.progress) = (false, Arc::default());
    let bounds = times(&[Source::bytes("head", head)], Needs::NONE, &config).ok()?.bounds()?;
    Windows::of(windows, bounds).ok()
}
