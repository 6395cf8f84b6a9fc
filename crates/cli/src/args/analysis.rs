//! Flags of `top`, `tree` and `calls`.

use super::choices::choices;
use super::parts::{GROUPS, PartArgs, TimesFlag, UNITS};
use super::picks::{AskedRows, PickArgs};
use super::{CommonArgs, Export, InputArgs, OutputArgs, TraceArgs};
use crate::exit::Failure;
use clap::{Args, ValueEnum};
use tracemill_analysis::{ExportForm, GroupBy, Matcher, Per, RowOrder, RowThreshold};

/// How the answer is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormArgs {
    /// Write JSON: every bit of every number, in a stable form
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Write comma-separated values
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "exact",
          conflicts_with = "markdown")]
    pub(crate) csv: Option<CsvForm>,
    /// Write a table in Markdown
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// How an answer is written, once that is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text { markdown: bool },
    Csv(CsvForm),
    Json(JsonForm),
}

impl Form {
    /// Whether it is for programs, which want all rows.
    pub(crate) fn is_data(self) -> bool {
        !matches!(self, Form::Text { .. })
    }
}

impl FormArgs {
    pub(crate) fn form(&self) -> Form {
        match (self.json, self.csv) {
            (true, _) => Form::Json(JsonForm::Rows),
            (false, Some(form)) => Form::Csv(form),
            (false, None) => Form::Text { markdown: self.markdown },
        }
    }
}

/// How names are written in CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CsvForm {
    /// As they are, for programs
    Exact,
    /// With ' before what a spreadsheet takes for a formula: = + - @
    Safe,
}

/// How a tree stands in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonForm {
    /// A list of rows, each with the number of its parent
    Rows,
    /// Nodes that hold their children: name, value, children, as d3-flame-graph reads them
    Nested,
}

/// How a tree is written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TreeFormArgs {
    /// Write JSON: every bit of every number, in a stable form
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "rows",
          conflicts_with_all = ["csv", "markdown", "peek", "heaviest"])]
    pub(crate) json: Option<JsonForm>,
    /// Write comma-separated values
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "exact",
          conflicts_with_all = ["markdown", "peek", "heaviest"])]
    pub(crate) csv: Option<CsvForm>,
    /// Write a table in Markdown
    #[arg(long, conflicts_with_all = ["peek", "heaviest"])]
    pub(crate) markdown: bool,
}

impl TreeFormArgs {
    pub(crate) fn form(&self) -> Form {
        match (self.json, self.csv) {
            (Some(form), _) => Form::Json(form),
            (None, Some(form)) => Form::Csv(form),
            (None, None) => Form::Text { markdown: self.markdown },
        }
    }
}

/// Flags that say which events and calls of trees count, and how rows are made of them.
const OF_TREES: [&str; 31] = [
    "pid",
    "tid",
    "process",
    "thread",
    "main",
    "from",
    "to",
    "duration",
    "head",
    "tail",
    "ignore_list",
    "fold_numbers",
    "all_events",
    "like",
    "entities",
    "source_maps",
    "no_source_maps",
    "window",
    "during",
    "event",
    "focus",
    "ignore",
    "hide",
    "root",
    "text",
    "weights",
    "key",
    "times",
    "sort",
    "group_by",
    "per",
];

/// Flags of `top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// Async operations (b with its e, S with its F) by name and category, instead of functions and events
    ///
    /// Each row has the sum of their durations, how many ended, the median, what 99 of 100 do not exceed, the longest, and how many have no end. \
    /// For some of them pipe from filter: `tracemill filter --cat net trace.json | tracemill top --async -`.
    #[arg(long = "async", help_heading = "Rows",
          conflicts_with_all = OF_TREES)]
    pub(crate) asynchronous: bool,
    /// How many rows [default: 30; JSON and CSV: all]
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// How rows are sorted
    #[arg(long, value_name = "KEY", default_value = "self", value_parser = choices(ORDERS), help_heading = "Rows")]
    pub(crate) sort: RowOrder,
    /// Group rows
    #[arg(long, value_name = "KEY", default_value = "none", value_parser = choices(GROUPS), help_heading = "Rows")]
    pub(crate) group_by: GroupBy,
    /// Which threads share a table
    #[arg(long, value_name = "UNIT", default_value = "all", value_parser = choices(UNITS), help_heading = "Rows")]
    pub(crate) per: Per,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// How rows are sorted.
const ORDERS: [(&str, RowOrder, &str); 5] = [
    ("self", RowOrder::Own, "Self time, the greatest first"),
    ("total", RowOrder::Total, "Total time, the greatest first"),
    ("count", RowOrder::Count, "Count, the greatest first"),
    ("name", RowOrder::Name, "By name"),
    ("start", RowOrder::Start, "By the start of the first event"),
];

/// Flags of `tree`.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
    #[command(flatten)]
    pub(crate) times: TimesFlag,
    /// From callees to callers, by self time
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["log", "peek", "heaviest"])]
    pub(crate) bottom_up: bool,
    /// One row for each event, by start
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["peek", "heaviest", "group_by"])]
    pub(crate) log: bool,
    /// Only callers and callees of this function or event
    #[arg(long, value_name = "NAME", help_heading = "Which tree", conflicts_with = "heaviest")]
    pub(crate) peek: Option<String>,
    /// Only the path on which most time is spent; with REGEX the one through functions or events that match
    #[arg(long, value_name = "REGEX", num_args = 0..=1, require_equals = true, help_heading = "Which tree")]
    pub(crate) heaviest: Option<Option<Matcher>>,
    /// How many levels [default: 12; bottom-up 6, also in JSON and CSV]
    #[arg(long, value_name = "N", help_heading = "Rows", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Leave out what takes less, with everything below it: 0.5% of the busy time, 2ms [default: 0.5%; log, JSON and CSV: 0]
    #[arg(long, value_name = "SIZE", help_heading = "Rows")]
    pub(crate) min: Option<RowThreshold>,
    /// How rows are sorted below each other [default: total; bottom-up self, log start]
    #[arg(long, value_name = "KEY", value_parser = choices(ORDERS), help_heading = "Rows",
          conflicts_with_all = ["peek", "heaviest"])]
    pub(crate) sort: Option<RowOrder>,
    /// At most so many rows in each table
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// Group rows
    #[arg(long, value_name = "KEY", default_value = "none", value_parser = choices(GROUPS), help_heading = "Rows")]
    pub(crate) group_by: GroupBy,
    /// Which threads share a table
    #[arg(long, value_name = "UNIT", default_value = "thread", value_parser = choices(UNITS), help_heading = "Rows")]
    pub(crate) per: Per,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: TreeFormArgs,
    /// Write the call tree for other programs [default: by the name of -o: .folded, .speedscope.json, .pb, each also .gz]
    ///
    /// folded: one stack per line, for flamegraph.pl, inferno and speedscope; speedscope: its JSON, a profile for each table;
    /// pprof: profile.proto, for go tool pprof and Pyroscope. Self times are whole nanoseconds. --min and -n leave nothing out of it.
    #[arg(long, value_name = "FORM", help_heading = "Output", value_parser = choices(ExportForm::ALL.map(|form| (form.name(), form, ""))),
          conflicts_with_all = ["json", "csv", "markdown", "bottom_up", "log", "peek", "heaviest", "min", "rows"])]
    pub(crate) format: Option<ExportForm>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl TreeArgs {
    /// What rows an excerpt is of.
    pub(crate) fn asked_rows(&self) -> Option<(&'static str, AskedRows)> {
        let peek = self.peek.clone().map(|name| ("--peek", AskedRows::Name(name)));
        let through = self.heaviest.clone().flatten();
        peek.or(through.map(|own| ("--heaviest", AskedRows::Matching(own))))
    }

    /// The form of another program that is asked for, by flag or name; other flags must allow it.
    pub(crate) fn export(&self) -> Result<Option<Export>, Failure> {
        let export = Export::of(self.format, &self.output);
        let other = self.form.form() != Form::Text { markdown: false }
            || self.bottom_up
            || self.log
            || self.heaviest.is_some();
        match export {
            Some(own)
                if other || self.peek.is_some() || self.min.is_some() || self.rows.is_some() =>
            {
                Err(Failure::usage(format!(
                    "the name of the output asks for {}, which always has the whole call tree: leave out --json, --csv, --markdown, \
                     --bottom-up, --log, --peek, --heaviest, --min and -n, or choose another name",
                    own.form.name()
                )))
            }
            export => Ok(export),
        }
    }
}

impl TopArgs {
    /// Refuses a name that promises a call tree.
    pub(crate) fn refuse_export(&self) -> Result<(), Failure> {
        match Export::of(None, &self.output) {
            Some(own) => Err(Failure::usage(format!(
                "the name of the output asks for {}, which top cannot write; tracemill tree can",
                own.form.name()
            ))),
            None => Ok(()),
        }
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
    pub(crate) times: TimesFlag,
    /// Write not a trace but the flame chart as rows, events and calls, one JSON array per line
    #[arg(long, help_heading = "Output", conflicts_with_all = ["compress", "level", "format", "repair"])]
    pub(crate) rows: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
