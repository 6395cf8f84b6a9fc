//! The verbs that write a trace, for a viewer or for nobody.

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

/// Times that the events for a size are chosen anew: twice was the most in tests.
const TRIES: usize = 16;

/// Refuses what must be refused before anything is read.
fn check(sources: &[Source], output: &OutputConfig, limits: &Limits) -> Result<(), Error> {
    limits.check()?;
    output::check(output, &sources.iter().collect::<Vec<_>>())
}

/// Writes what of `sources`, taken together, lies in the windows, in the order of [`crate::merge()`].
///
/// Windows that overlap or touch are one. Events are those of a merge; see the module doc for what becomes of each kind.
///
/// Cost: one pass over the inputs; one more before it, for the bounds of the trace, if windows count from its start or end and
/// all inputs are files. Profile streams are read again where windows need them. Heap:
/// 16 bytes for each event that may lie inside or reach in, and 48 for each part of a pair before the last window's end;
/// where windows count from the start or end of what can be read once only, any event may.
/// Of what is made at edges 16 bytes each. All that goes to disk beyond its share of the budget. Beside that 64 bytes for
/// each B that is open at one time in one thread, and one call tree at a time. Of each chunk of a CPU profile 56 bytes, on
/// disk beyond another share.
///
/// Scans its inputs; `slice` of `tracemill-index` reads only what an index of the one input says is enough.
///
/// For a viewer ([`Config::viewer`]) the slice is written to the folder of temporary files, and a merge for the viewer makes the
/// output of it.
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
/// As [`crate::merge()`]; [`tracemill_trace::ErrorKind::Window`] if there is no window, or one that ends before it begins.
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

/// Writes a slice that was checked ([`SliceRun::check`]), as [`slice()`] does, and reads only the byte ranges of a plan, if there is one.
/// [`SliceReport::index`] tells whether it was used.
///
/// # Errors
/// As [`slice()`].
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

/// Writes `sources` in the form of `output.format` (that of the first document if `None`) and in this style.
///
/// Events keep their order; with [`Style::Keep`] and no NDJSON, their bytes. In NDJSON line breaks outside strings go,
/// with the white space around them. Keys beside the events survive, but for the array form, which has no place for
/// them: then they count as lost.
///
/// Cost: one pass over the input at scanning speed and one write of the output; 8 bytes of heap an event, and beyond a
/// quarter of the budget none, for a list on disk. A key beside the events is in memory while it is restyled.
///
/// For a viewer ([`Config::viewer`]) a merge of the inputs for it is written to the folder of temporary files and converted: so
/// events are in order of time then, and of B and E there is one event. With [`ClockRules::rebase`](tracemill_join::config::ClockRules::rebase)
/// a merge that moves them is.
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
/// As [`crate::merge()`].
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
    let made = |to: &OutputConfig, _: &Config| merge(sources, to, &merged);
    let (fitted, draft) = draft("what is merged to be converted", output, config, made)?;
    let output = OutputConfig { format: Some(fitted.run.format), ..output.clone() };
    let said = Warning::too_large(fitted.run.bytes, None).is_some();
    let config = Config { viewer: ViewerRules::default(), ..merged };
    let mut report = convert_plain(&[draft], style, &output, &config)?.after(fitted.run);
    if viewer == Some(CheckFor::Devtools) && !said {
        // the style has made it so
        report.run.warnings.extend(Warning::too_large(report.run.bytes, None));
    }
    Ok(report)
}

/// Writes the events of `sources` that match, in input order. Metadata events (phase `M`) always stay.
///
/// Times are compared in whole nanoseconds, rounded down.
///
/// Cost: one pass over the input at scanning speed and one write of the output. Of heap 8 bytes an event that stays and
/// 32 an event that waits; beyond a third of the budget none, for lists and sorted runs on disk. Besides, what the threads
/// of the trace take, and 90 bytes a B that is open at a time.
///
/// For a viewer ([`Config::viewer`]) what stays is written to the folder of temporary files, and a merge for the viewer makes the
/// output of it: so it is in order of time then. A size to fit is that of the output.
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
/// [`tracemill_trace::ErrorKind::Usage`] if the patterns are too large together; else as [`crate::merge()`].
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

/// What a filter's draft is called.
const KEPT: &str = "what the filter keeps";

/// The longest events of a draft that fit the size when they are ready for the viewer.
///
/// What the viewer needs is added to what stays, and counts. So the longest events are chosen for the size, made ready without
/// being written, and chosen again for a size that is smaller by the share that was too much, until all of it fits.
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
        // where nothing can go there is no threshold either
        let is_least = report.threshold_ns == Some(i64::MAX) || goal == 0 || tries == TRIES;
        if len <= size || is_least {
            // said of another size than was asked for
            report.run.warnings.retain(|own| !matches!(own, Warning::DoesNotFit { .. }));
            if len > size {
                let viewer = config.viewer.viewer;
                let warning = Warning::DoesNotFit { bytes: len, most: size, viewer };
                report.run.warnings.push(warning);
            }
            return Ok((report, kept));
        }
        // what is added grows with what stays
        let share = u128::from(goal.min(report.run.bytes)) * u128::from(size) / u128::from(len);
        goal = u64::try_from(share).unwrap_or(goal).min(goal - 1);
    }
    unreachable!("the last try is the least")
}

impl SliceReport {
    /// Takes in what was made of the slice.
    fn take(&mut self, fitted: MergeReport) {
        let written = &mut self.written;
        written.spilled_runs += fitted.spilled_runs;
        written.delayed_chunks += fitted.delayed_chunks;
        written.run.then(fitted.run);
    }
}
