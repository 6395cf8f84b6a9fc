//! Flags of `record`.

use super::CommonArgs;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

pub(super) const ABOUT: &str = "\
Runs a Node program and writes one trace of it: CPU profiles of all its threads and events of Node and V8, of the process, its workers, and \
all Node processes that it starts. The trace is merged as `merge --for devtools` does: DevTools opens it, with the program's main thread \
as the one of the page.

The program runs as it would without tracemill, with its input, output and arguments; its status is that of the run. Ctrl-C ends \
the program, and what it did until then is written. A process that is killed (SIGKILL) and a worker that is terminated leave \
no CPU profile, and of their events what Node had written by then.

Node is told by NODE_OPTIONS, so processes that are started without that variable are not recorded. It must be Node 14 or newer.";

pub(super) const EXAMPLES: &str = "\
Examples:
  What does this program do:
    tracemill record -o trace.json.gz -- node app.mjs --port 8080

  The tests, ten times as many samples:
    tracemill record --interval 100us -o tests.json.gz -- npm test

  Where the time went:
    tracemill record -q -o build.json.gz -- npx webpack && tracemill top build.json.gz";

/// What Node and V8 trace without being asked for more: what takes time, not each promise.
const CATEGORIES: &str =
    "v8,node.environment,node.bootstrap,node.perf,node.console,node.fs.sync,node.vm.script";

/// Flags of `record`.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The program, and what it is called with
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub(crate) program: Vec<OsString>,
    /// Write the trace to FILE, which appears when it is complete
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "trace.json.gz",
        help_heading = "Output"
    )]
    pub(crate) output: PathBuf,
    /// Replace a file that exists
    #[arg(short, long, help_heading = "Output")]
    pub(crate) force: bool,
    /// Keep the files that Node wrote, in DIR
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub(crate) keep: Option<PathBuf>,
    /// Look at each thread so often
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = micros, help_heading = "What is recorded")]
    pub(crate) interval: u64,
    /// Categories of trace events, with commas between
    #[arg(long, value_name = "LIST", default_value = CATEGORIES, help_heading = "What is recorded")]
    pub(crate) categories: String,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// A time between samples, in microseconds.
fn micros(text: &str) -> Result<u64, String> {
    let parsed: tracemill_trace::time::Duration = text.parse()?;
    match u64::try_from(parsed.0 / 1000) {
        Ok(micros) if (1..=10_000_000).contains(&micros) => Ok(micros),
        _ => Err("expected a time between 1us and 10s".to_owned()),
    }
}
