//! Options of `filter`.

use super::args::ArgsCriterion;
use super::listed::EventList;
use std::sync::Arc;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::{Glob, Pattern, Preset};
use tracemill_trace::time::{Duration, TimePoint};

/// Options that select events. A selected event matches one value of each given option, and no
/// preset in `drop`.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Pids of processes.
    pub pid: Option<IdSet>,
    /// Tids of threads.
    pub tid: Option<IdSet>,
    /// Names of processes. The last naming event wins, wherever it is.
    pub process: Vec<Pattern>,
    /// Names of threads.
    pub thread: Vec<Pattern>,
    /// Phases.
    pub ph: Vec<String>,
    /// Categories.
    pub cat: Vec<Glob>,
    /// Event names, decoded.
    pub name: Vec<Pattern>,
    /// Events that a caller has listed.
    pub events: Option<Arc<EventList>>,
    /// Values in `args`; one value for each path must match.
    pub args: Vec<ArgsCriterion>,
    /// Whether names and categories match regardless of case.
    pub ignore_case: bool,
    /// Minimum duration. Events without a duration have 0; a B without an E has no limit.
    pub min_dur: Option<Duration>,
    /// Maximum duration.
    pub max_dur: Option<Duration>,
    /// Start of the window. Drops events that end before it.
    pub from: Option<TimePoint>,
    /// End of the window. Drops events that begin at or after it.
    pub to: Option<TimePoint>,
    /// Presets whose events are dropped.
    pub drop: Vec<Preset>,
    /// Paths of members to remove from the `args` of kept events, with dots between names. Metadata
    /// events are not changed.
    pub drop_args: Vec<String>,
    /// Whether to swap kept and dropped events.
    pub invert: bool,
    /// Maximum size of the output in bytes before compression. The longest events that fit are
    /// kept.
    pub shrink_to: Option<u64>,
}
