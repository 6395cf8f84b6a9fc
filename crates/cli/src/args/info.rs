//! Flags of `info`, and the longer texts of its help.

use super::index::index_use;
use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use tracemill_inspect::info::InfoConfig;
use tracemill_join::config::IndexUse;

pub(super) const ABOUT: &str = "\
Says what is in a trace, in six lines: its size and duration, the busiest threads, the names that take most time and \
most bytes, its CPU profiles, whether DevTools opens it (and if not, the command that mends it), and what is \
damaged. A thread is busy while any of its slices is open; each moment counts once. Of traces of more than 64 MiB \
the line has sums of durations, in which calls within calls count again; --full finds how busy their threads are.

--top N adds everything else: time bounds, the first and last event, density over time, gaps, order, phases, \
processes and threads, names and categories by bytes and by time, CPU profiles, keys beside the events. --json and \
--markdown always have all of that.

The inputs are read once, as if merged; memory grows with the number of their threads, not of their events. All \
figures are exact, whatever the order of the events; durations count in whole nanoseconds.

time is the sum of `dur`, in which nested events count again. An event with several categories counts under each. \
Density, gaps, first and last are about real events: no metadata, and a ts other than 0. A gap is a stretch in which \
no event begins or lasts; those shorter than about a two-thousandth of the trace are not looked for.

--full takes about three times as long. It adds self times: each moment of a thread belongs to the innermost open \
slice (X, or B until its E), so the self times of a thread add up to its busy time. It also adds the keys of args, \
with those one level down (data.frame), by their bytes and by the time of their events.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What is in this file, and does DevTools open it?
    tracemill info trace.json

  All of it: processes and threads, gaps, phases, names
    tracemill info --top 10 trace.json

  What makes it so big, and where does the time go?
    tracemill info --full --top 20 trace.json

  One key of the metadata, at once:
    tracemill info --get metadata.command_line trace.json

  As tables to paste into an issue:
    tracemill info --markdown trace.json

  Is anything damaged? The status is 1 if so:
    tracemill info -q trace.json > /dev/null || echo damaged

  A trace that you ask often:
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
    /// Whether to ask the index of a trace instead of reading it: auto (where it can answer), never, or FILE
    ///
    /// The answer is the same. With --full, --strict or several inputs the trace is always read.
    #[arg(long, value_name = "auto|never|FILE", default_value = "auto", value_parser = index_use, help_heading = "Input")]
    pub(crate) index: IndexUse,
    /// Also everything else, with self times of threads and names, and keys of args; takes three times as long
    #[arg(long, help_heading = "What is said")]
    full: bool,
    /// Also everything else except those, with N rows in each list of names and of gaps [default: 10]
    #[arg(long, value_name = "N", help_heading = "What is said",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Only the value of KEY beside the events, such as metadata.command_line, as it stands
    ///
    /// KEY is names with dots between them; numbers count elements of lists from 0. If it stands before the events, nothing else of the file is read, however large it is. Each input that has it gets a line. If none has it, the status is 1, and a warning says what keys there are.
    #[arg(long, value_name = "KEY", help_heading = "What is said", conflicts_with_all = ["full", "top", "json", "markdown", "report"])]
    pub(crate) get: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON: everything, in a stable form
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write tables in Markdown, to paste into an issue
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl InfoArgs {
    /// What the pipeline takes.
    pub(crate) fn wanted(&self) -> InfoConfig {
        let top = self.top.map_or(10, |top| top as usize);
        InfoConfig { top, full: self.full, self_times: !self.json && !self.markdown }
    }

    /// Whether the text has lists behind its first lines.
    pub(crate) fn lists(&self) -> bool {
        self.full || self.top.is_some()
    }
}
