//! Flags of `index`, and the flag `--index` of other commands.

use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use std::convert::Infallible;
use std::path::PathBuf;
use tracemill_index::IndexConfig;
use tracemill_join::config::IndexUse;

pub(super) const ABOUT: &str = "\
Writes an index next to each trace: trace.json.tmi. With it other verbs read only the parts of the trace that they \
need: `info` takes milliseconds instead of seconds per gigabyte. The results are the same with and without an index.

An index contains the results of `info`, the threads, the top-level keys, and the file offsets of all time ranges. \
Its size is at most 1/128 of the trace, or 64 KiB. Writing it takes one pass over the trace and gives the same bytes \
whatever the number of threads and the memory.

A current index is not written again. If the trace has changed since, other verbs read the whole trace and warn; \
`tracemill index` writes a new index. For traces of more than 16 MiB only both ends and 64 places between are \
compared, and the modification time. A copy with another modification time is therefore read in full, unless \
--index names its index.

Traces compressed as zstd in several frames (-z zst writes these) or gzip in several members are decompressed in \
parts. Other compressed traces are read as a whole: convert them once with -z zst.

A pipe cannot have an index (status 2). A damaged trace can, and its losses are reported (status 1).";

pub(super) const EXAMPLES: &str = "\
Examples:
  Index once; info then takes milliseconds:
    tracemill index trace.json && tracemill info trace.json

  Each trace of a folder:
    tracemill index logs/

  Print the index, and how much of the trace a window reads:
    tracemill index --print trace.json

  Check the index against the trace:
    tracemill index -f trace.json && tracemill index --verify trace.json";

/// Flags of `index`.
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Write the index of a single INPUT to FILE [default: INPUT.tmi]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write a new index even if the old one is current, and replace files that are not indexes
    #[arg(short, long, help_heading = "Output")]
    force: bool,
    /// Write nothing: compute the index again and compare (status 3 if it differs)
    #[arg(long, help_heading = "Output", conflicts_with = "force")]
    verify: bool,
    /// Print what each index contains, and how much of the trace a 1 % window reads
    #[arg(long, help_heading = "Output", conflicts_with = "verify")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl IndexArgs {
    /// Returns the configuration of the index.
    pub(crate) fn wanted(&self) -> IndexConfig {
        let (output, replace) = (self.output.clone(), self.force);
        IndexConfig { output, replace, verify: self.verify, reach: self.print }
    }

    /// Returns the output file in the form that other commands use.
    pub(crate) fn output(&self) -> OutputArgs {
        OutputArgs { output: self.output.clone(), force: self.force }
    }
}

/// The flag `--index`.
#[derive(Debug, Args)]
pub(crate) struct IndexFlag {
    /// Use the index of the trace: auto (if it is current), never, or FILE
    ///
    /// The result is the same. -v prints how much of the trace was read, or why all of it was.
    #[arg(long, value_name = "auto|never|FILE", default_value = "auto", value_parser = index_use, help_heading = "Input")]
    pub(crate) index: IndexUse,
}

/// Parses `auto`, `never`, or a file.
pub(super) fn index_use(text: &str) -> Result<IndexUse, Infallible> {
    Ok(match text {
        "auto" => IndexUse::Auto,
        "never" => IndexUse::Never,
        path => IndexUse::File(path.into()),
    })
}
