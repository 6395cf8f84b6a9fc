//! `merge`: any number of traces to one, sorted, whole.
//!
//! ```text
//!   scanned ─> aligned ─> renamed ─> ordered ─> settled ─> TracePlan ─> TraceWriter ─> output
//!   bytes      clocks     pids, ids  runs       keys, names                          whole, or not at all
//! ```
//!
//! Each step is a type that cannot be made without the one before ([`scanned`], [`renamed`], [`ordered`], [`settled`]); `write` goes
//! through them. Nothing is opened for writing before all inputs are read, so a failing input leaves no trace of an output.

pub(crate) mod merged_scan;

mod browser_watch;
mod dry_run;
mod ordered;
mod renamed;
mod scanned;
mod settled;

pub use browser_watch::is_plain_name;
pub use dry_run::plan_merge;
pub(crate) use scanned::{MergeObservers, ScannedInputs, observe_beside_analysis};

use tracemill_join::config::Config;
use tracemill_join::report::MergeReport;
use tracemill_trace::input::source::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::read::Inputs;
use tracemill_trace::run::error::Error;
use tracemill_trace::{Limits, output};
use tracemill_write::trace_writer::{TracePlan, TraceWriter};

/// Merges `sources` into one trace in order of time ([`tracemill_trace::order`] has the whole rule); one source is sorted.
///
/// Cost: one pass over the input at scanning speed and one write of the output; 16 bytes of heap an event, and beyond a
/// quarter of the budget none, for sorted runs on disk.
///
/// # Errors
/// See [`crate::ErrorKind`]; whatever it is, the output is as it was before. Damaged input is no error (unless
/// [`crate::Limits::strict`]): what was lost is in the report.
///
/// Parts that [`crate::split()`] made of one trace give each of its events once: events that they repeat, and metadata events
/// that several of them have, are left out and counted.
pub fn merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    merge_window(sources, None, output, config)
}

/// As [`merge`], of a trace that DevTools opens on `window`, in nanoseconds.
pub(crate) fn merge_window(
    sources: &[Source],
    window: Option<(i64, i64)>,
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    config.limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())?;
    let (inputs, scanned) = ScannedInputs::read(sources, config)?;
    write(scanned.opened_on(window), inputs, output, config)
}

/// Takes the steps of a merge of inputs that were read.
pub(crate) fn write(
    scanned: ScannedInputs,
    inputs: Inputs,
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    let aligned = scanned.align_clocks(&inputs, &config.clocks)?;
    let mut renamed = aligned.resolve_ids(&inputs, &config.identity)?;
    let texts = renamed.take_texts();
    let store = renamed.store(&inputs, &texts);
    let mut ordered = renamed.order(&store, config)?;
    let synthetic = ordered.synthesize(&store, &inputs, &config.limits)?;
    let (ordered, store) = ordered.include(&synthetic, store, &config.limits)?;
    let (settled, contents) = ordered.settle(&store, &inputs, output, config)?;
    let mut events = settled.events(&store, contents.delays);
    let fixups = settled.fix_for_viewer(&mut events, config)?;
    let (count, keys, report) = (settled.count, contents.keys, contents.report.run);
    let mut plan = TracePlan { events, count, keys, report };
    let changes = settled.changes(fixups.as_ref());
    plan.annotate(&contents.annotations, &changes, &config.limits);
    if let Some(fixups) = &fixups {
        fixups.mend_keys(&mut plan.keys);
        plan.events.patchers.push(fixups);
    }
    // what is changed for a viewer is repaired by that
    let repair = config.limits.repair && fixups.is_none();
    let limits = Limits { repair, ..config.limits.clone() };
    let run = TraceWriter::new(output, &limits).write(plan, &inputs)?;
    let mut report = MergeReport { run, ..contents.report };
    settled.complete(&mut report, fixups.as_ref(), inputs);
    Ok(report)
}
