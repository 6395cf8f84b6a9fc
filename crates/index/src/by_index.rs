//! Commands that query an index first, and run on its answer.

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

/// Summarizes `sources` as one trace.
///
/// Cost: one pass over the inputs on all cores; [`InfoConfig::full`] triples the time. Heap: a row
/// per thread. Names, categories, and with `full` 40 bytes per X, B and E, spill to disk.
///
/// Uses the index of the only input if [`Config::index`] allows this. Then reads at most 16 MiB of
/// the input, to verify that the input is unchanged.
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
/// Returns the errors of [`tracemill_pipeline::merge()`] except those of output, and
/// [`tracemill_trace::ErrorKind::NotATrace`] for a named index that cannot answer.
pub fn info(sources: &[Source], wanted: &InfoConfig, config: &Config) -> Result<InfoReport, Error> {
    info_with(sources, wanted, config, |_| ())
}

/// Summarizes `sources` like [`info()`], and passes the report to `look` before it is returned.
///
/// If `look` reads the files again, it reads the bytes that were counted.
///
/// # Errors
/// Returns the errors of [`info()`], and [`tracemill_trace::ErrorKind::Changed`] if a file is
/// written to before `look` returns.
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

/// Writes a slice like [`tracemill_pipeline::slice()`], by an index if possible.
///
/// If [`Config::index`] allows it and the index of the only input covers the windows, only the
/// needed byte ranges are read; see [`SliceReport::index`].
///
/// # Errors
/// Returns the errors of [`tracemill_pipeline::slice()`], and
/// [`NotATrace`](tracemill_trace::ErrorKind::NotATrace) for a named index that cannot answer.
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

/// Lists CPU profiles like [`tracemill_pipeline::list_profiles()`], by an index if possible.
///
/// # Errors
/// Returns the errors of [`slice()`].
pub fn list_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    config.limits.check()?;
    profiles_planned(sources, choice, None, profile_plan(sources, config)?, config)
}

/// Extracts CPU profiles like [`tracemill_pipeline::extract_profiles()`], by an index if possible.
///
/// # Errors
/// Returns the errors of [`slice()`].
pub fn extract_profiles(
    sources: &[Source],
    choice: &ProfileChoice,
    target: &ProfileTarget,
    config: &Config,
) -> Result<ProfilesReport, Error> {
    config.limits.check()?;
    profiles_planned(sources, choice, Some(target), profile_plan(sources, config)?, config)
}
