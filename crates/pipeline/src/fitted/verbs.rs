//! The public commands `slice`, `convert` and `filter`, with or without a viewer.

use super::{draft, fit};
use crate::convert::convert as convert_plain;
use crate::filter::{Filter, FilterRun, filter as filter_plain};
use crate::merge::merge;
use crate::slice::{SliceReport, SliceRun, slice as slice_plain};
use std::io;
use std::sync::{Arc, Mutex};
use tracemill_join::config::{CheckFor, Config, ViewerRules};
use tracemill_join::read_plan::{IndexOutcome, Planned, WindowPlan};
use tracemill_join::report::warning::Warning;
use tracemill_join::report::{ConvertReport, FilterReport, MergeReport};
use tracemill_trace::input::source::Source;
use tracemill_trace::output::target::{Compression, OutputConfig, Style};
use tracemill_trace::run::error::Error;
use tracemill_trace::time::windows::{Edges, TimeWindow};
use tracemill_trace::{Limits, output};

/// Maximum number of attempts to fit a size.
const TRIES: usize = 16;

/// Checks limits and output before anything is read.
fn check(sources: &[Source], output: &OutputConfig, limits: &Limits) -> Result<(), Error> {
    limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())
}

/// Writes the events of `sources` inside the windows, in the order of [`crate::merge()`].
///
/// Overlapping and adjacent windows are joined. For a viewer ([`Config::viewer`]), a merge for the
/// viewer reads the slice from a temporary file. The inputs are scanned; `slice` of
/// `tracemill-index` reads only the byte ranges that an index gives.
///
/// Cost: one pass over the inputs, or two if windows are relative to the start or end of the trace
/// and all inputs are files. CPU profiles in windows are read again.
///
/// Memory, which spills to disk: 16 bytes per event that windows may need (any event, if windows
/// are relative and the input is a pipe), 48 bytes per B, E or async event, 16 bytes per synthetic
/// event, 64 bytes per CPU profile chunk. In addition up to 104 bytes per open begin event, and one
/// call tree.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_pipeline::{Config, Edges, Moment, OutputConfig, Source, TimeWindow, slice};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let part = Arc::new(Mutex::new(Vec::new()));
/// let output = OutputConfig::writer(Arc::clone(&part));
/// // from half a millisecond after the start on
/// let window = TimeWindow { from: Some(Moment::FromStart(500_000)), to: None };
/// let report = slice(&[Source::Path(trace)], &[window], Edges::Clip, &output, &config)?;
/// assert_eq!((report.written.run.events, report.clipped), (1, 0));
/// assert!(part.lock().unwrap().starts_with(br#"[
/// {"ph":"X","name":"b""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`], and [`tracemill_trace::ErrorKind::Window`] if
/// there is no window, or one that ends before it begins.
pub fn slice(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    output: &OutputConfig,
    config: &Config,
) -> Result<SliceReport, Error> {
    let job = SliceRun { sources, windows, edges, output };
    job.check(&config.limits)?;
    slice_planned(job, Planned::Scan(IndexOutcome::default()), config)
}

/// Writes a slice like [`slice()`]. If there is a plan, reads only its byte ranges.
///
/// The run must have passed [`SliceRun::check`]. [`SliceReport::index`] says whether the plan was
/// used.
///
/// # Errors
/// Returns the same errors as [`slice()`].
pub fn slice_planned(
    job: SliceRun<'_>,
    planned: Planned<WindowPlan>,
    config: &Config,
) -> Result<SliceReport, Error> {
    if config.viewer.viewer.is_none() {
        return slice_plain(job, planned, config);
    }
    let output = job.output;
    let write = |output: &OutputConfig, plain: &Config| {
        slice_plain(SliceRun { output, ..job }, planned, plain)
    };
    let (mut report, draft) = draft("the slice", output, config, write)?;
    report.take(fit(draft, report.opening(), output, config)?);
    Ok(report)
}

/// Writes `sources` in the form `output.format` (by default that of the first document) and in this
/// style.
///
/// Events keep their order, and with [`Style::Keep`] their bytes. NDJSON removes line breaks
/// outside strings. Top-level keys are kept, except in the array form, where they count as lost.
///
/// For a viewer ([`Config::viewer`]), or with
/// [`ClockRules::rebase`](tracemill_join::config::ClockRules::rebase), the inputs are merged into a
/// temporary file first, which sorts events by time.
///
/// Cost: one pass over the input at scanning speed and one write. Takes 8 bytes of memory per
/// event, which spill to disk, and a top-level key while it is restyled.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_pipeline::{Config, Format, OutputConfig, Source, Style, convert};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"i","ts":2},{"ph":"i","ts":1}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let lines = Arc::new(Mutex::new(Vec::new()));
/// let output = OutputConfig { format: Some(Format::Ndjson), ..OutputConfig::writer(Arc::clone(&lines)) };
/// convert(&[Source::Path(trace)], Style::Keep, &output, &config)?;
/// assert_eq!(*lines.lock().unwrap(), b"{\"ph\":\"i\",\"ts\":2}\n{\"ph\":\"i\",\"ts\":1}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`].
pub fn convert(
    sources: &[Source],
    style: Style,
    output: &OutputConfig,
    config: &Config,
) -> Result<ConvertReport, Error> {
    let viewer = config.viewer.viewer;
    if viewer.is_none() && config.clocks.rebase.is_none() {
        return convert_plain(sources, style, output, config);
    }
    check(sources, output, &config.limits)?;
    let mut merged = config.clone();
    merged.limits.repair |= viewer.is_some();
    let write = |to: &OutputConfig, _: &Config| merge(sources, to, &merged);
    let (fitted, draft) = draft("what is merged to be converted", output, config, write)?;
    let output = OutputConfig { format: Some(fitted.run.format), ..output.clone() };
    let is_reported = Warning::too_large(fitted.run.bytes, None).is_some();
    let config = Config { viewer: ViewerRules::default(), ..merged };
    let mut report = convert_plain(&[draft], style, &output, &config)?.after(fitted.run);
    if viewer == Some(CheckFor::Devtools) && !is_reported {
        // the style has made the output too large
        report.run.warnings.extend(Warning::too_large(report.run.bytes, None));
    }
    Ok(report)
}

/// Writes the events of `sources` that match, in input order. Metadata events (phase `M`) always
/// stay.
///
/// Times are compared in whole nanoseconds, rounded down. For a viewer ([`Config::viewer`]), a
/// merge for the viewer reads the kept events from a temporary file and sorts them; a maximum size
/// applies to its output.
///
/// Cost: one pass over the input at scanning speed and one write. Takes 8 bytes of memory per kept
/// event and 40 bytes per undecided event, which spill to disk, and 90 bytes per open B.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tracemill_pipeline::{Config, Filter, OutputConfig, Source, filter};
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let long = Arc::new(Mutex::new(Vec::new()));
/// let output = OutputConfig::writer(Arc::clone(&long));
/// let wanted = Filter { min_dur: Some("100us".parse()?), name: vec!["^b".parse()?], ..Filter::default() };
/// let report = filter(&[Source::Path(trace)], &wanted, &output, &config)?;
/// assert_eq!((report.matching, report.run.events), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns the same errors as [`crate::merge()`], and [`tracemill_trace::ErrorKind::Usage`] if the
/// patterns are too large.
pub fn filter(
    sources: &[Source],
    wanted: &Filter,
    output: &OutputConfig,
    config: &Config,
) -> Result<FilterReport, Error> {
    if config.viewer.viewer.is_none() {
        return filter_plain(FilterRun { sources, filter: wanted, output }, config);
    }
    check(sources, output, &config.limits)?;
    let matching = Filter { shrink_to: None, ..wanted.clone() };
    let filter = &matching;
    let write = |output: &OutputConfig, plain: &Config| {
        filter_plain(FilterRun { sources, filter, output }, plain)
    };
    let (mut report, mut kept) = draft(KEPT, output, config, write)?;
    if let Some(size) = wanted.shrink_to {
        let (shrunk, smaller) = shrink(&kept, size, output, config)?;
        kept = smaller;
        report.take_shrunk(shrunk);
    }
    report.run.then(fit(kept, None, output, config)?.run);
    Ok(report)
}

/// Name of a filter's draft in messages.
const KEPT: &str = "what the filter keeps";

/// Keeps the longest events of a draft that fit the size after the merge for the viewer.
///
/// The merge adds events. So each attempt filters the draft to a goal and measures the merged
/// output; while that is too large, the goal shrinks in proportion.
fn shrink(
    all: &Source,
    size: u64,
    output: &OutputConfig,
    config: &Config,
) -> Result<(FilterReport, Source), Error> {
    let measured = OutputConfig {
        format: output.format,
        compression: Compression::None,
        ..OutputConfig::writer(Arc::new(Mutex::new(io::sink())))
    };
    let mut goal = size;
    for tries in 1.. {
        let wanted = Filter { shrink_to: Some(goal), ..Filter::default() };
        let (sources, filter) = (std::slice::from_ref(all), &wanted);
        let write = |output: &OutputConfig, plain: &Config| {
            filter_plain(FilterRun { sources, filter, output }, plain)
        };
        let (mut report, kept) = draft(KEPT, output, config, write)?;
        let len = fit(kept.clone(), None, &measured, config)?.run.bytes;
        // if nothing can be dropped, there is no threshold
        let is_least = report.threshold_ns == Some(i64::MAX) || goal == 0 || tries == TRIES;
        if len <= size || is_least {
            // this warning refers to the goal, not to the size
            report.run.warnings.retain(|warning| !matches!(warning, Warning::DoesNotFit { .. }));
            if len > size {
                let viewer = config.viewer.viewer;
                let warning = Warning::DoesNotFit { bytes: len, most: size, viewer };
                report.run.warnings.push(warning);
            }
            return Ok((report, kept));
        }
        // the added events grow with the kept events
        let share = u128::from(goal.min(report.run.bytes)) * u128::from(size) / u128::from(len);
        goal = u64::try_from(share).unwrap_or(goal).min(goal - 1);
    }
    unreachable!("the last try is the least")
}

impl SliceReport {
    /// Adds the report of the merge for the viewer.
    fn take(&mut self, fitted: MergeReport) {
        let written = &mut self.written;
        written.spilled_runs += fitted.spilled_runs;
        written.delayed_chunks += fitted.delayed_chunks;
        written.run.then(fitted.run);
    }
}
