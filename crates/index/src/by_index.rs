//! Verbs that an index may serve: the index is queried first, and the verb runs on its answer.

use crate::{profile_plan, summary, window_plan};
use tracemill_inspect::info::{self, InfoConfig, InfoReport};
use tracemill_join::config::Config;
use tracemill_pipeline::{
    ProfileChoice, ProfileTarget, ProfilesReport, SliceReport, SliceRun, profiles_planned,
    slice_planned,
};
use tracemill_trace::input::source::Source;
use tracemill_trace::output::target::OutputConfig;
use tracemill_trace::run::error::Error;
use tracemill_trace::time::windows::{Edges, TimeWindow};

/// Counts what is in `sources`, taken together.
///
/// Cost: one pass over the inputs on all cores. Heap: a row for each thread and, within an eighth of the budget's share
/// for indexes each, for each name and list of categories, beyond that on disk. With [`InfoConfig::full`] three times the
/// time, and 40 bytes for each X, B and E, on disk beyond half of that share; what is open at one time in one thread.
///
/// Where [`Config::index`] allows it and there is an index of the one input, that is asked instead: at most 16 MiB of the input
/// are read, to see that it is still what it was.
///
/// ```
/// use tracemill_pipeline::{Config, Source};
/// use tracemill_inspect::info::InfoConfig;
/// use tracemill_index::info;
/// # let folder = tempfile::tempdir()?;
/// # let trace = folder.path().join("trace.json");
/// # std::fs::write(&trace, r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1000,"dur":50},{"ph":"X","name":"b","pid":1,"tid":2,"ts":2000,"dur":900}]"#)?;
///
/// let config = Config::new(2, 64 << 20, std::env::temp_dir()); // threads, bytes of heap
/// let wanted = InfoConfig { top: 10, full: true, self_times: false };
/// let report = info(&[Source::Path(trace)], &wanted, &config)?;
/// assert_eq!((report.events, report.start_ns, report.processes[0].threads.len()), (2, Some(1_000_000), 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`tracemill_pipeline::merge()`], but for the output. [`tracemill_trace::ErrorKind::NotATrace`] for an index that was named and cannot answer.
pub fn info(sources: &[Source], wanted: &InfoConfig, config: &Config) -> Result<InfoReport, Error> {
    info_with(sources, wanted, config, |_| ())
}

/// As [`info()`], and `look` sees the report before it is given out: where `look` reads the files again, what it finds is of the
/// bytes that were counted.
///
/// # Errors
/// As [`info()`]; [`tracemill_trace::ErrorKind::Changed`] also for a file that was written to until `look` was done.
pub fn info_with(
    sources: &[Source],
    wanted: &InfoConfig,
    config: &Config,
    look: impl FnOnce(&InfoReport),
) -> Result<InfoReport, Error> {
    config.limits.check()?;
    let planned = summary(sources, wanted, config)?;
    info::info(sources, wanted, planned, config, look)
}

/// Writes a slice, as [`tracemill_pipeline::slice()`] does. Where [`Config::index`] allows it and the one input has an index that knows
/// all that the windows need, only those byte ranges are read; [`SliceReport::index`] says so.
///
/// # Errors
/// As [`tracemill_pipeline::slice()`]; [`NotATrace`](tracemill_trace::ErrorKind::NotATrace) for an index that was named and cannot answer.
pub fn slice(
    sources: &[Source],
    windows: &[TimeWindow],
    edges: Edges,
    output: &OutputConfig,
    config: &Config,
) -> Result<SliceReport, Error> {
    let job = SliceRun { sources, windows, edges, output };
    job.check(&config.limits)?;
    slice_planned(job, window_plan(sources, windows, edges, config)?, config)
}

/// Lists CPU profiles, as [`tracemill_pipeline::list_profiles()`] does, by an index where there is one.
///
/// # Errors
/// As [`slice()`].
pub fn list_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    config.limits.check()?;
    profiles_planned(sources, choice, None, profile_plan(sources, config)?, config)
}

/// Extracts CPU profiles, as [`tracemill_pipeline::extract_profiles()`] does, by an index where there is one.
///
/// # Errors
/// As [`slice()`].
pub fn extract_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    target: &ProfileTarget,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    config.limits.check()?;
    profiles_planned(sources, choice, Some(target), profile_plan(sources, config)?, config)
}
