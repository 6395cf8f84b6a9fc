//! What `filter` is asked for.

use super::args::ArgsCriterion;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::{Glob, Pattern, Preset};
use tracemill_trace::time::{Duration, TimePoint};

/// Which events stay: those that match one of each kind that is given, and no preset.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Processes.
    pub pid: Option<IdSet>,
    /// Threads.
    pub tid: Option<IdSet>,
    /// Names of processes, wherever the naming event stands; the last one counts.
    pub process: Vec<Pattern>,
    /// Names of threads.
    pub thread: Vec<Pattern>,
    /// Phases.
    pub ph: Vec<String>,
    /// Categories.
    pub cat: Vec<Glob>,
    /// Event names, with escapes resolved.
    pub name: Vec<Pattern>,
    /// Values in `args`: of each path that is named one of these.
    pub args: Vec<ArgsCriterion>,
    /// Names and categories match whatever their case.
    pub ignore_case: bool,
    /// What is shorter goes; what has no duration lasts 0, a B without E to the end of the trace.
    pub min_dur: Option<Duration>,
    /// What is longer goes.
    pub max_dur: Option<Duration>,
    /// What ends before, or is over then, goes.
    pub from: Option<TimePoint>,
    /// What begins then or later goes.
    pub to: Option<TimePoint>,
    /// What belongs to one of these goes.
    pub drop: Vec<Preset>,
    /// Paths of members of `args` that are left out of the events that stay, but for metadata; dots stand between names.
    pub drop_args: Vec<String>,
    /// Keep what would go, and drop what would stay.
    pub invert: bool,
    /// Bytes that the output may have before packing: of what stays, the longest that fit.
    pub shrink_to: Option<u64>,
}
