//! Flags of `view`.

use super::{InputArgs, LimitArgs, MessageArgs};
use clap::Args;
use std::time::Duration;

pub(super) const ABOUT: &str = "\
Shows traces of any size in a browser: an overview of the whole trace, each process and thread with its rows, zoom \
to the nanosecond, search, and sums of a window. It also hands a window on to Perfetto, the Firefox Profiler or \
DevTools, or saves it as a file.

The command reads the trace once, at scanning speed, and then answers the page, which opens at once: drawing costs \
as much as the pixels, not as the events. Lists (36 bytes per interval) that exceed the memory (-m) go to the folder \
of -T. Several inputs, and folders, are shown as one trace, as `tracemill merge` makes it: equal pids of different recordings are different \
processes, and clocks that differ are put on one line.

The address, with a secret in it, goes to standard output. Only this machine can connect, and only with the secret; \
no other host is ever asked. On a remote machine give --no-open --port 8080, and on your own run `ssh -L \
8080:127.0.0.1:8080 HOST`.

Ctrl-C ends it.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Look at a trace that no viewer opens:
    tracemill view trace.json

  On a machine without a browser; ends when nobody has asked for half an hour:
    tracemill view trace.json.gz --no-open --port 8080 --idle 30m

  In 256 MiB of memory, with lists on a fast disk:
    tracemill view huge.json -m 256M -T /mnt/scratch";

/// Flags of `view`.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Listen on this port of 127.0.0.1 [default: any that is free]
    #[arg(
        long,
        value_name = "PORT",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Server"
    )]
    pub(crate) port: u16,
    /// Open no browser, only print the address
    #[arg(long, help_heading = "Server")]
    pub(crate) no_open: bool,
    /// End when nobody has asked for this long, such as 30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Server")]
    pub(crate) idle: Option<Duration>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed: tracemill_pipeline::Duration = text.parse()?;
    Ok(Duration::from_nanos(parsed.0.unsigned_abs()))
}
