//! Flags of `top`, `tree` and `calls`.

use super::slice::{GivenMoment, positive};
use super::{InputArgs, LimitArgs, MessageArgs, OutputArgs};
use crate::exit::Failure;
use clap::{Args, ValueEnum};
use tracemill_analysis::{
    Entries, GroupBy, Per, ReadRules, TableRules, ThreadChoice, Trace, Wanted, Window,
};
use tracemill_pipeline::{IdSet, Moment};

/// Which part of the inputs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which part")]
pub(crate) struct PartArgs {
    /// Only these processes: 7, 7,9 or 100..199
    #[arg(long, value_name = "IDS")]
    pid: Vec<IdSet>,
    /// Only these threads
    #[arg(long, value_name = "IDS")]
    tid: Vec<IdSet>,
    /// Only the main thread: CrRendererMain of the main frame, JavaScriptMainThread of Node, thread 0 of CPU profiles, else the
    /// one with the most events
    #[arg(long)]
    main: bool,
    /// Begin at T: after the start of the trace, or @T as it stands in it [default: its start]
    #[arg(long, value_name = "T")]
    from: Option<GivenMoment>,
    /// End at T [default: the end of the trace]
    #[arg(long, value_name = "T")]
    to: Option<GivenMoment>,
    /// End this long after --from
    #[arg(long, value_name = "TIME", conflicts_with = "to", value_parser = positive)]
    duration: Option<i64>,
    /// Count events too that DevTools does not draw, such as tasks of the browser's own
    #[arg(long, conflicts_with = "like")]
    all_events: bool,
    /// Do as a viewer does, also where that is a defect: panel is the Performance panel of DevTools
    ///
    /// Its ignore list counts then (calls of node: and node_modules directly below others of these are not drawn), threads that it
    /// does not show are left out, B and E are paired over all threads in the order of the file.
    #[arg(long, value_name = "VIEWER")]
    pub(crate) like: Option<Viewer>,
}

/// A viewer whose numbers are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Viewer {
    /// The Performance panel of DevTools
    Panel,
}

/// By what rows are grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Grouping {
    /// Not at all
    #[default]
    None,
    /// By what DevTools calls an event
    Activity,
    /// By what DevTools counts it as: scripting, rendering, …
    Category,
    /// By the last two labels of the host of its URL
    Domain,
    /// By host
    Subdomain,
    /// By URL
    Url,
    /// By frame of the page
    Frame,
}

impl Grouping {
    pub(crate) fn by(self) -> GroupBy {
        match self {
            Grouping::None => GroupBy::None,
            Grouping::Activity => GroupBy::Activity,
            Grouping::Category => GroupBy::Category,
            Grouping::Domain => GroupBy::Domain,
            Grouping::Subdomain => GroupBy::Subdomain,
            Grouping::Url => GroupBy::Url,
            Grouping::Frame => GroupBy::Frame,
        }
    }
}

/// Which threads share a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PerArg {
    /// Each thread has its own
    Thread,
    /// Those of a process share one
    Process,
    /// All share one; calls match by function, URL, line and column
    All,
}

impl PerArg {
    pub(crate) fn per(self) -> Per {
        match self {
            PerArg::Thread => Per::Thread,
            PerArg::Process => Per::Process,
            PerArg::All => Per::All,
        }
    }
}

/// How the answer is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormArgs {
    /// Write JSON: every bit of every number, in a stable form
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Write comma-separated values
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) csv: bool,
    /// Write a table in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

impl PartArgs {
    fn as_panel(&self) -> bool {
        self.like == Some(Viewer::Panel)
    }

    /// How inputs are read.
    pub(crate) fn read_rules(&self, by: Grouping) -> ReadRules {
        let urls = matches!(by, Grouping::Domain | Grouping::Subdomain | Grouping::Url);
        let wanted = Wanted { urls, frames: by == Grouping::Frame, titles: true };
        ReadRules { wanted, as_devtools: self.as_panel() }
    }

    /// Which events count.
    pub(crate) fn table_rules(&self) -> TableRules {
        let entries = match (self.as_panel(), self.all_events) {
            (true, _) => Entries::Panel,
            (false, true) => Entries::All,
            (false, false) => Entries::Visible,
        };
        TableRules { entries, as_devtools: self.as_panel() }
    }

    /// Which threads.
    pub(crate) fn choice(&self) -> ThreadChoice {
        let united = |sets: &[IdSet]| {
            let mut all = sets.first()?.clone();
            sets[1..].iter().for_each(|set| all.extend(set));
            Some(all)
        };
        ThreadChoice {
            pid: united(&self.pid),
            tid: united(&self.tid),
            main: self.main,
            as_panel: self.as_panel(),
        }
    }

    /// Which time, in milliseconds on the trace's clock; `None` for all.
    pub(crate) fn window(&self, trace: &Trace) -> Result<Option<Window>, Failure> {
        if self.from.is_none() && self.to.is_none() && self.duration.is_none() {
            return Ok(None);
        }
        let (first, last) = (trace.bounds.0 / 1000.0, trace.bounds.1 / 1000.0);
        let ms = |nanos: i64| nanos as f64 / 1e6;
        let place = |given: &GivenMoment| match given.moment {
            Moment::FromStart(nanos) => first + ms(nanos),
            Moment::BeforeEnd(nanos) => last - ms(nanos),
            Moment::At(nanos) => ms(nanos),
        };
        let from = self.from.as_ref().map_or(first, place);
        let to = match self.duration {
            Some(duration) => from + ms(duration),
            None => self.to.as_ref().map_or(last, place),
        };
        if from > to {
            return Err(Failure::usage("the window ends before it begins: --to is before --from"));
        }
        Ok(Some(Window { from, to }))
    }
}

/// Flags of `top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// How many rows [default: 30; JSON and CSV: all]
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// By what rows are sorted
    #[arg(long, value_name = "KEY", default_value = "self", help_heading = "Rows")]
    pub(crate) sort: SortKey,
    /// Group rows
    #[arg(long, value_name = "KEY", default_value = "none", help_heading = "Rows")]
    pub(crate) group_by: Grouping,
    /// Which threads share a table
    #[arg(long, value_name = "UNIT", default_value = "all", help_heading = "Rows")]
    pub(crate) per: PerArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

/// By what rows are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    /// Self time, the greatest first
    #[value(name = "self")]
    Own,
    /// Total time, the greatest first
    Total,
    /// How often, the greatest first
    Count,
    /// By name
    Name,
}

/// Flags of `tree`.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// From callees to callers, by self time
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["log", "peek", "heaviest"])]
    pub(crate) bottom_up: bool,
    /// A row for each event, by its start
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["peek", "heaviest", "group_by"])]
    pub(crate) log: bool,
    /// Only callers and callees of this function or event
    #[arg(long, value_name = "NAME", help_heading = "Which tree", conflicts_with = "heaviest")]
    pub(crate) peek: Option<String>,
    /// Only the path on which most time is spent
    #[arg(long, help_heading = "Which tree")]
    pub(crate) heaviest: bool,
    /// How deep [default: 12; bottom-up 6, which is also what JSON and CSV have of it]
    #[arg(long, value_name = "N", help_heading = "Rows", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Leave out what takes less, with all below it: 0.5% of what is busy, 2ms [default: 0.5%; log, JSON and CSV: 0]
    #[arg(long, value_name = "SIZE", help_heading = "Rows")]
    pub(crate) min: Option<Least>,
    /// At most so many rows of each table
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// Group rows
    #[arg(long, value_name = "KEY", default_value = "none", help_heading = "Rows")]
    pub(crate) group_by: Grouping,
    /// Which threads share a table
    #[arg(long, value_name = "UNIT", default_value = "thread", help_heading = "Rows")]
    pub(crate) per: PerArg,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

/// What a row must take to be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Least {
    /// Of what is busy.
    Percent(f64),
    /// Milliseconds.
    Time(f64),
}

impl std::str::FromStr for Least {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_suffix('%') {
            let percent: f64 =
                number.parse().map_err(|_| format!("expected 0.5% or 2ms: {text}"))?;
            return Ok(Least::Percent(percent));
        }
        if text == "0" {
            return Ok(Least::Time(0.0));
        }
        tracemill_pipeline::parse_time(text).map(|nanos| Least::Time(nanos as f64 / 1e6))
    }
}

/// Flags of `calls`.
#[derive(Debug, Args)]
pub(crate) struct CallsArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

pub(super) const TOP_ABOUT: &str = "\
Says where the time goes: functions and events by self time, with the numbers of the Bottom-up tab of DevTools.

Reads Chrome and Node traces, .cpuprofile files, and any trace with complete (X) or begin and end (B, E) events: PyTorch, Bazel, \
clang. Of CPU profiles it makes the calls that DevTools draws; each lasts until the next sample says otherwise. Several inputs make \
one table, in which calls of one function, URL, line and column are one row; --per thread has a table for each thread.

self is the time in which nothing below an event is open, total its whole time, that of calls of itself not counted again; percent \
are of the time in which anything is open. In web traces events that DevTools does not draw do not count, unless --all-events.

All sums are doubles made in the order in which DevTools makes them: of one thread they are its numbers, to the last bit (--json has \
all of them). Where DevTools has a defect the numbers are right; --like panel has the defect too.";

pub(super) const TOP_EXAMPLES: &str = "\
Examples:
  What is slow in this trace?
    tracemill top trace.json.gz

  The ten hottest functions of a folder of CPU profiles:
    tracemill top -n 10 profiles/

  Of the main thread between two times, as a table for an issue:
    tracemill top --main --from 100ms --to 200ms --markdown server.json

  Time by script, for a spreadsheet:
    tracemill top --group-by url --csv server.json > urls.csv";

pub(super) const TREE_ABOUT: &str = "\
Shows the call tree of each thread, or its bottom-up tree or event log, with the numbers of DevTools.

Rows, ids, times and order are those of the tabs Call tree, Bottom-up and Event log, to the last bit (--json has all of them). Of CPU \
profiles it makes the calls that DevTools draws. The log has events and calls by start, with the key by which DevTools knows \
them.

--peek NAME lists what calls a function and what it calls; --heaviest shows the one path on which most time is spent. --per all \
makes one tree of all threads and inputs.

Times of --from and --to are microseconds, or have a unit: ns us ms s m h; they count from the start of the trace, with an @ they are \
as written in it. An event that begins before the window or ends behind it counts with what lies within.";

pub(super) const TREE_EXAMPLES: &str = "\
Examples:
  Who calls what, on the main thread:
    tracemill tree --main server.json

  What takes time, and who calls that:
    tracemill tree --bottom-up --main server.json

  All threads and profiles as one tree, two levels deep:
    tracemill tree --per all --depth 2 profiles/

  What happened in twenty milliseconds:
    tracemill tree --log --main --from 60ms --duration 20ms server.json

  The path on which most time is spent:
    tracemill tree --heaviest --per all profiles/

  The same numbers as DevTools, in CI:
    tracemill tree --json --like panel server.json | jq '.parts | length'";

pub(super) const CALLS_ABOUT: &str = "\
Writes the flame chart of each thread as rows: events, and the calls that DevTools makes of samples of CPU profiles.

One JSON array a line, depth first: depth, \"P\" for a call from samples or \"E\" for an event, its name, start, duration and self time in \
microseconds, and the key by which DevTools knows it. Before the rows of a thread stands an object that names it.";

pub(super) const CALLS_EXAMPLES: &str = "\
Examples:
  The flame chart of the main thread:
    tracemill calls --main server.json

  Calls longer than a millisecond:
    tracemill calls server.json | jq -c 'select(.[1]? == \"P\" and .[4] > 1000)' | head";
