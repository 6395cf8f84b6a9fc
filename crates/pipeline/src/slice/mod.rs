//! `slice`: cuts time windows out of traces, as traces that still render.
//!
//! ```text
//!   inputs ─ scan ─┬─> X, instants ─ inside? at an edge? ──┬───────────> kept ───┐
//!                  ├─> events of pairs ─ in one walk ──────┤                     ├─ sort ─> output
//!                  ├─> CPU profile streams ─ assembled ────┴─> synthetic ─> file ┘
//!                  └─> metadata, untimed, essential: always kept
//! ```
//!
//! Events keep their bytes unless an edge cuts them. Synthetic events go to a file that is read
//! like one more input.
//!
//! | kind | `clip` | `keep` | `drop` |
//! |---|---|---|---|
//! | X | the part inside (`complete`) | if it touches a window | if it is inside a window |
//! | B E, b e, S F | re-opened and closed at edges (`clip`) | if the pair touches a window (`pairs`) | if the pair is inside a window |
//! | s t f | begin and end moved to the edges | the flow if any step is inside | the flow if it is inside a window |
//! | C | inside; the last earlier value repeated at the edge | inside | inside |
//! | CPU profile streams | re-based (`profile::window`) | if they touch a window | if they are inside a window |
//! | other events with a time | inside | inside | inside |
//! | M, events without a time, [`is_essential`](tracemill_viewers::essential::is_essential) | always | always | always |
//!
//! If the windows contain the whole trace, the output is that of a merge.

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

/// The inputs, windows and output of a slice.
#[derive(Clone, Copy)]
pub struct SliceRun<'a> {
    /// The inputs, which are merged.
    pub sources: &'a [Source],
    /// The windows. Windows that overlap or touch are joined.
    pub windows: &'a [TimeWindow],
    /// The treatment of events across an edge.
    pub edges: Edges,
    /// The destination of the slice.
    pub output: &'a OutputConfig,
}

impl SliceRun<'_> {
    /// Checks limits, windows and output before anything is read.
    ///
    /// # Errors
    /// Returns an error if the memory limit, a window or the output is impossible.
    pub fn check(&self, limits: &Limits) -> Result<(), Error> {
        limits.check()?;
        windows::check(self.windows)?;
        output::check(self.output, &self.sources.iter().collect::<Vec<_>>())
    }
}

/// Writes a slice, reading a plan's byte ranges or all inputs.
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

/// Writes a slice from a plan's byte ranges. Returns a [`Stop`] if the input differs from its
/// index.
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

/// Writes a slice of the inputs read. Returns `None` if a CPU profile chunk differs from the index.
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
    let mut synthetic = SyntheticEvents::new(BASE, &limits.tmp_dir, entries, long, watched);
    let chosen =
        judge.choose(plain.into_entries(), selection, &inputs, &mut synthetic, &mut report)?;
    if chunks.as_ref().is_some_and(|chunks| chunks.is_wrong()) {
        return Ok(None);
    }

    let synthesized = synthetic.finish()?;
    let store = store.with_first(&synthesized.payload, &synthesized.long);
    let written = Surroundings {
        synthesized: &synthesized,
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

/// The bounds of a trace without times.
const NOWHERE: Bounds = Bounds { start: 0, first: 0, last: 0, end: 0 };

/// Scans the inputs, after finding the bounds of the trace if windows depend on them.
///
/// The start is guessed from the first events, and the scan confirms the guess for nearly all
/// traces. Otherwise an earlier pass reads the times alone.
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
        // with `proof`, this pass checks events and drops the same events as the next pass
        None => times(sources, Needs { proof: true, ..Needs::NONE }, config)?.bounds(),
    };
    restart();
    let scanned = select(Windows::of(windows, bounds.unwrap_or(NOWHERE))?)?;
    if scanned.observed.bounds() == bounds {
        return Ok(scanned);
    }
    // a file has changed between the passes
    restart();
    select(Windows::all())
}

fn times(sources: &[Source], needs: Needs, config: &Config) -> Result<Times, Error> {
    let keep = TimesOnly::default().with_needs(needs);
    Ok(scan(sources, config, keep, BoundsWatch(Times::NONE))?.observed.0)
}

/// Resolves windows relative to the start from the first MiB of a file. Returns `None` if that is
/// impossible.
fn head_windows(sources: &[Source], windows: &[TimeWindow], config: &Config) -> Option<Windows> {
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
