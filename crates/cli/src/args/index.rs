//! Flags of `index`, and the flag by which other verbs are told of indexes.

use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use std::convert::Infallible;
use std::path::PathBuf;
use tracemill_index::IndexConfig;
use tracemill_join::config::IndexUse;

pub(super) const ABOUT: &str = "\
Writes an index beside each trace, trace.json.tmi, from which other verbs answer at once, however large the trace \
is: `info` takes milliseconds instead of seconds per gigabyte. The answers are the same with and without it.

An index holds what `info` says, the threads, the keys beside the events, and which times stand where in the file. \
It takes at most 1/128 of the trace, or 64 KiB. Making it takes one pass over the trace, as fast as `info`, and \
gives the same bytes whatever the threads and the memory.

An index that is up to date is left alone. If the trace has changed since, the index is not used, and a warning says \
so; `tracemill index` makes a new one. In traces of more than 16 MiB only both ends and 64 places between are \
compared, along with the time of the last change: so a copy with another time is read in full, unless --index names \
its index.

Of zstd in several frames (as -z zst writes them) and gzip of several members, parts are unpacked without the rest. \
Any other packed trace is read as a whole: convert it once with -z zst.

A pipe cannot have an index (status 2). A damaged trace gets one, and its losses are reported (status 1).";

pub(super) const EXAMPLES: &str = "\
Examples:
  Make it once, and later answers come at once:
    tracemill index trace.json && tracemill info trace.json

  Each trace of a folder:
    tracemill index logs/

  What is in the index, and how much of the trace a window of time would read?
    tracemill index --print trace.json

  Is the index still right?
    tracemill index -f trace.json && tracemill index --verify trace.json";

/// Flags of `index`.
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Write the index of the one INPUT to FILE [default: INPUT.tmi]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Make a new index even where there is a fresh one, and replace files that are no indexes
    #[arg(short, long, help_heading = "Output")]
    force: bool,
    /// Write nothing: make the index again and compare (status 3 if it differs)
    #[arg(long, help_heading = "Output", conflicts_with = "force")]
    verify: bool,
    /// Say what is in each index, and how much of the trace a window of a hundredth of its time would read
    #[arg(long, help_heading = "Output", conflicts_with = "verify")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl IndexArgs {
    /// What the pipeline takes.
    pub(crate) fn wanted(&self) -> IndexConfig {
        let (output, replace) = (self.output.clone(), self.force);
        IndexConfig { output, replace, verify: self.verify, reach: self.print }
    }

    /// Where it goes, as other verbs have it.
    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs { output: self.output.clone(), force: self.force }
    }
}

/// Whether an index says what to read.
#[derive(Debug, Args)]
pub(crate) struct IndexFlag {
    /// Whether the index of a trace says which parts of it to read: auto (where it can), never, or FILE
    ///
    /// The answer is the same. -v says how much was read, or why all of it.
    #[arg(long, value_name = "auto|never|FILE", default_value = "auto", value_parser = index_use, help_heading = "Input")]
    pub(crate) index: IndexUse,
}

/// `auto`, `never`, or a file.
pub(super) fn index_use(text: &str) -> Result<IndexUse, Infallible> {
    Ok(match text {
        "auto" => IndexUse::Auto,
        "never" => IndexUse::Never,
        path => IndexUse::File(path.into()),
    })
}
