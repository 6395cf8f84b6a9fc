//! Flags of `filter`.

use super::choices::choices;
use super::{CommonArgs, InputArgs, OutputArgs, TraceArgs, ViewerArgs};
use crate::exit::Failure;
use crate::size;
use clap::Args;
use tracemill_analysis::names_titled;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::{Glob, Pattern, Preset};
use tracemill_pipeline::{ArgsCriterion, Filter};
use tracemill_trace::time::{Duration, TimePoint};

pub(super) const ABOUT: &str = "\
Keeps the events that match, in the order of the input, with the bytes they were read with.

An event must match all kinds of criteria that are given, and one value of each. Metadata events (ph M) always stay. \
Things that belong together stay or go together: an E with its B (paired per thread, in time order); async, flow and \
object events with all that share their id (one match is enough); a CPU profile with all its chunks, like its Profile \
event. -v and --report say what was left out, and by which criterion. A pattern, id, category or phase that matches nothing in the trace gets a warning that names what there \
is. The status is 1 if only metadata is left. DevTools annotations are left out, and counted.

Durations: an event without one lasts 0; a B without an E lasts to the end of the trace. Async operations (b and e, S and \
F) of one id have durations and times of their own, and stay or go one by one; what else has their id goes by the longest. \
Flows and objects last from the first to the last event of their id. Times: a bare number is \
microseconds; ns, us, ms, s, m and h may follow. --from and --to count from the start of the trace, which is the \
smallest ts of all events but metadata (a lone 0 far before all others does not count); with @ they are time stamps \
as written. An event without a time lies in no window.

For what grep -v does use --invert: -v says more here, as for every verb.

--drop knows these by the names of events, categories, processes and threads:
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
  The main threads of all renderers, without what is shorter than 100 µs:
    tracemill filter --thread '^CrRendererMain' --min-dur 100us trace.json -o main.json

  Garbage collection in the first minute:
    tracemill filter --name 'GC' --to 1m trace.json -o gc.json

  Clicks, and what one script did:
    tracemill filter --name EventDispatch --args data.type=click trace.json -o clicks.json
    tracemill filter --args 'data.url~/app[.]js$' trace.json -o app.json

  Smaller, without stacks and the code of scripts:
    tracemill filter --drop-args data.stackTrace,beginData.stackTrace trace.json -o less.json

  Two processes without one of their threads:
    tracemill filter --pid 4711,4712 trace.json | tracemill filter --invert --tid 4715 -o most.json

  Small enough for DevTools, keeping what takes longest:
    tracemill filter --shrink-to devtools --for devtools huge.json -o fits.json

  All but network and GPU, one event per line:
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

/// Which events stay.
#[derive(Debug, Args)]
#[command(next_help_heading = "Criteria")]
pub(crate) struct CriteriaArgs {
    /// Events of these processes: numbers, ranges, strings, such as 1,2,5-9; "" is the id of what has none
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) pid: Vec<IdSet>,
    /// Events of these threads
    #[arg(long, value_name = "IDS", allow_hyphen_values = true)]
    pub(crate) tid: Vec<IdSet>,
    /// Events of processes whose name (process_name) matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) process: Vec<Pattern>,
    /// Events of threads whose name (thread_name) matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) thread: Vec<Pattern>,
    /// Events of these phases, such as X,B,E
    ///
    /// An E always goes with its B, and async, flow and object events with those of their id.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) ph: Vec<String>,
    /// Events of these categories: exact, or with * and ?
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) cat: Vec<Glob>,
    /// Events whose name matches, in the trace or in DevTools (RunTask or Task), anywhere unless anchored with ^ and $
    #[arg(long, value_name = "REGEX")]
    pub(crate) name: Vec<Pattern>,
    /// Events with this value in args: KEY=VALUE, or KEY~REGEX, such as data.type=mousedown or data.url~^https:
    ///
    /// KEY has dots between names of members. VALUE equals a string, a number (1 is 1.0), true, false or null; REGEX matches strings anywhere unless anchored. Of several with one KEY one must match, of different KEYs each.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) args: Vec<ArgsCriterion>,
    /// Ignore case in --process, --thread, --name and --cat
    #[arg(short, long)]
    pub(crate) ignore_case: bool,
    /// Events that last at least this long
    #[arg(long, value_name = "TIME")]
    pub(crate) min_dur: Option<Duration>,
    /// Events that last at most this long
    #[arg(long, value_name = "TIME")]
    pub(crate) max_dur: Option<Duration>,
    /// Events that are not over at this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) from: Option<TimePoint>,
    /// Events that begin before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) to: Option<TimePoint>,
    /// Events of the thread and time of this event or call: its key, as report and tree --log print it (r-3724); the inputs are read twice
    #[arg(long, value_name = "KEY", conflicts_with_all = ["from", "to", "pid", "tid"])]
    pub(crate) event: Option<String>,
    /// Leave out events that belong to these
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choices(Preset::ALL.map(|own| (own.name(), own, ""))))]
    pub(crate) drop: Vec<Preset>,
    /// Leave these members of args out of the events that stay, such as data.stackTrace; metadata keeps its own
    ///
    /// Dots stand between names of members. --shrink-to counts events as they were.
    #[arg(long, value_name = "KEYS", value_delimiter = ',')]
    pub(crate) drop_args: Vec<String>,
    /// Keep what would be left out and leave out the rest, as grep -v does
    #[arg(long, visible_alias = "invert-match")]
    pub(crate) invert: bool,
    /// Keep only the longest of the events that match, so that the output has at most this size before packing
    ///
    /// A size such as 400M, or the largest that a viewer opens: devtools is 511M (it refuses 512 MiB), perfetto is 500M (with more its page has run out of memory). With --for what the viewer needs counts too.
    #[arg(long, value_name = "SIZE", value_parser = size_to_fit)]
    pub(crate) shrink_to: Option<u64>,
}

/// A size, or the name of a viewer that opens at most that.
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
    /// What the pipeline takes; but for `--event`, which the inputs tell.
    ///
    /// # Errors
    /// For names that are too many for one expression.
    pub(crate) fn filter(&self) -> Result<Filter, Failure> {
        let united = |sets: &[IdSet]| {
            let mut sets = sets.iter();
            let mut all = sets.next()?.clone();
            sets.for_each(|set| all.extend(set));
            Some(all)
        };
        let names = self.name.iter().map(|pattern| self.both_names(pattern));
        Ok(Filter {
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

    /// A pattern that finds events by what DevTools calls them too.
    fn both_names(&self, pattern: &Pattern) -> Result<Pattern, String> {
        let case = if self.ignore_case { "(?i)" } else { "" };
        let title: Pattern = format!("{case}{}", pattern.as_str()).parse()?;
        pattern.clone().or(&names_titled(|own| title.is_match(own)))
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
