//! Finds the time range of an event by its key.

use crate::outcome::exit::Failure;
use tracemill_analysis::{ReadRules, ThreadChoice, Times, Trace};
use tracemill_join::config::Config;
use tracemill_join::config::id_set::IdSet;
use tracemill_trace::Source;

/// Thread and time of an event or call. Times are nanoseconds on the clock of the trace.
pub(in crate::commands) struct EventTime {
    pub(in crate::commands) pid: IdSet,
    pub(in crate::commands) tid: IdSet,
    pub(in crate::commands) from: i64,
    pub(in crate::commands) to: i64,
    /// Start of the trace, for `view`.
    #[cfg_attr(not(feature = "view"), expect(dead_code))]
    pub(in crate::commands) start: i64,
}

/// Returns an error if an input cannot be read twice. The first pass finds the event.
pub(in crate::commands) fn refuse_streams(flag: &str, sources: &[Source]) -> Result<(), Failure> {
    match sources.iter().all(Source::is_rereadable) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "{flag} reads its inputs twice (first to find the event): name files, not a pipe"
        ))),
    }
}

/// Finds the event or call with a key (`r-12`, `p-…`) that `report` or `tree --log` printed. Cost:
/// that of a call tree.
pub(in crate::commands) fn event_window(
    sources: &[Source],
    key: &str,
    config: &Config,
) -> Result<EventTime, Failure> {
    refuse_streams("--event", sources)?;
    let rules = ReadRules { times: Times::Exact, ..ReadRules::default() };
    let trace = Trace::read(sources, rules, &config.as_merged())?;
    let found = trace.event(&trace.choose(&ThreadChoice::default()), key)?;
    let (at, window) = found.ok_or_else(|| {
        Failure::usage(format!(
            "--event {key}: no event has this key; tracemill report and tree --log print those that there are"
        ))
    })?;
    let nanos = |ms: f64| (ms * 1e6).round() as i64 + trace.origin().unwrap_or(0);
    let thread = &trace.threads[at];
    let [pid, tid] = [thread.pid_text(), thread.tid_text()].map(IdSet::of);
    let start = nanos(trace.start_ms());
    Ok(EventTime { pid, tid, from: nanos(window.from), to: nanos(window.to), start })
}
