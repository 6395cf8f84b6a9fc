//! What a report is, section by section.

use crate::network::Request;
use crate::parties::Party;
use crate::spread::Spread;
use crate::web::{Told, Visit};
use tracemill_analysis::{Location, Part, Producer, TableRules, TreePath, TreeRow, Window};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct ReportRules {
    /// Rows of a section.
    pub rows: usize,
    /// Which sections; if `None` those of the producer that the content tells.
    pub producer: Option<Producer>,
    /// Which entries count.
    pub tables: TableRules,
    /// Which time, in milliseconds on the trace's clock; the whole trace if `None`.
    pub window: Option<Window>,
    /// How devices are looked at.
    pub devices: DeviceRules,
}

/// How devices are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRules {
    /// Nanoseconds below which the time between two kernels of a stream is the cost of launching them.
    pub kernel_gap: i64,
    /// Leave out what is launched in the last step, which recordings may end in, and what is not known to be launched before.
    pub drop_last_step: bool,
}

impl Default for DeviceRules {
    fn default() -> Self {
        DeviceRules { kernel_gap: 30_000, drop_last_step: false }
    }
}

/// What is slow.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who wrote the trace.
    pub producer: Producer,
    /// Which time, in milliseconds on the trace's clock.
    pub window: Window,
    /// All functions and events of all threads as one table, by self time; without those that are idle.
    pub hot: Option<Part>,
    /// Milliseconds in which CPU profiles say that nothing ran.
    pub idle: f64,
    /// Milliseconds of garbage collection, as rows of their own have them.
    pub gc: f64,
    /// The thread that is busiest, and the path of its call tree on which most time is spent.
    pub heaviest: Option<(usize, TreePath)>,
    /// Of each thread, the busiest first.
    pub threads: Vec<ThreadSums>,
    /// Tasks of more than 50 ms; `None` if the trace has no tasks.
    pub tasks: Option<Tasks>,
    /// Layouts that scripts force; `None` if the trace has no layouts.
    pub reflows: Option<Reflows>,
    /// Stretches of CPU profiles that are not idle; `None` if there is none that stands alone.
    pub blocks: Option<Blocks>,
    /// How long single events last, of the names with most self time; `None` for producers of which other sections tell more.
    pub spread: Option<Vec<Spread>>,
    /// Requests that began within the window, all without one, in the order of their first events.
    pub requests: Vec<Request>,
    /// What users of pages waited for, by navigation, in the whole trace; `None` if Chrome did not record it.
    pub visits: Option<Told<Vec<Visit>>>,
    /// Whom the main thread of the page worked for, of each of these navigations, but those behind the first [`ReportRules::rows`]; empty if
    /// its thread was not asked for.
    pub parties: Vec<Vec<Party>>,
    /// What a build by Bazel did; `None` if it is none.
    pub build: Option<Build>,
    /// What clang did; `None` if it did not write the trace.
    pub compiled: Option<Compiled>,
    /// What devices of PyTorch did; `None` if there are none.
    pub devices: Option<Devices>,
    /// The greatest values of counters, by process, in the order of the trace.
    pub counters: Vec<Counted>,
}

/// What a thread did.
#[derive(Clone, Debug)]
pub struct ThreadSums {
    /// Its number.
    pub thread: usize,
    /// Milliseconds in which anything was open but a CPU that is idle.
    pub busy: f64,
    /// Events and calls that last.
    pub events: u64,
    /// The longest stretch in which nothing was open.
    pub gap: Option<Window>,
    /// Self time in milliseconds of each category of DevTools, the greatest first.
    pub categories: Vec<(&'static str, f64)>,
}

/// Stretches of time in which a thread was taken.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// Of the event, if it is one.
    pub name: String,
    /// The number of the thread.
    pub thread: usize,
    /// In milliseconds on the trace's clock.
    pub window: Window,
    /// Microseconds, as the event has them.
    pub ts: f64,
    /// Microseconds.
    pub dur: f64,
    /// Where it ends, to the bit: what begins there is not in it. Microseconds.
    pub(crate) until: f64,
    /// DevTools' key of the event, if it is one.
    pub key: Option<String>,
    /// What took most of it, at most three.
    pub paths: Vec<TreePath>,
}

/// Long tasks.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// How many last more than 50 ms.
    pub count: u64,
    /// Milliseconds beyond the 50 of each.
    pub blocking: f64,
    /// The longest of them.
    pub longest: Vec<Stretch>,
}

/// Stretches in which a CPU profile is not idle.
#[derive(Clone, Debug, Default)]
pub struct Blocks {
    /// Profiles in which no sample is idle: of those nothing can be told.
    pub without_idle: u64,
    /// How many last 50 ms or more.
    pub count: u64,
    /// Milliseconds of all of them.
    pub total: f64,
    /// The longest of them.
    pub longest: Vec<Stretch>,
}

/// What a build did.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// In the order of time; each lasts until the next begins, the last to the end of the trace. Milliseconds on the trace's clock.
    pub phases: Vec<(String, Window)>,
    /// Components of the critical path, in the order of time.
    pub critical: Vec<Stretch>,
    /// Milliseconds of all of these.
    pub critical_ms: f64,
    /// How many actions there were.
    pub actions: u64,
    /// Milliseconds of all of these.
    pub actions_ms: f64,
    /// The slowest of them.
    pub slowest: Vec<Stretch>,
}

/// What devices did: kernels, and copies of memory. Times are milliseconds, made of whole nanoseconds.
#[derive(Clone, Debug, Default)]
pub struct Devices {
    /// Each device.
    pub all: Vec<Device>,
    /// Their times from the begin of the first to the end of the last kernel, added up.
    pub kernel_time: f64,
    /// What ran at the same time, all devices together, the longest first.
    pub kinds: Vec<KindTime>,
    /// Why streams are idle, those of most idle time first.
    pub idle: Vec<StreamIdle>,
    /// Kernels by name, over all devices: those of most time.
    pub kernels: Vec<Kernel>,
    /// How many names there are.
    pub all_kernels: u64,
    /// Of all kernels, added up.
    pub durations: f64,
    /// For how long kernels overlap the one before on their stream: in that time they cannot have run.
    pub overlong: f64,
    /// Kernels that were left out, as they are not known to be launched before the last step.
    pub incomplete: u64,
}

/// What a device did. Times in which several things ran are in each of their sums, but once in each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Device {
    /// The number of the thread of the first kernel: a stream. Its process is the device.
    pub thread: usize,
    /// How many kernels and copies.
    pub kernels: u64,
    /// How many of them are known when launched.
    pub launched: u64,
    /// From the begin of the first to the end of the last.
    pub time: f64,
    /// Nothing ran.
    pub idle: f64,
    /// Kernels ran that compute.
    pub compute: f64,
    /// Kernels ran that communicate.
    pub communication: f64,
    /// Memory was copied or set.
    pub memory: f64,
    /// Kernels ran of both kinds: some that compute, and some that communicate.
    pub overlap: f64,
    /// Kernels communicated, and none computed.
    pub exposed_communication: f64,
    /// Memory was copied or set, and nothing computed or communicated.
    pub exposed_memory: f64,
}

/// How long kernels of some kinds ran, and none of others.
#[derive(Clone, Debug, PartialEq)]
pub struct KindTime {
    /// One, or several as `compute overlapping memory`.
    pub name: String,
    /// Milliseconds.
    pub time: f64,
}

/// Why a stream is idle between its first and its last kernel. Times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamIdle {
    /// As [`Device::thread`].
    pub device: usize,
    /// The number of the thread of the first kernel.
    pub thread: usize,
    /// Its number.
    pub stream: u32,
    /// How many kernels and copies.
    pub kernels: u64,
    /// How many of them are known when launched.
    pub launched: u64,
    /// All of the following.
    pub idle: f64,
    /// The next was launched after the end of the one before.
    pub host_wait: f64,
    /// It began soon: see [`DeviceRules::kernel_gap`].
    pub kernel_wait: f64,
    /// Anything else, such as waiting for another stream.
    pub other: f64,
}

/// Kernels of a name. Times are milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name.
    pub name: String,
    /// `compute`, `communication`, `memory` or `other`.
    pub class: &'static str,
    /// How often.
    pub count: u64,
    /// All of them.
    pub total: f64,
    /// On average.
    pub mean: f64,
    /// The deviation from that, of a sample.
    pub deviation: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
}

/// What clang did. Times are milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// How often the compiler ran.
    pub runs: u64,
    /// Of all front ends: what is parsed, and templates that are instantiated.
    pub frontend: f64,
    /// Of all back ends: code that is optimized and generated.
    pub backend: f64,
    /// Source files that took longest to parse and to generate code of.
    pub sources: Vec<CompiledSource>,
    /// How many there are.
    pub all_sources: u64,
    /// Templates that took longest, with those that these need.
    pub templates: Vec<Costly>,
    /// How many there are.
    pub all_templates: u64,
    /// The same of templates whose names differ in their arguments only; one that needs itself counts once.
    pub template_sets: Vec<Costly>,
    /// How many sets of templates there are.
    pub all_template_sets: u64,
    /// Functions that took longest to be optimized, by file.
    pub functions: Vec<Costly>,
    /// How many there are.
    pub all_functions: u64,
    /// The same of functions whose names differ in the arguments of templates only.
    pub function_sets: Vec<Costly>,
    /// How many sets of functions there are.
    pub all_function_sets: u64,
    /// Headers that took longest, with those that these include, of those that a source includes itself.
    pub headers: Vec<Header>,
    /// How many files are included.
    pub all_headers: u64,
}

/// A source file that was compiled.
#[derive(Clone, Debug)]
pub struct CompiledSource {
    /// Its path, or that of the trace if no event names it.
    pub file: String,
    /// Milliseconds of the front end.
    pub parse: f64,
    /// Milliseconds of the back end.
    pub codegen: f64,
    /// The longest event of either.
    pub longest: Stretch,
}

/// What took long, all times together.
#[derive(Clone, Debug)]
pub struct Costly {
    /// Its name; of functions as C++ writes it.
    pub name: String,
    /// How often.
    pub count: u64,
    /// Milliseconds.
    pub total: f64,
    /// The longest time.
    pub longest: Stretch,
    /// The file that was compiled then.
    pub file: String,
}

/// A file that is included.
#[derive(Clone, Debug)]
pub struct Header {
    /// The file.
    pub costly: Costly,
    /// The longest of its inclusions, with the files that led to it.
    pub chains: Vec<Chain>,
}

/// By which files another was included.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// From the source on; of very many the innermost.
    pub files: Vec<String>,
    /// Milliseconds.
    pub total: f64,
}

/// Layouts and styles that were forced, in tasks of which they take 30 ms and more.
#[derive(Clone, Debug, Default)]
pub struct Reflows {
    /// How many tasks.
    pub tasks: u64,
    /// How many layouts and styles.
    pub count: u64,
    /// Milliseconds of all of them.
    pub total: f64,
    /// What forced them, that of most time first.
    pub functions: Vec<Reflow>,
    /// How many of them there are.
    pub all_functions: u64,
}

/// A place in a script that forces layouts.
#[derive(Clone, Debug)]
pub struct Reflow {
    /// Its name; `None` if no place is known.
    pub function: Option<String>,
    /// Where the layout was forced, or, if that is not told, where the function stands.
    pub location: Location,
    /// How often.
    pub count: u64,
    /// Milliseconds.
    pub total: f64,
    /// The longest.
    pub longest: Stretch,
}

/// A value of a counter.
#[derive(Clone, Debug, PartialEq)]
pub struct Counted {
    /// Of the process, as written.
    pub pid: Box<[u8]>,
    /// Of the counter.
    pub name: String,
    /// Of the value.
    pub key: String,
    /// How often it was told.
    pub count: u64,
    /// The greatest.
    pub most: f64,
}

/// A task or block is long from here on, in milliseconds.
pub(crate) const LONG: f64 = 50.0;

/// Whether a row is garbage collection.
pub(crate) fn is_gc(row: &TreeRow) -> bool {
    const EVENTS: [&str; 4] = ["MinorGC", "MajorGC", "GCEvent", "BlinkGC.AtomicPhase"];
    EVENTS.contains(&&*row.id)
        || row.id.starts_with("V8.GC")
        || row.label.as_deref() == Some("(garbage collector)")
}

/// The longest first; of equal ones as they are.
pub(crate) fn keep_longest(all: &mut Vec<Stretch>, rows: usize) {
    all.sort_by(|a, b| b.dur.total_cmp(&a.dur));
    all.truncate(rows);
}
