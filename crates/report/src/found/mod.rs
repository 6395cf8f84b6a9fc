//! The sections of a report.

pub(crate) mod ranks;
pub(crate) mod services;

use self::ranks::Ranks;
use self::services::Services;
use crate::spread::{Lasting, Spread};
use crate::web::insights::Insight;
use crate::web::network::Request;
use crate::web::parties::Party;
use crate::web::tracks::TrackSummary;
use crate::web::tracks::memory::PageMemory;
use crate::web::{Metric, Visit};
use tracemill_analysis::value::record::Record;
use tracemill_analysis::{Location, Part, Producer, TableRules, Trace, TreePath, TreeRow, Window};
use tracemill_causes::Cause;

/// Options of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportRules {
    /// Maximum number of rows per section.
    pub rows: usize,
    /// Producer whose sections are reported; detected if `None`.
    pub producer: Option<Producer>,
    /// Rules for which entries are counted.
    pub tables: TableRules,
    /// Window in milliseconds on the trace's clock. `None` means the whole trace.
    pub window: Option<Window>,
    /// Options for GPUs.
    pub devices: DeviceRules,
}

/// Options for the report on GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRules {
    /// A gap of less than this many nanoseconds between two kernels of a stream counts as launch
    /// overhead.
    pub kernel_gap: i64,
    /// Whether to leave out kernels of the last step, which may be incomplete, and kernels whose
    /// launch is unknown.
    pub drop_last_step: bool,
}

impl Default for DeviceRules {
    fn default() -> Self {
        DeviceRules { kernel_gap: 30_000, drop_last_step: false }
    }
}

/// A report on the performance of a trace.
#[derive(Clone, Debug)]
pub struct Report {
    /// The producer of the trace.
    pub producer: Producer,
    /// The window in milliseconds on the trace's clock.
    pub window: Window,
    /// Functions and events of all threads, by self time, without calls to V8's `(idle)`.
    pub hot: Option<Part>,
    /// Idle time of CPU profiles in milliseconds.
    pub idle: f64,
    /// Self time of garbage collection rows in milliseconds.
    pub gc: f64,
    /// The busiest thread, and the heaviest path of its call tree.
    pub heaviest: Option<(usize, TreePath)>,
    /// Busy times and other sums of each thread, the busiest thread first.
    pub threads: Vec<ThreadSums>,
    /// Tasks of more than 50 ms; `None` if the trace has no tasks.
    pub tasks: Option<Tasks>,
    /// Layouts forced by scripts; `None` if the trace has no layouts.
    pub reflows: Option<Reflows>,
    /// Blocks of the event loop. `None` if no CPU profile can have blocks.
    pub blocks: Option<Blocks>,
    /// Folders or processes with CPU profiles; `None` unless there are several.
    pub services: Option<Services>,
    /// Durations of single events, for the names with the most self time. `None` for producers with
    /// more specific sections.
    pub spread: Option<Vec<Spread>>,
    /// Requests that begin within the window, in the order of their first events.
    pub requests: Vec<Request>,
    /// Visits of pages in the whole trace, by navigation. `None` if Chrome did not record the
    /// trace.
    pub visits: Option<Metric<Vec<Visit>>>,
    /// DevTools' insights for each visit.
    pub insights: Vec<Vec<Insight>>,
    /// Main-thread time and received bytes of each company, for each of the first
    /// [`ReportRules::rows`] visits. Empty if the main thread is not selected.
    pub parties: Vec<Vec<Party>>,
    /// The build; `None` unless Bazel wrote the trace.
    pub build: Option<Build>,
    /// The compilation; `None` unless clang wrote the trace.
    pub compiled: Option<Compiled>,
    /// GPU activity recorded by PyTorch; `None` if there is none.
    pub devices: Option<Devices>,
    /// The ranks of a job of PyTorch; `None` unless there are several.
    pub ranks: Option<Ranks>,
    /// Maximum values of counters, by process, in trace order.
    pub counters: Vec<Counted>,
    /// Tracks that DevTools draws above the threads, in the order of its panel.
    pub tracks: Vec<TrackSummary>,
    /// Counters of page processes.
    pub memory: Vec<PageMemory>,
    /// Reason why [`Report::add_causes`] found no causes.
    pub no_causes: Option<String>,
}

/// Busy time and other sums of a thread.
#[derive(Clone, Debug)]
pub struct ThreadSums {
    /// Index of the thread in the trace.
    pub thread: usize,
    /// Busy time in milliseconds.
    pub busy: f64,
    /// Milliseconds from the first event or call of the thread to its last, also of idle calls.
    pub time: f64,
    /// Number of events and calls with a duration.
    pub events: u64,
    /// The longest interval without an open event.
    pub gap: Option<Window>,
    /// Self time in milliseconds of each DevTools category, longest first.
    pub categories: Vec<(&'static str, f64)>,
}

/// An interval in which a thread is busy: a task, a block of the event loop, or another event.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Name of the event; empty if the interval is not an event.
    pub name: String,
    /// Index of the thread in the trace.
    pub thread: usize,
    /// The interval in milliseconds on the trace's clock.
    pub window: Window,
    /// Start in microseconds, as written in the event.
    pub ts: f64,
    /// Duration in microseconds.
    pub dur: f64,
    /// Exact end in microseconds. Events that begin at this time are not in the interval.
    pub(crate) until: f64,
    /// DevTools' key of the event; `None` if the interval is not an event.
    pub key: Option<String>,
    /// Paths of the call tree with most self time, at most three.
    pub paths: Vec<TreePath>,
    /// Cause of the event, if [`Report::add_causes`] found it.
    pub started_by: Option<Cause>,
}

/// Long tasks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// Number of tasks of more than 50 ms.
    pub count: u64,
    /// Blocking time in milliseconds: the sum, over all tasks, of the time beyond 50 ms.
    pub blocking: f64,
    /// The longest tasks.
    pub longest: Vec<Stretch>,
}

/// Event-loop blocks of CPU profiles.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Number of profiles without idle samples. Their blocks are unknown.
    pub without_idle: u64,
    /// Number of blocks of at least 50 ms.
    pub count: u64,
    /// Total milliseconds of the blocks.
    pub total: f64,
    /// The longest blocks.
    pub longest: Vec<Stretch>,
}

/// A build by Bazel.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// Phases in order, in milliseconds on the trace's clock. A phase lasts until the next one
    /// begins; the last phase lasts until the end of the trace.
    pub phases: Vec<(String, Window)>,
    /// Components of the critical path, by time.
    pub critical: Vec<Stretch>,
    /// Milliseconds of the critical path.
    pub critical_ms: f64,
    /// Number of actions.
    pub actions: u64,
    /// Total milliseconds of the actions.
    pub actions_ms: f64,
    /// The slowest actions.
    pub slowest: Vec<Stretch>,
}

/// GPU activity: kernels and memory copies. Times are milliseconds, computed from whole
/// nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// The devices.
    pub all: Vec<Device>,
    /// Time from the start of the first kernel to the end of the last, summed over all devices.
    pub kernel_time: f64,
    /// Time in which the same kinds of kernels ran at once, summed over all devices, longest first.
    pub kinds: Vec<KindTime>,
    /// Idle time of streams by reason, the most idle stream first.
    pub idle: Vec<StreamIdle>,
    /// Kernels with the most time, by name, over all devices.
    pub kernels: Vec<Kernel>,
    /// Number of distinct kernel names.
    pub all_kernels: u64,
    /// Total duration of all kernels.
    pub durations: f64,
    /// Total time by which kernels overlap the previous kernel of their stream. Kernels of a stream
    /// cannot run at once.
    pub overlong: f64,
    /// Number of kernels left out because they may belong to the last step.
    pub incomplete: u64,
}

/// Activity of a device. Time with several kinds of activity counts in the sum of each kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// Index of the thread (stream) of the first kernel. The process of this thread is the device.
    pub thread: usize,
    /// Number of kernels and copies.
    pub kernels: u64,
    /// Number of kernels and copies with a known launch.
    pub launched: u64,
    /// Time from the start of the first kernel or copy to the end of the last.
    pub time: f64,
    /// Time without kernels and copies.
    pub idle: f64,
    /// Time with compute kernels.
    pub compute: f64,
    /// Time with communication kernels.
    pub communication: f64,
    /// Time with memory being copied or set.
    pub memory: f64,
    /// Time with both compute and communication kernels.
    pub overlap: f64,
    /// Time with communication kernels and no compute kernels.
    pub exposed_communication: f64,
    /// Time with memory operations only.
    pub exposed_memory: f64,
}

/// Time in which kernels of exactly these kinds ran at once.
#[derive(Clone, Debug, PartialEq)]
pub struct KindTime {
    /// Names of the kinds, such as `compute overlapping memory`.
    pub name: String,
    /// Time in milliseconds.
    pub time: f64,
}

/// Idle time of a stream between its first and last kernel, by reason, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamIdle {
    /// The device, by the same number as [`Device::thread`].
    pub device: usize,
    /// Index of the thread of the stream's first kernel.
    pub thread: usize,
    /// The stream's number in the trace.
    pub stream: u32,
    /// Number of kernels and copies.
    pub kernels: u64,
    /// Number of kernels and copies with a known launch.
    pub launched: u64,
    /// Total idle time: the sum of the three fields below.
    pub idle: f64,
    /// Idle time before kernels that were launched after the end of the previous kernel.
    pub host_wait: f64,
    /// Idle time before kernels that were launched earlier, in gaps below
    /// [`DeviceRules::kernel_gap`].
    pub kernel_wait: f64,
    /// Other idle time, such as waiting for another stream.
    pub other: f64,
}

/// Kernels with the same name. Times are milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Name of the kernels.
    pub name: String,
    /// `compute`, `communication`, `memory` or `other`.
    pub class: &'static str,
    /// Number of kernels.
    pub count: u64,
    /// Total duration.
    pub total: f64,
    /// Mean duration.
    pub mean: f64,
    /// Sample standard deviation of the durations.
    pub deviation: f64,
    /// Shortest duration.
    pub least: f64,
    /// Longest duration.
    pub most: f64,
    /// The operator and the function that launch the most time of the kernels, if
    /// [`Report::add_causes`] looked for them.
    pub launched_by: Option<Cause>,
}

/// Compilations by clang. Times are milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// Number of compiler runs.
    pub runs: u64,
    /// Total time of front ends: parsing and template instantiation.
    pub frontend: f64,
    /// Total time of back ends: optimization and code generation.
    pub backend: f64,
    /// Source files with the longest parsing and code generation.
    pub sources: Vec<CompiledSource>,
    /// Number of source files.
    pub all_sources: u64,
    /// Templates with the longest instantiation. Their times include the templates that they need.
    pub templates: Vec<Costly>,
    /// Number of templates.
    pub all_templates: u64,
    /// Sets of templates that differ only in their arguments, with the longest instantiation.
    /// Recursive templates count once.
    pub template_sets: Vec<Costly>,
    /// Number of template sets.
    pub all_template_sets: u64,
    /// Functions with the longest optimization; a function counts once per file.
    pub functions: Vec<Costly>,
    /// Number of functions.
    pub all_functions: u64,
    /// Sets of functions that differ only in template arguments, with the longest optimization.
    pub function_sets: Vec<Costly>,
    /// Number of function sets.
    pub all_function_sets: u64,
    /// Directly included headers with the longest time. Their times include the headers that they
    /// include.
    pub headers: Vec<Header>,
    /// Number of included files.
    pub all_headers: u64,
}

/// A compiled source file.
#[derive(Clone, Debug)]
pub struct CompiledSource {
    /// Path of the file, or of the trace if no event names the file.
    pub file: String,
    /// Time of the front end in milliseconds.
    pub parse: f64,
    /// Time of the back end in milliseconds.
    pub codegen: f64,
    /// The longest front-end or back-end event.
    pub longest: Stretch,
}

/// The times of a template, function or header.
#[derive(Clone, Debug)]
pub struct Costly {
    /// Name of the template, function or header; functions are demangled.
    pub name: String,
    /// Number of events.
    pub count: u64,
    /// Total time in milliseconds.
    pub total: f64,
    /// The longest event.
    pub longest: Stretch,
    /// The compiled file of the longest event.
    pub file: String,
}

/// An included file.
#[derive(Clone, Debug)]
pub struct Header {
    /// The file and its times.
    pub costly: Costly,
    /// Include chains of the longest inclusions.
    pub chains: Vec<Chain>,
}

/// An include chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Files of the chain, beginning with the source. At most the innermost 32 files are listed.
    pub files: Vec<String>,
    /// Time of the inclusion in milliseconds.
    pub total: f64,
}

/// Forced layouts and style recalculations. Only tasks in which they take at least 30 ms count.
#[derive(Clone, Debug, Default)]
pub struct Reflows {
    /// Number of tasks.
    pub tasks: u64,
    /// Number of layouts and style recalculations.
    pub count: u64,
    /// Total milliseconds.
    pub total: f64,
    /// The script locations that force layouts, longest first.
    pub functions: Vec<Reflow>,
    /// Number of script locations that force layouts.
    pub all_functions: u64,
}

/// A script location that forces layouts.
#[derive(Clone, Debug)]
pub struct Reflow {
    /// Function name; `None` if unknown.
    pub function: Option<String>,
    /// Location where the layout was forced. If unknown, location of the function.
    pub location: Location,
    /// Number of layouts.
    pub count: u64,
    /// Total milliseconds.
    pub total: f64,
    /// The longest layout; the event that invalidated it started it.
    pub longest: Stretch,
}

/// The maximum of a counter's value.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// The pid as written.
    pub pid: Box<[u8]>,
    /// Name of the counter.
    pub name: String,
    /// Key of the value.
    pub key: String,
    /// Number of events with the value.
    pub count: u64,
    /// Maximum of the value.
    pub most: f64,
}

/// Minimum duration of long tasks and blocks, in milliseconds.
pub(crate) const LONG: f64 = 50.0;

pub(crate) fn is_gc(row: &TreeRow) -> bool {
    const EVENTS: [&str; 4] = ["MinorGC", "MajorGC", "GCEvent", "BlinkGC.AtomicPhase"];
    EVENTS.contains(&&*row.id)
        || row.id.starts_with("V8.GC")
        || row.label.as_deref() == Some("(garbage collector)")
}

impl Lasting for Stretch {
    fn dur(&self) -> f64 {
        self.dur
    }
}

impl Stretch {
    /// Creates the interval of an event of the thread with the given number.
    pub(crate) fn of_record(trace: &Trace, thread: usize, record: &Record) -> Self {
        let (clock, until) = (trace.clock(), record.ts + record.dur);
        Stretch {
            name: trace.names().text(trace.kinds()[record.kind as usize].name),
            thread,
            window: clock.window_of(record.ts, until),
            ts: clock.micros(record.ts),
            dur: clock.micros(record.dur),
            until: clock.micros(until),
            key: (record.phase() == b'X').then(|| format!("r-{}", record.number())),
            paths: Vec::new(),
            started_by: None,
        }
    }
}
