//! Flags of `info`, and the longer texts of its help.

use super::index::index_use;
use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::IndexUse;

pub(super) const ABOUT: &str = "\
Prints what a trace contains, in six lines: size and duration, the busiest threads, the names that take most time \
and most bytes, CPU profiles, whether DevTools opens it (if not, the command that repairs it), and damage. A thread \
is busy while any of its slices is open; each instant counts once. For traces of more than 64 MiB the line has sums \
of durations, in which nested calls count again; --full computes the busy time.

--top N prints everything else: time bounds, first and last event, density over time, gaps, order, phases, processes \
and threads, names and categories by bytes and by time, CPU profiles, top-level keys. --json and --markdown always \
include all of that.

The inputs are read once, as if merged. Memory grows with the number of threads, not with the number of events. All \
figures are exact, whatever the order of the events; durations count in whole nanoseconds.

time is the sum of `dur`, in which nested events count again. An event with several categories counts in each of \
them. Density, gaps, first and last leave out metadata and events at time 0. A gap is a range without events; gaps \
shorter than about 1/2000 of the trace are not looked for.

--full takes about three times as long. It adds self times: each instant of a thread counts for the innermost open \
slice (X, or B until its E), so the self times of a thread add up to its busy time. It also adds the keys of args, \
down to the second level (data.frame), by bytes and by the time of their events.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What does this trace contain, and does DevTools open it?
    tracemill info trace.json

  All details: processes and threads, gaps, phases, names:
    tracemill info --top 10 trace.json

  What makes the file large, and where does the time go?
    tracemill info --full --top 20 trace.json

  Print one key of the metadata:
    tracemill info --get metadata.command_line trace.json

  Markdown tables for an issue:
    tracemill info --markdown trace.json

  Is anything damaged? Then the status is 1:
    tracemill info -q trace.json > /dev/null || echo damaged

  A trace that you inspect often:
    tracemill index trace.json && tracemill info trace.json

  Busiest thread of each process:
    tracemill info --json trace.json | jq '.processes[] | [.name, .threads[0].name]'

  A packed trace from elsewhere:
    ssh host cat trace.json.zst | tracemill info";

/// Flags of `info`.
#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Use the index of the trace: auto (if it is current), never, or FILE
    ///
    /// The result is the same. With --full, --strict or several inputs the trace is always read.
    #[arg(long, value_name = "auto|never|FILE", default_value = "auto", value_parser = index_use, help_heading = "Input")]
    pub(crate) index: IndexUse,
    /// Print all details with self times and keys of args (takes three times as long)
    #[arg(long, help_heading = "Contents")]
    full: bool,
    /// Print all other details, with N rows per list [default: 10]
    #[arg(long, value_name = "N", help_heading = "Contents",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Print only the value of a top-level KEY, such as metadata.command_line
    ///
    /// KEY is a path of names, separated by dots; numbers count the elements of lists from 0. The
    /// value is printed as it is in the file. If it comes before the events, the rest of the file is
    /// not read. Each input that has KEY gets a line. If none has it, the status is 1 and a warning
    /// lists the keys.
    #[arg(long, value_name = "KEY", help_heading = "Contents", conflicts_with_all = ["full", "top", "json", "markdown", "report"])]
    pub(crate) get: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON with all fields and exact numbers
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write Markdown tables
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl InfoArgs {
    /// Returns the configuration of the scan.
    pub(crate) fn wanted(&self) -> InfoConfig {
        let top = self.top.map_or(10, |top| top as usize);
        InfoConfig { top, full: self.full, self_times: !self.json && !self.markdown }
    }

    /// Returns whether the text has lists after its summary.
    pub(crate) fn lists(&self) -> bool {
        self.full || self.top.is_some()
    }
}
