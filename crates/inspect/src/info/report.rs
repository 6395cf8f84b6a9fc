//! What `info` says.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tracemill_join::report::warning::Warning;
use tracemill_trace::run::losses::InputReport;

/// What `info` found; the counts are over all inputs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InfoReport {
    /// Per input, in order.
    #[serde(skip)]
    pub inputs: Vec<InputReport>,
    /// Events.
    pub events: u64,
    /// Bytes of events.
    pub event_bytes: u64,
    /// Metadata events (phase `M`).
    pub metadata: u64,
    /// Events without a time.
    pub untimed: u64,
    /// Events without a name.
    pub nameless: u64,
    /// `TracingStartedInBrowser` events without `args.data`, for which DevTools refuses a file.
    pub bare_starts: u64,
    /// Events without categories that are no metadata.
    pub uncategorised: u64,
    /// Whether any input has one event per line, without brackets around them.
    pub is_lines: bool,
    /// Documents in all inputs.
    pub documents: u64,
    /// Whether self times were counted: see `InfoConfig`.
    pub has_self: bool,
    /// Slices that are in no self time, since nobody knows how long they were.
    #[serde(default)]
    pub unended: Unended,
    /// Events at time 0 that are no metadata. They are none of the real events if `start_ns` is greater.
    pub at_zero: u64,
    /// Where the trace starts, in nanoseconds: see [`Times`](tracemill_trace::time::bounds::Times).
    pub start_ns: Option<i64>,
    /// Greatest end (time stamp and duration) of an event that is no metadata, in nanoseconds.
    pub end_ns: Option<i64>,
    /// The window of DevTools' first breadcrumb, if all events outside of it are such that a slice keeps them.
    #[serde(default)]
    pub window: Option<KeptWindow>,
    /// The earliest real event, in whole nanoseconds; of several that which stands first in the inputs. Real events are
    /// no metadata and have a time, which is none before `start_ns`.
    pub first: Option<RealEvent>,
    /// The real event that begins last; of several that which stands last in the inputs.
    pub last: Option<RealEvent>,
    /// Real events over time.
    pub density: Option<Density>,
    /// The longest stretches without a real event.
    pub gaps: Vec<Gap>,
    /// Gaps shorter than this many nanoseconds are not looked for.
    pub least_gap_ns: u64,
    /// Whether the events stand in the order that `merge` would write.
    pub sorted: bool,
    /// Neighbours out of that order.
    pub inversions: u64,
    /// Per phase (`X`, or longer if odd; `none`), events, most first.
    pub phases: Vec<(String, u64)>,
    /// Per process, most events first.
    pub processes: Vec<ProcessInfo>,
    /// By name of events.
    pub names: TopList,
    /// By category: an event of several counts under each.
    pub categories: TopList,
    /// By key of args, and under those that are objects by the keys in them (`data.frame`); only if it was asked for.
    #[serde(skip)]
    pub args: Option<TopList>,
    /// Per CPU profile, in order of their first events.
    pub profiles: Vec<ProfileCount>,
    /// What the user should know, one sentence each.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
    /// The index that had all of this, if the trace was not read.
    #[serde(skip)]
    pub index: Option<PathBuf>,
    /// Why indexes there are could not say that, if inputs are several.
    #[serde(skip)]
    pub index_unused: Option<&'static str>,
    /// What the trace itself says it lost: names and values of counts among its keys, the first few.
    pub reported_losses: Vec<String>,
    /// Names of the keys beside the events, per input and document in order of first appearance.
    pub keys: Vec<String>,
}

/// The window of a slice that keeps events outside of it, because DevTools needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptWindow {
    /// Where it begins, in nanoseconds.
    pub from_ns: i64,
    /// Where it ends, in nanoseconds.
    pub to_ns: i64,
    /// Events before it.
    pub before: u64,
    /// Events after it.
    pub after: u64,
}

impl InfoReport {
    /// Returns when the trace starts and ends, in nanoseconds, without what a slice keeps outside of its window.
    pub fn bounds_ns(&self) -> Option<(i64, i64)> {
        let window = self.window.map(|window| (window.from_ns, window.to_ns));
        window.or(self.start_ns.zip(self.end_ns))
    }
}

/// What some events come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How many.
    pub events: u64,
    /// Their bytes; of keys of args those of key and value.
    pub bytes: u64,
    /// The sum of their durations (`dur`) in nanoseconds, each rounded down; negative ones and those of metadata are none.
    pub time_ns: u64,
    /// Time in them and in nothing that they called (X, and B with E), in nanoseconds: see `full`.
    pub self_ns: u64,
}

impl Usage {
    /// Sums stay at the greatest number there is rather than begin anew: so they do not depend on the order.
    #[inline]
    pub(super) fn add(&mut self, other: &Usage) {
        self.events += other.events;
        self.bytes += other.bytes;
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.self_ns = self.self_ns.saturating_add(other.self_ns);
    }
}

/// Slices (B) that no E ends; nothing if self times were not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unended {
    /// How many.
    pub slices: u64,
    /// Time in them and in nothing that they called, up to the last time of their threads' slices, in nanoseconds.
    pub self_ns: u64,
}

/// The greatest of many names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopList {
    /// How many different names there are.
    pub distinct: u64,
    /// The rows of most bytes.
    pub by_bytes: Vec<TopRow>,
    /// The rows of most time, if any has time.
    pub by_time: Vec<TopRow>,
    /// The rows of most self time, if any has self time.
    pub by_self: Vec<TopRow>,
}

/// A name and what there is of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TopRow {
    /// `None` for events without it.
    pub name: Option<String>,
    /// What its events come to.
    pub usage: Usage,
}

/// An event and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealEvent {
    /// Its time stamp, rounded down.
    pub ts_ns: i64,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its phase; `none` if it has none.
    pub phase: String,
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// `tid` as written; empty if missing.
    pub tid: String,
    /// The input in which it stands.
    #[serde(skip)]
    pub input: String,
    /// The offset there of its first byte.
    pub offset: u64,
}

/// How many real events begin in each of some stretches of time of one length.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Density {
    /// Where the first stretch begins: a multiple of the length, at or before the first event.
    pub start_ns: i64,
    /// Their length: a power of two.
    pub column_ns: u64,
    /// Events in each; at most [`Density::COLUMNS`].
    pub events: Vec<u64>,
}

impl Density {
    /// The most stretches.
    pub const COLUMNS: usize = 64;
}

/// A stretch of time in which no real event begins or lasts (by its `dur`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// When the last event before it ends.
    pub from_ns: i64,
    /// When the next begins.
    pub to_ns: i64,
}

impl Gap {
    /// How long it is.
    pub fn length_ns(&self) -> u64 {
        self.to_ns.abs_diff(self.from_ns)
    }
}

/// A process in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// From its last `process_name` event.
    pub name: Option<String>,
    /// From its last `process_labels` event, such as `GPU 0`.
    pub labels: Option<String>,
    /// What its events come to.
    pub usage: Usage,
    /// Its threads, most events first.
    pub threads: Vec<ThreadInfo>,
}

/// A thread in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// `tid` as written; empty if missing.
    pub tid: String,
    /// From its last `thread_name` event.
    pub name: Option<String>,
    /// What its events come to; its self time is the time in which any of its slices is open.
    pub usage: Usage,
}

/// A CPU profile in a trace, as far as its events' envelopes tell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCount {
    /// `pid` as written; empty if missing.
    pub pid: String,
    /// `tid` of its thread as written; empty if no `Profile` event says which.
    pub tid: String,
    /// `id` of its stream (`id2` where there is no other) as written; empty if missing.
    pub id: String,
    /// Its `ProfileChunk` events, or 1 for a `CpuProfile`.
    pub chunks: u64,
    /// Bytes of all its events.
    pub bytes: u64,
}
