//! Flags of `record`.

use super::CommonArgs;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Runs a Node program and writes one trace: CPU profiles of all threads, and events of Node and V8, of the process, its \
workers and all Node processes that it starts. The trace is merged like `merge --for devtools`. DevTools opens it and \
shows the main thread of the program as the main thread of the page.

The program runs with its usual input, output and arguments; its exit status becomes the status of the command. Ctrl-C \
ends the program, and the trace up to then is written. A killed process (SIGKILL) and a terminated worker leave no CPU \
profile, and only the events that Node had already written.

Node is configured by NODE_OPTIONS, so processes started without that variable are not recorded. Node 14 or newer is \
required.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Record a program:
    tracemill record -o trace.json.gz -- node app.mjs --port 8080

  Record tests, with ten times as many samples:
    tracemill record --interval 100us -o tests.json.gz -- npm test

  Record a build, and show where the time went:
    tracemill record -o build.json.gz -- npx webpack
    tracemill top build.json.gz";

/// Default categories: slices of Node and V8, without events per promise.
const CATEGORIES: &str =
    "v8,node.environment,node.bootstrap,node.perf,node.console,node.fs.sync,node.vm.script";

/// Flags of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The program and its arguments, or a command line in quotes for the shell
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<OsString>,
    /// Write the trace to FILE, complete or not at all
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "trace.json.gz",
        help_heading = "Output"
    )]
    pub(crate) output: PathBuf,
    /// Replace existing files
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Keep the files that Node writes in DIR; -v prints a command that records into it again
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) keep: Option<PathBuf>,
    /// Take a sample of each thread this often
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = micros, help_heading = "Recording")]
    pub(crate) interval: u64,
    /// Record trace events of these categories, separated by commas
    #[arg(long, value_name = "LIST", default_value = CATEGORIES, help_heading = "Recording")]
    pub(crate) categories: String,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Parses the time between samples, in microseconds.
fn micros(text: &str) -> Result<u64, String> {
    let parsed: tracemill_trace::time::Duration = text.parse()?;
    match u64::try_from(parsed.0 / 1000) {
        Ok(micros) if (1..=10_000_000).contains(&micros) => Ok(micros),
        _ => Err("expected a time between 1us and 10s".to_owned()),
    }
}
