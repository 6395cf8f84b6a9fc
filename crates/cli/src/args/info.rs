//! Flags of `info`, and the longer texts of its help.

use super::index::index_use;
use super::{InputArgs, LimitArgs, MessageArgs, OutputArgs};
use clap::Args;
use tracemill_pipeline::{IndexUse, InfoConfig};

pub(super) const ABOUT: &str = "\
Says what is in a trace, in six lines: how much there is and how long it lasts, the busiest threads, the names that take \
most time and most bytes, CPU profiles, whether DevTools opens it and, if not, the command that mends it; and what is damaged. \
Busy is a thread while any of its slices is open, each moment counted once; in traces of more than 64 MiB calls within calls count \
again, which is said, unless --full is given.

--top N adds everything else: time bounds, the first and last event, density over time, gaps, order, phases, \
processes and threads, names and categories by bytes and by time, CPU profiles, keys beside the events. --json and --markdown \
always have all of that.

Reads the inputs once, as if merged, in memory that grows with the number of threads in them, not of events. All figures \
are exact, whatever the order of events and however many names there are; durations count in whole nanoseconds.

time is the sum of `dur`, nested events counted again. An event of several categories counts under each. Density, gaps, \
first and last are of real events: no metadata, and a ts other than 0. A gap is a stretch in which none begins or lasts; \
those shorter than about a two-thousandth of the trace are not looked for.

--full takes about three times as long. It adds self times: each moment of a thread belongs to the slice (X, or B until its E) \
that began last among those open, so that of a thread they sum up to the time in which any slice is open; and the keys \
of args, with those one level down (data.frame), by the bytes of key and value and by the time of their events.";

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

  To be pasted into an issue:
    tracemill info --markdown trace.json

  Is anything damaged? The status is 1 if so:
    tracemill info -q trace.json > /dev/null || echo damaged

  Of a trace that is asked often:
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
    /// Whether the index of a trace is asked instead of reading it: auto (where it can answer), never, or FILE
    ///
    /// What is said is the same. --full, --strict and several inputs are always read.
    #[arg(long, value_name = "auto|never|FILE", default_value = "auto", value_parser = index_use, help_heading = "Input")]
    pub(crate) index: IndexUse,
    /// Also everything else, with self times of threads and names, and keys of args: takes three times as long
    #[arg(long, help_heading = "What is said")]
    full: bool,
    /// Also everything else but those, with N rows of each list of names, and of gaps [default: 10]
    #[arg(long, value_name = "N", help_heading = "What is said",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: Option<u32>,
    /// Only the value of KEY beside the events, such as metadata.command_line, as it is written
    ///
    /// Names with dots between them; numbers count elements of lists from 0. Where it stands before the events of a file nothing else
    /// is read, however large that is. One line for each input that has it. If none has it, the status is 1, and a warning says
    /// what keys there are.
    #[arg(long, value_name = "KEY", help_heading = "What is said", conflicts_with_all = ["full", "top", "json", "markdown", "report"])]
    pub(crate) get: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON: everything, in a stable form
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Write tables in Markdown, to be pasted into an issue
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) markdown: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
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
