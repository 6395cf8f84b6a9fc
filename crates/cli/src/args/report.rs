//! Flags of `report`.

use super::choices::choices;
use super::gate_report::ReportGate;
use super::parts::{PartArgs, TimesFlag};
use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use tracemill_analysis::Producer;
use tracemill_report::DeviceRules;
use tracemill_trace::time::Duration;

pub(super) const ABOUT: &str = "\
Shows what is slow in a trace or CPU profile: one page, with sections that depend on the program that wrote the trace.

  any       hot: functions and events by self time; threads: busy time;
            counters; slices: durations of events by name
  Chrome    web: FCP, LCP, INP, CLS and their parts; insights: DevTools'
            advice; network; third-parties; tasks: longer than 50 ms;
            reflow: forced layouts; frames, animations, timings, interactions,
            layout-shifts, gpu-tasks, extension-tracks, screenshots; memory of
            pages
  Node, V8  services: folders or processes compared; blocks: 50 ms or more
            without an (idle) sample, in which a server cannot answer
  Bazel     phases, critical-path, actions
  clang     sources, templates, functions, headers (-ftime-trace, one file or
            a folder)
  PyTorch   ranks, collectives: waits of ranks for each other; gpu, gpu-types,
            gpu-idle, kernels: compute, communication, overlap and idle time,
            by the rules of HTA

The events show which program wrote the trace; --as overrides that. Each row ends with the command that shows more. \
Times are those of top and tree, whose flags for threads and windows work here too. A metric that cannot be computed is \
listed with the reason.

--fail-on ends with status 5 if a limit is broken: 'lcp>2.5s', 'blocking>200ms', 'self:^run$>50ms', 'count:GC>100', \
'gpu.overlap<60'. self, total and count refer to rows of top, all other metrics to the whole report. A limit is also \
broken if no row has the name, if the metric cannot be computed, or if the window has no events.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What is slow?
    tracemill report trace.json.gz

  What blocked the event loops of a server and its workers:
    tracemill report profiles/

  For an issue or an agent:
    tracemill report --markdown server.json

  The main thread between two times, three rows per section:
    tracemill report -n 3 --main --from 60ms --to 160ms server.json

  A limit in CI:
    tracemill report -q server.json --fail-on 'gc>1s' --fail-on 'self:GC>500ms' -o report.txt

  Which rank of a PyTorch job do the others wait for?
    tracemill report rank0.json rank1.json

  The sections and their figures as JSON:
    tracemill report --json server.json | jq -c '.sections[] | [.id, .figures]'";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(mut_arg("times", |arg| arg.default_value("devtools")))]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// The program that wrote the trace [default: detected from its events]
    #[arg(long = "as", value_name = "PRODUCER", value_parser = choices(Producer::ALL.map(|producer| (producer.name(), producer, ""))), help_heading = "Input")]
    pub(crate) producer: Option<Producer>,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// Show N rows per section
    #[arg(short = 'n', long = "top", value_name = "N", default_value = "5", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: u32,
    /// Count shorter gaps between kernels of a stream as kernel wait, unless the host was late
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30us",
        allow_hyphen_values = true,
        help_heading = "Devices"
    )]
    pub(crate) kernel_gap: Duration,
    /// Keep or drop kernels of the last step, which is often incomplete; HTA drops them
    #[arg(long, value_name = "WHAT", default_value = "keep", value_parser = ["keep", "drop"], help_heading = "Devices")]
    pub(crate) last_step: String,
    /// End with status 5 if this limit is broken, such as 'lcp>2.5s'; repeatable
    #[arg(long, value_name = "TERMS", help_heading = "Limits of the trace")]
    pub(crate) fail_on: Vec<ReportGate>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: ReportFormArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Output format of the report.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportFormArgs {
    /// Write JSON with all fields and exact numbers
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Write Markdown tables
    #[arg(long)]
    pub(crate) markdown: bool,
}

impl ReportArgs {
    /// Returns the rules of the device sections.
    pub(crate) fn device_rules(&self) -> DeviceRules {
        DeviceRules { kernel_gap: self.kernel_gap.0, drop_last_step: self.last_step == "drop" }
    }
}
