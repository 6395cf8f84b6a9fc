//! Flags of `top`, `tree` and `calls`.

use super::choices::choices;
use super::parts::{GROUPS, PartArgs, TimesFlag, UNITS};
use super::picks::{AskedRows, PickArgs};
use super::{CommonArgs, Export, InputArgs, OutputArgs, TraceArgs};
use crate::outcome::exit::Failure;
use clap::{Args, ValueEnum};
use tracemill_analysis::{GroupBy, Matcher, Per, RowOrder, RowThreshold};
use tracemill_causes::CauseKind;
use tracemill_export::ExportForm;

/// Output format of tables.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct FormArgs {
    /// Write JSON with all fields and exact numbers
    #[arg(long, conflicts_with_all = ["csv", "markdown"])]
    pub(crate) json: bool,
    /// Write CSV
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "exact",
          conflicts_with = "markdown")]
    pub(crate) csv: Option<CsvForm>,
    /// Write Markdown tables
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// Output format that the flags select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultForm {
    Text { markdown: bool },
    Csv(CsvForm),
    Json(JsonForm),
}

impl ResultForm {
    /// Returns whether programs read the output. Programs need all rows.
    pub(crate) fn is_data(self) -> bool {
        !matches!(self, ResultForm::Text { .. })
    }
}

impl FormArgs {
    pub(crate) fn form(&self) -> ResultForm {
        match (self.json, self.csv) {
            (true, _) => ResultForm::Json(JsonForm::Rows),
            (false, Some(form)) => ResultForm::Csv(form),
            (false, None) => ResultForm::Text { markdown: self.markdown },
        }
    }
}

/// Treatment of names in CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CsvForm {
    /// Unchanged, for programs
    Exact,
    /// With ' before names that spreadsheets read as formulas: = + - @
    Safe,
}

/// JSON layout of trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JsonForm {
    /// A list of rows, each with the index of its parent
    Rows,
    /// Nodes with name, value and children, for d3-flame-graph
    Nested,
}

/// Output format of trees.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct TreeFormArgs {
    /// Write JSON with all fields and exact numbers
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "rows",
          conflicts_with_all = ["csv", "markdown", "peek", "heaviest"])]
    pub(crate) json: Option<JsonForm>,
    /// Write CSV
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "exact",
          conflicts_with_all = ["markdown", "peek", "heaviest"])]
    pub(crate) csv: Option<CsvForm>,
    /// Write Markdown tables
    #[arg(long, conflicts_with_all = ["peek", "heaviest"])]
    pub(crate) markdown: bool,
}

impl TreeFormArgs {
    pub(crate) fn form(&self) -> ResultForm {
        match (self.json, self.csv) {
            (Some(form), _) => ResultForm::Json(form),
            (None, Some(form)) => ResultForm::Csv(form),
            (None, None) => ResultForm::Text { markdown: self.markdown },
        }
    }
}

/// Flags that `--async` excludes, because they select events, calls or rows of trees.
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

/// Flags that `--by` excludes, because they group, sort or cut rows of trees.
const NOT_OF_CAUSES: [&str; 11] = [
    "asynchronous",
    "group_by",
    "per",
    "sort",
    "window",
    "during",
    "focus",
    "ignore",
    "hide",
    "root",
    "key",
];

/// Flags that `--track` excludes, because they select threads, calls or rows of trees.
const NOT_OF_TRACKS: [&str; 26] = [
    "asynchronous",
    "by",
    "pid",
    "tid",
    "process",
    "thread",
    "main",
    "ignore_list",
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
    "sort",
    "group_by",
    "per",
];

/// Values of `--by`.
const CAUSES: [(&str, CauseKind, &str); 2] = [
    (
        "caller",
        CauseKind::Caller,
        "The innermost function around the event, or the one that scheduled it",
    ),
    (
        "initiator",
        CauseKind::Initiator,
        "The event that started it, or started the nearest event around it",
    ),
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
    /// List async operations (b with e, S with F) by name and category instead
    ///
    /// Each row has the sum of durations, the number of ended operations, the median, the 99 % quantile,
    /// the longest, and the number without an end. To select some, pipe from filter: `tracemill filter
    /// --cat net trace.json | tracemill top --async -`.
    #[arg(long = "async", help_heading = "Rows",
          conflicts_with_all = OF_TREES)]
    pub(crate) asynchronous: bool,
    /// Sum up events by what caused them instead: --text chooses events, such as --text Layout
    #[arg(long, value_name = "CAUSE", help_heading = "Rows", value_parser = choices(CAUSES),
          conflicts_with_all = NOT_OF_CAUSES)]
    pub(crate) by: Option<CauseKind>,
    /// Sum up the rows of a track of DevTools by name instead
    ///
    /// NAME is frames, interactions, timings, animations, layout-shifts, gpu or screenshots, or the
    /// name of an extension's track or of its group. Each row has the sum of durations, the number, and
    /// the longest with its start.
    #[arg(long, value_name = "NAME", help_heading = "Rows", conflicts_with_all = NOT_OF_TRACKS)]
    pub(crate) track: Option<String>,
    /// Show N rows [default: 30; JSON and CSV: all]
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// Sort rows by this
    #[arg(long, value_name = "KEY", default_value = "self", value_parser = choices(ORDERS), help_heading = "Rows")]
    pub(crate) sort: RowOrder,
    /// Group by this
    #[arg(long, value_name = "KEY", default_value = "none", value_parser = choices(GROUPS), help_heading = "Rows")]
    pub(crate) group_by: GroupBy,
    /// Put the threads of each UNIT into one table
    #[arg(long, value_name = "UNIT", default_value = "all", value_parser = choices(UNITS), help_heading = "Rows")]
    pub(crate) per: Per,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Sort orders of rows.
const ORDERS: [(&str, RowOrder, &str); 5] = [
    ("self", RowOrder::Own, "Self time, largest first"),
    ("total", RowOrder::Total, "Total time, largest first"),
    ("count", RowOrder::Count, "Count, largest first"),
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
    /// Show the bottom-up tree: from callees to callers, by self time
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["log", "peek", "heaviest"])]
    pub(crate) bottom_up: bool,
    /// Continue callers across asynchronous tasks, with those of the code that scheduled the task
    #[arg(long = "async", help_heading = "Which tree", requires = "bottom_up",
          conflicts_with_all = ["like", "ignore_list", "hide", "root"])]
    pub(crate) asynchronous: bool,
    /// Show the event log: one row per event, by start
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["peek", "heaviest", "group_by"])]
    pub(crate) log: bool,
    /// Only rows of the log with these categories of DevTools
    #[arg(long = "category", value_name = "NAME", value_delimiter = ',', ignore_case = true, requires = "log",
          value_parser = choices(tracemill_analysis::categories().map(|name| (name, name, ""))),
          help_heading = "Which tree")]
    pub(crate) categories: Vec<&'static str>,
    /// Show only the callers and callees of this function or event
    #[arg(long, value_name = "NAME", help_heading = "Which tree", conflicts_with = "heaviest")]
    pub(crate) peek: Option<String>,
    /// Show only the path with the most time, through matches of REGEX if given
    #[arg(long, value_name = "REGEX", num_args = 0..=1, require_equals = true, help_heading = "Which tree")]
    pub(crate) heaviest: Option<Option<Matcher>>,
    /// Show N levels [default: 12; bottom-up 6, also in JSON and CSV]
    #[arg(long, value_name = "N", help_heading = "Rows", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Hide rows below SIZE: 2ms, or 0.5% of the busy time [default: 0.5%; log, JSON and CSV: 0]
    #[arg(long, value_name = "SIZE", help_heading = "Rows")]
    pub(crate) min: Option<RowThreshold>,
    /// Sort rows by this [default: total; bottom-up self, log start]
    #[arg(long, value_name = "KEY", value_parser = choices(ORDERS), help_heading = "Rows",
          conflicts_with_all = ["peek", "heaviest"])]
    pub(crate) sort: Option<RowOrder>,
    /// Show N rows per table
    #[arg(short = 'n', long = "top", value_name = "N", help_heading = "Rows",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rows: Option<u32>,
    /// Group by this
    #[arg(long, value_name = "KEY", default_value = "none", value_parser = choices(GROUPS), help_heading = "Rows")]
    pub(crate) group_by: GroupBy,
    /// Put the threads of each UNIT into one table
    #[arg(long, value_name = "UNIT", default_value = "thread", value_parser = choices(UNITS), help_heading = "Rows")]
    pub(crate) per: Per,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) form: TreeFormArgs,
    /// Write the call tree for other programs [default: from the name of -o: .folded, .speedscope.json,
    /// .pb, each also .gz]
    ///
    /// folded: one stack per line, for flamegraph.pl, inferno and speedscope; speedscope: its JSON, one
    /// profile per table; pprof: profile.proto, for go tool pprof and Pyroscope. Self times are whole
    /// nanoseconds. The tree is always complete.
    #[arg(long, value_name = "FORM", help_heading = "Output", value_parser = choices(ExportForm::ALL.map(|form| (form.name(), form, ""))),
          conflicts_with_all = ["json", "csv", "markdown", "bottom_up", "log", "peek", "heaviest", "min", "rows"])]
    pub(crate) format: Option<ExportForm>,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl TreeArgs {
    /// Returns the rows that a flag names: the callers and callees of `--peek`, or the path of
    /// `--heaviest`.
    pub(crate) fn asked_rows(&self) -> Option<(&'static str, AskedRows)> {
        let peek = self.peek.clone().map(|name| ("--peek", AskedRows::Name(name)));
        let through = self.heaviest.clone().flatten();
        peek.or(through.map(|pattern| ("--heaviest", AskedRows::Matching(pattern))))
    }

    /// Returns the format of another program, if one is requested. Returns an error if other flags
    /// do not fit the format.
    pub(crate) fn export(&self) -> Result<Option<Export>, Failure> {
        let export = Export::of(self.format, &self.output);
        let other = self.form.form() != ResultForm::Text { markdown: false }
            || self.bottom_up
            || self.log
            || self.heaviest.is_some();
        match export {
            Some(export)
                if other || self.peek.is_some() || self.min.is_some() || self.rows.is_some() =>
            {
                Err(Failure::usage(format!(
                    "the name of the output asks for {}, which always has the whole call tree: leave out --json, --csv, --markdown, \
                     --bottom-up, --log, --peek, --heaviest, --min and -n, or choose another name",
                    export.form.name()
                )))
            }
            export => Ok(export),
        }
    }
}

impl TopArgs {
    /// Returns the default number of rows; `None` if programs read the output, which need all rows.
    pub(crate) fn default_rows(&self) -> Option<usize> {
        (!self.form.form().is_data()).then_some(30)
    }

    /// Returns the number of rows to show of a table that is sorted already.
    pub(crate) fn most_rows(&self) -> usize {
        let rows = self.rows.map(|rows| rows as usize);
        rows.or(self.default_rows()).unwrap_or(usize::MAX)
    }

    /// Returns an error if the output's name means a format for call trees.
    pub(crate) fn refuse_export(&self) -> Result<(), Failure> {
        match Export::of(None, &self.output) {
            Some(export) => Err(Failure::usage(format!(
                "the name of the output asks for {}, which top cannot write; tracemill tree can",
                export.form.name()
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
    /// Write the flame chart as rows instead of a trace, one JSON array per line
    #[arg(long, help_heading = "Output", conflicts_with_all = ["compress", "level", "format", "repair"])]
    pub(crate) rows: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
