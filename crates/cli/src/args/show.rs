//! Flags of `show`.

use super::{CommonArgs, InputArgs, OutputArgs};
use crate::text::times::GivenMoment;
use clap::Args;
use std::path::{Path, PathBuf};
use tracemill_analysis::{SourceMaps, ThreadChoice};
use tracemill_join::config::id_set::IdSet;
use tracemill_join::config::pattern::Pattern;

pub(super) const ABOUT: &str = "\
Shows one event on one screen: when and where it ran, its args, its stack, what started it, what it started, what lies \
around and below it, and the commands that go on from here.

The stack goes on across asynchronous tasks, as in DevTools: a callback shows the code that scheduled it. Started by \
names at most 10 causes, the nearest first: flows, timers, idle callbacks, tasks, style and layout invalidations, \
WebSockets, network requests.

KEY is the key of an event (r-12, s-12 or p-…), as report, tree --log and this command print it. --at shows what runs \
at a time.";

pub(super) const EXAMPLES: &str = "\
Examples:
  Why did this layout run?
    tracemill show trace.json.gz r-1251

  What does the main thread do 80 ms after the start, and what started it?
    tracemill show server.json --at 80ms --main

  The same for programs:
    tracemill show --json trace.json.gz r-1251 | jq .events[0].stack

  Which function schedules the most callbacks?
    tracemill show --causes trace.json.gz | jq -r '.parents[0].frames[0][0] // empty' | sort | uniq -c | sort -rn | head";

/// Flags of `show`.
#[derive(Debug, Args)]
#[command(mut_arg("inputs", |arg| arg.help("Traces, and keys of events (r-12) [default: -]")))]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Show the event with this key; repeatable
    #[arg(long, value_name = "KEY", help_heading = "Which event")]
    pub(crate) event: Vec<String>,
    /// Show the innermost event or call at T after the trace start, or at timestamp @T
    #[arg(long, value_name = "T", allow_hyphen_values = true, help_heading = "Which event")]
    pub(crate) at: Option<GivenMoment>,
    /// Only on these processes: ids and ranges such as 1,2,5-9
    #[arg(long, value_name = "IDS", requires = "at", help_heading = "Which event")]
    pid: Option<IdSet>,
    /// Only on these threads
    #[arg(long, value_name = "IDS", requires = "at", help_heading = "Which event")]
    tid: Option<IdSet>,
    /// Only on threads whose name (thread_name) matches
    #[arg(long, value_name = "REGEX", requires = "at", help_heading = "Which event")]
    thread: Vec<Pattern>,
    /// Only on the main thread
    #[arg(long, requires = "at", help_heading = "Which event")]
    main: bool,
    /// Write JSON lines: initiator and stack of every event that has one
    #[arg(long, conflicts_with_all = ["event", "at", "json", "full"], help_heading = "Which event")]
    pub(crate) causes: bool,
    /// Show all args, children and started events
    #[arg(long, help_heading = "Output")]
    pub(crate) full: bool,
    /// Write JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    /// Show functions by the names and positions of their sources: a map, or a folder of scripts or maps
    #[arg(long, value_name = "DIR|FILE", help_heading = "Source maps")]
    source_maps: Vec<PathBuf>,
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

    /// Returns the source maps to apply.
    pub(crate) fn source_maps(&self) -> SourceMaps {
        SourceMaps { paths: self.source_maps.clone(), of_traces: true }
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
