//! Flags of `top`, `tree` and `calls`.

use super::parts::{Grouping, PartArgs, PerArg};
use super::picks::PickArgs;
use super::{InputArgs, LimitArgs, MessageArgs, OutputArgs, TraceArgs};
use clap::{Args, ValueEnum};
use tracemill_analysis::{Matcher, RowOrder};

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

/// Flags of `top`.
#[derive(Debug, Args)]
pub(crate) struct TopArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
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
    /// By the start of the first event
    Start,
}

impl SortKey {
    pub(crate) fn order(self) -> RowOrder {
        match self {
            SortKey::Own => RowOrder::Own,
            SortKey::Total => RowOrder::Total,
            SortKey::Count => RowOrder::Count,
            SortKey::Name => RowOrder::Name,
            SortKey::Start => RowOrder::Start,
        }
    }
}

/// Flags of `tree`.
#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) picks: PickArgs,
    /// From callees to callers, by self time
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["log", "peek", "heaviest"])]
    pub(crate) bottom_up: bool,
    /// A row for each event, by its start
    #[arg(long, help_heading = "Which tree", conflicts_with_all = ["peek", "heaviest", "group_by"])]
    pub(crate) log: bool,
    /// Only callers and callees of this function or event
    #[arg(long, value_name = "NAME", help_heading = "Which tree", conflicts_with = "heaviest")]
    pub(crate) peek: Option<String>,
    /// Only the path on which most time is spent; with REGEX the one through functions or events that match
    #[arg(long, value_name = "REGEX", num_args = 0..=1, require_equals = true, help_heading = "Which tree")]
    pub(crate) heaviest: Option<Option<Matcher>>,
    /// How deep [default: 12; bottom-up 6, which is also what JSON and CSV have of it]
    #[arg(long, value_name = "N", help_heading = "Rows", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: Option<u32>,
    /// Leave out what takes less, with all below it: 0.5% of what is busy, 2ms [default: 0.5%; log, JSON and CSV: 0]
    #[arg(long, value_name = "SIZE", help_heading = "Rows")]
    pub(crate) min: Option<Least>,
    /// By what rows are sorted below each other [default: total; bottom-up self, log start]
    #[arg(long, value_name = "KEY", help_heading = "Rows", conflicts_with_all = ["peek", "heaviest"])]
    pub(crate) sort: Option<SortKey>,
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
    /// Write no trace but the flame chart as rows, events and calls, one JSON array a line
    #[arg(long, help_heading = "Output", conflicts_with_all = ["compress", "level", "format", "repair"])]
    pub(crate) rows: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    #[command(flatten)]
    pub(crate) trace: TraceArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}
