//! Flags of `report`.

use super::choices::choices;
use super::gate_report::Gate;
use super::parts::{PartArgs, TimesFlag};
use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use tracemill_analysis::{DeviceRules, Producer};
use tracemill_trace::time::Duration;

pub(super) const ABOUT: &str = "\
Says what is slow: one page on a trace or a CPU profile, in sections that suit what wrote it.

web has what users of a page wait for (FCP, LCP, INP, CLS and their parts, as in DevTools), network the slowest requests. \
hot lists functions and events by self time, threads how busy each thread is and with what. tasks are those of Chrome of more than 50 ms, \
which keep a page from answering, reflow is what scripts force in them; blocks are stretches of 50 ms and more in which a CPU profile is never idle, which keep a server \
from answering. phases, critical-path and actions are those of Bazel; sources, templates, functions and headers those of clang \
(-ftime-trace, one file or a folder). gpu, gpu-types, gpu-idle and kernels say of PyTorch how long devices compute, communicate and wait, \
what overlaps, why streams are idle, and which kernels take the time, as HTA does. slices says of other traces how long single events of a name last, counters the greatest values of counters.

What wrote a trace is told by its events; --as overrides that. Each row ends with the command that shows more. Times are those of top and tree, \
whose flags for threads and windows report has too. What cannot be told is said, and why.

--fail-on ends with status 5 if a limit is broken: 'lcp>2.5s', 'blocking>200ms', 'self:^run$>50ms', 'count:GC>100', 'gpu.overlap<60'. self, total and count are of the rows of \
top, all others of the whole report. A limit on a name that no row has is broken, and so is one on what cannot be \
told, or on a window without events.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What is slow?
    tracemill report trace.json.gz

  What kept the event loops of a server and its workers:
    tracemill report profiles/

  For an issue, or for an agent:
    tracemill report --markdown server.json

  Three rows a section, of the main thread between two times:
    tracemill report -n 3 --main --from 60ms --to 160ms server.json

  A gate in CI:
    tracemill report -q server.json --fail-on 'gc>1s' --fail-on 'self:GC>500ms' -o report.txt

  Ranks of a PyTorch job beside each other:
    tracemill report -n 8 rank0.json rank1.json

  The sections and their figures:
    tracemill report --json server.json | jq -c '.sections[] | [.id, .figures]'";

/// Flags of `report`.
#[derive(Debug, Args)]
#[command(mut_arg("times", |own| own.default_value("devtools")))]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// What wrote the trace [default: what its events tell]
    #[arg(long = "as", value_name = "PRODUCER", value_parser = choices(Producer::ALL.map(|own| (own.name(), own, ""))), help_heading = "Input")]
    pub(crate) producer: Option<Producer>,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// How many rows a section has
    #[arg(short = 'n', long = "top", value_name = "N", default_value = "5", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: u32,
    /// Below this the time between two kernels of a stream is the cost of launching them (kernel wait), unless the host was late
    #[arg(
        long,
        value_name = "TIME",
        default_value = "30us",
        allow_hyphen_values = true,
        help_heading = "Devices"
    )]
    pub(crate) kernel_gap: Duration,
    /// drop: leave out kernels that are launched in the last step, which is often incomplete, as HTA does
    #[arg(long, value_name = "WHAT", default_value = "keep", value_parser = ["keep", "drop"], help_heading = "Devices")]
    pub(crate) last_step: String,
    /// End with status 5 if this limit is broken: 'blocking>200ms'; may be given several times
    #[arg(long, value_name = "TERMS", help_heading = "Limits of the trace")]
    pub(crate) fail_on: Vec<Gate>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: ReportFormArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// How the report is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct ReportFormArgs {
    /// Write JSON: every bit of every number, in a stable form
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Write tables in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

impl ReportArgs {
    /// How devices are looked at.
    pub(crate) fn device_rules(&self) -> DeviceRules {
        DeviceRules { kernel_gap: self.kernel_gap.0, drop_last_step: self.last_step == "drop" }
    }

    /// Words of a command line that reads the same inputs.
    pub(crate) fn input_words(&self) -> Vec<String> {
        let InputArgs { inputs, files_from, pid_tid, .. } = &self.input;
        let mut words: Vec<String> = Vec::new();
        for (file, pid, tid) in pid_tid {
            words.extend(["--pid-tid".to_owned(), format!("{}={pid}:{tid}", file.display())]);
        }
        if let Some(list) = files_from {
            words.extend(["--files-from".to_owned(), list.display().to_string()]);
        }
        words.extend(inputs.iter().map(|path| match path.display().to_string() {
            // what looks like a flag is none behind a folder
            name if name.starts_with('-') && name != "-" => format!("./{name}"),
            name => name,
        }));
        words
    }
}
