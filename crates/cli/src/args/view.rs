//! Flags of `view`.

use super::index::IndexFlag;
use super::{CommonArgs, InputArgs};
use clap::Args;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

pub(super) const ABOUT: &str = "\
Shows traces of any size in a browser: an overview of the whole trace, the tracks of each process and thread, zoom to \
the nanosecond, search, and sums of a window. It can also open a window in Perfetto, the Firefox Profiler or DevTools, \
or save it as a file.

The page opens at once. So does the trace if it has an index (`tracemill index`), whatever its size: long slices are drawn \
exactly, short ones from sums in the index (marked ≈). A window of fewer than 200,000 events is read and drawn completely. \
A file of 32 MiB or more gets an index when it is first viewed. Smaller files, several inputs, .cpuprofile files and \
traces that can only be decompressed as a whole are read once, at scanning speed; so is any trace with --index never. \
Drawing costs as much as the pixels, not as the events. Lists (36 bytes per interval) beyond the memory limit (-m) go to \
the folder of -T. Several inputs, and folders, are shown as one trace, like the output of `tracemill merge`: equal pids of \
different recordings are different processes, and clocks are aligned.

The address contains a secret and is printed on standard output. Only this machine can connect, and only with the secret; \
no other host is contacted. For a remote machine give --no-open --port 8080 there, and run `ssh -L 8080:127.0.0.1:8080 \
HOST` locally. --host with --allow-remote accepts other machines, without encryption.

Ctrl-C ends the server.";

pub(super) const EXAMPLES: &str = "\
Examples:
  View a trace that is too large for other viewers:
    tracemill view trace.json

  On a machine without a browser; ends after 30 minutes without requests:
    tracemill view trace.json.gz --no-open --port 8080 --idle 30m

  With DevTools and speedscope:
    tracemill view trace.json --devtools --viewers node_modules

  In 256 MiB of memory, with temporary files on a fast disk:
    tracemill view huge.json -m 256M -T /mnt/scratch";

/// Flags of `view`.
#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) index: IndexFlag,
    /// Open the page on the event with this key (r-12), as report and tree --log print it
    ///
    /// The inputs are read twice.
    #[arg(long, value_name = "KEY", help_heading = "Window")]
    pub(crate) event: Option<String>,
    /// Listen on this address [default: 127.0.0.1]
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1",
        hide_default_value = true,
        help_heading = "Server"
    )]
    pub(crate) host: IpAddr,
    /// Accept other machines on the address of --host, without encryption
    #[arg(long, help_heading = "Server")]
    pub(crate) allow_remote: bool,
    /// Listen on this port [default: any free port]
    #[arg(
        long,
        value_name = "PORT",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Server"
    )]
    pub(crate) port: u16,
    /// Print the address only; do not open a browser
    #[arg(long, help_heading = "Server")]
    pub(crate) no_open: bool,
    /// End after this long without requests, such as 30m
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Server")]
    pub(crate) idle: Option<Duration>,
    /// Open windows in DevTools of a Chromium that the command starts [default: the one on PATH]
    ///
    /// It starts with an empty profile when the first window is opened, is controlled through a pipe,
    /// and ends with the command.
    #[arg(
        long,
        value_name = "PROGRAM",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "Viewers"
    )]
    pub(crate) devtools: Option<PathBuf>,
    /// Open windows in the Perfetto at this address [default: ui.perfetto.dev]
    #[arg(
        long,
        value_name = "URL",
        value_parser = address,
        hide_default_value = true,
        help_heading = "Viewers"
    )]
    pub(crate) perfetto: Option<String>,
    /// Open windows in the speedscope of this folder (from `npm install speedscope`)
    #[arg(long, value_name = "DIR", help_heading = "Viewers")]
    pub(crate) viewers: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Parses the URL of a page.
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
