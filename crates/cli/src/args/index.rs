//! Flags of `index`, and the flag by which other verbs are told of indexes.

use super::{InputArgs, LimitArgs, MessageArgs, OutputArgs};
use clap::Args;
use std::convert::Infallible;
use std::path::PathBuf;
use tracemill_pipeline::{IndexConfig, IndexUse};

pub(super) const ABOUT: &str = "\
Writes an index beside each trace, trace.json.tmi, from which other verbs answer at once what is in the trace, however large that is: \
`info` in milliseconds instead of seconds a gigabyte. What they answer is the same with and without it.

An index has what `info` says, the threads, the keys beside the events, and where in the file which times are. It takes at most 1/128 of the \
trace, or 64 KiB. It is made in one pass over the trace, as fast as `info` takes, and is the same to the byte whatever the threads and the \
memory.

An index that is fresh is left alone. One whose trace has changed is not used, and a warning says so; `tracemill index` makes it anew. \
Of traces of more than 16 MiB only the ends and 64 places between are compared, with the time of the last change: so one that was copied \
without its time is read, unless its index is named with --index.

A pipe has no index (status 2). A damaged trace gets one, and its losses are told (status 1).";

pub(super) const EXAMPLES: &str = "\
Examples:
  Once, and all that is asked later is answered at once:
    tracemill index trace.json && tracemill info trace.json

  Each trace of a folder:
    tracemill index logs/

  What is in the index, and how much of the trace a window of time would read?
    tracemill index --print trace.json

  Is it still what would be made of the trace?
    tracemill index -f trace.json && tracemill index --verify trace.json";

/// Flags of `index`.
#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Write the index of the one INPUT to FILE [default: INPUT.tmi]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Make indexes anew that are fresh, and replace files that are no indexes
    #[arg(short, long, help_heading = "Output")]
    force: bool,
    /// Write nothing: make it again, and compare (status 3 if it differs)
    #[arg(long, help_heading = "Output", conflicts_with = "force")]
    verify: bool,
    /// Say what is in each index, and how much of the trace windows of a hundredth of its time touch
    #[arg(long, help_heading = "Output", conflicts_with = "verify")]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
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
    /// What is written is the same. -v says how much was read, or why all of it.
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
