//! `merge`: merges any number of traces into one sorted trace.
//!
//! ```text
//!   scanned ─> aligned ─> renamed ─> ordered ─> settled ─> TracePlan ─> TraceWriter ─> output
//!   bytes      clocks     pids, ids  runs       keys, names                          complete
//! ```
//!
//! Each step is a type that can only be created from the previous step ([`scanned`], [`renamed`],
//! [`ordered`], [`settled`]). The output is opened after all inputs are read, so a failing input
//! leaves no output.

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

/// Merges `sources` into one trace in order of time (see [`tracemill_trace::order`]). A single
/// source is sorted.
///
/// Damaged input is not an error, unless [`crate::Limits::strict`] is set; the report counts the
/// losses. Merging parts of a [`crate::split()`] writes repeated events and equal metadata events
/// once.
///
/// Cost: one pass over the input at scanning speed and one write. Takes 16 bytes of memory per
/// event, which spill to disk.
///
/// # Errors
/// See [`crate::ErrorKind`]. After an error the output file is unchanged.
pub fn merge(
    sources: &[Source],
    output: &OutputConfig,
    config: &Config,
) -> Result<MergeReport, Error> {
    merge_window(sources, None, output, config)
}

/// Merges like [`merge`]. `window` is the time range, in nanoseconds, that DevTools shows when it
/// opens the output.
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

/// Merges inputs that were read, step by step.
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
    // the changes for a viewer include repairs
    let repair = config.limits.repair && fixups.is_none();
    let limits = Limits { repair, ..config.limits.clone() };
    let run = TraceWriter::new(output, &limits).write(plan, &inputs)?;
    let mut report = MergeReport { run, ..contents.report };
    settled.complete(&mut report, fixups.as_ref(), inputs);
    Ok(report)
}
