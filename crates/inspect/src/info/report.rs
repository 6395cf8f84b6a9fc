//! The report of `info`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tracemill_join::report::warning::Warning;
use tracemill_trace::run::losses::InputReport;

/// The report of `info`; counts are over all inputs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InfoReport {
    /// Reports of the inputs, in order.
    #[serde(skip)]
    pub inputs: Vec<InputReport>,
    /// Number of events.
    pub events: u64,
    /// Total size of the events in bytes.
    pub event_bytes: u64,
    /// Number of metadata events (phase `M`).
    pub metadata: u64,
    /// Number of events without a time.
    pub untimed: u64,
    /// Number of events without a name.
    pub nameless: u64,
    /// Number of `TracingStartedInBrowser` events without `args.data`, for which DevTools rejects
    /// the file.
    pub bare_starts: u64,
    /// Number of events without categories, except metadata.
    pub uncategorised: u64,
    /// Whether any input has one event per line, without enclosing brackets.
    pub is_lines: bool,
    /// Number of documents in all inputs.
    pub documents: u64,
    /// Whether self times were computed; see `InfoConfig`.
    pub has_self: bool,
    /// B slices without an E. Self times exclude them, because their length is unknown.
    #[serde(default)]
    pub unended: Unended,
    /// Number of events at time 0, except metadata. They are not real events if `start_ns` is
    /// greater than 0.
    pub at_zero: u64,
    /// Trace start in nanoseconds; see [`Times`](tracemill_trace::time::bounds::Times).
    pub start_ns: Option<i64>,
    /// Greatest end (`ts` plus `dur`) of an event except metadata, in nanoseconds.
    pub end_ns: Option<i64>,
    /// Window of DevTools' first breadcrumb, if `slice` would keep all events that are outside.
    #[serde(default)]
    pub window: Option<KeptWindow>,
    /// The earliest real event; among equal times, the first in input order. Real events are not
    /// metadata, and have a time of at least `start_ns`.
    pub first: Option<RealEvent>,
    /// The real event that begins last; among equal times, the last in input order.
    pub last: Option<RealEvent>,
    /// Number of real events over time.
    pub density: Option<Density>,
    /// The longest gaps without a real event.
    pub gaps: Vec<Gap>,
    /// Minimum length in nanoseconds of a reported gap.
    pub least_gap_ns: u64,
    /// Whether the events are in the order that `merge` would write.
    pub sorted: bool,
    /// Number of adjacent pairs of events that are out of that order.
    pub inversions: u64,
    /// Number of events by phase (`X`, a longer text if invalid, or `none`), most frequent first.
    pub phases: Vec<(String, u64)>,
    /// Processes, most events first.
    pub processes: Vec<ProcessInfo>,
    /// Counts by event name.
    pub names: TopList,
    /// Counts by category; an event counts for each of its categories.
    pub categories: TopList,
    /// Counts by args key and by keys of nested objects (`data.frame`); `None` unless they were
    /// requested.
    #[serde(skip)]
    pub args: Option<TopList>,
    /// CPU profiles, in order of their first events.
    pub profiles: Vec<ProfileCount>,
    /// Warnings for the user, one sentence each.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The index that provided the report; `None` if the trace was read.
    #[serde(skip)]
    pub index: Option<PathBuf>,
    /// Reason why existing indexes were not used.
    #[serde(skip)]
    pub index_unused: Option<&'static str>,
    /// The first losses that the trace itself reports in its top-level keys: name and value.
    pub reported_losses: Vec<String>,
    /// Names of the top-level keys, per input and document in order of first appearance.
    pub keys: Vec<String>,
}

/// A window outside of which `slice` keeps events, because DevTools needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWindow {
    /// Start of the window in nanoseconds.
    pub from_ns: i64,
    /// End of the window in nanoseconds.
    pub to_ns: i64,
    /// Number of events before the window.
    pub before: u64,
    /// Number of events after the window.
    pub after: u64,
}

impl InfoReport {
    /// Returns the start and end of the trace in nanoseconds, without events that `slice` keeps
    /// outside its window.
    pub fn bounds_ns(&self) -> Option<(i64, i64)> {
        let window = self.window.map(|window| (window.from_ns, window.to_ns));
        window.or(self.start_ns.zip(self.end_ns))
    }
}

/// Number, bytes and times of a group of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of events.
    pub events: u64,
    /// Total bytes of the events, or of the key and value for args keys.
    pub bytes: u64,
    /// Sum of the durations (`dur`) in nanoseconds, each rounded down. Negative durations and
    /// metadata count as 0.
    pub time_ns: u64,
    /// Self time of slices (X, and B with E) in nanoseconds; see `InfoConfig`.
    pub self_ns: u64,
}

impl Usage {
    /// Adds other totals. Times saturate, so that the result does not depend on the order.
    #[inline]
    pub(super) fn add(&mut self, other: &Usage) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
    }
}

/// B slices without an E; zero if self times were not computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unended {
    /// Number of slices.
    pub slices: u64,
    /// Self time of the slices in nanoseconds, up to the last time in their threads.
    pub self_ns: u64,
}

/// The top rows among many names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopList {
    /// Number of distinct names.
    pub distinct: u64,
    /// The rows with the most bytes.
    pub by_bytes: Vec<TopRow>,
    /// The rows with the most time; rows without time are left out.
    pub by_time: Vec<TopRow>,
    /// The rows with the most self time; rows without self time are left out.
    pub by_self: Vec<TopRow>,
}

/// A name with the totals of its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopRow {
    /// The name; `None` for events without a name.
    pub name: Option<String>,
    /// Totals of the events.
    pub usage: Usage,
}

/// An event and its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealEvent {
    /// `ts` in nanoseconds, rounded down.
    pub ts_ns: i64,
    /// The name, if there is one.
    pub name: Option<String>,
    /// The phase; `none` if it is missing.
    pub phase: String,
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// `tid` as written; empty if missing.
    pub tid: String,
    /// The input that contains the event.
    #[serde(skip)]
    pub input: String,
    /// Offset of the event in its input.
    pub offset: u64,
}

/// Counts of real events by start time, in columns of equal length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Density {
    /// Start of the first column in nanoseconds: a multiple of the column length, at or before the
    /// first event.
    pub start_ns: i64,
    /// Length of a column in nanoseconds: a power of two.
    pub column_ns: u64,
    /// Number of events in each column; at most [`Density::COLUMNS`] columns.
    pub events: Vec<u64>,
}

impl Density {
    /// Maximum number of columns.
    pub const COLUMNS: usize = 64;
}

/// A time range in which no real event begins or is open (by its `dur`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// End of the last event before the gap, in nanoseconds.
    pub from_ns: i64,
    /// Start of the first event after the gap, in nanoseconds.
    pub to_ns: i64,
}

impl Gap {
    /// Returns the length of the gap in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.to_ns.abs_diff(self.from_ns)
    }
}

/// A process in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// Name from the last `process_name` event.
    pub name: Option<String>,
    /// Labels from the last `process_labels` event, such as `GPU 0`.
    pub labels: Option<String>,
    /// Totals of the events.
    pub usage: Usage,
    /// Threads, most events first.
    pub threads: Vec<ThreadInfo>,
}

/// A thread in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// `tid` as written; empty if missing.
    pub tid: String,
    /// Name from the last `thread_name` event.
    pub name: Option<String>,
    /// Totals of the events. The self time is the time in which any slice of the thread is open.
    pub usage: Usage,
}

/// Ids and size of a CPU profile in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCount {
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// `tid` of the thread as written; empty if no `Profile` event names it.
    pub tid: String,
    /// `id` of the stream as written, or else `id2`; empty if missing.
    pub id: String,
    /// Number of `ProfileChunk` events, or 1 for a `CpuProfile`.
    pub chunks: u64,
    /// Total bytes of the profile's events.
    pub bytes: u64,
}
