//! Flags of `filter`.

use super::choices::choices;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::outcome::exit::Failure;
use crate::text::size;
use clap::Args;
use tracemill_analysis::names_titled;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::{Glob, Pattern, Preset};
use tracemill_pipeline::{ArgsCriterion, Filter};
use tracemill_trace::time::{Duration, TimePoint};

pub(super) const ABOUT: &str = "\
Keeps the events that match, in the order of the input, with their original bytes.

An event must match every kind of criterion that is given, and one value of each. Metadata events (ph M) always stay. \
Related events stay or go together: an E with its B (paired per thread, in time order); async, flow and object events \
with all events of their id (one match is enough); all chunks of a CPU profile with its Profile event. -v and --report \
count what each criterion removed. A pattern, id, category or phase that matches nothing gets a warning that lists the \
values of the trace. The status is 1 if only metadata is left. DevTools annotations are dropped and counted.

Durations: an event without a duration counts as 0; a B without an E lasts to the end of the trace. Async operations \
(b and e, S and F) of one id are judged one by one; other events of that id follow the longest operation. Flows and \
objects last from the first to the last event of their id. Times: a bare number is in microseconds; units are ns, us, \
ms, s, m and h. --from and --to count from the trace start, which is the smallest ts of all events except metadata (a \
lone 0 far before the others does not count); @T is a timestamp of the trace. An event without a time is in no window.

Use --invert for what grep -v does: -v prints more messages here, as for every verb.

--drop LIST matches names of events, categories, processes and threads:
  network     Resource*, WebSocket*, URLLoader::*, ThrottlingURLLoader::*,
              CorsURLLoader*, MojoURLLoaderClient::*, network::*; net, netlog;
              the process of the network service
  gpu         GPUTask; gpu, gpu.*, viz, viz.*; CrGpuMain,
              VizCompositorThread, GpuMemoryThread, GpuWatchdog; the GPU
              Process
  animation   Animation, AnimationFrame*, Request-, Cancel- and
              FireAnimationFrame, PageAnimator::*; blink.animations
  threadpool  ThreadPool_*; threads named ThreadPool*, TaskScheduler*
  compile     v8.compile*, v8.parse*, V8.PreParse, v8.streamingCompile*,
              V8.Optimize*, V8.Maglev*, v8.produceCache*, v8.wasm.*,
              BackgroundCompileTask::*; disabled-by-default-v8.compile";

pub(super) const EXAMPLES: &str = "\
Examples:
  The main threads of all renderers, without events shorter than 1 ms:
    tracemill filter --thread '^CrRendererMain' --min-dur 1ms trace.json -o main.json

  Garbage collection in the first minute:
    tracemill filter --name GC --to 1m trace.json -o gc.json

  Small enough for DevTools, keeping the longest events:
    tracemill filter --shrink-to devtools --for devtools huge.json -o fits.json

  Clicks, and the events of one script:
    tracemill filter --name EventDispatch --args data.type=click trace.json -o clicks.json
    tracemill filter --args 'data.url~/app[.]js$' trace.json -o app.json

  Smaller, without stacks and the code of scripts:
    tracemill filter --drop-args data.stackTrace,beginData.stackTrace trace.json -o less.json

  Two processes without one of their threads:
    tracemill filter --pid 4711,4712 trace.json | tracemill filter --invert --tid 4715 -o most.json

  Everything except network and GPU, one event per line:
    tracemill filter --drop network,gpu --format ndjson trace.json | head";

/// Flags of `filter`.
#[derive(Debug, Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) viewer: ViewerArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Criteria for events to keep.
#[derive(Debug, Args)]
#[command(next_help_heading = "Criteria")]
pub(crate) struct CriteriaArgs {
    /// Only these processes: ids and ranges such as 1,2,5-9; "" is no id
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) pid: Vec<IdSet>,
    /// Only these threads
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) tid: Vec<IdSet>,
    /// Only processes whose name (process_name) matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) process: Vec<Pattern>,
    /// Only threads whose name (thread_name) matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) thread: Vec<Pattern>,
    /// Only these phases, such as X,B,E
    ///
    /// An E always follows its B; async, flow and object events follow the others of their id.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ph: Vec<String>,
    /// Only these categories: exact, or with * and ?
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) cat: Vec<Glob>,
    /// Only events whose name matches; ^ and $ anchor it
    ///
    /// Names of the trace and names of DevTools both match: RunTask and Task.
    #[arg(long, value_name = "REGEX")]
    pub(crate) name: Vec<Pattern>,
    /// Only events with this value in args, or KEY~REGEX: data.type=click, data.url~^https:
    ///
    /// KEY is a path of names, separated by dots. VALUE equals a string, a number (1 is 1.0), true,
    /// false or null; REGEX matches anywhere in strings unless anchored. With several values for one
    /// KEY one must match; for different KEYs each must match.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) args: Vec<ArgsCriterion>,
    /// Ignore case in --process, --thread, --name and --cat
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Only events that last at least this long, such as 100us
    #[arg(long, value_name = "TIME")]
    pub(crate) min_dur: Option<Duration>,
    /// Only events that last at most this long
    #[arg(long, value_name = "TIME")]
    pub(crate) max_dur: Option<Duration>,
    /// Start at T after the trace start, or at timestamp @T [default: trace start]
    ///
    /// Events that end later stay.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<TimePoint>,
    /// End at T, counted like --from [default: trace end]
    ///
    /// Events that begin earlier stay.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<TimePoint>,
    /// Only the thread and time of the event with this key (r-12), as report and tree --log print it
    ///
    /// The inputs are read twice.
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to", "pid", "tid"])]
    pub(crate) event: Option<String>,
    /// Leave out groups of events: network, gpu, animation, threadpool, compile
    ///
    /// The description above lists what belongs to each.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choices(Preset::ALL.map(|preset| (preset.name(), preset, ""))))]
    pub(crate) drop: Vec<Preset>,
    /// Remove these members of args, such as data.stackTrace, from all events except metadata
    ///
    /// Names of members are separated by dots. --shrink-to counts the original size of events.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub(crate) drop_args: Vec<String>,
    /// Keep the events that do not match, like grep -v
    #[arg(long, visible_alias = "invert-match")]
    pub(crate) invert: bool,
    /// Keep the longest matching events that fit: a size (400M) before packing, devtools or perfetto
    ///
    /// devtools is 511M (it refuses 512 MiB), perfetto is 500M (larger traces have exhausted the memory
    /// of its page). With --for the events that the viewer needs count too.
    #[arg(long, value_name = "SIZE", value_parser = size_to_fit)]
    pub(crate) shrink_to: Option<u64>,
}

/// Parses a size. The name of a viewer means the largest size that the viewer opens.
fn size_to_fit(text: &str) -> Result<u64, String> {
    match text {
        "devtools" => Ok(511 << 20),
        "perfetto" => Ok(500 << 20),
        _ => size::parse(text).map_err(|wrong| {
            format!("{wrong}; or devtools or perfetto, for the largest size that these open")
        }),
    }
}

impl CriteriaArgs {
    /// Returns the filter for these flags. `--event` is not included, because it needs the inputs.
    ///
    /// # Errors
    /// Returns an error if the names are too many for one expression.
    pub(crate) fn filter(&self) -> Result<Filter, Failure> {
        let united = |sets: &[IdSet]| {
            let mut sets = sets.iter();
            let mut all = sets.next()?.clone();
            sets.for_each(|set| all.extend(set));
            Some(all)
        };
        let names = self.name.iter().map(|pattern| self.both_names(pattern));
        Ok(Filter {
            events: None,
            pid: united(&self.pid),
            tid: united(&self.tid),
            process: self.process.clone(),
            thread: self.thread.clone(),
            ph: self.ph.clone(),
            cat: self.cat.clone(),
            name: names.collect::<Result<_, String>>().map_err(Failure::Usage)?,
            args: self.args.clone(),
            ignore_case: self.ignore_case,
            min_dur: self.min_dur,
            max_dur: self.max_dur,
            from: self.from,
            to: self.to,
            drop: self.drop.clone(),
            drop_args: self.drop_args.clone(),
            invert: self.invert,
            shrink_to: self.shrink_to,
        })
    }

    /// Returns a pattern that also matches the names that DevTools shows.
    fn both_names(&self, pattern: &Pattern) -> Result<Pattern, String> {
        let case = if self.ignore_case { "(?i)" } else { "" };
        let title: Pattern = format!("{case}{}", pattern.as_str()).parse()?;
        pattern.clone().or(&names_titled(|name| title.is_match(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_to_fit_are_bytes_or_viewers() {
        assert_eq!(size_to_fit("devtools"), Ok(511 << 20));
        assert_eq!(size_to_fit("perfetto"), Ok(500 << 20));
        assert_eq!(size_to_fit("400M"), Ok(400 << 20));
        assert!(size_to_fit("speedscope").unwrap_err().contains("or devtools or perfetto"));
    }
}
