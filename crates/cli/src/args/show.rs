//! Flags of `show`.

use super::parts::MapArgs;
use super::{CommonArgs, InputArgs, OutputArgs};
use crate::text::times::GivenMoment;
use clap::Args;
use std::path::Path;
use tracemill_analysis::ThreadChoice;
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::Pattern;

pub(super) const ABOUT: &str = "\
Shows an event on one screen: its time and thread, its args, its stack, the events that started it and that it \
started, the events around and inside it, and commands for the next step.

The stack continues across asynchronous tasks, as in DevTools: below the calls of a callback are those of the code \
that scheduled it. \"started by\" lists at most 10 events, the nearest first: flows, timers, idle callbacks, tasks, \
invalidations of styles and layout, WebSockets, network requests.

KEY is the key of an event or a call (r-12, s-12, p-…). report, tree --log and this command print keys.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Why did this layout run?
    tracemill show trace.json.gz r-6739

  What does the main thread do 150 ms after the start, and what started it?
    tracemill show server.json --at 150ms --main

  Its stack, for programs:
    tracemill show --json trace.json.gz r-6739 | jq .events[0].stack

  Which events started others, and how many?
    tracemill show --causes trace.json.gz | jq -c '.initiator // empty' | sort | uniq -c | sort -rn";

/// Long help of the inputs.
const INPUTS: &str = "\
Traces, and keys of events such as r-12 [default: -]

Inputs are files, folders (recursively), or - for standard input. Several are read as the one trace that `tracemill \
merge` makes of them. A word such as r-12 is a key unless a file has this name. The args of an event are read again from \
its file, so a pipe has none.";

/// Flags of `show`.
#[derive(Debug, Args)]
#[command(mut_arg("inputs", |arg| {
    let help = INPUTS.lines().next().unwrap_or_default();
    arg.value_name("INPUT|KEY").help(help).long_help(INPUTS)
}))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Show the event with this key; repeatable
    #[arg(long, value_name = "KEY", help_heading = "Events")]
    pub(crate) event: Vec<String>,
    /// Show the innermost event or call at T after the trace start, or at timestamp @T
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Events")]
    pub(crate) at: Option<GivenMoment>,
    /// Only these processes: ids and ranges such as 1,2,5-9
    #[arg(long, value_name = "IDS", requires = "at", help_heading = "Threads of --at")]
    pid: Option<IdSet>,
    /// Only these threads
    #[arg(long, value_name = "IDS", requires = "at", help_heading = "Threads of --at")]
    tid: Option<IdSet>,
    /// Only threads whose name (thread_name) matches
    #[arg(long, value_name = "REGEX", requires = "at", help_heading = "Threads of --at")]
    thread: Vec<Pattern>,
    /// Only the main thread
    #[arg(long, requires = "at", help_heading = "Threads of --at")]
    main: bool,
    /// Write the initiator and stack of every event that has one, as JSON lines
    #[arg(long, conflicts_with_all = ["event", "at", "json", "full"], help_heading = "Events")]
    pub(crate) causes: bool,
    /// Show all args, calls and events, and long lines whole
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,
    /// Write JSON with all fields and exact numbers
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) maps: MapArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl ShowArgs {
    /// Takes keys such as `r-12` from the inputs to the events, unless a file has such a name.
    pub(crate) fn take_keys(&mut self) {
        let is_key = |path: &Path| {
            let key = path.to_str().filter(|text| is_key(text));
            key.filter(|_| !path.exists()).map(str::to_owned)
        };
        self.event.extend(self.input.inputs.iter().filter_map(|path| is_key(path)));
        self.input.inputs.retain(|path| is_key(path).is_none());
    }

    /// Returns the threads that `--at` considers.
    pub(crate) fn choice(&self) -> ThreadChoice {
        ThreadChoice {
            pid: self.pid.clone(),
            tid: self.tid.clone(),
            thread: self.thread.clone(),
            main: self.main,
            ..ThreadChoice::default()
        }
    }
}

/// Returns whether a word has the form of a key: `r-12`, `s-12`, `p-1-1-0-2`.
fn is_key(word: &str) -> bool {
    let Some((kind, rest)) = word.split_once('-') else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match kind {
        "r" | "s" => is_number(rest),
        "p" => rest.rsplit_once('-').is_some_and(|(_, node)| is_number(node)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_from_file_names() {
        for key in ["r-0", "s-12", "p-7-1-0-2", "p-7-1--1-2"] {
            assert!(is_key(key), "{key}");
        }
        for name in ["r", "r-", "r-1.json", "p-a", "rank-0", "-", "s-x"] {
            assert!(!is_key(name), "{name}");
        }
    }
}
