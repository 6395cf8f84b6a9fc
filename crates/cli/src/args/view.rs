//! Flags of `view`.

use super::index::IndexFlag;
use super::{CommonArgs, InputArgs};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const ABOUT: &str = "\
Shows traces of any size in a browser: an overview of the whole trace, each process and thread with its rows, zoom \
to the nanosecond, search, and sums of a window. It also hands a window on to Perfetto, the Firefox Profiler or \
DevTools, or saves it as a file.

The page opens at once. A trace with an index (`tracemill index`) is there at once too, whatever its size: what is \
long is drawn as it is, the rest from sums in the index (marked ≈), and a window of fewer than 200,000 events is read \
and drawn to the last. A file of 32 MiB and more gets an index when it is first viewed. Without one (smaller files, several inputs, \
.cpuprofile files, what can only be unpacked as a whole, --index never) the trace is read once, at scanning speed: drawing costs as much as the pixels, not as the \
events; lists (36 bytes per interval) that exceed the memory (-m) go to the folder of -T. Several inputs, and folders, are shown as one trace, as `tracemill merge` makes it: equal pids of different recordings are different \
processes, and clocks that differ are put on one line.

The address, with a secret in it, goes to standard output. Only this machine can connect, and only with the secret; \
no other host is ever asked. On a remote machine give --no-open --port 8080, and on your own run `ssh -L \
8080:127.0.0.1:8080 HOST`; --host with --allow-remote, where that cannot be, sends all in the clear.

Ctrl-C ends it.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Look at a trace that no viewer opens:
    tracemill view trace.json

  On a machine without a browser; ends when nobody has asked for half an hour:
    tracemill view trace.json.gz --no-open --port 8080 --idle 30m

  With DevTools and speedscope at hand:
    npm install speedscope && tracemill view trace.json --devtools --viewers node_modules

  In 256 MiB of memory, with lists on a fast disk:
    tracemill view huge.json -m 256M -T /mnt/scratch";

/// Flags of `view`.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    /// Begin with this event or call: its key, as report and tree --log print it (r-3724); the inputs are read once more
    #[arg(long, value_name = "KEY", help_heading = "Window")]
    pub(crate) event: Option<String>,
    /// Listen on this address of this machine [default: 127.0.0.1]
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        hide_default_value = true,
        help_heading = "Server"
    )]
    pub(crate) host: IpAddr,
    /// Let other machines in, without encryption, if --host says so
    #[arg(long, help_heading = "Server")]
    pub(crate) allow_remote: bool,
    /// Listen on this port [default: any that is free]
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
    /// Show windows in DevTools of a Chromium of its own [default: that on PATH]
    ///
    /// It is started with an empty profile when the first window is handed to it, spoken to over a pipe, and ends with the command.
    #[arg(
        long,
        value_name = "PROGRAM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Viewers"
    )]
    pub(crate) devtools: Option<PathBuf>,
    /// Hand windows to the Perfetto at this address [default: ui.perfetto.dev]
    #[arg(
        long,
        value_name = "URL",
        value_parser = address,
        hide_default_value = true,
        help_heading = "Viewers"
    )]
    pub(crate) perfetto: Option<String>,
    /// Serve the speedscope in this folder (unpacked by `npm install speedscope`), and open windows in it
    #[arg(long, value_name = "DIR", help_heading = "Viewers")]
    pub(crate) viewers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// The address of a page: what a browser takes for nothing else.
fn address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/[]?=&%".contains(&byte);
    let is_one = rest.is_some_and(|rest| {
        rest.bytes().all(is_plain)
            && rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
    });
    match is_one {
        true => Ok(text.to_owned()),
        false => Err("expected an address such as https://perfetto.example.com".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let parsed: tracemill_trace::time::Duration = text.parse()?;
    Ok(Duration::from_nanos(parsed.0.unsigned_abs()))
}
