//! Flags of `check`.

use super::{InputArgs, LimitArgs, MessageArgs, OutputArgs};
use clap::{Args, ValueEnum};
use tracemill_pipeline::CheckFor;

/// Flags of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,
    /// Check what this viewer needs too; may be given more than once
    #[arg(long = "for", value_name = "VIEWER", help_heading = "Rules")]
    viewers: Vec<CheckViewer>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Write JSON: everything, in a stable form
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) messages: MessageArgs,
}

/// Programs with rules of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CheckViewer {
    /// The Performance panel of Chrome
    Devtools,
    /// The Perfetto UI and trace_processor
    Perfetto,
}

impl CheckArgs {
    /// The viewers asked for.
    pub(crate) fn viewers(&self) -> Vec<CheckFor> {
        let viewer = |viewer: &CheckViewer| match viewer {
            CheckViewer::Devtools => CheckFor::Devtools,
            CheckViewer::Perfetto => CheckFor::Perfetto,
        };
        self.viewers.iter().map(viewer).collect()
    }
}
