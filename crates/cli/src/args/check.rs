//! Flags of `check`.

use super::choices::choices;
use super::{CommonArgs, InputArgs, OutputArgs};
use clap::Args;
use tracemill_join::config::CheckFor;

/// Viewers with specific rules.
const VIEWERS: [(&str, CheckFor, &str); 2] = [
    ("devtools", CheckFor::Devtools, "The Performance panel of Chrome"),
    ("perfetto", CheckFor::Perfetto, "The Perfetto UI and trace_processor"),
];

/// Flags of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Check whether this viewer opens the trace and shows it correctly; repeatable
    #[arg(long = "for", value_name = "VIEWER", value_parser = choices(VIEWERS), help_heading = "Rules")]
    pub(crate) viewers: Vec<CheckFor>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON with all fields and exact numbers
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
